//! Gaussian discriminant analysis: classes with a Gaussian over all their numbers,
//!
//!   p(x, z) = π_z N(x | μ_z, Σ_z).
//!
//! It is a mixture whose components are the classes and whose real columns are one leaf.

use crate::data::Source;
use crate::model::mixture::{CovarianceKind, FitOptions, FittedMixture, Recipe, Specification};
use crate::model::{Learned, Learner};
use crate::{Control, Result};

/// Gaussian discriminant analysis to be fitted.
#[derive(Clone, Debug)]
pub struct Gda(pub Recipe);

impl Gda {
    /// Classes of rows by the labels in a column, each with its own full covariance.
    pub fn new(target: impl Into<String>) -> Gda {
        let specification = Specification::gda(target, CovarianceKind::default());
        Gda(Recipe::new(specification, FitOptions::default()))
    }
}

impl Learner for Gda {
    const NAME: &'static str = "gda";
    const ABOUT: &'static str = "Classes with a Gaussian over all their numbers";
    type Model = FittedMixture;

    fn target(&self) -> Option<&str> {
        self.0.specification.target.as_deref()
    }

    fn learn(&self, rows: &dyn Source, control: Control) -> Result<Learned> {
        self.0.learn(rows, control)
    }
}
