//! The Poisson distribution of a count: p(x) = λˣ e^(−λ) / x!.
//!
//! The prior is ∝ λᵃ e^(−bλ), a Gamma(a + 1, b), with the posterior mode
//! (Σx + a)/(n + b).

use crate::data::Rows;
use crate::family::counts::lattice::next_count;
use crate::family::unconstrained::{exponentials, logarithms};
use crate::family::{
    Components, Domain, ExponentialFamily, Family, Fill, PriorStrength, Scale, Stats,
    Unconstrained, Univariate, Validate, is_count, merged, never_seen, nothing_seen, times,
};
use crate::kernel::special::{gamma_p, gamma_q, ln_factorial, ln_poisson_mass, poisson_deviance};
use crate::{Error, Result};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// A Poisson distribution with its rate.
///
/// ```
/// use abduce::data::{Cells, Rows};
/// use abduce::family::{Family, Poisson};
/// let columns = [Cells::real(&[0.0, 1.0, 5.0])];
/// let mut stats = Poisson::zero(&());
/// Poisson::observe(&Rows::new(&columns), &[1.0; 3], &mut stats);
/// assert_eq!(Poisson::mle(&stats)?.rate, 2.0);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Poisson {
    /// The rate λ, which is mean and variance.
    pub rate: f64,
}

/// Sums over the counts seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct PoissonStats {
    /// The total weight.
    pub weight: f64,
    /// The weighted sum of the counts.
    pub sum: f64,
    /// The log-likelihood under the mean count, its maximum; where counts are large, the sum of
    /// ln x! would lose its digits.
    pub peak: f64,
}

/// Statistics as in files; the first versions had Σ ln x! instead of the peak.
#[derive(Deserialize)]
struct Stored {
    weight: f64,
    sum: f64,
    peak: Option<f64>,
    #[serde(default)]
    log_factorials: f64,
}

impl From<Stored> for PoissonStats {
    fn from(stored: Stored) -> PoissonStats {
        let Stored { weight, sum, .. } = stored;
        let old = || times(sum, (sum / weight).ln()) - sum - stored.log_factorials;
        let peak = stored.peak.unwrap_or_else(old);
        PoissonStats { weight, sum, peak }
    }
}

impl PoissonStats {
    /// The statistics of counts with their weights.
    pub fn new(cells: impl IntoIterator<Item = (f64, f64)>) -> PoissonStats {
        let cells: Vec<(f64, f64)> = cells.into_iter().collect();
        let weight: f64 = cells.iter().map(|(_, weight)| weight).sum();
        let sum: f64 = cells.iter().map(|(x, weight)| weight * x).sum();
        let mean = sum / weight;
        let mass = |(x, weight): &(f64, f64)| times(*weight, ln_poisson_mass(*x, mean));
        let peak = cells.iter().map(mass).sum();
        PoissonStats { weight, sum, peak }
    }

    /// How far the log-likelihood is below its peak under a rate.
    fn below_peak(&self, rate: f64) -> f64 {
        times(self.weight, poisson_deviance(self.sum / self.weight, rate))
    }
}

impl Stats for PoissonStats {
    fn weight(&self) -> f64 {
        self.weight
    }

    fn merge(&mut self, other: &Self) {
        let (weight, sum) = (self.weight + other.weight, self.sum + other.sum);
        let apart = self.below_peak(sum / weight) + other.below_peak(sum / weight);
        *self = PoissonStats {
            weight,
            sum,
            peak: self.peak + other.peak - apart,
        };
    }

    fn scale(&mut self, factor: f64) {
        self.weight *= factor;
        self.sum *= factor;
        self.peak *= factor;
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        let left = |a: f64, b: f64| (a - b >= -1e-9 * a.abs()).then(|| (a - b).max(0.0));
        let (weight, sum) = left(self.weight, other.weight)
            .zip(left(self.sum, other.sum))
            .ok_or_else(never_seen)?;
        if weight <= 1e-9 * self.weight {
            *self = PoissonStats::default();
            return Ok(());
        }
        let mean = self.sum / self.weight;
        let mut rest = PoissonStats {
            weight,
            sum,
            peak: 0.0,
        };
        rest.peak = self.peak - other.peak + rest.below_peak(mean) + other.below_peak(mean);
        *self = rest;
        Ok(())
    }
}

