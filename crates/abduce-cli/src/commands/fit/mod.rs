//! `fit`: learns a model and says how that went.

mod density_options;
mod em_options;
mod given_options;
mod hints;
mod kmeans_options;
mod learn;
mod model_name;
mod options;
mod smoothing_options;
mod summary;
mod tails_options;
mod values;

pub use learn::CalibrationOptions;
pub use model_name::{ModelName, ModelParser};
pub use options::{ModelOptions, Task};
pub use summary::{LIKELIHOODS, calibrated, columns, is_generative, log_likelihood};

use crate::arguments::{DataArguments, KindArguments};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::output::{Output, refuse_inputs};
use crate::progress::FitProgress;
use crate::selection_table;
use crate::text_table::counted;
use abduce::Control;
use abduce::data::{Asked, Field, Source};
use abduce::model::mixture::Selection;
use clap::Args;
use learn::Learned;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// How many warnings are said one by one.
const WARNINGS: usize = 10;

/// Learn a model from a table
///
/// Any cell may be missing, and any label of --target too: rows without a
/// label are used as unlabelled ones. Ctrl-C ends a long fit with the best
/// model so far, which is written to --output, and the exit code is then 130; a second
/// one ends the program.
#[derive(Args)]
#[command(after_help = "Examples:
  abduce fit naive-bayes penguins.csv --target species -o penguins.abduce
  abduce fit gda penguins.csv --target species --covariance tied
  abduce fit naive-bayes penguins.csv --target species --calibrate isotonic
  abduce fit mixture faithful.csv --components 2 --json
  abduce fit kmeans faithful.csv -k 2 --standardize
  abduce fit kde faithful.csv --bandwidth cv -o faithful.abduce")]
pub struct Arguments {
    /// What to fit
    #[arg(value_name = "MODEL", value_parser = ModelParser)]
    model: ModelName,
    #[command(flatten)]
    data: DataArguments,
    #[command(flatten)]
    kinds: KindArguments,
    #[command(flatten)]
    options: ModelOptions,
    #[command(flatten)]
    calibration: CalibrationOptions,
    /// Where to write the model
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let start = Instant::now();
        let task = self.options.task(self.model, &self.data, context.seed)?;
        let calibrated = self.calibration.method(&task)?;
        if let Some(path) = &self.output {
            if path == Path::new("-") {
                return Err(Failure::usage(
                    "-o: a model goes to a file, the summary to stdout; name a file",
                ));
            }
            Output::probe(path)?;
        }
        let target = task.target();
        let text = self.options.text(&task)?;
        let mut opened = self.data.open(target, &self.kinds, text.clone(), context)?;
        if let Task::Mixture(specification, ..) = &task {
            let schema = opened.source.schema();
            let more = hints::more_classes(specification, schema, &self.kinds.kind);
            if let Some(classes) = more {
                let mut kinds = self.kinds.clone();
                kinds.kind.push(classes);
                opened = self.data.open(target, &kinds, text, context)?;
            }
            hints::note(specification, &*opened.source, context)?;
        }
        let files = opened.files.iter().map(PathBuf::from);
        refuse_inputs(self.output.as_deref(), files)?;
        let schema = opened.source.schema().clone();
        self.options.note_unused(&task, &schema, context);
        if !context.quiet && !context.json {
            let columns = summary::columns(&schema, target, &opened.holes, context.note_width());
            let size = format!(
                "{} of {}",
                counted(opened.source.rows(), "row"),
                counted(schema.fields.len() as u64, "column")
            );
            context.note_with(&size, &columns);
            let inferred = |field: &Field| {
                field.asked == Asked::Nothing && Some(field.name.as_str()) != target
            };
            if schema.fields.iter().any(inferred) {
                context.note(summary::RULE);
            }
        }
        let target = target.and_then(|target| schema.position(target).ok());
        let unlabelled = target.map(|t| opened.holes[t]).filter(|n| *n > 0);
        if let (Some(unlabelled), Task::Mixture(..)) = (unlabelled, &task) {
            context.note(&format!(
                "{} no label",
                match unlabelled {
                    1 => "1 row has".to_string(),
                    many => format!("{many} rows have"),
                }
            ));
        }
        if self.output.is_none() {
            context.note("the model is not kept; pass -o FILE to keep it");
        }
        let progress = FitProgress::new(context);
        let learned = interrupt::stoppable(|interrupt| {
            let watch = |step| progress.show(step);
            let control = Control {
                interrupt: Some(interrupt),
                progress: Some(&watch),
            };
            let learn =
                |source: &dyn Source| task.learn(self.model, source, opened.files.clone(), control);
            let source = &*opened.source;
            let mut learned = learn(source)?;
            learned.model.provenance.start = self.options.start_file();
            let model = |source: &dyn Source| Ok(learn(source)?.model);
            let calibration = self.calibration.learn(target, source, context.seed, model);
            // Stopped in the middle, it would be of half-learned models.
            if control.is_interrupted() {
                learned.interrupted = true;
            } else {
                learned.model.calibration = calibration?;
            }
            Ok::<_, abduce::Error>(learned)
        });
        progress.clear();
        let Learned {
            model,
            interrupted,
            restarts,
            bounds,
        } = learned.map_err(|why| interrupt::failure(opened.locate(why)))?;
        if let Some(choice) = &model.fit.unlabelled {
            context.note(&choice.told(unlabelled.unwrap_or(0)));
        }
        let seconds = start.elapsed().as_secs_f64();
        if let Some(path) = &self.output {
            let mut file = Output::bytes(Some(path))?;
            file.write_all(model.to_json()?.as_bytes())?;
            file.finish()?;
        }
        if calibrated.is_some() && model.calibration.is_none() {
            context.warn("the fit was stopped; its probabilities are not calibrated");
        }
        let warnings = &model.fit.warnings;
        let shown = warnings.iter().take(WARNINGS);
        shown.for_each(|warning| context.warn(warning));
        if warnings.len() > WARNINGS {
            let more = warnings.len() - WARNINGS;
            context.warn(&format!("and {more} more, which --json lists"));
        }
        let mut notes = opened.notes.clone();
        let chosen = model.fit.selection.as_ref();
        if chosen.is_some_and(Selection::chose_the_most) {
            notes.push(selection_table::THE_MOST.into());
        }
        let told = summary::Told {
            model: &model,
            notes: &notes,
            restarts: &restarts,
            bounds: &bounds,
            seconds,
            interrupted,
            file: self.output.as_deref(),
        };
        let mut output = Output::text(None, context)?;
        told.write(context, &mut output)?;
        output.finish()?;
        if interrupted {
            let lost = "the fit was stopped, and without -o FILE its model is not kept";
            let lost = self.output.is_none().then(|| lost.to_string());
            return Err(Failure::Interrupted(lost));
        }
        Ok(())
    }
}
