//! The beta distribution of a proportion:
//! p(x) = xᵃ⁻¹ (1 − x)ᵇ⁻¹ / B(a, b), 0 < x < 1.
//!
//! The estimate solves ψ(a) − ψ(a + b) = mean ln x, ψ(b) − ψ(a + b) = mean ln(1 − x). The
//! statistics are those of two gammas, of x and of 1 − x: a mean, and the difference between its
//! logarithm and the mean logarithm, which does not cancel however close to each other the rows
//! are.

use crate::family::scalar::NARROW;
use crate::family::{
    BetaStats, ExponentialFamily, GammaStats, Scalar, Scale, Stats, Unconstrained, Univariate,
    nothing_seen,
};
use crate::kernel::roots::increasing_root_near;
use crate::kernel::special::{
    beta_i, beta_i_complement, inverse_beta_i, inverse_beta_i_complement, ln_beta, ln_beta_mass,
    ln_less_digamma,
};
use crate::{Error, Result};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// A beta distribution with its two shapes.
///
/// ```
/// use abduce::family::{Beta, Univariate};
/// let beta = Beta { a: 2.0, b: 6.0 };
/// assert_eq!(beta.mean(), Some(0.25));
/// assert!((beta.quantile(beta.cdf(0.3)) - 0.3).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beta {
    /// The shape a at 0.
    pub a: f64,
    /// The shape b at 1.
    pub b: f64,
}

impl Beta {
    /// A beta distribution.
    ///
    /// # Errors
    /// If a shape is not positive.
    pub fn new(a: f64, b: f64) -> Result<Beta> {
        let beta = Beta { a, b };
        if beta.in_range() {
            Ok(beta)
        } else {
            Err(Error::parameter(format!(
                "the shapes of a beta distribution must be positive and have a finite sum, not {a:?} and {b:?}"
            )))
        }
    }

    fn mean_log(&self) -> f64 {
        mean_log(self.a, self.b)
    }

    fn mean_log_complement(&self) -> f64 {
        mean_log(self.b, self.a)
    }

    /// The log-density at x = 1 − y, both between 0 and 1.
    fn log_density_within(&self, x: f64, y: f64) -> f64 {
        ln_beta_mass(self.a, self.b, x, y) - x.ln() - y.ln()
    }

    /// The estimate from means x = 1 − y, of which x is the smaller, and from the differences
    /// between their logarithms and the mean logarithms.
    ///
    /// With a/(a + b) = x eᵗ/(x eᵗ + y) both equations are in numbers no larger than these
    /// differences. The likelihood is concave: for a given a + b there is one t, and there is one
    /// a + b.
    fn of_deficits(x: f64, y: f64, deficit: f64, rest: f64) -> Result<Beta> {
        // eˣ between numbers as small and as large as there are.
        const FAR: f64 = 700.0;
        let at = |total: f64, t: f64| {
            let whole = 1.0 + x * t.exp_m1();
            Beta {
                a: total * (x * t.exp() / whole),
                b: total * (y / whole),
            }
        };
        let tilted = |total: f64| {
            let excess = |t: f64| {
                let Beta { a, b } = at(total, t);
                t - ln_less_digamma(a) + ln_less_digamma(b) + deficit - rest
            };
            increasing_root_near(0.0, 0.5, FAR, excess)
        };
        let excess = |log_total: f64| {
            let total = log_total.exp();
            let t = tilted(total);
            let b = at(total, t).b;
            rest - (x * t.exp_m1()).ln_1p() - (ln_less_digamma(b) - ln_less_digamma(total))
        };
        // The estimate for narrow rows, and close to it for others.
        let start = (0.5 / (x * deficit + y * rest)).ln();
        let total = increasing_root_near(start, 1.0, FAR, excess).exp();
        let Beta { a, b } = at(total, tilted(total));
        Beta::new(a, b)
    }
}

/// E ln x = ψ(a) − ψ(a + b), without cancellation where b is far smaller than a.
fn mean_log(a: f64, b: f64) -> f64 {
    -(b / a).ln_1p() - (ln_less_digamma(a) - ln_less_digamma(a + b))
}

impl Univariate for Beta {
    fn log_density(&self, x: f64) -> f64 {
        if !(0.0..=1.0).contains(&x) {
            return f64::NEG_INFINITY;
        }
        if self.a.min(self.b) >= 10.0 && x > 0.0 && x < 1.0 {
            return self.log_density_within(x, 1.0 - x);
        }
        // A power of 0 is 1 at the ends too.
        let power = |shape: f64, log: f64| {
            if shape == 1.0 {
                0.0
            } else {
                (shape - 1.0) * log
            }
        };
        power(self.a, x.ln()) + power(self.b, (-x).ln_1p()) - ln_beta(self.a, self.b)
    }

    fn cdf(&self, x: f64) -> f64 {
        beta_i(self.a, self.b, x.clamp(0.0, 1.0))
    }

    fn survival(&self, x: f64) -> f64 {
        beta_i_complement(self.a, self.b, x.clamp(0.0, 1.0))
    }

    fn support(&self) -> (f64, f64) {
        (0.0, 1.0)
    }

