//! Fitting what the options ask for, once for a model and once for each fold
//! that holds rows out.

use super::model_name::ModelName;
use super::options::Task;
use super::values::at_least_one;
use crate::failure::{Failure, Outcome};
use abduce::Control;
use abduce::data::Folds;
use abduce::data::Source;
use abduce::eval::{Calibration, CalibrationMethod};
use abduce::model::{density, kmeans, mixture};
use abduce::store::Model;
use clap::Args;

/// A fit, with what a model file does not hold of it.
pub struct Learned {
    pub model: Model,
    pub interrupted: bool,
    pub restarts: Vec<f64>,
    pub bounds: Vec<f64>,
}

impl Task {
    /// Fits the model.
    pub fn learn(
        &self,
        name: ModelName,
        source: &dyn Source,
        files: Vec<String>,
        control: Control,
    ) -> abduce::Result<Learned> {
        Ok(match self {
            Task::Mixture(specification, options, start) => {
                let fit = match start {
                    None => mixture::fit(specification, source, options, control)?,
                    Some(start) => {
                        mixture::fit_from_mixture(specification, source, start, options, control)?
                    }
                };
                let (interrupted, restarts) = (fit.interrupted, fit.restarts.clone());
                let bounds = fit.bounds.clone();
                let (specification, options) = (specification.clone(), options.clone());
                Learned {
                    bounds,
                    model: Model::new(name.name(), fit, specification, options, files),
                    interrupted,
                    restarts,
                }
            }
            Task::Selection(specification, grid, options) => {
                let (fit, selection) =
                    mixture::select(specification, grid, source, options, control)?;
                let (interrupted, restarts) = (control.is_interrupted(), fit.restarts.clone());
                let bounds = fit.bounds.clone();
                let chosen = &selection.tried[selection.chosen];
                let specification = specification.of_pair(chosen.covariance, chosen.components);
                let mut model = Model::new(name.name(), fit, specification, options.clone(), files);
                model.fit.selection = Some(selection);
                Learned {
                    bounds,
                    model,
                    interrupted,
                    restarts,
                }
            }
            Task::Bootstrap(specification, numbers, options, test) => {
                let (fit, test) = mixture::bootstrap_test(
                    specification,
                    numbers.clone(),
                    source,
                    options,
                    test,
                    control,
                )?;
                let (interrupted, restarts) = (control.is_interrupted(), fit.restarts.clone());
                let bounds = fit.bounds.clone();
                let specification = mixture::Specification {
                    components: Some(test.chosen),
                    ..specification.clone()
                };
                let mut model = Model::new(name.name(), fit, specification, options.clone(), files);
                model.fit.bootstrap = Some(test);
                Learned {
                    bounds,
                    model,
                    interrupted,
                    restarts,
                }
            }
            Task::KMeans(specification, options) => {
                let fit = kmeans::fit(specification, source, options, control)?;
                let (interrupted, restarts) = (fit.interrupted, fit.restarts.clone());
                // Not every distance has a density.
                let log_likelihood = match fit.model.gaussians() {
                    Ok(_) => Some(fit.model.log_likelihood(source)?),
                    Err(_) => None,
                };
                let (specification, options) = (specification.clone(), options.clone());
                Learned {
                    bounds: Vec::new(),
                    model: Model::of_kmeans(fit, log_likelihood, specification, options, files),
                    interrupted,
                    restarts,
                }
            }
            Task::Density(specification) => {
                let fit = density::fit(specification, source, control)?;
                Learned {
                    bounds: Vec::new(),
                    model: Model::of_density(fit, specification.clone(), files),
                    interrupted: false,
                    restarts: Vec::new(),
                }
            }
        })
    }
}

/// Whether and how probabilities are calibrated.
#[derive(Args)]
#[command(next_help_heading = "Calibration options")]
pub struct CalibrationOptions {
    /// Calibrate class probabilities on held-out rows: isotonic (step function) or platt
    /// (logistic curve)
    #[arg(long, value_name = "HOW", value_parser = method)]
    calibrate: Option<CalibrationMethod>,

    /// How many folds of rows are held out in turn to calibrate [default: 5]
    #[arg(long, value_name = "N", requires = "calibrate", allow_negative_numbers = true, value_parser = at_least_one)]
    calibration_folds: Option<usize>,
}

impl CalibrationOptions {
    /// The method asked for, if the task has classes to calibrate.
    pub fn method(&self, task: &Task) -> Outcome<Option<CalibrationMethod>> {
        if self.calibrate.is_some() && task.target().is_none() {
            return Err(Failure::usage(match task {
                Task::Density(_) => {
                    "--calibrate corrects the probabilities of classes; name the column of the classes with --target"
                }
                _ => {
                    "--calibrate corrects the probabilities of classes, and clusters have none; leave it out, or fit naive-bayes or gda"
                }
            }));
        }
        Ok(self.calibrate)
    }

    /// Learns what is asked for; `learn` fits the model to some rows.
    pub fn learn(
        &self,
        target: Option<usize>,
        source: &dyn Source,
        seed: u64,
        learn: impl Fn(&dyn Source) -> abduce::Result<Model>,
    ) -> abduce::Result<Option<Calibration>> {
        let Some(method) = self.calibrate else {
            return Ok(None);
        };
        let number = self.calibration_folds.unwrap_or(5);
        let folds = Folds::stratified(source, target, number, seed)?;
        let learn = |rows: &dyn Source| Ok(learn(rows)?.into_joint());
        Calibration::learn(method, source, &folds, learn).map(Some)
    }
}

fn method(text: &str) -> Result<CalibrationMethod, String> {
    text.parse()
        .map_err(|error: abduce::Error| error.to_string())
}
