//! The Bernoulli distribution of a binary column: code 1 with probability p.
//!
//! The prior is Beta(1 + α, 1 + α), whose posterior mode is (n₁ + α)/(n + 2α).

use crate::Result;
use crate::data::Rows;
use crate::family::categorical::categorical::{
    CategoricalStats, draw_index, entropy, relative_entropy,
};
use crate::family::unconstrained::{logarithms, shares};
use crate::family::{
    Components, Domain, ExponentialFamily, Family, Fill, PriorStrength, Pseudocounts, Scale, Stats,
    Unconstrained, Univariate, Validate, merged, nothing_seen, times,
};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// The probability of success.
///
/// ```
/// use abduce::data::{Cells, Rows};
/// use abduce::family::{Bernoulli, Family};
/// let columns = [Cells::code(&[0, 1, 1, 1])];
/// let mut stats = Bernoulli::zero(&());
/// Bernoulli::observe(&Rows::new(&columns), &[1.0; 4], &mut stats);
/// assert_eq!(Bernoulli::mle(&stats)?.probability, 0.75);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bernoulli {
    /// The probability of code 1.
    pub probability: f64,
}

/// The weights of failures and successes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BernoulliStats {
    /// The weight of code 0.
    pub failures: f64,
    /// The weight of code 1.
    pub successes: f64,
}

impl Stats for BernoulliStats {
    fn weight(&self) -> f64 {
        self.failures + self.successes
    }

    fn merge(&mut self, other: &Self) {
        self.failures += other.failures;
        self.successes += other.successes;
    }

    fn scale(&mut self, factor: f64) {
        self.failures *= factor;
        self.successes *= factor;
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        let counts = |s: &BernoulliStats| CategoricalStats {
            counts: vec![s.failures, s.successes],
        };
        let mut left = counts(self);
        left.forget(&counts(other))?;
        self.failures = left.counts[0];
        self.successes = left.counts[1];
        Ok(())
    }
}

/// s ln p + f ln(1 − p), where nothing times −∞ is nothing.
pub(crate) fn log_likelihood_of_trials(successes: f64, failures: f64, p: f64) -> f64 {
    times(successes, p.ln()) + times(failures, (-p).ln_1p())
}

impl Family for Bernoulli {
    const NAME: &'static str = "bernoulli";
    type Stats = BernoulliStats;
    type Shape = ();
    /// α of the Beta(1 + α, 1 + α) prior.
    type Prior = Pseudocounts;

    fn zero(_: &()) -> BernoulliStats {
        BernoulliStats::default()
    }

    fn shape(&self) {}

    fn observe(rows: &Rows, weights: &[f64], stats: &mut BernoulliStats) {
        let cells = rows.only();
        for (i, (code, weight)) in cells.codes().iter().zip(weights).enumerate() {
            if cells.is_seen(i) {
                if *code == 0 {
                    stats.failures += weight;
                } else {
                    stats.successes += weight;
                }
            }
        }
    }

    fn add_log_density(&self, rows: &Rows, out: &mut [f64]) {
        let cells = rows.only();
        let logs = [(-self.probability).ln_1p(), self.probability.ln()];
        for (i, (l, code)) in out.iter_mut().zip(cells.codes()).enumerate() {
            if cells.is_seen(i) {
                *l += logs[usize::from(*code != 0)];
            }
        }
    }

    fn map(stats: &BernoulliStats, prior: &Pseudocounts) -> Result<Self> {
        let total = stats.weight() + prior.total(2);
        if !(total > 0.0 && total.is_finite()) {
            return Err(nothing_seen());
        }
        Ok(Bernoulli {
            probability: (stats.successes + prior.of(1)) / total,
        })
    }

    fn log_prior(&self, prior: &Pseudocounts) -> f64 {
        prior.log_density([1.0 - self.probability, self.probability].into_iter())
    }

    fn log_likelihood(&self, stats: &BernoulliStats) -> f64 {
        log_likelihood_of_trials(stats.successes, stats.failures, self.probability)
    }

    fn parameters(_: &()) -> usize {
        1
    }

    fn fill(&self, how: Fill, row: &[Option<f64>], rng: &mut dyn Rng, out: &mut [f64]) {
        out[0] = row[0].unwrap_or_else(|| match how {
            Fill::Mean | Fill::Mode => f64::from(u8::from(self.probability > 0.5)),
            Fill::Draw => draw_index(&[1.0 - self.probability, self.probability], rng) as f64,
        });
    }
}

