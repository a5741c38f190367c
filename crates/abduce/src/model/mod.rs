//! Models: the mixture that serves naive Bayes, discriminant analysis and
//! clustering, and the specifications that make it one or the other; densities
//! without a family; k-means.

use crate::{Error, Result};

pub mod density;
pub mod kmeans;
pub mod mixture;

/// Checks that a fit does not try something more often than can be remembered.
pub(crate) fn check_tries(what: &str, number: usize) -> Result<()> {
    const MOST: usize = 10_000_000;
    match number <= MOST {
        true => Ok(()),
        false => Err(Error::parameter(format!(
            "there can be at most {MOST} {what}, not {number}"
        ))),
    }
}

/// A list for people: the first few, and how many more.
pub(crate) fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut text = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN {
        text += &format!(" and {} more", names.len() - SHOWN);
    }
    text
}
