//! Standard errors of maximum-likelihood estimates: the square roots of the diagonal of the
//! inverse observed information, −∂²ℓ/∂θ² at the maximum, by numerical differences. Exponential
//! families have them in closed form, next to their estimates.

use super::report::Numbers;
use crate::kernel::linear::{cholesky, gram, invert_lower};

/// The step of the differences, in units of the conditional standard error: small compared with
/// the curvature of ℓ, large compared with its rounding.
const STEP: f64 = 0.01;

/// Standard errors with the names of their parameters, without those that are 0 or not
/// finite: an estimate at a boundary has none.
pub(super) fn named<'a>(errors: impl IntoIterator<Item = (&'a str, f64)>) -> Numbers {
    let sound = |(_, error): &(&str, f64)| *error > 0.0 && error.is_finite();
    let errors = errors.into_iter().filter(sound);
    Numbers(
        errors
            .map(|(name, error)| (name.to_string(), error))
            .collect(),
    )
}

/// Standard errors of the parameters that maximise a log-likelihood, by their names. Those at
/// a boundary have none, and are held fixed for the others.
pub(super) fn of_maximum(
    names: &[String],
    maximum: &[f64],
    log_likelihood: &dyn Fn(&[f64]) -> f64,
) -> Numbers {
    let at = |moves: &[(usize, f64)]| {
        let mut moved = maximum.to_vec();
        moves.iter().for_each(|(i, by)| moved[*i] += by);
        log_likelihood(&moved)
    };
    let top = at(&[]);
    let steps: Vec<Option<f64>> = (0..names.len())
        .map(|i| step(maximum[i], &|by| at(&[(i, by)]) - top))
        .collect();
    let free: Vec<(usize, f64)> = (0..names.len())
        .filter_map(|i| Some((i, steps[i]?)))
        .collect();
    let order = free.len();
    let mut information = vec![0.0; order * order];
    for (a, (i, h)) in free.iter().enumerate() {
        information[a * order + a] = -(at(&[(*i, *h)]) - 2.0 * top + at(&[(*i, -h)])) / (h * h);
        for (b, (j, g)) in free.iter().enumerate().take(a) {
            let corner = |s: f64, t: f64| at(&[(*i, s * h), (*j, t * g)]);
            let mixed =
                corner(1.0, 1.0) - corner(1.0, -1.0) - corner(-1.0, 1.0) + corner(-1.0, -1.0);
            let entry = -mixed / (4.0 * h * g);
            information[a * order + b] = entry;
            information[b * order + a] = entry;
        }
    }
    let Some(inverse) = inverse(&information, &free) else {
        return Numbers::default();
    };
    let errors = free.iter().zip(inverse);
    named(errors.map(|((i, _), variance)| (names[*i].as_str(), variance.sqrt())))
}

/// The step of a parameter; none at a boundary, or where ℓ does not fall on both sides.
fn step(parameter: f64, rise: &dyn Fn(f64) -> f64) -> Option<f64> {
    if !parameter.is_finite() {
        return None;
    }
    // From a first step to one that lowers ℓ by the right amount.
    let mut h = 1e-4 * parameter.abs().max(1e-4);
    for _ in 0..40 {
        let fall = -(rise(h) + rise(-h));
        if !fall.is_finite() {
            h *= 0.1;
            continue;
        }
        // Two steps away from a maximum of curvature c, ℓ falls by c h².
        let ratio = if fall > 0.0 { STEP / fall.sqrt() } else { 10.0 };
        h *= ratio.clamp(0.1, 10.0);
        if (0.5..2.0).contains(&ratio) {
            return Some(h);
        }
    }
    None
}

/// The diagonal of the inverse of the information, if it is positive definite.
fn inverse(information: &[f64], free: &[(usize, f64)]) -> Option<Vec<f64>> {
    let order = free.len();
    // In units of the steps, so that no parameter is large beside another.
    let scaled: Vec<f64> = (0..order * order)
        .map(|at| information[at] * free[at / order].1 * free[at % order].1)
        .collect();
    let factor = cholesky(&scaled, order).ok()?;
    let inverse = gram(&invert_lower(&factor, order), order);
    Some(
        (0..order)
            .map(|i| inverse[i * order + i] * free[i].1.powi(2))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numerical_hessian_is_that_of_a_gaussian() {
        // ℓ of mean m and variance v of n rows about 3 with variance 2.
        let n = 50.0;
        let log_likelihood = |x: &[f64]| {
            if x[1] > 0.0 {
                -0.5 * n * (x[1].ln() + (2.0 + (3.0 - x[0]).powi(2)) / x[1])
            } else {
                f64::NEG_INFINITY
            }
        };
        let names = ["mean".to_string(), "variance".to_string()];
        let errors = of_maximum(&names, &[3.0, 2.0], &log_likelihood);
        let expected = [
            ("mean", (2.0 / n).sqrt()),
            ("variance", 2.0 * (2.0 / n).sqrt()),
        ];
        for (name, expected) in expected {
            let error = errors.get(name).unwrap();
            assert!(
                (error / expected - 1.0).abs() < 1e-3,
                "{name}: {error} {expected}"
            );
        }
    }

    #[test]
    fn a_parameter_at_a_boundary_has_no_error_and_the_others_have() {
        let log_likelihood = |x: &[f64]| {
            if x[0] >= 0.0 {
                -x[0] - 8.0 * x[1] * x[1]
            } else {
                f64::NEG_INFINITY
            }
        };
        let names = ["share".to_string(), "place".to_string()];
        let errors = of_maximum(&names, &[0.0, 0.0], &log_likelihood);
        assert_eq!(errors.get("share"), None);
        assert!((errors.get("place").unwrap() - 0.25).abs() < 1e-6);
    }
}
