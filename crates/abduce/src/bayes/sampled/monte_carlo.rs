//! Monte Carlo standard errors of figures of weighted draws. For the weighted mean f̄ = Σ wᵢ fᵢ
//! of self-normalised importance sampling the error is
//!
//!   √(Σ wᵢ² (fᵢ − f̄)²)    (Geweke 1989),
//!
//! that of a quantile follows from the error of the probability below it, and that
//! of the log-evidence is √(1/effective − 1/draws). They are the errors of
//! independent draws; low-discrepancy points do a little better.

use super::SampledPosterior;
use crate::family::turned;
use std::f64::consts::PI;

impl SampledPosterior {
    /// The standard error of the mean of a function of the draws.
    pub fn standard_error_of(&self, f: impl Fn(&[f64]) -> f64) -> f64 {
        let values = self.weighted().map(|(weight, draw)| (weight, f(draw)));
        let values: Vec<(f64, f64)> = values.collect();
        let mean: f64 = values.iter().map(|(weight, value)| weight * value).sum();
        let squares = values.iter().map(|(weight, value)| {
            let error = weight * (value - mean);
            error * error
        });
        squares.sum::<f64>().sqrt()
    }

    /// The standard error of each mean. That of a direction is the error of the
    /// angle of its mean vector.
    pub fn mean_errors(&self) -> Vec<f64> {
        let error = |(i, is_angle): (usize, &bool)| {
            if !*is_angle {
                return self.standard_error_of(|draw| draw[i]);
            }
            let (sine, cosine) = (
                self.mean_of(|draw| draw[i].sin()),
                self.mean_of(|draw| draw[i].cos()),
            );
            let middle = sine.atan2(cosine);
            let error = self.standard_error_of(|draw| (draw[i] - middle).sin());
            // No direction is further off than the opposite one.
            (error / sine.hypot(cosine)).min(PI)
        };
        self.angles.iter().enumerate().map(error).collect()
    }

    /// The standard deviation of each parameter, with its standard error. Angles
    /// are measured from their mean direction.
    pub fn deviations(&self) -> Vec<(f64, f64)> {
        let means = self.means();
        let deviation = |(i, is_angle): (usize, &bool)| {
            let square = |draw: &[f64]| {
                let away = draw[i] - means[i];
                let away = if *is_angle { turned(away) } else { away };
                away * away
            };
            let deviation = self.mean_of(square).sqrt();
            (deviation, 0.5 * self.standard_error_of(square) / deviation)
        };
        self.angles.iter().enumerate().map(deviation).collect()
    }

    /// The standard errors of the ends of the equal-tailed interval of a
    /// parameter.
    pub fn interval_errors(&self, parameter: usize, level: f64) -> (f64, f64) {
        let place = self.around_mean(parameter);
        let cumulative = self.cumulative(parameter);
        let error = |p: f64| {
            let end = super::quantile(&cumulative, p);
            let below = |draw: &[f64]| f64::from(u8::from(place(draw[parameter]) <= end));
            let error = self.standard_error_of(below);
            let at = |p: f64| super::quantile(&cumulative, p.clamp(0.0, 1.0));
            0.5 * (at(p + error) - at(p - error))
        };
        let tail = 0.5 * (1.0 - level);
        (error(tail), error(1.0 - tail))
    }

    /// The standard error of the log-evidence.
    pub fn log_evidence_error(&self) -> Option<f64> {
        let draws = self.draws.len() as f64;
        let variance = (1.0 / self.effective - 1.0 / draws).max(0.0);
        self.log_evidence.map(|_| variance.sqrt())
    }

    /// A parameter; a direction is moved to within half a turn of its mean.
    pub(super) fn around_mean(&self, parameter: usize) -> impl Fn(f64) -> f64 {
        let middle = self.angles[parameter].then(|| self.means()[parameter]);
        move |x: f64| middle.map_or(x, |middle| middle + turned(x - middle))
    }

    /// The values of a parameter in ascending order, each with the probability below it and half
    /// of its weight.
    pub(super) fn cumulative(&self, parameter: usize) -> Vec<(f64, f64)> {
        let place = self.around_mean(parameter);
        let draws = self.draws.iter().zip(&self.weights);
        let mut order: Vec<(f64, f64)> = draws
            .map(|(draw, weight)| (place(draw[parameter]), *weight))
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut sum = 0.0;
        let middles = order.into_iter().map(|(x, weight)| {
            sum += weight;
            (x, sum - 0.5 * weight)
        });
        middles.collect()
    }
}
