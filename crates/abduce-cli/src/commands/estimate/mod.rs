//! `estimate`: estimates of one family from one column.

mod text;

use crate::arguments::DataArguments;
use crate::arguments::values::split_lists;
use crate::context::Context;
use crate::io::failure::{Failure, Outcome};
use crate::io::output::{Output, check_not_an_input, write_json};
use abduce::data::{
    Chosen, Kind, OneLevel, Opened, ReadOptions, Schema, Source, open_with, raw_rows,
};
use abduce::estimate::{
    Estimate, PriorChoice, Request, TestRisk, TrueRisk, described_families, estimate, kind_of,
};
use abduce::family::{Univariate, named};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// Estimate one family from one column
///
/// Prints the maximum-likelihood estimate, the posterior with its mode, mean and intervals, the
/// predictive distribution of the next row, the evidence and the risk.
///
/// A prior is a name with numbers, as in "beta(2,2)", "gamma(2,1)",
/// "normal(0,10)" (mean and variance), "normal-gamma(mean,strength,shape,rate)";
/// or a name alone: uniform, jeffreys, haldane, reference, matching. On a single unknown
/// parameter it may be any expression, as in "0.8 if x > 0.5 else 0.2",
/// "0.5*beta(2,2) + 0.5*beta(20,5)" or "exp(-abs(x))"; it need not integrate to 1.
/// Where several parameters have no conjugate prior, each has its own:
/// "shape=gamma(2,1); rate=1/x".
#[derive(Args)]
#[command(after_help = EXAMPLE, after_long_help = families_and_priors())]
pub struct Arguments {
    /// The family: bernoulli, binomial, categorical, multinomial, geometric,
    /// negative-binomial, poisson, zero-inflated-poisson, exponential, gamma,
    /// beta, gaussian, log-normal, student-t, von-mises, uniform, point-mass or
    /// multivariate-gaussian
    #[arg(value_name = "FAMILY")]
    family: String,
    #[command(flatten)]
    data: DataArguments,
    /// The column, or the columns of a family over several
    #[arg(long, value_name = "COL")]
    column: Vec<String>,
    /// Prior distribution [default: a non-informative prior]
    #[arg(
        long,
        value_name = "PRIOR",
        conflicts_with = "prior_table",
        allow_hyphen_values = true
    )]
    prior: Option<String>,
    /// A prior on one parameter as a table of two columns, places and densities, interpolated
    /// linearly; a line of names is optional
    #[arg(long, value_name = "FILE")]
    prior_table: Option<String>,
    /// A known parameter, as in --known variance=4; the list below shows those of each family
    #[arg(long, value_name = "NAME=VALUE")]
    known: Vec<String>,
    /// The trials of a binomial: a number, or the column with the number of each row
    #[arg(long, value_name = "N|COL")]
    trials: Option<String>,
    /// The category that counts as success for the family bernoulli; all others are failures
    /// [default: the second of two]
    #[arg(long, value_name = "LEVEL")]
    positive: Option<String>,
    /// The probability that intervals contain
    #[arg(
        long,
        value_name = "P",
        default_value_t = 0.95,
        allow_hyphen_values = true
    )]
    level: f64,
    /// Report the posterior probability that a parameter exceeds VALUE; with several parameters
    /// name one, as in --above rate=3 or, for a family of several columns, --above
    /// mean[height]=180
    #[arg(long, value_name = "[NAME=]VALUE", allow_hyphen_values = true)]
    above: Vec<String>,
    /// Other rows of the column, to measure the log-loss on
    #[arg(long, value_name = "FILE")]
    test: Vec<String>,
    /// Compare with this distribution, taken as the truth, as in --against "poisson(3)":
    /// reports entropy, cross-entropy and divergence
    #[arg(long, value_name = "DISTRIBUTION")]
    against: Option<String>,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const EXAMPLE: &str = "Example:
  abduce estimate bernoulli trial.csv --column helped --prior \"beta(2,2)\"";

fn families_and_priors() -> String {
    format!(
        "Priors of each family, and its parameters for --known:\n{}\n\n{EXAMPLE}",
        described_families()
    )
}

