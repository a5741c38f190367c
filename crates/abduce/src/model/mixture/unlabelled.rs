//! How much rows without a label should count. Where the model is wrong they
//! can do harm: EM then bends the classes towards whatever clusters there are.
//! So they weigh λ beside the labelled rows' 1 (Nigam et al. 2000), and λ is
//! chosen by cross-validation on the labelled rows; without good evidence that
//! they help, it is 0.

use super::Mixture;
use super::task::Task;
use crate::Result;
use crate::ask::Joint;
use crate::data::{Source, Table};
use crate::learn::{Control, EStep, EmOptions};
use rand::seq::SliceRandom;
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
    /// The weight of labelled rows told right with the others and wrong without.
    pub mended: f64,
    /// The weight of labelled rows told wrong with the others and right without.
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
    step: EStep::Soft,
    tolerance: 1e-5,
    max_iterations: 100,
};
/// The smallest probability that the log-loss takes for true.
const LEAST: f64 = 1e-15;

impl UnlabelledChoice {
    /// What the user should know, in one line.
    pub fn told(&self, rows: u64) -> String {
        let accuracy = |weight: f64| {
            let own = self.tried.iter().find(|own| own.weight == weight);
            own.map_or(f64::NAN, |own| own.accuracy)
        };
        let alone = accuracy(0.0);
        match self.weight > 0.0 {
            true => format!(
                "the {rows} rows without a label count {} each: on held-out labelled rows the \
                 accuracy is {:.3} with them and {alone:.3} without",
                self.weight,
                accuracy(self.weight)
            ),
            false => format!(
                "the {rows} rows without a label are left out, they do not help: on held-out \
                 labelled rows the accuracy is {alone:.3} without them and {:.3} with them",
                accuracy(1.0)
            ),
        }
    }
}

/// Chooses how much rows without a label count; `counts` are the weights of
/// the labelled rows and of the others.
pub(super) fn choose(
    task: &Task,
    source: &dyn Source,
    counts: (f64, f64),
    seed: u64,
    control: Control,
) -> Result<UnlabelledChoice> {
    let target = task.target.unwrap_or_default();
    let table = sample(source, target, counts, seed)?;
    let labels = labels(&table, target);
    let mut scores: Vec<Score> = WEIGHTS.iter().map(|_| Score::default()).collect();
    for repeat in 0..REPEATS {
        let folds = deal(&labels, seed.wrapping_add(repeat));
        for fold in 0..FOLDS {
            let held = |row: &usize| folds[*row] == Some(fold);
            let (held, kept): (Vec<usize>, Vec<usize>) = (0..labels.len()).partition(held);
            let held = table.take(&held);
            let mut alone = Vec::new();
            for (weight, score) in WEIGHTS.into_iter().zip(&mut scores) {
                let useful = |row: &&usize| weight > 0.0 || labels[**row].is_some();
                let kept: Vec<usize> = kept.iter().filter(useful).copied().collect();
                let trial = Task {
                    unlabelled: weight,
                    ..task.clone()
                };
                let Some(found) = trial.begun_by_labels(&table.take(&kept), &EM, control)? else {
                    continue;
                };
                let mixture = trial.mixture(source.schema(), found.parameters, found.statistics);
                let right = score.add(&mixture, &held, target, &alone)?;
                if weight == 0.0 {
                    alone = right;
                }
            }
        }
    }
    let of = |(weight, score): (f64, &Score)| score.of(weight);
    let tried: Vec<Tried> = WEIGHTS.into_iter().zip(&scores).map(of).collect();
    let weight = best(&tried);
    Ok(UnlabelledChoice { weight, tried })
}

/// Some rows of either kind, or all of a few; whether a row is among them
/// depends on its number alone.
fn sample(
    source: &dyn Source,
    target: usize,
    (labelled, unlabelled): (f64, f64),
    seed: u64,
) -> Result<Table> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x1abe1);
    let mut parts = Vec::new();
    for chunk in source.scan()? {
        let chunk = chunk?;
        let cells = chunk.column(target).cells(0, chunk.rows());
        let mut chosen = Vec::new();
        for row in 0..chunk.rows() {
            let share = match cells.is_seen(row) {
                true => LABELLED / labelled,
                false => UNLABELLED / unlabelled,
            };
            if rng.random::<f64>() < share {
                chosen.push(row as u32);
            }
        }
        parts.push(chunk.take(&chosen));
    }
    Ok(Table::from_parts(source.schema().clone(), &parts))
}

fn labels(table: &Table, target: usize) -> Vec<Option<usize>> {
    let column = table.column(target);
    let cells = column.cells(0, column.len());
    let label = |row: usize| cells.is_seen(row).then(|| cells.codes()[row] as usize);
    (0..column.len()).map(label).collect()
}

/// Deals the labelled rows into folds, label by label, in a random order.
fn deal(labels: &[Option<usize>], seed: u64) -> Vec<Option<usize>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0xf01d);
    let mut rows: Vec<usize> = (0..labels.len())
        .filter(|row| labels[*row].is_some())
        .collect();
    rows.shuffle(&mut rng);
    rows.sort_by_key(|row| labels[*row]);
    let mut folds = vec![None; labels.len()];
    for (place, row) in rows.into_iter().enumerate() {
        folds[row] = Some(place % FOLDS);
    }
    folds
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
    /// without rows that have no label.
    fn add(
        &mut self,
        mixture: &Mixture,
        held: &Table,
        target: usize,
        alone: &[bool],
    ) -> Result<Vec<bool>> {
        let mut all = Vec::new();
        for chunk in held.chunks() {
            let posterior = mixture.posterior(chunk)?;
            let cells = chunk.column(target).cells(0, chunk.rows());
            for row in 0..chunk.rows() {
                let own = chunk.weights().map_or(1.0, |weights| weights[row]);
                let label = cells.codes()[row] as usize;
                let right = posterior.best(row) == label;
                self.weight += own;
                self.right += if right { own } else { 0.0 };
                self.loss -= own * posterior.row(row)[label].max(LEAST).ln();
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

/// The weight of fewest errors among those that surely have fewer than none at
/// all: rows mended must outnumber the spoiled ones by more than chance would
/// (McNemar's test), and by a few.
fn best(tried: &[Tried]) -> f64 {
    const DEVIATIONS: f64 = 1.2;
    const FEW: f64 = 2.0;
    let helps = |own: &&Tried| {
        let net = own.mended - own.spoiled;
        own.weight == 0.0 || net >= FEW.max(DEVIATIONS * (own.mended + own.spoiled).sqrt())
    };
    let worse = |a: &&Tried, b: &&Tried| {
        let errors = b.accuracy.total_cmp(&a.accuracy);
        errors.then(a.log_loss.total_cmp(&b.log_loss))
    };
    let helpful = tried.iter().filter(helps);
    helpful.min_by(worse).map_or(0.0, |own| own.weight)
}
