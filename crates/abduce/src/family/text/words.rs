//! Words of documents of any length: the multinomial event model,
//!
//!   p(document | length) = ∏ p_t^(n_t),
//!
//! the probability of its words in their order. The prior is Dirichlet(1 + α) on p. With
//! `complement`, p is estimated from the documents of all *other* components and a document
//! counts against them, ∏ p_t^(−n_t): a score, not a density (Rennie et al. 2003, "Tackling the
//! poor assumptions of naive Bayes"). Words of a text that are in no fitted document are not in
//! the vocabulary, unless all terms were named beforehand: their "probability" is 1, so that they
//! have no effect.

use crate::Result;
use crate::data::Rows;
use crate::family::text::term_stats::{TermStats, each_document};
use crate::family::{
    Components, Family, Fill, Multi, Multinomial, PriorStrength, Pseudocounts, Scale,
    Unconstrained, Validate, merged, nothing_seen,
};
use crate::kernel::special::ln_gamma;
use rand::Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Probabilities of terms.
///
/// ```
/// use abduce::data::Column;
/// use abduce::data::Rows;
/// use abduce::family::{Family, Words, WordsShape};
/// let column = Column::from_terms([Some(vec![(0, 2.0), (2, 1.0)]), None]);
/// let cells = [column.cells(0, 2)];
/// let mut stats = Words::zero(&WordsShape::of_text(3));
/// Words::observe(&Rows::new(&cells), &[1.0, 1.0], &mut stats);
/// assert_eq!(Words::map(&stats, &1.0.into())?.probabilities, [0.5, 1.0 / 6.0, 1.0 / 3.0]);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Words {
    /// The probability of each term, 1 for terms that are not in the vocabulary; the others sum
    /// to 1.
    pub probabilities: Vec<f64>,
    /// Whether each term has a column, instead of all being in one column of text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub columns: bool,
    /// Whether they are estimated from the other components.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub complement: bool,
    /// The sum A of the Dirichlet posterior, where documents are to have its predictive
    /// probability, a Dirichlet–multinomial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concentration: Option<f64>,
}

/// The shape of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordsShape {
    /// The number of terms.
    pub terms: usize,
    /// Whether each term has a column of counts, instead of all being in one column of text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub columns: bool,
    /// Whether each component is estimated from the others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub complement: bool,
    /// Whether all terms were named beforehand, so that those in no document are in the
    /// vocabulary too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
}

impl WordsShape {
    /// A column of text with this number of terms.
    pub fn of_text(terms: usize) -> WordsShape {
        WordsShape {
            terms,
            columns: false,
            complement: false,
            closed: false,
        }
    }

    /// Whether all terms are known, so that a term may be in no document.
    pub(crate) fn knows_all(&self) -> bool {
        self.columns || self.closed
    }
}

impl Words {
    /// The Dirichlet–multinomial of words in their order, Γ(A)/Γ(A + n) ∏ Γ(A p_t + n_t)/Γ(A
    /// p_t), given the number of words among the terms whose counts are observed.
    fn add_open_log_density(&self, sum: f64, rows: &Rows, out: &mut [f64]) {
        each_document(rows, |row, document| {
            let mut words = 0.0;
            document.each(|term, occurs| {
                let p = self.probabilities[term];
                // A word that is not in the vocabulary has no effect.
                if self.columns || p < 1.0 {
                    out[row] += rising(sum * p, occurs);
                    words += occurs;
                }
            });
            let mut seen = sum;
            if document.hidden {
                let mut shares = self.probabilities.clone();
                document.each_hidden(|term| shares[term] = 0.0);
                seen = sum * shares.iter().sum::<f64>();
            }
            // −∞ must not become NaN.
            if words > 0.0 && out[row].is_finite() {
                out[row] -= rising(seen, words);
            }
        });
    }

