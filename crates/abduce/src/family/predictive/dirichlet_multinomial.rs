//! The Dirichlet-multinomial: multinomial counts whose probabilities are drawn from a Dirichlet,
//! p(x) = n! Γ(Σα)/Γ(n + Σα) · Π Γ(xᵢ + αᵢ) / (xᵢ! Γ(αᵢ)). It is the prediction of the next n
//! trials by a Dirichlet posterior.

use crate::Result;
use crate::family::categorical::multinomial::{are_counts, settle};
use crate::family::priors::dirichlet::check_concentration;
use crate::family::{Dirichlet, Divergence, Multi, Multinomial};
use crate::kernel::special::{ln_factorial, ln_rising};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Counts of levels in a number of trials, with probabilities from a Dirichlet.
///
/// ```
/// use abduce::family::{DirichletMultinomial, Multi};
/// // One more trial after Dirichlet(4, 1, 2): Laplace's rule.
/// let next = DirichletMultinomial::new(1, vec![4.0, 1.0, 2.0])?;
/// assert!((next.log_density(&[0.0, 1.0, 0.0]).exp() - 1.0 / 7.0).abs() < 1e-15);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DirichletMultinomial {
    /// The number of trials n.
    pub trials: u64,
    /// The concentrations α, all positive.
    pub concentration: Vec<f64>,
}

impl DirichletMultinomial {
    /// Counts of `trials` trials under the given concentrations.
    ///
    /// # Errors
    /// Unless there is at least one concentration and all are positive and
    /// finite.
    pub fn new(trials: u64, concentration: Vec<f64>) -> Result<Self> {
        check_concentration(&concentration)?;
        Ok(DirichletMultinomial {
            trials,
            concentration,
        })
    }

    fn total(&self) -> f64 {
        self.concentration.iter().sum()
    }

    /// Σᵢ E f(αᵢ, i, xᵢ), each under its beta-binomial: all counts from 0 to n
    /// are visited.
    fn sum_of_means(&self, f: impl Fn(usize, f64) -> f64) -> f64 {
        let (n, total) = (self.trials as f64, self.total());
        let whole = ln_choose_rising(total, n);
        let mean = |i: usize| {
            let a = self.concentration[i];
            let mass = |x: f64| {
                // With a single level, all trials are of that level.
                if total <= a {
                    return f64::from(u8::from(x == n));
                }
                (ln_choose_rising(a, x) + ln_choose_rising(total - a, n - x) - whole).exp()
            };
            (0..=self.trials)
                .map(|x| mass(x as f64) * f(i, x as f64))
                .sum::<f64>()
        };
        (0..self.concentration.len()).map(mean).sum()
    }
}

/// ln Γ(a + x) / (Γ(a) x!), the factor of a level in the mass.
fn ln_choose_rising(a: f64, x: f64) -> f64 {
    ln_rising(a, x) - ln_factorial(x)
}

impl Multi for DirichletMultinomial {
    fn dimension(&self) -> usize {
        self.concentration.len()
    }

    fn log_density(&self, x: &[f64]) -> f64 {
        if !are_counts(x, self.dimension(), self.trials) {
            return f64::NEG_INFINITY;
        }
        let levels = x.iter().zip(&self.concentration);
        let sum: f64 = levels.map(|(x, a)| ln_choose_rising(*a, *x)).sum();
        sum - ln_choose_rising(self.total(), self.trials as f64)
    }

    fn mean(&self) -> Option<Vec<f64>> {
        let (n, total) = (self.trials as f64, self.total());
        Some(self.concentration.iter().map(|a| n * a / total).collect())
    }

    fn variance(&self) -> Option<Vec<f64>> {
        let (n, total) = (self.trials as f64, self.total());
        let wider = (n + total) / (1.0 + total);
        let variance = |a: &f64| n * a / total * ((total - a) / total) * wider;
        Some(self.concentration.iter().map(variance).collect())
    }

    /// A count x grows by the factor (x + α)/(x + 1): levels with α > 1 share
    /// all trials in proportion to α − 1; where there are none, the level with
    /// the largest α takes all.
    fn mode(&self) -> Option<Vec<f64>> {
        let n = self.trials as f64;
        let excess: Vec<f64> = self
            .concentration
            .iter()
            .map(|a| (a - 1.0).max(0.0))
            .collect();
        let total: f64 = excess.iter().sum();
        if total == 0.0 {
            let mut counts = vec![0.0; self.dimension()];
            *counts.get_mut(crate::family::most_probable(&self.concentration))? = n;
            return Some(counts);
        }
        let levels = excess.iter().filter(|e| **e > 0.0).count() as f64;
        let share = |e: &f64| ((n + levels) * e / total - 0.5).floor().max(0.0).min(n);
        let mut counts: Vec<f64> = excess.iter().map(share).collect();
        settle(&mut counts, n, |i, count| {
            (count + self.concentration[i]) / (count + 1.0)
        });
        Some(counts)
    }

    /// By the mean of each level's contribution; takes time in proportion to
    /// the trials.
    fn entropy(&self) -> f64 {
        let levels = self.sum_of_means(|i, x| ln_choose_rising(self.concentration[i], x));
        ln_choose_rising(self.total(), self.trials as f64) - levels
    }

    fn draw(&self, rng: &mut dyn Rng) -> Vec<f64> {
        let dirichlet = Dirichlet {
            concentration: self.concentration.clone(),
        };
        let counts = Multinomial {
            trials: self.trials,
            probabilities: dirichlet.draw(rng),
        };
        counts.draw(rng)
    }
}

impl Divergence for DirichletMultinomial {
    /// Takes time in proportion to the trials.
    fn kl(&self, other: &Self) -> f64 {
        if self.trials != other.trials || self.dimension() != other.dimension() {
            return f64::INFINITY;
        }
        let n = self.trials as f64;
        let levels = self.sum_of_means(|i, x| {
            ln_rising(self.concentration[i], x) - ln_rising(other.concentration[i], x)
        });
        levels - ln_rising(self.total(), n) + ln_rising(other.total(), n)
    }
}
