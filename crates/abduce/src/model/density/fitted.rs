//! What a model file has of densities, and densities to be fitted.

use super::{DensityModel, Estimator, Fit, Specification, fit};
use crate::ask::Joint;
use crate::data::Source;
use crate::density::{Bins, Kernel, Selection};
use crate::model::report::finite;
use crate::model::{
    FitReport, Fitted, FittedModel, Incremental, Learned, Learner, LogLikelihoodOf,
};
use crate::{Control, Error, Result};
use serde::{Deserialize, Serialize};

/// The specification of densities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// What to fit.
    pub density: Specification,
}

/// The part of a report that only densities have: none.
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
        let message = format!("a {name} cannot change without its data");
        let hint = "fit it again; naive Bayes with `family=COL=kde` can change";
        Err(Error::parameter(message).with_hint(hint))
    }
}

/// Defines a density to be fitted: the type, its name and description, and its estimator.
macro_rules! learners {
    ($($(#[$doc:meta])* $learner:ident, $name:literal, $about:literal, $estimator:expr;)*) => {
        $($(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub struct $learner(pub Recipe);

        impl $learner {
            /// One density of all rows or, with a target, one of each class.
            pub fn new(target: Option<String>) -> $learner {
                let density = Specification { target, estimator: $estimator };
                $learner(Recipe { density })
            }
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
    };
    /// A histogram to be fitted.
    HistogramDensity, "histogram", "A histogram, or one for each class", Estimator::Histogram {
        bins: Bins::default(),
        smoothing: 0.0,
    };
    /// A k-nearest-neighbour density to be fitted.
    Knn, "knn", "A k-nearest-neighbour density, or one for each class", Estimator::Knn {
        neighbours: None,
    };
}

impl Fit {
    /// The fit as that of any model.
    pub fn learned(self, recipe: Recipe) -> Learned {
        // Information criteria are about likelihoods at their maximum.
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
