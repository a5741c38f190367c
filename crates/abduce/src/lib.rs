//! Generative models of tables with missing values.
//!
//! A model p(x, z | θ) of the columns x and of labels or clusters z is fitted to a table in which
//! any cell and any label may be missing. It then classifies, clusters, fills missing values,
//! scores, explains and draws rows, whatever is missing in them.
//!
//! ```
//! use abduce::prelude::*;
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("penguins.csv");
//! # std::fs::write(&path, "species,bill,mass\nAdelie,39.1,3750\nAdelie,,3800\nGentoo,46.1,4500\nGentoo,50.0,\n,45.3,4400\n")?;
//! let table = Table::read(&path)?;
//! let model = NaiveBayes::new("species").fit(&table)?;
//! for prediction in model.predict(&table)? {
//!     println!("{} with probability {:.3}", prediction.label, prediction.probability);
//! }
//! let file = folder.path().join("penguins.abduce");
//! model.save(&file)?;
//! assert_eq!(Model::load(&file)?.predict(&table)?, model.predict(&table)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Models
//!
//! | to fit | what it is |
//! |---|---|
//! | [`NaiveBayes`](model::naive_bayes::NaiveBayes) | classes whose columns are independent of each other |
//! | [`Gda`](model::gda::Gda) | classes with a Gaussian over all their numbers (LDA, QDA) |
//! | [`Mixture`](model::mixture::Mixture) | clusters, found by EM |
//! | [`KMeans`](model::kmeans::KMeans) | clusters about centres |
//! | [`Gaussian`](model::gaussian::Gaussian) | one Gaussian over all numbers |
//! | [`Kde`](model::density::Kde), [`HistogramDensity`](model::density::HistogramDensity), [`Knn`](model::density::Knn) | densities without a family |
//!
//! Each has its options as methods, as in `Mixture::new(3).restarts(20)`, and is fitted by
//! [`fit`](store::Fit::fit). The result is a [`Model`](store::Model), which answers about whole
//! tables and is saved to a readable file that the command line and the Python package share.
//! Naive Bayes, discriminant analysis and mixtures take in and forget rows without the rows that
//! they were fitted to: [`update`](store::Model::update), [`merge`](store::Model::merge) and
//! [`forget`](store::Model::forget).
//!
//! # Modules
//!
//! * [`prelude`]: the names that most programs need
//! * [`data`]: tables, kinds of columns, files
//! * [`model`]: the models, and the traits that a new one implements
//! * [`store`]: fitted models and their files
//! * [`ask`]: what a model can be asked, as traits
//! * [`family`], [`density`]: probability distributions and densities of columns
//! * [`bayes`], [`estimate`], [`concept`]: conjugate and other priors, the estimation of one
//!   family, finite hypotheses
//! * [`learn`], [`leaf`]: the EM algorithm, and the families of a model's columns
//! * [`eval`]: cross-validation, calibration, costs
//! * [`text`]: from texts to counts of terms
//! * [`plot`]: pictures of a model, as SVG
//!
//! # Features
//!
//! All features are on by default.
//!
//! `parquet` reads [Apache Parquet](https://parquet.apache.org) files in [`data`]. Without it,
//! opening such a file is an error; CSV, JSON lines, svmlight and Arrow files are always
//! supported. It adds the crate `parquet` with its compression codecs.
//!
//! `text` reads texts out of folders, web pages and mailboxes: `text::file_text`, `text::Mail`
//! and `text::Messages`, and such inputs in [`data`]. Without it, opening them is an error;
//! columns of text in tables are always supported. It adds the crate `mail-parser` with its
//! character encodings.
//!
//! `plot` adds the module `plot`, which draws a model and its rows as SVG. It adds the crate
//! `abduce-plot`, which has no dependencies.
//!
//! # Guarantees
//!
//! The same data, options and seed give the same bits on any number of threads. A weight of 2 is
//! the row twice, a weight of 0 is the row absent. Bad input gives an [`Error`] that names the
//! file, line and column; nothing panics.

#![deny(unsafe_code)]

pub mod ask;
pub mod bayes;
pub mod concept;
mod control;
pub mod data;
pub mod density;
mod error;
pub mod estimate;
pub mod eval;
pub mod family;
#[allow(unsafe_code)]
mod kernel;
pub mod leaf;
pub mod learn;
pub mod model;
#[cfg(feature = "plot")]
pub mod plot;
pub mod prelude;
mod spelling;
pub mod store;
pub mod text;
mod validate;

pub use control::{Control, Progress};
pub use error::{Error, ErrorKind, Result};
pub use kernel::simd::simd_level;
pub use spelling::spell_options;
