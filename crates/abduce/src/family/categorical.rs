//! The categorical distribution over the levels of a column.
//!
//! The prior is Dirichlet(1 + α): its posterior mode (n_l + α)/(N + αL) is
//! Lidstone's rule, and Laplace's with α = 1; the same number is the posterior
//! *mean* under Dirichlet(α).

use super::{Belief, Family, Fill, Scale, Stats, merged, nothing_seen};
use crate::data::Rows;
use crate::{Error, Result};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// Probabilities of levels.
///
/// ```
/// use abduce::data::{Cells, Rows};
/// use abduce::family::{Categorical, Family};
/// let columns = [Cells::code(&[0, 2, 2])];
/// let mut stats = Categorical::zero(&3);
/// Categorical::observe(&Rows::new(&columns), &[1.0, 1.0, 2.0], &mut stats);
/// assert_eq!(Categorical::mle(&stats)?.probabilities, [0.25, 0.0, 0.75]);
/// let smoothed = Categorical::map(&stats, &1.0)?;
/// assert_eq!(smoothed.probabilities, [2.0 / 7.0, 1.0 / 7.0, 4.0 / 7.0]);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Categorical {
    /// The probability of each level; they sum to 1.
    pub probabilities: Vec<f64>,
}

/// The weight seen at each level.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CategoricalStats {
    /// One count per level.
    pub counts: Vec<f64>,
}

impl Stats for CategoricalStats {
    fn weight(&self) -> f64 {
        self.counts.iter().sum()
    }

    fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
    }

    fn scale(&mut self, factor: f64) {
        self.counts.iter_mut().for_each(|count| *count *= factor);
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        let rounding = 1e-9 * self.weight();
        if self
            .counts
            .iter()
            .zip(&other.counts)
            .any(|(count, less)| count - less < -rounding)
        {
            return Err(Error::data("rows to forget that were never seen"));
        }
        for (count, less) in self.counts.iter_mut().zip(&other.counts) {
            *count = (*count - less).max(0.0);
        }
        Ok(())
    }
}

impl Family for Categorical {
    const NAME: &'static str = "categorical";
    type Stats = CategoricalStats;
    /// The number of levels.
    type Shape = usize;
    /// α of the Dirichlet(1 + α) prior.
    type Prior = f64;

    fn zero(levels: &usize) -> CategoricalStats {
        CategoricalStats {
            counts: vec![0.0; *levels],
        }
    }

    fn shape(&self) -> usize {
        self.probabilities.len()
    }

    fn observe(rows: &Rows, weights: &[f64], stats: &mut CategoricalStats) {
        let cells = rows.only();
        for (i, (code, weight)) in cells.codes().iter().zip(weights).enumerate() {
            if cells.is_seen(i) {
                stats.counts[*code as usize] += weight;
            }
        }
    }

    fn add_log_density(&self, rows: &Rows, out: &mut [f64]) {
        let cells = rows.only();
        let logs: Vec<f64> = self.probabilities.iter().map(|p| p.ln()).collect();
        for (i, (l, code)) in out.iter_mut().zip(cells.codes()).enumerate() {
            if cells.is_seen(i) {
                *l += logs[*code as usize];
            }
        }
    }

    fn map(stats: &CategoricalStats, smoothing: &f64) -> Result<Self> {
        let total = stats.weight() + smoothing * stats.counts.len() as f64;
        if !(total > 0.0 && total.is_finite()) {
            return Err(nothing_seen());
        }
        let probabilities = stats
            .counts
            .iter()
            .map(|count| (count + smoothing) / total)
            .collect();
        Ok(Categorical { probabilities })
    }

    fn log_prior(&self, smoothing: &f64) -> f64 {
        if *smoothing == 0.0 {
            return 0.0;
        }
        smoothing * self.probabilities.iter().map(|p| p.ln()).sum::<f64>()
    }

    fn log_likelihood(&self, stats: &CategoricalStats) -> f64 {
        let seen = stats
            .counts
            .iter()
            .zip(&self.probabilities)
            .filter(|(count, _)| **count > 0.0);
        seen.map(|(count, p)| count * p.ln()).sum()
    }

    fn parameters(levels: &usize) -> usize {
        levels.saturating_sub(1)
    }

    const HAS_UNITS: bool = false;

    fn levels(levels: &usize) -> Option<usize> {
        Some(*levels)
    }

    fn weak_prior(_: &[Scale], belief: &Belief) -> f64 {
        belief.smoothing
    }

    fn vague(levels: &usize, _: &[Scale]) -> Self {
        Categorical {
            probabilities: vec![1.0 / *levels as f64; *levels],
        }
    }

    fn is_valid(&self, levels: &usize) -> bool {
        self.probabilities.len() == *levels
            && self.probabilities.iter().all(|p| (0.0..=1.0).contains(p))
    }

    fn describes(levels: &usize, stats: &CategoricalStats) -> bool {
        stats.counts.len() == *levels
    }

    fn pull_together(stats: &mut [CategoricalStats]) {
        let all = merged(stats);
        let (levels, weight) = (all.counts.len() as f64, all.weight().max(1.0));
        for own in stats {
            for (count, pooled) in own.counts.iter_mut().zip(&all.counts) {
                *count += 0.5 * (pooled / weight + 1.0 / levels);
            }
        }
    }

    fn fill(&self, how: Fill, row: &[Option<f64>], rng: &mut dyn Rng, out: &mut [f64]) {
        out[0] = row[0].unwrap_or_else(|| match how {
            Fill::Mean | Fill::Mode => most_probable(&self.probabilities) as f64,
            Fill::Draw => draw_index(&self.probabilities, rng) as f64,
        });
    }

    fn probabilities(&self) -> Option<Vec<f64>> {
        Some(self.probabilities.clone())
    }

    fn examples() -> Vec<Self> {
        vec![
            Categorical {
                probabilities: vec![0.2, 0.5, 0.3],
            },
            Categorical {
                probabilities: vec![0.7, 0.0, 0.1, 0.2],
            },
            Categorical {
                probabilities: vec![1.0],
            },
        ]
    }
}

/// The position of the largest probability, the first of equals.
pub(crate) fn most_probable(probabilities: &[f64]) -> usize {
    let mut best = 0;
    for (i, p) in probabilities.iter().enumerate() {
        if *p > probabilities[best] {
            best = i;
        }
    }
    best
}

/// Draws a position with the given probabilities, which need not sum to 1.
pub(crate) fn draw_index(probabilities: &[f64], rng: &mut dyn Rng) -> usize {
    let total: f64 = probabilities.iter().sum();
    let mut left = rng.random::<f64>() * total;
    for (i, p) in probabilities.iter().enumerate() {
        left -= p;
        if left < 0.0 {
            return i;
        }
    }
    most_probable(probabilities)
}
