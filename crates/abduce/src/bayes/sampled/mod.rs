//! Posteriors of several parameters without a conjugate prior, by importance sampling: the modes
//! of the posterior and their curvature give a mixture of Student t distributions in unbounded
//! coordinates. It is fitted to a few draws; low-discrepancy points are then drawn from it and
//! weighted (Geweke 1989). Evidence and moments are weighted means over them; those of a
//! direction are taken on the circle.

mod improper;
mod modes;
mod monte_carlo;
mod parameter;
mod points;
mod proposal;
mod space;
mod support;

pub use parameter::{Domain, Parameter};

use super::integral::Total;
use super::mode::{Mode, maximum_near};
use crate::family::{Averaged, Univariate, improper, improper_because, turned};
use crate::{Error, Result};
use improper::open_end;
use modes::find_modes;
use parameter::Chart;
use points::Points;
use proposal::Proposal;
use rayon::prelude::*;
use serde::Serialize;
use space::Space;
use std::f64::consts::TAU;

/// Weighted draws from the posterior of parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SampledPosterior {
    /// The draws.
    pub draws: Vec<Vec<f64>>,
    /// Their weights, which sum to 1.
    pub weights: Vec<f64>,
    /// The parameters of highest posterior density.
    pub mode: Vec<f64>,
    /// Which parameters are directions, of period 2π.
    pub angles: Vec<bool>,
    /// The logarithm of p(D), the priors normalised; `None` if one is not known to
    /// integrate.
    pub log_evidence: Option<f64>,
    /// The effective number of draws, (Σ w)² / Σ w².
    pub effective: f64,
}

/// The maximum number of times that the proposal is fitted to draws.
const ROUNDS: usize = 7;

/// The least effective number of draws for intervals.
const MIN_EFFECTIVE_DRAWS: f64 = 50.0;

impl SampledPosterior {
    /// The posterior for a log-likelihood, searched from `start`; `seed` shifts the points that
    /// are drawn.
    ///
    /// # Errors
    /// If a prior is negative somewhere, the posterior has no mode or does not integrate, or the
    /// effective number of draws is too small.
    pub fn new(
        parameters: &[Parameter],
        log_likelihood: impl Fn(&[f64]) -> f64 + Sync,
        start: &[f64],
        count: usize,
        seed: u64,
    ) -> Result<SampledPosterior> {
        Self::sample(parameters, log_likelihood, start, count, seed, false)
    }

    /// The same for a bounded likelihood: under priors that integrate, the posterior then
    /// integrates too, however slowly it decays.
    ///
    /// # Errors
    /// See [`new`](SampledPosterior::new).
    pub fn of_bounded(
        parameters: &[Parameter],
        log_likelihood: impl Fn(&[f64]) -> f64 + Sync,
        start: &[f64],
        count: usize,
        seed: u64,
    ) -> Result<SampledPosterior> {
        Self::sample(parameters, log_likelihood, start, count, seed, true)
    }

