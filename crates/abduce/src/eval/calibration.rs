//! Calibration of probabilities on held-out rows, one class against the rest: by Platt's
//! logistic curve of the log-odds s,
//!
//!   p = 1 / (1 + exp(−(a s + b)))    (Platt 1999; Newton as Lin, Lin & Weng 2007),
//!
//! or by isotonic regression (pool adjacent violators, Zadrozny & Elkan 2002), interpolated
//! linearly and bounded away from 0 and 1. Of two classes the second is calibrated and the
//! first gets the rest; the calibrated probabilities of more classes are normalised.

use super::cross_validation::learn_without;
use crate::ask::{Posterior, Predict};
use crate::data::Folds;
use crate::data::{CHUNK_ROWS, Chunk, Source, reduce};
use crate::model::AnyModel;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The most held-out rows used for a calibration; of more, only every second, third, … is used.
const MAX_ROWS: u64 = 1_000_000;

/// How probabilities are calibrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CalibrationMethod {
    /// Isotonic regression.
    Isotonic,
    /// A logistic curve of the log-odds.
    Platt,
}

impl CalibrationMethod {
    /// The name in options.
    pub fn name(self) -> &'static str {
        match self {
            CalibrationMethod::Isotonic => "isotonic",
            CalibrationMethod::Platt => "platt",
        }
    }
}

impl std::str::FromStr for CalibrationMethod {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "isotonic" => Ok(CalibrationMethod::Isotonic),
            // "sigmoid" is scikit-learn's name.
            "platt" | "sigmoid" => Ok(CalibrationMethod::Platt),
            _ => Err(Error::parameter(format!("\"{name}\" is not a calibration"))
                .with_hint("the calibrations are isotonic and platt")),
        }
    }
}

/// A calibration of the probabilities of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The method.
    pub method: CalibrationMethod,
    /// The number of folds.
    pub folds: usize,
    /// The number of held-out rows used.
    pub rows: u64,
    /// A curve for each class; for two classes, only for the second.
    pub curves: Vec<Curve>,
}

/// A map from the predicted probability of a class to its calibrated probability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Curve {
    /// A logistic curve of the log-odds.
    Logistic {
        /// a.
        slope: f64,
        /// b.
        intercept: f64,
    },
    /// A piecewise linear curve, constant beyond the first and the last point.
    Steps {
        /// Predicted probabilities, ascending.
        scores: Vec<f64>,
        /// The shares of rows of the class, nondecreasing.
        shares: Vec<f64>,
        /// The lower bound of the curve: positive if it was fitted, as a finite number of rows
        /// cannot show that a class never occurs; 0 in older files.
        #[serde(default)]
        least: f64,
        /// The upper bound of the curve; 1 in older files.
        #[serde(default = "one")]
        most: f64,
    },
}

/// The predictions for held-out rows, with their labels and weights.
#[derive(Default)]
struct Predictions {
    probabilities: Vec<f64>,
    labels: Vec<u32>,
    weights: Vec<f64>,
}

impl Calibration {
    /// Fits a calibration to the held-out rows of all folds, predicted by models fitted without
    /// their fold. It applies to the model fitted to all rows.
    ///
    /// # Errors
    /// If a fit fails, the model has no target, or the rows cannot be read.
    pub fn learn(
        method: CalibrationMethod,
        source: &dyn Source,
        folds: &Folds,
        learn: impl Fn(&dyn Source) -> Result<AnyModel>,
    ) -> Result<Calibration> {
        let mut predictions = Predictions::default();
        let mut classes = 0;
        for fold in 0..folds.number() {
            let model = learn_without(source, folds, fold, &learn)?;
            let model = model.predictor();
            let target = model.target();
            let target = target.ok_or_else(|| Error::parameter("the model has no target"))?;
            classes = model.names().len();
            let stride = source.rows().div_ceil(MAX_ROWS).max(1) as usize;
            let held_out = folds.held_out(source, fold)?;
            let of_fold = reduce(
                &*held_out,
                |number, chunk| Predictions::of(model, target, chunk, number * CHUNK_ROWS, stride),
                |predictions: &mut Predictions, more| predictions.append(more),
            )?;
            predictions.append(of_fold.unwrap_or_default());
        }
        Ok(Calibration {
            method,
            folds: folds.number(),
            rows: predictions.labels.len() as u64,
            curves: predictions.curves(method, classes),
        })
    }

    /// The calibrated probabilities.
    pub fn apply(&self, posterior: &Posterior) -> Posterior {
        let rows = 0..posterior.rows();
        let calibrated = rows.flat_map(|row| self.calibrated(posterior.row(row)));
        let calibrated: Vec<f64> = calibrated.collect();
        Posterior::new(calibrated.len() / posterior.rows().max(1), calibrated)
            .with_impossible(posterior.impossible().to_vec())
    }

    fn calibrated(&self, p: &[f64]) -> Vec<f64> {
        match &self.curves[..] {
            [] => p.to_vec(),
            [second] => {
                let share = second.at(p, 1);
                vec![1.0 - share, share]
            }
            curves => {
                let curves = curves.iter().enumerate();
                let shares: Vec<f64> = curves.map(|(class, curve)| curve.at(p, class)).collect();
                let sum: f64 = shares.iter().sum();
                if sum > 0.0 {
                    shares.iter().map(|share| share / sum).collect()
                } else {
                    vec![1.0 / p.len() as f64; p.len()]
                }
            }
        }
    }

