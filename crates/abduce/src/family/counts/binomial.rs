//! The binomial distribution of the successes in n trials:
//! P(x) = C(n, x) pˣ (1 − p)ⁿ⁻ˣ; and the beta-binomial, in which p is beta
//! distributed.

use crate::family::counts::lattice::{entropy_of_bell, sum_of_masses};
use crate::family::sums::sums;
use crate::family::univariate::best_of;
use crate::family::{Beta, ExponentialFamily, Univariate, is_count, times};
use crate::kernel::special::{beta_i, beta_i_complement, ln_beta_mass, ln_choose};
use crate::{Error, Result};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// A binomial distribution.
///
/// ```
/// use abduce::family::{Binomial, Univariate};
/// let heads = Binomial { trials: 4, probability: 0.5 };
/// assert!((heads.density(2.0) - 0.375).abs() < 1e-14);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Binomial {
    /// The number n of trials.
    pub trials: u64,
    /// The probability p of success in each.
    pub probability: f64,
}

sums! {
    /// Sums over the counts of successes seen.
    BinomialStats {
        /// The weighted sum of the successes.
        successes,
        /// The weighted sum of the failures.
        failures,
        /// The weighted sum of ln C(n, x).
        log_choices,
    }
}

impl BinomialStats {
    /// Adds successes in a number of trials.
    pub fn observe(&mut self, trials: u64, x: f64, weight: f64) {
        self.weight += weight;
        self.successes += weight * x;
        self.failures += weight * (trials as f64 - x);
        self.log_choices += weight * ln_choose(trials as f64, x);
    }
}

impl Binomial {
    /// A binomial distribution.
    ///
    /// # Errors
    /// If the probability is not between 0 and 1.
    pub fn new(trials: u64, probability: f64) -> Result<Binomial> {
        if (0.0..=1.0).contains(&probability) {
            Ok(Binomial {
                trials,
                probability,
            })
        } else {
            Err(Error::parameter(format!(
                "the probability of a binomial distribution must be from 0 to 1, not {probability}"
            )))
        }
    }

    fn supports(&self, x: f64) -> bool {
        is_count(x) && x <= self.trials as f64
    }

    /// Whether x is a possible number of successes in a number of trials.
    pub fn supports_in(trials: u64, x: f64) -> bool {
        Binomial {
            trials,
            probability: 0.5,
        }
        .supports(x)
    }
}

/// The log-probability of x successes, each of probability p = 1 − q.
fn log_mass(n: f64, x: f64, p: f64, q: f64) -> f64 {
    let log = |p: f64, q: f64| if p <= q { p.ln() } else { (-q).ln_1p() };
    match x {
        0.0 => times(n, log(q, p)),
        x if x == n => n * log(p, q),
        // n over x is n / (x (n − x) B(x, n − x)).
        _ if p > 0.0 && q > 0.0 => ln_beta_mass(x, n - x, p, q) + (n / x / (n - x)).ln(),
        _ => f64::NEG_INFINITY,
    }
}

impl Univariate for Binomial {
    fn log_density(&self, x: f64) -> f64 {
        if !self.supports(x) {
            return f64::NEG_INFINITY;
        }
        let (n, p) = (self.trials as f64, self.probability);
        log_mass(n, x, p, 1.0 - p)
    }

    fn cdf(&self, x: f64) -> f64 {
        let (n, x) = (self.trials as f64, x.floor());
        match x {
            x if x < 0.0 => 0.0,
            x if x >= n => 1.0,
            x => beta_i_complement(x + 1.0, n - x, self.probability),
        }
    }

    fn survival(&self, x: f64) -> f64 {
        let (n, x) = (self.trials as f64, x.floor());
        match x {
            x if x < 0.0 => 1.0,
            x if x >= n => 0.0,
            x => beta_i(x + 1.0, n - x, self.probability),
        }
    }

    fn support(&self) -> (f64, f64) {
        (0.0, self.trials as f64)
    }

    fn is_discrete(&self) -> bool {
        true
    }

    fn mean(&self) -> Option<f64> {
        Some(self.trials as f64 * self.probability)
    }

    fn variance(&self) -> Option<f64> {
        Some(self.trials as f64 * self.probability * (1.0 - self.probability))
    }

    fn mode(&self) -> f64 {
        let n = self.trials as f64;
        // At a whole number, it and the one below are equally probable.
        let top = (n + 1.0) * self.probability;
        (top.ceil() - 1.0).clamp(0.0, n)
    }

    fn entropy(&self) -> f64 {
        let deviation = (self.trials as f64 * self.probability * (1.0 - self.probability)).sqrt();
        if deviation > 1e3 {
            entropy_of_bell(|x| self.log_density(x), self.mode(), deviation)
        } else {
            self.expectation(&|x| -self.log_density(x))
        }
    }

    fn kl(&self, other: &Self) -> f64 {
        if self.trials != other.trials {
            return crate::family::divergence(self, other);
        }
        let (p, q) = (self.probability, other.probability);
        let part = |p: f64, q: f64| times(p, (p / q).ln());
        (self.trials as f64 * (part(p, q) + part(1.0 - p, 1.0 - q))).max(0.0)
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        match rand_distr::Binomial::new(self.trials, self.probability) {
            Ok(binomial) => rng.sample(binomial) as f64,
            Err(_) => self.quantile(rng.random()),
        }
    }
}

