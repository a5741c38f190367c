//! A parameter that is drawn: where it can be, what is believed of it, and the
//! unbounded coordinate u in which its posterior is roughly a bell.

use super::super::Curve;
use crate::Result;
use crate::family::turned;
use std::f64::consts::{PI, TAU};

/// Where a parameter can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// At any number; u is the distance from one, in units of another.
    Anywhere {
        /// Where it is looked for.
        around: f64,
        /// How widely.
        unit: f64,
    },
    /// Above a number; u is the logarithm of the distance.
    Above(f64),
    /// Between 0 and 1; u is the logarithm of the odds.
    Share,
    /// At any direction in radians, a turn being none; u is the angle with one.
    Angle(f64),
}

/// A parameter, where it can be, and what is believed of it.
#[derive(Debug)]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// Where it can be.
    pub domain: Domain,
    /// The prior, independent of the others'.
    pub prior: Curve,
}

impl Parameter {
    /// The parameter from its coordinate, and the logarithm of the derivative.
    pub(super) fn at_coordinate(&self, u: f64) -> (f64, f64) {
        match self.domain {
            Domain::Anywhere { around, unit } => (around + unit * u, unit.ln()),
            Domain::Above(low) => (low + u.exp(), u),
            Domain::Share => {
                let share = 1.0 / (1.0 + (-u).exp());
                (share, -u.abs() - 2.0 * (-u.abs()).exp().ln_1p())
            }
            Domain::Angle(around) => match u.abs() <= PI {
                true => (around + u, 0.0),
                // Every direction has one place only.
                false => (around + u, f64::NEG_INFINITY),
            },
        }
    }

    pub(super) fn coordinate(&self, x: f64) -> f64 {
        match self.domain {
            Domain::Anywhere { around, unit } => (x - around) / unit,
            Domain::Above(0.0) if x > 0.0 => x.max(1e-300).ln(),
            // What lies outside, or at the end, starts a little inside.
            Domain::Above(low) => (x - low).max(1e-2).ln(),
            Domain::Share => {
                let x = x.clamp(1e-6, 1.0 - 1e-6);
                x.ln() - (-x).ln_1p()
            }
            Domain::Angle(around) => turned(x - around),
        }
    }

    /// The logarithm of the prior.
    ///
    /// # Errors
    /// If the prior is negative or not a number there.
    pub fn log_prior(&self, x: f64) -> Result<f64> {
        let Domain::Angle(_) = self.domain else {
            return self.prior.log_value(x);
        };
        // A direction has many names, of which a prior may know one only: that
        // of `uniform(0,6.2832)` is not below 0.
        let name = turned(x);
        let names = [name, name - TAU, name + TAU];
        names.into_iter().try_fold(f64::NEG_INFINITY, |most, name| {
            Ok(most.max(self.prior.log_value(name)?))
        })
    }

    pub(super) fn is_angle(&self) -> bool {
        matches!(self.domain, Domain::Angle(_))
    }
}
