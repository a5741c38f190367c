//! The names that most programs need: `use abduce::prelude::*;`.

pub use crate::ask::{Explain, Joint, Predict};
pub use crate::data::{Kind, ReadOptions, Source, Table, open};
pub use crate::family::Fill;
pub use crate::model::Learner;
pub use crate::model::density::{HistogramDensity, Kde, Knn};
pub use crate::model::gaussian::Gaussian;
pub use crate::model::gda::Gda;
pub use crate::model::kmeans::KMeans;
pub use crate::model::mixture::{CovarianceKind, Mixture};
pub use crate::model::naive_bayes::NaiveBayes;
pub use crate::store::{Fit, Model, Prediction};
pub use crate::{Control, Error, Result};
