//! The options of `naive-bayes`.

use super::CalibrationOptions;
use super::models::{ModelArguments, ModelOptions};
use super::options::labels::LabelOptions;
use super::options::leaves::ColumnOptions;
use crate::arguments::DataArguments;
use crate::context::Context;
use crate::io::failure::Outcome;
use abduce::data::{Schema, Source, TextOptions};
use abduce::model::mixture::{Recipe, Specification};
use abduce::model::naive_bayes::NaiveBayes;
use abduce::model::{AnyLearner, Learner};
use clap::Args;

#[derive(Args)]
#[command(next_help_heading = "Model options")]
pub struct Options {
    #[command(flatten)]
    labels: LabelOptions,

    /// Use predictive distributions, with the parameters integrated out instead of estimated:
    /// Student t for Gaussian columns, negative binomial for Poisson, Dirichlet-multinomial for
    /// words
    #[arg(long)]
    predictive: bool,

    #[command(flatten)]
    leaves: ColumnOptions,
}

impl ModelArguments for Options {
    type Learner = NaiveBayes;
    const EXAMPLES: &'static [&'static str] = &[
        "naive-bayes penguins.csv --target species",
        "naive-bayes penguins.csv --target species --calibrate isotonic",
    ];
}

impl ModelOptions for Options {
    fn learner(&self, data: &DataArguments, context: &Context) -> Outcome<Box<dyn AnyLearner>> {
        let target = self.labels.target(NaiveBayes::NAME, data)?;
        let mut specification = Specification::naive_bayes(target);
        let mut options = self.leaves.fit_options(context.seed)?;
        self.leaves.set(&mut specification)?;
        self.labels.set(&mut specification, &mut options)?;
        specification.predictive = self.predictive;
        Ok(Box::new(NaiveBayes(Recipe::new(specification, options))))
    }

    fn text(&self) -> Outcome<Option<TextOptions>> {
        self.leaves.text().map(Some)
    }

    fn kind_of_target(&self, schema: &Schema, kinds: &[String]) -> Outcome<Option<String>> {
        self.labels.kind_of_target(schema, kinds)
    }

    fn note(&self, _: Option<&str>, source: &dyn Source, context: &Context) -> Outcome {
        self.labels.note(context)?;
        self.leaves.note(source, context)
    }

    fn calibration(&self) -> Option<&CalibrationOptions> {
        Some(&self.labels.calibration)
    }
}
