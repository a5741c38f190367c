//! Documents given as terms with weights, `term:weight`, as in svmlight files. A weight is a
//! count, or another number that is used as one (tf-idf); a term of weight 0 is absent.

use super::encoder::Encoder;
use crate::{Error, Result};

/// The largest weight; sums and products of such weights are finite.
const LARGEST: f64 = 1e140;

/// Splits a pair into its term and weight.
pub(crate) fn pair(text: &str) -> Result<(&str, f64)> {
    let wrong = || {
        Error::data(format!("\"{text}\" is not a term with its weight"))
            .with_hint("write term:weight, as in 17:2 or cash:0.5")
    };
    let (term, weight) = text.rsplit_once(':').ok_or_else(wrong)?;
    let number: f64 = weight.parse().map_err(|_| wrong())?;
    if term.is_empty() || number.is_nan() {
        return Err(wrong());
    }
    if number < 0.0 {
        return Err(
            Error::data(format!("{term} has the negative weight {weight}"))
                .with_hint("weights are used as counts, so they must be 0 or more"),
        );
    }
    if number > LARGEST {
        return Err(Error::data(format!(
            "{term} has the weight {weight}, beyond 1e140"
        )));
    }
    Ok((term, number))
}

/// A document of pairs: the codes of its terms, in order, their weights, and the number of
/// terms without a code.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Weighed {
    pub codes: Vec<u32>,
    pub weights: Vec<f64>,
    pub unknown: u64,
}

impl Encoder {
    /// The terms of a document of pairs with their weights; those of a repeated term are
    /// added up.
    pub(crate) fn weigh(&self, text: &str) -> Result<Weighed> {
        let lowercase = self.analyzer.options().lowercase;
        let lowered = lowercase.then(|| text.to_lowercase());
        let mut weighed = Weighed::default();
        let mut found = Vec::new();
        for written in lowered.as_deref().unwrap_or(text).split_whitespace() {
            let (term, weight) = pair(written)?;
            match self.encoding.code(term) {
                _ if weight == 0.0 => {}
                Some(code) => found.push((code, weight)),
                None => weighed.unknown += 1,
            }
        }
        // A stable sort keeps equal codes in order, so that their sum is deterministic.
        found.sort_by_key(|(code, _)| *code);
        for same in found.chunk_by(|(left, _), (right, _)| left == right) {
            weighed.codes.push(same[0].0);
            weighed
                .weights
                .push(same.iter().map(|(_, weight)| weight).sum());
        }
        Ok(weighed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Analyzer, AnalyzerOptions, Encoding, Unit};

    #[test]
    fn weights_are_read_and_terms_of_weight_zero_are_absent() {
        let analyzer = Analyzer::new(AnalyzerOptions {
            unit: Unit::Pairs,
            ..AnalyzerOptions::default()
        });
        let encoder = Encoder {
            analyzer: analyzer.unwrap(),
            encoding: Encoding::Vocabulary(["1", "7", "a:b"].into_iter().collect()),
            limits: Default::default(),
        };
        let weighed = encoder.weigh(" 7:2 1:0.5  A:b:1e2 9:4 1:0 7:1 ").unwrap();
        assert_eq!(weighed.codes, [0, 1, 2]);
        assert_eq!(weighed.weights, [0.5, 3.0, 100.0]);
        assert_eq!(weighed.unknown, 1);
        assert_eq!(encoder.weigh("").unwrap(), Weighed::default());
        for wrong in ["7", "7:", ":1", "7:x", "7:nan", "7:-1", "7:1e150", "7:inf"] {
            assert!(encoder.weigh(wrong).is_err(), "{wrong}");
        }
    }
}
