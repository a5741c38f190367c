//! What densities and mixtures refuse of the options of all models: an option given in
//! vain is an error that says why, or a note where only the columns tell.

use super::{ModelOptions, Task, does_not_apply};
use crate::commands::fit::ModelName;
use crate::context::Context;
use crate::failure::Outcome;
use abduce::data::Schema;
use abduce::family::LeafFamily;
use abduce::model::mixture::{CovarianceKind, Event};

impl ModelOptions {
    /// Says which options are given in vain to a density without a family.
    pub(super) fn refuse_what_densities_lack(&self, model: ModelName) -> Outcome {
        let no_iterations = "a density is made of the rows at once";
        let other_shape = !matches!(
            self.covariance(),
            Some(CovarianceKind::Full | CovarianceKind::Diagonal)
        ) && self.covariance.is_some();
        let unfit = [
            (
                self.components.is_some(),
                "--components",
                "it has no components",
            ),
            (self.select.is_some(), "--select", "it has no components"),
            (self.restarts.is_some(), "--restarts", no_iterations),
            (self.init.is_some(), "--init", no_iterations),
            (self.tol.is_some(), "--tol", no_iterations),
            (self.max_iter.is_some(), "--max-iter", no_iterations),
            (
                self.class_smoothing.is_some(),
                "--class-smoothing",
                "classes have their shares",
            ),
            (
                self.variance_floor.is_some(),
                "--variance-floor",
                "it has no variances",
            ),
            (self.prior.is_some(), "--prior", "it has no Gaussians"),
            (!self.family.is_empty(), "--family", "it has no families"),
            (
                !self.dirichlet.is_empty(),
                "--dirichlet",
                "it has no levels",
            ),
            (
                self.class_prior.is_some(),
                "--class-prior",
                "classes have their shares",
            ),
            (self.unseen.is_some(), "--unseen", "it has no levels"),
            (self.event.is_some(), "--event", "it reads no text"),
            (self.predictive, "--predictive", "it has no parameters"),
            (self.no_marks, "--no-marks", "it keeps its rows anyway"),
            (
                self.unlabelled.is_some(),
                "--unlabelled",
                "rows without a label are left out",
            ),
            (
                self.smoothing.is_some() && model != ModelName::Histogram,
                "--smoothing",
                "it is for histogram",
            ),
            (
                self.covariance.is_some() && model != ModelName::Kde,
                "--covariance",
                "it is for kde",
            ),
            (
                other_shape,
                "--covariance",
                "a bandwidth is diagonal or full",
            ),
        ];
        match unfit.iter().find(|(given, ..)| *given) {
            Some((_, option, why)) => Err(does_not_apply(option, model, why)),
            None => Ok(()),
        }
    }

    /// Says which options find no column of numbers that they are about.
    pub(super) fn note_without_numbers(&self, task: &Task, schema: &Schema, context: &Context) {
        let (Task::Mixture(specification, ..)
        | Task::Selection(specification, ..)
        | Task::Bootstrap(specification, ..)) = task
        else {
            return;
        };
        // What cannot be modelled at all is said by the fit.
        let Ok(leaves) = specification.leaves(schema) else {
            return;
        };
        let is_of_numbers = |family: &LeafFamily| {
            matches!(
                family,
                LeafFamily::Multivariate { .. } | LeafFamily::MultivariateStudentT { .. }
            )
        };
        if leaves.iter().any(|leaf| is_of_numbers(&leaf.family)) {
            return;
        }
        let given = [
            (self.covariance.is_some(), "--covariance"),
            (self.tails.are_given(), "--tails"),
            (self.prior.is_some(), "--prior"),
        ];
        for (_, option) in given.iter().filter(|(given, _)| *given) {
            context.note(&format!(
                "{option} says how real columns are taken together, and there are none"
            ));
        }
    }

    /// Says which options are given in vain to a mixture, or to one of labelled classes.
    pub(super) fn refuse_what_mixtures_lack(&self, model: ModelName) -> Outcome {
        let labelled = model != ModelName::Mixture;
        let unfit = [
            (
                !labelled && self.class_prior.is_some(),
                "--class-prior",
                "a mixture finds its clusters itself",
            ),
            (
                !labelled && self.unlabelled.is_some(),
                "--unlabelled",
                "it has no labels at all",
            ),
            (
                !labelled && self.event == Some(Event::Complement),
                "--event complement",
                "only labelled classes have a complement",
            ),
            (
                !labelled && self.target.is_some(),
                "--target",
                "a mixture finds its clusters itself; fit naive-bayes or gda to labels, or --drop the column",
            ),
            (
                labelled && self.components.is_some(),
                "--components",
                "the target's labels are the components",
            ),
            (
                model == ModelName::NaiveBayes && self.covariance.is_some(),
                "--covariance",
                "its columns are independent in every class; fit gda for a covariance",
            ),
            (
                model == ModelName::NaiveBayes && self.prior.is_some(),
                "--prior",
                "its numbers are not taken together; --variance-floor keeps variances from vanishing",
            ),
            (
                model != ModelName::NaiveBayes && self.predictive,
                "--predictive",
                "it is for naive-bayes",
            ),
            (
                labelled && self.restarts.is_some(),
                "--restarts",
                "the labels say where to start",
            ),
            (
                labelled && self.init.is_some(),
                "--init",
                "the labels say where to start",
            ),
            (
                self.given.begins().is_some() && self.restarts.is_some(),
                "--restarts",
                "the start is given",
            ),
            (
                self.given.begins().is_some() && self.init.is_some(),
                "--init",
                "the start is given",
            ),
        ];
        if let Some((_, option, why)) = unfit.iter().find(|(given, ..)| *given) {
            return Err(does_not_apply(option, model, why));
        }
        if let Some(start) = self.init.filter(|start| start.mixture.is_none()) {
            let option = format!("--init {}", start.name);
            return Err(does_not_apply(&option, model, "it is for kmeans"));
        }
        Ok(())
    }
}
