//! The exponential distribution of a waiting time: p(x) = λ e^(−λx), x ≥ 0.
//!
//! The prior is ∝ λᵃ e^(−bλ), a Gamma(a + 1, b), with the posterior mode
//! (n + a)/(Σx + b).

use crate::data::Rows;
use crate::family::{
    Components, Domain, ExponentialFamily, Family, Fill, PriorStrength, Scale, Stats,
    Unconstrained, Univariate, Validate, merged, nothing_seen,
};
use crate::{Error, Result};
use rand::{Rng, RngExt};
use rand_distr::Exp1;
use serde::{Deserialize, Serialize};

/// An exponential distribution with its rate.
///
/// ```
/// use abduce::data::{Cells, Rows};
/// use abduce::family::{Exponential, Family};
/// let columns = [Cells::real(&[0.5, 1.0, 4.5])];
/// let mut stats = Exponential::zero(&());
/// Exponential::observe(&Rows::new(&columns), &[1.0; 3], &mut stats);
/// assert_eq!(Exponential::mle(&stats)?.rate, 0.5);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exponential {
    /// The rate λ; the mean is 1/λ.
    pub rate: f64,
}

/// Sums over the times seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExponentialStats {
    /// The total weight.
    pub weight: f64,
    /// The weighted sum of the times.
    pub sum: f64,
}

impl Stats for ExponentialStats {
    fn weight(&self) -> f64 {
        self.weight
    }

    fn merge(&mut self, other: &Self) {
        self.weight += other.weight;
        self.sum += other.sum;
    }

    fn scale(&mut self, factor: f64) {
        self.weight *= factor;
        self.sum *= factor;
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        let weight = self.weight - other.weight;
        let sum = self.sum - other.sum;
        if weight < -1e-9 * self.weight || sum < -1e-9 * self.sum {
            return Err(crate::family::never_seen());
        }
        *self = ExponentialStats {
            weight: weight.max(0.0),
            sum: sum.max(0.0),
        };
        Ok(())
    }
}

impl Family for Exponential {
    const NAME: &'static str = "exponential";
    type Stats = ExponentialStats;
    type Shape = ();
    /// (a, b) of the prior ∝ λᵃ e^(−bλ).
    type Prior = (f64, f64);

    fn zero(_: &()) -> ExponentialStats {
        ExponentialStats::default()
    }

    fn shape(&self) {}

    fn observe(rows: &Rows, weights: &[f64], stats: &mut ExponentialStats) {
        let cells = rows.only();
        for (i, (x, weight)) in cells.reals().iter().zip(weights).enumerate() {
            if cells.is_seen(i) {
                stats.weight += weight;
                stats.sum += weight * x;
            }
        }
    }

    fn add_log_density(&self, rows: &Rows, out: &mut [f64]) {
        let cells = rows.only();
        let log_rate = self.rate.ln();
        for (i, (l, x)) in out.iter_mut().zip(cells.reals()).enumerate() {
            if cells.is_seen(i) {
                *l += if Self::supports(*x) {
                    log_rate - self.rate * x
                } else {
                    f64::NEG_INFINITY
                };
            }
        }
    }

    fn map(stats: &ExponentialStats, (a, b): &(f64, f64)) -> Result<Self> {
        let rate = (stats.weight + a) / (stats.sum + b);
        if stats.weight <= 0.0 && *a == 0.0 {
            return Err(nothing_seen());
        }
        if !(rate > 0.0 && rate.is_finite()) {
            return Err(Error::numeric(
                "every time is 0, so the rate has no estimate",
            ));
        }
        Ok(Exponential { rate })
    }

    fn log_prior(&self, (a, b): &(f64, f64)) -> f64 {
        a * self.rate.ln() - b * self.rate
    }

    fn log_likelihood(&self, stats: &ExponentialStats) -> f64 {
        stats.weight * self.rate.ln() - self.rate * stats.sum
    }

    fn parameters(_: &()) -> usize {
        1
    }

    fn fill(&self, how: Fill, row: &[Option<f64>], rng: &mut dyn Rng, out: &mut [f64]) {
        out[0] = row[0].unwrap_or_else(|| match how {
            Fill::Mean => 1.0 / self.rate,
            Fill::Mode => 0.0,
            Fill::Draw => rng.sample::<f64, _>(Exp1) / self.rate,
        });
    }
}

impl Domain for Exponential {
    const HAS_UNITS: bool = true;

