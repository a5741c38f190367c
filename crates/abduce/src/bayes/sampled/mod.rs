//! Posteriors of several parameters without a conjugate prior, by importance
//! sampling: the mode and the curvature of the posterior give a Student t in
//! unbounded coordinates, from which low-discrepancy points are drawn and
//! weighed (Geweke 1989). Evidence and moments are weighted means over them; those
//! of a direction are taken on the circle.

mod improper;
mod parameter;
mod points;

pub use parameter::{Domain, Parameter};

use super::improper_because;
use super::mode::{highest, spread};
use crate::family::{Averaged, Gamma, Univariate, turned};
use crate::kernel::special::{LN_TAU, ln_gamma, normal_quantile};
use crate::{Error, Result};
use improper::open_end;
use points::Points;
use rayon::prelude::*;
use serde::Serialize;
use std::f64::consts::TAU;

/// Weighted draws of parameters that stand for their posterior.
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
    /// The logarithm of p(D) for normalised priors, up to their own constants.
    pub log_evidence: f64,
    /// How many equally weighted draws these are worth.
    pub effective: f64,
}

const FREEDOM: f64 = 5.0;

impl SampledPosterior {
    /// The posterior of parameters whose log-likelihood is given, started at
    /// good values of them; `seed` shifts the points that are drawn.
    ///
    /// # Errors
    /// If a prior is negative somewhere, or the posterior has no mode or does not
    /// integrate.
    pub fn new(
        parameters: &[Parameter],
        log_likelihood: impl Fn(&[f64]) -> f64 + Sync,
        start: &[f64],
        count: usize,
        seed: u64,
    ) -> Result<SampledPosterior> {
        let order = parameters.len();
        let log_prior = |x: &[f64]| -> Result<f64> {
            let own = parameters.iter().zip(x).map(|(p, x)| p.log_prior(*x));
            own.sum()
        };
        let log_posterior = |x: &[f64]| {
            let prior = log_prior(x).unwrap_or(f64::NEG_INFINITY);
            let value = match prior > f64::NEG_INFINITY {
                true => prior + log_likelihood(x),
                false => f64::NEG_INFINITY,
            };
            // Infinite at most at an end, which is not of the range.
            if value < f64::INFINITY {
                value
            } else {
                f64::NEG_INFINITY
            }
        };
        log_prior(start)?;
        let place = |u: &[f64]| -> (Vec<f64>, f64) {
            let pairs = parameters.iter().zip(u).map(|(p, u)| p.at_coordinate(*u));
            let (x, logs): (Vec<f64>, Vec<f64>) = pairs.unzip();
            (x, logs.iter().sum())
        };
        let start: Vec<f64> = parameters
            .iter()
            .zip(start)
            .map(|(p, x)| p.coordinate(*x))
            .collect();
        let in_place = |u: &[f64]| log_posterior(&place(u).0);
        let with_volume = |u: &[f64]| {
            let (x, volume) = place(u);
            log_posterior(&x) + volume
        };
        let mode = highest(&in_place, &start);
        // The mode may lie at an edge, far from where the mass is.
        let from = match with_volume(&mode) > with_volume(&start) {
            true => &mode,
            false => &start,
        };
        let centre = highest(&with_volume, from);
        if with_volume(&centre) == f64::NEG_INFINITY {
            return Err(Error::numeric(
                "the posterior has no mode: it is 0 wherever looked at",
            ));
        }
        // Also from the start: a search that climbs a needle sees nothing else.
        let mut open = [&start, &centre]
            .into_iter()
            .filter_map(|from| open_end(parameters, &with_volume, from));
        if let Some(end) = open.next() {
            return Err(improper_because(&format!("it does not fall as {end}")));
        }
        let factor = spread(&with_volume, &centre)?;
        let log_volume: f64 = (0..order).map(|i| factor[i * order + i].ln()).sum();
        let half = 0.5 * (FREEDOM + order as f64);
        let constant = ln_gamma(half)
            - ln_gamma(0.5 * FREEDOM)
            - 0.5 * order as f64 * (FREEDOM.ln() + LN_TAU - std::f64::consts::LN_2)
            - log_volume;
        let mixing = Gamma {
            shape: 0.5 * FREEDOM,
            rate: 0.5 * FREEDOM,
        };
        let points = Points::new(order + 1, seed)?;
        let draw = |i: usize| {
            let z = (0..order).map(|k| normal_quantile(points.coordinate(i, k)));
            let scale = mixing.quantile(points.coordinate(i, order)).sqrt().recip();
            let t: Vec<f64> = z.map(|z| z * scale).collect();
            let mut u = centre.clone();
            for column in 0..order {
                for row in column..order {
                    u[row] += factor[column * order + row] * t[column];
                }
            }
            let square: f64 = t.iter().map(|t| t * t).sum();
            let proposal = constant - half * (square / FREEDOM).ln_1p();
            let (x, volume) = place(&u);
            (log_posterior(&x) + volume - proposal, x)
        };
        let drawn: Vec<(f64, Vec<f64>)> = (1..=count).into_par_iter().map(draw).collect();
        let negative = |x: &&Vec<f64>| {
            let mut own = parameters.iter().zip(x.iter());
            own.any(|(p, x)| p.prior.is_negative_at(*x))
        };
        if let Some(x) = drawn.iter().map(|(_, x)| x).find(negative) {
            log_prior(x)?;
        }
        let most = drawn
            .iter()
            .fold(f64::NEG_INFINITY, |most, own| most.max(own.0));
        if !most.is_finite() {
            return Err(super::improper());
        }
        let raw: Vec<f64> = drawn.iter().map(|(log, _)| (log - most).exp()).collect();
        let total: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.iter().map(|weight| weight / total).collect();
        let effective = 1.0 / weights.iter().map(|weight| weight * weight).sum::<f64>();
        let angles: Vec<bool> = parameters.iter().map(Parameter::is_angle).collect();
        let named = |mut x: Vec<f64>| {
            let own = x.iter_mut().zip(&angles);
            own.for_each(|(x, is_angle)| *x = if *is_angle { turned(*x) } else { *x });
            x
        };
        Ok(SampledPosterior {
            draws: drawn.into_iter().map(|(_, x)| named(x)).collect(),
            weights,
            mode: named(place(&mode).0),
            log_evidence: most + (total / count as f64).ln(),
            effective,
            angles,
        })
    }

