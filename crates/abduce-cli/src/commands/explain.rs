//! `explain`: the contribution of each column to the predicted class of a row.

use crate::arguments::values::whole;
use crate::arguments::{DataArguments, files_read};
use crate::context::Context;
use crate::io::failure::{Failure, Outcome};
use crate::io::output::{Output, check_not_an_input, write_json};
use crate::io::row_counts::ChangedConstants;
use crate::render::text_table::{TextTable, readable};
use abduce::ask::{Explanation, find_class, first_two};
use abduce::data::Chunk;
use abduce::store::Model;
use clap::Args;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Explain the predicted class of each row
///
/// Writes the log-odds of the most probable class against the second (or --against) as the sum of
/// contributions of the prior and of each column or word, largest first; negative contributions
/// are evidence against the class. If the model is calibrated, the class and its probability are
/// calibrated, but the log-odds are not.
#[derive(Args)]
#[command(after_help = "Example:
  abduce explain penguins.abduce penguins.csv --row 3")]
pub struct Arguments {
    /// A model written by `abduce fit`
    #[arg(value_name = "FILE")]
    model: PathBuf,
    #[command(flatten)]
    data: DataArguments,
    /// The row to explain, counted from 1 [default: every row]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    row: Option<u64>,
    /// The class to explain [default: the most probable]
    #[arg(long, value_name = "CLASS")]
    class: Option<String>,
    /// The class to compare with [default: the most probable other class]
    #[arg(long, value_name = "CLASS")]
    against: Option<String>,
    /// Number of columns or words to list for each row
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true, value_parser = whole)]
    top: u64,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The explanation of one row, as --json writes it.
#[derive(Serialize)]
struct ExplainedRow {
    row: u64,
    probability: f64,
    /// Whether the row is impossible in every class.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    impossible: bool,
    #[serde(flatten)]
    explanation: Explanation,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let model = Model::load(&self.model)?;
        model.explain()?;
        let opened = self.data.open_for(model.predictor(), context)?;
        check_not_an_input(self.output.as_deref(), files_read(&opened, &self.model))?;
        let rows = opened.source.rows();
        if let Some(row) = self.row.filter(|row| !(1..=rows).contains(row)) {
            return Err(Failure::usage(format!(
                "--row: there is no row {row}; rows are numbered from 1 to {rows}"
            )));
        }
        let classes = [
            class_code(&model, "--class", &self.class)?,
            class_code(&model, "--against", &self.against)?,
        ];
        if model.calibration.is_some() {
            context.note("the probabilities are calibrated; the log-odds are not");
        }
        let mut output = Output::text(self.output.as_deref(), context)?;
        let mut explained = Vec::new();
        let mut rows_before = 0;
        let mut constants = ChangedConstants::default();
        for chunk in opened.source.scan()? {
            let chunk = chunk?;
            for place in 0..chunk.rows() {
                let row = rows_before + place as u64 + 1;
                if self.row.is_some_and(|wanted| wanted != row) {
                    continue;
                }
                let mut explanation = self.explain(&model, &chunk, place, classes)?;
                explanation.row = row;
                constants.add(model.predictor(), &chunk.slice(place, 1));
                if explanation.impossible {
                    explanation.explanation.contributions.clear();
                }
                if context.json {
                    explained.push(explanation);
                } else {
                    self.write(&explanation, context, &mut output)?;
                }
            }
            rows_before += chunk.rows() as u64;
        }
        if context.json {
            write_json(&mut output, &explained)?;
        }
        output.finish()?;
        constants.report(model.predictor(), context);
        Ok(())
    }

    fn explain(
        &self,
        model: &Model,
        chunk: &Chunk,
        row: usize,
        [class, against]: [Option<usize>; 2],
    ) -> Outcome<ExplainedRow> {
        let one = chunk.slice(row, 1);
        let posterior = model.posterior(&one)?;
        let (first, second) = first_two(&posterior, 0).ok_or_else(|| {
            Failure::work("the model has only one class, so there is nothing to explain")
        })?;
        let other_than = |class: usize| if class == first { second } else { first };
        let class = class.unwrap_or_else(|| against.map_or(first, other_than));
        let against = against.unwrap_or_else(|| other_than(class));
        if class == against {
            return Err(Failure::usage(
                "--against: this is the class to explain; name another",
            ));
        }
        let impossible = match model.joint() {
            Ok(joint) => !joint.impossible_rows(&one)?.is_empty(),
            Err(_) => false,
        };
        Ok(ExplainedRow {
            impossible,
            row: 0,
            probability: posterior.row(0)[class],
            explanation: model.explain()?.explain(&one, 0, class, against),
        })
    }

    fn write(&self, row: &ExplainedRow, context: &Context, output: &mut Output) -> Outcome {
        let explanation = &row.explanation;
        if row.impossible {
            let heading = format!("row {}:", row.row);
            let text = " impossible in every class, so that none can be explained";
            return context.write_heading(output, &heading, text);
        }
        let heading = format!("row {}: {}", row.row, explanation.class);
        let text = format!(
            " with probability {}; log-odds {} against {}",
            readable(row.probability),
            log_odds(explanation.log_odds),
            explanation.against
        );
        context.write_heading(output, &heading, &text)?;
        let mut table = TextTable::new(["", "log-odds"]);
        let (shown, rest) = explanation
            .contributions
            .split_at(explanation.contributions.len().min(self.top as usize));
        for part in shown {
            table.row([part.name(), log_odds(part.log_odds)]);
        }
        if !rest.is_empty() {
            let sum: f64 = rest.iter().map(|part| part.log_odds).sum();
            table.row([format!("({} more)", rest.len()), log_odds(sum)]);
        }
        write!(output, "{}", table.text(2))?;
        Ok(())
    }
}

/// The class that an option names.
fn class_code(model: &Model, option: &str, name: &Option<String>) -> Outcome<Option<usize>> {
    let Some(name) = name else {
        return Ok(None);
    };
    let found = find_class(name, &model.names());
    let found = found.map_err(|error| Failure::usage(format!("{option}: {error}")))?;
    Ok(Some(found))
}

/// Formats log-odds; they are infinite if a value is impossible in one of the classes.
fn log_odds(x: f64) -> String {
    match x {
        f64::INFINITY => "∞ (impossible in the other)".into(),
        f64::NEG_INFINITY => "-∞ (impossible in the class)".into(),
        x if x.is_nan() => "none (impossible in both)".into(),
        x => readable(x),
    }
}