    /// The change of the log-density by an occurrence of each term.
    pub(crate) fn log_weights(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.probabilities.len()).map(|term| self.log_weight(term))
    }

    /// The share of a term that occurs so often in the log-density of a document of so many
    /// words.
    pub(crate) fn share(&self, term: usize, occurs: f64, words: f64) -> f64 {
        let p = self.probabilities[term];
        match self.concentration {
            None => occurs * self.log_weight(term),
            // Not in the vocabulary.
            Some(_) if p == 1.0 => 0.0,
            Some(sum) => rising(sum * p, occurs) - occurs / words * rising(sum, words),
        }
    }

    /// The change of the log-density by an occurrence of one term.
    pub fn log_weight(&self, term: usize) -> f64 {
        let sign = if self.complement { -1.0 } else { 1.0 };
        sign * self.probabilities[term].ln()
    }
}

/// ln a(a + 1)…(a + n − 1).
fn rising(a: f64, n: f64) -> f64 {
    const FEW: f64 = 8.0;
    if n <= FEW && n.fract() == 0.0 {
        let factors = (0..n as u32).map(|i| a + f64::from(i));
        factors.product::<f64>().ln()
    } else {
        ln_gamma(a + n) - ln_gamma(a)
    }
}

/// The number of words of drawn documents.
const DRAWN: usize = 20;

impl Family for Words {
    const NAME: &'static str = "multinomial";
    type Stats = TermStats;
    type Shape = WordsShape;
    /// α of the Dirichlet(1 + α) prior.
    type Prior = Pseudocounts;

    fn zero(shape: &WordsShape) -> TermStats {
        TermStats::zero(shape.terms)
    }

    fn shape(&self) -> WordsShape {
        WordsShape {
            terms: self.probabilities.len(),
            columns: self.columns,
            complement: self.complement,
            closed: false,
        }
    }

    fn observe(rows: &Rows, weights: &[f64], stats: &mut TermStats) {
        stats.observe(rows, weights, |occurs| occurs);
    }

    fn add_log_density(&self, rows: &Rows, out: &mut [f64]) {
        if let Some(sum) = self.concentration {
            return self.add_open_log_density(sum, rows, out);
        }
        let logs: Vec<f64> = self.log_weights().collect();
        each_document(rows, |row, document| {
            let mut words = 0.0;
            document.each(|term, occurs| {
                out[row] += occurs * logs[term];
                words += occurs;
            });
            // Given the number of its words among the observed terms.
            if document.hidden && words > 0.0 && out[row].is_finite() {
                let mut hidden = vec![false; logs.len()];
                document.each_hidden(|term| hidden[term] = true);
                let seen = self.probabilities.iter().zip(&hidden);
                let seen: f64 = seen.filter(|(_, hidden)| !**hidden).map(|(p, _)| p).sum();
                let sign = if self.complement { -1.0 } else { 1.0 };
                out[row] -= sign * words * seen.ln();
            }
        });
    }

    fn map(stats: &TermStats, prior: &Pseudocounts) -> Result<Self> {
        let total = stats.counts.iter().sum::<f64>() + prior.total(stats.counts.len());
        if !(total > 0.0 && total.is_finite()) {
            return Err(nothing_seen());
        }
        let share = |(term, count): (usize, &f64)| (count + prior.of(term)) / total;
        Ok(Words {
            probabilities: stats.counts.iter().enumerate().map(share).collect(),
            columns: false,
            complement: false,
            concentration: None,
        })
    }

    fn log_prior(&self, prior: &Pseudocounts) -> f64 {
        if self.complement {
            0.0
        } else {
            prior.log_density(self.probabilities.iter().copied())
        }
    }

    fn log_likelihood(&self, stats: &TermStats) -> f64 {
        let occurring = stats.counts.iter().zip(self.log_weights());
        let terms = occurring.filter(|(count, _)| **count > 0.0);
        terms.map(|(count, log)| count * log).sum()
    }

    fn parameters(shape: &WordsShape) -> usize {
        shape.terms.saturating_sub(1)
    }

