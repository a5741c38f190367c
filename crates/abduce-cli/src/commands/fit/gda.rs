//! The options of `gda`.

use super::CalibrationOptions;
use super::models::{ModelArguments, ModelOptions};
use super::options::labels::LabelOptions;
use super::options::leaves::ColumnOptions;
use super::options::normal::NormalOptions;
use crate::arguments::DataArguments;
use crate::context::Context;
use crate::io::failure::Outcome;
use abduce::data::{Schema, Source, TextOptions};
use abduce::model::gda::Gda;
use abduce::model::mixture::{CovarianceKind, Recipe, Specification};
use abduce::model::{AnyLearner, Learner};
use clap::Args;

#[derive(Args)]
#[command(next_help_heading = "Model options")]
pub struct Options {
    #[command(flatten)]
    labels: LabelOptions,

    /// The covariance of the real columns: full, tied, diagonal, spherical, identity, or one of
    /// mclust's EII VII EEI VEI EVI VVI EEE VEE EVE VVE EEV VEV EVV VVV [default: full]
    #[arg(long, value_name = "SHAPE")]
    covariance: Option<CovarianceKind>,

    #[command(flatten)]
    normal: NormalOptions,

    #[command(flatten)]
    leaves: ColumnOptions,
}

impl ModelArguments for Options {
    type Learner = Gda;
    const EXAMPLES: &'static [&'static str] = &[
        "gda penguins.csv --target species",
        "gda penguins.csv --target species --covariance tied",
    ];
}

impl Options {
    fn specification(&self, target: String) -> Outcome<Specification> {
        let covariance = self.covariance.unwrap_or_default();
        let mut specification = Specification::gda(target, covariance);
        self.leaves.set(&mut specification)?;
        self.normal.set(&mut specification);
        Ok(specification)
    }
}

impl ModelOptions for Options {
    fn learner(&self, data: &DataArguments, context: &Context) -> Outcome<Box<dyn AnyLearner>> {
        let mut specification = self.specification(self.labels.target(Gda::NAME, data)?)?;
        let mut options = self.leaves.fit_options(context.seed)?;
        self.labels.set(&mut specification, &mut options)?;
        Ok(Box::new(Gda(Recipe::new(specification, options))))
    }

    fn text(&self) -> Outcome<Option<TextOptions>> {
        self.leaves.text().map(Some)
    }

    fn kind_of_target(&self, schema: &Schema, kinds: &[String]) -> Outcome<Option<String>> {
        self.labels.kind_of_target(schema, kinds)
    }

    fn note(&self, target: Option<&str>, source: &dyn Source, context: &Context) -> Outcome {
        self.labels.note(context)?;
        let specification = self.specification(target.unwrap_or_default().into())?;
        let schema = source.schema();
        self.normal
            .note(self.covariance.is_some(), &specification, schema, context);
        self.leaves.note(source, context)
    }

    fn calibration(&self) -> Option<&CalibrationOptions> {
        Some(&self.labels.calibration)
    }
}
