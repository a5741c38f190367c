//! Reads the values of options that are words or whole numbers, and knows those
//! that are not there yet.

use abduce::Error;
use abduce::model::kmeans;
use abduce::model::mixture::{CovarianceKind, Criterion, Init, NormalPrior};
use std::num::{IntErrorKind, ParseIntError};

pub fn later(what: &str) -> String {
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
        if first > last {
            return Err(format!(
                "{part} is no range: write the smaller number first"
            ));
        }
        if last - first >= 1000 {
            return Err(format!("{part} is too long a range: at most 1000 numbers"));
        }
        numbers.extend(first..=last);
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(Numbers(numbers))
}

pub fn at_least_one(text: &str) -> Result<usize, String> {
    let number: Result<usize, ParseIntError> = text.parse();
    match number {
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => Err("is too large".into()),
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

/// How one of several is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    By(Criterion),
    /// By tests of growing numbers of components.
    Bootstrap,
}

pub fn choice(text: &str) -> Result<Choice, String> {
    match text {
        "bootstrap" => Ok(Choice::Bootstrap),
        _ => {
            let criterion = text.parse().map(Choice::By);
            criterion.map_err(|error: Error| format!("{error}, and there is bootstrap"))
        }
    }
}

pub fn significance(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    let number = number.filter(|x: &f64| *x > 0.0 && *x < 1.0);
    number.ok_or_else(|| "must be a number between 0 and 1".into())
}

pub fn normal_prior(text: &str) -> Result<NormalPrior, String> {
    text.parse().map_err(|error: Error| error.to_string())
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
        "auto" => Ok(start("auto", Some(Init::Auto), kmeans::Init::Greedy)),
        "kmeans++" => Ok(start(
            "kmeans++",
            Some(Init::KMeansPlusPlus),
            kmeans::Init::KMeansPlusPlus,
        )),
        "random" => Ok(start("random", Some(Init::Random), kmeans::Init::Random)),
        "greedy" => Ok(start("greedy", None, kmeans::Init::Greedy)),
        "parallel" => Ok(start("parallel", None, kmeans::Init::Parallel)),
        "hierarchical" => Ok(Start {
            name: "hierarchical",
            mixture: Some(Init::Hierarchical),
            kmeans: None,
        }),
        _ => Err(
            "the starts are auto, kmeans++ and random; hierarchical for mixture; greedy and parallel for kmeans"
                .into(),
        ),
    }
}
