//! Student's t distribution about a location μ with a scale σ and ν degrees of
//! freedom: p(x) ∝ (1 + z²/ν)^(−(ν + 1)/2) with z = (x − μ)/σ.
//!
//! For a given ν, location and scale are weighted moments in which every number
//! weighs (ν + 1)/(ν + z²), repeated until they settle (Kent, Tyler & Vardi 1994);
//! ν is where the likelihood of the settled ones is highest, the root of its
//! derivative.

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

    /// The log-density at the location.
    fn log_peak(&self) -> f64 {
        // Γ((ν+1)/2)/(√(νπ) Γ(ν/2)) = 1/(√ν B(½, ν/2)).
        let nu = self.degrees;
        -0.5 * nu.ln() - ln_beta(0.5, 0.5 * nu) - self.scale.ln()
    }

    /// ln(1 + z²/ν), also where z² is beyond the largest number.
    fn log_stretch(&self, z: f64) -> f64 {
        let t = z.abs() / self.degrees.sqrt();
        match t < FAR {
            true => (t * t).ln_1p(),
            false => 2.0 * t.ln(),
        }
    }

    /// P(T > |z|).
    fn tail(&self, z: f64) -> f64 {
        let nu = self.degrees;
        let t = z.abs() / nu.sqrt();
        if t >= FAR {
            return (-nu * t.ln() - self.log_far()).exp();
        }
        let square = t * t;
        if square < 1.0 {
            0.5 * beta_i_complement(0.5, 0.5 * nu, square / (1.0 + square))
        } else {
            0.5 * beta_i(0.5 * nu, 0.5, 1.0 / (1.0 + square))
        }
    }

    /// Far out the tail is t^(−ν) divided by e to this, where t = z/√ν.
    fn log_far(&self) -> f64 {
        let nu = self.degrees;
        nu.ln() + ln_beta(0.5 * nu, 0.5)
    }

    /// The location and scale of highest likelihood for these degrees of freedom,
    /// looked for from these; none where the scale falls below `least` and on to 0.
    fn settled(self, points: &PointStats, least: f64) -> Option<StudentT> {
        let nu = self.degrees;
        let mut own = self;
        let mut moved = f64::INFINITY;
        for _ in 0..3000 {
            // What the numbers weigh, and their moments about the last location.
            let (mut weight, mut first, mut second) = (0.0, 0.0, 0.0);
            for (x, w) in points.iter() {
                let z = own.standard(x);
                let pull = w * (nu + 1.0) / (nu + z * z);
                weight += pull;
                first += pull * z;
                second += pull * z * z;
            }
            let shift = first / weight;
            // Dividing by the pulled weight converges faster.
            let stretch = (second / weight - shift * shift).sqrt();
            own.location += own.scale * shift;
            own.scale *= stretch;
            moved = shift.abs() + (stretch - 1.0).abs();
            if moved < 1e-13 || !(own.in_range() && own.scale > least) {
                break;
            }
        }
        (moved < 1e-9 && own.in_range() && own.scale > least).then_some(own)
    }

    /// Location and scale for these degrees of freedom, the scale kept from
    /// falling below `least`.
    fn no_narrower(mut self, points: &PointStats, least: f64) -> StudentT {
        let nu = self.degrees;
        for _ in 0..500 {
            let pull = |x: f64| (nu + 1.0) / (nu + self.standard(x).powi(2));
            let weight = points.sum(pull);
            let shift = points.sum(|x| pull(x) * (x - self.location)) / weight;
            let location = self.location + shift;
            let scatter = points.sum(|x| pull(x) * (x - location) * (x - location));
            let scale = (scatter / weight).sqrt().max(least);
            let moved = (shift / scale).abs() + (scale / self.scale).ln().abs();
            (self.location, self.scale) = (location, scale);
            if moved < 1e-10 {
                break;
            }
        }
        self
    }

    /// Minus twice the derivative by ν of the mean log-likelihood.
    fn slope(&self, points: &PointStats) -> f64 {
        let nu = self.degrees;
        // 1/ν is taken out of both parts, which would cancel where ν is large.
        let own = points.sum(|x| {
            let t = self.standard(x).powi(2) / nu;
            t.ln_1p() - (t + t / nu) / (1.0 + t)
        });
        let shape = match nu > 1e3 {
            true => 0.5 / (nu * nu) - 0.25 / nu.powi(4),
            false => digamma(0.5 * (nu + 1.0)) - digamma(0.5 * nu) - 1.0 / nu,
        };
        own / points.weight() - shape
    }
}

/// Beyond so many √ν only the leading term of the tails is left.
const FAR: f64 = 1e8;

