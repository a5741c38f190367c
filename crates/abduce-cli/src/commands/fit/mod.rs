//! `fit`: fits a model to a table. Each model is a sub-command with a file of options here; a new
//! one is a file, its `mod` line and its line in [`MODELS`].

mod calibration;
mod gaussian;
mod gda;
mod histogram;
mod kde;
mod kmeans;
mod knn;
mod mixture;
pub mod models;
mod naive_bayes;
mod options;
mod summary;
mod values;

pub use calibration::CalibrationOptions;
pub use models::Chosen;
pub use summary::calibrated;

use crate::arguments::{DataArguments, KindArguments};
use crate::context::Context;
use crate::io::failure::{Failure, Outcome};
use crate::io::interrupt;
use crate::io::output::{Output, check_not_an_input};
use crate::io::progress::FitProgress;
use crate::render;
use crate::render::text_table::counted;
use abduce::Control;
use abduce::data::{Field, Opened, SetByUser, Source};
use abduce::model::AnyLearner;
use abduce::model::mixture::FittedMixture;
use abduce::store::Model;
use clap::Args;
use models::Entry;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// All models, in the order in which help lists them.
const MODELS: &[Entry] = &[
    Entry::of::<naive_bayes::Options>(),
    Entry::of::<gda::Options>(),
    Entry::of::<mixture::Options>(),
    Entry::of::<kmeans::Options>(),
    Entry::of::<gaussian::Options>(),
    Entry::of::<kde::Options>(),
    Entry::of::<histogram::Options>(),
    Entry::of::<knn::Options>(),
];

/// How many warnings are printed.
const MAX_WARNINGS: usize = 10;

/// Fit a model to a table
///
/// Any cell may be missing, including labels of --target: rows without a label take part in the
/// fit as unlabelled rows. Ctrl-C stops a long fit and writes the best model so far to --output,
/// with exit code 130; a second Ctrl-C ends the program at once.
#[derive(Args)]
#[command(
    subcommand_value_name = "MODEL",
    subcommand_help_heading = "Models",
    disable_help_subcommand = true,
    after_help = "Each model has its own options: abduce fit MODEL --help lists them.

Examples:
  abduce fit naive-bayes penguins.csv --target species -o penguins.abduce
  abduce fit gda penguins.csv --target species --covariance tied
  abduce fit naive-bayes penguins.csv --target species --calibrate isotonic
  abduce fit mixture faithful.csv --components 2 --json
  abduce fit kmeans faithful.csv -k 2 --standardize
  abduce fit kde faithful.csv --bandwidth cv -o faithful.abduce"
)]
pub struct Arguments {
    #[command(subcommand)]
    model: Chosen<FitArguments>,
}

/// The arguments of every model.
#[derive(Args)]
struct FitArguments {
    #[command(flatten)]
    data: DataArguments,
    #[command(flatten)]
    kinds: KindArguments,
    /// Where to write the model
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A fitted model, with the parts of its report that are not in the model file.
struct Finished {
    model: Model,
    interrupted: bool,
    restarts: Vec<f64>,
    bounds: Vec<f64>,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let start = Instant::now();
        let (options, arguments) = (&*self.model.options, &self.model.common);
        let learner = options.learner(&arguments.data, context)?;
        let path = arguments.output.as_deref();
        check_output(path)?;
        let opened = open(&self.model, &*learner, context)?;
        let files = opened.files.iter().map(PathBuf::from);
        check_not_an_input(path, files)?;
        options.note(learner.target(), &*opened.source, context)?;
        note_columns(&opened, learner.target(), true, context);
        let schema = opened.source.schema();
        let target = learner.target().map(|target| schema.position(target));
        let target = target.transpose()?;
        let unlabelled = target.map_or(0, |target| opened.missing_values[target]);
        if unlabelled > 0 {
            let rows = counted(unlabelled, "row");
            context.note(&format!("{rows} without a label"));
        }
        if path.is_none() {
            context.note("the model is not saved; pass -o FILE to save it");
        }
        let finished = self.learn_and_calibrate(&*learner, target, &opened, context)?;
        let seconds = start.elapsed().as_secs_f64();
        if let Some(path) = path {
            let mut file = Output::bytes(Some(path))?;
            file.write_all(finished.model.to_json()?.as_bytes())?;
            file.finish()?;
        }
        note_unlabelled_weight(&finished.model, unlabelled, context);
        self.warn(&finished.model, context);
        finished.write_summary(&opened.notes, path, seconds, context)?;
        if finished.interrupted {
            let lost = "the fit was stopped, and without -o FILE its model is not saved";
            let lost = path.is_none().then(|| lost.to_string());
            return Err(Failure::Interrupted(lost));
        }
        Ok(())
    }

