//! `explain`: what speaks for the class of a row.

use crate::arguments::{DataArguments, files_read, whole};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::output::{Output, refuse_inputs, write_json};
use crate::text_table::{TextTable, readable};
use abduce::ask::{Explanation, Joint, first_two};
use abduce::data::{Chunk, Field};
use abduce::store::Model;
use clap::Args;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Say what speaks for the class of a row
///
/// The log-odds of the most probable class against the next one, or another,
/// are a sum: of what the class weights say, and what each column or word
/// says. The strongest come first; what is less than 0 speaks against the class.
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
    /// The class to be explained [default: the most probable]
    #[arg(long, value_name = "CLASS")]
    class: Option<String>,
    /// The class to compare with [default: the most probable other]
    #[arg(long, value_name = "CLASS")]
    against: Option<String>,
    /// How many columns or words are listed for a row
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true, value_parser = whole)]
    top: u64,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What is written with --json.
#[derive(Serialize)]
struct Told {
    row: u64,
    probability: f64,
    #[serde(flatten)]
    explanation: Explanation,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let model = Model::load(&self.model)?;
        let joint = model.joint();
        let opened = self.data.open_for(joint, context)?;
        refuse_inputs(self.output.as_deref(), files_read(&opened, &self.model))?;
        let rows = opened.source.rows();
        if let Some(row) = self.row.filter(|row| !(1..=rows).contains(row)) {
            return Err(Failure::usage(format!(
                "--row: there is no row {row}; the rows count from 1 to {rows}"
            )));
        }
        let named = [
            self.code(joint, &self.class)?,
            self.code(joint, &self.against)?,
        ];
        let mut output = Output::open(self.output.as_deref())?;
        let mut told = Vec::new();
        let mut before = 0;
        for chunk in opened.source.scan()? {
            let chunk = chunk?;
            for place in 0..chunk.rows() {
                let row = before + place as u64 + 1;
                if self.row.is_some_and(|wanted| wanted != row) {
                    continue;
                }
                let mut own = self.explain(joint, &chunk, place, named)?;
                own.row = row;
                match context.json {
                    true => told.push(own),
                    false => self.write(&own, context, &mut output)?,
                }
            }
            before += chunk.rows() as u64;
        }
        if context.json {
            write_json(&mut output, &told)?;
        }
        output.finish()
    }

    fn code(&self, joint: &dyn Joint, name: &Option<String>) -> Outcome<Option<usize>> {
        let Some(name) = name else {
            return Ok(None);
        };
        let names = joint.names();
        if let Some(place) = names.iter().position(|own| own == name) {
            return Ok(Some(place));
        }
        let classes = Field::with_levels("class", abduce::data::Kind::Categorical, names);
        Ok(Some(classes.find_code(name)? as usize))
    }

    fn explain(
        &self,
        joint: &dyn Joint,
        chunk: &Chunk,
        row: usize,
        [class, against]: [Option<usize>; 2],
    ) -> Outcome<Told> {
        let one = chunk.slice(row, 1);
        let posterior = joint.posterior(&one)?;
        let (first, second) = first_two(&posterior, 0).ok_or_else(|| {
            Failure::work("there is only one class: nothing speaks for it against another")
        })?;
        let class = class.unwrap_or(match against == Some(first) {
            true => second,
            false => first,
        });
        let against = against.unwrap_or(match class == first {
            true => second,
            false => first,
        });
        if class == against {
            return Err(Failure::usage("--against: this is the class itself"));
        }
        Ok(Told {
            row: 0,
            probability: posterior.row(0)[class],
            explanation: joint.explain(&one, 0, class, against)?,
        })
    }

    fn write(&self, told: &Told, context: &Context, output: &mut Output) -> Outcome {
        let own = &told.explanation;
        let heading = context.heading(output, &format!("row {}: {}", told.row, own.class));
        writeln!(
            output,
            "{heading} with probability {}; log-odds {} against {}",
            readable(told.probability),
            readable(own.log_odds),
            own.against
        )?;
        let mut table = TextTable::new(["", "log-odds"]);
        let (shown, rest) = own
            .contributions
            .split_at(own.contributions.len().min(self.top as usize));
        for part in shown {
            table.row([part.name(), readable(part.log_odds)]);
        }
        if !rest.is_empty() {
            let sum: f64 = rest.iter().map(|part| part.log_odds).sum();
            table.row([format!("({} more)", rest.len()), readable(sum)]);
        }
        write!(output, "{}", table.text(2))?;
        Ok(())
    }
}