    fn quantile(&self, p: f64) -> f64 {
        match p {
            p if p <= 0.0 => 0.0,
            p if p >= 1.0 => 1.0,
            p if p <= 0.5 => inverse_beta_i(self.a, self.b, p),
            p => inverse_beta_i_complement(self.a, self.b, 1.0 - p),
        }
    }

    fn mean(&self) -> Option<f64> {
        Some(self.a / (self.a + self.b))
    }

    fn variance(&self) -> Option<f64> {
        let total = self.a + self.b;
        Some(self.a / total * (self.b / total) / (total + 1.0))
    }

    fn mode(&self) -> f64 {
        match (self.a > 1.0, self.b > 1.0) {
            (true, true) => (self.a - 1.0) / (self.a + self.b - 2.0),
            // Flat: any number would do.
            _ if self.a == 1.0 && self.b == 1.0 => 0.5,
            _ => f64::from(u8::from(self.a > self.b)),
        }
    }

    fn entropy(&self) -> f64 {
        // −ln p at the mean, and the term of the curvature of the logarithms.
        let Beta { a, b } = *self;
        let (x, y) = (a / (a + b), b / (a + b));
        let rest = (a - 1.0) * ln_less_digamma(a) + (b - 1.0) * ln_less_digamma(b)
            - (a + b - 2.0) * ln_less_digamma(a + b);
        x.ln() + y.ln() - ln_beta_mass(a, b, x, y) + rest
    }

    fn kl(&self, other: &Self) -> f64 {
        // ln p/q at the mean, and the term of the curvature of the logarithms.
        let Beta { a, b } = *self;
        let (x, y) = (a / (a + b), b / (a + b));
        let at_mean = ln_beta_mass(a, b, x, y) - ln_beta_mass(other.a, other.b, x, y);
        let both = ln_less_digamma(a + b);
        let rest = (a - other.a) * (ln_less_digamma(a) - both)
            + (b - other.b) * (ln_less_digamma(b) - both);
        (at_mean - rest).max(0.0)
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        match rand_distr::Beta::new(self.a, self.b) {
            Ok(beta) => rng
                .sample::<f64, _>(beta)
                .clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON / 2.0),
            Err(_) => self.quantile(rng.random()),
        }
    }
}

impl Scalar for Beta {
    const NAME: &'static str = "beta";
    const PARAMETERS: usize = 2;
    const HAS_UNITS: bool = false;
    type Stats = BetaStats;

    fn supports(x: f64) -> bool {
        x > 0.0 && x < 1.0
    }

    fn observe_values(cells: &mut dyn Iterator<Item = (f64, f64)>, stats: &mut BetaStats) {
        let cells: Vec<(f64, f64)> = cells.collect();
        let rests = cells.iter().map(|(x, weight)| (1.0 - x, *weight));
        stats.merge(&BetaStats {
            shares: GammaStats::new(cells.iter().copied()),
            rests: GammaStats::new(rests),
        });
    }

    fn estimate(stats: &BetaStats) -> Result<Self> {
        let BetaStats { shares, rests } = stats;
        if stats.weight() <= 0.0 {
            return Err(nothing_seen());
        }
        let [deficit, rest] = [shares, rests].map(|gamma| gamma.log_deficit / gamma.weight);
        // Different numbers differ at least by rounding.
        if !(deficit + rest > f64::EPSILON * f64::EPSILON && deficit.is_finite()) {
            return Err(Error::numeric("the numbers are all the same"));
        }
        let (x, y) = (shares.mean(), rests.mean());
        if x <= y {
            Beta::of_deficits(x, y, deficit, rest)
        } else {
            let Beta { a, b } = Beta::of_deficits(y, x, rest, deficit)?;
            Ok(Beta { a: b, b: a })
        }
    }

    fn narrow(stats: &BetaStats, wide: &Self) -> Option<Self> {
        let (mean, rest) = (stats.shares.mean(), stats.rests.mean());
        let total = mean * rest / (NARROW * Univariate::variance(wide)?) - 1.0;
        Some(Beta {
            a: mean * total,
            b: rest * total,
        })
    }

    fn log_likelihood_of(&self, stats: &BetaStats) -> f64 {
        let BetaStats { shares, rests } = stats;
        if stats.weight() <= 0.0 {
            return 0.0;
        }
        stats.weight() * self.log_density_within(shares.mean(), rests.mean())
            - (self.a - 1.0) * shares.log_deficit
            - (self.b - 1.0) * rests.log_deficit
    }

    fn wide(scale: &Scale) -> Self {
        let mean = scale.mean.clamp(1e-3, 1.0 - 1e-3);
        let total = (mean * (1.0 - mean) / scale.variance - 1.0).clamp(0.1, 1e6);
        Beta {
            a: mean * total,
            b: (1.0 - mean) * total,
        }
    }

    fn expected(&self, rows: f64) -> BetaStats {
        let total = self.a + self.b;
        let [shares, rests] = [self.a, self.b].map(|shape| GammaStats {
            weight: rows,
            sum: rows * (shape / total),
            log_deficit: rows * (ln_less_digamma(shape) - ln_less_digamma(total)),
        });
        BetaStats { shares, rests }
    }

