//! An estimate for people: a table of the parameters, then a line for each
//! other thing there is to say.

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
    let heading = context.heading(output, &heading);
    let mut rows = counted(estimate.rows, "row");
    if estimate.weight != estimate.rows as f64 {
        rows += &format!(" of weight {}", readable(estimate.weight));
        let kish = estimate.kish_sample_size;
        if (kish - estimate.rows as f64).abs() > 1e-9 * kish {
            rows += &format!(" (Kish's effective sample size {})", readable(kish));
        }
    }
    if estimate.hidden > 0 {
        rows += &format!(", {} hidden", counted(estimate.hidden, "row"));
    }
    writeln!(output, "{heading}: {rows}")?;
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
const ERROR: &str = "standard error";

/// One line per parameter, with every estimate of it.
fn parameters(estimate: &Estimate) -> TextTable {
    let level = percent(estimate.level);
    let maximum = estimate
        .maximum_likelihood
        .as_ref()
        .map(|own| &own.parameters);
    let errors = estimate.maximum_likelihood.as_ref();
    let errors = errors.map(|own| &own.standard_errors);
    let columns: Vec<(&str, Option<&Numbers>)> = [
        ("ML", maximum),
        (ERROR, errors.filter(|own| !own.0.is_empty())),
        ("unbiased", estimate.unbiased.as_ref()),
        ("MAP", estimate.map.as_ref()),
        ("mean", estimate.mean.as_ref()),
    ]
    .into_iter()
    .filter(|(_, numbers)| numbers.is_some())
    .collect();
    let mut names: Vec<&str> = Vec::new();
    let known = columns.iter().filter_map(|(_, numbers)| *numbers);
    let known = known.flat_map(|numbers| numbers.0.iter().map(|(name, _)| name.as_str()));
    let spanned = estimate.intervals.iter().map(|own| own.parameter.as_str());
    for name in known.chain(spanned) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let heads = columns.iter().map(|(head, _)| head.to_string());
    let spans = [format!("{level} equal-tailed"), format!("{level} shortest")];
    let first = [String::new()];
    let mut table = TextTable::new(first.into_iter().chain(heads).chain(spans));
    for name in names {
        let own = estimate.intervals.iter().find(|own| own.parameter == name);
        let width = own.map_or(0.0, |own| own.equal_tailed.1 - own.equal_tailed.0);
        let cell = |(head, numbers): &(&str, Option<&Numbers>)| {
            // An error needs no more digits than others.
            let width = if *head == ERROR { 0.0 } else { width };
            let own = numbers.and_then(|numbers| numbers.get(name));
            own.map(|x| readable_within(x, width)).unwrap_or_default()
        };
        let spans = own.map(|own| [ends(own.equal_tailed), ends(own.shortest)]);
        let cells = columns.iter().map(cell);
        let row = std::iter::once(name.to_string()).chain(cells);
        table.row(row.chain(spans.unwrap_or_default()));
    }
    table
}

fn lines(estimate: &Estimate) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    let mut say = |name: &str, value: String| lines.push((name.to_string(), value));
    if let Some(why) = &estimate.no_maximum {
        say("no ML estimate", why.clone());
    }
    if let Some(own) = &estimate.maximum_likelihood {
        say("log-likelihood", readable(own.log_likelihood));
    }
    let improper = match estimate.proper {
        Some(true) => "",
        Some(false) => ", improper",
        None => ", perhaps improper",
    };
    say("prior", described(&estimate.prior) + improper);
    match &estimate.posterior {
        Some(posterior) => say(
            "posterior",
            described_within(posterior, |name| uncertainty(estimate, name)),
        ),
        None if estimate.no_posterior().is_some() => say("posterior", "none".into()),
        None => say("posterior", format!("by {}", estimate.method)),
    }
    for own in &estimate.above {
        let width = uncertainty(estimate, &own.parameter);
        let value = readable_within(own.value, width);
        let question = format!("P({} > {value})", own.parameter);
        say(&question, readable(own.probability));
    }
    if let Some(predictive) = &estimate.predictive {
        say("predictive", prediction(predictive, estimate.level));
    }
    say(
        "log-evidence",
        match (estimate.log_evidence, estimate.proper) {
            (Some(own), _) => readable(own),
            (None, Some(true)) => "none".into(),
            (None, Some(false)) => "none: the prior is improper".into(),
            (None, None) => "none: whether the prior integrates could not be settled".into(),
        },
    );
    if let Some(own) = &estimate.monte_carlo {
        monte_carlo(own, &mut say);
    }
    for own in &estimate.frequentist {
        say(
            &format!("{} confidence", percent(estimate.level)),
            format!("{} ({})", ends(own.interval), own.method),
        );
    }
    let risk = &estimate.risk;
    if let Some(log_loss) = risk.log_loss {
        say(
            "log-loss of ML",
            format!("{} nats a row", readable(log_loss)),
        );
    }
    if let Some(entropy) = risk.entropy {
        say("entropy of ML", format!("{} nats", readable(entropy)));
    }
    if !risk.ruled_out.is_empty() {
        let mut text = format!("infinite if {} can occur", risk.ruled_out.join(" or "));
        // The prediction of a point mass is the same point.
        if estimate.family != "point-mass" {
            text.push_str("; the predictive gives it a probability");
        }
        say("risk of ML", text);
    }
    lines
}

