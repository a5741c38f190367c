//! Bayes' theorem for a finite set of hypotheses, in log space:
//!
//!   log P(h | D) = log P(h) + Σ log P(d | h) − log P(D).
//!
//! Log-likelihoods are added by compensated summation (Neumaier 1974), so that rounding errors
//! do not accumulate over many observations.

use crate::family::draw_index;
use crate::kernel::softmax::softmax_of_one;
use crate::{Error, Result};
use rand::Rng;

/// Prior, likelihood and posterior of numbered hypotheses.
///
/// ```
/// use abduce::concept::Belief;
/// let mut belief = Belief::new(vec![0.008f64.ln(), 0.992f64.ln()])?;
/// let positive = [0.98f64.ln(), 0.03f64.ln()];
/// belief.observe(&positive, 1.0)?;
/// assert!((belief.posterior()[0] - 0.208511).abs() < 1e-6);
/// assert_eq!(belief.map(), [1]);
/// belief.observe(&positive, 1.0)?;
/// assert!((belief.posterior()[0] - 0.895896).abs() < 1e-6);
/// assert_eq!(belief.map(), [0]);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Belief {
    log_prior: Vec<f64>,
    /// log P(D | h) is the sum of these two.
    sum: Vec<f64>,
    compensation: Vec<f64>,
    posterior: Vec<f64>,
    log_evidence: f64,
    observed: f64,
}

impl Belief {
    /// The prior belief. Priors are normalised to sum to 1.
    ///
    /// # Errors
    /// If there is no hypothesis, a log-prior is +∞ or NaN, or all are −∞.
    pub fn new(mut log_prior: Vec<f64>) -> Result<Belief> {
        if let Some(wrong) = log_prior
            .iter()
            .position(|p| p.is_nan() || *p == f64::INFINITY)
        {
            let message = format!("the prior of hypothesis {wrong} is not a number");
            return Err(Error::parameter(message));
        }
        let mut posterior = log_prior.clone();
        let total = softmax_of_one(&mut posterior);
        if total == f64::NEG_INFINITY {
            return Err(Error::parameter("no hypothesis is possible"));
        }
        log_prior.iter_mut().for_each(|p| *p -= total);
        Ok(Belief {
            sum: vec![0.0; log_prior.len()],
            compensation: vec![0.0; log_prior.len()],
            log_prior,
            posterior,
            log_evidence: 0.0,
            observed: 0.0,
        })
    }

    /// Updates on an observation made `times` times, given its log-likelihood under every
    /// hypothesis. Returns the logarithm of its predictive probability; the sum of these is
    /// the log-evidence.
    ///
    /// # Errors
    /// If the observation is impossible under all remaining hypotheses, in which case nothing
    /// changes, or the arguments are invalid.
    pub fn observe(&mut self, log_likelihoods: &[f64], times: f64) -> Result<f64> {
        if log_likelihoods.len() != self.sum.len() {
            return Err(Error::parameter(format!(
                "{} likelihoods for {} hypotheses",
                log_likelihoods.len(),
                self.sum.len()
            )));
        }
        if !times.is_finite() || times < 0.0 {
            let message = format!("an observation cannot be made {times} times");
            return Err(Error::parameter(message));
        }
        let wrong = |l: &f64| l.is_nan() || *l == f64::INFINITY;
        if log_likelihoods.iter().any(wrong) {
            return Err(Error::parameter("a likelihood is not a number"));
        }
        if times == 0.0 {
            return Ok(0.0);
        }
        let possible =
            |(h, l): (usize, &f64)| *l > f64::NEG_INFINITY && self.log_joint(h) > f64::NEG_INFINITY;
        if !log_likelihoods.iter().enumerate().any(possible) {
            return Err(Error::numeric(
                "the observation is impossible under every hypothesis that remains",
            ));
        }
        let sums = self.sum.iter_mut().zip(&mut self.compensation);
        for ((sum, compensation), log_likelihood) in sums.zip(log_likelihoods) {
            let added = times * log_likelihood;
            let (before, after) = (*sum, *sum + added);
            let rounding = if before.abs() >= added.abs() {
                (before - after) + added
            } else {
                (added - after) + before
            };
            if after > f64::NEG_INFINITY {
                *compensation += rounding;
            }
            *sum = after;
        }
        self.observed += times;
        let before = self.log_evidence;
        let sums = self.sum.iter().zip(&self.compensation);
        let terms = self.posterior.iter_mut().zip(&self.log_prior).zip(sums);
        for ((joint, prior), (sum, compensation)) in terms {
            *joint = prior + (sum + compensation);
        }
        self.log_evidence = softmax_of_one(&mut self.posterior);
        Ok(self.log_evidence - before)
    }

