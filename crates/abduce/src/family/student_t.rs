//! Student's t distribution about a location μ with a scale σ and ν degrees of
//! freedom: p(x) ∝ (1 + z²/ν)^(−(ν + 1)/2) with z = (x − μ)/σ.
//!
//! The estimate is by ECME (Liu & Rubin 1995): every number weighs
//! (ν + 1)/(ν + z²) in location and scale, and ν maximises the likelihood itself.

use super::scalar::NARROW;
use super::{PointStats, Scalar, Scale, Stats, Univariate, nothing_seen};
use crate::kernel::roots::increasing_root;
use crate::kernel::special::{
    beta_i, beta_i_complement, digamma, inverse_beta_i, inverse_beta_i_complement, ln_beta,
};
use crate::{Error, Result};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// A Student t distribution.
///
/// ```
/// use abduce::family::{StudentT, Univariate};
/// let cauchy = StudentT { location: 0.0, scale: 1.0, degrees: 1.0 };
/// assert!((cauchy.cdf(1.0) - 0.75).abs() < 1e-14);
/// assert_eq!((cauchy.mean(), cauchy.variance()), (None, None));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudentT {
    /// The location μ.
    pub location: f64,
    /// The scale σ.
    pub scale: f64,
    /// The degrees of freedom ν.
    pub degrees: f64,
}

impl StudentT {
    /// Beyond this it cannot be told from a Gaussian.
    pub(crate) const MOST_DEGREES: f64 = 1e7;
    /// Below this the likelihood of rounded numbers grows without limit.
    const LEAST_DEGREES: f64 = 0.1;

    /// A Student t distribution.
    ///
    /// # Errors
    /// If the location is not finite, or scale or degrees are not positive.
    pub fn new(location: f64, scale: f64, degrees: f64) -> Result<StudentT> {
        let t = StudentT {
            location,
            scale,
            degrees,
        };
        match t.in_range() {
            true => Ok(t),
            false => Err(Error::parameter(format!(
                "a Student t distribution needs a finite location and a positive scale and \
                 degrees of freedom, not {location}, {scale} and {degrees}"
            ))),
        }
    }

    fn standard(&self, x: f64) -> f64 {
        (x - self.location) / self.scale
    }

    /// P(T > |z|).
    fn tail(&self, z: f64) -> f64 {
        let nu = self.degrees;
        let square = z * z;
        if square < nu {
            0.5 * beta_i_complement(0.5, 0.5 * nu, square / (nu + square))
        } else {
            0.5 * beta_i(0.5 * nu, 0.5, nu / (nu + square))
        }
    }

    /// The likeliest of all with at least this scale; `None` where the scale
    /// vanishes.
    fn fitted(points: &PointStats, least_scale: f64) -> Option<StudentT> {
        let mut best = StudentT {
            location: points.mean(),
            scale: points.variance().sqrt().max(least_scale),
            degrees: 4.0,
        };
        for _ in 0..2000 {
            let next = best.improved(points, least_scale);
            if !next.in_range() {
                return None;
            }
            let moved = ((next.location - best.location) / best.scale).abs()
                + (next.scale / best.scale).ln().abs()
                + (next.degrees / best.degrees).ln().abs();
            best = next;
            if moved < 1e-11 {
                break;
            }
        }
        Some(best)
    }

    /// One round of ECME.
    fn improved(&self, points: &PointStats, least_scale: f64) -> StudentT {
        let nu = self.degrees;
        let pull = |x: f64| {
            let z = self.standard(x);
            (nu + 1.0) / (nu + z * z)
        };
        let weight = points.sum(pull);
        let location = self.location + points.sum(|x| pull(x) * (x - self.location)) / weight;
        let scatter = points.sum(|x| pull(x) * (x - location) * (x - location));
        // Dividing by the pulled weight converges faster (Kent, Tyler & Vardi 1994).
        let scale = (scatter / weight).sqrt().max(least_scale);
        let moved = StudentT {
            location,
            scale,
            degrees: nu,
        };
        StudentT {
            degrees: moved.best_degrees(points),
            ..moved
        }
    }

    /// The degrees of freedom of highest likelihood at this location and scale.
    fn best_degrees(&self, points: &PointStats) -> f64 {
        let weight = points.weight();
        let squares: Vec<(f64, f64)> = points
            .iter()
            .map(|(x, w)| (self.standard(x).powi(2), w))
            .collect();
        // Minus twice the derivative of the mean log-likelihood; 1/ν is taken
        // out of both parts, which would cancel where ν is large.
        let slope = |log: f64| {
            let nu: f64 = log.exp();
            let own: f64 = squares
                .iter()
                .map(|(square, w)| {
                    let t = square / nu;
                    w * (t.ln_1p() - (t + t / nu) / (1.0 + t))
                })
                .sum();
            let shape = match nu > 1e3 {
                true => 0.5 / (nu * nu) - 0.25 / nu.powi(4),
                false => digamma(0.5 * (nu + 1.0)) - digamma(0.5 * nu) - 1.0 / nu,
            };
            own / weight - shape
        };
        let (low, high) = (Self::LEAST_DEGREES.ln(), Self::MOST_DEGREES.ln());
        if slope(low) >= 0.0 {
            return Self::LEAST_DEGREES;
        }
        if slope(high) <= 0.0 {
            return Self::MOST_DEGREES;
        }
        increasing_root(low, high, slope).exp()
    }
}

