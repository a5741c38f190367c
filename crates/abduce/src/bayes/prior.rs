//! Distributions over parameters.

use crate::family::{Beta, Gamma, Gaussian, Multi, NormalGamma, StudentT, Univariate};
use rand::Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// A distribution over the parameters of a family: a prior, and what it
/// becomes. It may be improper, with numbers at or beyond the end of their
/// range, as long as rows make it proper.
pub trait Prior: Clone + Debug + PartialEq + Send + Sync + Serialize + DeserializeOwned {
    /// The name users read and type.
    const NAME: &'static str;

    /// Whether it integrates to 1.
    fn is_proper(&self) -> bool;

    /// The log-density at parameters.
    fn log_density_of(&self, parameters: &[f64]) -> f64;

    /// The means of the parameters, where they exist.
    fn means(&self) -> Option<Vec<f64>>;

    /// The most probable parameters, where they exist.
    fn modes(&self) -> Option<Vec<f64>>;

    /// Draws parameters.
    fn draw_parameters(&self, rng: &mut dyn Rng) -> Vec<f64>;

    /// The distribution of each parameter by itself, with its place; those
    /// without a known one are left out.
    fn marginals(&self) -> Vec<(usize, Box<dyn Univariate>)>;
}

/// Priors over one parameter.
macro_rules! one_parameter {
    ($($type:ident, $name:literal, $belief:ident => $proper:expr;)*) => {
        $(impl Prior for $type {
            const NAME: &'static str = $name;

            fn is_proper(&self) -> bool {
                let $belief = self;
                $proper
            }

            fn log_density_of(&self, parameters: &[f64]) -> f64 {
                self.log_density(parameters[0])
            }

            fn means(&self) -> Option<Vec<f64>> {
                self.mean().map(|mean| vec![mean])
            }

            fn modes(&self) -> Option<Vec<f64>> {
                Some(vec![self.mode()])
            }

            fn draw_parameters(&self, rng: &mut dyn Rng) -> Vec<f64> {
                vec![self.draw(rng)]
            }

            fn marginals(&self) -> Vec<(usize, Box<dyn Univariate>)> {
                vec![(0, Box::new(self.clone()))]
            }
        })*
    };
}

fn positive(x: f64) -> bool {
    x > 0.0 && x.is_finite()
}

one_parameter! {
    Beta, "beta", own => positive(own.a) && positive(own.b);
    Gamma, "gamma", own => positive(own.shape) && positive(own.rate);
    Gaussian, "normal", own => own.mean.is_finite() && positive(own.variance);
}

impl Prior for NormalGamma {
    const NAME: &'static str = "normal-gamma";

    fn is_proper(&self) -> bool {
        let all = [self.strength, self.shape, self.rate];
        self.mean.is_finite() && all.into_iter().all(positive)
    }

    fn log_density_of(&self, parameters: &[f64]) -> f64 {
        Multi::log_density(self, parameters)
    }

    fn means(&self) -> Option<Vec<f64>> {
        Multi::mean(self)
    }

    fn modes(&self) -> Option<Vec<f64>> {
        Multi::mode(self)
    }

    fn draw_parameters(&self, rng: &mut dyn Rng) -> Vec<f64> {
        Multi::draw(self, rng)
    }

    fn marginals(&self) -> Vec<(usize, Box<dyn Univariate>)> {
        let square = self.rate / (self.shape * self.strength);
        let mean = StudentT {
            location: self.mean,
            scale: square.sqrt(),
            degrees: 2.0 * self.shape,
        };
        let precision = Gamma {
            shape: self.shape,
            rate: self.rate,
        };
        vec![(0, Box::new(mean)), (1, Box::new(precision))]
    }
}