    /// Fits the model and calibrates it if asked to; a signal stops the fit early.
    fn learn_and_calibrate(
        &self,
        learner: &dyn AnyLearner,
        target: Option<usize>,
        opened: &Opened,
        context: &Context,
    ) -> Outcome<Finished> {
        let options = &self.model.options;
        let progress = FitProgress::new(context);
        let fitted = interrupt::stoppable(|interrupt| {
            let watch = |step| progress.show(step);
            let control = Control {
                interrupt: Some(interrupt),
                progress: Some(&watch),
            };
            let source = &*opened.source;
            let mut learned = learner.learn(source, control)?;
            let mut finished = Finished {
                interrupted: learned.interrupted,
                restarts: std::mem::take(&mut learned.restarts),
                bounds: std::mem::take(&mut learned.bounds),
                model: Model::new(learner.name(), learned, opened.files.clone()),
            };
            finished.model.provenance.start = options.start_file();
            if let Some(calibration) = options.calibration() {
                let learn = |rows: &dyn Source| Ok(learner.learn(rows, control)?.model);
                let calibration = calibration.learn(target, source, context.seed, learn);
                // The models of an interrupted calibration are unfinished.
                if control.is_interrupted() {
                    finished.interrupted = true;
                } else {
                    finished.model.calibration = calibration?;
                }
            }
            Ok::<_, abduce::Error>(finished)
        });
        progress.clear();
        fitted.map_err(|error| interrupt::failure(opened.locate(error)))
    }

    fn warn(&self, model: &Model, context: &Context) {
        let calibration = self.model.options.calibration();
        let wanted = calibration.is_some_and(|calibration| calibration.method().is_some());
        if wanted && model.calibration.is_none() {
            context.warn("the fit was stopped; its probabilities are not calibrated");
        }
        let warnings = &model.fit.warnings;
        let shown = warnings.iter().take(MAX_WARNINGS);
        shown.for_each(|warning| context.warn(warning));
        if warnings.len() > MAX_WARNINGS {
            let more = warnings.len() - MAX_WARNINGS;
            context.warn(&format!("and {more} more, which --json lists"));
        }
    }
}

impl Finished {
    fn write_summary(
        &self,
        notes: &[String],
        path: Option<&Path>,
        seconds: f64,
        context: &Context,
    ) -> Outcome {
        let choice_note = render::of(&self.model).choice_note().map(String::from);
        let notes: Vec<String> = notes.iter().cloned().chain(choice_note).collect();
        let summary = summary::Summary {
            model: &self.model,
            notes: &notes,
            restarts: &self.restarts,
            bounds: &self.bounds,
            seconds,
            interrupted: self.interrupted,
            file: path,
        };
        let mut output = Output::text(None, context)?;
        summary.write(context, &mut output)?;
        output.finish()
    }
}

/// Notes the weight of rows without a label, if the fit has chosen it.
fn note_unlabelled_weight(model: &Model, unlabelled: u64, context: &Context) {
    let mixture = model.body.get::<FittedMixture>();
    if let Some(choice) = mixture.and_then(|mixture| mixture.details.unlabelled.as_ref()) {
        context.note(&choice.summary(unlabelled));
    }
}

/// Checks, before the fit begins, that the model file can be written.
fn check_output(path: Option<&Path>) -> Outcome {
    match path {
        Some(path) if path == Path::new("-") => Err(Failure::usage(
            "-o needs a file for the model; stdout is for the summary",
        )),
        Some(path) => Output::check_writable(path),
        None => Ok(()),
    }
}

/// Opens the data. If --class-prior names classes that the data lack, opens them again with these
/// classes in the kind of the target.
fn open(
    model: &Chosen<FitArguments>,
    learner: &dyn AnyLearner,
    context: &Context,
) -> Outcome<Opened> {
    let FitArguments { data, kinds, .. } = &model.common;
    let (target, text) = (learner.target(), model.options.text()?);
    let opened = data.open(target, kinds, text.clone(), context)?;
    let classes = (model.options).kind_of_target(opened.source.schema(), &kinds.kind)?;
    let Some(classes) = classes else {
        return Ok(opened);
    };
    let mut kinds = kinds.clone();
    kinds.kind.push(classes);
    data.open(target, &kinds, text, context)
}

/// Prints the size and the columns of a table and, if `rule` is true, the rules by which kinds are
/// inferred.
pub fn note_columns(opened: &Opened, target: Option<&str>, rule: bool, context: &Context) {
    if context.quiet || context.json {
        return;
    }
    let schema = opened.source.schema();
    let columns = summary::columns(schema, target, &opened.missing_values, context.note_width());
    let size = format!(
        "{} of {}",
        counted(opened.source.rows(), "row"),
        counted(schema.fields.len() as u64, "column")
    );
    context.note_with(&size, &columns);
    let inferred = |field: &Field| {
        field.set_by_user == SetByUser::Nothing && Some(field.name.as_str()) != target
    };
    if rule && schema.fields.iter().any(inferred) {
        context.note(summary::KIND_INFERENCE_NOTE);
    }
}
