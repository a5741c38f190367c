//! The weight of rows without a label. If the model is wrong, unlabelled rows can make it
//! worse: EM moves the classes towards clusters that have nothing to do with them. Their weight
//! is therefore λ, where that of labelled rows is 1 (Nigam et al. 2000). Repeated
//! cross-validation on the labelled rows chooses the largest λ that is about as good as the
//! best: a few labels seldom prove that unlabelled rows help, but they do show it when they
//! harm.
//!
//! Only the ratios of row weights matter here, not a common factor.

use crate::Control;
use crate::Result;
use crate::ask::MIN_PROBABILITY;
use crate::ask::Predict;
use crate::data::Folds;
use crate::data::{Source, Table};
use crate::leaf::TableSummary;
use crate::learn::EmOptions;
use crate::model::mixture::FittedMixture;
use crate::model::mixture::step::task::Task;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// The weight of rows without a label, where that of labelled rows is 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unlabelled {
    /// Chosen by cross-validation on the labelled rows.
    #[default]
    Chosen,
    /// A given weight.
    Weight(f64),
}

/// The weight of rows without a label, chosen by cross-validation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnlabelledChoice {
    /// The chosen weight.
    pub weight: f64,
    /// The weights that were tried, with their scores on held-out labelled rows.
    pub tried: Vec<Tried>,
}

/// A weight that was tried, with its scores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// The weight of a row without a label.
    pub weight: f64,
    /// The share of labelled rows that were classified correctly.
    pub accuracy: f64,
    /// The mean of −ln P(label).
    pub log_loss: f64,
    /// The number of labelled rows that are classified correctly with unlabelled rows and
    /// wrongly without them, in units of the mean weight of a row.
    #[serde(rename = "mended")]
    pub corrected: f64,
    /// The number of labelled rows that are classified wrongly with unlabelled rows and
    /// correctly without them, in the same units.
    #[serde(rename = "spoiled")]
    pub worsened: f64,
}

const WEIGHTS: [f64; 6] = [0.0, 0.01, 0.03, 0.1, 0.3, 1.0];
const FOLDS: usize = 5;
/// The number of times that cross-validation is repeated, as few labels give noisy scores.
const REPEATS: u64 = 3;
/// More classes than this are not tested if there are also more than this share of the labelled
/// rows: most labels then occur once, and cannot be held out.
const MAX_CLASSES: f64 = 50.0;
const MAX_CLASSES_PER_ROW: f64 = 0.5;
/// The maximum numbers of rows used.
const MAX_LABELLED: f64 = 5_000.0;
const MAX_UNLABELLED: f64 = 20_000.0;
/// The options of EM in each trial.
const EM: EmOptions = EmOptions {
    tolerance: 1e-5,
    max_iterations: 100,
    ..EmOptions::PLAIN
};

impl UnlabelledChoice {
    /// The choice in one line, for a table with `rows` unlabelled rows.
    pub fn summary(&self, rows: u64) -> String {
        let accuracy = |weight: f64| {
            let tried = self.tried.iter().find(|tried| tried.weight == weight);
            tried.map_or(f64::NAN, |tried| tried.accuracy)
        };
        let without = accuracy(0.0);
        let rows = match rows {
            1 => "1 row without a label".to_string(),
            many => format!("{many} rows without a label"),
        };
        if self.tried.is_empty() {
            return format!("{rows} left out: there are too few labels to test whether they help");
        }
        if self.weight > 0.0 {
            format!(
                "{rows} used with weight {}: on held-out labelled rows the accuracy is {:.3} with \
                 them and {without:.3} without",
                self.weight,
                accuracy(self.weight)
            )
        } else {
            format!(
                "{rows} left out: on held-out labelled rows the accuracy is {without:.3} without \
                 them and {:.3} with them",
                accuracy(1.0)
            )
        }
    }
}

/// Chooses the weight of rows without a label. `summary` holds the moments of all rows, from which
/// the priors of predictive distributions take their units.
pub(crate) fn choose(
    task: &Task,
    source: &dyn Source,
    target: usize,
    summary: &TableSummary,
    seed: u64,
    control: Control,
) -> Result<UnlabelledChoice> {
    let counts = Counts::of(source, target)?;
    let classes = source.schema().fields[target].levels.len() as f64;
    if classes > MAX_CLASSES && classes > MAX_CLASSES_PER_ROW * counts.labelled {
        return Ok(UnlabelledChoice {
            weight: 0.0,
            tried: Vec::new(),
        });
    }
    let unit = counts.weight / counts.labelled;
    let table = sample(source, target, &counts, seed)?;
    let labels = table.column(target);
    let labelled = labels.len() - labels.nulls().map_or(0, |nulls| nulls.null_count());
    let mut scores: Vec<Score> = WEIGHTS.iter().map(|_| Score::default()).collect();
    // A single labelled row cannot be held out.
    let fold_count = if labelled > 1 { FOLDS.min(labelled) } else { 0 };
    for repeat in 0..REPEATS.min(fold_count as u64) {
        let folds = Folds::stratified(&table, Some(target), fold_count, seed.wrapping_add(repeat))?;
        for fold in 0..fold_count {
            let training = folds.training(&table, fold)?;
            let held_out = folds.held_out(&table, fold)?;
            let mut right_without = Vec::new();
            for (weight, score) in WEIGHTS.into_iter().zip(&mut scores) {
                let trial = Task {
                    unlabelled: weight,
                    ..task.clone()
                };
                let Some(found) = trial.em_from_labels(&*training, target, &EM, control)? else {
                    continue;
                };
                let mixture = trial.fitted_mixture(
                    source.schema(),
                    found.parameters,
                    found.statistics,
                    summary.clone(),
                );
                let right = score.add(&mixture, &*held_out, target, &right_without, unit)?;
                if weight == 0.0 {
                    right_without = right;
                }
            }
        }
    }
    let scored = WEIGHTS.into_iter().zip(&scores);
    let scored = scored.filter(|(_, score)| score.weight > 0.0);
    let tried: Vec<Tried> = scored.map(|(weight, score)| score.of(weight)).collect();
    let weight = best(&tried);
    Ok(UnlabelledChoice { weight, tried })
}

