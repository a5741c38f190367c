//! Finite sets of hypotheses: Bayes' theorem for tables of likelihoods ([`Hypotheses`]),
//! brute-force learning over any space that can be enumerated ([`BruteForce`]), and
//! conjunctions over categorical attributes, whose version space, posterior and votes are
//! computed without enumeration ([`Boundaries`], [`ConjunctionPosterior`]). After T. Mitchell,
//! *Machine Learning* (1997), chapters 2 and 6.

mod belief;
mod best_first;
mod boundary;
mod conjunction;
mod count;
mod examples;
mod hypotheses;
mod posterior;
mod prior;
mod space;
mod trellis;

pub use belief::Belief;
pub use boundary::Boundaries;
pub use conjunction::{Conjunction, Conjunctions};
pub use count::Count;
pub use examples::{Example, Examples};
pub use hypotheses::{Event, Hypotheses, Step};
pub use posterior::{ConjunctionPosterior, version_space_size};
pub use prior::{Assumptions, ConceptPrior};
pub use space::{BruteForce, Space};

#[cfg(test)]
mod laws;
