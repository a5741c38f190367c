//! The options of `kmeans`.

use super::models::{ModelArguments, ModelOptions};
use crate::arguments::DataArguments;
use crate::arguments::values::at_least_one;
use crate::arguments::values::not_negative;
use crate::context::Context;
use crate::io::failure::{Failure, Outcome};
use abduce::Error;
use abduce::model::AnyLearner;
use abduce::model::kmeans::{self, Algorithm, Distance, Init, KMeans, Recipe, Specification};
use clap::Args;

#[derive(Args)]
#[command(next_help_heading = "Model options")]
pub struct Options {
    /// The number of clusters
    #[arg(long, short = 'k', value_name = "K", allow_negative_numbers = true, value_parser = at_least_one)]
    components: Option<usize>,

    /// The distance between rows: euclidean (centres are means), manhattan (medians), cosine
    /// (directions) or mahalanobis (euclidean, after whitening by the covariance of all rows)
    /// [default: euclidean]
    #[arg(long, value_name = "DISTANCE")]
    distance: Option<Distance>,

    /// Use rows of the data as centres (k-medoids), for up to 50,000 rows
    #[arg(long)]
    medoids: bool,

    /// Divide columns by their standard deviations
    #[arg(long)]
    standardize: bool,

    /// How rows are assigned to centres: lloyd, hamerly, elkan or yinyang, which differ only in
    /// speed, or mini-batch, which moves the centres after every 4,096 rows [default: auto, the
    /// fastest]
    #[arg(long, value_name = "ALGORITHM")]
    algorithm: Option<Algorithm>,

    /// Number of starts to try [default: 10]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    restarts: Option<usize>,

    /// How starts are seeded: greedy (kmeans++ with several candidates), kmeans++, parallel
    /// (k-means||, over all rows) or random [default: greedy]
    #[arg(long, value_name = "METHOD", value_parser = init)]
    init: Option<Init>,

    /// Relative change of the inertia at which the fit ends [default: 1e-8]
    #[arg(long, value_name = "TOLERANCE", allow_hyphen_values = true, value_parser = not_negative)]
    tol: Option<f64>,

    /// Maximum number of iterations [default: 1000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    max_iter: Option<usize>,
}

impl ModelArguments for Options {
    type Learner = KMeans;
    const EXAMPLES: &'static [&'static str] = &["kmeans faithful.csv -k 2 --standardize"];
}

impl Options {
    /// Rejects options that do not apply to medoids or medians.
    fn check(&self) -> Outcome {
        let medians = self.distance == Some(Distance::Manhattan);
        let errors = [
            (
                self.medoids && self.init.is_some(),
                "--init does not apply to --medoids, which are always initialized by kmeans++",
            ),
            (
                self.medoids && self.tol.is_some(),
                "--tol does not apply to --medoids, which end when no swap lowers the inertia",
            ),
            (
                medians && self.init == Some(Init::Parallel),
                "--init parallel uses squared distances and does not apply to --distance \
                 manhattan; use greedy or kmeans++",
            ),
            (
                self.medoids && self.algorithm.is_some(),
                "--algorithm does not apply to --medoids, which are found by swaps",
            ),
            (
                medians && self.algorithm.is_some(),
                "--algorithm does not apply to --distance manhattan, which has its own algorithm",
            ),
        ];
        match errors.iter().find(|(is_given, _)| *is_given) {
            Some((_, message)) => Err(Failure::usage(*message)),
            None => Ok(()),
        }
    }
}

impl ModelOptions for Options {
    fn learner(&self, _: &DataArguments, context: &Context) -> Outcome<Box<dyn AnyLearner>> {
        self.check()?;
        let Some(clusters) = self.components else {
            let error = Error::parameter("kmeans needs -k K");
            return Err(error.with_hint("give the number of clusters").into());
        };
        let default = kmeans::Options::default();
        Ok(Box::new(KMeans(Recipe {
            kmeans: Specification {
                distance: self.distance.unwrap_or_default(),
                medoids: self.medoids,
                standardize: self.standardize,
                ..Specification::new(clusters)
            },
            kmeans_options: kmeans::Options {
                algorithm: self.algorithm.unwrap_or_default(),
                tolerance: self.tol.unwrap_or(default.tolerance),
                max_iterations: self.max_iter.unwrap_or(default.max_iterations),
                restarts: self.restarts.unwrap_or(default.restarts),
                init: self.init.unwrap_or(default.init),
                seed: context.seed,
                ..default
            },
        })))
    }
}

fn init(text: &str) -> Result<Init, String> {
    match text {
        "auto" | "greedy" => Ok(Init::Greedy),
        "kmeans++" => Ok(Init::KMeansPlusPlus),
        "parallel" => Ok(Init::Parallel),
        "random" => Ok(Init::Random),
        _ => Err("the starts are greedy, kmeans++, parallel and random".into()),
    }
}
