//! The von Mises distribution of an angle in radians:
//! p(x) = exp(κ cos(x − μ)) / 2π I₀(κ).
//!
//! The estimate of μ is the direction of the sum of the unit vectors, and κ solves I₁(κ)/I₀(κ) =
//! R̄, their mean length (Mardia & Jupp 2000). 1 − R̄ is summed separately, since R̄ has no
//! digits left where angles are close to each other.

use crate::family::continuous::von_mises_stats::one_less_cosine;
use crate::family::scalar::NARROW;
use crate::family::{
    ExponentialFamily, Scalar, Scale, Stats, Unconstrained, Univariate, VonMisesStats, nothing_seen,
};
use crate::kernel::roots::increasing_root;
use crate::kernel::special::{
    LN_TAU, bessel_ratio, inverse_bessel_ratio, ln_bessel_i0, ln_scaled_i0, ratio_and_rest,
    von_mises_cdf, von_mises_variance,
};
use crate::{Error, Result};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use std::f64::consts::{PI, TAU};

/// A von Mises distribution with its direction and concentration. The density has period 2π;
/// draws, quantiles and the distribution function are on the circle cut open opposite of the
/// direction.
///
/// ```
/// use abduce::family::{Univariate, VonMises};
/// let wind = VonMises { direction: 1.0, concentration: 2.0 };
/// let full_turn = 1.0 + std::f64::consts::TAU;
/// assert!((wind.log_density(1.0) - wind.log_density(full_turn)).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VonMises {
    /// The mean direction μ, from −π to π.
    pub direction: f64,
    /// The concentration κ; 0 is uniform.
    pub concentration: f64,
}

impl VonMises {
    /// A von Mises distribution; the direction is turned to between −π and π.
    ///
    /// # Errors
    /// If the direction is not finite or the concentration negative.
    pub fn new(direction: f64, concentration: f64) -> Result<VonMises> {
        let direction = if direction.is_finite() {
            turned(direction)
        } else {
            direction
        };
        let angle = VonMises {
            direction,
            concentration,
        };
        if angle.in_range() {
            Ok(angle)
        } else {
            Err(Error::parameter(format!(
                "a von Mises distribution needs a finite direction and a concentration of 0 or \
                 more, not {direction} and {concentration}"
            )))
        }
    }
}

/// The same angle, between −π and π.
pub(crate) fn turned(angle: f64) -> f64 {
    let turned = angle - TAU * (angle / TAU).round();
    turned.clamp(-PI, PI)
}

impl Univariate for VonMises {
    fn log_density(&self, x: f64) -> f64 {
        if !x.is_finite() {
            return f64::NEG_INFINITY;
        }
        let k = self.concentration;
        -k * one_less_cosine(x - self.direction) - LN_TAU - ln_scaled_i0(k)
    }

    fn cdf(&self, x: f64) -> f64 {
        match x - self.direction {
            angle if angle <= -PI => 0.0,
            angle if angle >= PI => 1.0,
            angle => von_mises_cdf(angle, self.concentration),
        }
    }

    fn survival(&self, x: f64) -> f64 {
        self.cdf(2.0 * self.direction - x)
    }

    fn support(&self) -> (f64, f64) {
        (self.direction - PI, self.direction + PI)
    }

    fn mean(&self) -> Option<f64> {
        Some(self.direction)
    }

    /// About the direction, on the circle cut open opposite of it.
    fn variance(&self) -> Option<f64> {
        Some(von_mises_variance(self.concentration))
    }

    fn mode(&self) -> f64 {
        self.direction
    }

    fn entropy(&self) -> f64 {
        let k = self.concentration;
        LN_TAU + ln_scaled_i0(k) + k * ratio_and_rest(k).1
    }

    fn kl(&self, other: &Self) -> f64 {
        let (k, l) = (self.concentration, other.concentration);
        let turn = one_less_cosine(self.direction - other.direction);
        let (ratio, rest) = ratio_and_rest(k);
        let spread = (l - k) * rest + l * ratio * turn;
        (ln_scaled_i0(l) - ln_scaled_i0(k) + spread).max(0.0)
    }

    fn quantile(&self, p: f64) -> f64 {
        let (low, high) = self.support();
        match p {
            p if p <= 0.0 => low,
            p if p >= 1.0 => high,
            p if p <= 0.5 => increasing_root(low, self.direction, |x| self.cdf(x) - p),
            p => increasing_root(self.direction, high, |x| (1.0 - p) - self.survival(x)),
        }
    }

    /// By rejection from a wrapped Cauchy (Best & Fisher 1979); from a Gaussian where the
    /// concentration is so large that they agree.
    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        let k = self.concentration;
        let angle = if k < 1e-8 {
            TAU * (rng.random::<f64>() - 0.5)
        } else if k > 1e8 {
            rng.sample::<f64, _>(rand_distr::StandardNormal) / k.sqrt()
        } else {
            let t = 1.0 + (1.0 + 4.0 * k * k).sqrt();
            let r = (t - (2.0 * t).sqrt()) / (2.0 * k);
            let s = (1.0 + r * r) / (2.0 * r);
            loop {
                let z = (PI * rng.random::<f64>()).cos();
                let f = ((1.0 + s * z) / (s + z)).clamp(-1.0, 1.0);
                let c = k * (s - f);
                let u: f64 = rng.random();
                if c * (2.0 - c) > u || (c / u).ln() + 1.0 >= c {
                    let sign = if rng.random::<bool>() { 1.0 } else { -1.0 };
                    break sign * f.acos();
                }
            }
        };
        self.direction + angle
    }
}

