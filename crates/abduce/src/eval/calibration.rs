//! Probabilities corrected by what came true of held-out rows, one class
//! against the rest: by Platt's logistic curve of the log-odds s,
//!
//!   p = 1 / (1 + exp(−(a s + b)))    (Platt 1999; Newton as Lin, Lin & Weng 2007),
//!
//! or by the best increasing steps (isotonic regression: pool adjacent violators,
//! Zadrozny & Elkan 2002), joined by straight lines and bounded away from 0 and 1.
//! With two classes the second is calibrated and the first has the rest; more are
//! divided by their sum.

use super::cross_validation::learn_without;
use crate::ask::{Posterior, Predict};
use crate::data::Folds;
use crate::data::{CHUNK_ROWS, Chunk, Source, reduce};
use crate::model::AnyModel;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Held-out rows that a calibration is learned from; of more, every second, or
/// third, … is taken.
const MOST_ROWS: u64 = 1_000_000;

/// How probabilities are corrected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CalibrationMethod {
    /// By increasing steps.
    Isotonic,
    /// By a logistic curve.
    Platt,
}

impl CalibrationMethod {
    /// The name users type.
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
            // The name scikit-learn gives it.
            "platt" | "sigmoid" => Ok(CalibrationMethod::Platt),
            _ => Err(Error::parameter(format!("\"{name}\" is not a calibration"))
                .with_hint("the calibrations are isotonic and platt")),
        }
    }
}

/// What corrects the probabilities of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// How.
    pub method: CalibrationMethod,
    /// The number of folds whose held-out rows it was learned from.
    pub folds: usize,
    /// The number of those rows.
    pub rows: u64,
    /// A curve for each class; of two classes, for the second.
    pub curves: Vec<Curve>,
}

/// From what a model says of a class to how often it comes true.
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
    /// Straight lines from point to point, level beyond the ends.
    Steps {
        /// Probabilities, ascending.
        scores: Vec<f64>,
        /// How often they came true, never falling.
        shares: Vec<f64>,
        /// The least probability the curve answers. A finite number of rows
        /// cannot show that a class never occurs, so this is positive for every
        /// learned curve; 0 in files written before there were bounds.
        #[serde(default)]
        least: f64,
        /// The greatest probability the curve answers; 1 in older files.
        #[serde(default = "one")]
        most: f64,
    },
}

/// What was said of held-out rows, and what they were.
#[derive(Default)]
struct Said {
    probabilities: Vec<f64>,
    labels: Vec<u32>,
    weights: Vec<f64>,
}

impl Calibration {
    /// Learns a calibration from the held-out rows of all folds, each asked of
    /// the model learned without its fold. The model to be calibrated is the one
    /// that is learned from all rows.
    ///
    /// # Errors
    /// If a fit fails, the model has no target, or the rows cannot be read.
    pub fn learn(
        method: CalibrationMethod,
        source: &dyn Source,
        folds: &Folds,
        learn: impl Fn(&dyn Source) -> Result<AnyModel>,
    ) -> Result<Calibration> {
        let mut said = Said::default();
        let mut classes = 0;
        for fold in 0..folds.number() {
            let model = learn_without(source, folds, fold, &learn)?;
            let model = model.predictor();
            let target = model.target();
            let target = target.ok_or_else(|| Error::parameter("the model has no target"))?;
            classes = model.names().len();
            let stride = source.rows().div_ceil(MOST_ROWS).max(1) as usize;
            let held_out = folds.held_out(source, fold)?;
            let own = reduce(
                &*held_out,
                |number, chunk| Said::of(model, target, chunk, number * CHUNK_ROWS, stride),
                |said: &mut Said, more| said.append(more),
            )?;
            said.append(own.unwrap_or_default());
        }
        Ok(Calibration {
            method,
            folds: folds.number(),
            rows: said.labels.len() as u64,
            curves: said.curves(method, classes),
        })
    }

    /// Corrected probabilities.
    pub fn apply(&self, posterior: &Posterior) -> Posterior {
        let rows = 0..posterior.rows();
        let corrected = rows.flat_map(|row| self.corrected(posterior.row(row)));
        let corrected: Vec<f64> = corrected.collect();
        Posterior::new(corrected.len() / posterior.rows().max(1), corrected)
            .with_impossible(posterior.impossible().to_vec())
    }

    fn corrected(&self, p: &[f64]) -> Vec<f64> {
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
                match sum > 0.0 {
                    true => shares.iter().map(|share| share / sum).collect(),
                    false => vec![1.0 / p.len() as f64; p.len()],
                }
            }
        }
    }

    /// Whether it fits a model of so many classes.
    ///
    /// # Errors
    /// If it does not, as in a damaged file.
    pub fn check(&self, classes: usize) -> Result<()> {
        let sound = |curve: &Curve| match curve {
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
        if self.curves.len() != number_of_curves(classes) || !self.curves.iter().all(sound) {
            return Err(Error::data(
                "the model file is damaged: its calibration is not one of its classes",
            ));
        }
        Ok(())
    }
}

/// The upper bound of curves in files that have none.
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

impl Said {
    fn of(
        model: &dyn Predict,
        target: usize,
        chunk: &Chunk,
        first: usize,
        stride: usize,
    ) -> Result<Said> {
        let posterior = model.posterior(chunk)?;
        let labels = chunk.column(target).cells(0, chunk.rows());
        let mut said = Said::default();
        let rows = chunk.weighing_rows().filter(|row| labels.is_seen(*row));
        for row in rows.filter(|row| (first + row).is_multiple_of(stride)) {
            said.probabilities.extend_from_slice(posterior.row(row));
            said.labels.push(labels.codes()[row]);
            said.weights
                .push(chunk.weights().map_or(1.0, |weights| weights[row]));
        }
        Ok(said)
    }

    fn append(&mut self, mut more: Said) {
        self.probabilities.append(&mut more.probabilities);
        self.labels.append(&mut more.labels);
        self.weights.append(&mut more.weights);
    }

    /// The weights of the rows; those with a mean below 1 are brought to a mean of 1, because
    /// the bounds of a curve depend on how many rows there are.
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

/// The log-odds of a class against the rest, at most 30 either way.
pub(super) fn log_odds(p: &[f64], class: usize) -> f64 {
    // Surer than any number of rows can show; more would only bend the curve.
    const MOST: f64 = 30.0;
    let others = p.iter().enumerate().filter(|(other, _)| *other != class);
    let rest: f64 = others.map(|(_, p)| p).sum();
    (p[class].ln() - rest.ln()).clamp(-MOST, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_that_sum_to_one_give_the_curves_of_as_many_rows() {
        let said = |weight: f64| Said {
            probabilities: (0..10)
                .flat_map(|i| [1.0 - f64::from(i) / 10.0, f64::from(i) / 10.0])
                .collect(),
            labels: (0..10).map(|i| u32::from(i > 4)).collect(),
            weights: vec![weight; 10],
        };
        for method in [CalibrationMethod::Isotonic, CalibrationMethod::Platt] {
            let [expected, found] = [1.0, 0.1].map(|weight| said(weight).curves(method, 2));
            for p in [0.0, 0.3, 0.5, 1.0] {
                let at = |curves: &[Curve]| curves[0].at(&[1.0 - p, p], 1);
                let off = (at(&expected) - at(&found)).abs();
                assert!(off < 1e-9, "{method:?} at {p}: {off}");
            }
        }
    }
}
