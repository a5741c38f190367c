//! The options of multivariate Gaussians: the prior and the tails.

use crate::arguments::values::given;
use crate::context::Context;
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
    #[arg(long, value_name = "PRIOR")]
    prior: Option<NormalPrior>,

    /// Distribution of the real columns in a class or component: gaussian, or student-t, which is
    /// robust to outliers; its degrees of freedom are learned, or given as in student-t(4)
    /// [default: gaussian]
    #[arg(long, value_name = "TAILS")]
    tails: Option<Tails>,
}

impl NormalOptions {
    /// Sets the options in a specification.
    pub fn set(&self, specification: &mut Specification) {
        specification.normal_prior = self.prior;
        specification.tails = self.tails.unwrap_or_default();
    }

    /// Notes options that have no effect because no real columns are modelled together.
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
        let options = [
            (covariance_given, "--covariance"),
            (self.tails.is_some(), "--tails"),
            (self.prior.is_some(), "--prior"),
        ];
        for option in given(&options) {
            context.note(&format!(
                "{option} has no effect: no columns share a multivariate Gaussian"
            ));
        }
    }
}
