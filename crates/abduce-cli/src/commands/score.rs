//! `score`: how likely every row is.

use crate::arguments::{DataArguments, files_read, whole};
use crate::cells;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::output::{Output, refuse_inputs, write_json};
use crate::stream::{Answer, ChangedConstants, Unanswered, in_order};
use abduce::ask::Joint;
use abduce::data::Source;
use abduce::store::Model;
use clap::Args;
use serde_json::json;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::io::Write;
use std::path::PathBuf;

/// Say how likely every row is
///
/// Writes the natural logarithm of every row's density, with what is missing
/// integrated out and a seen label included. With --json, the minus infinity of a row that is
/// impossible under the model is null. A row with a hole that the model cannot
/// integrate over (knn) has an empty line, or null; it counts for no mean and is no
/// outlier.
#[derive(Args)]
#[command(after_help = "Example:
  abduce score penguins.abduce penguins.csv --outliers 5")]
pub struct Arguments {
    /// A model written by `abduce fit`
    #[arg(value_name = "FILE")]
    model: PathBuf,
    #[command(flatten)]
    data: DataArguments,
    /// Write the (weighted) mean only
    #[arg(long, conflicts_with = "outliers")]
    mean: bool,
    /// List the N least likely rows, least likely first; rows count from 1
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    outliers: Option<u64>,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let model = Model::load(&self.model)?;
        let joint = model.joint();
        for field in joint
            .schema()
            .fields
            .iter()
            .filter(|field| field.unit != 1.0)
        {
            context.note(&format!(
                "densities are of {} in units of {:e}",
                field.name, field.unit
            ));
        }
        let mut output = Output::table(self.output.as_deref(), context)?;
        let opened = self.data.open_for(joint, context)?;
        refuse_inputs(self.output.as_deref(), files_read(&opened, &self.model))?;
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
    output.write_all(match context.json {
        true => b"{\"log_density\":[",
        false => b"log_density\n",
    })?;
    each(joint, source, context, "left empty", |_, density, _| {
        if context.json {
            output.write_all(if first { b"" } else { b"," })?;
            serde_json::to_writer(&mut *output, &density)?;
            first = false;
            return Ok(());
        }
        let cell = density.map(cells::number).unwrap_or_default();
        output.line([cell.as_str()])
    })?;
    if context.json {
        output.write_all(b"]}\n")?;
    }
    Ok(())
}

fn mean(joint: &dyn Joint, source: &dyn Source, context: &Context, output: &mut Output) -> Outcome {
    // Rows of weight 0 count for nothing, even impossible ones.
    let (mut sum, mut weight, mut answered) = (0.0, 0.0, 0u64);
    each(joint, source, context, "left out", |_, density, own| {
        if let Some(density) = density {
            answered += 1;
            if own > 0.0 {
                sum += own * density;
                weight += own;
            }
        }
        Ok(())
    })?;
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

/// A row with its log-density; the likeliest, and of equals the last, is the
/// greatest.
struct Scored(f64, u64);

impl Ord for Scored {
    fn cmp(&self, other: &Scored) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
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
    let mut least = BinaryHeap::new();
    each(joint, source, context, "left out", |row, density, _| {
        least.extend(density.map(|density| Scored(density, row)));
        if least.len() > wanted {
            least.pop();
        }
        Ok(())
    })?;
    let least = least.into_sorted_vec();
    if context.json {
        let rows: Vec<_> = least
            .iter()
            .map(|Scored(density, row)| json!({ "row": row, "log_density": density }))
            .collect();
        return write_json(output, &json!({ "outliers": rows }));
    }
    output.line(["row", "log_density"])?;
    for Scored(density, row) in least {
        output.line([row.to_string().as_str(), &cells::number(density)])?;
    }
    Ok(())
}

/// Every row's number, counted from 1, its log-density where it has one, and its
/// weight; then what becomes of rows that have none.
fn each(
    joint: &dyn Joint,
    source: &dyn Source,
    context: &Context,
    fate: &str,
    mut pass_on: impl FnMut(u64, Option<f64>, f64) -> Outcome,
) -> Outcome {
    let mut number = 0;
    let mut unanswered = Unanswered::default();
    let mut constants = ChangedConstants::default();
    in_order(
        source,
        |_, chunk| Answer::ask(joint, chunk, |rows| joint.log_density(rows)),
        |chunk, densities| {
            constants.add(joint, chunk);
            for row in 0..chunk.rows() {
                number += 1;
                let density = densities.place(row).map(|place| densities.of[place]);
                if density.is_none() {
                    unanswered.add(number);
                }
                pass_on(number, density, chunk.weights().map_or(1.0, |w| w[row]))?;
            }
            Ok(())
        },
    )?;
    unanswered.tell(context, fate);
    constants.report(joint, context);
    Ok(())
}
