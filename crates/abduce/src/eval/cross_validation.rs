//! Cross-validation: for each fold, a model is fitted to the other folds and evaluated on this
//! one: with a target, the metrics of its probabilities; without, the log-likelihood, and the
//! agreement of its clusters with a grouping that is hidden from it.

use super::calibration::Calibration;
use super::clusters::Contingency;
use super::metrics::Metrics;
use crate::ask::{Joint, Posterior};
use crate::data::Folds;
use crate::data::{Chunk, Column, Source, reduce, without};
use crate::model::AnyModel;
use crate::{Error, Result};

/// A fitted model, optionally with calibrated probabilities.
pub struct Classifier {
    /// The model.
    pub model: AnyModel,
    /// The calibration of its probabilities.
    pub calibration: Option<Calibration>,
}

impl Classifier {
    /// The probabilities of the classes of each row.
    ///
    /// # Errors
    /// If the arithmetic fails.
    pub fn posterior(&self, chunk: &Chunk) -> Result<Posterior> {
        let posterior = self.model.predictor().posterior(chunk)?;
        Ok(match &self.calibration {
            Some(calibration) => calibration.apply(&posterior),
            None => posterior,
        })
    }

    /// The metrics on the rows with labels.
    ///
    /// # Errors
    /// If the model has no target, or the rows cannot be read.
    pub fn evaluate(&self, source: &dyn Source) -> Result<Metrics> {
        let target = self.model.predictor().target();
        let target = target.ok_or_else(|| Error::parameter("the model has no target"))?;
        let metrics = reduce(
            source,
            |_, chunk| self.evaluate_chunk(chunk, target),
            |metrics: &mut Metrics, more| metrics.merge(&more),
        )?;
        Ok(metrics.unwrap_or_else(|| Metrics::new(self.model.predictor().names().len())))
    }

    /// The metrics on the rows of a chunk with a label in the column `target`.
    ///
    /// # Errors
    /// If the arithmetic fails.
    pub fn evaluate_chunk(&self, chunk: &Chunk, target: usize) -> Result<Metrics> {
        let mut metrics = Metrics::new(self.model.predictor().names().len());
        let posterior = self.posterior(chunk)?;
        let labels = chunk.column(target).cells(0, chunk.rows());
        let labelled = chunk.rows_with_weight().filter(|row| labels.is_seen(*row));
        let labelled: Vec<(usize, usize)> = labelled
            .map(|row| (row, labels.codes()[row] as usize))
            .collect();
        let vanished = |(row, label): &(usize, usize)| posterior.row(*row)[*label] == 0.0;
        let logarithms = match self.model.joint() {
            Ok(joint) if self.calibration.is_none() && labelled.iter().any(vanished) => {
                Some(log_probabilities(joint, chunk, target)?)
            }
            _ => None,
        };
        for (row, label) in labelled {
            let p = posterior.row(row);
            let log_probability = match &logarithms {
                Some(logarithms) if p[label] == 0.0 => logarithms[row],
                _ => p[label].ln(),
            };
            let weight = chunk.weights().map_or(1.0, |weights| weights[row]);
            metrics.observe_log(p, label, log_probability, weight);
        }
        Ok(metrics)
    }
}

/// ln p(y | x) = ln p(x, y) − ln p(x) of each row's label, finite even if p(y | x) underflows.
fn log_probabilities(joint: &dyn Joint, chunk: &Chunk, target: usize) -> Result<Vec<f64>> {
    let with = joint.log_density(chunk)?;
    let hidden = Column::from_codes(vec![None; chunk.rows()]);
    let without = joint.log_density(&chunk.clone().with_column(target, hidden))?;
    let difference = |(with, without): (f64, f64)| {
        if with == f64::NEG_INFINITY {
            f64::NEG_INFINITY
        } else {
            with - without
        }
    };
    Ok(with.into_iter().zip(without).map(difference).collect())
}

/// The metrics on each fold of a model fitted to the others.
///
/// ```
/// use abduce::data::{ReadOptions, open};
/// use abduce::data::Folds;
/// use abduce::eval::{Classifier, cross_validate};
/// use abduce::Control;
/// use abduce::model::{Learner, naive_bayes::NaiveBayes};
/// let options = ReadOptions { target: Some("y".into()), ..ReadOptions::default() };
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("table.csv");
/// std::fs::write(&path, "x,y\n1.1,a\n0.9,a\n1.3,a\n5.0,b\n5.2,b\n4.7,b\n")?;
/// let table = open(&[path.display().to_string()], &options)?.source;
/// let folds = Folds::stratified(&*table, Some(1), 3, 0)?;
/// let learn = |rows: &dyn abduce::data::Source| {
///     let model = NaiveBayes::new("y").learn(rows, Control::default())?.model;
///     Ok(Classifier { model, calibration: None })
/// };
/// let metrics = cross_validate(&*table, &folds, learn)?;
/// assert!(metrics.iter().all(|fold| fold.accuracy() == 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a fit fails, the model has no target, or the rows cannot be read.
pub fn cross_validate(
    source: &dyn Source,
    folds: &Folds,
    learn: impl Fn(&dyn Source) -> Result<Classifier>,
) -> Result<Vec<Metrics>> {
    let of_fold = |fold: usize| {
        let classifier = learn_without(source, folds, fold, &learn)?;
        classifier.evaluate(&*folds.held_out(source, fold)?)
    };
    (0..folds.number()).map(of_fold).collect()
}

