//! Which terms a document holds: the Bernoulli event model,
//!
//!   p(document) = ∏_t p_t^(x_t) (1 − p_t)^(1 − x_t),   x_t = 1 if t occurs,
//!
//! in which absence counts too. The prior of each p_t is Beta(1 + α, 1 + α). Words of a text that
//! are in no fitted document have p_t = ½ in all components and so no effect, unless all terms
//! were named beforehand.

use crate::Result;
use crate::data::Rows;
use crate::family::text::term_stats::{TermStats, each_document};
use crate::family::{
    Components, Family, Fill, PriorStrength, Scale, Stats as _, Unconstrained, Validate,
    WordsShape, merged, nothing_seen, times,
};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// Probabilities that terms occur.
///
/// ```
/// use abduce::data::{Column, Rows};
/// use abduce::family::{Family, Presence, WordsShape};
/// let column = Column::from_terms([Some(vec![(0, 2.0)]), Some(vec![])]);
/// let cells = [column.cells(0, 2)];
/// let mut stats = Presence::zero(&WordsShape::of_text(2));
/// Presence::observe(&Rows::new(&cells), &[1.0, 1.0], &mut stats);
/// assert_eq!(Presence::map(&stats, &1.0.into())?.probabilities, [0.5, 0.25]);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Presence {
    /// The probability that each term occurs.
    pub probabilities: Vec<f64>,
    /// Whether each term has a column, instead of all being in one column of text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub columns: bool,
}

/// Pseudocounts of documents with and without each term: the priors of p_t are Beta(1 + with, 1 +
/// without).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PresencePrior {
    /// The same number with and without every term.
    Same(f64),
    /// For each term a number, the same with and without it.
    Each(Vec<f64>),
    /// The same number for every term, with it in some share of them.
    Shares {
        /// How many documents.
        documents: f64,
        /// The share of them that hold each term.
        shares: Vec<f64>,
    },
}

impl Default for PresencePrior {
    fn default() -> Self {
        PresencePrior::Same(0.0)
    }
}

impl From<f64> for PresencePrior {
    fn from(alpha: f64) -> Self {
        PresencePrior::Same(alpha)
    }
}

impl PresencePrior {
    /// Whether it is a prior of this number of terms.
    fn fits(&self, terms: usize) -> bool {
        let counts = |each: &[f64]| each.iter().all(|x| *x >= 0.0);
        match self {
            PresencePrior::Same(alpha) => *alpha >= 0.0,
            PresencePrior::Each(each) => each.len() == terms && counts(each),
            PresencePrior::Shares { documents, shares } => {
                let proper = shares.iter().all(|share| (0.0..=1.0).contains(share));
                *documents >= 0.0 && shares.len() == terms && proper
            }
        }
    }

    fn documents(&self, term: usize) -> f64 {
        match self {
            PresencePrior::Shares { documents, .. } => *documents,
            _ => 2.0 * self.of(term).0,
        }
    }

    /// The pseudocounts with a term and without it.
    fn of(&self, term: usize) -> (f64, f64) {
        match self {
            PresencePrior::Same(alpha) => (*alpha, *alpha),
            PresencePrior::Each(each) => {
                let alpha = each.get(term).copied().unwrap_or(0.0);
                (alpha, alpha)
            }
            PresencePrior::Shares { documents, shares } => {
                let share = shares.get(term).copied().unwrap_or(0.5);
                (documents * share, documents * (1.0 - share))
            }
        }
    }
}

impl Presence {
    /// The log-probability that no term occurs, and the change of it for each term that does.
    pub(crate) fn log_weights(&self) -> (f64, Vec<f64>) {
        let absent = self.probabilities.iter().map(|p| (-p).ln_1p());
        let present = self.probabilities.iter().map(|p| p.ln() - (-p).ln_1p());
        (absent.sum(), present.collect())
    }

    /// The log-probability that a term occurs, or does not.
    pub fn log_probability(&self, term: usize, occurs: bool) -> f64 {
        if occurs {
            self.probabilities[term].ln()
        } else {
            (-self.probabilities[term]).ln_1p()
        }
    }

    /// Whether a probability is 0 or 1, so that sums of logarithms are not finite.
    pub(crate) fn is_certain(&self) -> bool {
        self.probabilities.iter().any(|p| *p == 0.0 || *p == 1.0)
    }
}

impl Family for Presence {
    const NAME: &'static str = "presence";
    type Stats = TermStats;
    type Shape = WordsShape;
    /// Pseudocounts of documents.
    type Prior = PresencePrior;

    fn zero(shape: &WordsShape) -> TermStats {
        TermStats::zero(shape.terms)
    }

    fn shape(&self) -> WordsShape {
        WordsShape {
            columns: self.columns,
            ..WordsShape::of_text(self.probabilities.len())
        }
    }

    fn observe(rows: &Rows, weights: &[f64], stats: &mut TermStats) {
        stats.observe(rows, weights, |_| 1.0);
    }

    fn add_log_density(&self, rows: &Rows, out: &mut [f64]) {
        let mut occurs = vec![false; self.probabilities.len()];
        let mut skipped = occurs.clone();
        let (none, present) = self.log_weights();
        let certain = self.is_certain();
        each_document(rows, |row, document| {
            if !certain && !document.hidden {
                out[row] += none;
                return document.each(|term, _| out[row] += present[term]);
            }
            document.each(|term, _| occurs[term] = true);
            document.each_hidden(|term| skipped[term] = document.hidden);
            for term in (0..occurs.len()).filter(|term| !skipped[*term]) {
                out[row] += self.log_probability(term, occurs[term]);
            }
            occurs.fill(false);
            skipped.fill(false);
        });
    }

