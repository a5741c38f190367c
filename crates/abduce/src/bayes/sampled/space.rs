//! The posterior density in unbounded coordinates, one chart for each parameter.

use super::Parameter;
use super::parameter::Chart;
use crate::Result;

/// Parameters, their likelihood and their coordinates.
pub(super) struct Space<'a, L> {
    parameters: &'a [Parameter],
    log_likelihood: L,
    pub charts: Vec<Chart>,
}

impl<'a, L: Fn(&[f64]) -> f64 + Sync> Space<'a, L> {
    pub fn new(parameters: &'a [Parameter], log_likelihood: L) -> Result<Self> {
        let charts = parameters.iter().map(Parameter::chart);
        Ok(Space {
            parameters,
            log_likelihood,
            charts: charts.collect::<Result<_>>()?,
        })
    }

    /// The log-prior at parameters.
    ///
    /// # Errors
    /// If a prior is negative there.
    pub fn log_prior(&self, x: &[f64]) -> Result<f64> {
        let pairs = self.parameters.iter().zip(x);
        pairs.map(|(parameter, x)| parameter.log_prior(*x)).sum()
    }

    /// The logarithm of prior times likelihood at parameters.
    pub fn log_posterior(&self, x: &[f64]) -> f64 {
        let prior = self.log_prior(x).unwrap_or(f64::NEG_INFINITY);
        if prior == f64::NEG_INFINITY || prior.is_nan() {
            return f64::NEG_INFINITY;
        }
        let value = prior + (self.log_likelihood)(x);
        // Infinite at most at an end, which is not part of the range.
        if value < f64::INFINITY {
            value
        } else {
            f64::NEG_INFINITY
        }
    }

    /// The parameters at coordinates, and the logarithm of their volume per volume of the
    /// coordinates. A direction's coordinate is stretched by as much as a concentration
    /// narrows it, so that it is as wide whatever the concentration is.
    pub fn place(&self, u: &[f64]) -> (Vec<f64>, f64) {
        let pairs = self.charts.iter().zip(u).map(|(chart, u)| chart.place(*u));
        let (mut x, mut logs): (Vec<f64>, Vec<f64>) = pairs.unzip();
        for (k, parameter) in self.parameters.iter().enumerate() {
            let stretch = parameter.log_stretch(&x);
            if stretch > 0.0 {
                (x[k], logs[k]) = self.charts[k].place(u[k] * (-stretch).exp());
                logs[k] -= stretch;
            }
        }
        (x, logs.iter().sum())
    }

    /// The coordinates of parameters, before directions are stretched.
    pub fn coordinates(&self, x: &[f64]) -> Vec<f64> {
        let pairs = self.charts.iter().zip(x);
        pairs.map(|(chart, x)| chart.coordinate(*x)).collect()
    }

    /// Stretches the coordinates of directions.
    pub fn stretch(&self, u: &mut [f64]) {
        let pairs = self.charts.iter().zip(u.iter());
        let x: Vec<f64> = pairs.map(|(chart, u)| chart.place(*u).0).collect();
        let pairs = self.parameters.iter().zip(u);
        pairs.for_each(|(parameter, u)| *u *= parameter.log_stretch(&x).exp());
    }

    /// The log-density of the posterior over the coordinates.
    pub fn log_density(&self, u: &[f64]) -> f64 {
        let (x, volume) = self.place(u);
        self.log_posterior(&x) + volume
    }
}
