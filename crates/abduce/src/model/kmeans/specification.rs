//! The specification of clusters and the options of their fit: the number of clusters, the
//! distance, the algorithm, the initialisation and the stopping rule.

use crate::data::{Field, Kind, Schema, kind_option};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The distance between a row and a centre.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distance {
    /// |x − c|²; centres are means.
    #[default]
    Euclidean,
    /// Σ|x − c|; centres are medians of each column.
    Manhattan,
    /// 1 − cos(x, c); centres are directions.
    Cosine,
    /// (x − c)ᵀ Σ⁻¹ (x − c), where Σ is the covariance of all rows or a given one.
    Mahalanobis,
}

/// How rows are assigned to centres. All algorithms except mini-batch give the same clusters; they
/// differ in the number of distances that they compute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// The fastest algorithm for the number of columns, according to benchmarks.
    #[default]
    Auto,
    /// Computes all distances (Lloyd 1982).
    Lloyd,
    /// Keeps one lower bound for each row (Hamerly 2010).
    Hamerly,
    /// Keeps a lower bound for each row and centre (Elkan 2003).
    Elkan,
    /// Keeps a lower bound for each row and group of eight centres (Ding et al. 2015).
    Yinyang,
    /// Updates the centres after every few thousand rows (Sculley 2010): fewer passes, and clusters
    /// nearly as good.
    MiniBatch,
}

/// How the initial centres are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Init {
    /// k-means++ with the best of 2 + ln k candidates for each centre.
    #[default]
    Greedy,
    /// k-means++: rows that are probably far from each other (Arthur & Vassilvitskii 2007).
    #[serde(rename = "kmeans++")]
    KMeansPlusPlus,
    /// k-means‖: many candidates from a few passes over all rows, reduced to k by k-means++
    /// (Bahmani et al. 2012).
    Parallel,
    /// Random rows.
    Random,
}

macro_rules! named {
    ($type:ident, $what:literal, $list:literal, $($name:literal => $value:ident),*) => {
        impl FromStr for $type {
            type Err = Error;

            fn from_str(name: &str) -> Result<Self> {
                match name {
                    $($name => Ok($type::$value),)*
                    _ => Err(Error::parameter(format!("\"{name}\" is not {}", $what))
                        .with_hint($list)),
                }
            }
        }

        impl $type {
            /// The name of this option.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name,)*
                }
            }
        }
    };
}

named!(Distance, "a distance", "the distances are euclidean, manhattan, cosine and mahalanobis",
    "euclidean" => Euclidean, "manhattan" => Manhattan, "cosine" => Cosine,
    "mahalanobis" => Mahalanobis);
named!(Algorithm, "an algorithm",
    "the algorithms are auto, lloyd, hamerly, elkan, yinyang and mini-batch",
    "auto" => Auto, "lloyd" => Lloyd, "hamerly" => Hamerly, "elkan" => Elkan,
    "yinyang" => Yinyang, "mini-batch" => MiniBatch);
named!(Init, "a start", "the starts are greedy, kmeans++, parallel and random",
    "greedy" => Greedy, "kmeans++" => KMeansPlusPlus, "parallel" => Parallel,
    "random" => Random);

/// The specification of clusters.
///
/// ```
/// use abduce::model::kmeans::{Distance, Specification};
/// let clusters = Specification::new(3);
/// assert_eq!(clusters.distance, Distance::Euclidean);
/// assert!("euclidian".parse::<Distance>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Specification {
    /// The number of clusters.
    pub clusters: usize,
    /// The distance between rows and centres.
    pub distance: Distance,
    /// Whether every centre is a row.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub medoids: bool,
    /// Whether columns are divided by their standard deviations.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub standardize: bool,
    /// The covariance for the Mahalanobis distance, row by row; if not given, the covariance of the
    /// complete rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covariance: Option<Vec<Vec<f64>>>,
}

impl Specification {
    /// This number of clusters by Euclidean distance.
    pub fn new(clusters: usize) -> Self {
        Specification {
            clusters,
            distance: Distance::Euclidean,
            medoids: false,
            standardize: false,
            covariance: None,
        }
    }

    /// The positions of the numeric columns, and the names and kinds of the others, which are left
    /// out.
    ///
    /// # Errors
    /// If there is no numeric column, or the number of clusters is 0.
    pub fn columns(&self, schema: &Schema) -> Result<(Vec<usize>, Vec<String>)> {
        if self.clusters == 0 {
            return Err(Error::parameter("k-means needs at least one cluster"));
        }
        let (mut columns, mut left_out) = (Vec::new(), Vec::new());
        for (position, field) in schema.fields.iter().enumerate() {
            match field.kind {
                Kind::Real | Kind::Count | Kind::Binary => columns.push(position),
                _ => left_out.push(format!("\"{}\" ({})", field.name, field.kind.name())),
            }
        }
        if columns.is_empty() {
            let has_numeric_levels = |field: &&Field| field.level_numbers().is_some();
            return Err(Error::parameter("there is no numeric column").with_hint(
                match schema.fields.iter().find(has_numeric_levels) {
                    Some(field) => {
                        format!("pass {}", kind_option(&field.name, Kind::Real.name()))
                    }
                    None => "fit a mixture to cluster categorical columns".to_string(),
                },
            ));
        }
        Ok((columns, left_out))
    }
}

/// The options of a fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// How rows are assigned to centres.
    pub algorithm: Algorithm,
    /// How the initial centres are chosen.
    pub init: Init,
    /// The number of starts.
    pub restarts: usize,
    /// The relative decrease of the inertia at which the fit has converged. It has also converged
    /// if no centre moves.
    pub tolerance: f64,
    /// If given, the fit has converged when the squared movements of all centres sum to at most
    /// this share of the mean variance of the columns; it replaces the tolerance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub movement: Option<f64>,
    /// The maximum number of iterations.
    pub max_iterations: usize,
    /// Whether clusters stay in the order of given centres; otherwise they are sorted by size, the
    /// largest first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub numbered: bool,
    /// Whether initial centres are drawn from the distinct rows in the order of their values. The
    /// same seed then gives the same centres for any order of the rows, and a row of weight 2 gives
    /// the same result as the row twice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_value: bool,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            algorithm: Algorithm::Auto,
            init: Init::Greedy,
            restarts: 10,
            tolerance: 1e-8,
            movement: None,
            max_iterations: 1000,
            numbered: false,
            by_value: false,
            seed: 0,
        }
    }
}