impl Scalar for VonMises {
    const NAME: &'static str = "von-mises";
    const PARAMETERS: usize = 2;
    const HAS_UNITS: bool = false;
    type Stats = VonMisesStats;

    fn supports(x: f64) -> bool {
        x.is_finite()
    }

    fn observe_values(cells: &mut dyn Iterator<Item = (f64, f64)>, stats: &mut VonMisesStats) {
        stats.merge(&VonMisesStats::new(cells));
    }

    fn estimate(stats: &VonMisesStats) -> Result<Self> {
        if stats.weight <= 0.0 {
            return Err(nothing_seen());
        }
        let rest = stats.shortfall / stats.weight;
        // Different angles differ at least by rounding.
        if rest.is_nan() || rest <= f64::EPSILON * f64::EPSILON {
            return Err(Error::numeric("the angles are all the same"));
        }
        // Where the vectors nearly cancel, their sum has more digits.
        let length = if rest < 0.5 {
            1.0 - rest
        } else {
            stats.length() / stats.weight
        };
        let rest = if rest < 0.5 { rest } else { 1.0 - length };
        VonMises::new(stats.direction(), inverse_bessel_ratio(length, rest))
    }

    fn narrow(stats: &VonMisesStats, wide: &Self) -> Option<Self> {
        Some(VonMises {
            direction: stats.direction(),
            concentration: wide.concentration / NARROW,
        })
    }

    fn log_likelihood_of(&self, stats: &VonMisesStats) -> f64 {
        let k = self.concentration;
        let turn = one_less_cosine(stats.direction() - self.direction);
        -k * (stats.shortfall + stats.length() * turn) - stats.weight * (LN_TAU + ln_scaled_i0(k))
    }

    fn wide(scale: &Scale) -> Self {
        VonMises {
            direction: turned(scale.mean),
            concentration: (1.0 / scale.variance).clamp(0.0, 1e6),
        }
    }

    fn expected(&self, rows: f64) -> VonMisesStats {
        let (ratio, rest) = ratio_and_rest(self.concentration);
        VonMisesStats {
            weight: rows,
            cosines: rows * ratio * self.direction.cos(),
            sines: rows * ratio * self.direction.sin(),
            shortfall: rows * rest,
        }
    }

    fn in_range(&self) -> bool {
        self.direction.abs() <= PI && self.concentration >= 0.0 && self.concentration.is_finite()
    }

    fn are_valid(stats: &VonMisesStats) -> bool {
        stats.weight >= 0.0
            && stats.length() <= stats.weight * (1.0 + 1e-9)
            && stats.shortfall >= 0.0
    }
}

impl Unconstrained for VonMises {}

#[cfg(test)]
impl crate::family::laws::Examples for VonMises {
    fn examples() -> Vec<Self> {
        [(0.0, 1.0), (2.9, 0.3), (-1.0, 50.0)]
            .map(|(direction, concentration)| VonMises {
                direction,
                concentration,
            })
            .to_vec()
    }
}

impl ExponentialFamily for VonMises {
    fn natural(&self) -> Vec<f64> {
        let (sine, cosine) = self.direction.sin_cos();
        vec![self.concentration * cosine, self.concentration * sine]
    }

    fn from_natural(&self, natural: &[f64]) -> Result<Self> {
        VonMises::new(natural[1].atan2(natural[0]), natural[0].hypot(natural[1]))
    }

    fn log_partition(&self, natural: &[f64]) -> f64 {
        let k = natural[0].hypot(natural[1]);
        LN_TAU + ln_bessel_i0(k)
    }

    fn sufficient(&self, x: &[f64]) -> Vec<f64> {
        vec![x[0].cos(), x[0].sin()]
    }

    fn log_base(&self, _: &[f64]) -> f64 {
        0.0
    }

    fn expected_sufficient(&self) -> Vec<f64> {
        let (sine, cosine) = self.direction.sin_cos();
        let length = bessel_ratio(self.concentration);
        vec![length * cosine, length * sine]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_close_to_each_other_keep_the_digits_of_their_concentration() {
        // Of c ± d the mean length is cos d, and κ = 1/2s + 1/4 + O(s) has the ratio
        // 1 − s (Abramowitz & Stegun 9.7.1).
        for d in [1e-3_f64, 1e-6, 1e-8] {
            for c in [1.0_f64, 3.1, -1.5] {
                let (low, high) = (c - d, c + d);
                let mut parts = VonMisesStats::default();
                for _ in 0..1000 {
                    parts.merge(&VonMisesStats::new([(low, 1.0)]));
                    parts.merge(&VonMisesStats::new([(high, 1.0)]));
                }
                let whole = VonMisesStats::new([(low, 1000.0), (high, 1000.0)]);
                let s = one_less_cosine(0.5 * (high - low));
                let exact = 0.5 / s + 0.25;
                for stats in [whole, parts] {
                    let fitted = VonMises::estimate(&stats).unwrap();
                    let off = fitted.concentration / exact - 1.0;
                    // The directions of the parts are rounded, by a share of the distance.
                    assert!(off.abs() < 1e-14 / d + s * s, "{c} {d}: {fitted:?} {exact}");
                }
            }
        }
    }

    #[test]
    fn statistics_of_older_files_are_read() {
        let old = r#"{"weight": 3.0, "cosines": 1.2, "sines": -1.6}"#;
        let read: VonMisesStats = serde_json::from_str(old).unwrap();
        assert!((read.shortfall - 1.0).abs() < 1e-14);
    }
}
