//! The report of an estimate: a table of the parameters, then one line per further result.

use crate::context::Context;
use crate::io::failure::Outcome;
use crate::io::output::Output;
use crate::render::text_table::{TextTable, counted, readable, readable_within};
use abduce::estimate::{Described, Estimate, MonteCarlo, Numbers, Prediction, TestRisk, TrueRisk};
use std::io::Write;

pub fn write(
    columns: &[String],
    estimate: &Estimate,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let heading = format!("{} of {}", estimate.family, columns.join(", "));
    let mut rows = counted(estimate.rows, "row");
    if estimate.weight != estimate.rows as f64 {
        rows += &format!(" of weight {}", readable(estimate.weight));
        let kish = estimate.kish_sample_size;
        if (kish - estimate.rows as f64).abs() > 1e-9 * kish {
            rows += &format!(" (Kish's effective sample size {})", readable(kish));
        }
    }
    if estimate.hidden > 0 {
        rows += &format!(", {} with a missing value", counted(estimate.hidden, "row"));
    }
    context.write_heading(output, &heading, &format!(": {rows}"))?;
    writeln!(output)?;
    output.write_all(parameters(estimate).text(2).as_bytes())?;
    writeln!(output)?;
    let lines = lines(estimate);
    let width = lines
        .iter()
        .map(|(name, _)| name.chars().count())
        .max()
        .unwrap_or(0);
    for (name, value) in lines {
        writeln!(output, "  {name:<width$}  {value}")?;
    }
    Ok(())
}

/// The heading of the standard errors of maximum-likelihood estimates.
const STANDARD_ERROR: &str = "standard error";

/// One line per parameter, with every estimate of it.
fn parameters(estimate: &Estimate) -> TextTable {
    let level = percent(estimate.level);
    let maximum = estimate
        .maximum_likelihood
        .as_ref()
        .map(|maximum| &maximum.parameters);
    let errors = estimate.maximum_likelihood.as_ref();
    let errors = errors.map(|maximum| &maximum.standard_errors);
    let columns: Vec<(&str, Option<&Numbers>)> = [
        ("ML", maximum),
        (
            STANDARD_ERROR,
            errors.filter(|numbers| !numbers.0.is_empty()),
        ),
        ("unbiased", estimate.unbiased.as_ref()),
        ("MAP", estimate.map.as_ref()),
        ("mean", estimate.mean.as_ref()),
    ]
    .into_iter()
    .filter(|(_, numbers)| numbers.is_some())
    .collect();
    let headings = columns.iter().map(|(head, _)| head.to_string());
    let interval_cells = [format!("{level} equal-tailed"), format!("{level} shortest")];
    let first = [String::new()];
    let mut table = TextTable::new(first.into_iter().chain(headings).chain(interval_cells));
    for name in parameter_names(&columns, estimate) {
        let mut intervals = estimate.intervals.iter();
        let found = intervals.find(|interval| interval.parameter == name);
        let width = found.map_or(0.0, |found| found.equal_tailed.1 - found.equal_tailed.0);
        let cell = |(head, numbers): &(&str, Option<&Numbers>)| {
            // Standard errors are shown with the usual digits.
            let width = if *head == STANDARD_ERROR { 0.0 } else { width };
            let number = numbers.and_then(|numbers| numbers.get(name));
            number
                .map(|x| readable_within(x, width))
                .unwrap_or_default()
        };
        let interval_cells = found.map(|found| {
            [
                interval_text(found.equal_tailed),
                interval_text(found.shortest),
            ]
        });
        let cells = columns.iter().map(cell);
        let row = std::iter::once(name.to_string()).chain(cells);
        table.row(row.chain(interval_cells.unwrap_or_default()));
    }
    table
}

