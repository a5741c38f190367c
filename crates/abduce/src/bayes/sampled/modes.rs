//! The modes of a posterior, searched for from several points: the maximum of the likelihood, the
//! peaks of the priors, and the best of evenly scattered points.

use super::super::mode::{Mode, STEP};
use super::Parameter;
use super::parameter::Chart;
use super::points::Points;
use crate::Result;

/// The maximum number of modes.
const MAX_MODES: usize = 8;

/// The maximum number of points to climb from.
const MAX_STARTS: usize = 24;

/// The modes, the one of most mass first; none if the density is 0 everywhere. `stretch` takes
/// coordinates of the charts to those of the density.
///
/// # Errors
/// If there are more parameters than points have dimensions.
pub(super) fn find_modes(
    parameters: &[Parameter],
    charts: &[Chart],
    log_density: &dyn Fn(&[f64]) -> f64,
    start: &[f64],
    stretch: &dyn Fn(&mut [f64]),
) -> Result<Vec<Mode>> {
    // A peak as narrow as rounding is not a mode, and neither is a plain.
    let is_sound = |mode: &Mode| {
        let mut widths_are_sound = mode.location.iter().enumerate().map(|(k, u)| {
            let width = mode.factor[k * (charts.len() + 1)];
            width < 100.0 && width > 1e-13 * (1.0 + u.abs())
        });
        mode.height > f64::NEG_INFINITY && widths_are_sound.all(|is_sound| is_sound)
    };
    let is_inside = |mode: &Mode| {
        let mut coordinates = mode.location.iter().zip(charts);
        coordinates.all(|(u, chart)| chart.limits().0 < *u && *u < chart.limits().1)
    };
    let (mut modes, mut doubtful): (Vec<Mode>, Vec<Mode>) = (Vec::new(), Vec::new());
    let starts = starts(parameters, charts, log_density, start, stretch)?;
    for (i, place) in starts.into_iter().enumerate() {
        let is_known = |place: &[f64]| modes.iter().any(|mode| mode.attracts(log_density, place));
        if modes.len() == MAX_MODES || is_known(&place) {
            continue;
        }
        // A long step may lead from a mode to a narrow peak next to it.
        let mut mode = Mode::from(log_density, &place, STEP);
        if !is_sound(&mode) {
            mode = Mode::from(log_density, &place, 0.1 * STEP);
        }
        // Only the search from the maximum of the likelihood shows mass far out, by getting
        // there.
        let is_mode = is_sound(&mode) && (i == 0 || is_inside(&mode));
        match (is_mode, is_known(&mode.location)) {
            (true, false) => modes.push(mode),
            (true, true) => {}
            (false, _) => doubtful.push(mode),
        }
    }
    if modes.is_empty() {
        modes = doubtful;
    }
    modes.sort_by(|a, b| b.log_mass().total_cmp(&a.log_mass()));
    // Modes without mass get no draws.
    let most = modes.first().map(Mode::log_mass);
    modes.retain(|mode| most.is_some_and(|most| mode.log_mass() > most - 20.0));
    Ok(modes)
}

/// Points of positive density to climb from.
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
        all.truncate(MAX_STARTS - 4);
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
    const MAX_PEAKS: usize = 6;
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
    peaks
        .into_iter()
        .take(MAX_PEAKS)
        .map(|i| places[i])
        .collect()
}
