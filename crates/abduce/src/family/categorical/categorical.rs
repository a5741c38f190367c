//! The categorical distribution over the levels of a column.
//!
//! The prior is Dirichlet(1 + α): its posterior mode (n_l + α)/(N + αL) is
//! Lidstone's rule, and Laplace's with α = 1; the same number is the posterior
//! *mean* under Dirichlet(α).

use crate::Result;
use crate::data::Rows;
use crate::family::unconstrained::{logarithms, shares};
use crate::family::{
    Components, Domain, ExponentialFamily, Family, Fill, PriorStrength, Pseudocounts, Scale, Stats,
    Unconstrained, Univariate, Validate, merged, nothing_seen, times,
};
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
/// let smoothed = Categorical::map(&stats, &1.0.into())?;
/// assert_eq!(smoothed.probabilities, [2.0 / 7.0, 1.0 / 7.0, 4.0 / 7.0]);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Categorical {
    /// The probability of each level; they sum to 1.
    pub probabilities: Vec<f64>,
}

/// The weight of each level.
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
            return Err(crate::family::never_seen());
        }
        for (count, less) in self.counts.iter_mut().zip(&other.counts) {
            // Rounding must not leave a trace of a level that is forgotten.
            *count = match *count - less {
                left if *less > 0.0 && left <= 1e-12 * *count => 0.0,
                left => left.max(0.0),
            };
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
    type Prior = Pseudocounts;

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

    fn map(stats: &CategoricalStats, prior: &Pseudocounts) -> Result<Self> {
        let total = stats.weight() + prior.total(stats.counts.len());
        if !(total > 0.0 && total.is_finite()) {
            return Err(nothing_seen());
        }
        let probabilities = stats
            .counts
            .iter()
            .enumerate()
            .map(|(level, count)| (count + prior.of(level)) / total)
            .collect();
        Ok(Categorical { probabilities })
    }

    fn log_prior(&self, prior: &Pseudocounts) -> f64 {
        prior.log_density(self.probabilities.iter().copied())
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

    fn fill(&self, how: Fill, row: &[Option<f64>], rng: &mut dyn Rng, out: &mut [f64]) {
        out[0] = row[0].unwrap_or_else(|| match how {
            Fill::Mean | Fill::Mode => most_probable(&self.probabilities) as f64,
            Fill::Draw => draw_index(&self.probabilities, rng) as f64,
        });
    }
}

impl Domain for Categorical {
    const HAS_UNITS: bool = false;

    fn shape_of_column(levels: usize) -> Option<usize> {
        Some(levels)
    }

    fn levels(levels: &usize) -> Option<usize> {
        Some(*levels)
    }

    fn probabilities(&self) -> Option<Vec<f64>> {
        Some(self.probabilities.clone())
    }
}

impl Components for Categorical {
    fn weak_prior(_: &[Scale], strength: &PriorStrength) -> Pseudocounts {
        strength.smoothing.into()
    }

    fn fallback(levels: &usize, _: &[Scale]) -> Self {
        Categorical {
            probabilities: vec![1.0 / *levels as f64; *levels],
        }
    }

    fn shrink_together(stats: &mut [CategoricalStats]) {
        let all = merged(&*stats);
        let (levels, weight) = (all.counts.len() as f64, all.weight().max(1.0));
        for component in stats {
            for (count, pooled) in component.counts.iter_mut().zip(&all.counts) {
                *count += 0.5 * (pooled / weight + 1.0 / levels);
            }
        }
    }
}

impl Unconstrained for Categorical {
    fn coordinates(&self, _: &usize, _: &Self) -> Option<Vec<f64>> {
        Some(logarithms(&self.probabilities))
    }

    fn at_coordinates(&self, _: &usize, _: &Self, coordinates: &[f64]) -> Option<Self> {
        let probabilities = shares(&self.probabilities, coordinates)?;
        Some(Categorical { probabilities })
    }
}

impl Validate for Categorical {
    fn is_valid(&self, levels: &usize) -> bool {
        self.probabilities.len() == *levels
            && self.probabilities.iter().all(|p| (0.0..=1.0).contains(p))
    }

    fn describes(levels: &usize, stats: &CategoricalStats) -> bool {
        stats.counts.len() == *levels && stats.counts.iter().all(|count| *count >= 0.0)
    }

    fn accepts(levels: &usize, prior: &Pseudocounts) -> bool {
        prior.fits(*levels)
    }
}

#[cfg(test)]
impl crate::family::laws::Examples for Categorical {
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

/// −Σ p ln p.
pub(crate) fn entropy(probabilities: &[f64]) -> f64 {
    let term = |p: &f64| -times(*p, p.ln());
    probabilities.iter().map(term).sum()
}

/// Σ p ln p/q, infinite where q is 0 and p is not.
pub(crate) fn relative_entropy(p: &[f64], q: &[f64]) -> f64 {
    let term = |(p, q): (&f64, &f64)| match (*p > 0.0, *q > 0.0) {
        (false, _) => 0.0,
        (true, true) => p * (p / q).ln(),
        (true, false) => f64::INFINITY,
    };
    p.iter().zip(q).map(term).sum::<f64>().max(0.0)
}

/// Over the codes of the levels.
impl Univariate for Categorical {
    fn log_density(&self, x: f64) -> f64 {
        let whole = x >= 0.0 && x.fract() == 0.0;
        let probability = self.probabilities.get(x as usize).filter(|_| whole);
        probability.map_or(f64::NEG_INFINITY, |p| p.ln())
    }

    fn cdf(&self, x: f64) -> f64 {
        if x >= 0.0 {
            let levels = self.probabilities.iter().take(x as usize + 1);
            levels.sum::<f64>().min(1.0)
        } else {
            0.0
        }
    }

    fn support(&self) -> (f64, f64) {
        (0.0, self.probabilities.len() as f64 - 1.0)
    }

    fn is_discrete(&self) -> bool {
        true
    }

    fn mean(&self) -> Option<f64> {
        let terms = self.probabilities.iter().enumerate();
        Some(terms.map(|(code, p)| code as f64 * p).sum())
    }

    fn variance(&self) -> Option<f64> {
        let mean = Univariate::mean(self)?;
        let terms = self.probabilities.iter().enumerate();
        Some(
            terms
                .map(|(code, p)| (code as f64 - mean).powi(2) * p)
                .sum(),
        )
    }

    fn mode(&self) -> f64 {
        most_probable(&self.probabilities) as f64
    }

    fn entropy(&self) -> f64 {
        entropy(&self.probabilities)
    }

    fn kl(&self, other: &Self) -> f64 {
        if self.probabilities.len() == other.probabilities.len() {
            relative_entropy(&self.probabilities, &other.probabilities)
        } else {
            f64::INFINITY
        }
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        draw_index(&self.probabilities, rng) as f64
    }
}

/// η are the log-odds of the levels against the last.
impl ExponentialFamily for Categorical {
    fn natural(&self) -> Vec<f64> {
        match self.probabilities.split_last() {
            Some((last, rest)) => rest.iter().map(|p| p.ln() - last.ln()).collect(),
            None => Vec::new(),
        }
    }

    fn from_natural(&self, natural: &[f64]) -> Result<Self> {
        let total = self.log_partition(natural);
        let last = std::iter::once(&0.0);
        let probability = |eta: &f64| (eta - total).exp();
        Ok(Categorical {
            probabilities: natural.iter().chain(last).map(probability).collect(),
        })
    }

    fn log_partition(&self, natural: &[f64]) -> f64 {
        let most = natural.iter().fold(0.0_f64, |most, eta| most.max(*eta));
        let sum: f64 = natural.iter().map(|eta| (eta - most).exp()).sum();
        most + (sum + (-most).exp()).ln()
    }

    fn sufficient(&self, x: &[f64]) -> Vec<f64> {
        let levels = self.probabilities.len();
        let indicator = |code: usize| f64::from(u8::from(x[0] == code as f64));
        (0..levels.saturating_sub(1)).map(indicator).collect()
    }

    fn log_base(&self, x: &[f64]) -> f64 {
        let (low, high) = self.support();
        if (low..=high).contains(&x[0]) && x[0].fract() == 0.0 {
            0.0
        } else {
            f64::NEG_INFINITY
        }
    }

    fn expected_sufficient(&self) -> Vec<f64> {
        let (_, rest) = self.probabilities.split_last().unwrap_or((&1.0, &[]));
        rest.to_vec()
    }
}