    /// The mean of a function of the draws.
    fn mean_of(&self, f: impl Fn(&[f64]) -> f64) -> f64 {
        let terms = self.draws.iter().zip(&self.weights);
        // A draw of no weight may be infinite.
        let terms = terms.filter(|(_, weight)| **weight > 0.0);
        terms.map(|(draw, weight)| weight * f(draw)).sum()
    }

    /// The mean of each parameter; of a direction, the mean direction from −π to
    /// π.
    pub fn means(&self) -> Vec<f64> {
        let mean = |(i, is_angle): (usize, &bool)| match is_angle {
            true => self
                .mean_of(|draw| draw[i].sin())
                .atan2(self.mean_of(|draw| draw[i].cos())),
            false => self.mean_of(|draw| draw[i]),
        };
        self.angles.iter().enumerate().map(mean).collect()
    }

    /// The interval of a parameter that leaves out the same probability on
    /// either side, and the shortest one. Those of a direction are arcs about
    /// the mean, whose ends may lie beyond −π or π; the first leaves out the same
    /// on either way to the direction opposite of the mean.
    pub fn intervals(&self, parameter: usize, level: f64) -> [(f64, f64); 2] {
        let is_angle = self.angles[parameter];
        let middle = match is_angle {
            true => self.means()[parameter],
            false => 0.0,
        };
        let place = |x: f64| match is_angle {
            true => middle + turned(x - middle),
            false => x,
        };
        let mut order: Vec<(f64, f64)> = self
            .draws
            .iter()
            .zip(&self.weights)
            .map(|(draw, weight)| (place(draw[parameter]), *weight))
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut sum = 0.0;
        let middles: Vec<(f64, f64)> = order
            .iter()
            .map(|(x, weight)| {
                sum += weight;
                (*x, sum - 0.5 * weight)
            })
            .collect();
        let quantile = |p: f64| {
            let after = middles.partition_point(|(_, share)| *share < p);
            match (after.checked_sub(1).map(|i| middles[i]), middles.get(after)) {
                (Some((a, f)), Some((b, g))) if g > &f => a + (b - a) * (p - f) / (g - f),
                (Some((a, _)), None) => a,
                (_, Some((b, _))) => *b,
                _ => f64::NAN,
            }
        };
        let tail = 0.5 * (1.0 - level);
        // An arc may begin anywhere on the circle, and go on beyond its cut.
        let furthest = if is_angle { 1.0 } else { 1.0 - level };
        let onwards = |p: f64| match p > 1.0 {
            true => quantile(p - 1.0) + TAU,
            false => quantile(p),
        };
        let starts = (0..=200).map(|i| furthest * f64::from(i) / 200.0);
        let candidates = starts.map(|p| (quantile(p), onwards(p + level)));
        let shorter = |a: (f64, f64), b: (f64, f64)| if b.1 - b.0 < a.1 - a.0 { b } else { a };
        let equal = (quantile(tail), quantile(1.0 - tail));
        // The middle of an arc is the one next to the mean.
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

    /// A few hundred of the draws, with how often each counts; together they
    /// stand for all.
    pub fn resampled(&self) -> Vec<(f64, &[f64])> {
        const PARTS: usize = 400;
        // Systematic resampling in the order of the first parameter: equal
        // weights, so that few draws do.
        let mut order: Vec<usize> = (0..self.draws.len()).collect();
        order.sort_by(|a, b| self.draws[*a][0].total_cmp(&self.draws[*b][0]));
        let mut parts = Vec::with_capacity(PARTS);
        let (mut sum, mut at) = (0.0, 0);
        for i in order {
            sum += self.weights[i];
            let from = at;
            while at < PARTS && (at as f64 + 0.5) / (PARTS as f64) < sum {
                at += 1;
            }
            if at > from {
                parts.push(((at - from) as f64, self.draws[i].as_slice()));
            }
        }
        parts
    }

    /// The distribution of the next row, by a few hundred of the draws.
    ///
    /// # Errors
    /// If no draw gives a distribution.
    pub fn predictive(
        &self,
        row: impl Fn(&[f64]) -> Option<Box<dyn Univariate>>,
    ) -> Result<Averaged> {
        let parts = self.resampled().into_iter();
        let parts = parts.filter_map(|(weight, draw)| Some((weight, row(draw)?)));
        Averaged::new(parts).ok_or_else(|| Error::numeric("no draw predicts a row"))
    }
}

#[cfg(test)]
mod tests;
