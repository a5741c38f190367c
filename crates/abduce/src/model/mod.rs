//! Models, one folder each, and the [list](MODELS) of them: mixtures, which serve naive Bayes,
//! discriminant analysis and clustering; densities without a family; k-means. Bayesian networks are
//! not in the list yet, as they cannot be fitted.

pub mod density;
mod fitted;
pub mod gaussian;
pub mod gda;
mod info;
pub mod kmeans;
mod learner;
pub mod mixture;
pub mod naive_bayes;
pub mod network;
mod report;

pub use fitted::{AnyModel, Changed, Fitted, FittedModel, Incremental, Part};
pub use info::ModelInfo;
pub(crate) use info::{Damaged, Parts};
pub use learner::{AnyLearner, Learned, Learner};
pub use report::{FitReport, LogLikelihoodOf};

use crate::data::{Field, Kind, kind_option};
use crate::{Error, Result};

/// All models, in the order in which help lists them. The `fit` commands and the kinds of model
/// files follow from this list.
pub const MODELS: &[ModelInfo] = &[
    ModelInfo::of::<naive_bayes::NaiveBayes>(),
    ModelInfo::of::<gda::Gda>(),
    ModelInfo::of::<mixture::Mixture>(),
    ModelInfo::of::<kmeans::KMeans>(),
    ModelInfo::of::<gaussian::Gaussian>(),
    ModelInfo::of::<density::Kde>(),
    ModelInfo::of::<density::HistogramDensity>(),
    ModelInfo::of::<density::Knn>(),
];

/// Checks that a number of restarts or iterations is not too large to store a result for each.
pub(crate) fn check_tries(what: &str, number: usize) -> Result<()> {
    const MAX_NUMBER: usize = 10_000_000;
    if number > MAX_NUMBER {
        let message = format!("there can be at most {MAX_NUMBER} {what}, not {number}");
        return Err(Error::parameter(message));
    }
    Ok(())
}

/// The number of classes of a target.
///
/// # Errors
/// If the column is not categorical, or no row has a label.
pub(crate) fn classes_of(target: &Field) -> Result<usize> {
    if !target.kind.is_coded() {
        let kind = target.kind.name();
        let option = kind_option(&target.name, Kind::Categorical.name());
        let message = format!("the target must be categorical, not {kind}");
        return Err(Error::parameter(message)
            .at_column(&target.name)
            .with_hint(format!("pass {option}")));
    }
    if target.levels.is_empty() {
        return Err(Error::data("no row has a label")
            .at_column(&target.name)
            .with_hint("fit a mixture to find clusters instead"));
    }
    Ok(target.levels.len())
}

/// A list for people: the first few, and how many more.
pub(crate) fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut text = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN {
        text += &format!(" and {} more", names.len() - SHOWN);
    }
    text
}
