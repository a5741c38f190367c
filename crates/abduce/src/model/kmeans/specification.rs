//! What to look for and how: the number of clusters, the distance, the way rows are
//! assigned, where to begin and when to stop.

use crate::data::{Field, Kind, Schema, kind_option};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// How far apart two rows are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distance {
    /// |x − c|²; a centre is a mean.
    #[default]
    Euclidean,
    /// Σ|x − c|; a centre is a median in every column.
    Manhattan,
    /// 1 − cos(x, c); a centre is a direction.
    Cosine,
    /// (x − c)ᵀ Σ⁻¹ (x − c), with Σ the covariance of all rows or a given one.
    Mahalanobis,
}

/// How rows find their centres. All but mini-batch give the same clusters; they
/// differ in how many distances they compute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// The fastest by rows, columns and clusters, as measured.
    #[default]
    Auto,
    /// All distances (Lloyd 1982).
    Lloyd,
    /// One lower bound a row (Hamerly 2010).
    Hamerly,
    /// A lower bound for every row and centre (Elkan 2003).
    Elkan,
    /// A lower bound for every row and group of eight centres (Ding et al. 2015).
    Yinyang,
    /// Centres move after every few thousand rows (Sculley 2010): fewer passes, and
    /// nearly as good clusters.
    MiniBatch,
}

/// Where the centres begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Init {
    /// k-means++ with 2 + ln k candidates for each centre, of which the best is kept.
    #[default]
    Greedy,
    /// Rows far from each other are likelier (Arthur & Vassilvitskii 2007).
    #[serde(rename = "kmeans++")]
    KMeansPlusPlus,
    /// k-means‖: a few passes over all rows, many candidates in each, reduced to k
    /// by k-means++ (Bahmani et al. 2012).
    Parallel,
    /// Rows at random.
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
            /// The name users read.
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

/// What to look for.
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
    /// How far apart rows are.
    pub distance: Distance,
    /// Whether every centre is a row.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub medoids: bool,
    /// Whether columns are divided by their standard deviations.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub standardize: bool,
    /// The covariance of the Mahalanobis distance, row by row; without it, that of
    /// the complete rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covariance: Option<Vec<Vec<f64>>>,
}

impl Specification {
    /// So many clusters by Euclidean distance.
    pub fn new(clusters: usize) -> Self {
        Specification {
            clusters,
            distance: Distance::Euclidean,
            medoids: false,
            standardize: false,
            covariance: None,
        }
    }

    /// The positions of the columns of numbers, and the names of the others, which
    /// are left out.
    ///
    /// # Errors
    /// If there is no column of numbers, or no cluster is asked for.
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
            let numbers = |field: &&Field| field.level_numbers().is_some();
            return Err(Error::parameter("there is no numeric column").with_hint(
                match schema.fields.iter().find(numbers) {
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

/// How to look for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// How rows find their centres.
    pub algorithm: Algorithm,
    /// Where centres begin.
    pub init: Init,
    /// How many starts to try.
    pub restarts: usize,
    /// The relative fall of the inertia at which the fit has converged; it has, too,
    /// when no centre moves.
    pub tolerance: f64,
    /// The sum of squares that all centres move by at which the fit has converged, as a share
    /// of the mean variance of the columns; instead of the tolerance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub movement: Option<f64>,
    /// The most iterations.
    pub max_iterations: usize,
    /// Whether clusters that begin at given centres stay in the order of these; otherwise the
    /// largest comes first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub numbered: bool,
    /// Whether centres are drawn from the different rows in the order of their values, so that
    /// the same seed gives the same centres whatever the order of the rows, and for a row of
    /// weight 2 as for the row twice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_value: bool,
    /// The seed of everything random.
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