    fn map(stats: &TermStats, prior: &PresencePrior) -> Result<Self> {
        let share = |(term, count): (usize, &f64)| {
            let total = stats.documents + prior.documents(term);
            let known = total > 0.0 && total.is_finite();
            known.then(|| ((count + prior.of(term).0) / total).min(1.0))
        };
        let shares = stats.counts.iter().enumerate().map(share);
        Ok(Presence {
            probabilities: shares.collect::<Option<_>>().ok_or_else(nothing_seen)?,
            columns: false,
        })
    }

    fn log_prior(&self, prior: &PresencePrior) -> f64 {
        let terms = self.probabilities.iter().enumerate();
        let terms = terms.map(|(term, p)| {
            let (with, without) = prior.of(term);
            times(with, p.ln()) + times(without, (-p).ln_1p())
        });
        terms.sum()
    }

    fn log_likelihood(&self, stats: &TermStats) -> f64 {
        let mut sum = 0.0;
        for (term, count) in stats.counts.iter().enumerate() {
            let absent = (stats.documents - count).max(0.0);
            for (weight, occurs) in [(*count, true), (absent, false)] {
                if weight > 0.0 {
                    sum += weight * self.log_probability(term, occurs);
                }
            }
        }
        sum
    }

    fn parameters(shape: &WordsShape) -> usize {
        shape.terms
    }

    fn fill(&self, how: Fill, row: &[Option<f64>], rng: &mut dyn Rng, out: &mut [f64]) {
        for ((out, seen), p) in out.iter_mut().zip(row).zip(&self.probabilities) {
            *out = seen.unwrap_or_else(|| match how {
                Fill::Mean => *p,
                Fill::Mode => f64::from(u8::from(*p > 0.5)),
                Fill::Draw => f64::from(u8::from(rng.random::<f64>() < *p)),
            });
        }
    }
}

impl Components for Presence {
    fn map_all(
        shape: &WordsShape,
        stats: &[&TermStats],
        prior: &PresencePrior,
        fallback: &Self,
    ) -> Vec<Self> {
        let all = merged(stats.iter().copied());
        let one = |component: &TermStats| {
            let found = Self::map(component, prior).or_else(|_| Self::map(&all, prior));
            let mut found = found.unwrap_or_else(|_| fallback.clone());
            found.columns = shape.columns;
            let terms = found.probabilities.iter_mut().zip(&all.counts);
            if !shape.knows_all() {
                let unknown = terms.filter(|(_, count)| **count <= 0.0);
                unknown.for_each(|(p, _)| *p = 0.5);
            }
            found
        };
        stats.iter().copied().map(one).collect()
    }

    fn weak_prior(_: &[Scale], strength: &PriorStrength) -> PresencePrior {
        strength.smoothing.into()
    }

    fn fallback(shape: &WordsShape, _: &[Scale]) -> Self {
        Presence {
            probabilities: vec![0.5; shape.terms],
            columns: shape.columns,
        }
    }

    fn shrink_together(stats: &mut [TermStats]) {
        let all = merged(&*stats);
        for component in stats {
            for (count, pooled) in component.counts.iter_mut().zip(&all.counts) {
                *count += 0.5 * (pooled / all.weight().max(1.0) + 0.5);
            }
            component.documents += 1.0;
        }
    }
}

impl Unconstrained for Presence {}

impl Validate for Presence {
    fn is_valid(&self, shape: &WordsShape) -> bool {
        self.probabilities.len() == shape.terms
            && self.probabilities.iter().all(|p| (0.0..=1.0).contains(p))
    }

    fn describes(shape: &WordsShape, stats: &TermStats) -> bool {
        stats.fits(shape)
    }

    fn accepts(shape: &WordsShape, prior: &PresencePrior) -> bool {
        prior.fits(shape.terms)
    }
}

#[cfg(test)]
impl crate::family::laws::Examples for Presence {
    fn examples() -> Vec<Self> {
        let of = |probabilities: Vec<f64>| Presence {
            probabilities,
            columns: true,
        };
        vec![of(vec![0.2, 0.5, 0.9]), of(vec![0.6])]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_term_may_have_a_prior_of_its_own() {
        let stats = TermStats {
            documents: 4.0,
            counts: vec![1.0, 0.0],
        };
        let found = Presence::map(&stats, &PresencePrior::Each(vec![1.0, 3.0])).unwrap();
        assert_eq!(found.probabilities, [2.0 / 6.0, 3.0 / 10.0]);
    }

    #[test]
    fn the_pooled_estimate_adds_documents_in_the_proportions_of_all() {
        let stats = TermStats {
            documents: 4.0,
            counts: vec![1.0, 0.0, 4.0],
        };
        let prior = PresencePrior::Shares {
            documents: 2.0,
            shares: vec![0.25, 0.5, 1.0],
        };
        let found = Presence::map(&stats, &prior).unwrap();
        assert_eq!(found.probabilities, [1.5 / 6.0, 1.0 / 6.0, 1.0]);
        // A probability of 1 under the prior adds nothing to the log-prior.
        let expected =
            0.5 * 0.25f64.ln() + 1.5 * 0.75f64.ln() + (1.0f64 / 6.0).ln() + (5.0f64 / 6.0).ln();
        assert!((found.log_prior(&prior) - expected).abs() < 1e-14);
    }
}
