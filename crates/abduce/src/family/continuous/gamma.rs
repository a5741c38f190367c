//! The gamma distribution of a positive number:
//! p(x) = bᵃ xᵃ⁻¹ e^(−bx) / Γ(a) with shape a and rate b.
//!
//! The estimate solves ln a − ψ(a) = ln x̄ − mean(ln x) by Minka's generalised Newton steps
//! (Minka 2002, "Estimating a Gamma distribution"). The right side is the mean of x/x̄ − 1 −
//! ln(x/x̄), a sum of positive numbers that do not cancel however close to each other the rows
//! are.

use crate::family::scalar::NARROW;
use crate::family::{
    ExponentialFamily, Scalar, Scale, Stats, Unconstrained, Univariate, never_seen, nothing_seen,
    times,
};
use crate::kernel::special::{
    digamma, gamma_p, gamma_q, inverse_gamma_p, inverse_gamma_q, ln_gamma, ln_less_digamma,
    ln_poisson_mass, ln_ratio_defect, trigamma,
};
use crate::{Error, Result};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// A gamma distribution with its shape and rate.
///
/// ```
/// use abduce::family::{Gamma, Univariate};
/// let gamma = Gamma { shape: 3.0, rate: 2.0 };
/// assert_eq!((gamma.mean(), gamma.variance(), gamma.mode()), (Some(1.5), Some(0.75), 1.0));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gamma {
    /// The shape a.
    pub shape: f64,
    /// The rate b; the mean is a/b.
    pub rate: f64,
}

/// Sums over the positive numbers seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct GammaStats {
    /// The total weight.
    pub weight: f64,
    /// The weighted sum of the numbers.
    pub sum: f64,
    /// The weighted sum of ln x̄ − ln x, where x̄ is their mean.
    pub log_deficit: f64,
}

/// Statistics as in files; the first versions had Σ ln x instead of the deficit.
#[derive(Deserialize)]
struct Stored {
    weight: f64,
    sum: f64,
    log_deficit: Option<f64>,
    #[serde(default)]
    log_sum: f64,
}

impl From<Stored> for GammaStats {
    fn from(stored: Stored) -> GammaStats {
        let Stored { weight, sum, .. } = stored;
        let old = || times(weight, (sum / weight).ln()) - stored.log_sum;
        GammaStats {
            weight,
            sum,
            log_deficit: stored.log_deficit.unwrap_or_else(old),
        }
    }
}

impl GammaStats {
    /// The statistics of numbers with their weights.
    pub fn new(cells: impl IntoIterator<Item = (f64, f64)>) -> GammaStats {
        let cells: Vec<(f64, f64)> = cells.into_iter().collect();
        let weight: f64 = cells.iter().map(|(_, weight)| weight).sum();
        let sum = cells.iter().map(|(x, weight)| weight * x).sum();
        let mut stats = GammaStats {
            weight,
            sum,
            log_deficit: 0.0,
        };
        let mean = stats.mean();
        let deficit = |(x, weight): &(f64, f64)| weight * ln_ratio_defect(*x, mean);
        stats.log_deficit = cells.iter().map(deficit).sum();
        stats
    }

    /// The mean of the numbers.
    pub fn mean(&self) -> f64 {
        self.sum / self.weight
    }

    /// The change of the deficit when the mean of the numbers is replaced by another; Σ (x − x̄)
    /// = 0.
    fn moved(&self, mean: f64) -> f64 {
        if self.weight > 0.0 {
            self.weight * ln_ratio_defect(self.mean(), mean)
        } else {
            0.0
        }
    }
}

impl Stats for GammaStats {
    fn weight(&self) -> f64 {
        self.weight
    }

    fn merge(&mut self, other: &Self) {
        let (weight, sum) = (self.weight + other.weight, self.sum + other.sum);
        let moved = self.moved(sum / weight) + other.moved(sum / weight);
        *self = GammaStats {
            weight,
            sum,
            log_deficit: self.log_deficit + other.log_deficit + moved,
        };
    }

