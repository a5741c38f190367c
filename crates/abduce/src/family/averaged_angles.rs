//! A finite mixture of von Mises distributions: what is predicted of an angle when
//! direction and concentration are known only as weighted points.
//!
//! Its mean is the mean direction, that of Σ w A(κ) (cos μ, sin μ), and the circle
//! is cut open opposite of it, so that no interval is longer than a turn.

use super::univariate::{best_of, quantile_between};
use super::{Univariate, VonMises, draw_index, turned};
use crate::kernel::quadrature::integrate;
use crate::kernel::special::{bessel_ratio, von_mises_cdf};
use rand::Rng;
use std::f64::consts::{PI, TAU};

/// Von Mises distributions with their weights, which sum to 1.
///
/// ```
/// use abduce::family::{AveragedAngles, Univariate, VonMises};
/// // Two directions on either side of the cut at π.
/// let parts = [3.0, -3.0].map(|d| (1.0, VonMises { direction: d, concentration: 9.0 }));
/// let next = AveragedAngles::new(parts).unwrap();
/// assert!((next.mean().unwrap().abs() - std::f64::consts::PI).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct AveragedAngles {
    weights: Vec<f64>,
    parts: Vec<VonMises>,
    /// The mean direction, from −π to π.
    direction: f64,
}

impl AveragedAngles {
    /// A mixture; weights are brought to the sum 1, and parts of no weight
    /// are left out. At least one must have weight.
    pub fn new(parts: impl IntoIterator<Item = (f64, VonMises)>) -> Option<AveragedAngles> {
        let weighs = |(weight, _): &(f64, VonMises)| *weight > 0.0;
        let (weights, parts): (Vec<f64>, Vec<VonMises>) = parts.into_iter().filter(weighs).unzip();
        let total: f64 = weights.iter().sum();
        if parts.is_empty() || !total.is_finite() {
            return None;
        }
        let weights: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        let (mut sine, mut cosine) = (0.0, 0.0);
        for (weight, part) in weights.iter().zip(&parts) {
            let length = weight * bessel_ratio(part.concentration);
            sine += length * part.direction.sin();
            cosine += length * part.direction.cos();
        }
        Some(AveragedAngles {
            weights,
            parts,
            direction: sine.atan2(cosine),
        })
    }

    fn sum(&self, f: impl Fn(&VonMises) -> f64) -> f64 {
        let terms = self.weights.iter().zip(&self.parts);
        terms.map(|(weight, part)| weight * f(part)).sum()
    }

    /// The probability of the arc from one angle up to another.
    fn arc(&self, from: f64, to: f64) -> f64 {
        // A distribution function that goes on by 1 with every turn.
        let onwards = |part: &VonMises, x: f64| {
            let angle = x - part.direction;
            let turns = (angle / TAU).round();
            turns + von_mises_cdf(turned(angle), part.concentration)
        };
        let share = self.sum(|part| onwards(part, to) - onwards(part, from));
        share.clamp(0.0, 1.0)
    }
}

impl Univariate for AveragedAngles {
    fn log_density(&self, x: f64) -> f64 {
        match x.is_finite() {
            true => self.sum(|part| part.density(x)).ln(),
            false => f64::NEG_INFINITY,
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        let (low, high) = self.support();
        self.arc(low, x.clamp(low, high))
    }

    fn survival(&self, x: f64) -> f64 {
        let (low, high) = self.support();
        self.arc(x.clamp(low, high), high)
    }

    fn support(&self) -> (f64, f64) {
        (self.direction - PI, self.direction + PI)
    }

    fn quantile(&self, p: f64) -> f64 {
        let (low, high) = self.support();
        match p {
            p if p <= 0.0 => low,
            p if p >= 1.0 => high,
            p => quantile_between(self, p, low, high),
        }
    }

    /// The mean direction.
    fn mean(&self) -> Option<f64> {
        Some(self.direction)
    }

    /// About the mean direction, on the circle cut open opposite of it.
    fn variance(&self) -> Option<f64> {
        let (low, high) = self.support();
        let square = |x: f64| (x - self.direction).powi(2) * self.density(x);
        // Where a narrow peak may be.
        let levels = [0.001, 0.1, 0.5, 0.9, 0.999].map(|p| self.quantile(p));
        Some(integrate(square, low, high, &levels, 1e-10).value)
    }

    /// The best of the parts' modes and of many quantiles.
    fn mode(&self) -> f64 {
        let step = (self.parts.len() / 64).max(1);
        let modes = self.parts.iter().step_by(step).map(VonMises::mode);
        let quantiles = (1..64).map(|i| self.quantile(f64::from(i) / 64.0));
        best_of(self, modes.chain(quantiles))
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        let part = draw_index(&self.weights, rng);
        self.direction + turned(self.parts[part].draw(rng) - self.direction)
    }
}
