//! `evaluate`: how good a model is on rows it has not seen, by cross-validation or, for a
//! saved model, on a test table.

mod given;
mod saved;
mod subject;
mod told;

use crate::arguments::{DataArguments, KindArguments};
use crate::commands::fit::{CalibrationOptions, ModelName, ModelOptions, Task, columns};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::flags::spelled;
use crate::output::{Output, refuse_inputs};
use crate::progress::FitProgress;
use crate::text_table::counted;
use abduce::Control;
use abduce::data::Folds;
use abduce::data::{Opened, Source};
use abduce::eval::{Classifier, cross_validate, cross_validate_density};
use abduce::store::Model;
use abduce::{Error, ErrorKind};
use clap::Args;
use given::GivenOptions;
use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Instant;
use subject::{Subject, SubjectParser};
use told::{Clusters, Predictions, Told};

/// The number of folds unless it is given.
const FOLDS: usize = 10;

/// How many warnings of fits are said one by one.
const WARNINGS: usize = 5;

/// Measure how well a model predicts rows it has not seen
///
/// The rows are split into folds; each fold is predicted by a model fitted to the others. With
/// --target: accuracy, log-loss, Brier score, calibration error, confusion and figures for each
/// class; rows without a label are used in the fit but not evaluated. Without: the
/// log-likelihood of held-out rows, and with --truth how the clusters agree with a column that
/// the model is not shown. All options of `abduce fit` apply.
///
/// If MODEL is a model file, it is evaluated unchanged on DATA, which should not contain the
/// rows it was fitted to.
#[derive(Args)]
#[command(after_help = "Examples:
  abduce evaluate naive-bayes penguins.csv --target species --folds 10
  abduce evaluate gda penguins.csv --target species --drop island,sex,year --json
  abduce evaluate naive-bayes penguins.csv --target species --calibrate platt
  abduce evaluate mixture penguins.csv -k 3 --truth species --drop island,sex,year
  abduce evaluate penguins.abduce test.csv")]