    fn scale(&mut self, factor: f64) {
        self.weight *= factor;
        self.sum *= factor;
        self.log_deficit *= factor;
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        let weight = self.weight - other.weight;
        let rounding = 1e-9 * self.weight;
        if weight < -rounding {
            return Err(never_seen());
        }
        if weight <= rounding {
            *self = GammaStats::default();
            return Ok(());
        }
        let mut left = GammaStats {
            weight,
            sum: self.sum - other.sum,
            log_deficit: 0.0,
        };
        if left.sum <= 0.0 {
            return Err(never_seen());
        }
        let moved = left.moved(self.mean()) + other.moved(self.mean());
        left.log_deficit = (self.log_deficit - other.log_deficit - moved).max(0.0);
        *self = left;
        Ok(())
    }
}

impl Gamma {
    /// A gamma distribution.
    ///
    /// # Errors
    /// If the shape or the rate is not positive.
    pub fn new(shape: f64, rate: f64) -> Result<Gamma> {
        let gamma = Gamma { shape, rate };
        if gamma.in_range() {
            Ok(gamma)
        } else {
            Err(Error::parameter(format!(
                "shape and rate of a gamma distribution must be positive, not {shape} and {rate}"
            )))
        }
    }
}

/// The shape with ln a − ψ(a) = s, for s > 0.
pub(crate) fn shape_of(s: f64) -> f64 {
    let mut shape = (3.0 - s + ((s - 3.0) * (s - 3.0) + 24.0 * s).sqrt()) / (12.0 * s);
    for _ in 0..50 {
        let gradient = ln_less_digamma(shape) - s;
        // a² (1/a − ψ′(a)), which would cancel where a is large.
        let slope = if shape > 1e4 {
            -0.5 - 1.0 / (6.0 * shape)
        } else {
            shape * shape * (1.0 / shape - trigamma(shape))
        };
        let next = 1.0 / (1.0 / shape + gradient / slope);
        if !(next > 0.0 && next.is_finite()) {
            break;
        }
        let done = (next - shape).abs() <= 1e-15 * shape;
        shape = next;
        if done {
            break;
        }
    }
    shape
}

impl Univariate for Gamma {
    fn log_density(&self, x: f64) -> f64 {
        let Gamma { shape, rate } = *self;
        if !(x >= 0.0 && x.is_finite()) {
            return f64::NEG_INFINITY;
        }
        if shape >= 10.0 {
            // Without the cancellation near the mode.
            return ln_poisson_mass(shape - 1.0, rate * x) + rate.ln();
        }
        let power = if shape == 1.0 {
            0.0
        } else {
            (shape - 1.0) * x.ln()
        };
        shape * rate.ln() + power - rate * x - ln_gamma(shape)
    }

    fn cdf(&self, x: f64) -> f64 {
        gamma_p(self.shape, (self.rate * x).max(0.0))
    }

    fn survival(&self, x: f64) -> f64 {
        gamma_q(self.shape, (self.rate * x).max(0.0))
    }

    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn quantile(&self, p: f64) -> f64 {
        match p {
            p if p <= 0.0 => 0.0,
            p if p >= 1.0 => f64::INFINITY,
            p if p <= 0.5 => inverse_gamma_p(self.shape, p) / self.rate,
            p => inverse_gamma_q(self.shape, 1.0 - p) / self.rate,
        }
    }

    fn mean(&self) -> Option<f64> {
        Some(self.shape / self.rate)
    }

    fn variance(&self) -> Option<f64> {
        Some(self.shape / (self.rate * self.rate))
    }

    fn mode(&self) -> f64 {
        (self.shape - 1.0).max(0.0) / self.rate
    }

    fn entropy(&self) -> f64 {
        let a = self.shape;
        // a + ln Γ(a) + (1 − a) ψ(a), without the cancellation.
        (a - 1.0) * ln_less_digamma(a) - ln_poisson_mass(a, a) - self.rate.ln()
    }

