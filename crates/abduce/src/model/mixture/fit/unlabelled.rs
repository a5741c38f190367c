//! How much rows without a label should count. Where the model is wrong they
//! can do harm: EM then bends the classes towards whatever clusters there are.
//! So they weigh λ beside the labelled rows' 1 (Nigam et al. 2000), and λ is
//! chosen by repeated cross-validation on the labelled rows: the largest weight that is about
//! as good as the best. A few labels seldom prove that unlabelled rows help, but they show it
//! when these do harm.
//!
//! Rows are the evidence: weights say how much one counts beside another, and a
//! common factor of them changes nothing here.

use crate::Control;
use crate::Result;
use crate::ask::LEAST_PROBABILITY;
use crate::ask::Predict;
use crate::data::Folds;
use crate::data::{Source, Table};
use crate::leaf::Seen;
use crate::learn::EmOptions;
use crate::model::mixture::Mixture;
use crate::model::mixture::step::task::Task;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// How much rows without a label count beside the labelled ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unlabelled {
    /// As much as serves the labelled rows best, found by cross-validation.
    #[default]
    Chosen,
    /// This much.
    Weight(f64),
}

/// What cross-validation said of rows without a label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnlabelledChoice {
    /// How much each counts.
    pub weight: f64,
    /// The weights tried, each with the accuracy and the mean log-loss on
    /// labelled rows that were held out.
    pub tried: Vec<Tried>,
}

/// A weight that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// The weight of a row without a label.
    pub weight: f64,
    /// The share of labelled rows that were told right.
    pub accuracy: f64,
    /// The mean of −ln P(label).
    pub log_loss: f64,
    /// How many labelled rows are told right with the others and wrong without; a
    /// row counts as its weight says beside the mean of all.
    pub mended: f64,
    /// How many labelled rows are told wrong with the others and right without.
    pub spoiled: f64,
}

const WEIGHTS: [f64; 6] = [0.0, 0.01, 0.03, 0.1, 0.3, 1.0];
const FOLDS: usize = 5;
/// How often the rows are dealt anew: a few labels are a noisy judge.
const REPEATS: u64 = 3;
/// The most rows of either kind that the choice looks at.
const LABELLED: f64 = 5_000.0;
const UNLABELLED: f64 = 20_000.0;
/// How far the trials go.
const EM: EmOptions = EmOptions {
    tolerance: 1e-5,
    max_iterations: 100,
    ..EmOptions::PLAIN
};

impl UnlabelledChoice {
    /// What the user should know, in one line.
    pub fn told(&self, rows: u64) -> String {
        let accuracy = |weight: f64| {
            let own = self.tried.iter().find(|own| own.weight == weight);
            own.map_or(f64::NAN, |own| own.accuracy)
        };
        let alone = accuracy(0.0);
        let rows = match rows {
            1 => "1 row without a label".to_string(),
            many => format!("{many} rows without a label"),
        };
        if self.tried.is_empty() {
            return format!("{rows} left out: so few labels cannot tell whether they help");
        }
        match self.weight > 0.0 {
            true => format!(
                "{rows} used with weight {}: on held-out labelled rows the \
                 accuracy is {:.3} with them and {alone:.3} without",
                self.weight,
                accuracy(self.weight)
            ),
            false => format!(
                "{rows} left out: on held-out labelled rows the accuracy is {alone:.3} without them and {:.3} with them",
                accuracy(1.0)
            ),
        }
    }
}

/// Chooses how much rows without a label count; `seen` is the survey of all rows, whose
/// units the priors of predictive distributions are in.
pub(crate) fn choose(
    task: &Task,
    source: &dyn Source,
    target: usize,
    seen: &Seen,
    seed: u64,
    control: Control,
) -> Result<UnlabelledChoice> {
    let counts = Counts::of(source, target)?;
    let unit = counts.weight / counts.labelled;
    let table = sample(source, target, &counts, seed)?;
    let labels = table.column(target);
    let labelled = labels.len() - labels.nulls().map_or(0, |nulls| nulls.null_count());
    let mut scores: Vec<Score> = WEIGHTS.iter().map(|_| Score::default()).collect();
    // One labelled row cannot judge itself.
    let number = if labelled > 1 { FOLDS.min(labelled) } else { 0 };
    for repeat in 0..REPEATS.min(number as u64) {
        let folds = Folds::stratified(&table, Some(target), number, seed.wrapping_add(repeat))?;
        for fold in 0..number {
            let training = folds.training(&table, fold)?;
            let held_out = folds.held_out(&table, fold)?;
            let mut alone = Vec::new();
            for (weight, score) in WEIGHTS.into_iter().zip(&mut scores) {
                let trial = Task {
                    unlabelled: weight,
                    ..task.clone()
                };
                let Some(found) = trial.begun_by_labels(&*training, target, &EM, control)? else {
                    continue;
                };
                let mixture = trial.mixture(
                    source.schema(),
                    found.parameters,
                    found.statistics,
                    seen.clone(),
                );
                let right = score.add(&mixture, &*held_out, target, &alone, unit)?;
                if weight == 0.0 {
                    alone = right;
                }
            }
        }
    }
    let judged = WEIGHTS.into_iter().zip(&scores);
    let judged = judged.filter(|(_, score)| score.weight > 0.0);
    let tried: Vec<Tried> = judged.map(|(weight, score)| score.of(weight)).collect();
    let weight = best(&tried);
    Ok(UnlabelledChoice { weight, tried })
}

