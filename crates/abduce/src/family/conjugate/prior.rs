//! Distributions over parameters.

use crate::family::{Multi, Univariate};
use rand::Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// A distribution over the parameters of a family: a prior, or the posterior that it
/// becomes. It may be improper, with numbers at or beyond the end of their
/// range, as long as rows make it proper.
pub trait Prior: Clone + Debug + PartialEq + Send + Sync + Serialize + DeserializeOwned {
    /// The name users read and type.
    const NAME: &'static str;

    /// The smallest and the largest value of a single parameter.
    const RANGE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

    /// Whether it integrates to 1.
    fn is_proper(&self) -> bool;

    /// The distribution of all parameters.
    fn distribution(&self) -> Parameters<'_>;

    /// The distribution of each parameter by itself, with its place; those
    /// without a known one are left out.
    fn marginals(&self) -> Marginals;

    /// The log-density at parameters.
    fn log_density_of(&self, parameters: &[f64]) -> f64 {
        match self.distribution() {
            Parameters::One(distribution) => distribution.log_density(parameters[0]),
            Parameters::Several(distribution) => distribution.log_density(parameters),
        }
    }

    /// The means of the parameters, where they exist.
    fn means(&self) -> Option<Vec<f64>> {
        match self.distribution() {
            Parameters::One(distribution) => distribution.mean().map(|mean| vec![mean]),
            Parameters::Several(distribution) => distribution.mean(),
        }
    }

    /// The most probable parameters, where they exist.
    fn modes(&self) -> Option<Vec<f64>> {
        match self.distribution() {
            Parameters::One(distribution) => Some(vec![distribution.mode()]),
            Parameters::Several(distribution) => distribution.mode(),
        }
    }

    /// Draws parameters.
    fn draw_parameters(&self, rng: &mut dyn Rng) -> Vec<f64> {
        match self.distribution() {
            Parameters::One(distribution) => vec![distribution.draw(rng)],
            Parameters::Several(distribution) => distribution.draw(rng),
        }
    }
}

/// The distribution of one parameter or of several.
pub enum Parameters<'a> {
    /// Of one.
    One(&'a dyn Univariate),
    /// Of several.
    Several(&'a dyn Multi),
}

/// Distributions of single parameters, with their places.
pub type Marginals = Vec<(usize, Box<dyn Univariate>)>;

/// The distribution of the parameter at a place.
pub(crate) fn marginal(
    place: usize,
    distribution: impl Univariate + 'static,
) -> (usize, Box<dyn Univariate>) {
    (place, Box::new(distribution))
}

/// Whether a number is positive and finite.
pub(crate) fn positive(x: f64) -> bool {
    x > 0.0 && x.is_finite()
}