    fn kl(&self, other: &Self) -> f64 {
        // ln p/q at the mean, and the term of the curvature of the logarithm.
        let (a, b) = (self.shape, other.shape);
        let at_mean = ln_poisson_mass(a, a) - ln_poisson_mass(b, a * (other.rate / self.rate));
        (at_mean + (a / b).ln() - (a - b) * ln_less_digamma(a)).max(0.0)
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        match rand_distr::Gamma::new(self.shape, 1.0) {
            // Draws of a small shape may be below the smallest double.
            Ok(gamma) => (rng.sample(gamma) / self.rate).max(f64::MIN_POSITIVE),
            Err(_) => self.quantile(rng.random()),
        }
    }
}

impl Scalar for Gamma {
    const NAME: &'static str = "gamma";
    const PARAMETERS: usize = 2;
    const HAS_UNITS: bool = true;
    type Stats = GammaStats;

    fn supports(x: f64) -> bool {
        x > 0.0 && x.is_finite()
    }

    fn observe_values(cells: &mut dyn Iterator<Item = (f64, f64)>, stats: &mut GammaStats) {
        stats.merge(&GammaStats::new(cells));
    }

    fn estimate(stats: &GammaStats) -> Result<Self> {
        if stats.weight <= 0.0 {
            return Err(nothing_seen());
        }
        let mean = stats.mean();
        let spread = stats.log_deficit / stats.weight;
        // Different numbers differ at least by rounding.
        if !(spread > f64::EPSILON * f64::EPSILON && mean.is_finite()) {
            return Err(Error::numeric("the numbers are all the same"));
        }
        let shape = shape_of(spread);
        Gamma::new(shape, shape / mean)
    }

    fn narrow(stats: &GammaStats, wide: &Self) -> Option<Self> {
        let mean = stats.sum / stats.weight;
        let variance = NARROW * Univariate::variance(wide)?;
        Some(Gamma {
            shape: mean * mean / variance,
            rate: mean / variance,
        })
    }

    fn log_likelihood_of(&self, stats: &GammaStats) -> f64 {
        if stats.weight > 0.0 {
            stats.weight * self.log_density(stats.mean()) - (self.shape - 1.0) * stats.log_deficit
        } else {
            0.0
        }
    }

    fn wide(scale: &Scale) -> Self {
        let mean = if scale.mean > 0.0 {
            scale.mean
        } else {
            scale.variance.sqrt()
        };
        let shape = (mean * mean / scale.variance).clamp(1e-3, 1e6);
        Gamma {
            shape,
            rate: shape / mean,
        }
    }

    fn expected(&self, rows: f64) -> GammaStats {
        GammaStats {
            weight: rows,
            sum: rows * self.shape / self.rate,
            log_deficit: rows * ln_less_digamma(self.shape),
        }
    }

    fn in_range(&self) -> bool {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        positive(self.shape) && positive(self.rate)
    }

    fn are_valid(stats: &GammaStats) -> bool {
        stats.weight >= 0.0 && stats.sum >= 0.0 && stats.log_deficit >= 0.0
    }
}

impl Unconstrained for Gamma {
    fn coordinates(&self, _: &(), _: &Self) -> Option<Vec<f64>> {
        Some(vec![self.shape.ln(), self.rate.ln()])
    }

    fn at_coordinates(&self, _: &(), _: &Self, coordinates: &[f64]) -> Option<Self> {
        let [shape, rate] = coordinates else {
            return None;
        };
        Some(Gamma {
            shape: shape.exp(),
            rate: rate.exp(),
        })
    }
}

#[cfg(test)]
impl crate::family::laws::Examples for Gamma {
    fn examples() -> Vec<Self> {
        [(0.6, 2.0), (3.0, 0.01), (250.0, 5.0)]
            .map(|(shape, rate)| Gamma { shape, rate })
            .to_vec()
    }
}

