//! What k-means takes of the options of all models, and what it refuses.

use super::{ModelOptions, Task, does_not_apply};
use crate::commands::fit::ModelName;
use crate::failure::Outcome;
use abduce::Error;
use abduce::model::kmeans;

impl ModelOptions {
    /// An option of all models that medoids or medians have no use for.
    fn unfit_of_centres(&self) -> Option<(&'static str, &'static str)> {
        let medoids = self.kmeans.are_medoids();
        let parallel = self.init.and_then(|start| start.kmeans) == Some(kmeans::Init::Parallel);
        let unfit = [
            (
                medoids && self.init.is_some(),
                "--init",
                "medoids always begin by kmeans++",
            ),
            (
                medoids && self.tol.is_some(),
                "--tol",
                "swaps of medoids end when none is left that pays",
            ),
            (
                parallel && self.kmeans.are_medians(),
                "--init parallel",
                "it is by squared distances; --distance manhattan begins by greedy or kmeans++",
            ),
        ];
        let unfit = unfit.iter().find(|(given, ..)| *given);
        unfit.map(|(_, option, why)| (*option, *why))
    }

    /// The clusters to look for, and how.
    pub(super) fn kmeans_task(&self, seed: u64) -> Outcome<Task> {
        let (clusters, no_levels) = ("it finds its clusters itself", "it is over numbers");
        let unfit = [
            (self.target.is_some(), "--target", clusters),
            (self.class_prior.is_some(), "--class-prior", clusters),
            (self.unlabelled.is_some(), "--unlabelled", clusters),
            (
                self.class_smoothing.is_some(),
                "--class-smoothing",
                clusters,
            ),
            (self.no_marks, "--no-marks", "it keeps none"),
            (self.smoothing.is_some(), "--smoothing", no_levels),
            (!self.dirichlet.is_empty(), "--dirichlet", no_levels),
            (self.unseen.is_some(), "--unseen", no_levels),
            (self.event.is_some(), "--event", no_levels),
            (
                !self.family.is_empty(),
                "--family",
                "fit a mixture for families",
            ),
            (
                self.predictive,
                "--predictive",
                "it has no parameters to integrate out",
            ),
            (
                self.variance_floor.is_some(),
                "--variance-floor",
                "it has no variances",
            ),
            (self.select.is_some(), "--select", clusters),
            (self.prior.is_some(), "--prior", "it has no Gaussians"),
            (
                self.covariance.is_some(),
                "--covariance",
                "fit a mixture for covariances; --distance mahalanobis takes out one that all share",
            ),
        ];
        if let Some(start) = self.init.filter(|start| start.kmeans.is_none()) {
            let option = format!("--init {}", start.name);
            let why = "it is for mixture";
            return Err(does_not_apply(&option, ModelName::Kmeans, why));
        }
        let unfit = unfit.iter().find(|(given, ..)| *given);
        let unfit = unfit.map(|(_, option, why)| (*option, *why));
        let unfit = unfit.or_else(|| self.unfit_of_centres());
        if let Some((option, why)) = unfit.or_else(|| self.kmeans.unfit_of_centres()) {
            return Err(does_not_apply(option, ModelName::Kmeans, why));
        }
        let clusters = match self.components.as_ref().map(|own| own.0.as_slice()) {
            Some([one]) => *one,
            Some(_) => {
                return Err(does_not_apply(
                    "several --components",
                    ModelName::Kmeans,
                    "it has no criterion to choose by; fit a mixture with --covariance EII",
                ));
            }
            None => {
                let error = Error::parameter("kmeans needs -k K");
                return Err(error.with_hint("say how many clusters to look for").into());
            }
        };
        let default = self.kmeans.options(seed);
        let options = kmeans::Options {
            tolerance: self.tol.unwrap_or(default.tolerance),
            max_iterations: self.max_iter.unwrap_or(default.max_iterations),
            restarts: self.restarts.unwrap_or(default.restarts),
            init: (self.init.and_then(|start| start.kmeans)).unwrap_or(default.init),
            ..default
        };
        Ok(Task::KMeans(self.kmeans.specification(clusters), options))
    }
}
