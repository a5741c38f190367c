//! Whether a posterior of several parameters integrates: its density in the unbounded coordinates
//! must fall towards every end. For each pair of parameters one is followed outwards while the
//! other maximises the density, so that a ridge that leads out is found too; along it the density
//! is multiplied by the ridge's width, as in Laplace's method.

use super::Parameter;
use super::parameter::Chart;
use crate::family::highest_between;

/// The end of a parameter's range towards which the posterior does not fall.
pub(super) fn open_end(
    parameters: &[Parameter],
    charts: &[Chart],
    log_density: &dyn Fn(&[f64]) -> f64,
    centre: &[f64],
) -> Option<String> {
    let at = |k: usize, u: f64| {
        let mut place = centre.to_vec();
        place[k] = u;
        log_density(&place)
    };
    for (k, (parameter, chart)) in parameters.iter().zip(charts).enumerate() {
        if parameter.is_angle() {
            continue;
        }
        for upwards in [false, true] {
            // The search for the maximum diverged.
            let is_there = if upwards {
                centre[k] >= chart.limits().1
            } else {
                centre[k] <= chart.limits().0
            };
            let straight = chart.outwards(centre[k], upwards);
            let grows = straight.is_some_and(|places| {
                let [near, far] = places.map(|u| at(k, u));
                far > f64::NEG_INFINITY && far >= near - 1e-3
            });
            let leads_out = || {
                let ridge = chart.along_ridge(centre[k], upwards);
                let other = (centre.len() == 2).then(|| 1 - k);
                ridge.zip(other).is_some_and(|([near, far], other)| {
                    let height = |u: f64| {
                        let across = |v: f64| {
                            let mut place = [v; 2];
                            place[k] = u;
                            log_density(&place)
                        };
                        height_of_ridge(&across, charts[other].limits())
                    };
                    let (near, far) = (height(near), height(far));
                    near > f64::NEG_INFINITY && far >= near - 1e-6
                })
            };
            if is_there || grows || leads_out() {
                let (low, high) = chart.ends();
                let end = match if upwards { high } else { low } {
                    f64::INFINITY => "infinity".into(),
                    f64::NEG_INFINITY => "minus infinity".into(),
                    end => end.to_string(),
                };
                return Some(format!("{} towards {end}", parameter.name));
            }
        }
    }
    None
}

impl Chart {
    /// Two coordinates far out on one side, the nearer first.
    fn outwards(self, centre: f64, upwards: bool) -> Option<[f64; 2]> {
        let (low, high) = self.limits();
        let limit = if upwards { high - centre } else { centre - low };
        let sign = if upwards { 1.0 } else { -1.0 };
        // Close to an end other than 0 a parameter has few digits.
        let furthest = limit.min(300.0);
        (limit > 4.0).then(|| [0.5, 1.0].map(|share| centre + sign * share * furthest))
    }

    /// Two coordinates so far out that Laplace's method holds for a ridge, but not so far that it
    /// is narrower than the distance between two numbers.
    fn along_ridge(self, centre: f64, upwards: bool) -> Option<[f64; 2]> {
        let sign = if upwards { 1.0 } else { -1.0 };
        let places = [15.0, 30.0].map(|d| centre + sign * d);
        let (low, high) = self.limits();
        let is_line = matches!(self, Chart::Line { .. });
        (!is_line && low < places[1] && places[1] < high).then_some(places)
    }
}

/// The maximum of the log-density across a ridge, plus the logarithm of the ridge's width where
/// it has fallen by a half.
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