impl Family for Poisson {
    const NAME: &'static str = "poisson";
    type Stats = PoissonStats;
    type Shape = ();
    /// (a, b) of the prior ∝ λᵃ e^(−bλ).
    type Prior = (f64, f64);

    fn zero(_: &()) -> PoissonStats {
        PoissonStats::default()
    }

    fn shape(&self) {}

    fn observe(rows: &Rows, weights: &[f64], stats: &mut PoissonStats) {
        let cells = rows.only();
        let all = cells.reals().iter().zip(weights).enumerate();
        let seen = all.filter(|(i, (_, weight))| cells.is_seen(*i) && **weight > 0.0);
        stats.merge(&PoissonStats::new(
            seen.map(|(_, (x, weight))| (*x, *weight)),
        ));
    }

    fn add_log_density(&self, rows: &Rows, out: &mut [f64]) {
        let cells = rows.only();
        for (i, (l, x)) in out.iter_mut().zip(cells.reals()).enumerate() {
            if cells.is_seen(i) {
                *l += self.log_density(*x);
            }
        }
    }

    fn map(stats: &PoissonStats, (a, b): &(f64, f64)) -> Result<Self> {
        let total = stats.weight + b;
        if !(total > 0.0 && total.is_finite()) {
            return Err(nothing_seen());
        }
        Ok(Poisson {
            rate: (stats.sum + a) / total,
        })
    }

    fn log_prior(&self, (a, b): &(f64, f64)) -> f64 {
        times(*a, self.rate.ln()) - b * self.rate
    }

    fn log_likelihood(&self, stats: &PoissonStats) -> f64 {
        stats.peak - stats.below_peak(self.rate)
    }

    fn parameters(_: &()) -> usize {
        1
    }

    fn fill(&self, how: Fill, row: &[Option<f64>], rng: &mut dyn Rng, out: &mut [f64]) {
        out[0] = row[0].unwrap_or_else(|| match how {
            Fill::Mean => self.rate,
            Fill::Mode => self.rate.floor(),
            Fill::Draw => self.draw(rng),
        });
    }
}

impl Domain for Poisson {
    const HAS_UNITS: bool = false;

    fn shape_of_column(_: usize) -> Option<()> {
        Some(())
    }

    fn supports(x: f64) -> bool {
        is_count(x)
    }
}

impl Components for Poisson {
    fn weak_prior(scales: &[Scale], strength: &PriorStrength) -> (f64, f64) {
        // A column of zeros only must not make every count impossible.
        let mean = scales[0]
            .mean
            .max(strength.row_weight / (strength.row_weight + strength.rows));
        (strength.smoothing * mean, strength.smoothing)
    }

    fn fallback(_: &(), scales: &[Scale]) -> Self {
        Poisson {
            rate: scales[0].mean.max(0.0),
        }
    }

    fn shrink_together(stats: &mut [PoissonStats]) {
        let all = merged(&*stats);
        for component in stats {
            component.merge(&PoissonStats {
                weight: 1.0,
                sum: (all.sum / all.weight.max(1.0)).max(1e-3),
                peak: 0.0,
            });
        }
    }
}

impl Unconstrained for Poisson {
    fn coordinates(&self, _: &(), _: &Self) -> Option<Vec<f64>> {
        Some(logarithms(&[self.rate]))
    }

    fn at_coordinates(&self, _: &(), _: &Self, coordinates: &[f64]) -> Option<Self> {
        let rate = exponentials(&[self.rate], coordinates)?[0];
        Some(Poisson { rate })
    }
}

impl Validate for Poisson {
    fn is_valid(&self, _: &()) -> bool {
        self.rate >= 0.0 && self.rate.is_finite()
    }

    fn describes(_: &(), stats: &PoissonStats) -> bool {
        stats.weight >= 0.0 && stats.sum >= 0.0
    }

    fn accepts(_: &(), (a, b): &(f64, f64)) -> bool {
        *a >= 0.0 && *b >= 0.0
    }
}