impl Domain for Bernoulli {
    const HAS_UNITS: bool = false;

    fn shape_of_column(_: usize) -> Option<()> {
        Some(())
    }

    fn levels(_: &()) -> Option<usize> {
        Some(2)
    }

    fn probabilities(&self) -> Option<Vec<f64>> {
        Some(vec![1.0 - self.probability, self.probability])
    }
}

impl Components for Bernoulli {
    fn weak_prior(_: &[Scale], strength: &PriorStrength) -> Pseudocounts {
        strength.smoothing.into()
    }

    fn fallback(_: &(), _: &[Scale]) -> Self {
        Bernoulli { probability: 0.5 }
    }

    fn shrink_together(stats: &mut [BernoulliStats]) {
        let all = merged(&*stats);
        let weight = all.weight().max(1.0);
        for component in stats {
            component.failures += 0.5 * (all.failures / weight + 0.5);
            component.successes += 0.5 * (all.successes / weight + 0.5);
        }
    }
}

impl Unconstrained for Bernoulli {
    fn coordinates(&self, _: &(), _: &Self) -> Option<Vec<f64>> {
        let p = self.probability;
        Some(logarithms(&[1.0 - p, p]))
    }

    fn at_coordinates(&self, _: &(), _: &Self, coordinates: &[f64]) -> Option<Self> {
        let p = self.probability;
        let moved = shares(&[1.0 - p, p], coordinates)?;
        Some(Bernoulli {
            probability: moved[1],
        })
    }
}

impl Validate for Bernoulli {
    fn is_valid(&self, _: &()) -> bool {
        (0.0..=1.0).contains(&self.probability)
    }

    fn describes(_: &(), stats: &BernoulliStats) -> bool {
        stats.failures >= 0.0 && stats.successes >= 0.0
    }

    fn accepts(_: &(), prior: &Pseudocounts) -> bool {
        prior.fits(2)
    }
}

#[cfg(test)]
impl crate::family::laws::Examples for Bernoulli {
    fn examples() -> Vec<Self> {
        [0.3, 0.95, 0.0]
            .map(|probability| Bernoulli { probability })
            .to_vec()
    }
}

impl Univariate for Bernoulli {
    fn log_density(&self, x: f64) -> f64 {
        match x {
            0.0 => (-self.probability).ln_1p(),
            1.0 => self.probability.ln(),
            _ => f64::NEG_INFINITY,
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        match x {
            x if x < 0.0 => 0.0,
            x if x < 1.0 => 1.0 - self.probability,
            _ => 1.0,
        }
    }

    fn survival(&self, x: f64) -> f64 {
        match x {
            x if x < 0.0 => 1.0,
            x if x < 1.0 => self.probability,
            _ => 0.0,
        }
    }

    fn support(&self) -> (f64, f64) {
        (0.0, 1.0)
    }

    fn is_discrete(&self) -> bool {
        true
    }

    fn mean(&self) -> Option<f64> {
        Some(self.probability)
    }

    fn variance(&self) -> Option<f64> {
        Some(self.probability * (1.0 - self.probability))
    }

    fn mode(&self) -> f64 {
        f64::from(u8::from(self.probability > 0.5))
    }

    fn entropy(&self) -> f64 {
        entropy(&[self.probability, 1.0 - self.probability])
    }

    fn kl(&self, other: &Self) -> f64 {
        let both = |p: f64| [p, 1.0 - p];
        relative_entropy(&both(self.probability), &both(other.probability))
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        draw_index(&[1.0 - self.probability, self.probability], rng) as f64
    }
}

impl ExponentialFamily for Bernoulli {
    fn natural(&self) -> Vec<f64> {
        vec![self.probability.ln() - (-self.probability).ln_1p()]
    }

    fn from_natural(&self, natural: &[f64]) -> Result<Self> {
        Ok(Bernoulli {
            probability: 1.0 / (1.0 + (-natural[0]).exp()),
        })
    }

    fn log_partition(&self, natural: &[f64]) -> f64 {
        natural[0].max(0.0) + (-natural[0].abs()).exp().ln_1p()
    }

    fn sufficient(&self, x: &[f64]) -> Vec<f64> {
        vec![x[0]]
    }

    fn log_base(&self, x: &[f64]) -> f64 {
        match x[0] {
            0.0 | 1.0 => 0.0,
            _ => f64::NEG_INFINITY,
        }
    }

    fn expected_sufficient(&self) -> Vec<f64> {
        vec![self.probability]
    }
}
