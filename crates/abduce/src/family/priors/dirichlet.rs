//! The Dirichlet distribution over probabilities x₁ … x_K that sum to 1,
//!
//! p(x) = Π xᵢ^{αᵢ−1} · Γ(Σα) / Π Γ(αᵢ),
//!
//! the conjugate prior of categorical and multinomial probabilities.

use crate::family::multi::draw_ln_gamma;
use crate::family::{Divergence, ExponentialFamily, Multi};
use crate::kernel::roots::increasing_root_near;
use crate::kernel::special::{digamma, inverse_digamma, ln_beta};
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
    /// are sufficient: the α with ψ(αᵢ) − ψ(Σα) = mean ln xᵢ, the fixed point of
    /// Minka (2000), found as the root of an increasing function of Σα.
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
    /// If the rows are all the same, one has a 0, or the estimate overflows.
    pub fn mle(mean_logs: &[f64]) -> Result<Self> {
        let possible = mean_logs.iter().all(|log| log.is_finite() && *log < 0.0);
        let slack = 1.0 - mean_logs.iter().map(|log| log.exp()).sum::<f64>();
        // Equal rows have geometric means that sum to 1.
        if !(possible && mean_logs.len() > 1 && slack > 1e-12) {
            return Err(Error::numeric(
                "the rows are all the same, or have shares of 0",
            ));
        }
        // The logarithms of the smallest and the largest double.
        const FAR: f64 = 600.0;
        // For a given total every concentration is known, αᵢ = ψ⁻¹(ψ(s) + mean
        // ln xᵢ). The likelihood is concave, so that their sum is above s on one
        // side of the estimate and below on the other.
        let of_total = |total: f64| -> Vec<f64> {
            let base = digamma(total);
            let logs = mean_logs.iter();
            logs.map(|log| inverse_digamma(base + log)).collect()
        };
        let excess = |log_total: f64| {
            let total = log_total.exp();
            log_total - of_total(total).iter().sum::<f64>().ln()
        };
        let start = (0.5 * (mean_logs.len() - 1) as f64 / slack).ln();
        let total = increasing_root_near(start, 1.0, FAR, excess).exp();
        let alpha = of_total(total);
        let off = (alpha.iter().sum::<f64>() / total - 1.0).abs();
        if off.is_nan() || off > 1e-6 {
            return Err(Error::numeric("the concentrations have no estimate"));
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
pub(crate) fn check_concentration(concentration: &[f64]) -> Result<()> {
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
pub(crate) fn ln_multi_beta(concentration: &[f64]) -> f64 {
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
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

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
    #[test]
    fn estimates_from_draws_solve_their_equations_however_unequal_the_shapes() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for alpha in [[0.1, 100.0], [0.05, 50.0], [0.01, 10.0], [0.003, 0.003]] {
            let truth = Dirichlet::new(alpha.to_vec()).unwrap();
            // Shares below the smallest double still have logarithms.
            let mut sums = [0.0; 2];
            for _ in 0..500 {
                let logs = alpha.map(|a| draw_ln_gamma(a, &mut rng));
                let most = logs[0].max(logs[1]);
                let whole = most + logs.iter().map(|l| (l - most).exp()).sum::<f64>().ln();
                sums.iter_mut()
                    .zip(logs)
                    .for_each(|(sum, l)| *sum += l - whole);
            }
            let means = sums.map(|sum| sum / 500.0);
            let fitted = Dirichlet::mle(&means).unwrap();
            for (expected, mean) in fitted.expected_sufficient().iter().zip(means) {
                assert!(
                    (expected - mean).abs() < 1e-11 * mean.abs().max(1.0),
                    "{truth:?} {fitted:?}"
                );
            }
            for (shape, a) in fitted.concentration.iter().zip(alpha) {
                assert!((shape / a).ln().abs() < 0.5, "{truth:?} {fitted:?}");
            }
        }
    }
}
