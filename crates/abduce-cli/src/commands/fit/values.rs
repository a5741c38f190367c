//! Reads the values of options that are words or whole numbers, and knows those
//! that are not there yet.

use abduce::Error;
use abduce::learn::EStep;
use abduce::model::kmeans;
use abduce::model::mixture::{CovarianceKind, Init};

fn later(what: &str) -> String {
    format!("{what} is not available in this version")
}

pub fn components(text: &str) -> Result<usize, String> {
    if text.contains(['-', ',']) && !text.starts_with('-') {
        return Err(later("choosing between several numbers"));
    }
    at_least_one(text)
}

pub fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("must be a whole number, at least 1".into()),
        Ok(number) => Ok(number),
    }
}

pub fn covariance(text: &str) -> Result<CovarianceKind, String> {
    const CODES: &str = " EII VII EEI VEI EVI VVI EEE VEE EVE VVE EEV VEV EVV VVV identity ";
    if CODES.contains(&format!(" {text} ")) || text.contains(',') {
        return Err(later("this covariance") + "; there are full, tied, diagonal and spherical");
    }
    text.parse().map_err(|error: Error| error.to_string())
}

pub fn method(text: &str) -> Result<EStep, String> {
    match text {
        "em" => Ok(EStep::Soft),
        "hard" => Ok(EStep::Hard),
        "variational" | "gibbs" => Err(later("this method") + "; there are em and hard"),
        _ => Err("the methods are em and hard".into()),
    }
}

/// A way to start, with what each model makes of it.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    pub name: &'static str,
    pub mixture: Option<Init>,
    pub kmeans: Option<kmeans::Init>,
}

pub fn init(text: &str) -> Result<Start, String> {
    let start = |name, mixture, kmeans| Start {
        name,
        mixture,
        kmeans: Some(kmeans),
    };
    match text {
        "kmeans++" => Ok(start(
            "kmeans++",
            Some(Init::KMeansPlusPlus),
            kmeans::Init::KMeansPlusPlus,
        )),
        "random" => Ok(start("random", Some(Init::Random), kmeans::Init::Random)),
        "greedy" => Ok(start("greedy", None, kmeans::Init::Greedy)),
        "parallel" => Ok(start("parallel", None, kmeans::Init::Parallel)),
        "hierarchical" => Err(later("this start") + "; there are kmeans++ and random"),
        _ => Err("the starts are kmeans++ and random; greedy and parallel for kmeans".into()),
    }
}
