//! The Dirichlet distribution over probabilities x₁ … x_K that sum to 1,
//!
//! p(x) = Π xᵢ^{αᵢ−1} · Γ(Σα) / Π Γ(αᵢ),
//!
//! the conjugate prior of categorical and multinomial probabilities.

use super::multi::draw_ln_gamma;
use super::{Divergence, ExponentialFamily, Multi};
use crate::kernel::special::{digamma, inverse_digamma, ln_beta, trigamma};
use crate::{Error, Result};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// A Dirichlet with one concentration per level. As an exponential family
/// η = α − 1, u(x) = ln x, h = 1.
///
/// ```
/// use abduce::family::{Dirichlet, Multi};
/// // Laplace's rule is the mean under Dirichlet(1) after counts 3, 0, 1.
/// let posterior = Dirichlet::new(vec![4.0, 1.0, 2.0])?;
/// assert_eq!(posterior.mean(), Some(vec![4.0 / 7.0, 1.0 / 7.0, 2.0 / 7.0]));
/// assert_eq!(posterior.mode(), Some(vec![0.75, 0.0, 0.25]));
/// assert!(Dirichlet::new(vec![1.0, 0.0]).is_err());
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dirichlet {
    /// The concentrations α, all positive.
    pub concentration: Vec<f64>,
}

impl Dirichlet {
    /// A Dirichlet with the given concentrations.
    ///
    /// # Errors
    /// Unless there is at least one and all are positive and finite.
    pub fn new(concentration: Vec<f64>) -> Result<Self> {
        check_concentration(&concentration)?;
        Ok(Dirichlet { concentration })
    }

    /// The maximum-likelihood estimate from the weighted means of ln x, which
    /// are sufficient: the α with ψ(αᵢ) − ψ(Σα) = mean ln xᵢ, approached by
    /// Minka's fixed point and reached by Newton's steps (Minka 2000).
    ///
    /// ```
    /// use abduce::family::Dirichlet;
    /// let rows: [[f64; 3]; 3] = [[0.2, 0.3, 0.5], [0.1, 0.4, 0.5], [0.3, 0.3, 0.4]];
    /// let mean = |i: usize| rows.iter().map(|row| row[i].ln()).sum::<f64>() / 3.0;
    /// let fitted = Dirichlet::mle(&[mean(0), mean(1), mean(2)])?;
    /// assert!(fitted.concentration[2] > fitted.concentration[1]);
    /// # Ok::<(), abduce::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the rows are all the same, or one has a 0.
    pub fn mle(mean_logs: &[f64]) -> Result<Self> {
        let possible = mean_logs.iter().all(|log| log.is_finite() && *log < 0.0);
        let slack = 1.0 - mean_logs.iter().map(|log| log.exp()).sum::<f64>();
        // Equal rows have geometric means that sum to 1.
        if !(possible && mean_logs.len() > 1 && slack > 1e-12) {
            return Err(Error::numeric(
                "the rows are all the same, or have shares of 0",
            ));
        }
        let mut alpha: Vec<f64> = mean_logs
            .iter()
            .map(|log| log.exp() * 0.5 * (mean_logs.len() - 1) as f64 / slack)
            .collect();
        let step = |alpha: &[f64]| -> Vec<f64> {
            let total = digamma(alpha.iter().sum());
            let next = mean_logs.iter().map(|log| inverse_digamma(total + log));
            next.collect()
        };
        for _ in 0..20 {
            alpha = step(&alpha);
        }
        for _ in 0..200 {
            let total: f64 = alpha.iter().sum();
            let gradient: Vec<f64> = mean_logs
                .iter()
                .zip(&alpha)
                .map(|(log, a)| digamma(total) - digamma(*a) + log)
                .collect();
            let curvature: Vec<f64> = alpha.iter().map(|a| -trigamma(*a)).collect();
            let ratios: f64 = gradient.iter().zip(&curvature).map(|(g, q)| g / q).sum();
            let inverses: f64 = curvature.iter().map(|q| 1.0 / q).sum();
            let shared = ratios / (1.0 / trigamma(total) + inverses);
            let moves = gradient
                .iter()
                .zip(&curvature)
                .map(|(g, q)| (g - shared) / q);
            let next: Vec<f64> = alpha.iter().zip(moves).map(|(a, by)| a - by).collect();
            // A step out of the range is replaced by a safe one.
            let next = match next.iter().all(|a| *a > 0.0 && a.is_finite()) {
                true => next,
                false => step(&alpha),
            };
            let moved = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-13 * b;
            let done = next.iter().zip(&alpha).all(moved);
            alpha = next;
            if done {
                break;
            }
        }
        Dirichlet::new(alpha)
    }

    fn total(&self) -> f64 {
        self.concentration.iter().sum()
    }

    fn supports(&self, x: &[f64]) -> bool {
        x.len() == self.dimension()
            && x.iter().all(|x| (0.0..=1.0).contains(x))
            && (x.iter().sum::<f64>() - 1.0).abs() <= 1e-9
    }
}

/// At least one concentration, all positive.
pub(super) fn check_concentration(concentration: &[f64]) -> Result<()> {
    if concentration.is_empty() {
        return Err(Error::parameter("no concentrations"));
    }
    match concentration.iter().find(|a| !(**a > 0.0 && a.is_finite())) {
        Some(wrong) => Err(Error::parameter(format!(
            "a concentration is {wrong}, not a positive number"
        ))),
        None => Ok(()),
    }
}

