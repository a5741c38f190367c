//! Distributions over parameters.

use crate::family::{Beta, Gamma, Gaussian, NormalGamma, StudentT, Univariate};
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

    /// The distribution of each parameter by itself.
    fn marginals(&self) -> Vec<Box<dyn Univariate>>;
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

            fn marginals(&self) -> Vec<Box<dyn Univariate>> {
                vec![Box::new(self.clone())]
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
        self.log_density(parameters)
    }

    fn means(&self) -> Option<Vec<f64>> {
        (self.shape > 0.5).then(|| vec![self.mean, self.shape / self.rate])
    }

    fn modes(&self) -> Option<Vec<f64>> {
        (self.shape > 0.5).then(|| vec![self.mean, (self.shape - 0.5) / self.rate])
    }

    fn draw_parameters(&self, rng: &mut dyn Rng) -> Vec<f64> {
        self.draw(rng)
    }

    fn marginals(&self) -> Vec<Box<dyn Univariate>> {
        let square = self.rate / (self.shape * self.strength);
        vec![
            Box::new(StudentT {
                location: self.mean,
                scale: square.sqrt(),
                degrees: 2.0 * self.shape,
            }),
            Box::new(Gamma {
                shape: self.shape,
                rate: self.rate,
            }),
        ]
    }
}