impl ExponentialFamily for Binomial {
    fn natural(&self) -> Vec<f64> {
        vec![self.probability.ln() - (-self.probability).ln_1p()]
    }

    fn from_natural(&self, natural: &[f64]) -> Result<Self> {
        Binomial::new(self.trials, 1.0 / (1.0 + (-natural[0]).exp()))
    }

    fn log_partition(&self, natural: &[f64]) -> f64 {
        let size = natural[0].max(0.0);
        self.trials as f64 * (size + (-natural[0].abs()).exp().ln_1p())
    }

    fn sufficient(&self, x: &[f64]) -> Vec<f64> {
        vec![x[0]]
    }

    fn log_base(&self, x: &[f64]) -> f64 {
        if self.supports(x[0]) {
            ln_choose(self.trials as f64, x[0])
        } else {
            f64::NEG_INFINITY
        }
    }

    fn expected_sufficient(&self) -> Vec<f64> {
        vec![self.trials as f64 * self.probability]
    }
}

/// A binomial whose probability is beta distributed: the prediction of n trials by a beta
/// posterior.
///
/// ```
/// use abduce::family::{Beta, BetaBinomial, Univariate};
/// let flat = BetaBinomial { trials: 4, probability: Beta { a: 1.0, b: 1.0 } };
/// assert!((flat.density(3.0) - 0.2).abs() < 1e-14);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BetaBinomial {
    /// The number n of trials.
    pub trials: u64,
    /// The distribution of the probability.
    pub probability: Beta,
}

impl BetaBinomial {
    /// The log-probability at any number between 0 and n.
    fn log_mass(&self, x: f64) -> f64 {
        let (Beta { a, b }, n) = (&self.probability, self.trials as f64);
        // Bayes' rule at the posterior mean: its terms are no larger than the result, while those
        // of n over x and the beta functions are.
        let total = a + b + n;
        let (p, q) = ((a + x) / total, (b + (n - x)) / total);
        log_mass(n, x, p, q) + ln_beta_mass(*a, *b, p, q) - ln_beta_mass(a + x, b + (n - x), p, q)
    }

    /// P(X ≤ x) and P(X > x): the smaller is summed, the other is its complement.
    fn tails(&self, x: f64) -> (f64, f64) {
        let (n, x) = (self.trials as f64, x.floor());
        if x < 0.0 {
            return (0.0, 1.0);
        }
        if x >= n {
            return (1.0, 0.0);
        }
        let sum = |low: f64, high: f64| {
            let widths = self.mean().zip(self.variance().map(f64::sqrt));
            sum_of_masses(|x| self.log_mass(x), low, high, widths).min(1.0)
        };
        match sum(0.0, x) {
            lower if lower <= 0.5 => (lower, 1.0 - lower),
            _ => {
                let upper = sum(x + 1.0, n);
                (1.0 - upper, upper)
            }
        }
    }
}

impl Univariate for BetaBinomial {
    fn log_density(&self, x: f64) -> f64 {
        if Binomial::supports_in(self.trials, x) {
            self.log_mass(x)
        } else {
            f64::NEG_INFINITY
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        self.tails(x).0
    }

    fn survival(&self, x: f64) -> f64 {
        self.tails(x).1
    }

    fn support(&self) -> (f64, f64) {
        (0.0, self.trials as f64)
    }

    fn is_discrete(&self) -> bool {
        true
    }

    fn mean(&self) -> Option<f64> {
        let Beta { a, b } = self.probability;
        Some(self.trials as f64 * a / (a + b))
    }

    fn variance(&self) -> Option<f64> {
        let Beta { a, b } = self.probability;
        let (n, total) = (self.trials as f64, a + b);
        Some(n * (a / total) * (b / total) * (total + n) / (total + 1.0))
    }

    fn mode(&self) -> f64 {
        let Beta { a, b } = self.probability;
        let n = self.trials as f64;
        let inside = ((n + 1.0) * (a - 1.0) / (a + b - 2.0)).floor();
        let inside = if inside.is_finite() {
            inside.clamp(0.0, n)
        } else {
            0.0
        };
        best_of(self, [0.0, (inside - 1.0).max(0.0), inside, n])
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        let probability = self.probability.draw(rng);
        Binomial {
            trials: self.trials,
            probability,
        }
        .draw(rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entropy_of_many_trials_is_that_of_every_count_and_tends_to_a_gaussians() {
        let of = |trials: u64, probability: f64| Binomial {
            trials,
            probability,
        };
        for (trials, probability) in [(5_000_000, 0.5), (20_000_000, 0.07)] {
            let binomial = of(trials, probability);
            let summed = binomial.expectation(&|x| -binomial.log_density(x));
            assert!(
                (binomial.entropy() - summed).abs() < 1e-11 * summed,
                "{binomial:?}"
            );
        }
        let binomial = of(1_000_000_000_000_000, 0.3);
        let variance = 0.21e15_f64;
        let gaussian = 0.5 * (std::f64::consts::TAU * std::f64::consts::E * variance).ln();
        assert!(
            (binomial.entropy() - gaussian).abs() < 1e-12,
            "{}",
            binomial.entropy()
        );
    }
}