/// ln Π Γ(αᵢ) / Γ(Σα), as a chain of beta functions, in which nothing large
/// cancels.
pub(super) fn ln_multi_beta(concentration: &[f64]) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for (i, &a) in concentration.iter().enumerate() {
        if i > 0 {
            total += ln_beta(sum, a);
        }
        sum += a;
    }
    total
}

impl Multi for Dirichlet {
    fn dimension(&self) -> usize {
        self.concentration.len()
    }

    /// +∞ on an edge where a concentration is below 1.
    fn log_density(&self, x: &[f64]) -> f64 {
        if !self.supports(x) {
            return f64::NEG_INFINITY;
        }
        let on_edge = |of: fn(f64) -> bool| {
            let mut pairs = x.iter().zip(&self.concentration);
            pairs.any(|(x, a)| *x == 0.0 && of(*a))
        };
        if on_edge(|a| a > 1.0) {
            return f64::NEG_INFINITY;
        }
        if on_edge(|a| a < 1.0) {
            return f64::INFINITY;
        }
        let inside = x.iter().zip(&self.concentration).filter(|(x, _)| **x > 0.0);
        let sum: f64 = inside.map(|(x, a)| (a - 1.0) * x.ln()).sum();
        sum - ln_multi_beta(&self.concentration)
    }

    fn mean(&self) -> Option<Vec<f64>> {
        let total = self.total();
        Some(self.concentration.iter().map(|a| a / total).collect())
    }

    fn variance(&self) -> Option<Vec<f64>> {
        let total = self.total();
        let variance = |a: &f64| a / total * ((total - a) / total) / (total + 1.0);
        Some(self.concentration.iter().map(variance).collect())
    }

    /// (α − 1) / (Σα − K), where no concentration is below 1; there the density
    /// has no maximum.
    fn mode(&self) -> Option<Vec<f64>> {
        if self.concentration.iter().any(|a| *a < 1.0) {
            return None;
        }
        let total: f64 = self.concentration.iter().map(|a| a - 1.0).sum();
        if total == 0.0 {
            return self.mean();
        }
        Some(
            self.concentration
                .iter()
                .map(|a| (a - 1.0) / total)
                .collect(),
        )
    }

    fn entropy(&self) -> f64 {
        let logs = self.expected_sufficient();
        let mean: f64 = self
            .concentration
            .iter()
            .zip(logs)
            .map(|(a, l)| (a - 1.0) * l)
            .sum();
        ln_multi_beta(&self.concentration) - mean
    }

    /// Gamma draws over their sum, by their logarithms, which small
    /// concentrations need.
    fn draw(&self, rng: &mut dyn Rng) -> Vec<f64> {
        let draws = self.concentration.iter().map(|a| draw_ln_gamma(*a, rng));
        let logs: Vec<f64> = draws.collect();
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let raised: Vec<f64> = logs.iter().map(|l| (l - largest).exp()).collect();
        let sum: f64 = raised.iter().sum();
        raised.iter().map(|x| x / sum).collect()
    }
}

impl Divergence for Dirichlet {
    fn kl(&self, other: &Self) -> f64 {
        if self.dimension() != other.dimension() {
            return f64::INFINITY;
        }
        let pairs = self.concentration.iter().zip(&other.concentration);
        let mean: f64 = pairs
            .zip(self.expected_sufficient())
            .map(|((a, b), l)| (a - b) * l)
            .sum();
        mean + ln_multi_beta(&other.concentration) - ln_multi_beta(&self.concentration)
    }
}

impl ExponentialFamily for Dirichlet {
    fn natural(&self) -> Vec<f64> {
        self.concentration.iter().map(|a| a - 1.0).collect()
    }

    fn from_natural(&self, natural: &[f64]) -> Result<Self> {
        Self::new(natural.iter().map(|eta| eta + 1.0).collect())
    }

    fn log_partition(&self, natural: &[f64]) -> f64 {
        let concentration: Vec<f64> = natural.iter().map(|eta| eta + 1.0).collect();
        ln_multi_beta(&concentration)
    }

    fn sufficient(&self, x: &[f64]) -> Vec<f64> {
        x.iter().map(|x| x.ln()).collect()
    }

    fn log_base(&self, x: &[f64]) -> f64 {
        if self.supports(x) {
            0.0
        } else {
            f64::NEG_INFINITY
        }
    }

    fn expected_sufficient(&self) -> Vec<f64> {
        let whole = digamma(self.total());
        self.concentration
            .iter()
            .map(|a| digamma(*a) - whole)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_matches_the_mean_logarithms() {
        for alpha in [
            vec![0.3, 2.0, 5.0],
            vec![400.0, 250.0],
            vec![1e-2, 0.5, 0.5, 3.0],
        ] {
            let truth = Dirichlet {
                concentration: alpha,
            };
            let total = digamma(truth.total());
            let logs = truth.concentration.iter().map(|a| digamma(*a) - total);
            let fitted = Dirichlet::mle(&logs.collect::<Vec<_>>()).unwrap();
            for (a, b) in fitted.concentration.iter().zip(&truth.concentration) {
                assert!((a - b).abs() < 1e-8 * b, "{fitted:?} {truth:?}");
            }
        }
        assert!(Dirichlet::mle(&[0.5_f64.ln(), 0.5_f64.ln()]).is_err());
        assert!(Dirichlet::mle(&[f64::NEG_INFINITY, 0.5_f64.ln()]).is_err());
    }
}
