//! k-means as a model: the recipe and the details in a model file, and the builder of its fit.

use super::{Distance, Fit, FittedKMeans, Options, Specification, Start, fit};
use crate::ask::Joint;
use crate::data::Source;
use crate::model::report::finite;
use crate::model::{
    FitReport, Fitted, FittedModel, Incremental, Learned, Learner, LogLikelihoodOf,
};
use crate::{Control, Error, Result};
use serde::{Deserialize, Serialize};

/// The specification of clusters and the options of their fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// The specification of the clusters.
    pub kmeans: Specification,
    /// The options of the fit.
    pub kmeans_options: Options,
}

/// The part of a report that only k-means has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Details {
    /// The outcome of each start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kmeans_starts: Vec<Start>,
    /// The sum of the distances of rows to their centres; the trace contains it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inertia: Option<f64>,
}

impl FittedModel for FittedKMeans {
    const KIND: &'static str = "kmeans";
    type Recipe = Recipe;
    type Details = Details;

    fn check(&self) -> Result<()> {
        FittedKMeans::check(self)
    }

    fn joint(&self) -> Result<&dyn Joint> {
        Ok(self)
    }

    fn incremental(_: &Fitted<Self>) -> Result<&dyn Incremental> {
        let message = "a k-means model cannot be updated, merged or made to forget rows: earlier \
                       rows would change clusters";
        Err(Error::parameter(message).with_hint("fit it again; a mixture can be updated"))
    }
}

/// k-means to be fitted.
#[derive(Clone, Debug)]
pub struct KMeans(pub Recipe);

impl KMeans {
    /// This many clusters by Euclidean distance.
    pub fn new(clusters: usize) -> KMeans {
        KMeans(Recipe {
            kmeans: Specification::new(clusters),
            kmeans_options: Options::default(),
        })
    }

    /// The distance between rows.
    #[must_use]
    pub fn distance(mut self, distance: Distance) -> KMeans {
        self.0.kmeans.distance = distance;
        self
    }

    /// Whether columns are divided by their standard deviations.
    #[must_use]
    pub fn standardize(mut self, standardize: bool) -> KMeans {
        self.0.kmeans.standardize = standardize;
        self
    }

    /// The number of starts.
    #[must_use]
    pub fn restarts(mut self, number: usize) -> KMeans {
        self.0.kmeans_options.restarts = number;
        self
    }

    /// The maximum number of iterations.
    #[must_use]
    pub fn max_iterations(mut self, number: usize) -> KMeans {
        self.0.kmeans_options.max_iterations = number;
        self
    }

    /// The seed of all random numbers.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> KMeans {
        self.0.kmeans_options.seed = seed;
        self
    }
}

impl Learner for KMeans {
    const NAME: &'static str = "kmeans";
    const ABOUT: &'static str = "Clusters about centres, each row in one";
    type Model = FittedKMeans;

    fn finds_clusters(&self) -> bool {
        true
    }

    fn learn(&self, rows: &dyn Source, control: Control) -> Result<Learned> {
        let Recipe {
            kmeans,
            kmeans_options,
        } = &self.0;
        let fit = fit(kmeans, rows, kmeans_options, control)?;
        // Not every distance has a density.
        let log_likelihood = match fit.model.gaussians() {
            Ok(_) => Some(fit.model.log_likelihood(rows)?),
            Err(_) => None,
        };
        Ok(fit.learned(self.0.clone(), log_likelihood))
    }
}

impl Fit {
    /// Converts the fit to the common form of all models. `log_likelihood` is that of the rows
    /// under the Gaussians of the clusters, if they have densities.
    pub fn learned(self, recipe: Recipe, log_likelihood: Option<f64>) -> Learned {
        let parameters = self.model.free_parameters();
        let criterion = |penalty: f64| match log_likelihood {
            Some(log_likelihood) => FitReport::criterion(log_likelihood, parameters, penalty),
            None => f64::INFINITY,
        };
        Learned {
            report: FitReport {
                rows: self.rows,
                weight: self.weight,
                log_likelihood: log_likelihood.unwrap_or(f64::NEG_INFINITY),
                log_likelihood_of: Some(LogLikelihoodOf::Rows),
                bic: criterion(self.weight.ln()),
                aic: criterion(2.0),
                parameters,
                iterations: self.iterations,
                converged: self.converged,
                monotone: self.monotone,
                trace: finite(&self.trace),
                warnings: self.warnings,
            },
            interrupted: self.interrupted,
            restarts: self.restarts,
            bounds: Vec::new(),
            model: Fitted {
                recipe,
                details: Details {
                    kmeans_starts: self.starts,
                    inertia: Some(self.inertia).filter(|inertia| inertia.is_finite()),
                },
                model: self.model,
            }
            .into(),
        }
    }
}
