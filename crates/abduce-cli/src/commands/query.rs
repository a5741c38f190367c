//! `query`: answers queries such as `P(a | b=1)`.

use crate::arguments::values::whole;
use crate::context::Context;
use crate::io::cells;
use crate::io::failure::{Failure, Outcome};
use crate::io::output::{Output, check_not_an_input, write_json};
use crate::render::text_table::{TextTable, labelled, readable};
use abduce::ask::query::{Answer, Found, Method, Numbers, Probability, Row, Value};
use abduce::ask::{QueryOptions, query};
use abduce::store::Model;
use clap::Args;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Answer a question about the columns of a model
///
/// P(a | …) is the distribution of a column, P(a, b | …) that of all combinations of levels,
/// P(a=x, b>2 | …) the probability of an event, E(x | …) a mean, and MAP(a, b | …) the most
/// probable values. Conditions are =, !=, <, <=, >, >=, in {…} and between … and …; names and
/// values that contain a comma or a bar must be quoted. The component of a mixture is the column
/// component, counted from 1.
///
/// Answers are exact if the columns are independent within each component, or if all but one are
/// categorical with few combinations. Otherwise rows are drawn, and every number is followed by its
/// standard error.
#[derive(Args)]
#[command(after_help = "Example:
  abduce query penguins.abduce \"P(species | bill_length_mm>45, island=Dream)\"
  abduce query penguins.abduce \"P(species=Gentoo, sex=female)\"
  abduce query penguins.abduce \"E(body_mass_g | flipper_length_mm between 190 and 200)\"
  abduce query penguins.abduce \"MAP(species, island | sex in {male, female})\" --json")]
pub struct Arguments {
    /// A model written by `abduce fit`
    #[arg(value_name = "FILE")]
    model: PathBuf,
    /// The question, as in "P(a, b | c=1, d>2)"
    #[arg(value_name = "QUESTION")]
    question: String,
    /// Number of rows drawn where there is no exact answer
    #[arg(long, value_name = "N", default_value_t = 10_000, allow_negative_numbers = true, value_parser = whole)]
    draws: u64,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What is written with --json.
#[derive(Serialize)]
struct Document<'a> {
    question: &'a str,
    #[serde(flatten)]
    answer: &'a Answer,
}

/// Fewer effective draws than this make standard errors unreliable.
const FEW_DRAWS: f64 = 100.0;

/// Counts that are less probable than this are summed up in one line.
const RARE_PROBABILITY: f64 = 5e-5;

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let model = Model::load(&self.model)?;
        check_not_an_input(self.output.as_deref(), [self.model.clone()])?;
        let mut options = QueryOptions::default();
        options.draws = usize::try_from(self.draws).unwrap_or(usize::MAX);
        options.seed = context.seed;
        let answer = query(model.joint()?, &self.question, &options);
        let answer = answer.map_err(|error| Failure::question(error, &self.question))?;
        if model.calibration.is_some() {
            context.note("the answer is that of the model before its calibration");
        }
        let mut output = Output::text(self.output.as_deref(), context)?;
        if context.json {
            let (question, answer) = (self.question.as_str(), &answer);
            write_json(&mut output, &Document { question, answer })?;
        } else {
            let width = output.line_width();
            write!(output, "{}", text(&answer.found, width))?;
        }
        output.finish()?;
        report_draws(answer.method, context);
        Ok(())
    }
}

fn report_draws(method: Method, context: &Context) {
    if let Method::Draws {
        draws,
        effective_draws,
    } = method
    {
        let effective = effective_draws.round();
        context.note(&format!(
            "estimated from {draws} draws (effective number {effective}); ± is the standard error"
        ));
        if effective_draws < FEW_DRAWS {
            context.warn("the answer is unreliable with so few effective draws; increase `draws`");
        }
    }
}

fn text(found: &Found, width: usize) -> String {
    match found {
        Found::Probability(found) => format!("{}\n", probability(found)),
        Found::Mean {
            mean,
            standard_error,
        } => format!("{}\n", with_error(*mean, *standard_error)),
        Found::Table { columns, rows } => table(columns, rows),
        Found::Numbers(found) => numbers(found, width),
        Found::MostProbable { columns, row } => table(columns, std::slice::from_ref(row)),
        Found::HighestDensity {
            column,
            value,
            density,
        } => {
            let mut table = TextTable::new([column.as_str(), "density"]);
            table.row([readable(*value), readable(*density)]);
            table.text(0)
        }
        _ => String::new(),
    }
}

fn table(columns: &[String], rows: &[Row]) -> String {
    let heading = columns.iter().map(String::as_str).chain(["probability"]);
    let mut table = TextTable::new(heading);
    let is_count = |row: &Row| matches!(row.values[..], [Value::Number(_)]);
    let is_rare = |row: &&Row| is_count(row) && row.probability.probability < RARE_PROBABILITY;
    for row in rows.iter().filter(|row| !is_rare(row)) {
        let values = row.values.iter().map(|value| match value {
            Value::Number(x) => cells::number(*x),
            Value::Level(level) => level.clone(),
        });
        table.row(values.chain([probability(&row.probability)]));
    }
    let rare: Vec<f64> = rows
        .iter()
        .filter(is_rare)
        .map(|row| row.probability.probability)
        .collect();
    if !rare.is_empty() {
        table.row(["(others)".into(), readable(rare.iter().sum())]);
    }
    table.text(0)
}

fn numbers(found: &Numbers, width: usize) -> String {
    let lines = [
        ("mean", with_error(found.mean, found.standard_error)),
        (
            "variance",
            with_error(found.variance, found.variance_standard_error),
        ),
        ("std. deviation", readable(found.variance.sqrt())),
    ];
    labelled(lines, width)
}

fn probability(found: &Probability) -> String {
    with_error(found.probability, found.standard_error)
}

/// A number, and its standard error in two digits if it has one.
fn with_error(x: f64, error: Option<f64>) -> String {
    match error.filter(|error| *error > 0.0) {
        Some(error) if (1e-9..1e6).contains(&error) => {
            let decimals = (1 - error.log10().floor() as i32).max(0) as usize;
            format!("{x:.decimals$} ± {error:.decimals$}")
        }
        Some(error) => format!("{} ± {error:.1e}", readable(x)),
        None => readable(x),
    }
}