/// The names of the parameters that have an estimate or an interval, each once.
fn parameter_names<'a>(
    columns: &[(&str, Option<&'a Numbers>)],
    estimate: &'a Estimate,
) -> Vec<&'a str> {
    let estimated = columns.iter().filter_map(|(_, numbers)| *numbers);
    let estimated = estimated.flat_map(|numbers| numbers.0.iter().map(|(name, _)| name.as_str()));
    let intervals = estimate.intervals.iter();
    let with_interval = intervals.map(|interval| interval.parameter.as_str());
    let mut names: Vec<&str> = Vec::new();
    for name in estimated.chain(with_interval) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn lines(estimate: &Estimate) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    let mut add = |name: &str, value: String| lines.push((name.to_string(), value));
    if let Some(reason) = &estimate.no_maximum {
        add("no ML estimate", reason.clone());
    }
    if let Some(maximum) = &estimate.maximum_likelihood {
        add("log-likelihood", readable(maximum.log_likelihood));
    }
    let improper = match estimate.proper {
        Some(true) => "",
        Some(false) => ", improper",
        None => ", perhaps improper",
    };
    add("prior", described(&estimate.prior) + improper);
    match &estimate.posterior {
        Some(posterior) => add(
            "posterior",
            described_within(posterior, |name| uncertainty(estimate, name)),
        ),
        None if estimate.no_posterior().is_some() => add("posterior", "none".into()),
        None => add("posterior", format!("by {}", estimate.method)),
    }
    for above in &estimate.above {
        let width = uncertainty(estimate, &above.parameter);
        let value = readable_within(above.value, width);
        let question = format!("P({} > {value})", above.parameter);
        add(&question, readable(above.probability));
    }
    if let Some(predictive) = &estimate.predictive {
        add("predictive", prediction(predictive, estimate.level));
    }
    add(
        "log-evidence",
        match (estimate.log_evidence, estimate.proper) {
            (Some(evidence), _) => readable(evidence),
            (None, Some(true)) => "none".into(),
            (None, Some(false)) => "none: the prior is improper".into(),
            (None, None) => "none: it could not be determined whether the prior is proper".into(),
        },
    );
    if let Some(errors) = &estimate.monte_carlo {
        monte_carlo(errors, &mut add);
    }
    for confidence in &estimate.frequentist {
        add(
            &format!("{} confidence", percent(estimate.level)),
            format!(
                "{} ({})",
                interval_text(confidence.interval),
                confidence.method
            ),
        );
    }
    risk(estimate, &mut add);
    lines
}

/// The risk of the maximum-likelihood estimate.
fn risk(estimate: &Estimate, add: &mut impl FnMut(&str, String)) {
    let risk = &estimate.risk;
    if let Some(log_loss) = risk.log_loss {
        add(
            "log-loss of ML",
            format!("{} nats per row", readable(log_loss)),
        );
    }
    if let Some(entropy) = risk.entropy {
        add("entropy of ML", format!("{} nats", readable(entropy)));
    }
    if !risk.ruled_out.is_empty() {
        let mut text = format!("infinite if {} occurs", risk.ruled_out.join(" or "));
        // The predictive distribution of a point mass is the same point.
        if estimate.family != "point-mass" {
            text.push_str("; the predictive gives it a probability");
        }
        add("risk of ML", text);
    }
}

/// The Monte Carlo errors of the figures of a sampled posterior.
fn monte_carlo(errors: &MonteCarlo, add: &mut impl FnMut(&str, String)) {
    add(
        "draws",
        format!(
            "{}, effective sample size {}",
            errors.draws,
            readable(errors.effective_sample_size.round())
        ),
    );
    let deviations = errors.posterior_deviation.0.iter().zip(&errors.intervals);
    for ((name, deviation), (_, (low, high))) in deviations {
        let shown = |numbers: &Numbers| numbers.get(name).map_or("none".into(), readable);
        add(
            &format!("posterior sd of {name}"),
            format!(
                "{}; Monte Carlo standard errors: mean {}, sd {}, interval ends {} and {}",
                readable(*deviation),
                shown(&errors.mean),
                shown(&errors.deviation),
                readable(*low),
                readable(*high)
            ),
        );
    }
    let interval = errors.predictive_interval;
    let others: Vec<String> = [
        ("log-evidence", errors.log_evidence),
        ("predictive mean", errors.predictive_mean),
        ("predictive deviation", errors.predictive_deviation),
        ("predictive low end", interval.map(|(low, _)| low)),
        ("predictive high end", interval.map(|(_, high)| high)),
    ]
    .into_iter()
    .filter_map(|(name, error)| Some(format!("{name} {}", readable(error?))))
    .collect();
    if !others.is_empty() {
        add("Monte Carlo errors", others.join(", "));
    }
}