    /// Missing counts are in proportion to the observed ones.
    fn fill(&self, how: Fill, row: &[Option<f64>], rng: &mut dyn Rng, out: &mut [f64]) {
        let (mut words, mut seen) = (0.0, 0.0);
        for (count, p) in row.iter().zip(&self.probabilities) {
            words += count.unwrap_or(0.0);
            seen += if count.is_some() { *p } else { 0.0 };
        }
        let length = if seen > 0.0 {
            words / seen
        } else {
            DRAWN as f64
        };
        let hidden = |term: usize| row.get(term).is_some_and(Option::is_none);
        out.iter_mut()
            .zip(row)
            .for_each(|(out, count)| *out = count.unwrap_or(0.0));
        match how {
            Fill::Draw => {
                let hidden_probabilities = self.probabilities.iter().enumerate();
                let hidden_probabilities =
                    hidden_probabilities.map(|(term, p)| if hidden(term) { *p } else { 0.0 });
                let hidden_probabilities: Vec<f64> = hidden_probabilities.collect();
                let share: f64 = hidden_probabilities.iter().sum();
                let counts = Multinomial {
                    trials: (length * share).round() as u64,
                    probabilities: hidden_probabilities.iter().map(|p| p / share).collect(),
                };
                if share > 0.0 {
                    let sums = out.iter_mut().zip(counts.draw(rng));
                    sums.for_each(|(out, count)| *out += count);
                }
            }
            Fill::Mean | Fill::Mode => {
                for (term, out) in out.iter_mut().enumerate().filter(|(term, _)| hidden(*term)) {
                    let mean = length * self.probabilities[term];
                    *out = if how == Fill::Mode {
                        mean.floor()
                    } else {
                        mean
                    };
                }
            }
        }
    }
}

impl Components for Words {
    fn map_all(
        shape: &WordsShape,
        stats: &[&TermStats],
        prior: &Pseudocounts,
        fallback: &Self,
    ) -> Vec<Self> {
        let all = merged(stats.iter().copied());
        let known: Vec<bool> = all
            .counts
            .iter()
            .map(|n| shape.knows_all() || *n > 0.0)
            .collect();
        let terms = || known.iter().enumerate().filter(|(_, known)| **known);
        let believed: f64 = terms().map(|(term, _)| prior.of(term)).sum();
        let estimate = |counts: &[f64]| {
            let total = counts.iter().sum::<f64>() + believed;
            let share = |(term, count): (usize, &f64)| {
                if known[term] {
                    (count + prior.of(term)) / total
                } else {
                    1.0
                }
            };
            (total > 0.0).then(|| Words {
                probabilities: counts.iter().enumerate().map(share).collect(),
                columns: shape.columns,
                complement: shape.complement,
                concentration: None,
            })
        };
        let one = |component: &TermStats| {
            let found = if shape.complement {
                let others = all.counts.iter().zip(&component.counts);
                let others: Vec<f64> = others.map(|(all, count)| (all - count).max(0.0)).collect();
                estimate(&others)
            } else {
                estimate(&component.counts)
            };
            let found = found.or_else(|| estimate(&all.counts));
            found.unwrap_or_else(|| fallback.clone())
        };
        stats.par_iter().copied().map(one).collect()
    }

    fn weak_prior(_: &[Scale], strength: &PriorStrength) -> Pseudocounts {
        strength.smoothing.into()
    }

    fn fallback(shape: &WordsShape, _: &[Scale]) -> Self {
        Words {
            probabilities: vec![1.0 / shape.terms as f64; shape.terms],
            columns: shape.columns,
            complement: shape.complement,
            concentration: None,
        }
    }

    fn shrink_together(stats: &mut [TermStats]) {
        let all = merged(&*stats);
        let (terms, words) = (all.counts.len() as f64, all.counts.iter().sum::<f64>());
        for component in stats {
            for (count, pooled) in component.counts.iter_mut().zip(&all.counts) {
                *count += 0.5 * (pooled / words.max(1.0) + 1.0 / terms);
            }
            component.documents = component.documents.max(f64::MIN_POSITIVE);
        }
    }
}

impl Unconstrained for Words {}

impl Validate for Words {
    fn is_valid(&self, shape: &WordsShape) -> bool {
        let (terms, complement) = (self.probabilities.len(), self.complement);
        (terms, complement) == (shape.terms, shape.complement)
            && self.probabilities.iter().all(|p| (0.0..=1.0).contains(p))
    }