/// The document of --json.
#[derive(Serialize)]
struct Document<'a> {
    columns: &'a [String],
    #[serde(flatten)]
    estimate: &'a Estimate,
    test: Option<&'a TestRisk>,
    against: Option<&'a TrueRisk>,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let request = self.request(context.seed)?;
        let truth = self.true_distribution()?;
        let opened = self.open(context)?;
        let test = if self.test.is_empty() {
            None
        } else {
            Some(self.open_test(opened.source.schema(), context)?)
        };
        let read = opened.files.iter().map(PathBuf::from);
        check_not_an_input(self.output.as_deref(), read)?;
        let chosen = Chosen::new(&*opened.source, &self.columns(&opened))?;
        let one_level = self.one_level(&chosen)?;
        let source: &dyn Source = one_level.as_ref().map_or(&chosen, |level| level);
        let found =
            estimate(&self.family, source, &request).map_err(|error| opened.locate(error))?;
        let risk_on = |test: Opened| {
            let one_level = self.one_level(&*test.source)?;
            let source: &dyn Source = match &one_level {
                Some(level) => level,
                None => &*test.source,
            };
            let risk = found.risk_on(source).map_err(|error| test.locate(error))?;
            Ok::<TestRisk, Failure>(risk)
        };
        let test = test.map(risk_on).transpose()?;
        let against = truth.map(|truth| found.risk_against(&*truth));
        found.notes.iter().for_each(|note| context.note(note));
        if let Some(reason) = found.no_posterior() {
            context.warn(reason);
        }
        let columns = names(source);
        let mut output = Output::text(self.output.as_deref(), context)?;
        if context.json {
            let document = Document {
                columns: &columns,
                estimate: &found,
                test: test.as_ref(),
                against: against.as_ref(),
            };
            write_json(&mut output, &document)?;
        } else {
            text::write(&columns, &found, context, &mut output)?;
            text::write_risk(test.as_ref(), against.as_ref(), &mut output)?;
        }
        output.finish()
    }

    /// The columns that the user names, in that order.
    fn named(&self) -> Vec<String> {
        split_lists(if self.column.is_empty() {
            &self.data.columns
        } else {
            &self.column
        })
    }

    /// The column of trials, if --trials is not a number.
    fn trials_column(&self) -> Option<&String> {
        let trials = self.trials.as_ref();
        trials.filter(|text| text.trim().parse::<f64>().is_err())
    }

    /// The columns to estimate from, in the given order, or all; trials come last.
    fn columns(&self, opened: &Opened) -> Vec<String> {
        let trials = self.trials_column();
        let mut columns = match self.named() {
            named if named.is_empty() => names(&*opened.source),
            named => named,
        };
        columns.retain(|name| Some(name) != trials);
        columns.extend(trials.cloned());
        columns
    }

    /// A binary view of the column: whether a cell has the category given by --positive.
    fn one_level<'a>(&self, source: &'a dyn Source) -> Outcome<Option<OneLevel<'a>>> {
        let Some(level) = &self.positive else {
            return Ok(None);
        };
        if self.family != "bernoulli" {
            return Err(Failure::usage(
                "--positive applies only to the family bernoulli",
            ));
        }
        let wrong = |error| Failure::usage(format!("--positive: {error}"));
        OneLevel::new(source, level).map(Some).map_err(wrong)
    }

    /// Opens the wanted columns, read as the family needs them.
    fn open(&self, context: &Context) -> Outcome<Opened> {
        let kind = kind_of(&self.family)?;
        let kind = kind.or(self.positive.as_ref().map(|_| Kind::Categorical));
        let mut columns = self.named();
        if !columns.is_empty() {
            columns.extend(self.trials_column().cloned());
        }
        match self.data.open_columns(&columns, kind, context) {
            Ok(opened) => self.check_one_column(&opened).map(|()| opened),
            Err(error) => {
                // If no column was chosen, the unreadable column may not be the intended one.
                if columns.is_empty()
                    && !self.data.data.iter().any(|file| file == "-")
                    && let Ok(opened) = self.data.open_columns(&[], None, context)
                {
                    self.check_one_column(&opened)?;
                }
                Err(self.with_family_hint(error))
            }
        }
    }

    /// Rejects several columns for a family of one column.
    fn check_one_column(&self, opened: &Opened) -> Outcome {
        let columns = names(&*opened.source);
        let trials = usize::from(self.trials_column().is_some());
        if columns.len() <= 1 + trials || has_several_columns(&self.family) {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "{} is a family of one column, and there are several; choose one with --column: {}",
            self.family,
            columns.join(", ")
        )))
    }

    /// Replaces the hint of an error about words: the family decides the kind of the column, so
    /// another kind is no remedy.
    fn with_family_hint(&self, error: Failure) -> Failure {
        match error {
            Failure::Error(error) if error.readable_as().is_some() => {
                let hint = format!(
                    "{} needs numbers; choose a numeric column with --column, or use the family \
                     categorical",
                    self.family
                );
                error.with_hint(hint).into()
            }
            error => error,
        }
    }

    /// Opens the rows to test on, with the column and the levels of the data.
    fn open_test(&self, schema: &Schema, context: &Context) -> Outcome<Opened> {
        let opened = open_with(&self.test, &self.data.options(None), schema)?;
        opened.notes.iter().for_each(|note| context.note(note));
        Ok(opened)
    }

    fn request(&self, seed: u64) -> Outcome<Request> {
        let prior = match (&self.prior, &self.prior_table) {
            (Some(text), _) => Some(PriorChoice::Text(text.clone())),
            (None, Some(file)) => Some(PriorChoice::Table(read_prior_table(file)?)),
            (None, None) => None,
        };
        let known = self.known.iter().flat_map(|text| text.split(','));
        let known = known.map(|text| match assignment(text, "--known")? {
            (Some(name), value) => Ok((name, value)),
            (None, _) => Err(Failure::usage(format!(
                "--known: \"{text}\" does not name a parameter; write name=value"
            ))),
        });
        let mut known = known.collect::<Outcome<Vec<_>>>()?;
        if self.trials.is_some() && self.family != "binomial" {
            return Err(Failure::usage(
                "--trials applies only to the family binomial",
            ));
        }
        let trials = self
            .trials
            .iter()
            .filter(|_| self.trials_column().is_none());
        for text in trials {
            known.push(("trials".into(), assignment(text, "--trials")?.1));
        }
        Ok(Request {
            prior,
            known,
            level: self.level,
            above: self
                .above
                .iter()
                .map(|text| assignment(text, "--above"))
                .collect::<Outcome<_>>()?,
            seed,
        })
    }

    /// The true distribution that --against names.
    fn true_distribution(&self) -> Outcome<Option<Arc<dyn Univariate>>> {
        let Some(text) = &self.against else {
            return Ok(None);
        };
        let wrong = || {
            Failure::usage(format!(
                "\"{text}\" is not a distribution; write it as in poisson(3)"
            ))
        };
        let (name, rest) = text.trim().split_once('(').ok_or_else(wrong)?;
        let numbers = rest.strip_suffix(')').ok_or_else(wrong)?;
        let numbers = numbers
            .split(',')
            .map(|x| x.trim().parse::<f64>().map_err(|_| wrong()));
        let numbers = numbers.collect::<Outcome<Vec<f64>>>()?;
        Ok(Some(named(name.trim(), &numbers)?))
    }
}