    fn in_range(&self) -> bool {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        positive(self.a) && positive(self.b) && positive(self.a + self.b)
    }

    fn are_valid(stats: &BetaStats) -> bool {
        let sound = |stats: &GammaStats| <crate::family::Gamma as Scalar>::are_valid(stats);
        sound(&stats.shares) && sound(&stats.rests) && stats.shares.weight == stats.rests.weight
    }
}

impl Unconstrained for Beta {}

#[cfg(test)]
impl crate::family::laws::Examples for Beta {
    fn examples() -> Vec<Self> {
        [(2.0, 5.0), (0.5, 0.7), (80.0, 40.0)]
            .map(|(a, b)| Beta { a, b })
            .to_vec()
    }
}

impl ExponentialFamily for Beta {
    fn natural(&self) -> Vec<f64> {
        vec![self.a - 1.0, self.b - 1.0]
    }

    fn from_natural(&self, natural: &[f64]) -> Result<Self> {
        Beta::new(natural[0] + 1.0, natural[1] + 1.0)
    }

    fn log_partition(&self, natural: &[f64]) -> f64 {
        ln_beta(natural[0] + 1.0, natural[1] + 1.0)
    }

    fn sufficient(&self, x: &[f64]) -> Vec<f64> {
        vec![x[0].ln(), (-x[0]).ln_1p()]
    }

    fn log_base(&self, x: &[f64]) -> f64 {
        if x[0] > 0.0 && x[0] < 1.0 {
            0.0
        } else {
            f64::NEG_INFINITY
        }
    }

    fn expected_sufficient(&self) -> Vec<f64> {
        vec![self.mean_log(), self.mean_log_complement()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proportions_close_to_each_other_keep_the_digits_of_their_shapes() {
        // Of rows ½ ± d both shapes are the a with ψ(2a) − ψ(a) − ln 2 =
        // −½ ln(1 − 4d²), and the left side is 1/4a + 1/16a² + O(a⁻⁴) (Abramowitz &
        // Stegun 6.3.18).
        for d in [1e-3_f64, 1e-5, 1e-7] {
            let rows = [0.5 + d, 0.5 - d];
            let mut parts = BetaStats::default();
            for x in rows.iter().cycle().take(2000) {
                Beta::observe_values(&mut [(*x, 1.0)].into_iter(), &mut parts);
            }
            let mut whole = BetaStats::default();
            Beta::observe_values(&mut rows.iter().map(|x| (*x, 1000.0)), &mut whole);
            let s = -0.5 * (-4.0 * d * d).ln_1p();
            let exact = 0.125 / s * (1.0 + (1.0 + 4.0 * s).sqrt());
            for stats in [whole, parts] {
                let fitted = Beta::estimate(&stats).unwrap();
                // The rows are rounded, by a share of their distance.
                let rounding = 1e-14 / d + d * d;
                assert!(
                    (fitted.a / exact - 1.0).abs() < rounding,
                    "{d}: {fitted:?} {exact}"
                );
                assert!(
                    (fitted.a / fitted.b - 1.0).abs() < rounding,
                    "{d}: {fitted:?}"
                );
            }
        }
    }

    #[test]
    fn estimates_near_the_ends_solve_their_equations() {
        for rows in [
            vec![1e-200, 1e-3, 0.2],
            vec![1e-9, 2e-9, 3e-9],
            vec![0.999_999, 0.999_999_9, 0.9],
            vec![1e-12, 1.0 - 1e-12],
        ] {
            let mut stats = BetaStats::default();
            Beta::observe_values(&mut rows.iter().map(|x| (*x, 1.0)), &mut stats);
            let fitted = Beta::estimate(&stats).unwrap();
            let n = rows.len() as f64;
            let logs = rows.iter().map(|x| x.ln()).sum::<f64>() / n;
            let rests = rows.iter().map(|x| (-x).ln_1p()).sum::<f64>() / n;
            let off = |found: f64, mean: f64| ((found - mean) / mean).abs();
            assert!(off(fitted.mean_log(), logs) < 1e-11, "{rows:?} {fitted:?}");
            assert!(
                off(fitted.mean_log_complement(), rests) < 1e-9,
                "{rows:?} {fitted:?}"
            );
        }
    }

    #[test]
    fn statistics_of_older_files_are_read() {
        let rows = [0.2_f64, 0.3, 0.75];
        let logs: f64 = rows.iter().map(|x| x.ln()).sum();
        let rests: f64 = rows.iter().map(|x| (1.0 - x).ln()).sum();
        let old = format!(r#"{{"weight": 3.0, "log_sum": {logs}, "log_complement_sum": {rests}}}"#);
        let read: BetaStats = serde_json::from_str(&old).unwrap();
        let mut new = BetaStats::default();
        Beta::observe_values(&mut rows.iter().map(|x| (*x, 1.0)), &mut new);
        let (read, new) = (
            Beta::estimate(&read).unwrap(),
            Beta::estimate(&new).unwrap(),
        );
        assert!((read.a - new.a).abs() < 1e-12 && (read.b - new.b).abs() < 1e-12);
    }
}