    fn describes(shape: &WordsShape, stats: &TermStats) -> bool {
        stats.fits(shape)
    }

    fn accepts(shape: &WordsShape, prior: &Pseudocounts) -> bool {
        prior.fits(shape.terms)
    }
}

#[cfg(test)]
impl crate::family::laws::Examples for Words {
    fn examples() -> Vec<Self> {
        let of = |probabilities: Vec<f64>| Words {
            probabilities,
            columns: true,
            complement: false,
            concentration: None,
        };
        vec![of(vec![0.2, 0.5, 0.3]), of(vec![0.6, 0.1, 0.05, 0.25])]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Cells, Column};

    #[test]
    fn text_and_columns_of_counts_say_the_same() {
        let text = Column::from_terms([Some(vec![(0, 2.0), (2, 1.0)]), Some(vec![(1, 4.0)])]);
        let counts = [[2.0, 0.0], [0.0, 4.0], [1.0, 0.0]];
        let columns: Vec<Cells> = counts.iter().map(|c| Cells::real(c)).collect();
        let (text, columns) = ([text.cells(0, 2)], Rows::new(&columns));
        let text = Rows::new(&text);
        let (mut a, mut b) = (TermStats::zero(3), TermStats::zero(3));
        Words::observe(&text, &[1.0, 2.0], &mut a);
        Words::observe(&columns, &[1.0, 2.0], &mut b);
        assert_eq!(a, b);
        let words = Words::map(&a, &1.0.into()).unwrap();
        let (mut p, mut q) = ([0.0; 2], [0.0; 2]);
        words.add_log_density(&text, &mut p);
        words.add_log_density(&columns, &mut q);
        assert_eq!(p, q);
    }

    #[test]
    fn words_that_nobody_has_seen_are_not_in_the_vocabulary() {
        let stats = [[3.0, 0.0, 1.0], [1.0, 0.0, 5.0]].map(|counts| TermStats {
            documents: 1.0,
            counts: counts.to_vec(),
        });
        let shape = WordsShape::of_text(3);
        let found = Words::map_all(
            &shape,
            &stats.each_ref(),
            &1.0.into(),
            &Words::fallback(&shape, &[]),
        );
        assert_eq!(found[0].probabilities, [4.0 / 6.0, 1.0, 2.0 / 6.0]);
        assert_eq!(found[1].probabilities, [2.0 / 8.0, 1.0, 6.0 / 8.0]);
    }

    #[test]
    fn words_that_were_named_beforehand_are_in_the_vocabulary_though_nobody_has_seen_them() {
        let stats = [[3.0, 0.0, 1.0], [1.0, 0.0, 5.0]].map(|counts| TermStats {
            documents: 1.0,
            counts: counts.to_vec(),
        });
        let shape = WordsShape {
            closed: true,
            ..WordsShape::of_text(3)
        };
        let fallback = Words::fallback(&shape, &[]);
        let prior = Pseudocounts::Each(vec![1.0, 2.0, 1.0]);
        let found = Words::map_all(&shape, &stats.each_ref(), &prior, &fallback);
        assert_eq!(found[0].probabilities, [4.0 / 8.0, 2.0 / 8.0, 2.0 / 8.0]);
        assert_eq!(found[1].probabilities, [2.0 / 10.0, 2.0 / 10.0, 6.0 / 10.0]);
    }

    #[test]
    fn a_complement_is_estimated_from_the_others_and_speaks_against_them() {
        let stats = [[3.0, 1.0], [1.0, 5.0], [2.0, 2.0]].map(|counts| TermStats {
            documents: 1.0,
            counts: counts.to_vec(),
        });
        let shape = WordsShape {
            complement: true,
            ..WordsShape::of_text(2)
        };
        let fallback = Words::fallback(&shape, &[]);
        let found = Words::map_all(&shape, &stats.each_ref(), &1.0.into(), &fallback);
        assert_eq!(found[0].probabilities, [4.0 / 12.0, 8.0 / 12.0]);
        let weights: Vec<f64> = found[0].log_weights().collect();
        assert_eq!(weights, [-(1.0f64 / 3.0).ln(), -(2.0f64 / 3.0).ln()]);
    }
}
