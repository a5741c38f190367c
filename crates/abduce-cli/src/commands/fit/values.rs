//! Reads the values of options that are words or whole numbers, and knows those
//! that are not there yet.

use abduce::Error;
use abduce::learn::EStep;
use abduce::model::mixture::{CovarianceKind, Criterion, Init, NormalPrior};

fn later(what: &str) -> String {
    format!("{what} is not available in this version")
}

/// Numbers of components to choose from.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers(pub Vec<usize>);

/// One number, a range as in 1-9, or a list of both.
pub fn components(text: &str) -> Result<Numbers, String> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) if !first.is_empty() => (at_least_one(first)?, at_least_one(last)?),
            _ => (at_least_one(part)?, at_least_one(part)?),
        };
        if first > last || last - first >= 1000 {
            return Err(format!("{part} is no range from few to at most 1000 more"));
        }
        numbers.extend(first..=last);
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(Numbers(numbers))
}

pub fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("must be a whole number, at least 1".into()),
        Ok(number) => Ok(number),
    }
}

/// Covariances to choose from.
#[derive(Clone, Debug, PartialEq)]
pub struct Covariances(pub Vec<CovarianceKind>);

/// One covariance, a list, or all that mclust has.
pub fn covariances(text: &str) -> Result<Covariances, String> {
    if text == "all" {
        return Ok(Covariances(CovarianceKind::ALL.to_vec()));
    }
    let mut all: Vec<CovarianceKind> = Vec::new();
    for part in text.split(',') {
        let one = part.trim().parse();
        let one = one.map_err(|error: Error| error.to_string())?;
        if !all.contains(&one) {
            all.push(one);
        }
    }
    Ok(Covariances(all))
}

pub fn criterion(text: &str) -> Result<Criterion, String> {
    text.parse().map_err(|error: Error| error.to_string())
}

pub fn normal_prior(text: &str) -> Result<NormalPrior, String> {
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
