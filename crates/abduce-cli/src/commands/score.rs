//! `score`: the log-density of every row.

use crate::arguments::values::whole;
use crate::arguments::{DataArguments, files_read};
use crate::context::Context;
use crate::io::cells;
use crate::io::failure::{Failure, Outcome};
use crate::io::output::{Output, check_not_an_input, write_json};
use crate::io::row_counts::{RowCounts, visit_answers};
use abduce::ask::{Joint, TailProbabilities};
use abduce::data::{Chunk, Source};
use abduce::store::Model;
use clap::Args;
use serde_json::json;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::io::Write;
use std::path::PathBuf;

/// Compute the log-density of every row
///
/// Writes the natural logarithm of the density of every row. Missing values are integrated out;
/// an observed label counts as part of the row. With --json, minus infinity (a row that is
/// impossible under the model) is null. Missing values that the model cannot integrate over (knn)
/// give an empty line, or null; such rows are neither part of the mean nor outliers.
///
/// Log-densities of rows with different missing values are not comparable, so --outliers ranks
/// rows by tail probability: the probability under the model that a row with values in the same
/// columns has at most this density, labels aside. It is estimated from rows drawn with --seed.
#[derive(Args)]
#[command(after_help = "Example:
  abduce score penguins.abduce penguins.csv --outliers 5")]
pub struct Arguments {
    /// A model written by `abduce fit`
    #[arg(value_name = "FILE")]
    model: PathBuf,
    #[command(flatten)]
    data: DataArguments,
    /// Write only the (weighted) mean
    #[arg(long, conflicts_with = "outliers")]
    mean: bool,
    /// List the N rows with the lowest tail probability, lowest first; rows are numbered from 1
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    outliers: Option<u64>,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let model = Model::load(&self.model)?;
        let joint = model.joint()?;
        joint.check_density()?;
        for field in joint
            .schema()
            .fields
            .iter()
            .filter(|field| field.unit != 1.0)
        {
            context.note(&format!(
                "densities refer to column {} in units of {:e}",
                field.name, field.unit
            ));
        }
        let mut output = Output::table(self.output.as_deref(), context)?;
        let opened = self.data.open_for(joint, context)?;
        check_not_an_input(self.output.as_deref(), files_read(&opened, &self.model))?;
        let source = &*opened.source;
        if self.mean {
            mean(joint, source, context, &mut output)?;
        } else if let Some(wanted) = self.outliers {
            outliers(joint, source, wanted as usize, context, &mut output)?;
        } else {
            all(joint, source, context, &mut output)?;
        }
        output.finish()
    }
}

fn all(joint: &dyn Joint, source: &dyn Source, context: &Context, output: &mut Output) -> Outcome {
    let mut first = true;
    let heading: &[u8] = if context.json {
        b"{\"log_density\":["
    } else {
        b"log_density\n"
    };
    output.write_all(heading)?;
    let ask = |rows: &Chunk| joint.log_density(rows);
    let counts = visit_rows(joint, source, ask, |_, density, _| {
        if context.json {
            output.write_all(if first { b"" } else { b"," })?;
            serde_json::to_writer(&mut *output, &density)?;
            first = false;
            return Ok(());
        }
        let cell = density.map(cells::number).unwrap_or_default();
        output.line([cell.as_str()])
    })?;
    counts.report(joint, context, "left empty");
    if context.json {
        output.write_all(b"]}\n")?;
    }
    Ok(())
}

fn mean(joint: &dyn Joint, source: &dyn Source, context: &Context, output: &mut Output) -> Outcome {
    // Rows of weight 0 do not count, even if their log-density is infinite.
    let (mut sum, mut weight, mut answered) = (0.0, 0.0, 0u64);
    let ask = |rows: &Chunk| joint.log_density(rows);
    let counts = visit_rows(joint, source, ask, |_, density, row_weight| {
        if let Some(density) = density {
            answered += 1;
            if row_weight > 0.0 {
                sum += row_weight * density;
                weight += row_weight;
            }
        }
        Ok(())
    })?;
    counts.report(joint, context, "left out");
    if answered == 0 && source.rows() > 0 {
        return Err(Failure::work("no row has a density under this model"));
    }
    let mean = sum / weight;
    if context.json {
        let document = json!({ "mean": mean, "rows": answered, "weight": weight });
        return write_json(output, &document);
    }
    writeln!(output, "{}", cells::number(mean))?;
    Ok(())
}

/// A row with its score. Rows are ordered by rank, then by log-density, then by row number.
struct Scored {
    /// The logarithm of its tail probability, or its log-density.
    rank: f64,
    row: u64,
    log_density: f64,
}

impl Ord for Scored {
    fn cmp(&self, other: &Scored) -> Ordering {
        self.rank
            .total_cmp(&other.rank)
            .then(self.log_density.total_cmp(&other.log_density))
            .then(self.row.cmp(&other.row))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Scored) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scored {
    fn eq(&self, other: &Scored) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Scored {}

fn outliers(
    joint: &dyn Joint,
    source: &dyn Source,
    wanted: usize,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let tails = TailProbabilities::new(joint, source, context.seed)?;
    if tails.is_none() {
        context.note("rows cannot be drawn from this model; ranking by log_density");
    }
    let ask = |rows: &Chunk| {
        let densities = joint.log_density(rows)?;
        let ranks = match &tails {
            Some(tails) => tails.log_probabilities(rows)?,
            None => densities.clone(),
        };
        Ok(ranks.into_iter().zip(densities).collect())
    };
    let mut least = BinaryHeap::new();
    let counts = visit_rows(joint, source, ask, |row, scored, _| {
        least.extend(scored.map(|(rank, log_density)| Scored {
            rank,
            row,
            log_density,
        }));
        if least.len() > wanted {
            least.pop();
        }
        Ok(())
    })?;
    counts.report(joint, context, "left out");
    let least = least.into_sorted_vec();
    let tail = |scored: &Scored| tails.is_some().then(|| scored.rank.exp());
    if context.json {
        let rows: Vec<_> = least
            .iter()
            .map(|scored| {
                json!({
                    "row": scored.row,
                    "log_density": scored.log_density,
                    "tail_probability": tail(scored),
                })
            })
            .collect();
        return write_json(output, &json!({ "outliers": rows }));
    }
    output.line(["row", "log_density", "tail_probability"])?;
    for scored in &least {
        output.line([
            scored.row.to_string().as_str(),
            &cells::number(scored.log_density),
            &tail(scored).map(cells::number).unwrap_or_default(),
        ])?;
    }
    Ok(())
}

/// Calls `visit` with the number (from 1), the answer of `ask` and the weight of every row.
fn visit_rows<T: Copy + Send>(
    joint: &dyn Joint,
    source: &dyn Source,
    ask: impl Fn(&Chunk) -> abduce::Result<Vec<T>> + Sync,
    mut visit: impl FnMut(u64, Option<T>, f64) -> Outcome,
) -> Outcome<RowCounts> {
    visit_answers(joint, source, ask, |chunk, answers, first_row| {
        for row in 0..chunk.rows() {
            let answer = answers.position(row).map(|position| answers.of[position]);
            let weight = chunk.weights().map_or(1.0, |weights| weights[row]);
            visit(first_row + row as u64, answer, weight)?;
        }
        Ok(())
    })
}
