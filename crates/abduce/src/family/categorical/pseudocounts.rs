//! Pseudocounts of levels or terms: α of the Dirichlet(1 + α) prior, whose posterior mode is (n_l
//! + α_l)/(N + Σα).
//!
//! The same α for all is Lidstone's rule, and Laplace's with α = 1; α_l = m p_l is the
//! m-estimate: m pseudo-rows in the proportions p.

use serde::{Deserialize, Serialize};

/// Pseudocounts added to levels.
///
/// ```
/// use abduce::family::Pseudocounts;
/// assert_eq!(Pseudocounts::from(0.5).total(4), 2.0);
/// let m_estimate = Pseudocounts::Each(vec![0.3, 2.7]);
/// assert_eq!((m_estimate.of(1), m_estimate.total(2)), (2.7, 3.0));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Pseudocounts {
    /// The same for every level.
    Same(f64),
    /// One for each level.
    Each(Vec<f64>),
}

impl Default for Pseudocounts {
    fn default() -> Self {
        Pseudocounts::Same(0.0)
    }
}

impl From<f64> for Pseudocounts {
    fn from(alpha: f64) -> Self {
        Pseudocounts::Same(alpha)
    }
}

impl Pseudocounts {
    /// The pseudocount of a level.
    #[inline]
    pub fn of(&self, level: usize) -> f64 {
        match self {
            Pseudocounts::Same(alpha) => *alpha,
            Pseudocounts::Each(each) => each.get(level).copied().unwrap_or(0.0),
        }
    }

    /// The sum of the pseudocounts of all levels.
    pub fn total(&self, levels: usize) -> f64 {
        match self {
            Pseudocounts::Same(alpha) => alpha * levels as f64,
            Pseudocounts::Each(each) => each.iter().sum(),
        }
    }

    /// Whether these are valid pseudocounts for this number of levels.
    pub(crate) fn fits(&self, levels: usize) -> bool {
        match self {
            Pseudocounts::Same(alpha) => *alpha >= 0.0,
            Pseudocounts::Each(each) => {
                each.len() == levels && each.iter().all(|alpha| *alpha >= 0.0)
            }
        }
    }

    /// The pseudocount of an unseen category: that of the levels if they have the same, otherwise
    /// 0.
    pub fn of_unseen_category(&self) -> f64 {
        match self {
            Pseudocounts::Same(alpha) => *alpha,
            Pseudocounts::Each(each) => match each.as_slice() {
                [first, rest @ ..] if rest.iter().all(|count| count == first) => *first,
                _ => 0.0,
            },
        }
    }

    /// Σ α ln p, the log-density of the prior up to a constant.
    pub(crate) fn log_density(&self, probabilities: impl Iterator<Item = f64>) -> f64 {
        let terms = probabilities.enumerate();
        let weighed = terms.map(|(level, p)| (self.of(level), p));
        let present = weighed.filter(|(alpha, _)| *alpha > 0.0);
        present.map(|(alpha, p)| alpha * p.ln()).sum()
    }
}