    /// Checks that the calibration is valid for a model of this many classes.
    ///
    /// # Errors
    /// If it is not, as in a damaged file.
    pub fn check(&self, classes: usize) -> Result<()> {
        let is_valid = |curve: &Curve| match curve {
            Curve::Logistic { slope, intercept } => {
                self.method == CalibrationMethod::Platt
                    && slope.is_finite()
                    && intercept.is_finite()
            }
            Curve::Steps {
                scores,
                shares,
                least,
                most,
            } => {
                self.method == CalibrationMethod::Isotonic
                    && !scores.is_empty()
                    && scores.len() == shares.len()
                    && scores.iter().all(|score| score.is_finite())
                    && scores.is_sorted()
                    && shares.iter().all(|share| (0.0..=1.0).contains(share))
                    && 0.0 <= *least
                    && least <= most
                    && *most <= 1.0
            }
        };
        if self.curves.len() != number_of_curves(classes) || !self.curves.iter().all(is_valid) {
            return Err(Error::data(
                "the model file is damaged: its calibration does not match its classes",
            ));
        }
        Ok(())
    }
}

/// The upper bound of curves in older files.
fn one() -> f64 {
    1.0
}

fn number_of_curves(classes: usize) -> usize {
    match classes {
        0 | 1 => 0,
        2 => 1,
        more => more,
    }
}

impl Predictions {
    fn of(
        model: &dyn Predict,
        target: usize,
        chunk: &Chunk,
        first: usize,
        stride: usize,
    ) -> Result<Predictions> {
        let posterior = model.posterior(chunk)?;
        let labels = chunk.column(target).cells(0, chunk.rows());
        let mut predictions = Predictions::default();
        let rows = chunk.rows_with_weight().filter(|row| labels.is_seen(*row));
        for row in rows.filter(|row| (first + row).is_multiple_of(stride)) {
            predictions
                .probabilities
                .extend_from_slice(posterior.row(row));
            predictions.labels.push(labels.codes()[row]);
            predictions
                .weights
                .push(chunk.weights().map_or(1.0, |weights| weights[row]));
        }
        Ok(predictions)
    }

    fn append(&mut self, mut more: Predictions) {
        self.probabilities.append(&mut more.probabilities);
        self.labels.append(&mut more.labels);
        self.weights.append(&mut more.weights);
    }

    /// The weights of the rows, scaled to a mean of 1 if it is below: the bounds of a curve
    /// depend on the number of rows.
    fn row_weights(&self) -> Vec<f64> {
        let mean = self.weights.iter().sum::<f64>() / self.weights.len().max(1) as f64;
        let unit = if mean > 0.0 { mean.min(1.0) } else { 1.0 };
        self.weights.iter().map(|weight| weight / unit).collect()
    }

    fn curves(&self, method: CalibrationMethod, classes: usize) -> Vec<Curve> {
        let first = usize::from(classes == 2);
        let weights = self.row_weights();
        let of_class = |class: usize| {
            let rows = self.probabilities.chunks_exact(classes);
            let scores: Vec<f64> = match method {
                CalibrationMethod::Platt => rows.map(|p| log_odds(p, class)).collect(),
                CalibrationMethod::Isotonic => rows.map(|p| p[class]).collect(),
            };
            let truth: Vec<bool> = (self.labels.iter())
                .map(|label| *label as usize == class)
                .collect();
            match method {
                CalibrationMethod::Platt => Curve::logistic(&scores, &truth, &weights),
                CalibrationMethod::Isotonic => Curve::steps(&scores, &truth, &weights),
            }
        };
        (first..first + number_of_curves(classes))
            .map(of_class)
            .collect()
    }
}

/// The log-odds of a class against the rest, clamped to ±30.
pub(super) fn log_odds(p: &[f64], class: usize) -> f64 {
    // Larger log-odds would only distort the curve.
    const MAX_LOG_ODDS: f64 = 30.0;
    let others = p.iter().enumerate().filter(|(other, _)| *other != class);
    let rest: f64 = others.map(|(_, p)| p).sum();
    (p[class].ln() - rest.ln()).clamp(-MAX_LOG_ODDS, MAX_LOG_ODDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_weights_do_not_change_the_curves() {
        let predictions = |weight: f64| Predictions {
            probabilities: (0..10)
                .flat_map(|i| [1.0 - f64::from(i) / 10.0, f64::from(i) / 10.0])
                .collect(),
            labels: (0..10).map(|i| u32::from(i > 4)).collect(),
            weights: vec![weight; 10],
        };
        for method in [CalibrationMethod::Isotonic, CalibrationMethod::Platt] {
            let [expected, found] = [1.0, 0.1].map(|weight| predictions(weight).curves(method, 2));
            for p in [0.0, 0.3, 0.5, 1.0] {
                let at = |curves: &[Curve]| curves[0].at(&[1.0 - p, p], 1);
                let off = (at(&expected) - at(&found)).abs();
                assert!(off < 1e-9, "{method:?} at {p}: {off}");
            }
        }
    }
}
