//! Modes of a log-density: where they are, and how wide the density is there.
//!
//! Location and widths are found in turn: the simplex of Nelder and Mead climbs in coordinates
//! scaled by the present widths, and the curvature at the mode, −∂²f, corrects the widths. A
//! ridge 10⁷ times as long as wide is round after a few turns.

use crate::kernel::linear::{cholesky, gram, invert_lower, log_diagonal};

/// The usual first step of a climb, in units of a mode's width.
pub(super) const STEP: f64 = 0.7;

/// A local maximum of a log-density.
pub(super) struct Mode {
    /// Where it is.
    pub(super) location: Vec<f64>,
    /// The log-density there.
    pub(super) height: f64,
    /// The Cholesky factor of the inverse of minus the Hessian, column-major.
    pub(super) factor: Vec<f64>,
}

impl Mode {
    /// The mode uphill from a point of finite density, searched for in steps of `step_length` widths.
    pub(super) fn from(f: &dyn Fn(&[f64]) -> f64, start: &[f64], step_length: f64) -> Mode {
        const TURNS: usize = 40;
        let order = start.len();
        let mut location = start.to_vec();
        let mut factor = vec![0.0; order * order];
        (0..order).for_each(|k| factor[k * order + k] = width(f, start, k));
        for _ in 0..TURNS {
            let standardized = |z: &[f64]| f(&moved(&location, &factor, z));
            let top = climb(&standardized, order, step_length);
            let wider = spread(&standardized, &top);
            let is_round = wider.iter().enumerate().all(|(i, x)| {
                let expected = if i % (order + 1) == 0 { 1.0 } else { 0.0 };
                (x - expected).abs() < 0.2
            });
            let is_there = top.iter().all(|z| z.abs() < 0.2);
            location = moved(&location, &factor, &top);
            factor = product(&factor, &wider, order);
            if is_round && is_there {
                break;
            }
        }
        Mode {
            height: f(&location),
            location,
            factor,
        }
    }

    /// The logarithm of the integral of the density around the mode, as if it were a Gaussian,
    /// up to a constant.
    pub(super) fn log_mass(&self) -> f64 {
        self.height + log_diagonal(&self.factor, self.location.len())
    }

    /// Whether a climb from a point would end at this mode: the point is not higher, and either
    /// close in units of the width or with no valley between.
    pub(super) fn attracts(&self, f: &dyn Fn(&[f64]) -> f64, place: &[f64]) -> bool {
        let order = place.len();
        let inverse = invert_lower(&self.factor, order);
        let off: Vec<f64> = place
            .iter()
            .zip(&self.location)
            .map(|(x, c)| x - c)
            .collect();
        let square: f64 = lower_times(&inverse, &off).iter().map(|z| z * z).sum();
        let floor = f(place).min(self.height) - 0.05;
        let between = |share: f64| {
            let x = off.iter().zip(&self.location).map(|(d, c)| c + share * d);
            f(&x.collect::<Vec<f64>>())
        };
        // A climb that failed ends below its start.
        f(place) < self.height + 0.5
            && (square < 0.25 || (1..8).all(|i| between(f64::from(i) / 8.0) >= floor))
    }
}

/// The maximum of a density near a mode of a similar one.
pub(super) fn maximum_near(f: &dyn Fn(&[f64]) -> f64, mode: &Mode) -> Vec<f64> {
    let mut best = mode.location.clone();
    for _ in 0..3 {
        let standardized = |z: &[f64]| f(&moved(&best, &mode.factor, z));
        let top = climb(&standardized, best.len(), STEP);
        best = moved(&best, &mode.factor, &top);
    }
    best
}

/// L x for a lower triangular L.
pub(super) fn lower_times(lower: &[f64], x: &[f64]) -> Vec<f64> {
    let order = x.len();
    let row = |i: usize| (0..=i).map(|k| lower[k * order + i] * x[k]).sum();
    (0..order).map(row).collect()
}

/// c + L z.
pub(super) fn moved(centre: &[f64], lower: &[f64], z: &[f64]) -> Vec<f64> {
    let by = lower_times(lower, z);
    centre.iter().zip(by).map(|(c, by)| c + by).collect()
}

/// The product of two lower triangular matrices.
fn product(left: &[f64], right: &[f64], order: usize) -> Vec<f64> {
    let columns = right.chunks_exact(order);
    columns
        .flat_map(|column| lower_times(left, column))
        .collect()
}

/// The distance along an axis at which the log-density has fallen by about a half.
fn width(f: &dyn Fn(&[f64]) -> f64, start: &[f64], axis: usize) -> f64 {
    let peak = f(start);
    let change = |by: f64| {
        let mut place = start.to_vec();
        place[axis] += by;
        (f(&place) - peak).abs()
    };
    let mut by = 1e-12 * (1.0 + start[axis].abs());
    while by < 0.5 && change(by) < 0.5 && change(-by) < 0.5 {
        by *= 2.0;
    }
    by
}

/// A corner of a simplex, with its log-density.
type Corner = (f64, Vec<f64>);

/// Climbs from 0 by the method of Nelder and Mead, at first in steps of this length.
fn climb(f: &dyn Fn(&[f64]) -> f64, order: usize, step_length: f64) -> Vec<f64> {
    let mut simplex: Vec<Corner> = (0..=order)
        .map(|i| {
            let mut place = vec![0.0; order];
            if i > 0 {
                place[i - 1] += step_length;
            }
            (f(&place), place)
        })
        .collect();
    for _ in 0..400 * order {
        simplex.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (top, bottom) = (simplex[0].0, simplex[order].0);
        if (top - bottom).abs() <= 1e-13 * (1.0 + top.abs()) {
            break;
        }
        match better_corner(f, &simplex) {
            Some(corner) => simplex[order] = corner,
            None => halve(f, &mut simplex),
        }
    }
    simplex.sort_by(|a, b| b.0.total_cmp(&a.0));
    simplex.swap_remove(0).1
}

