//! The options of numbers that are modelled together: the prior and the tails.

use crate::context::Context;
use abduce::Error;
use abduce::data::Schema;
use abduce::family::LeafFamily;
use abduce::model::mixture::{NormalPrior, Specification, Tails};
use clap::Args;

#[derive(Args)]
#[command(next_help_heading = "Model options")]
pub struct NormalOptions {
    /// Prior on the Gaussians: mclust (mclust's default), or normal-inverse-wishart(κ,ν), where
    /// κ is the number of pseudo-rows at the table's mean and ν the degrees of freedom of the
    /// covariance
    #[arg(long, value_name = "PRIOR", value_parser = prior)]
    prior: Option<NormalPrior>,

    /// Distribution of the numbers in a class or component: gaussian, or student-t, which is
    /// robust to outliers; its degrees of freedom are learned, or given as in student-t(4)
    /// [default: gaussian]
    #[arg(long, value_name = "TAILS", value_parser = tails)]
    tails: Option<Tails>,
}

impl NormalOptions {
    /// Sets the options in a specification.
    pub fn set(&self, specification: &mut Specification) {
        specification.normal_prior = self.prior;
        specification.tails = self.tails.unwrap_or_default();
    }

    /// Notes options that have no effect because no numbers are modelled together.
    pub fn note(
        &self,
        covariance_given: bool,
        specification: &Specification,
        schema: &Schema,
        context: &Context,
    ) {
        // The fit reports what cannot be modelled at all.
        let Ok(leaves) = specification.leaves(schema) else {
            return;
        };
        let is_joint = |family: &LeafFamily| {
            matches!(
                family,
                LeafFamily::Multivariate { .. } | LeafFamily::MultivariateStudentT { .. }
            )
        };
        if leaves.iter().any(|leaf| is_joint(&leaf.family)) {
            return;
        }
        let given = [
            (covariance_given, "--covariance"),
            (self.tails.is_some(), "--tails"),
            (self.prior.is_some(), "--prior"),
        ];
        for (_, option) in given.iter().filter(|(given, _)| *given) {
            context.note(&format!(
                "{option} has no effect: no real columns are modelled together"
            ));
        }
    }
}

fn prior(text: &str) -> Result<NormalPrior, String> {
    text.parse().map_err(|error: Error| error.to_string())
}

fn tails(text: &str) -> Result<Tails, String> {
    text.parse().map_err(|error: Error| error.to_string())
}
