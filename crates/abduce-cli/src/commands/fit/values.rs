//! Reads the values of options that are words or whole numbers, and knows those
//! that are not there yet.

use abduce::Error;
use abduce::learn::EStep;
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

pub fn init(text: &str) -> Result<Init, String> {
    match text {
        "kmeans++" => Ok(Init::KMeansPlusPlus),
        "random" => Ok(Init::Random),
        "hierarchical" => Ok(Init::Hierarchical),
        "auto" => Ok(Init::Auto),
        _ => Err("the starts are auto, kmeans++, random and hierarchical".into()),
    }
}