pub struct Arguments {
    // Comes first: clap removes the options from the matches as they are read.
    #[command(flatten)]
    given: GivenOptions,
    /// What to fit, or the file of a model that is fitted
    #[arg(value_name = "MODEL", value_parser = SubjectParser)]
    model: Subject,
    #[command(flatten)]
    data: DataArguments,
    #[command(flatten)]
    kinds: KindArguments,
    /// How many folds the rows are dealt into [default: 10]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = folds)]
    folds: Option<usize>,
    /// The column of true groups, which clusters are compared with and not
    /// fitted to [mixture]
    #[arg(long, value_name = "COL")]
    truth: Option<String>,
    #[command(flatten)]
    options: ModelOptions,
    #[command(flatten)]
    calibration: CalibrationOptions,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        match &self.model {
            Subject::Name(model) => self.cross_validate(*model, context),
            Subject::File(path) => self.evaluate_saved(path, context),
        }
    }

    fn cross_validate(&self, model: ModelName, context: &Context) -> Outcome {
        let start = Instant::now();
        let mut task = self.options.task(model, &self.data, context.seed)?;
        if let Task::Mixture(_, options, _) = &mut task {
            options.marks = false;
        }
        self.calibration.method(&task)?;
        self.check_truth(&task, model)?;
        let opened = self.open(&task, context)?;
        let files = opened.files.iter().map(PathBuf::from);
        refuse_inputs(self.output.as_deref(), files)?;
        let mut output = Output::text(self.output.as_deref(), context)?;
        let schema = opened.source.schema();
        self.options.note_unused(&task, schema, context);
        let position = |name: &str| schema.position(name);
        let target = task.target().map(position).transpose()?;
        let truth = self.truth.as_deref().map(position).transpose()?;
        if let Some(field) = target.map(|target| &schema.fields[target])
            && field.levels.is_empty()
        {
            return Err(Error::data("no row has a label")
                .at_column(&field.name)
                .with_hint("fit a mixture to find clusters instead")
                .into());
        }
        let folds = Folds::stratified(
            &*opened.source,
            target,
            self.folds.unwrap_or(FOLDS),
            context.seed,
        )?;
        self.say_what_is_dealt(&opened, &folds, target, context);
        let mut told = Told {
            model: model.name(),
            rows: opened.source.rows(),
            asked: folds.class_rows().iter().sum(),
            folds: Some(&folds),
            seed: context.seed,
            calibration: self.calibration.method(&task)?,
            warnings: Vec::new(),
            seconds: 0.0,
        };
        let progress = FitProgress::new(context);
        let watch = |step| progress.show(step);
        let control = Control {
            interrupt: None,
            progress: Some(&watch),
        };
        let warnings = RefCell::new(Vec::new());
        let learn = |rows: &dyn Source| -> abduce::Result<Model> {
            let learned = task.learn(model, rows, Vec::new(), control)?.model;
            warnings.borrow_mut().extend(learned.fit.warnings.clone());
            Ok(learned)
        };
        if let Some(target) = target {
            let classifier = |rows: &dyn Source| {
                let calibration = &self.calibration;
                Ok(Classifier {
                    calibration: calibration.learn(Some(target), rows, context.seed, learn)?,
                    joint: learn(rows)?.into_joint(),
                })
            };
            let metrics = cross_validate(&*opened.source, &folds, classifier);
            progress.clear();
            told.warnings = said_once(warnings.take(), context);
            told.seconds = start.elapsed().as_secs_f64();
            let field = &schema.fields[target];
            let predictions = Predictions::new(&told, &field.name, &field.levels, metrics?);
            predictions.write(context, &mut output)?;
        } else {
            let joint = |rows: &dyn Source| Ok(learn(rows)?.into_joint());
            let found = cross_validate_density(&*opened.source, &folds, truth, joint);
            progress.clear();
            told.warnings = said_once(warnings.take(), context);
            told.seconds = start.elapsed().as_secs_f64();
            let clusters = Clusters::new(&told, self.truth.as_deref(), found?);
            clusters.write(context, &mut output)?;
        }
        output.finish()
    }

    fn check_truth(&self, task: &Task, model: ModelName) -> Outcome {
        match (&self.truth, task.target(), task) {
            (None, ..) => Ok(()),
            (Some(_), Some(_), _) => Err(Failure::usage(
                "--truth: with --target the labels are the truth; name one of them",
            )),
            (Some(_), None, Task::Density(_)) => Err(Failure::usage(format!(
                "--truth: {} finds no clusters; evaluate a mixture, or name the classes with --target",
                model.name()
            ))),
            (
                Some(_),
                None,
                Task::Mixture(..) | Task::Selection(..) | Task::Bootstrap(..) | Task::KMeans(..),
            ) => Ok(()),
        }
    }

    fn open(&self, task: &Task, context: &Context) -> Outcome<Opened> {
        let labels = task.target().or(self.truth.as_deref());
        let text = self.options.text(task)?;
        let opened = self.data.open(labels, &self.kinds, text, context);
        opened.map_err(|failure| match failure {
            // To the reader, the column of labels is the target.
            Failure::Engine(error)
                if self.truth.is_some() && error.kind() == ErrorKind::Parameter =>
            {
                Failure::usage(error.to_string().replace("--target", "--truth"))
            }
            other => other,
        })
    }

    fn say_what_is_dealt(
        &self,
        opened: &Opened,
        folds: &Folds,
        target: Option<usize>,
        context: &Context,
    ) {
        let schema = opened.source.schema();
        if !context.quiet && !context.json {
            let label = target.map(|target| schema.fields[target].name.as_str());
            let columns = columns(schema, label, &opened.holes, context.note_width());
            let size = format!(
                "{} of {}",
                counted(opened.source.rows(), "row"),
                counted(schema.fields.len() as u64, "column")
            );
            context.note_with(&size, &columns);
        }
        let Some(target) = target else {
            return;
        };
        let unlabelled = opened.holes[target];
        if unlabelled > 0 {
            context.note(&format!(
                "{} without a label: never asked about",
                counted(unlabelled, "row")
            ));
        }
        let few = (schema.fields[target].levels.iter().zip(folds.class_rows()))
            .filter(|(_, rows)| (1..folds.number() as u64).contains(*rows))
            .map(|(name, rows)| format!("{name} ({rows})"));
        let few: Vec<String> = few.collect();
        if !few.is_empty() {
            context.warn(&format!(
                "fewer rows than folds, so that some folds hold none out: {}",
                few.join(", ")
            ));
        }
    }
}

/// The warnings of all fits, each once, the first few of them said.
fn said_once(all: Vec<String>, context: &Context) -> Vec<String> {
    let mut different: Vec<(String, usize)> = Vec::new();
    for warning in all {
        match different.iter_mut().find(|(own, _)| *own == warning) {
            Some((_, times)) => *times += 1,
            None => different.push((warning, 1)),
        }
    }
    let fits = |times: usize| counted(times as u64, "fit");
    let different = different.into_iter();
    let told: Vec<String> = different
        .map(|(warning, times)| format!("in {}: {}", fits(times), spelled(&warning)))
        .collect();
    let shown = told.iter().take(WARNINGS);
    shown.for_each(|warning| context.warn(warning));
    if told.len() > WARNINGS {
        let more = told.len() - WARNINGS;
        context.warn(&format!("and {more} more, which --json lists"));
    }
    told
}

fn folds(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number >= 2 => Ok(number),
        _ => Err("must be a whole number, at least 2".into()),
    }
}
