//! The Poisson distribution of a count: p(x) = λˣ e^(−λ) / x!.
//!
//! The prior is ∝ λᵃ e^(−bλ), a Gamma(a + 1, b), with the posterior mode
//! (Σx + a)/(n + b).

use super::{
    Belief, ExponentialFamily, Family, Fill, Scale, Stats, Univariate, merged, nothing_seen,
};
use crate::data::Rows;
use crate::kernel::special::{gamma_p, gamma_q, ln_factorial, ln_poisson_mass};
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
pub struct PoissonStats {
    /// The total weight.
    pub weight: f64,
    /// The weighted sum of the counts.
    pub sum: f64,
    /// The weighted sum of ln x!, which the likelihood needs.
    pub log_factorials: f64,
}

impl Stats for PoissonStats {
    fn weight(&self) -> f64 {
        self.weight
    }

    fn merge(&mut self, other: &Self) {
        self.weight += other.weight;
        self.sum += other.sum;
        self.log_factorials += other.log_factorials;
    }

    fn scale(&mut self, factor: f64) {
        self.weight *= factor;
        self.sum *= factor;
        self.log_factorials *= factor;
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        let left = |a: f64, b: f64| (a - b >= -1e-9 * a.abs()).then(|| (a - b).max(0.0));
        match (
            left(self.weight, other.weight),
            left(self.sum, other.sum),
            left(self.log_factorials, other.log_factorials),
        ) {
            (Some(weight), Some(sum), Some(log_factorials)) => {
                *self = PoissonStats {
                    weight,
                    sum,
                    log_factorials,
                };
                Ok(())
            }
            _ => Err(Error::data("rows to forget that were never seen")),
        }
    }
}

impl Family for Poisson {
    const NAME: &'static str = "poisson";
    type Stats = PoissonStats;
    type Shape = ();
    /// (a, b) of the prior ∝ λᵃ e^(−bλ).
    type Prior = (f64, f64);

    fn shape_of_column(_: usize) -> Option<()> {
        Some(())
    }

    fn zero(_: &()) -> PoissonStats {
        PoissonStats::default()
    }

    fn shape(&self) {}

    fn observe(rows: &Rows, weights: &[f64], stats: &mut PoissonStats) {
        let cells = rows.only();
        for (i, (x, weight)) in cells.reals().iter().zip(weights).enumerate() {
            if cells.is_seen(i) && *weight > 0.0 {
                stats.weight += weight;
                stats.sum += weight * x;
                stats.log_factorials += weight * ln_factorial(*x);
            }
        }
    }

    fn add_log_density(&self, rows: &Rows, out: &mut [f64]) {
        let cells = rows.only();
        let log_rate = self.rate.ln();
        for (i, (l, x)) in out.iter_mut().zip(cells.reals()).enumerate() {
            if !cells.is_seen(i) {
                continue;
            }
            if !Self::supports(*x) {
                *l = f64::NEG_INFINITY;
                continue;
            }
            let term = if *x > 0.0 { x * log_rate } else { 0.0 };
            *l += term - self.rate - ln_factorial(*x);
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
        let power = if *a > 0.0 { a * self.rate.ln() } else { 0.0 };
        power - b * self.rate
    }

    fn log_likelihood(&self, stats: &PoissonStats) -> f64 {
        let power = if stats.sum > 0.0 {
            stats.sum * self.rate.ln()
        } else {
            0.0
        };
        power - stats.weight * self.rate - stats.log_factorials
    }

    fn parameters(_: &()) -> usize {
        1
    }

    const HAS_UNITS: bool = false;

    fn supports(x: f64) -> bool {
        x >= 0.0 && x.is_finite() && x.fract() == 0.0
    }

    fn weak_prior(scales: &[Scale], belief: &Belief) -> (f64, f64) {
        // A column of zeros only must not make every count impossible.
        let mean = scales[0].mean.max(1.0 / (1.0 + belief.rows));
        (belief.smoothing * mean, belief.smoothing)
    }

    fn vague(_: &(), scales: &[Scale]) -> Self {
        Poisson {
            rate: scales[0].mean.max(0.0),
        }
    }

    fn is_valid(&self, _: &()) -> bool {
        self.rate >= 0.0 && self.rate.is_finite()
    }

    fn describes(_: &(), stats: &PoissonStats) -> bool {
        stats.weight >= 0.0 && stats.sum >= 0.0
    }

    fn pull_together(stats: &mut [PoissonStats]) {
        let all = merged(stats);
        for own in stats {
            own.weight += 1.0;
            own.sum += (all.sum / all.weight.max(1.0)).max(1e-3);
        }
    }

    fn fill(&self, how: Fill, row: &[Option<f64>], rng: &mut dyn Rng, out: &mut [f64]) {
        out[0] = row[0].unwrap_or_else(|| match how {
            Fill::Mean => self.rate,
            Fill::Mode => self.rate.floor(),
            Fill::Draw => self.draw(rng),
        });
    }

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
        match x >= 0.0 {
            true => gamma_q(x.floor() + 1.0, self.rate),
            false => 0.0,
        }
    }

    fn survival(&self, x: f64) -> f64 {
        match x >= 0.0 {
            true => gamma_p(x.floor() + 1.0, self.rate),
            false => 1.0,
        }
    }

    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
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
        let (a, b) = (self.rate, other.rate);
        match (a > 0.0, b > 0.0) {
            (true, true) => (a * (a / b).ln() - a + b).max(0.0),
            (true, false) => f64::INFINITY,
            _ => b,
        }
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        // The sampler refuses a rate of 0 or beyond 1e19, where the
        // distribution is a point at double precision.
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
        match poisson.is_valid(&()) {
            true => Ok(poisson),
            false => Err(Error::parameter("the rate is beyond the largest number")),
        }
    }

    fn log_partition(&self, natural: &[f64]) -> f64 {
        natural[0].exp()
    }

    fn sufficient(&self, x: &[f64]) -> Vec<f64> {
        vec![x[0]]
    }

    fn log_base(&self, x: &[f64]) -> f64 {
        match Self::supports(x[0]) {
            true => -ln_factorial(x[0]),
            false => f64::NEG_INFINITY,
        }
    }

    fn expected_sufficient(&self) -> Vec<f64> {
        vec![self.rate]
    }
}
