//! The models there are, by the names that users type.

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, ValueEnum};
use std::ffi::OsStr;

/// The models there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModelName {
    /// Classes whose columns are independent of each other
    NaiveBayes,
    /// Classes with a Gaussian over all their numbers
    Gda,
    /// Clusters, found without labels
    Mixture,
    /// Clusters about centres, each row in one
    Kmeans,
    /// A kernel density, or one for each class
    Kde,
    /// A histogram, or one for each class
    Histogram,
    /// A k-nearest-neighbour density, or one for each class
    Knn,
}

impl ModelName {
    pub fn name(self) -> &'static str {
        match self {
            ModelName::NaiveBayes => "naive-bayes",
            ModelName::Gda => "gda",
            ModelName::Mixture => "mixture",
            ModelName::Kmeans => "kmeans",
            ModelName::Kde => "kde",
            ModelName::Histogram => "histogram",
            ModelName::Knn => "knn",
        }
    }
}

/// Names that later versions will know.
const LATER_MODELS: [&str; 3] = ["gaussian", "network", "logistic"];

/// Reads a model's name, and knows those that are not there yet.
#[derive(Clone)]
pub struct ModelParser;

impl TypedValueParser for ModelParser {
    type Value = ModelName;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<ModelName, clap::Error> {
        match value.to_str() {
            Some(name) if LATER_MODELS.contains(&name) => {
                let there: Vec<&str> = ModelName::value_variants()
                    .iter()
                    .map(|model| model.name())
                    .collect();
                let message = format!(
                    "the model {name} is not available in this version; there are {}\n",
                    there.join(", ")
                );
                Err(clap::Error::raw(ErrorKind::InvalidValue, message))
            }
            _ => EnumValueParser::new().parse_ref(command, argument, value),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let models = ModelName::value_variants().iter();
        Some(Box::new(models.filter_map(ValueEnum::to_possible_value)))
    }
}
