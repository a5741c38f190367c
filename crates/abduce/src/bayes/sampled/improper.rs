//! Whether a posterior of several parameters integrates: its density in the
//! unbounded coordinates must fall towards every end. Of two parameters the one
//! is followed outwards with the other where the density is highest, so that a
//! ridge that leads out is found too; along it the density counts with the
//! ridge's width, as in Laplace's method.

use super::{Domain, Parameter};
use crate::family::highest_between;
use std::f64::consts::PI;

/// The end of a parameter's range towards which the posterior does not fall.
pub(super) fn open_end(
    parameters: &[Parameter],
    log_density: &dyn Fn(&[f64]) -> f64,
    centre: &[f64],
) -> Option<String> {
    let at = |k: usize, u: f64| {
        let mut place = centre.to_vec();
        place[k] = u;
        log_density(&place)
    };
    for (k, parameter) in parameters.iter().enumerate() {
        for upwards in [false, true] {
            // The search for the centre ran away.
            let is_there = match upwards {
                true => centre[k] >= parameter.limits().1,
                false => centre[k] <= parameter.limits().0,
            };
            let straight = parameter.outwards(centre[k], upwards);
            let grows = straight.is_some_and(|[near, far]| {
                let [near, far] = [near, far].map(|(u, log_width)| at(k, u) + log_width);
                far > f64::NEG_INFINITY && far >= near - 1e-3
            });
            let leads_out = || {
                let ridge = parameter.along_ridge(centre[k], upwards);
                let other = (centre.len() == 2).then(|| 1 - k);
                ridge.zip(other).is_some_and(|([near, far], other)| {
                    let height = |u: f64| {
                        let across = |v: f64| {
                            let mut place = [v; 2];
                            place[k] = u;
                            log_density(&place)
                        };
                        height_of_ridge(&across, parameters[other].limits())
                    };
                    let (near, far) = (height(near), height(far));
                    near > f64::NEG_INFINITY && far >= near - 1e-6
                })
            };
            if is_there || grows || leads_out() {
                let end = match parameter.domain {
                    Domain::Above(low) if !upwards => format!("{low}"),
                    Domain::Share => f64::from(u8::from(upwards)).to_string(),
                    _ if upwards => "infinity".into(),
                    _ => "minus infinity".into(),
                };
                return Some(format!("{} towards {end}", parameter.name));
            }
        }
    }
    None
}

impl Parameter {
    /// Two coordinates far out on one side, the nearer first, each with the
    /// logarithm of what its density is multiplied by so that an integrable
    /// one falls.
    fn outwards(&self, centre: f64, upwards: bool) -> Option<[(f64, f64); 2]> {
        let sign = if upwards { 1.0 } else { -1.0 };
        match self.domain {
            Domain::Anywhere { .. } => Some([1e50_f64, 1e100].map(|d| (sign * d, d.ln()))),
            Domain::Angle(_) => None,
            Domain::Above(_) => {
                let places = [150.0, 300.0].map(|d| (centre + sign * d).clamp(-700.0, 700.0));
                (places[0] != places[1]).then(|| places.map(|u| (u, 0.0)))
            }
            // Next to 1 a share has few digits.
            Domain::Share if upwards => {
                let places = [0.5 * (centre.max(0.0) + 34.0), 34.0];
                (centre < 30.0).then(|| places.map(|u| (u, 0.0)))
            }
            Domain::Share => Some([150.0, 300.0].map(|d| (centre - d, 0.0))),
        }
    }

    /// Two coordinates so far out that a ridge is what Laplace's method takes
    /// it for, and not yet so narrow that it is lost between two numbers.
    fn along_ridge(&self, centre: f64, upwards: bool) -> Option<[f64; 2]> {
        let sign = if upwards { 1.0 } else { -1.0 };
        let places = [15.0, 30.0].map(|d| centre + sign * d);
        match self.domain {
            Domain::Above(_) => Some(places),
            Domain::Share => (places[1].abs() < 34.0).then_some(places),
            Domain::Anywhere { .. } | Domain::Angle(_) => None,
        }
    }

    /// Coordinates between which everything of interest lies.
    fn limits(&self) -> (f64, f64) {
        match self.domain {
            Domain::Anywhere { .. } => (-1e12, 1e12),
            Domain::Above(_) => (-700.0, 700.0),
            Domain::Share => (-700.0, 34.0),
            Domain::Angle(_) => (-PI - 1e-9, PI + 1e-9),
        }
    }
}

/// The highest log-density across a ridge, plus the logarithm of the ridge's
/// width where it has fallen by a half.
fn height_of_ridge(across: &dyn Fn(f64) -> f64, (low, high): (f64, f64)) -> f64 {
    let top = highest_between(low, high, across);
    let height = across(top);
    if height == f64::NEG_INFINITY {
        return height;
    }
    let reach = |sign: f64| {
        let mut by = f64::EPSILON * top.abs().max(1e-3);
        while by < high - low && across(top + sign * by) > height - 0.5 {
            by *= 1.25;
        }
        by
    };
    height + (reach(1.0) + reach(-1.0)).ln()
}
