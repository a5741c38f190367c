//! The choice of a vocabulary: terms that are neither too rare nor too common, and at most a
//! given number, as min_df, max_df and max_features of scikit-learn's CountVectorizer.

use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;

use rayon::slice::ParallelSliceMut;
use serde::{Deserialize, Serialize};

use super::counter::Tally;
use super::table::TermTable;
use crate::{Error, Result};

/// A number of documents, or a share of all.
///
/// ```
/// use abduce::text::Frequency;
/// assert_eq!("3".parse(), Ok(Frequency::Documents(3)));
/// assert_eq!("0.5".parse(), Ok(Frequency::Share(0.5)));
/// assert_eq!("1.0".parse(), Ok(Frequency::Share(1.0)));
/// assert!("-3".parse::<Frequency>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Frequency {
    /// This many documents.
    Documents(u64),
    /// This share of all documents, from 0 to 1.
    Share(f64),
}

impl Frequency {
    /// The number of documents out of a total; for a share it may be fractional.
    pub fn of(self, documents: u64) -> f64 {
        match self {
            Frequency::Documents(number) => number as f64,
            Frequency::Share(share) => share * documents as f64,
        }
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Frequency::Documents(number) => write!(f, "{number}"),
            Frequency::Share(share) => write!(f, "{share:?}"),
        }
    }
}

impl FromStr for Frequency {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Ok(number) = text.parse() {
            return Ok(Frequency::Documents(number));
        }
        match text.parse::<f64>() {
            Ok(share) if (0.0..=1.0).contains(&share) => Ok(Frequency::Share(share)),
            _ => Err(
                Error::parameter(format!("\"{text}\" is not a number of documents"))
                    .with_hint("write a whole number, or a share such as 0.5"),
            ),
        }
    }
}

/// Which terms are kept.
///
/// ```
/// use abduce::text::{Frequency, Limits};
/// let limits = Limits { smallest: Frequency::Documents(2), ..Limits::default() };
/// assert_eq!(limits.largest, Frequency::Share(1.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Terms in fewer documents are left out.
    pub smallest: Frequency,
    /// Terms in more documents are left out.
    pub largest: Frequency,
    /// The most terms that are kept: those with the largest counts, ties in the order of
    /// their text.
    pub most_terms: Option<usize>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            smallest: Frequency::Documents(1),
            largest: Frequency::Share(1.0),
            most_terms: None,
        }
    }
}

impl Limits {
    /// Whether every term is kept.
    pub fn are_none(&self) -> bool {
        *self == Limits::default()
    }

    /// The codes of the terms to keep, sorted by term.
    pub(super) fn select(
        &self,
        table: &TermTable,
        tallies: &[Tally],
        documents: u64,
    ) -> Result<Vec<u32>> {
        self.check(documents)?;
        let smallest = self.smallest.of(documents);
        let largest = self.largest.of(documents);
        let mut kept: Vec<(u64, u32)> = table
            .terms()
            .zip(tallies)
            .zip(0..)
            .filter(|((_, tally), _)| {
                let frequency = tally.documents as f64;
                smallest <= frequency && frequency <= largest
            })
            .map(|((term, _), code)| (prefix(term), code))
            .collect();
        if kept.is_empty() && !table.is_empty() {
            return Err(Error::data(format!(
                "no term is in {} to {} of the {documents} documents",
                self.smallest, self.largest
            ))
            .with_hint("widen the limits of how many documents a term may be in"));
        }
        // The first eight bytes decide most comparisons.
        kept.par_sort_unstable_by(|(left, first), (right, second)| {
            left.cmp(right)
                .then_with(|| table.term(*first).cmp(&table.term(*second)))
        });
        let mut codes: Vec<u32> = kept.into_iter().map(|(_, code)| code).collect();
        if let Some(most) = self.most_terms.filter(|most| *most < codes.len()) {
            let mut ranked: Vec<usize> = (0..codes.len()).collect();
            ranked.sort_by_key(|&place| Reverse(tallies[codes[place] as usize].occurrences));
            ranked.truncate(most);
            ranked.sort_unstable();
            codes = ranked.into_iter().map(|place| codes[place]).collect();
        }
        Ok(codes)
    }

    fn check(&self, documents: u64) -> Result<()> {
        for limit in [self.smallest, self.largest] {
            if let Frequency::Share(share) = limit
                && !(0.0..=1.0).contains(&share)
            {
                return Err(
                    Error::parameter(format!("{share} is not a share of the documents"))
                        .with_hint("a share is from 0 to 1"),
                );
            }
        }
        if self.most_terms == Some(0) {
            return Err(Error::parameter(
                "a vocabulary needs at least 1 term, not 0",
            ));
        }
        if self.smallest.of(documents) > self.largest.of(documents) && documents > 0 {
            return Err(Error::parameter(format!(
                "a term cannot be in {} or more and in {} or fewer of {documents} documents",
                self.smallest, self.largest
            )));
        }
        Ok(())
    }
}

/// The first eight bytes as a number of the same order.
fn prefix(term: &str) -> u64 {
    let mut bytes = [0; 8];
    for (byte, letter) in bytes.iter_mut().zip(term.bytes()) {
        *byte = letter;
    }
    u64::from_be_bytes(bytes)
}
