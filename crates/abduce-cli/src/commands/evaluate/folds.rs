//! Evaluation of a model by cross-validation.

use super::report::{Clusters, Predictions, Report};
use crate::arguments::{DataArguments, KindArguments};
use crate::commands::fit::{CalibrationOptions, Chosen, note_columns};
use crate::context::Context;
use crate::flags::with_flags;
use crate::io::failure::{Failure, Outcome};
use crate::io::output::{Output, check_not_an_input};
use crate::io::progress::FitProgress;
use crate::render::text_table::counted;
use abduce::Control;
use abduce::data::{Folds, Opened, Schema, Source};
use abduce::eval::{
    Classifier, cross_validate as cross_validate_classifier, cross_validate_density,
};
use abduce::model::{AnyLearner, AnyModel};
use abduce::{Error, ErrorKind};
use clap::Args;
use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Instant;

/// The default number of folds.
const DEFAULT_FOLDS: usize = 10;

/// How many warnings of the fits are printed.
const MAX_WARNINGS: usize = 5;

#[derive(Args)]
pub struct FoldArguments {
    #[command(flatten)]
    data: DataArguments,
    #[command(flatten)]
    kinds: KindArguments,
    /// Number of folds [default: 10]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = folds)]
    folds: Option<usize>,
    /// Without labels: a column of true groups to compare the clusters with, which is not part of
    /// the fit
    #[arg(long, value_name = "COL")]
    truth: Option<String>,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Evaluates a model on every fold, fitted to the others.
pub fn cross_validate(model: &Chosen<FoldArguments>, context: &Context) -> Outcome {
    let start = Instant::now();
    let (options, arguments) = (&*model.options, &model.common);
    let learner = options.learner(&arguments.data, context)?;
    let learner = &*learner;
    arguments.check_truth(learner)?;
    let opened = open(model, learner, context)?;
    let files = opened.files.iter().map(PathBuf::from);
    check_not_an_input(arguments.output.as_deref(), files)?;
    let mut output = Output::text(arguments.output.as_deref(), context)?;
    options.note(learner.target(), &*opened.source, context)?;
    let schema = opened.source.schema();
    let target = learner.target().map(|name| schema.position(name));
    let target = target.transpose()?;
    check_labels(schema, target)?;
    let number = arguments.folds.unwrap_or(DEFAULT_FOLDS);
    let folds = Folds::stratified(&*opened.source, target, number, context.seed)?;
    note_columns(&opened, learner.target(), false, context);
    note_labels(&opened, &folds, target, context);
    let fits = Fits {
        learner,
        calibration: options.calibration(),
        target,
        seed: context.seed,
        progress: FitProgress::new(context),
        warnings: RefCell::default(),
    };
    let mut report = Report {
        model: model.name,
        rows: opened.source.rows(),
        evaluated: folds.class_rows().iter().sum(),
        folds: Some(&folds),
        seed: context.seed,
        calibration: fits.calibration.and_then(CalibrationOptions::method),
        warnings: Vec::new(),
        seconds: 0.0,
    };
    let mut finish = |fits: &Fits| {
        fits.progress.clear();
        report.warnings = print_distinct_warnings(fits.warnings.take(), context);
        report.seconds = start.elapsed().as_secs_f64();
    };
    if let Some(target) = target {
        let classifier = |rows: &dyn Source| fits.classifier(rows);
        let metrics = cross_validate_classifier(&*opened.source, &folds, classifier);
        finish(&fits);
        let field = &schema.fields[target];
        let predictions = Predictions::new(&report, &field.name, &field.levels, metrics?);
        predictions.write(context, &mut output)?;
    } else {
        let truth = arguments.truth.as_deref();
        let groups = truth.map(|name| schema.position(name)).transpose()?;
        let learn = |rows: &dyn Source| fits.learn(rows);
        let held_out = cross_validate_density(&*opened.source, &folds, groups, learn);
        finish(&fits);
        let clusters = Clusters::new(&report, truth, held_out?);
        clusters.write(context, &mut output)?;
    }
    output.finish()
}

/// Fits the model to the rows outside a fold.
struct Fits<'a> {
    learner: &'a dyn AnyLearner,
    calibration: Option<&'a CalibrationOptions>,
    target: Option<usize>,
    seed: u64,
    progress: FitProgress,
    warnings: RefCell<Vec<String>>,
}

