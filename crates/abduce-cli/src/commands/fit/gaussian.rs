//! The options of `gaussian`.

use super::models::{ModelArguments, ModelOptions};
use super::options::em::EmArguments;
use crate::arguments::DataArguments;
use crate::arguments::values::not_negative;
use crate::context::Context;
use crate::io::failure::Outcome;
use abduce::model::AnyLearner;
use abduce::model::gaussian::Gaussian;
use abduce::model::mixture::{CovarianceKind, NormalPrior};
use clap::Args;

#[derive(Args)]
#[command(next_help_heading = "Model options")]
pub struct Options {
    /// The covariance: full, diagonal, spherical or identity [default: full]
    #[arg(long, value_name = "SHAPE")]
    covariance: Option<CovarianceKind>,

    /// Prior on the Gaussian: mclust (mclust's default), or normal-inverse-wishart(κ,ν), where
    /// κ is the number of pseudo-rows at the table's mean and ν the degrees of freedom of the
    /// covariance
    #[arg(long, value_name = "PRIOR")]
    prior: Option<NormalPrior>,

    /// Prior scatter added to each variance, as a share of the variance of the column; keeps
    /// variances from collapsing to zero [default: 1e-6]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, value_parser = not_negative)]
    variance_floor: Option<f64>,

    #[command(flatten)]
    em: EmArguments,
}

impl ModelArguments for Options {
    type Learner = Gaussian;
    const EXAMPLES: &'static [&'static str] = &["gaussian penguins.csv --drop species,island,sex"];
}

impl ModelOptions for Options {
    fn learner(&self, _: &DataArguments, context: &Context) -> Outcome<Box<dyn AnyLearner>> {
        let mut gaussian = Gaussian::new(self.covariance.unwrap_or_default());
        let specification = &mut gaussian.0.specification;
        specification.normal_prior = self.prior;
        specification.variance_floor = self.variance_floor.unwrap_or(specification.variance_floor);
        gaussian.0.options.em = self.em.options()?;
        gaussian.0.options.seed = context.seed;
        Ok(Box::new(gaussian))
    }
}