/// By how much the figures of a sampled posterior would differ with other draws.
fn monte_carlo(own: &MonteCarlo, say: &mut impl FnMut(&str, String)) {
    say(
        "draws",
        format!(
            "{}, effective sample size {}",
            own.draws,
            readable(own.effective_sample_size.round())
        ),
    );
    let deviations = own.posterior_deviation.0.iter().zip(&own.intervals);
    for ((name, deviation), (_, (low, high))) in deviations {
        let of = |errors: &Numbers| errors.get(name).map_or("none".into(), readable);
        say(
            &format!("posterior sd of {name}"),
            format!(
                "{}; Monte Carlo standard errors: mean {}, sd {}, interval ends {} and {}",
                readable(*deviation),
                of(&own.mean),
                of(&own.deviation),
                readable(*low),
                readable(*high)
            ),
        );
    }
    let ends = own.predictive_interval;
    let others: Vec<String> = [
        ("log-evidence", own.log_evidence),
        ("predictive mean", own.predictive_mean),
        ("predictive deviation", own.predictive_deviation),
        ("predictive low end", ends.map(|ends| ends.0)),
        ("predictive high end", ends.map(|ends| ends.1)),
    ]
    .into_iter()
    .filter_map(|(name, error)| Some(format!("{name} {}", readable(error?))))
    .collect();
    if !others.is_empty() {
        say("Monte Carlo errors", others.join(", "));
    }
}

/// How uncertain a parameter is, or the surest of a list of them; 0 where that is
/// not known.
fn uncertainty(estimate: &Estimate, name: &str) -> f64 {
    let own = estimate.intervals.iter();
    let own = own.filter(|own| own.parameter.split('[').next() == name.split('[').next());
    let widths = own.map(|own| own.equal_tailed.1 - own.equal_tailed.0);
    widths.reduce(f64::min).unwrap_or(0.0)
}

/// Both ends, with digits enough to tell them apart.
fn ends((low, high): (f64, f64)) -> String {
    let shown = |x: f64| readable_within(x, high - low);
    format!("{} to {}", shown(low), shown(high))
}

fn percent(level: f64) -> String {
    format!("{}%", readable(100.0 * level))
}

/// At most so many numbers stand on a line.
const ON_A_LINE: usize = 10;

/// The first few of many.
fn shortly(all: impl ExactSizeIterator<Item = String>, between: &str) -> String {
    let count = all.len();
    let mut some: Vec<String> = all.take(ON_A_LINE).collect();
    if count > ON_A_LINE {
        some.push(format!("… ({count} in all)"));
    }
    some.join(between)
}

fn described(own: &Described) -> String {
    described_within(own, |_| 0.0)
}

/// A distribution with numbers that are as uncertain as their names say.
fn described_within(own: &Described, width: impl Fn(&str) -> f64) -> String {
    let numbers = own.parameters.grouped().into_iter();
    let numbers: Vec<String> = numbers
        .map(|(name, values)| {
            let width = width(name);
            let values = values.into_iter().map(|x| readable_within(x, width));
            format!("{name}={}", shortly(values, " "))
        })
        .collect();
    match numbers.is_empty() {
        true => own.name.clone(),
        false => format!("{}({})", own.name, numbers.join(", ")),
    }
}

fn prediction(own: &Prediction, level: f64) -> String {
    let width = own.interval.map_or(0.0, |(low, high)| high - low);
    let mut text = described_within(&own.distribution, |_| width);
    if let Some(mean) = own.mean {
        text += &format!(", mean {}", readable_within(mean, width));
    }
    if let Some(deviation) = own.deviation {
        text += &format!(", deviation {}", readable(deviation));
    }
    if let Some(interval) = own.interval {
        text += &format!(", {} {}", percent(level), ends(interval));
    }
    if let Some(probabilities) = &own.probabilities {
        let each = probabilities.0.iter();
        let each = each.map(|(name, p)| format!("P({name})={}", readable(*p)));
        text += &format!(": {}", shortly(each, ", "));
    }
    text
}

pub fn write_risk(
    test: Option<&TestRisk>,
    against: Option<&TrueRisk>,
    output: &mut Output,
) -> Outcome {
    let shown = |own: Option<f64>| own.map_or_else(|| "none".into(), readable);
    if let Some(test) = test {
        let mut table = TextTable::new(["log-loss on the test rows", "nats a row"]);
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
    if let Some(own) = against {
        let mut table = TextTable::new(["if the truth is as given", "cross-entropy", "divergence"]);
        table.row(["the truth itself", &readable(own.entropy), "0"]);
        table.row([
            "maximum likelihood",
            &shown(own.maximum_likelihood),
            &shown(own.divergence),
        ]);
        table.row([
            "predictive",
            &shown(own.predictive),
            &shown(own.predictive_divergence),
        ]);
        write!(output, "\n{}", table.text(2))?;
    }
    Ok(())
}
