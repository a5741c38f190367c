//! Finite sets of hypotheses: Bayes' theorem over tables of likelihoods
//! ([`Hypotheses`]). After T. Mitchell, *Machine Learning* (1997), chapter 6.

mod belief;
mod hypotheses;

pub use belief::Belief;
pub use hypotheses::{Event, Hypotheses, Step};
