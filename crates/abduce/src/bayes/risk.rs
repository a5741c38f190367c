//! The risk of a fitted distribution q: its log-loss −ln q(x) on rows, or its cross-entropy H(p,
//! q) = H(p) + KL(p ‖ q) where rows follow p. It is infinite where q gives probability 0 to what
//! can happen, as a maximum-likelihood estimate does to every unseen event; smoothing makes it
//! finite.

use crate::family::{Univariate, divergence};

/// The weighted mean of −ln q(x) over rows, each with its weight; infinite if a
/// row is impossible, `None` without rows.
///
/// ```
/// use abduce::bayes::log_loss;
/// use abduce::family::Bernoulli;
/// let never = Bernoulli { probability: 0.0 };
/// assert_eq!(log_loss(&never, [(0.0, 5.0)]), Some(0.0));
/// assert_eq!(log_loss(&never, [(0.0, 5.0), (1.0, 1.0)]), Some(f64::INFINITY));
/// ```
pub fn log_loss(
    fitted: &dyn Univariate,
    rows: impl IntoIterator<Item = (f64, f64)>,
) -> Option<f64> {
    let (mut sum, mut weight) = (0.0, 0.0);
    for (x, row_weight) in rows {
        if row_weight > 0.0 {
            sum -= row_weight * fitted.log_density(x);
            weight += row_weight;
        }
    }
    (weight > 0.0).then(|| sum / weight + 0.0)
}

/// The risk of a fitted distribution q where rows follow p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Risk {
    /// H(p) = −E ln p(x), the least possible risk.
    pub entropy: f64,
    /// H(p, q) = −E ln q(x), the risk of q.
    pub cross_entropy: f64,
    /// KL(p ‖ q) ≥ 0: the difference.
    pub divergence: f64,
}

impl Risk {
    /// The risk of `fitted` where rows follow `truth`.
    ///
    /// ```
    /// use abduce::bayes::Risk;
    /// use abduce::family::Bernoulli;
    /// let truth = Bernoulli { probability: 0.01 };
    /// let unsmoothed = Bernoulli { probability: 0.0 };
    /// let smoothed = Bernoulli { probability: 1.0 / 102.0 };
    /// assert_eq!(Risk::new(&truth, &unsmoothed).cross_entropy, f64::INFINITY);
    /// assert!(Risk::new(&truth, &smoothed).divergence < 1e-5);
    /// ```
    pub fn new<D: Univariate>(truth: &D, fitted: &D) -> Risk {
        Risk::of(truth.entropy(), truth.kl(fitted))
    }

    /// The same for distributions of any two kinds.
    pub fn between(truth: &dyn Univariate, fitted: &dyn Univariate) -> Risk {
        Risk::of(truth.entropy(), divergence(truth, fitted))
    }

    fn of(entropy: f64, divergence: f64) -> Risk {
        Risk {
            entropy,
            cross_entropy: entropy + divergence,
            divergence,
        }
    }
}