    fn sample(
        parameters: &[Parameter],
        log_likelihood: impl Fn(&[f64]) -> f64 + Sync,
        start: &[f64],
        count: usize,
        seed: u64,
        bounded: bool,
    ) -> Result<SampledPosterior> {
        let space = Space::new(parameters, log_likelihood)?;
        space.log_prior(start)?;
        let log_density = |u: &[f64]| space.log_density(u);
        let start = space.coordinates(start);
        let stretch = |u: &mut [f64]| space.stretch(u);
        let modes = find_modes(parameters, &space.charts, &log_density, &start, &stretch)?;
        if modes.is_empty() {
            return Err(Error::numeric(
                "no mode of the posterior was found: its density is 0 at every point tried",
            ));
        }
        let log_priors = log_prior_totals(parameters)?;
        if !(bounded && log_priors.is_some()) {
            check_ends(parameters, &space, &modes, start)?;
        }
        let points = Points::new(parameters.len() + 1, seed)?;
        let mut proposal = fitted_proposal(&modes, &points, count / 4, &log_density);
        let drawn = weighted_draws(&mut proposal, &points, count, &log_density);
        let logs = drawn.iter().map(|(log, _)| *log);
        let most = logs.fold(f64::NEG_INFINITY, f64::max);
        if !most.is_finite() {
            return Err(improper());
        }
        let raw: Vec<f64> = drawn.iter().map(|(log, _)| (log - most).exp()).collect();
        let total: f64 = raw.iter().sum();
        let effective = effective_draws(&drawn);
        if effective < MIN_EFFECTIVE_DRAWS {
            return Err(Error::numeric(format!(
                "the posterior could not be sampled: the effective number of {count} draws is only \
                 {effective:.0}"
            ))
            .with_hint("use more rows, or priors that are smoother or closer to the likelihood"));
        }
        let drawn: Vec<Vec<f64>> = drawn.iter().map(|(_, u)| space.place(u).0).collect();
        check_priors(parameters, &space, &drawn)?;
        let angles: Vec<bool> = parameters.iter().map(Parameter::is_angle).collect();
        let turned = |mut x: Vec<f64>| {
            let directions = x.iter_mut().zip(&angles).filter(|(_, is_angle)| **is_angle);
            directions.for_each(|(x, _)| *x = turned(*x));
            x
        };
        Ok(SampledPosterior {
            draws: drawn.into_iter().map(turned).collect(),
            weights: raw.iter().map(|weight| weight / total).collect(),
            mode: turned(highest_mode(parameters, &space, &modes)),
            log_evidence: log_priors
                .map(|log_prior| most + (total / count as f64).ln() - log_prior),
            effective,
            angles,
        })
    }

    /// The mean of a function of the draws.
    fn mean_of(&self, f: impl Fn(&[f64]) -> f64) -> f64 {
        let terms = self.draws.iter().zip(&self.weights);
        // A draw of weight 0 may be infinite.
        let terms = terms.filter(|(_, weight)| **weight > 0.0);
        terms.map(|(draw, weight)| weight * f(draw)).sum()
    }

    /// The mean of each parameter; of a direction, the mean direction from −π to
    /// π.
    pub fn means(&self) -> Vec<f64> {
        let mean = |(i, is_angle): (usize, &bool)| {
            if *is_angle {
                self.mean_of(|draw| draw[i].sin())
                    .atan2(self.mean_of(|draw| draw[i].cos()))
            } else {
                self.mean_of(|draw| draw[i])
            }
        };
        self.angles.iter().enumerate().map(mean).collect()
    }

    /// The interval of a parameter that leaves out the same probability on either side, and the
    /// shortest one. Those of a direction are arcs about the mean, whose ends may lie beyond −π
    /// or π; the first leaves out the same probability on either way to the direction opposite of
    /// the mean.
    pub fn intervals(&self, parameter: usize, level: f64) -> [(f64, f64); 2] {
        let is_angle = self.angles[parameter];
        let place = self.around_mean(parameter);
        let middles = self.cumulative(parameter);
        let quantile = |p: f64| quantile(&middles, p);
        let tail = 0.5 * (1.0 - level);
        // An arc may begin anywhere on the circle, and continue beyond the cut.
        let furthest = if is_angle { 1.0 } else { 1.0 - level };
        let onwards = |p: f64| {
            if p > 1.0 {
                quantile(p - 1.0) + TAU
            } else {
                quantile(p)
            }
        };
        let starts = (0..=200).map(|i| furthest * f64::from(i) / 200.0);
        let candidates = starts.map(|p| (quantile(p), onwards(p + level)));
        let shorter = |a: (f64, f64), b: (f64, f64)| if b.1 - b.0 < a.1 - a.0 { b } else { a };
        let equal = (quantile(tail), quantile(1.0 - tail));
        // The turn of an arc is that in which its middle is closest to the mean.
        let named = |(low, high): (f64, f64)| {
            let centre = 0.5 * (low + high);
            let turns = if is_angle {
                place(centre) - centre
            } else {
                0.0
            };
            (low + turns, high + turns)
        };
        [equal, candidates.fold(equal, shorter)].map(named)
    }