impl ExponentialFamily for Gamma {
    fn natural(&self) -> Vec<f64> {
        vec![self.shape - 1.0, -self.rate]
    }

    fn from_natural(&self, natural: &[f64]) -> Result<Self> {
        Gamma::new(natural[0] + 1.0, -natural[1])
    }

    fn log_partition(&self, natural: &[f64]) -> f64 {
        let shape = natural[0] + 1.0;
        ln_gamma(shape) - shape * (-natural[1]).ln()
    }

    fn sufficient(&self, x: &[f64]) -> Vec<f64> {
        vec![x[0].ln(), x[0]]
    }

    fn log_base(&self, x: &[f64]) -> f64 {
        if x[0] > 0.0 { 0.0 } else { f64::NEG_INFINITY }
    }

    fn expected_sufficient(&self) -> Vec<f64> {
        vec![digamma(self.shape) - self.rate.ln(), self.shape / self.rate]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows are c ± d, whose deficit is
    /// −½ ln(1 − (d/c)²), and a = 1/2s + 1/6 + … solves ln a − ψ(a) = s
    /// (Abramowitz & Stegun 6.3.18, inverted).
    fn shape_of_two(c: f64, d: f64) -> f64 {
        let s = -0.5 * (-(d / c).powi(2)).ln_1p();
        0.5 / s + 1.0 / 6.0 - s / 18.0
    }

    #[test]
    fn an_offset_of_a_million_costs_the_shape_no_digits() {
        for (c, d) in [(1e6, 1.0), (1e8, 1.0), (1e3, 2.0), (1e-90, 1e-94)] {
            let rows = [(c + d, 1.0), (c - d, 1.0)];
            let whole = GammaStats::new(rows.iter().chain(&rows).copied());
            let mut parts = GammaStats::default();
            for row in rows.iter().chain(&rows) {
                parts.merge(&GammaStats::new([*row]));
            }
            for stats in [whole, parts] {
                let shape = Gamma::estimate(&stats).unwrap().shape;
                let ratio = shape / shape_of_two(c, d);
                // The means of the parts are rounded, by a share of the spread.
                let rounding = 10.0 * f64::EPSILON * c / d;
                assert!((ratio - 1.0).abs() < rounding, "{c} {d}: {shape}");
            }
        }
    }

    #[test]
    fn divergence_keeps_its_digits_at_huge_shapes() {
        let of = |shape: f64, mean: f64| Gamma {
            shape,
            rate: shape / mean,
        };
        // Two means a deviation apart: a (r − 1 − ln r), about one half.
        let (a, r) = (1e12, 1.0 + 1e-6);
        let obtained = of(a, 1.0).kl(&of(a, 1.0 / r));
        assert!((obtained - 0.5 + 1e-6 / 3.0).abs() < 1e-9, "{obtained}");
        assert!(of(1e12, 3.0).kl(&of(1e12, 3.0)) < 1e-12);
    }

    #[test]
    fn statistics_of_older_files_are_read() {
        let rows = [2.0_f64, 3.0, 7.0];
        let logs: f64 = rows.iter().map(|x| x.ln()).sum();
        let old = format!(r#"{{"weight": 3.0, "sum": 12.0, "log_sum": {logs}}}"#);
        let read: GammaStats = serde_json::from_str(&old).unwrap();
        let new = GammaStats::new(rows.map(|x| (x, 1.0)));
        assert!((read.log_deficit - new.log_deficit).abs() < 1e-14);
        let old = r#"{"weight": 5.0, "zeros": 2.0, "sum": 6.0, "log_factorials": 1.0}"#;
        let read: crate::family::ZeroInflatedPoissonStats = serde_json::from_str(old).unwrap();
        assert_eq!(
            (read.zeros, read.counts.weight, read.counts.sum),
            (2.0, 3.0, 6.0)
        );
        assert!((read.counts.peak - (6.0 * 2.0_f64.ln() - 7.0)).abs() < 1e-14);
    }
}
