//! The options of models of labelled classes.

use crate::arguments::DataArguments;
use crate::arguments::values::{not_negative, split_assignments};
use crate::commands::fit::CalibrationOptions;
use crate::context::Context;
use crate::io::failure::{Failure, Outcome};
use abduce::Error;
use abduce::data::Schema;
use abduce::model::mixture::{ClassPrior, FitOptions, Specification, Unlabelled};
use clap::Args;

#[derive(Args)]
#[command(next_help_heading = "Model options")]
pub struct LabelOptions {
    /// The column of labels [default: class of a folder with a folder for each class and of
    /// several mailboxes, label of svmlight files]
    #[arg(long, value_name = "COL")]
    target: Option<String>,

    /// Prior probabilities of the classes: learned, uniform, or given as in
    /// spam=0.2,ham=0.8 [default: learned]
    #[arg(long, value_name = "PRIOR")]
    class_prior: Option<String>,

    /// Weight of a row without a label: a number, or auto to choose it by cross-validation on
    /// the labelled rows [default: auto]
    #[arg(long, value_name = "WEIGHT", allow_hyphen_values = true, value_parser = unlabelled)]
    unlabelled: Option<Unlabelled>,

    /// Store a hash of every row in the model file, so that abduce forget can recognize rows
    /// that were never fitted
    #[arg(long)]
    marks: bool,

    #[command(flatten)]
    pub calibration: CalibrationOptions,
}

impl LabelOptions {
    /// The target column: the given one, or the label column of the file format.
    pub fn target(&self, model: &str, data: &DataArguments) -> Outcome<String> {
        let target = match &self.target {
            Some(target) => Some(target.clone()),
            None => data.label_column()?,
        };
        Ok(target.ok_or_else(|| {
            Error::parameter(format!("{model} needs --target COL"))
                .with_hint("name the column that holds the labels")
        })?)
    }

    /// Sets the options in a specification and the options of a fit.
    pub fn set(&self, specification: &mut Specification, fit: &mut FitOptions) -> Outcome {
        if let Some(prior) = &self.class_prior {
            specification.class_prior = class_prior(prior)?;
        }
        fit.unlabelled = self.unlabelled.unwrap_or(fit.unlabelled);
        fit.marks = self.marks;
        Ok(())
    }

    /// A `--kind` for the target that lists all classes of --class-prior; `None` unless the data
    /// have only some of these classes and no others.
    pub fn kind_of_target(&self, schema: &Schema, kinds: &[String]) -> Outcome<Option<String>> {
        let prior = self.class_prior.as_deref().map(class_prior).transpose()?;
        let (Some(target), Some(ClassPrior::Given(given))) = (&self.target, prior) else {
            return Ok(None);
        };
        let levels = &schema.fields[schema.position(target)?].levels;
        let has_kind = |kind: &String| kind.trim_start().starts_with(&format!("{target}="));
        let in_prior = |level: &String| given.iter().any(|(name, _)| name == level);
        let complete = levels.is_empty() || levels.len() == given.len();
        if complete || kinds.iter().any(has_kind) || !levels.iter().all(in_prior) {
            return Ok(None);
        }
        let names = given.iter().map(|(name, _)| format!("\"{name}\""));
        let mut names: Vec<String> = names.collect();
        names.sort();
        Ok(Some(format!("{target}=categorical({})", names.join(","))))
    }

    /// Notes a prior whose numbers do not sum to 1.
    pub fn note(&self, context: &Context) -> Outcome {
        let prior = self.class_prior.as_deref().map(class_prior).transpose()?;
        if let Some(ClassPrior::Given(given)) = prior {
            let sum: f64 = given.iter().map(|(_, weight)| weight).sum();
            if (sum - 1.0).abs() > 1e-6 {
                context.note(&format!(
                    "--class-prior sums to {sum}, not to 1, and is scaled to 1"
                ));
            }
        }
        Ok(())
    }
}

fn unlabelled(text: &str) -> Result<Unlabelled, String> {
    match text {
        "auto" => Ok(Unlabelled::Chosen),
        _ => match not_negative(text) {
            Ok(weight) if weight <= 1.0 => Ok(Unlabelled::Weight(weight)),
            _ => Err("must be a number from 0 to 1, or auto".into()),
        },
    }
}

/// `learned`, `uniform`, or `a=0.3,b=0.7`.
fn class_prior(text: &str) -> Outcome<ClassPrior> {
    match text {
        "learned" => return Ok(ClassPrior::Learned),
        "uniform" => return Ok(ClassPrior::Uniform),
        _ => {}
    }
    let each = split_assignments(text).into_iter().map(|part| {
        let (name, weight) = part.rsplit_once('=')?;
        Some((name.trim().to_string(), weight.trim().parse().ok()?))
    });
    let given = each.collect::<Option<Vec<_>>>().ok_or_else(|| {
        Failure::usage(format!(
            "--class-prior: cannot read \"{text}\"; write learned, uniform or a=0.3,b=0.7"
        ))
    })?;
    Ok(ClassPrior::Given(given))
}