    /// The number of hypotheses, at least one.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.log_prior.len()
    }

    /// log P(h).
    pub fn log_prior(&self, hypothesis: usize) -> f64 {
        self.log_prior[hypothesis]
    }

    /// log P(D | h).
    pub fn log_likelihood(&self, hypothesis: usize) -> f64 {
        self.sum[hypothesis] + self.compensation[hypothesis]
    }

    /// log P(h, D).
    pub fn log_joint(&self, hypothesis: usize) -> f64 {
        self.log_prior(hypothesis) + self.log_likelihood(hypothesis)
    }

    /// P(h | D) of every hypothesis.
    pub fn posterior(&self) -> &[f64] {
        &self.posterior
    }

    /// log P(D).
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// The hypotheses of greatest posterior probability, including all ties.
    pub fn map(&self) -> Vec<usize> {
        self.greatest(|h| self.log_joint(h))
    }

    /// The hypotheses of greatest likelihood, including all ties, even those with prior 0.
    pub fn maximum_likelihood(&self) -> Vec<usize> {
        self.greatest(|h| self.log_likelihood(h))
    }

    /// The hypotheses with the greatest value, up to the rounding error of this many factors.
    fn greatest(&self, log: impl Fn(usize) -> f64) -> Vec<usize> {
        let top = (0..self.len()).map(&log).fold(f64::NEG_INFINITY, f64::max);
        let slack = 8.0 * f64::EPSILON * (1.0 + top.abs() + self.observed);
        (0..self.len()).filter(|h| log(*h) >= top - slack).collect()
    }

    /// The posterior mean Σ P(h | D) v(h).
    pub fn average(&self, values: impl Fn(usize) -> f64) -> f64 {
        let terms = self.posterior.iter().enumerate();
        terms
            .filter(|(_, p)| **p > 0.0)
            .map(|(h, p)| p * values(h))
            .sum()
    }

    /// Draws a hypothesis from the posterior.
    pub fn draw(&self, rng: &mut dyn Rng) -> usize {
        draw_index(&self.posterior, rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn logs(p: &[f64]) -> Vec<f64> {
        p.iter().map(|p| p.ln()).collect()
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * (1.0 + a.abs())
    }

    #[test]
    fn one_by_one_equals_all_at_once_in_any_order() {
        let prior = logs(&[0.2, 0.5, 0.3]);
        let (a, b) = (logs(&[0.9, 0.1, 0.4]), logs(&[0.3, 0.3, 0.01]));
        let mut mixed = Belief::new(prior.clone()).unwrap();
        for i in 0..100 {
            mixed
                .observe(if i % 3 == 0 { &a } else { &b }, 1.0)
                .unwrap();
        }
        let mut whole = Belief::new(prior).unwrap();
        whole.observe(&b, 66.0).unwrap();
        whole.observe(&a, 34.0).unwrap();
        for h in 0..3 {
            assert!(close(mixed.log_joint(h), whole.log_joint(h)));
            assert!((mixed.posterior()[h] - whole.posterior()[h]).abs() < 1e-12);
        }
        assert!(close(mixed.log_evidence(), whole.log_evidence()));
    }

    #[test]
    fn evidence_is_the_chain_of_predictive_probabilities() {
        let mut belief = Belief::new(logs(&[0.5, 0.25, 0.25])).unwrap();
        let mut chain = 0.0;
        for i in 0..50u32 {
            let p = [0.1, 0.5, 0.9].map(|p: f64| if i % 4 == 0 { p } else { 1.0 - p });
            let before = belief.average(|h| p[h]);
            let predictive = belief.observe(&logs(&p), 1.0).unwrap();
            assert!(close(predictive, before.ln()));
            chain += predictive;
        }
        assert!(close(chain, belief.log_evidence()));
    }

    #[test]
    fn a_million_observations_neither_underflow_nor_drift() {
        let mut belief = Belief::new(logs(&[0.5, 0.5])).unwrap();
        let (x, y) = (logs(&[0.3, 0.1]), logs(&[0.1, 0.3]));
        for _ in 0..500_000 {
            belief.observe(&x, 1.0).unwrap();
            belief.observe(&y, 1.0).unwrap();
        }
        assert!((belief.posterior()[0] - 0.5).abs() < 1e-9);
        assert_eq!(belief.map(), [0, 1]);
        let exact = 500_000.0 * (0.3f64.ln() + 0.1f64.ln());
        assert!((belief.log_evidence() / exact - 1.0).abs() < 1e-15);
    }

    #[test]
    fn impossible_hypotheses_stay_impossible_and_an_impossible_observation_is_refused() {
        let mut belief = Belief::new(logs(&[0.0, 0.5, 0.5])).unwrap();
        belief.observe(&logs(&[1.0, 0.0, 0.5]), 1.0).unwrap();
        assert_eq!(belief.posterior(), [0.0, 0.0, 1.0]);
        assert_eq!(belief.maximum_likelihood(), [0]);
        let before = belief.clone();
        assert!(belief.observe(&logs(&[1.0, 1.0, 0.0]), 1.0).is_err());
        assert_eq!(belief.posterior(), before.posterior());
        assert_eq!(belief.observe(&logs(&[1.0, 1.0, 0.0]), 0.0).unwrap(), 0.0);
    }

    #[test]
    fn draws_follow_the_posterior() {
        let belief = Belief::new(logs(&[0.0, 0.7, 0.3])).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut counts = [0.0; 3];
        (0..10_000).for_each(|_| counts[belief.draw(&mut rng)] += 1.0);
        assert_eq!(counts[0], 0.0);
        assert!((counts[1] / 10_000.0 - 0.7f64).abs() < 0.02);
    }

    #[test]
    fn invalid_numbers_are_refused() {
        assert!(Belief::new(vec![]).is_err());
        assert!(Belief::new(vec![f64::NAN]).is_err());
        assert!(Belief::new(vec![f64::NEG_INFINITY]).is_err());
        let mut belief = Belief::new(vec![0.0]).unwrap();
        assert!(belief.observe(&[0.0, 0.0], 1.0).is_err());
        assert!(belief.observe(&[f64::NAN], 1.0).is_err());
        assert!(belief.observe(&[0.0], -1.0).is_err());
    }
}
