//! Naive Bayes: classes in which all columns are independent,
//!
//!   p(x, z) = π_z ∏_column p(x_column | θ_column,z).
//!
//! It is a mixture whose components are the classes and whose leaves are single columns.

use crate::data::Source;
use crate::model::mixture::{FitOptions, FittedMixture, Recipe, Specification};
use crate::model::{Learned, Learner};
use crate::{Control, Result};

/// Naive Bayes to be fitted.
#[derive(Clone, Debug)]
pub struct NaiveBayes(pub Recipe);

impl NaiveBayes {
    /// Classes of rows by the labels in a column.
    pub fn new(target: impl Into<String>) -> NaiveBayes {
        let specification = Specification::naive_bayes(target);
        NaiveBayes(Recipe::new(specification, FitOptions::default()))
    }
}

impl Learner for NaiveBayes {
    const NAME: &'static str = "naive-bayes";
    const ABOUT: &'static str = "Classes whose columns are independent of each other";
    type Model = FittedMixture;

    fn target(&self) -> Option<&str> {
        self.0.specification.target.as_deref()
    }

    fn learn(&self, rows: &dyn Source, control: Control) -> Result<Learned> {
        self.0.learn(rows, control)
    }
}