#[cfg(test)]
impl crate::family::laws::Examples for Poisson {
    fn examples() -> Vec<Self> {
        [0.7, 12.5, 0.0].map(|rate| Poisson { rate }).to_vec()
    }
}

impl Univariate for Poisson {
    fn log_density(&self, x: f64) -> f64 {
        if !Self::supports(x) {
            return f64::NEG_INFINITY;
        }
        ln_poisson_mass(x, self.rate)
    }

    fn cdf(&self, x: f64) -> f64 {
        next_count(x).map_or(0.0, |next| gamma_q(next, self.rate))
    }

    fn survival(&self, x: f64) -> f64 {
        next_count(x).map_or(1.0, |next| gamma_p(next, self.rate))
    }

    fn is_discrete(&self) -> bool {
        true
    }

    fn mean(&self) -> Option<f64> {
        Some(self.rate)
    }

    fn variance(&self) -> Option<f64> {
        Some(self.rate)
    }

    fn mode(&self) -> f64 {
        // At a whole rate, it and the count below are equally probable.
        (self.rate.ceil() - 1.0).max(0.0)
    }

    fn kl(&self, other: &Self) -> f64 {
        poisson_deviance(self.rate, other.rate)
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        // The sampler rejects a rate of 0 or beyond 1e19, where the distribution is a point at
        // double precision.
        match rand_distr::Poisson::new(self.rate) {
            Ok(poisson) => rng.sample(poisson),
            Err(_) => self.rate.round(),
        }
    }
}

impl ExponentialFamily for Poisson {
    fn natural(&self) -> Vec<f64> {
        vec![self.rate.ln()]
    }

    fn from_natural(&self, natural: &[f64]) -> Result<Self> {
        let poisson = Poisson {
            rate: natural[0].exp(),
        };
        if poisson.is_valid(&()) {
            Ok(poisson)
        } else {
            Err(Error::parameter("the rate is beyond the largest number"))
        }
    }

    fn log_partition(&self, natural: &[f64]) -> f64 {
        natural[0].exp()
    }

    fn sufficient(&self, x: &[f64]) -> Vec<f64> {
        vec![x[0]]
    }

    fn log_base(&self, x: &[f64]) -> f64 {
        if Self::supports(x[0]) {
            -ln_factorial(x[0])
        } else {
            f64::NEG_INFINITY
        }
    }

    fn expected_sufficient(&self) -> Vec<f64> {
        vec![self.rate]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_counts_keep_the_digits_of_their_likelihood() {
        // Counts c and c + 2d under the rate c + d: −½ ln 2πx − x·δ, where δ is
        // the rate's defect; of order 1 beside x ln λ of 1e16.
        let (c, d) = (1e15_f64, 3e7);
        let rows = [c, c + 2.0 * d];
        let expected: f64 = rows
            .iter()
            .map(|x| {
                let e = (c + d - x) / x;
                let defect = e * e / 2.0 - e.powi(3) / 3.0 + e.powi(4) / 4.0;
                -0.5 * (std::f64::consts::TAU * x).ln() - x * defect
            })
            .sum();
        let mut stats = PoissonStats::new([(rows[0], 1.0)]);
        stats.merge(&PoissonStats::new([(rows[1], 1.0)]));
        let obtained = Poisson { rate: c + d }.log_likelihood(&stats);
        assert!((obtained - expected).abs() < 1e-9, "{obtained} {expected}");
        let direct: f64 = rows
            .iter()
            .map(|x| Poisson { rate: c + d }.log_density(*x))
            .sum();
        assert!((obtained - direct).abs() < 1e-9, "{obtained} {direct}");
    }

    #[test]
    fn statistics_with_factorials_are_read_as_before() {
        let old = r#"{"weight": 3.0, "sum": 6.0, "log_factorials": 4.787491742782046}"#;
        let old: PoissonStats = serde_json::from_str(old).unwrap();
        let new = PoissonStats::new([0.0, 1.0, 5.0].map(|x| (x, 1.0)));
        assert!((old.peak - new.peak).abs() < 1e-12, "{old:?} {new:?}");
    }
}
