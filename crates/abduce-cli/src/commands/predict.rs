//! `predict`: the most probable class or cluster of every row.

use crate::arguments::{DataArguments, files_read};
use crate::cells;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Output, refuse_inputs};
use crate::stream::in_order;
use abduce::ask::{Joint, Posterior};
use abduce::data::Source;
use abduce::store::Model;
use clap::Args;
use std::io::{self, BufWriter, Seek, Write};
use std::path::PathBuf;
use tempfile::SpooledTempFile;

/// Say the class or cluster of every row
///
/// Writes a line per row, in order, whatever is missing in it. Labels that
/// stand in the data are not looked at. Clusters are numbered from 1.
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
        let mut output = Output::table(self.output.as_deref(), context)?;
        let opened = self.data.open_for(joint, context)?;
        refuse_inputs(self.output.as_deref(), files_read(&opened, &self.model))?;
        if context.json {
            self.write_json(joint, &*opened.source, &mut output)?;
        } else {
            self.write_csv(joint, &*opened.source, &mut output)?;
        }
        output.finish()
    }

    fn write_csv(&self, joint: &dyn Joint, source: &dyn Source, output: &mut Output) -> Outcome {
        let names = joint.names();
        let mut header = vec!["prediction".to_string()];
        if self.proba {
            header.extend(names.iter().map(|name| format!("P({name})")));
        }
        output.line(header.iter().map(String::as_str))?;
        each_row(joint, source, |posterior, row| {
            let mut line = vec![names[posterior.best(row)].clone()];
            if self.proba {
                line.extend(posterior.row(row).iter().map(|p| cells::number(*p)));
            }
            output.line(line.iter().map(String::as_str))
        })
    }

    /// Predictions stream out at once, probabilities wait for them in a
    /// temporary place: a list per label.
    fn write_json(&self, joint: &dyn Joint, source: &dyn Source, output: &mut Output) -> Outcome {
        let names = joint.names();
        let list = |_: &String| BufWriter::new(SpooledTempFile::new(1 << 20));
        let asked = if self.proba { &names[..] } else { &[] };
        let mut lists: Vec<BufWriter<SpooledTempFile>> = asked.iter().map(list).collect();
        let mut first = true;
        output.write_all(b"{\"predictions\":[")?;
        each_row(joint, source, |posterior, row| {
            let comma: &[u8] = if first { b"" } else { b"," };
            output.write_all(comma)?;
            serde_json::to_writer(&mut *output, &names[posterior.best(row)])?;
            for (list, p) in lists.iter_mut().zip(posterior.row(row)) {
                list.write_all(comma)?;
                serde_json::to_writer(&mut *list, p)?;
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

fn each_row(
    joint: &dyn Joint,
    source: &dyn Source,
    mut pass_on: impl FnMut(&Posterior, usize) -> Outcome,
) -> Outcome {
    in_order(
        source,
        |_, chunk| joint.posterior(chunk),
        |chunk, posterior| (0..chunk.rows()).try_for_each(|row| pass_on(&posterior, row)),
    )
}
