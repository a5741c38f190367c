//! Where a log-density is highest, and how it curves there.

use crate::kernel::linear::{cholesky, invert_lower};
use crate::{Error, Result};

/// The highest point found by Nelder and Mead's simplex, started three times.
pub(super) fn highest(f: &dyn Fn(&[f64]) -> f64, start: &[f64]) -> Vec<f64> {
    let mut best = start.to_vec();
    for _ in 0..3 {
        best = climb(f, &best);
    }
    best
}

fn climb(f: &dyn Fn(&[f64]) -> f64, start: &[f64]) -> Vec<f64> {
    let order = start.len();
    let mut simplex: Vec<(f64, Vec<f64>)> = (0..=order)
        .map(|i| {
            let mut place = start.to_vec();
            if i > 0 {
                place[i - 1] += 0.1 * (1.0 + 0.1 * place[i - 1].abs());
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
        let centre: Vec<f64> = (0..order)
            .map(|k| simplex[..order].iter().map(|own| own.1[k]).sum::<f64>() / order as f64)
            .collect();
        let along = |t: f64| -> (f64, Vec<f64>) {
            let worst = &simplex[order].1;
            let place: Vec<f64> = centre
                .iter()
                .zip(worst)
                .map(|(c, w)| c + t * (c - w))
                .collect();
            (f(&place), place)
        };
        let reflected = along(1.0);
        let next = if reflected.0 > top {
            let expanded = along(2.0);
            if expanded.0 > reflected.0 {
                expanded
            } else {
                reflected
            }
        } else if reflected.0 > simplex[order - 1].0 {
            reflected
        } else {
            let contracted = along(if reflected.0 > bottom { 0.5 } else { -0.5 });
            if contracted.0 <= bottom.max(reflected.0) {
                let best = simplex[0].1.clone();
                for own in &mut simplex[1..] {
                    let place: Vec<f64> = own
                        .1
                        .iter()
                        .zip(&best)
                        .map(|(x, b)| b + 0.5 * (x - b))
                        .collect();
                    *own = (f(&place), place);
                }
                continue;
            }
            contracted
        };
        simplex[order] = next;
    }
    simplex.sort_by(|a, b| b.0.total_cmp(&a.0));
    simplex.swap_remove(0).1
}

/// The Cholesky factor of the inverse of minus the Hessian at a mode.
pub(super) fn spread(f: &dyn Fn(&[f64]) -> f64, centre: &[f64]) -> Result<Vec<f64>> {
    let order = centre.len();
    // A step that lowers the log-density by about 1e-3 is neither noise nor tail.
    let peak = f(centre);
    let step = |k: usize| {
        let mut step = 1e-4;
        for _ in 0..60 {
            let mut place = centre.to_vec();
            place[k] += step;
            let fall = peak - f(&place);
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
    let at = |moves: &[(usize, f64)]| {
        let mut place = centre.to_vec();
        moves.iter().for_each(|(k, by)| place[*k] += by);
        f(&place)
    };
    let mut curvature = vec![0.0; order * order];
    for i in 0..order {
        let s = steps[i];
        curvature[i * order + i] = (2.0 * peak - at(&[(i, s)]) - at(&[(i, -s)])) / (s * s);
        for j in 0..i {
            let t = steps[j];
            let mixed = at(&[(i, s), (j, t)]) + at(&[(i, -s), (j, -t)])
                - at(&[(i, s), (j, -t)])
                - at(&[(i, -s), (j, t)]);
            curvature[i * order + j] = -mixed / (4.0 * s * t);
            curvature[j * order + i] = curvature[i * order + j];
        }
    }
    for i in 0..order {
        let least = 1e-4;
        let own = curvature[i * order + i];
        if !(own > least && own.is_finite()) {
            curvature[i * order + i] = least;
        }
    }
    let mut damping = 0.0;
    for _ in 0..40 {
        let mut damped = curvature.clone();
        (0..order).for_each(|i| damped[i * order + i] *= 1.0 + damping);
        if let Ok(lower) = cholesky(&damped, order) {
            let inverse = invert_lower(&lower, order);
            // (L Lᵀ)⁻¹ = L⁻ᵀ L⁻¹, whose own factor is what is wanted.
            let mut covariance = vec![0.0; order * order];
            for i in 0..order {
                for j in 0..order {
                    covariance[j * order + i] = (0..order)
                        .map(|k| inverse[i * order + k] * inverse[j * order + k])
                        .sum();
                }
            }
            if let Ok(factor) = cholesky(&covariance, order) {
                return Ok(factor);
            }
        }
        damping = if damping == 0.0 { 1e-3 } else { damping * 2.0 };
    }
    let flat = Error::numeric("the posterior is flat: its curvature cannot be found");
    Err(flat.with_hint("see more rows, or give proper priors"))
}
