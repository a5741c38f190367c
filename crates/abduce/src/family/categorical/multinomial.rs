//! The multinomial distribution of counts in a number of trials, p(x) = n! / Π
//! xᵢ! · Π pᵢ^{xᵢ}.
//!
//! Its mass is that of independent Poisson counts with means n pᵢ, given their
//! sum; written so, nothing cancels for large counts (Loader 2000).

use crate::family::{Divergence, ExponentialFamily, Multi, is_count};
use crate::kernel::special::{ln_factorial, ln_poisson_mass};
use crate::{Error, Result};
use rand::Rng;
use rand_distr::{Binomial, Distribution};
use serde::{Deserialize, Serialize};

/// Counts of levels in a number of trials. As an exponential family η = ln p
/// (all of them, so that η + c is the same distribution), u(x) = x, h(x) = n! /
/// Π xᵢ!.
///
/// ```
/// use abduce::family::{Multi, Multinomial};
/// let dice = Multinomial::new(3, vec![1.0 / 6.0; 6])?;
/// let three_different = dice.log_density(&[1.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
/// assert!((three_different.exp() - 6.0 / 216.0).abs() < 1e-15);
/// assert_eq!(dice.log_density(&[4.0, 0.0, 0.0, 0.0, 0.0, 0.0]), f64::NEG_INFINITY);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Multinomial {
    /// The number of trials n.
    pub trials: u64,
    /// The probability of each level; they sum to 1.
    pub probabilities: Vec<f64>,
}

impl Multinomial {
    /// Counts of `trials` trials with the given probabilities.
    ///
    /// # Errors
    /// Unless the probabilities are from 0 to 1 and sum to 1.
    pub fn new(trials: u64, probabilities: Vec<f64>) -> Result<Self> {
        let sum: f64 = probabilities.iter().sum();
        let proper = probabilities.iter().all(|p| (0.0..=1.0).contains(p));
        if !proper || (sum - 1.0).abs() > 1e-9 {
            return Err(
                Error::parameter(format!("the probabilities sum to {sum}, not to 1"))
                    .with_hint("give numbers from 0 to 1 that sum to 1"),
            );
        }
        Ok(Multinomial {
            trials,
            probabilities,
        })
    }
}

/// Whether these are counts of this number of levels in this number of trials.
pub(crate) fn are_counts(x: &[f64], levels: usize, trials: u64) -> bool {
    x.len() == levels && x.iter().all(|x| is_count(*x)) && x.iter().sum::<f64>() == trials as f64
}

/// Makes counts sum to the trials, one at a time: adds to the count with the largest `gain(level,
/// count)`, the ratio of the masses at count + 1 and count, or takes from the one that loses
/// least.
pub(crate) fn settle(counts: &mut [f64], trials: f64, gain: impl Fn(usize, f64) -> f64) {
    let mut left = trials - counts.iter().sum::<f64>();
    // Not while it differs from 0, which NaN always does.
    while left.abs() >= 0.5 {
        let worth = |i: usize| {
            if left > 0.0 {
                gain(i, counts[i])
            } else {
                -gain(i, counts[i] - 1.0)
            }
        };
        let able = (0..counts.len()).filter(|i| left > 0.0 || counts[*i] > 0.0);
        let Some(best) = able.reduce(|best, i| if worth(i) > worth(best) { i } else { best })
        else {
            return;
        };
        counts[best] += left.signum();
        left -= left.signum();
    }
}

impl Multi for Multinomial {
    fn dimension(&self) -> usize {
        self.probabilities.len()
    }

    fn log_density(&self, x: &[f64]) -> f64 {
        if !are_counts(x, self.dimension(), self.trials) {
            return f64::NEG_INFINITY;
        }
        let n = self.trials as f64;
        let terms = x.iter().zip(&self.probabilities);
        terms.map(|(x, p)| ln_poisson_mass(*x, n * p)).sum::<f64>() - ln_poisson_mass(n, n)
    }

    fn mean(&self) -> Option<Vec<f64>> {
        let n = self.trials as f64;
        Some(self.probabilities.iter().map(|p| n * p).collect())
    }

    fn variance(&self) -> Option<Vec<f64>> {
        let n = self.trials as f64;
        Some(
            self.probabilities
                .iter()
                .map(|p| n * p * (1.0 - p))
                .collect(),
        )
    }