impl Univariate for StudentT {
    fn log_density(&self, x: f64) -> f64 {
        if !x.is_finite() {
            return f64::NEG_INFINITY;
        }
        self.log_peak() - 0.5 * (self.degrees + 1.0) * self.log_stretch(self.standard(x))
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
        let log_distance = -(tail.ln() + self.log_far()) / nu;
        let size = if log_distance > FAR.ln() {
            nu.sqrt() * log_distance.exp()
        } else if tail < 0.25 {
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
        // About their median, so that an offset costs no digits.
        let median = points.quantile(0.5);
        let shifted = PointStats {
            values: points.values.iter().map(|x| x - median).collect(),
            weights: points.weights.clone(),
        };
        let vanishes = || Error::numeric("the scale of the numbers vanishes");
        let spread = 0.5 * (points.quantile(0.75) - points.quantile(0.25));
        // The middle half of the numbers is never so much wider than the scale.
        let (scale, least) = match spread > 0.0 {
            true => (spread, 1e-6 * spread),
            false => (points.variance().sqrt(), 1e-12 * points.variance().sqrt()),
        };
        let start = StudentT {
            location: 0.0,
            scale,
            degrees: 4.0,
        };
        let at = |degrees: f64, near: &StudentT| {
            let next = StudentT {
                degrees,
                ..near.clone()
            };
            next.settled(&shifted, least)
        };
        // Where equal numbers draw the scale to 0, more degrees are wanted.
        let rise = |own: &Option<StudentT>| match own {
            Some(own) => own.slope(&shifted),
            None => f64::NEG_INFINITY,
        };
        let mut best = at(4.0, &start).ok_or_else(vanishes)?;
        // From 4 outwards, so that every search begins close to its end.
        let factor = if best.slope(&shifted) > 0.0 { 0.5 } else { 2.0 };
        loop {
            let last = best.degrees;
            let next = (last * factor).clamp(Self::LEAST_DEGREES, Self::MOST_DEGREES);
            if next == last {
                break;
            }
            let beyond = at(next, &best);
            if (rise(&beyond) > 0.0) == (factor > 1.0) {
                let (low, high) = (last.min(next).ln(), last.max(next).ln());
                let root = increasing_root(low, high, |log| rise(&at(log.exp(), &best)));
                best = at(root.exp(), &best).ok_or_else(vanishes)?;
                // At the edge of where the scale vanishes there is no maximum.
                if best.slope(&shifted).abs() > 1e-6 {
                    return Err(vanishes());
                }
                break;
            }
            best = beyond.ok_or_else(vanishes)?;
        }
        best.location += median;
        match best.in_range() {
            true => Ok(best),
            false => Err(vanishes()),
        }
    }

    /// The likeliest of those that are not narrower, among a few degrees of
    /// freedom.
    fn narrow(points: &PointStats, wide: &Self) -> Option<Self> {
        let least = NARROW.sqrt() * wide.scale;
        let tried = [0.5, 1.0, 2.0, 4.0, 16.0, 64.0].map(|degrees| {
            let start = StudentT {
                location: points.quantile(0.5),
                scale: points.variance().sqrt().max(least),
                degrees,
            };
            start.no_narrower(points, least)
        });
        let likelihood = |own: &StudentT| own.log_likelihood_of(points);
        let better = |a: &StudentT, b: &StudentT| likelihood(a).total_cmp(&likelihood(b));
        tried.into_iter().filter(StudentT::in_range).max_by(better)
    }

    fn log_likelihood_of(&self, points: &PointStats) -> f64 {
        let nu = self.degrees;
        let stretch = match nu < 1e4 {
            true => {
                let unit = 1.0 / (self.scale * nu.sqrt());
                points.sum_of_ln_1p(|x| {
                    let t = (x - self.location) * unit;
                    t * t
                })
            }
            // Where 1 + z²/ν would round off what ν brings back.
            false => points.sum(|x| self.log_stretch(self.standard(x))),
        };
        points.weight() * self.log_peak() - 0.5 * (nu + 1.0) * stretch
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maximum_beside_a_scale_that_vanishes_is_found() {
        // Below 2/7 degrees of freedom the likelihood about 0 has no limit. The
        // maximum is SciPy's, by Nelder and Mead on its log-density.
        let rows = [0.3, -2.5, -2.5, 1.1, 0.0, 0.0, 0.2, 90.0, 90.0];
        let own = StudentT::estimate(&PointStats::new(rows.map(|x| (x, 1.0)))).unwrap();
        assert!((own.degrees - 0.339_627).abs() < 1e-5, "{own:?}");
        assert!((own.scale - 0.234_500).abs() < 1e-5, "{own:?}");
        assert!((own.location - 0.106_834).abs() < 1e-5, "{own:?}");
    }
}
