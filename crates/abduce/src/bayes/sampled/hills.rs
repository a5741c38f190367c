//! The hills of a posterior, searched for from several places: the maximum of the likelihood, the
//! peaks of the priors, and the best of evenly scattered points.

use super::super::mode::{Hill, STRIDE};
use super::Parameter;
use super::parameter::Chart;
use super::points::Points;
use crate::Result;

/// The maximum number of hills.
const MOST_HILLS: usize = 8;

/// The maximum number of places to climb from.
const MOST_STARTS: usize = 24;

/// Hills, the one of most mass first; none where the density is 0 everywhere. `stretch` takes
/// coordinates of the charts to those of the density.
///
/// # Errors
/// If there are more parameters than points have dimensions.
pub(super) fn hills(
    parameters: &[Parameter],
    charts: &[Chart],
    log_density: &dyn Fn(&[f64]) -> f64,
    start: &[f64],
    stretch: &dyn Fn(&mut [f64]),
) -> Result<Vec<Hill>> {
    // A peak as narrow as rounding is no hill, and neither is a plain.
    let is_sound = |hill: &Hill| {
        let mut widths_are_sound = hill.summit.iter().enumerate().map(|(k, u)| {
            let width = hill.factor[k * (charts.len() + 1)];
            width < 100.0 && width > 1e-13 * (1.0 + u.abs())
        });
        hill.height > f64::NEG_INFINITY && widths_are_sound.all(|is_sound| is_sound)
    };
    let is_inside = |hill: &Hill| {
        let mut coordinates = hill.summit.iter().zip(charts);
        coordinates.all(|(u, chart)| chart.limits().0 < *u && *u < chart.limits().1)
    };
    let (mut hills, mut needles): (Vec<Hill>, Vec<Hill>) = (Vec::new(), Vec::new());
    let starts = starts(parameters, charts, log_density, start, stretch)?;
    for (i, place) in starts.into_iter().enumerate() {
        let is_known = |place: &[f64]| hills.iter().any(|hill| hill.holds(log_density, place));
        if hills.len() == MOST_HILLS || is_known(&place) {
            continue;
        }
        // A long stride may lead from a hill to a narrow peak next to it.
        let mut hill = Hill::from(log_density, &place, STRIDE);
        if !is_sound(&hill) {
            hill = Hill::from(log_density, &place, 0.1 * STRIDE);
        }
        // Only the search from the maximum of the likelihood shows mass far out, by getting
        // there.
        let is_hill = is_sound(&hill) && (i == 0 || is_inside(&hill));
        match (is_hill, is_known(&hill.summit)) {
            (true, false) => hills.push(hill),
            (true, true) => {}
            (false, _) => needles.push(hill),
        }
    }
    if hills.is_empty() {
        hills = needles;
    }
    hills.sort_by(|a, b| b.log_mass().total_cmp(&a.log_mass()));
    // Hills without mass get no draws.
    let most = hills.first().map(Hill::log_mass);
    hills.retain(|hill| most.is_some_and(|most| hill.log_mass() > most - 20.0));
    Ok(hills)
}

/// Places of positive density to climb from.
fn starts(
    parameters: &[Parameter],
    charts: &[Chart],
    log_density: &dyn Fn(&[f64]) -> f64,
    start: &[f64],
    stretch: &dyn Fn(&mut [f64]),
) -> Result<Vec<Vec<f64>>> {
    let mut all = vec![start.to_vec()];
    for (k, (parameter, chart)) in parameters.iter().zip(charts).enumerate() {
        let peaks = peaks(parameter, *chart);
        let with = |(place, u): (&Vec<f64>, &f64)| {
            let mut place = place.clone();
            place[k] = *u;
            place
        };
        let product = all
            .iter()
            .flat_map(|place| peaks.iter().map(move |u| (place, u)));
        let more: Vec<Vec<f64>> = product.map(with).collect();
        all.extend(more);
        all.truncate(MOST_STARTS - 4);
    }
    all.iter_mut().for_each(|place| stretch(place));
    let points = Points::new(start.len(), 0)?;
    let scattered = (1..=64).map(|i| {
        let coordinates = start.iter().zip(charts).enumerate();
        let place = coordinates.map(|(k, (u, chart))| {
            let (low, high) = chart.limits();
            (u + 8.0 * (points.coordinate(i, k) - 0.5)).clamp(low, high)
        });
        let place: Vec<f64> = place.collect();
        (log_density(&place), place)
    });
    let mut scattered: Vec<(f64, Vec<f64>)> = scattered.collect();
    scattered.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.extend(scattered.into_iter().take(4).map(|(_, place)| place));
    all.retain(|place| log_density(place) > f64::NEG_INFINITY);
    Ok(all)
}

/// Coordinates at which a prior is highest among its neighbours.
pub(super) fn peaks(parameter: &Parameter, chart: Chart) -> Vec<f64> {
    const MOST: usize = 6;
    let (low, high) = chart.limits();
    let even = (-400..=400).map(|i| (0.1 * f64::from(i)).clamp(low, high));
    let breaks = parameter.breaks();
    let between = breaks.windows(2).map(|pair| 0.5 * (pair[0] + pair[1]));
    let (from, to) = chart.ends();
    let named = breaks.iter().copied().chain(between);
    let named = named.filter(|x| from < *x && *x < to);
    let mut places: Vec<f64> = even.chain(named.map(|x| chart.coordinate(x))).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let height = |u: f64| {
        let (x, slope) = chart.place(u);
        let log = parameter.log_prior(x).unwrap_or(f64::NEG_INFINITY) + slope;
        if log < f64::INFINITY {
            log
        } else {
            f64::NEG_INFINITY
        }
    };
    let heights: Vec<f64> = places.iter().map(|u| height(*u)).collect();
    let at = |i: Option<usize>| i.and_then(|i| heights.get(i)).copied();
    let is_peak = |i: usize| {
        let before = at(i.checked_sub(1)).unwrap_or(f64::NEG_INFINITY);
        let after = at(Some(i + 1)).unwrap_or(f64::NEG_INFINITY);
        heights[i] > before && heights[i] >= after
    };
    let mut peaks: Vec<usize> = (0..places.len()).filter(|i| is_peak(*i)).collect();
    peaks.sort_by(|a, b| heights[*b].total_cmp(&heights[*a]));
    peaks.into_iter().take(MOST).map(|i| places[i]).collect()
}
