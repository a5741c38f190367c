//! The range in which a prior is positive: it is evaluated at many places over all orders of
//! magnitude and near every number in it, and the ends are then found by bisection.

use super::Parameter;
use super::parameter::Chart;
use crate::{Error, Result};

/// Numbers so large or so close to 0 that a prior is 0 there by rounding only.
const BEYOND: f64 = 1e100;

/// The smallest range outside of which the prior is 0.
///
/// # Errors
/// If the prior is negative somewhere, or positive nowhere.
pub(super) fn support(parameter: &Parameter, whole: Chart) -> Result<(f64, f64)> {
    let places = places(parameter, whole);
    if let Some(x) = places.iter().find(|x| parameter.is_negative_at(**x)) {
        parameter.log_prior(*x)?;
    }
    let is_positive = |x: f64| {
        let log = parameter.log_prior(x);
        log.is_ok_and(|log| log > f64::NEG_INFINITY)
    };
    let positive = |x: &f64| is_positive(*x);
    let (Some(first), Some(last)) = (
        places.iter().position(positive),
        places.iter().rposition(positive),
    ) else {
        return Err(Error::parameter(format!(
            "the prior gives no probability to any value of {}",
            parameter.name
        )));
    };
    let breaks = parameter.breaks();
    // Of the numbers next to an end, the one written in the prior.
    let named = |x: f64| {
        let near = |cut: &&f64| (x - **cut).abs() <= 4.0 * f64::EPSILON * x.abs();
        breaks.iter().find(near).copied().unwrap_or(x)
    };
    let end = |inside: f64, outside: Option<&f64>, furthest: f64| match outside {
        Some(outside) => {
            let end = named(bisected(inside, *outside, &is_positive));
            let is_rounding = end.abs() > BEYOND || end.abs() < 1.0 / BEYOND;
            if is_rounding { furthest } else { end }
        }
        None => furthest,
    };
    let (low, high) = whole.ends();
    let before = first.checked_sub(1).and_then(|i| places.get(i));
    let low = end(places[first], before, low);
    let high = end(places[last], places.get(last + 1), high);
    if low < high {
        Ok((low, high))
    } else {
        Err(Error::parameter(format!(
            "the prior of {} is positive at {low} only: it has no density",
            parameter.name
        )))
    }
}

/// Places over the whole range, ascending: at all orders of magnitude, and at, between and next
/// to the numbers in the prior.
fn places(parameter: &Parameter, whole: Chart) -> Vec<f64> {
    let (low, high) = whole.ends();
    let (from, to) = whole.limits();
    let even = (-1000..=1000).map(|i| whole.place((0.25 * f64::from(i)).clamp(from, to)).0);
    let breaks = parameter.breaks();
    let between = breaks.windows(2).map(|pair| 0.5 * (pair[0] + pair[1]));
    let beside = breaks.iter().flat_map(|x| {
        let by = 1e-9 * x.abs().max(1e-9);
        [x - by, *x, x + by]
    });
    let mut places: Vec<f64> = even.chain(between).chain(beside).collect();
    places.retain(|x| low < *x && *x < high);
    places.sort_by(f64::total_cmp);
    places.dedup();
    places
}

/// The last place inside, on the way out.
fn bisected(mut inside: f64, mut outside: f64, is_inside: &dyn Fn(f64) -> bool) -> f64 {
    for _ in 0..200 {
        let middle = 0.5 * (inside + outside);
        if middle == inside || middle == outside {
            break;
        }
        if is_inside(middle) {
            inside = middle
        } else {
            outside = middle
        }
    }
    inside
}
