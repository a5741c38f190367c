//! Posteriors of several parameters without a conjugate prior, by importance
//! sampling: the mode and the curvature of the posterior give a Student t in
//! unbounded coordinates, from which low-discrepancy points are drawn and
//! weighed (Geweke 1989). Evidence and moments are weighted means over them.

use super::Curve;
use super::mode::{highest, spread};
use crate::family::{Averaged, Gamma, Univariate};
use crate::kernel::special::{LN_TAU, ln_gamma, normal_quantile};
use crate::{Error, Result};
use rayon::prelude::*;
use serde::Serialize;

/// A parameter, its range, and what is believed of it.
#[derive(Debug)]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// The ends of its range: all numbers, those above a number, or 0 to 1.
    pub range: (f64, f64),
    /// The prior, independent of the others'.
    pub prior: Curve,
    /// Where a parameter that may be any number is looked for, and how widely;
    /// the others have no units once their logarithm is taken.
    pub around: (f64, f64),
}

impl Parameter {
    /// The parameter from its unbounded coordinate, and the logarithm of the
    /// derivative.
    fn at_coordinate(&self, u: f64) -> (f64, f64) {
        match self.range {
            (0.0, 1.0) => {
                let p = 1.0 / (1.0 + (-u).exp());
                (p, -u.abs() - 2.0 * (-u.abs()).exp().ln_1p())
            }
            (low, _) if low.is_finite() => (low + u.exp(), u),
            _ => (self.around.0 + self.around.1 * u, self.around.1.ln()),
        }
    }

    fn coordinate(&self, x: f64) -> f64 {
        match self.range {
            (0.0, 1.0) => {
                let x = x.clamp(1e-6, 1.0 - 1e-6);
                x.ln() - (-x).ln_1p()
            }
            (0.0, _) => x.max(1e-300).ln(),
            // What lies outside starts a little inside.
            (low, _) if low.is_finite() => (x - low).max(1e-2).ln(),
            _ => (x - self.around.0) / self.around.1,
        }
    }
}

/// Weighted draws of parameters that stand for their posterior.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SampledPosterior {
    /// The draws.
    pub draws: Vec<Vec<f64>>,
    /// Their weights, which sum to 1.
    pub weights: Vec<f64>,
    /// The parameters of highest posterior density.
    pub mode: Vec<f64>,
    /// The logarithm of p(D) for normalised priors, up to their own constants.
    pub log_evidence: f64,
    /// How many equally weighted draws these are worth.
    pub effective: f64,
}

const FREEDOM: f64 = 5.0;