/// The numbers of rows with positive weight.
#[derive(Default)]
struct Counts {
    labelled: f64,
    unlabelled: f64,
    /// The total weight of the labelled rows.
    weight: f64,
}

impl Counts {
    fn of(source: &dyn Source, target: usize) -> Result<Counts> {
        let mut counts = Counts::default();
        for chunk in source.scan()? {
            let chunk = chunk?;
            let cells = chunk.column(target).cells(0, chunk.rows());
            for row in chunk.rows_with_weight() {
                if cells.is_seen(row) {
                    counts.labelled += 1.0;
                    counts.weight += chunk.weights().map_or(1.0, |weights| weights[row]);
                } else {
                    counts.unlabelled += 1.0;
                }
            }
        }
        Ok(counts)
    }
}

/// A sample of labelled and unlabelled rows, or all rows if there are few.
fn sample(source: &dyn Source, target: usize, counts: &Counts, seed: u64) -> Result<Table> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x1abe1);
    let mut parts = Vec::new();
    for chunk in source.scan()? {
        let chunk = chunk?;
        let cells = chunk.column(target).cells(0, chunk.rows());
        let mut chosen = Vec::new();
        for row in chunk.rows_with_weight() {
            let share = if cells.is_seen(row) {
                MAX_LABELLED / counts.labelled
            } else {
                MAX_UNLABELLED / counts.unlabelled
            };
            if rng.random::<f64>() < share {
                chosen.push(row as u32);
            }
        }
        parts.push(chunk.take(&chosen));
    }
    Ok(Table::from_parts(source.schema().clone(), &parts))
}

/// Sums over the labelled rows that were held out.
#[derive(Default)]
struct Score {
    weight: f64,
    right: f64,
    loss: f64,
    corrected: f64,
    worsened: f64,
}

impl Score {
    /// Adds rows, and returns which of them were classified correctly. `right_without` is the
    /// same of the model fitted without unlabelled rows, and `unit` the mean weight of a row.
    fn add(
        &mut self,
        mixture: &FittedMixture,
        held_out: &dyn Source,
        target: usize,
        right_without: &[bool],
        unit: f64,
    ) -> Result<Vec<bool>> {
        let mut all = Vec::new();
        for chunk in held_out.scan()? {
            let chunk = chunk?;
            let posterior = mixture.posterior(&chunk)?;
            let cells = chunk.column(target).cells(0, chunk.rows());
            for row in 0..chunk.rows() {
                let weight = chunk.weights().map_or(1.0, |weights| weights[row] / unit);
                let label = cells.codes()[row] as usize;
                let right = posterior.best(row) == label;
                self.weight += weight;
                self.right += if right { weight } else { 0.0 };
                self.loss -= weight * posterior.row(row)[label].max(MIN_PROBABILITY).ln();
                match (right_without.get(all.len()), right) {
                    (Some(false), true) => self.corrected += weight,
                    (Some(true), false) => self.worsened += weight,
                    _ => {}
                }
                all.push(right);
            }
        }
        Ok(all)
    }

    fn of(&self, weight: f64) -> Tried {
        Tried {
            weight,
            accuracy: self.right / self.weight,
            log_loss: self.loss / self.weight,
            corrected: self.corrected / REPEATS as f64,
            worsened: self.worsened / REPEATS as f64,
        }
    }
}

/// The largest weight whose number of errors is within a fraction of a standard deviation of
/// the smallest, and whose log-loss is close to the smallest among those. Errors are compared
/// with those without unlabelled rows, as in McNemar's test.
fn best(tried: &[Tried]) -> f64 {
    const DEVIATIONS: f64 = 0.3;
    const LOG_LOSS: f64 = 0.05;
    let added_errors = |tried: &Tried| tried.worsened - tried.corrected;
    let fewest = tried.iter().map(added_errors);
    let fewest = fewest.fold(f64::INFINITY, f64::min);
    let has_few_errors = |tried: &&Tried| {
        let deviation = (tried.corrected + tried.worsened).sqrt();
        added_errors(tried) - fewest <= 1e-9 + DEVIATIONS * deviation
    };
    let accurate = || tried.iter().filter(has_few_errors);
    let losses = accurate().map(|tried| tried.log_loss);
    let smallest = losses.fold(f64::INFINITY, f64::min);
    let good = accurate().filter(|tried| tried.log_loss <= smallest + LOG_LOSS);
    good.map(|tried| tried.weight).fold(0.0, f64::max)
}