    fn shape_of_column(_: usize) -> Option<()> {
        Some(())
    }

    fn supports(x: f64) -> bool {
        x >= 0.0 && x.is_finite()
    }
}

impl Components for Exponential {
    fn weak_prior(scales: &[Scale], strength: &PriorStrength) -> (f64, f64) {
        (strength.smoothing, strength.smoothing * scales[0].mean)
    }

    fn fallback(_: &(), scales: &[Scale]) -> Self {
        let rate = 1.0 / scales[0].mean;
        Exponential {
            rate: if rate > 0.0 && rate.is_finite() {
                rate
            } else {
                1.0
            },
        }
    }

    /// Where every time is 0, the mean is taken to be a millionth of the column's.
    fn map_one(
        _: &(),
        stats: &ExponentialStats,
        prior: &(f64, f64),
        fallback: &Self,
    ) -> Option<Self> {
        let least = (prior.0, prior.1 + 1e-6 * stats.weight / fallback.rate);
        (Self::map(stats, prior).or_else(|_| Self::map(stats, &least))).ok()
    }

    fn shrink_together(stats: &mut [ExponentialStats]) {
        let all = merged(&*stats);
        if all.weight > 0.0 {
            let mut share = all.clone();
            share.scale(1.0 / all.weight);
            stats
                .iter_mut()
                .for_each(|component| component.merge(&share));
        }
    }
}

impl Unconstrained for Exponential {
    fn coordinates(&self, _: &(), _: &Self) -> Option<Vec<f64>> {
        Some(vec![self.rate.ln()])
    }

    fn at_coordinates(&self, _: &(), _: &Self, coordinates: &[f64]) -> Option<Self> {
        let rate = coordinates.first()?.exp();
        Some(Exponential { rate })
    }
}

impl Validate for Exponential {
    fn is_valid(&self, _: &()) -> bool {
        self.rate > 0.0 && self.rate.is_finite()
    }

    fn describes(_: &(), stats: &ExponentialStats) -> bool {
        stats.weight >= 0.0 && stats.sum >= 0.0
    }

    fn accepts(_: &(), (a, b): &(f64, f64)) -> bool {
        *a >= 0.0 && *b >= 0.0
    }
}

#[cfg(test)]
impl crate::family::laws::Examples for Exponential {
    fn examples() -> Vec<Self> {
        [1.0, 0.02].map(|rate| Exponential { rate }).to_vec()
    }
}

impl Univariate for Exponential {
    fn log_density(&self, x: f64) -> f64 {
        if x >= 0.0 && x.is_finite() {
            self.rate.ln() - self.rate * x
        } else {
            f64::NEG_INFINITY
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        -(-self.rate * x.max(0.0)).exp_m1()
    }

    fn survival(&self, x: f64) -> f64 {
        (-self.rate * x.max(0.0)).exp()
    }

    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn quantile(&self, p: f64) -> f64 {
        -(-p.clamp(0.0, 1.0)).ln_1p() / self.rate
    }

    fn mean(&self) -> Option<f64> {
        Some(1.0 / self.rate)
    }

    fn variance(&self) -> Option<f64> {
        Some(1.0 / (self.rate * self.rate))
    }

    fn mode(&self) -> f64 {
        0.0
    }

    fn entropy(&self) -> f64 {
        1.0 - self.rate.ln()
    }

    fn kl(&self, other: &Self) -> f64 {
        let ratio = other.rate / self.rate;
        (ratio - 1.0 - ratio.ln()).max(0.0)
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        rng.sample::<f64, _>(Exp1) / self.rate
    }
}

impl ExponentialFamily for Exponential {
    fn natural(&self) -> Vec<f64> {
        vec![-self.rate]
    }

    fn from_natural(&self, natural: &[f64]) -> Result<Self> {
        let exponential = Exponential { rate: -natural[0] };
        if exponential.is_valid(&()) {
            Ok(exponential)
        } else {
            Err(Error::parameter("the rate must be positive"))
        }
    }

    fn log_partition(&self, natural: &[f64]) -> f64 {
        -(-natural[0]).ln()
    }

    fn sufficient(&self, x: &[f64]) -> Vec<f64> {
        vec![x[0]]
    }

    fn log_base(&self, x: &[f64]) -> f64 {
        if x[0] >= 0.0 { 0.0 } else { f64::NEG_INFINITY }
    }

    fn expected_sufficient(&self) -> Vec<f64> {
        vec![1.0 / self.rate]
    }
}