    /// All draws of positive weight.
    pub fn weighted(&self) -> impl Iterator<Item = (f64, &[f64])> {
        let all = self.weights.iter().zip(&self.draws);
        let all = all.filter(|(weight, _)| **weight > 0.0);
        all.map(|(weight, draw)| (*weight, draw.as_slice()))
    }

    /// The distribution of the next row, averaged over all draws.
    ///
    /// # Errors
    /// If no draw gives a distribution.
    pub fn predictive(
        &self,
        row: impl Fn(&[f64]) -> Option<Box<dyn Univariate>>,
    ) -> Result<Averaged> {
        let parts = self.weighted();
        let parts = parts.filter_map(|(weight, draw)| Some((weight, row(draw)?)));
        Averaged::new(parts)
            .ok_or_else(|| Error::numeric("no draw gives a predictive distribution"))
    }
}

/// The value below which a probability lies, linear between neighbouring draws.
fn quantile(cumulative: &[(f64, f64)], p: f64) -> f64 {
    let after = cumulative.partition_point(|(_, share)| *share < p);
    let before = after.checked_sub(1).map(|i| cumulative[i]);
    match (before, cumulative.get(after)) {
        (Some((a, f)), Some((b, g))) if g > &f => a + (b - a) * (p - f) / (g - f),
        (Some((a, _)), None) => a,
        (_, Some((b, _))) => *b,
        _ => f64::NAN,
    }
}

/// An error if the density does not fall towards an end of a parameter's range.
fn check_ends<L: Fn(&[f64]) -> f64 + Sync>(
    parameters: &[Parameter],
    space: &Space<L>,
    modes: &[Mode],
    mut start: Vec<f64>,
) -> Result<()> {
    // Also from the start: a search that climbs a narrow peak misses everything else.
    space.stretch(&mut start);
    let log_density = |u: &[f64]| space.log_density(u);
    let locations = modes.iter().map(|mode| &mode.location);
    let end = |from: &Vec<f64>| open_end(parameters, &space.charts, &log_density, from);
    match locations.chain([&start]).find_map(end) {
        Some(end) => Err(improper_because(&format!("it does not fall as {end}"))),
        None => Ok(()),
    }
}

/// An error if a prior is negative at one of the draws.
fn check_priors<L: Fn(&[f64]) -> f64 + Sync>(
    parameters: &[Parameter],
    space: &Space<L>,
    draws: &[Vec<f64>],
) -> Result<()> {
    let is_negative = |x: &&Vec<f64>| {
        let mut pairs = parameters.iter().zip(x.iter());
        pairs.any(|(parameter, x)| parameter.is_negative_at(*x))
    };
    match draws.iter().find(is_negative) {
        Some(x) => space.log_prior(x).map(|_| ()),
        None => Ok(()),
    }
}

/// The logarithm of the integral of the priors, if they are known to have one.
fn log_prior_totals(parameters: &[Parameter]) -> Result<Option<f64>> {
    let totals = parameters.iter().map(Parameter::total);
    let totals: Vec<Total> = totals.collect::<Result<_>>()?;
    let logs = totals.into_iter().map(|total| match total {
        Total::Finite(log) => Some(log),
        Total::Infinite | Total::Unsettled => None,
    });
    Ok(logs.sum())
}