/// The corner that replaces the worst one, on the line from it through the centre of the others;
/// `None` if none found there is better. The corners are sorted, the best first.
fn better_corner(f: &dyn Fn(&[f64]) -> f64, simplex: &[Corner]) -> Option<Corner> {
    let order = simplex.len() - 1;
    let (top, bottom) = (simplex[0].0, simplex[order].0);
    let mean = |k: usize| {
        let sum: f64 = simplex[..order].iter().map(|corner| corner.1[k]).sum();
        sum / order as f64
    };
    let centre: Vec<f64> = (0..order).map(mean).collect();
    let along = |t: f64| -> Corner {
        let worst = &simplex[order].1;
        let place: Vec<f64> = centre
            .iter()
            .zip(worst)
            .map(|(c, w)| c + t * (c - w))
            .collect();
        (f(&place), place)
    };
    let reflected = along(1.0);
    if reflected.0 > top {
        let expanded = along(2.0);
        return Some(if expanded.0 > reflected.0 {
            expanded
        } else {
            reflected
        });
    }
    if reflected.0 > simplex[order - 1].0 {
        return Some(reflected);
    }
    let contracted = along(if reflected.0 > bottom { 0.5 } else { -0.5 });
    (contracted.0 > bottom.max(reflected.0)).then_some(contracted)
}

/// Moves all corners but the best half of the way towards it.
fn halve(f: &dyn Fn(&[f64]) -> f64, simplex: &mut [Corner]) {
    let best = simplex[0].1.clone();
    for corner in &mut simplex[1..] {
        let place: Vec<f64> = corner
            .1
            .iter()
            .zip(&best)
            .map(|(x, b)| b + 0.5 * (x - b))
            .collect();
        *corner = (f(&place), place);
    }
}

/// The Cholesky factor of the inverse of minus the Hessian at a mode; a direction without
/// curvature is taken to be three times as wide.
fn spread(f: &dyn Fn(&[f64]) -> f64, location: &[f64]) -> Vec<f64> {
    let order = location.len();
    let at = |moves: &[(usize, f64)]| {
        let mut place = location.to_vec();
        moves.iter().for_each(|(k, by)| place[*k] += by);
        f(&place)
    };
    // A step that lowers the log-density by about 1e-2 is above rounding and below the tail.
    let peak = f(location);
    let step = |k: usize| {
        let mut step = 0.1;
        for _ in 0..60 {
            let fall = peak - at(&[(k, step)]).min(at(&[(k, -step)]));
            if fall.is_nan() || fall > 0.05 {
                step *= 0.5;
            } else if fall < 1e-3 && step < 10.0 {
                step *= 1.7;
            } else {
                break;
            }
        }
        step
    };
    let steps: Vec<f64> = (0..order).map(step).collect();
    let mut curvature = vec![0.0; order * order];
    for i in 0..order {
        let s = steps[i];
        let second_derivative = (2.0 * peak - at(&[(i, s)]) - at(&[(i, -s)])) / (s * s);
        curvature[i * order + i] = if second_derivative > 0.1 && second_derivative.is_finite() {
            second_derivative
        } else {
            0.1
        };
        for j in 0..i {
            let t = steps[j];
            let mixed = at(&[(i, s), (j, t)]) + at(&[(i, -s), (j, -t)])
                - at(&[(i, s), (j, -t)])
                - at(&[(i, -s), (j, t)]);
            let mixed = if mixed.is_finite() { mixed } else { 0.0 };
            curvature[i * order + j] = -mixed / (4.0 * s * t);
            curvature[j * order + i] = curvature[i * order + j];
        }
    }
    // Rounding on a narrow ridge may leave a matrix that is not positive definite.
    let mut damping = 0.0;
    for _ in 0..40 {
        let mut damped = curvature.clone();
        (0..order).for_each(|i| damped[i * order + i] *= 1.0 + damping);
        if let Ok(lower) = cholesky(&damped, order) {
            let covariance = gram(&invert_lower(&lower, order), order);
            if let Ok(factor) = cholesky(&covariance, order) {
                return factor;
            }
        }
        damping = if damping == 0.0 { 1e-6 } else { damping * 4.0 };
    }
    let mut round = vec![0.0; order * order];
    (0..order).for_each(|k| round[k * order + k] = curvature[k * order + k].sqrt().recip());
    round
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ridge_of_any_length_is_measured() {
        // u and v are nearly equal: their difference is determined to 1e-7, their sum to 1.
        for narrow in [1.0, 1e-3, 1e-5, 1e-7] {
            let f = |x: &[f64]| {
                let (along, across) = (x[0] + x[1] - 60.0, (x[0] - x[1] - 3.0) / narrow);
                -0.5 * (along * along + across * across)
            };
            let mode = Mode::from(&f, &[30.5, 27.5], STEP);
            let off = mode.location[0] + mode.location[1] - 60.0;
            assert!(off.abs() < 1e-3, "{narrow}: {:?}", mode.location);
            // Half the log-determinant of the covariance.
            let exact = (0.5 * narrow).ln();
            assert!((mode.log_mass() - exact).abs() < 1e-3, "{narrow}");
        }
    }

    #[test]
    fn a_point_beyond_a_valley_belongs_to_another_mode() {
        let f = |x: &[f64]| {
            let bell = |at: f64| (-50.0 * (x[0] - at).powi(2)).exp();
            (bell(0.0) + bell(3.0)).ln()
        };
        let mode = Mode::from(&f, &[0.2], STEP);
        assert!(mode.attracts(&f, &[0.3]) && !mode.attracts(&f, &[2.9]));
    }
}
