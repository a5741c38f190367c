//! Densities as models: the recipe in a model file, and the builders of their fits.

use super::{DensityModel, Estimator, Fit, Specification, fit};
use crate::ask::Joint;
use crate::data::Source;
use crate::density::{Bins, Kernel, Rule, Selection};
use crate::model::report::finite;
use crate::model::{
    FitReport, Fitted, FittedModel, Incremental, Learned, Learner, LogLikelihoodOf,
};
use crate::{Control, Error, Result};
use serde::{Deserialize, Serialize};

/// The specification of densities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// The specification.
    pub density: Specification,
}

/// The part of a report that only densities have, which is empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Details {}

impl FittedModel for DensityModel {
    const KIND: &'static str = "density";
    type Recipe = Recipe;
    type Details = Details;

    fn check(&self) -> Result<()> {
        DensityModel::check(self)
    }

    fn joint(&self) -> Result<&dyn Joint> {
        Ok(self)
    }

    fn incremental(fitted: &Fitted<Self>) -> Result<&dyn Incremental> {
        let name = fitted.recipe.density.estimator.name();
        let message = format!("a {name} model cannot be updated, merged or made to forget rows");
        let hint = "fit it again; naive Bayes with `family=COL=kde` can be updated";
        Err(Error::parameter(message).with_hint(hint))
    }
}

/// Defines a density to be fitted: its name and description, the default of its estimator, and
/// the options of the estimator.
macro_rules! learners {
    ($($(#[$doc:meta])* $learner:ident, $name:literal, $about:literal, $estimator:expr; {
        $($(#[$option_doc:meta])* $option:ident($argument:ident: $type:ty) $pattern:pat => $set:expr;)*
    })*) => {
        $($(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $learner(pub Recipe);

        impl Default for $learner {
            fn default() -> $learner {
                let density = Specification { target: None, estimator: $estimator };
                $learner(Recipe { density })
            }
        }

        impl $learner {
            /// One density of all rows.
            pub fn new() -> $learner {
                $learner::default()
            }

            /// One density of each class instead, by the labels in a column.
            #[must_use]
            pub fn target(mut self, column: impl Into<String>) -> $learner {
                self.0.density.target = Some(column.into());
                self
            }

            $($(#[$option_doc])*
            #[must_use]
            pub fn $option(mut self, $argument: $type) -> $learner {
                if let $pattern = &mut self.0.density.estimator {
                    $set;
                }
                self
            })*
        }

        impl Learner for $learner {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about;
            type Model = DensityModel;

            fn target(&self) -> Option<&str> {
                self.0.density.target.as_deref()
            }

            fn learn(&self, rows: &dyn Source, control: Control) -> Result<Learned> {
                let fit = fit(&self.0.density, rows, control)?;
                Ok(fit.learned(self.0.clone()))
            }
        })*
    };
}

learners! {
    /// A kernel density to be fitted.
    Kde, "kde", "A kernel density, or one for each class", Estimator::Kde {
        kernel: Kernel::default(),
        selection: Selection::default(),
    }; {
        /// The kernel.
        kernel(shape: Kernel) Estimator::Kde { kernel, .. } => *kernel = shape;
        /// The rule for the bandwidth.
        bandwidth(rule: Rule) Estimator::Kde { selection, .. } => selection.rule = rule;
    }
    /// A histogram to be fitted.
    HistogramDensity, "histogram", "A histogram, or one for each class", Estimator::Histogram {
        bins: Bins::default(),
        smoothing: 0.0,
    }; {
        /// The rule for the number of bins.
        bins(rule: Bins) Estimator::Histogram { bins, .. } => *bins = rule;
        /// The pseudocount spread evenly over all cells.
        smoothing(rows: f64) Estimator::Histogram { smoothing, .. } => *smoothing = rows;
    }
    /// A k-nearest-neighbour density to be fitted.
    Knn, "knn", "A k-nearest-neighbour density, or one for each class", Estimator::Knn {
        neighbours: None,
    }; {
        /// The number of neighbours.
        neighbours(number: usize) Estimator::Knn { neighbours } => *neighbours = Some(number);
    }
}

impl Fit {
    /// Converts the fit to the common form of all models.
    pub fn learned(self, recipe: Recipe) -> Learned {
        // Information criteria are defined for maximum likelihood only.
        let criterion = |penalty: f64| match recipe.density.estimator {
            Estimator::Histogram { .. } => {
                FitReport::criterion(self.log_likelihood, self.parameters, penalty)
            }
            Estimator::Kde { .. } | Estimator::Knn { .. } => f64::INFINITY,
        };
        Learned {
            report: FitReport {
                rows: self.rows,
                weight: self.weight,
                log_likelihood: self.log_likelihood,
                log_likelihood_of: Some(LogLikelihoodOf::Rows),
                bic: criterion(self.weight.ln()),
                aic: criterion(2.0),
                parameters: self.parameters,
                iterations: 1,
                converged: true,
                monotone: true,
                trace: finite(&[self.log_likelihood]),
                warnings: self.warnings,
            },
            interrupted: false,
            restarts: Vec::new(),
            bounds: Vec::new(),
            model: Fitted {
                model: self.model,
                recipe,
                details: Details {},
            }
            .into(),
        }
    }
}