impl Fits<'_> {
    fn learn(&self, rows: &dyn Source) -> abduce::Result<AnyModel> {
        let progress = &self.progress;
        let show = |step| progress.show(step);
        let control = Control {
            interrupt: None,
            progress: Some(&show),
        };
        let learned = self.learner.learn(rows, control)?;
        self.warnings.borrow_mut().extend(learned.report.warnings);
        Ok(learned.model)
    }

    /// The model with the calibration asked for.
    fn classifier(&self, rows: &dyn Source) -> abduce::Result<Classifier> {
        let learn = |rows: &dyn Source| self.learn(rows);
        let calibration = (self.calibration)
            .map(|calibration| calibration.learn(self.target, rows, self.seed, learn));
        Ok(Classifier {
            calibration: calibration.transpose()?.flatten(),
            model: self.learn(rows)?,
        })
    }
}

/// Rejects a target without any label.
fn check_labels(schema: &Schema, target: Option<usize>) -> Outcome {
    match target.map(|target| &schema.fields[target]) {
        Some(field) if field.levels.is_empty() => Err(Error::data("no row has a label")
            .at_column(&field.name)
            .with_hint("fit a mixture to find clusters instead")
            .into()),
        _ => Ok(()),
    }
}

impl FoldArguments {
    fn check_truth(&self, learner: &dyn AnyLearner) -> Outcome {
        if self.truth.is_none() {
            return Ok(());
        }
        if learner.target().is_some() {
            return Err(Failure::usage(
                "--truth does not apply with --target, whose labels are the true groups",
            ));
        }
        if !learner.finds_clusters() {
            return Err(Failure::usage(format!(
                "--truth does not apply to {}, which finds no clusters; evaluate a mixture, or name \
                 the column of classes with --target",
                learner.name()
            )));
        }
        Ok(())
    }
}

fn open(
    model: &Chosen<FoldArguments>,
    learner: &dyn AnyLearner,
    context: &Context,
) -> Outcome<Opened> {
    let arguments = &model.common;
    let labels = learner.target().or(arguments.truth.as_deref());
    let text = model.options.text()?;
    let opened = arguments.data.open(labels, &arguments.kinds, text, context);
    opened.map_err(|failure| match failure {
        // The column of true groups is opened as the target, so errors name --target.
        Failure::Error(error)
            if arguments.truth.is_some() && error.kind() == ErrorKind::Parameter =>
        {
            let message = error.to_string();
            let message = message.replace("--target", "--truth");
            Failure::usage(message.replace("`target`", "`truth`"))
        }
        other => other,
    })
}

/// Notes rows without a label, and classes with fewer rows than there are folds.
fn note_labels(opened: &Opened, folds: &Folds, target: Option<usize>, context: &Context) {
    let Some(target) = target else {
        return;
    };
    let unlabelled = opened.missing_values[target];
    if unlabelled > 0 {
        let rows = counted(unlabelled, "row");
        context.note(&format!("{rows} without a label are not evaluated"));
    }
    let levels = &opened.source.schema().fields[target].levels;
    let few = (levels.iter().zip(folds.class_rows()))
        .filter(|(_, rows)| (1..folds.number() as u64).contains(*rows))
        .map(|(name, rows)| format!("{name} ({rows})"));
    let few: Vec<String> = few.collect();
    if !few.is_empty() {
        context.warn(&format!(
            "classes with fewer rows than folds, so that some folds have none of their rows: {}",
            few.join(", ")
        ));
    }
}

/// Removes repeated warnings and prints the first few; returns all distinct ones.
fn print_distinct_warnings(all: Vec<String>, context: &Context) -> Vec<String> {
    let mut distinct: Vec<(String, usize)> = Vec::new();
    for warning in all {
        match distinct.iter_mut().find(|(known, _)| *known == warning) {
            Some((_, times)) => *times += 1,
            None => distinct.push((warning, 1)),
        }
    }
    let fits = |times: usize| counted(times as u64, "fit");
    let warnings: Vec<String> = (distinct.into_iter())
        .map(|(warning, times)| format!("in {}: {}", fits(times), with_flags(&warning)))
        .collect();
    let shown = warnings.iter().take(MAX_WARNINGS);
    shown.for_each(|warning| context.warn(warning));
    if warnings.len() > MAX_WARNINGS {
        let more = warnings.len() - MAX_WARNINGS;
        context.warn(&format!("and {more} more, which --json lists"));
    }
    warnings
}

fn folds(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number >= 2 => Ok(number),
        _ => Err("must be a whole number, at least 2".into()),
    }
}