/// The points and densities of a prior; a first line without numbers contains names. The data options
/// do not apply to this file.
fn read_prior_table(file: &str) -> Outcome<Vec<(f64, f64)>> {
    let options = ReadOptions {
        no_header: true,
        ..ReadOptions::default()
    };
    let rows = raw_rows(&[file.to_string()], &options)?;
    if rows.header().len() != 2 {
        return Err(Failure::usage(format!(
            "{file}: the table of a prior needs two columns, points and densities"
        )));
    }
    let mut points = Vec::new();
    let mut first = true;
    for batch in rows {
        let batch = batch?;
        for row in 0..batch.rows() {
            let cells = [0, 1].map(|column| batch.cell(row, column).text.trim().to_string());
            let [point, density] = cells.each_ref().map(|text| text.parse::<f64>().ok());
            match (point, density) {
                (Some(point), Some(density)) => points.push((point, density)),
                (None, None) if first => {}
                _ => {
                    return Err(Failure::usage(format!(
                        "{file}, line {}: \"{}\" and \"{}\" are not both numbers",
                        batch.line(row),
                        cells[0],
                        cells[1]
                    )));
                }
            }
            first = false;
        }
    }
    Ok(points)
}

/// Whether a family is over several columns.
fn has_several_columns(family: &str) -> bool {
    matches!(family, "multinomial" | "multivariate-gaussian")
}

fn names(source: &dyn Source) -> Vec<String> {
    let fields = source.schema().fields.iter();
    fields.map(|field| field.name.clone()).collect()
}

/// `name=value` or `value`.
fn assignment(text: &str, option: &str) -> Outcome<(Option<String>, f64)> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (Some(name.trim().to_string()), value),
        None => (None, text),
    };
    match value.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((name, value)),
        _ => Err(Failure::usage(format!(
            "{option}: \"{}\" is not a number",
            value.trim()
        ))),
    }
}