/// How many rows there are that weigh anything.
#[derive(Default)]
struct Counts {
    labelled: f64,
    unlabelled: f64,
    /// What the labelled ones weigh together.
    weight: f64,
}

impl Counts {
    fn of(source: &dyn Source, target: usize) -> Result<Counts> {
        let mut counts = Counts::default();
        for chunk in source.scan()? {
            let chunk = chunk?;
            let cells = chunk.column(target).cells(0, chunk.rows());
            for row in chunk.weighing_rows() {
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

/// Some rows of either kind, or all of a few; whether a row is among them
/// depends on its number alone.
fn sample(source: &dyn Source, target: usize, counts: &Counts, seed: u64) -> Result<Table> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x1abe1);
    let mut parts = Vec::new();
    for chunk in source.scan()? {
        let chunk = chunk?;
        let cells = chunk.column(target).cells(0, chunk.rows());
        let mut chosen = Vec::new();
        for row in chunk.weighing_rows() {
            let share = match cells.is_seen(row) {
                true => LABELLED / counts.labelled,
                false => UNLABELLED / counts.unlabelled,
            };
            if rng.random::<f64>() < share {
                chosen.push(row as u32);
            }
        }
        parts.push(chunk.take(&chosen));
    }
    Ok(Table::from_parts(source.schema().clone(), &parts))
}

/// How labelled rows that were held out fared.
#[derive(Default)]
struct Score {
    weight: f64,
    right: f64,
    loss: f64,
    mended: f64,
    spoiled: f64,
}

impl Score {
    /// Adds rows, and says which were told right; `alone` says it of the model
    /// without rows that have no label, and `unit` is the weight that counts as
    /// one row.
    fn add(
        &mut self,
        mixture: &Mixture,
        held_out: &dyn Source,
        target: usize,
        alone: &[bool],
        unit: f64,
    ) -> Result<Vec<bool>> {
        let mut all = Vec::new();
        for chunk in held_out.scan()? {
            let chunk = chunk?;
            let posterior = mixture.posterior(&chunk)?;
            let cells = chunk.column(target).cells(0, chunk.rows());
            for row in 0..chunk.rows() {
                let own = chunk.weights().map_or(1.0, |weights| weights[row] / unit);
                let label = cells.codes()[row] as usize;
                let right = posterior.best(row) == label;
                self.weight += own;
                self.right += if right { own } else { 0.0 };
                self.loss -= own * posterior.row(row)[label].max(LEAST_PROBABILITY).ln();
                match (alone.get(all.len()), right) {
                    (Some(false), true) => self.mended += own,
                    (Some(true), false) => self.spoiled += own,
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
            mended: self.mended / REPEATS as f64,
            spoiled: self.spoiled / REPEATS as f64,
        }
    }
}

/// The largest weight whose errors are within a fraction of their standard deviation of the
/// fewest (counted as in McNemar's test, against the labelled rows alone) and whose log-loss is
/// close to the least of such weights.
fn best(tried: &[Tried]) -> f64 {
    const DEVIATIONS: f64 = 0.3;
    const LOG_LOSS: f64 = 0.05;
    let net = |own: &Tried| own.spoiled - own.mended;
    let fewest = tried.iter().map(net).fold(f64::INFINITY, f64::min);
    let few = |own: &&Tried| {
        let deviation = (own.mended + own.spoiled).sqrt();
        net(own) - fewest <= 1e-9 + DEVIATIONS * deviation
    };
    let losses = tried.iter().filter(few).map(|own| own.log_loss);
    let least = losses.fold(f64::INFINITY, f64::min);
    let good = tried.iter().filter(few);
    let good = good.filter(|own| own.log_loss <= least + LOG_LOSS);
    good.map(|own| own.weight).fold(0.0, f64::max)
}