/// Draws from the proposal, each with the logarithm of its weight.
fn weighted_draws(
    proposal: &mut Proposal,
    points: &Points,
    count: usize,
    log_density: &(dyn Fn(&[f64]) -> f64 + Sync),
) -> Vec<(f64, Vec<f64>)> {
    let draws = proposal.draw(points, count).into_par_iter();
    let weighted = |u: Vec<f64>| {
        let log = log_density(&u) - proposal.log_density(&u);
        let log = if log.is_finite() {
            log
        } else {
            f64::NEG_INFINITY
        };
        (log, u)
    };
    draws.map(weighted).collect()
}

/// The proposal on the modes, fitted to draws in a few rounds; the one with the most effective
/// draws.
fn fitted_proposal(
    modes: &[Mode],
    points: &Points,
    count: usize,
    log_density: &(dyn Fn(&[f64]) -> f64 + Sync),
) -> Proposal {
    let mut proposal = Proposal::about(modes);
    let mut best = (0.0, proposal.clone());
    for round in 0..ROUNDS {
        let mut draws = weighted_draws(&mut proposal, points, count, log_density);
        let effective = effective_draws(&draws);
        if effective > best.0 {
            best = (effective, proposal.clone());
        }
        if effective > 0.7 * draws.len() as f64 {
            break;
        }
        if round == 0 {
            proposal.split_components();
            continue;
        }
        temper(&mut draws);
        proposal.adapt(&draws);
    }
    best.1
}

/// The parameters of highest density. Without the volume of the coordinates the highest mode may
/// be another one, or the maximum at an end.
fn highest_mode<L: Fn(&[f64]) -> f64 + Sync>(
    parameters: &[Parameter],
    space: &Space<L>,
    modes: &[Mode],
) -> Vec<f64> {
    let log_posterior = |x: &[f64]| space.log_posterior(x);
    let in_place = |u: &[f64]| space.log_posterior(&space.place(u).0);
    let tops = modes
        .iter()
        .map(|mode| space.place(&maximum_near(&in_place, mode)).0);
    let tops = tops.map(|top| at_end(top, parameters, &space.charts, &log_posterior));
    let best = tops.max_by(|a, b| log_posterior(a).total_cmp(&log_posterior(b)));
    best.unwrap_or_default()
}

/// The effective number of draws with these log-weights.
fn effective_draws(draws: &[(f64, Vec<f64>)]) -> f64 {
    let logs = draws.iter().map(|draw| draw.0);
    let most = logs.clone().fold(f64::NEG_INFINITY, f64::max);
    let weights = logs.map(|log| (log - most).exp());
    let sum: f64 = weights.clone().sum();
    sum * sum / weights.map(|weight| weight * weight).sum::<f64>()
}

/// Turns log-weights into weights that sum to 1, none of which is so large that it dominates a
/// fit (Ionides 2008).
fn temper(draws: &mut [(f64, Vec<f64>)]) {
    let logs = draws.iter().map(|draw| draw.0);
    let most = logs.fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = draws.iter().map(|draw| (draw.0 - most).exp()).sum();
    let largest = sum / (draws.len() as f64).sqrt();
    for draw in draws.iter_mut() {
        draw.0 = (draw.0 - most).exp().min(largest);
    }
    let sum: f64 = draws.iter().map(|draw| draw.0).sum();
    draws.iter_mut().for_each(|draw| draw.0 /= sum);
}

/// The place, moved to the ends of parameters where the density is higher.
fn at_end(
    mut place: Vec<f64>,
    parameters: &[Parameter],
    charts: &[Chart],
    f: &dyn Fn(&[f64]) -> f64,
) -> Vec<f64> {
    for (k, (parameter, chart)) in parameters.iter().zip(charts).enumerate() {
        // A circle has no end.
        if parameter.is_angle() {
            continue;
        }
        let (low, high) = chart.ends();
        for end in [low, high].into_iter().filter(|end| end.is_finite()) {
            let mut there = place.clone();
            there[k] = end;
            if f(&there) >= f(&place) {
                place = there;
            }
        }
    }
    place
}

#[cfg(test)]
mod tests;