/// The width of the interval of a parameter, or the least width if it is a list; 0 if unknown.
fn uncertainty(estimate: &Estimate, name: &str) -> f64 {
    let list = |name: &str| name.split('[').next().map(str::to_string);
    let intervals = estimate.intervals.iter();
    let intervals = intervals.filter(|interval| list(&interval.parameter) == list(name));
    let widths = intervals.map(|interval| interval.equal_tailed.1 - interval.equal_tailed.0);
    widths.reduce(f64::min).unwrap_or(0.0)
}

/// Both ends of an interval, with enough digits to distinguish them.
fn interval_text((low, high): (f64, f64)) -> String {
    let shown = |x: f64| readable_within(x, high - low);
    format!("{} to {}", shown(low), shown(high))
}

fn percent(level: f64) -> String {
    format!("{}%", readable(100.0 * level))
}

/// The most numbers on a line.
const MAX_ON_ONE_LINE: usize = 10;

/// The first few of many.
fn shortened(all: impl ExactSizeIterator<Item = String>, between: &str) -> String {
    let count = all.len();
    let mut some: Vec<String> = all.take(MAX_ON_ONE_LINE).collect();
    if count > MAX_ON_ONE_LINE {
        some.push(format!("… ({count} in all)"));
    }
    some.join(between)
}

fn described(distribution: &Described) -> String {
    described_within(distribution, |_| 0.0)
}

/// A distribution; `width` is the uncertainty of the parameter of a name.
fn described_within(distribution: &Described, width: impl Fn(&str) -> f64) -> String {
    let numbers = distribution.parameters.grouped().into_iter();
    let numbers: Vec<String> = numbers
        .map(|(name, values)| {
            let width = width(name);
            let values = values.into_iter().map(|x| readable_within(x, width));
            format!("{name}={}", shortened(values, " "))
        })
        .collect();
    if numbers.is_empty() {
        distribution.name.clone()
    } else {
        format!("{}({})", distribution.name, numbers.join(", "))
    }
}

fn prediction(prediction: &Prediction, level: f64) -> String {
    let width = prediction.interval.map_or(0.0, |(low, high)| high - low);
    let mut text = described_within(&prediction.distribution, |_| width);
    if let Some(mean) = prediction.mean {
        text += &format!(", mean {}", readable_within(mean, width));
    }
    if let Some(deviation) = prediction.deviation {
        text += &format!(", deviation {}", readable(deviation));
    }
    if let Some(interval) = prediction.interval {
        text += &format!(", {} {}", percent(level), interval_text(interval));
    }
    if let Some(probabilities) = &prediction.probabilities {
        let each = probabilities.0.iter();
        let each = each.map(|(name, p)| format!("P({name})={}", readable(*p)));
        text += &format!(": {}", shortened(each, ", "));
    }
    text
}

pub fn write_risk(
    test: Option<&TestRisk>,
    against: Option<&TrueRisk>,
    output: &mut Output,
) -> Outcome {
    let shown = |x: Option<f64>| x.map_or_else(|| "none".into(), readable);
    if let Some(test) = test {
        let mut table = TextTable::new(["log-loss on the test rows", "nats per row"]);
        table.row(["maximum likelihood", &shown(test.maximum_likelihood)]);
        table.row(["predictive", &shown(test.predictive)]);
        write!(output, "\n{}", table.text(2))?;
        let allowed = test.predictive.is_some_and(f64::is_finite);
        if test.impossible > 0 && !allowed {
            writeln!(
                output,
                "  {} of {} are impossible under the maximum-likelihood estimate",
                test.impossible,
                counted(test.rows, "test row")
            )?;
        } else if test.impossible > 0 {
            writeln!(
                output,
                "  {} of {} are impossible under the maximum-likelihood estimate; the \
                 predictive, smoothed by the prior, allows for them",
                test.impossible,
                counted(test.rows, "test row")
            )?;
        }
    }
    if let Some(risk) = against {
        let mut table = TextTable::new([
            "if --against is the true distribution",
            "cross-entropy",
            "divergence",
        ]);
        table.row(["the truth itself", &readable(risk.entropy), "0"]);
        table.row([
            "maximum likelihood",
            &shown(risk.maximum_likelihood),
            &shown(risk.divergence),
        ]);
        table.row([
            "predictive",
            &shown(risk.predictive),
            &shown(risk.predictive_divergence),
        ]);
        write!(output, "\n{}", table.text(2))?;
    }
    Ok(())
}
