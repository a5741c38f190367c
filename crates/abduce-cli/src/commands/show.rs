//! `show`: prints the contents of a model file.

use crate::commands::fit::calibrated;
use crate::context::Context;
use crate::flags::with_flags;
use crate::io::failure::Outcome;
use crate::io::output::{Output, check_not_an_input};
use crate::render::text_table::{labelled, readable};
use crate::render::{self, Lines};
use abduce::store::Model;
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

/// Show the contents of a model file
///
/// Prints how the model was fitted and to which data, the weights of its classes or components,
/// and every parameter. With --json, prints the model file itself.
#[derive(Args)]
#[command(after_help = "Example:
  abduce show penguins.abduce")]
pub struct Arguments {
    /// A model written by `abduce fit`
    #[arg(value_name = "FILE")]
    model: PathBuf,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let model = Model::load(&self.model)?;
        check_not_an_input(self.output.as_deref(), [self.model.clone()])?;
        let mut output = Output::text(self.output.as_deref(), context)?;
        if context.json {
            writeln!(output, "{}", model.to_json()?)?;
            return output.finish();
        }
        let heading = context.heading(&output, &model.model);
        writeln!(output, "{heading}")?;
        let width = output.line_width();
        write!(output, "{}", labelled(lines(&model), width))?;
        let render = render::of(&model);
        for (heading, table) in render.choices() {
            let heading = context.heading(&output, heading);
            write!(output, "\n{heading}\n{table}")?;
        }
        render.write_parameters(context, &mut output)?;
        output.finish()
    }
}

/// How the model was fitted, and to which data.
fn lines(model: &Model) -> Lines {
    let (report, provenance) = (&model.fit, &model.provenance);
    let mut lines = vec![("rows", readable(report.rows as f64))];
    if report.weight != report.rows as f64 {
        lines.push(("weight", readable(report.weight)));
    }
    lines.extend(render::figures(model, false));
    lines.push(("fitted on", provenance.files.join(", ")));
    if let Some(start) = &provenance.start {
        lines.push(("started from", start.clone()));
    }
    lines.push(("fitted by", format!("abduce {}", provenance.abduce)));
    lines.extend(render::of(model).settings(report));
    if let Some(calibration) = &model.calibration {
        lines.push(("calibrated", calibrated(calibration)));
    }
    for field in model
        .schema()
        .fields
        .iter()
        .filter(|field| field.unit != 1.0)
    {
        let unit = format!("{} in units of {:e}", field.name, field.unit);
        lines.push(("column", unit));
    }
    let warnings = report.warnings.iter();
    lines.extend(warnings.map(|warning| ("warning", with_flags(warning))));
    lines
}