    /// Near n p, adjusted until moving a trial to another level gains nothing (Finucane,
    /// *Biometrika* 51, 1964).
    fn mode(&self) -> Option<Vec<f64>> {
        let n = self.trials as f64;
        let half = 0.5 * self.dimension() as f64;
        let mut counts: Vec<f64> = self
            .probabilities
            .iter()
            .map(|p| ((n + half) * p).floor())
            .collect();
        settle(&mut counts, n, |i, count| {
            self.probabilities[i] / (count + 1.0)
        });
        Some(counts)
    }

    /// The mean of the log-mass's terms, each under its count's binomial.
    fn entropy(&self) -> f64 {
        let n = self.trials as f64;
        let of_level = |p: &f64| binomial_mean(n, *p, |x| ln_poisson_mass(x, n * p));
        ln_poisson_mass(n, n) - self.probabilities.iter().map(of_level).sum::<f64>()
    }

    /// One level after the other, each from a binomial of the trials that are left.
    fn draw(&self, rng: &mut dyn Rng) -> Vec<f64> {
        let (mut left, mut rest) = (self.trials, 1.0);
        let mut counts = vec![0.0; self.dimension()];
        // Rounding must not leave trials to a level of probability 0.
        let last = self.probabilities.iter().rposition(|p| *p > 0.0);
        for (i, (count, p)) in counts.iter_mut().zip(&self.probabilities).enumerate() {
            let share = if Some(i) == last {
                1.0
            } else {
                (p / rest).clamp(0.0, 1.0)
            };
            let drawn = Binomial::new(left, share).map_or(0, |binomial| binomial.sample(rng));
            *count = drawn as f64;
            left -= drawn;
            rest -= p;
        }
        counts
    }
}

/// E f(x) under Binomial(n, p) for a smooth f, from the counts within 40 deviations of the mean.
/// Where the deviation is large, one count in a group stands for its neighbours: the sum of a
/// bell over a grid much finer than its width is exact up to rounding (Trefethen & Weideman,
/// *SIAM Review* 56, 2014).
fn binomial_mean(n: f64, p: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mean, deviation) = (n * p, (n * p * (1.0 - p)).sqrt());
    let step = (deviation / 4.0).floor().max(1.0);
    let reach = 40.0 * deviation + 40.0;
    let first = (mean - reach).max(0.0).floor();
    let last = (mean + reach).min(n);
    let counts = (0..).map(|i| first + step * f64::from(i));
    let terms = counts.take_while(|x| *x <= last).map(|x| {
        let log_mass = ln_poisson_mass(x, mean) + ln_poisson_mass(n - x, n - mean);
        let mass = (log_mass - ln_poisson_mass(n, n)).exp();
        // Where the mass is 0, f may be infinite.
        if mass > 0.0 { mass * f(x) } else { 0.0 }
    });
    terms.sum::<f64>() * step
}

impl Divergence for Multinomial {
    fn kl(&self, other: &Self) -> f64 {
        if self.trials != other.trials || self.dimension() != other.dimension() {
            return f64::INFINITY;
        }
        let pairs = self.probabilities.iter().zip(&other.probabilities);
        let possible = pairs.filter(|(p, _)| **p > 0.0);
        self.trials as f64 * possible.map(|(p, q)| p * (p / q).ln()).sum::<f64>()
    }
}

impl ExponentialFamily for Multinomial {
    /// −∞ for a level of probability 0.
    fn natural(&self) -> Vec<f64> {
        self.probabilities.iter().map(|p| p.ln()).collect()
    }

    fn from_natural(&self, natural: &[f64]) -> Result<Self> {
        let whole = log_sum_exp(natural);
        let probabilities = natural.iter().map(|eta| (eta - whole).exp()).collect();
        Self::new(self.trials, probabilities)
    }

    fn log_partition(&self, natural: &[f64]) -> f64 {
        self.trials as f64 * log_sum_exp(natural)
    }

    fn sufficient(&self, x: &[f64]) -> Vec<f64> {
        x.to_vec()
    }

    fn log_base(&self, x: &[f64]) -> f64 {
        if !are_counts(x, self.dimension(), self.trials) {
            return f64::NEG_INFINITY;
        }
        ln_factorial(self.trials as f64) - x.iter().map(|x| ln_factorial(*x)).sum::<f64>()
    }

    fn expected_sufficient(&self) -> Vec<f64> {
        let n = self.trials as f64;
        self.probabilities.iter().map(|p| n * p).collect()
    }
}

fn log_sum_exp(x: &[f64]) -> f64 {
    let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + x.iter().map(|x| (x - largest).exp()).sum::<f64>().ln()
}
