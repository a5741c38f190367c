//! The options of k-means.

use super::model_name::ModelName;
use abduce::Error;
use abduce::model::kmeans::{Algorithm, Distance, Options, Specification};
use clap::Args;

#[derive(Args)]
#[command(next_help_heading = "k-means options")]
pub struct KMeansOptions {
    /// How far apart rows are: euclidean (centres are means), manhattan (medians),
    /// cosine (directions) or mahalanobis (euclidean after taking out the covariance
    /// of all rows) [kmeans; default: euclidean]
    #[arg(long, value_name = "DISTANCE", value_parser = distance)]
    distance: Option<Distance>,

    /// Use rows as centres (k-medoids), for up to 50,000 rows [kmeans]
    #[arg(long)]
    medoids: bool,

    /// Divide columns by their standard deviations [kmeans]
    #[arg(long)]
    standardize: bool,

    /// How rows find their centres: lloyd, hamerly, elkan or yinyang, which differ in
    /// speed alone, or mini-batch, which moves centres after every 4,096 rows
    /// [kmeans; default: auto, the fastest]
    #[arg(long, value_name = "NAME", value_parser = algorithm)]
    algorithm: Option<Algorithm>,
}

impl KMeansOptions {
    /// The first option given that the model has no use for.
    pub fn unfit(&self, model: ModelName) -> Option<(&'static str, &'static str)> {
        let given = [
            (self.distance.is_some(), "--distance"),
            (self.medoids, "--medoids"),
            (self.standardize, "--standardize"),
            (self.algorithm.is_some(), "--algorithm"),
        ];
        let unfit = given
            .iter()
            .find(|(given, _)| *given && model != ModelName::Kmeans);
        unfit.map(|(_, option)| (*option, "it is for kmeans"))
    }

    pub fn are_medoids(&self) -> bool {
        self.medoids
    }

    pub fn are_medians(&self) -> bool {
        self.distance == Some(Distance::Manhattan)
    }

    /// An option that medoids or medians have no use for.
    pub fn unfit_of_centres(&self) -> Option<(&'static str, &'static str)> {
        let why = match self.medoids {
            true => "medoids are found by swaps",
            false => "medians have one of their own",
        };
        let given = self.algorithm.is_some() && (self.medoids || self.are_medians());
        given.then_some(("--algorithm", why))
    }

    pub fn specification(&self, clusters: usize) -> Specification {
        Specification {
            distance: self.distance.unwrap_or_default(),
            medoids: self.medoids,
            standardize: self.standardize,
            ..Specification::new(clusters)
        }
    }

    pub fn options(&self, seed: u64) -> Options {
        Options {
            algorithm: self.algorithm.unwrap_or_default(),
            seed,
            ..Options::default()
        }
    }
}

fn distance(text: &str) -> Result<Distance, String> {
    text.parse().map_err(|error: Error| error.to_string())
}

fn algorithm(text: &str) -> Result<Algorithm, String> {
    text.parse().map_err(|error: Error| error.to_string())
}