/// Fits a model to all folds except one.
pub(super) fn learn_without<T>(
    source: &dyn Source,
    folds: &Folds,
    fold: usize,
    learn: &impl Fn(&dyn Source) -> Result<T>,
) -> Result<T> {
    // If fitting all rows fails too, that error has the right row number.
    learn(&*folds.training(source, fold)?).map_err(|error| learn(source).err().unwrap_or(error))
}

/// The log-likelihood and clusters of held-out rows under a model without a target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeldOut {
    /// The number of rows of positive weight.
    pub rows: u64,
    /// Their total weight.
    pub weight: f64,
    /// Their log-likelihood.
    pub log_likelihood: f64,
    /// The weight of the rows that are impossible under the model.
    pub impossible: f64,
    /// The contingency of clusters and true groups, if the latter are known.
    pub contingency: Option<Contingency>,
}

impl HeldOut {
    /// The mean log-likelihood of a row.
    pub fn mean_log_likelihood(&self) -> f64 {
        self.log_likelihood / self.weight
    }

    /// The log-likelihood of the rows of a chunk under a model.
    ///
    /// # Errors
    /// If the arithmetic fails.
    pub fn of_chunk(joint: &dyn Joint, chunk: &Chunk) -> Result<HeldOut> {
        evaluate_density(joint, chunk, None, HeldOut::default())
    }

    /// Adds other rows. The contingency is dropped, as those of several models cannot be added.
    pub fn merge(&mut self, other: &HeldOut) {
        self.rows += other.rows;
        self.weight += other.weight;
        self.log_likelihood += other.log_likelihood;
        self.impossible += other.impossible;
        self.contingency = None;
    }
}

/// The log-likelihood of each fold under a model fitted to the others; with the position of a
/// column of true groups, which is hidden from the model, also their contingency with its
/// clusters.
///
/// # Errors
/// If a fit fails, the true groups have no levels, or the rows cannot be read.
pub fn cross_validate_density(
    source: &dyn Source,
    folds: &Folds,
    truth: Option<usize>,
    learn: impl Fn(&dyn Source) -> Result<AnyModel>,
) -> Result<Vec<HeldOut>> {
    let hidden = truth.map(|column| without(source, column));
    let shown = hidden.as_deref().unwrap_or(source);
    let of_fold = |fold: usize| {
        let model = learn_without(shown, folds, fold, &learn)?;
        let joint = model.joint()?;
        let groups = truth.map(|column| source.schema().fields[column].levels.len());
        let contingency = groups.map(|groups| Contingency::new(groups, joint.names().len()));
        let nothing = HeldOut {
            contingency,
            ..HeldOut::default()
        };
        let held_out = folds.held_out(source, fold)?;
        let all = reduce(
            &*held_out,
            |_, chunk| evaluate_density(joint, chunk, truth, nothing.clone()),
            |all: &mut HeldOut, more| {
                let contingency = all.contingency.take();
                all.merge(&more);
                let pair = contingency.zip(more.contingency);
                all.contingency = pair.map(|(mut sum, more)| {
                    sum.merge(&more);
                    sum
                });
            },
        )?;
        Ok(all.unwrap_or(nothing))
    };
    (0..folds.number()).map(of_fold).collect()
}

fn evaluate_density(
    joint: &dyn Joint,
    chunk: &Chunk,
    truth: Option<usize>,
    mut all: HeldOut,
) -> Result<HeldOut> {
    let shown = truth.map_or_else(|| chunk.clone(), |column| chunk.without(column));
    let densities = joint.log_density(&shown)?;
    for row in chunk.rows_with_weight() {
        let weight = chunk.weights().map_or(1.0, |weights| weights[row]);
        all.rows += 1;
        all.weight += weight;
        all.log_likelihood += weight * densities[row];
        if densities[row] == f64::NEG_INFINITY {
            all.impossible += weight;
        }
    }
    if let (Some(column), Some(contingency)) = (truth, &mut all.contingency) {
        let posterior = joint.posterior(&shown)?;
        let groups = chunk.column(column).cells(0, chunk.rows());
        for row in chunk.rows_with_weight().filter(|row| groups.is_seen(*row)) {
            let weight = chunk.weights().map_or(1.0, |weights| weights[row]);
            contingency.observe(groups.codes()[row] as usize, posterior.best(row), weight);
        }
    }
    Ok(all)
}
