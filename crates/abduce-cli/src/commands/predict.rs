//! `predict`: the most probable class or cluster of every row.

use crate::arguments::{DataArguments, files_read};
use crate::cells;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Output, refuse_inputs};
use crate::stream::{Answer, Unanswered, in_order};
use abduce::Error;
use abduce::ask::{Joint, Posterior};
use abduce::data::{Chunk, Column, Field, Source};
use abduce::store::{Body, Model};
use clap::Args;
use std::io::{self, BufWriter, Seek, Write};
use std::path::PathBuf;
use tempfile::SpooledTempFile;

/// Say the class or cluster of every row
///
/// Writes a line per row, in order, whatever is missing in it. Labels that
/// stand in the data are not looked at. Clusters are numbered from 1. A row with a
/// hole that the model cannot integrate over (knn) has an empty line, or null.
#[derive(Args)]
#[command(after_help = "Example:
  abduce predict penguins.abduce new.csv --proba -o predictions.csv")]
pub struct Arguments {
    /// A model written by `abduce fit`
    #[arg(value_name = "FILE")]
    model: PathBuf,
    #[command(flatten)]
    data: DataArguments,
    /// Also write the probability of every class or cluster
    #[arg(long)]
    proba: bool,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let model = Model::load(&self.model)?;
        let joint = model.joint();
        if let (Body::Density(_), None) = (&model.body, joint.target()) {
            let error = Error::parameter(format!("this {} has no classes to predict", model.model))
                .with_hint(
                    "fit it with --target COL, or ask how likely rows are with abduce score",
                );
            return Err(error.into());
        }
        let mut output = Output::table(self.output.as_deref(), context)?;
        let opened = self.data.open_for(joint, context)?;
        refuse_inputs(self.output.as_deref(), files_read(&opened, &self.model))?;
        if context.json {
            self.write_json(joint, &*opened.source, context, &mut output)?;
        } else {
            self.write_csv(joint, &*opened.source, context, &mut output)?;
        }
        output.finish()
    }

    fn write_csv(
        &self,
        joint: &dyn Joint,
        source: &dyn Source,
        context: &Context,
        output: &mut Output,
    ) -> Outcome {
        let names = joint.names();
        let mut header = vec!["prediction".to_string()];
        if self.proba {
            header.extend(names.iter().map(|name| format!("P({name})")));
        }
        output.line(header.iter().map(String::as_str))?;
        each_row(joint, source, context, |answer| {
            let mut line = vec![String::new(); header.len()];
            if let Some((posterior, row)) = answer {
                line[0].clone_from(&names[posterior.best(row)]);
                let cells = line[1..].iter_mut().zip(posterior.row(row));
                cells.for_each(|(cell, p)| *cell = cells::number(*p));
            }
            output.line(line.iter().map(String::as_str))
        })
    }

    /// Predictions stream out at once, probabilities wait for them in a
    /// temporary place: a list per label.
    fn write_json(
        &self,
        joint: &dyn Joint,
        source: &dyn Source,
        context: &Context,
        output: &mut Output,
    ) -> Outcome {
        let names = joint.names();
        let list = |_: &String| BufWriter::new(SpooledTempFile::new(1 << 20));
        let asked = if self.proba { &names[..] } else { &[] };
        let mut lists: Vec<BufWriter<SpooledTempFile>> = asked.iter().map(list).collect();
        let mut first = true;
        output.write_all(b"{\"predictions\":[")?;
        each_row(joint, source, context, |answer| {
            let comma: &[u8] = if first { b"" } else { b"," };
            output.write_all(comma)?;
            let best = answer.map(|(posterior, row)| &names[posterior.best(row)]);
            serde_json::to_writer(&mut *output, &best)?;
            for (class, list) in lists.iter_mut().enumerate() {
                list.write_all(comma)?;
                let p = answer.map(|(posterior, row)| posterior.row(row)[class]);
                serde_json::to_writer(&mut *list, &p)?;
            }
            first = false;
            Ok(())
        })?;
        output.write_all(b"]")?;
        if self.proba {
            output.write_all(b",\"probabilities\":{")?;
            for (number, (name, mut list)) in names.iter().zip(lists).enumerate() {
                output.write_all(if number == 0 { b"" } else { b"," })?;
                serde_json::to_writer(&mut *output, name)?;
                output.write_all(b":[")?;
                list.rewind()?;
                io::copy(list.get_mut(), output)?;
                output.write_all(b"]")?;
            }
            output.write_all(b"}")?;
        }
        output.write_all(b"}\n")?;
        Ok(())
    }
}

/// Passes on the posterior and the row in it for every row of the table that has one.
fn each_row(
    joint: &dyn Joint,
    source: &dyn Source,
    context: &Context,
    mut pass_on: impl FnMut(Option<(&Posterior, usize)>) -> Outcome,
) -> Outcome {
    let fields = joint.schema().fields.iter();
    let nothing = Chunk::new(1, fields.map(|field| holes(field, 1)).collect(), None);
    let prior = joint.posterior(&nothing)?;
    let (mut rows, mut impossible, mut first) = (0, 0, None);
    let mut unanswered = Unanswered::default();
    in_order(
        source,
        |_, chunk| {
            Answer::ask(joint, chunk, |chunk| {
                let posterior = joint.posterior(chunk)?;
                let told = impossible_rows(joint, chunk, &posterior, prior.row(0))?;
                Ok((posterior, told))
            })
        },
        |chunk, answer| {
            let (posterior, told) = &answer.of;
            impossible += told.len();
            first = first.or(told.first().map(|place| rows + answer.row(*place) + 1));
            for row in 0..chunk.rows() {
                let place = answer.place(row);
                if place.is_none() {
                    unanswered.add((rows + row + 1) as u64);
                }
                pass_on(place.map(|place| (posterior, place)))?;
            }
            rows += chunk.rows();
            Ok(())
        },
    )?;
    unanswered.tell(context, "left empty");
    if let Some(first) = first {
        context.note(&match impossible {
            1 => format!("row {first} is impossible under the model; it gets the class weights"),
            many => format!(
                "{many} rows are impossible under the model (first: row {first}); \
                 they get the class weights"
            ),
        });
    }
    Ok(())
}

/// The rows of density 0. They get the weights before anything was seen, so
/// only where those stand need densities be looked at.
fn impossible_rows(
    joint: &dyn Joint,
    chunk: &Chunk,
    posterior: &Posterior,
    prior: &[f64],
) -> abduce::Result<Vec<usize>> {
    let same = |row: usize| {
        let mut pairs = posterior.row(row).iter().zip(prior);
        pairs.all(|(p, q)| (p - q).abs() < 1e-9)
    };
    if !(0..chunk.rows()).any(same) {
        return Ok(Vec::new());
    }
    let mut columns = chunk.columns().to_vec();
    if let Some(target) = joint.target() {
        columns[target] = holes(&joint.schema().fields[target], chunk.rows());
    }
    let densities = joint.log_density(&Chunk::new(chunk.rows(), columns, None))?;
    let rows = densities.iter().enumerate();
    Ok(rows
        .filter(|(_, density)| **density == f64::NEG_INFINITY)
        .map(|(row, _)| row)
        .collect())
}

/// A column of which nothing is seen.
fn holes(field: &Field, rows: usize) -> Column {
    match field.kind.is_coded() {
        true => Column::from_codes(vec![None; rows]),
        false => Column::from_numbers(vec![None; rows]),
    }
}