impl SampledPosterior {
    /// The posterior of parameters whose log-likelihood is given, started at
    /// good values of them.
    ///
    /// # Errors
    /// If a prior is negative somewhere, or the posterior has no mode.
    pub fn new(
        parameters: &[Parameter],
        log_likelihood: impl Fn(&[f64]) -> f64 + Sync,
        start: &[f64],
        count: usize,
    ) -> Result<SampledPosterior> {
        let order = parameters.len();
        let log_prior = |x: &[f64]| -> Result<f64> {
            let own = parameters.iter().zip(x).map(|(p, x)| p.prior.log_value(*x));
            own.sum()
        };
        let log_posterior = |x: &[f64]| {
            let prior = log_prior(x).unwrap_or(f64::NEG_INFINITY);
            let value = match prior > f64::NEG_INFINITY {
                true => prior + log_likelihood(x),
                false => f64::NEG_INFINITY,
            };
            if value.is_nan() {
                f64::NEG_INFINITY
            } else {
                value
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
        let centre = highest(&with_volume, &mode);
        if with_volume(&centre) == f64::NEG_INFINITY {
            return Err(Error::numeric(
                "the posterior has no mode: it is 0 wherever looked at",
            ));
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
        let draw = |i: usize| {
            let z: Vec<f64> = (0..order).map(|k| normal_quantile(halton(i, k))).collect();
            let scale = mixing.quantile(halton(i, order)).sqrt().recip();
            let t: Vec<f64> = z.iter().map(|z| z * scale).collect();
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
        Ok(SampledPosterior {
            draws: drawn.into_iter().map(|(_, x)| x).collect(),
            weights,
            mode: place(&mode).0,
            log_evidence: most + (total / count as f64).ln(),
            effective,
        })
    }

    /// The mean of each parameter.
    pub fn means(&self) -> Vec<f64> {
        let order = self.mode.len();
        let mean = |i: usize| {
            let terms = self.draws.iter().zip(&self.weights);
            // A draw of no weight may be infinite.
            let terms = terms.filter(|(_, weight)| **weight > 0.0);
            terms.map(|(draw, weight)| weight * draw[i]).sum()
        };
        (0..order).map(mean).collect()
    }

    /// The interval of a parameter that leaves out the same probability on
    /// either side, and the shortest one.
    pub fn intervals(&self, parameter: usize, level: f64) -> [(f64, f64); 2] {
        let mut order: Vec<(f64, f64)> = self
            .draws
            .iter()
            .zip(&self.weights)
            .map(|(draw, weight)| (draw[parameter], *weight))
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
        let starts = (0..=200).map(|i| (1.0 - level) * f64::from(i) / 200.0);
        let candidates = starts.map(|p| (quantile(p), quantile(p + level)));
        let shorter = |a: (f64, f64), b: (f64, f64)| if b.1 - b.0 < a.1 - a.0 { b } else { a };
        let equal = (quantile(tail), quantile(1.0 - tail));
        [equal, candidates.fold(equal, shorter)]
    }

    /// The distribution of the next row, by a few hundred of the draws.
    ///
    /// # Errors
    /// If no draw gives a distribution.
    pub fn predictive(
        &self,
        row: impl Fn(&[f64]) -> Option<Box<dyn Univariate>>,
    ) -> Result<Averaged> {
        const PARTS: usize = 400;
        // Systematic resampling in the order of the first parameter: equal
        // weights, so that few draws do.
        let mut order: Vec<usize> = (0..self.draws.len()).collect();
        order.sort_by(|a, b| self.draws[*a][0].total_cmp(&self.draws[*b][0]));
        let mut parts = Vec::with_capacity(PARTS);
        let (mut sum, mut at) = (0.0, 0);
        for i in order {
            let draw = &self.draws[i];
            sum += self.weights[i];
            let from = at;
            while at < PARTS && (at as f64 + 0.5) / (PARTS as f64) < sum {
                at += 1;
            }
            if at > from {
                parts.extend(row(draw).map(|own| ((at - from) as f64, own)));
            }
        }
        Averaged::new(parts).ok_or_else(|| Error::numeric("no draw predicts a row"))
    }
}

/// The i-th point of Halton's sequence in one dimension, inside 0 to 1.
fn halton(i: usize, dimension: usize) -> f64 {
    const BASES: [usize; 8] = [2, 3, 5, 7, 11, 13, 17, 19];
    let base = BASES[dimension % BASES.len()];
    let (mut i, mut share, mut sum) = (i, 1.0, 0.0);
    while i > 0 {
        share /= base as f64;
        sum += share * (i % base) as f64;
        i /= base;
    }
    sum.clamp(1e-12, 1.0 - 1e-12)
}

#[cfg(test)]
mod tests {
    use super::super::Expression;
    use super::*;
    use crate::family::{Beta, Gaussian};

    fn curve(text: &str) -> Curve {
        Curve::Expression(Expression::parse(text, &["x"]).unwrap())
    }

    fn parameter(name: &str, range: (f64, f64), prior: &str) -> Parameter {
        Parameter {
            name: name.into(),
            range,
            prior: curve(prior),
            around: (0.0, 1.0),
        }
    }

    #[test]
    fn independent_parameters_keep_their_conjugate_posteriors() {
        // A probability seen 6 of 10 times, a rate of 12 events in 4 hours.
        let parameters = [
            parameter("probability", (0.0, 1.0), "beta(2,2)"),
            parameter("rate", (0.0, f64::INFINITY), "gamma(2,1)"),
        ];
        let log_likelihood =
            |x: &[f64]| 6.0 * x[0].ln() + 4.0 * (-x[0]).ln_1p() + 12.0 * x[1].ln() - 4.0 * x[1];
        let own = SampledPosterior::new(&parameters, log_likelihood, &[0.5, 2.0], 4096).unwrap();
        let probability = Beta { a: 8.0, b: 6.0 };
        let rate = Gamma {
            shape: 14.0,
            rate: 5.0,
        };
        let means = own.means();
        assert!((means[0] - 8.0 / 14.0).abs() < 1e-3, "{means:?}");
        assert!((means[1] - 2.8).abs() < 3e-3, "{means:?}");
        assert!((own.mode[0] - probability.mode()).abs() < 1e-4);
        assert!((own.mode[1] - rate.mode()).abs() < 1e-4);
        let [(low, high), (from, to)] = own.intervals(0, 0.9);
        let (l, h) = probability.equal_tailed(0.9);
        assert!(
            (low - l).abs() < 4e-3 && (high - h).abs() < 4e-3,
            "{low} {high}"
        );
        assert!(to - from <= high - low);
        assert!(own.effective > 1000.0, "{}", own.effective);
        let evidence =
            |own: f64, shape: f64, rate: f64| own + ln_gamma(shape) - shape * f64::ln(rate);
        let exact = crate::kernel::special::ln_beta(8.0, 6.0)
            - crate::kernel::special::ln_beta(2.0, 2.0)
            + evidence(0.0, 14.0, 5.0);
        assert!(
            (own.log_evidence - exact).abs() < 2e-3,
            "{} {exact}",
            own.log_evidence
        );
    }

    #[test]
    fn prediction_averages_over_the_draws() {
        let parameters = [parameter(
            "mean",
            (f64::NEG_INFINITY, f64::INFINITY),
            "normal(0,4)",
        )];
        let own = SampledPosterior::new(&parameters, |x| -0.5 * (x[0] - 3.0).powi(2), &[0.0], 2048);
        let row = |x: &[f64]| -> Option<Box<dyn Univariate>> {
            Some(Box::new(Gaussian {
                mean: x[0],
                variance: 1.0,
            }))
        };
        let predictive = own.unwrap().predictive(row).unwrap();
        assert!((predictive.mean().unwrap() - 2.4).abs() < 0.01);
        assert!((predictive.variance().unwrap() - 1.8).abs() < 0.02);
    }
}