impl Univariate for StudentT {
    fn log_density(&self, x: f64) -> f64 {
        if !x.is_finite() {
            return f64::NEG_INFINITY;
        }
        let nu = self.degrees;
        let z = self.standard(x);
        // Γ((ν+1)/2)/(√(νπ) Γ(ν/2)) = 1/(√ν B(½, ν/2)).
        -0.5 * nu.ln()
            - ln_beta(0.5, 0.5 * nu)
            - self.scale.ln()
            - 0.5 * (nu + 1.0) * (z * z / nu).ln_1p()
    }

    fn cdf(&self, x: f64) -> f64 {
        let z = self.standard(x);
        match z <= 0.0 {
            true => self.tail(z),
            false => 1.0 - self.tail(z),
        }
    }

    fn survival(&self, x: f64) -> f64 {
        let z = self.standard(x);
        match z >= 0.0 {
            true => self.tail(z),
            false => 1.0 - self.tail(z),
        }
    }

    fn support(&self) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    fn quantile(&self, p: f64) -> f64 {
        if p <= 0.0 || p >= 1.0 {
            return if p <= 0.0 {
                f64::NEG_INFINITY
            } else {
                f64::INFINITY
            };
        }
        let nu = self.degrees;
        let tail = p.min(1.0 - p);
        let size = if tail < 0.25 {
            // Whichever of the two shares is small keeps the digits.
            let share = inverse_beta_i_complement(0.5, 0.5 * nu, 2.0 * tail);
            match share < 0.5 {
                true => (nu * share / (1.0 - share)).sqrt(),
                false => {
                    let rest = inverse_beta_i(0.5 * nu, 0.5, 2.0 * tail);
                    (nu * (1.0 - rest) / rest).sqrt()
                }
            }
        } else {
            let y = inverse_beta_i(0.5, 0.5 * nu, 1.0 - 2.0 * tail);
            (nu * y / (1.0 - y)).sqrt()
        };
        let z = if p < 0.5 { -size } else { size };
        self.location + self.scale * z
    }

    fn mean(&self) -> Option<f64> {
        (self.degrees > 1.0).then_some(self.location)
    }

    fn variance(&self) -> Option<f64> {
        let square = self.scale * self.scale;
        match self.degrees {
            nu if nu > 2.0 => Some(square * (nu / (nu - 2.0))),
            nu if nu > 1.0 => Some(f64::INFINITY),
            _ => None,
        }
    }

    fn mode(&self) -> f64 {
        self.location
    }

    fn entropy(&self) -> f64 {
        let nu = self.degrees;
        let half = 0.5 * (nu + 1.0);
        // ψ is smooth: its difference over ½ loses digits for large ν only
        // where the factor (ν+1)/2 is about to restore them.
        let rise = match nu > 1e5 {
            true => 0.5 + 0.75 / nu,
            false => half * (digamma(half) - digamma(0.5 * nu)),
        };
        rise + 0.5 * nu.ln() + ln_beta(0.5 * nu, 0.5) + self.scale.ln()
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        match rand_distr::StudentT::new(self.degrees) {
            Ok(t) => self.location + self.scale * rng.sample(t),
            Err(_) => self.quantile(rng.random()),
        }
    }
}

impl Scalar for StudentT {
    const NAME: &'static str = "student-t";
    const PARAMETERS: usize = 3;
    const HAS_UNITS: bool = true;
    type Stats = PointStats;

    fn supports(x: f64) -> bool {
        x.is_finite()
    }

    fn see(cells: &mut dyn Iterator<Item = (f64, f64)>, stats: &mut PointStats) {
        stats.merge(&PointStats::new(cells));
    }

    fn estimate(points: &PointStats) -> Result<Self> {
        if points.values.is_empty() {
            return Err(nothing_seen());
        }
        let weight = points.weight();
        if points.weights.iter().any(|own| *own >= 0.5 * weight) {
            return Err(Error::numeric("half of the numbers or more are the same"));
        }
        StudentT::fitted(points, 0.0)
            .ok_or_else(|| Error::numeric("the scale of the numbers vanishes"))
    }

    /// The likeliest of those that are not narrower.
    fn narrow(points: &PointStats, wide: &Self) -> Option<Self> {
        StudentT::fitted(points, NARROW.sqrt() * wide.scale)
    }

    fn log_likelihood_of(&self, points: &PointStats) -> f64 {
        points.sum(|x| self.log_density(x))
    }

    fn wide(scale: &Scale) -> Self {
        StudentT {
            location: scale.mean,
            scale: scale.variance.sqrt(),
            degrees: 5.0,
        }
    }

    /// Rows at the quantiles.
    fn expected(&self, rows: f64) -> PointStats {
        PointStats::at_quantiles(self, rows)
    }

    fn in_range(&self) -> bool {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        self.location.is_finite() && positive(self.scale) && positive(self.degrees)
    }

    fn are_sound(stats: &PointStats) -> bool {
        stats.is_valid()
    }

    fn instances() -> Vec<Self> {
        [(0.0, 1.0, 3.0), (50.0, 0.1, 12.0), (-2.0, 4.0, 1.5)]
            .map(|(location, scale, degrees)| StudentT {
                location,
                scale,
                degrees,
            })
            .to_vec()
    }
}
