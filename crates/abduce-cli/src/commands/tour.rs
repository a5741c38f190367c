//! `tour`: runs the worked examples.

use crate::context::Context;
use crate::io::failure::{Failure, Outcome};
use crate::io::output::{Output, write_json};
use crate::tour;
use clap::Args;
use serde_json::json;
use std::io::Write;
use unicode_width::UnicodeWidthStr;

/// Run the worked examples on built-in data
///
/// Each line compares an expected result with the obtained one. The exit code is 1 if any differ.
#[derive(Args)]
#[command(after_help = "Example:
  abduce tour")]
pub struct Arguments {}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let mut output = Output::text(None, context)?;
        let (mut examples, mut different) = (Vec::new(), 0);
        for group in tour::GROUPS {
            let lines = (group.run)()?;
            if !context.json {
                let heading = context.heading(&output, group.name);
                writeln!(output, "{heading}")?;
            }
            let line_width = |line: &tour::Line| line.expected.width().max(line.obtained.width());
            let width = lines.iter().map(line_width).max().unwrap_or(0).max(22);
            for line in lines {
                different += usize::from(!line.ok);
                if context.json {
                    examples.push(json!({
                        "group": group.name,
                        "name": line.name,
                        "expected": line.expected,
                        "obtained": line.obtained,
                        "ok": line.ok,
                    }));
                    continue;
                }
                let verdict = if line.ok { "ok" } else { "DIFFERS" };
                let gap = 50usize.saturating_sub(line.name.width());
                writeln!(
                    output,
                    "  {}{:gap$}  expected {:<width$} obtained {:<width$} {verdict}",
                    line.name, "", line.expected, line.obtained
                )?;
            }
            output.flush()?;
        }
        if context.json {
            write_json(
                &mut output,
                &json!({ "examples": examples, "ok": different == 0 }),
            )?;
        }
        output.finish()?;
        match different {
            0 => Ok(()),
            _ if context.json => Err(Failure::Reported),
            _ => Err(Failure::work(format!("{different} examples differ"))),
        }
    }
}
