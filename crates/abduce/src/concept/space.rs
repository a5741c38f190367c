//! Brute-force MAP learning over any set of hypotheses that can be enumerated. A label is the
//! hypothesis's prediction, or the opposite with probability ε (label noise):
//!
//!   P(positive | x, h) = (1 − ε) p_h(x) + ε (1 − p_h(x)).
//!
//! With ε = 0 and equal priors the posterior is uniform on the version space, the set of
//! hypotheses without an error, so that every consistent learner returns a MAP hypothesis.

use super::belief::Belief;
use crate::{Error, Result};
use rand::{Rng, RngExt};

/// A finite set of hypotheses about which instances are positive.
///
/// ```
/// use abduce::concept::{BruteForce, Space};
/// /// Numbers from a threshold on are positive.
/// struct Thresholds;
/// impl Space for Thresholds {
///     type Hypothesis = u32;
///     type Instance = u32;
///     fn hypotheses(&self) -> impl Iterator<Item = u32> {
///         0..10
///     }
///     fn probability(&self, threshold: &u32, x: &u32) -> f64 {
///         f64::from(u8::from(x >= threshold))
///     }
/// }
/// let mut learner = BruteForce::new(&Thresholds, |_| 0.0, 0.0)?;
/// learner.observe(&7, true, 1.0)?;
/// learner.observe(&3, false, 1.0)?;
/// assert_eq!(learner.version_space().collect::<Vec<_>>(), [&4, &5, &6, &7]);
/// assert_eq!(learner.map().len(), 4);
/// assert!((learner.probability(&5) - 0.5).abs() < 1e-12);
/// # Ok::<(), abduce::Error>(())
/// ```
pub trait Space {
    /// One hypothesis.
    type Hypothesis;
    /// An instance to classify.
    type Instance: ?Sized;

    /// All hypotheses, always in the same order.
    fn hypotheses(&self) -> impl Iterator<Item = Self::Hypothesis>;

    /// The probability that an instance is positive under a hypothesis: 0 or 1, or between
    /// them if the hypothesis is probabilistic or the instance has missing values.
    fn probability(&self, hypothesis: &Self::Hypothesis, instance: &Self::Instance) -> f64;

    /// Whether a label is possible under a hypothesis without noise.
    fn is_consistent(
        &self,
        hypothesis: &Self::Hypothesis,
        instance: &Self::Instance,
        positive: bool,
    ) -> bool {
        label_likelihood(self.probability(hypothesis, instance), positive, 0.0) > 0.0
    }
}

/// P(label | x, h) for a hypothesis that predicts positive with probability `p`.
pub(super) fn label_likelihood(p: f64, positive: bool, noise: f64) -> f64 {
    let right = if positive { p } else { 1.0 - p };
    (1.0 - noise) * right + noise * (1.0 - right)
}

/// Requires label noise to be at least 0 and less than one half.
pub(super) fn check_noise(noise: f64) -> Result<()> {
    if (0.0..0.5).contains(&noise) {
        Ok(())
    } else {
        Err(
            Error::parameter(format!("the noise {noise} is not between 0 and one half"))
                .with_hint("noise is the probability that a label is wrong"),
        )
    }
}

/// A learner that keeps the probability of every hypothesis of a space.
#[derive(Clone, Debug)]
pub struct BruteForce<'s, S: Space> {
    space: &'s S,
    hypotheses: Vec<S::Hypothesis>,
    consistent: Vec<bool>,
    belief: Belief,
    noise: f64,
}

impl<'s, S: Space> BruteForce<'s, S> {
    /// The most hypotheses of a space.
    pub const LIMIT: usize = 1 << 22;

    /// A learner without observations. Priors are normalised; a log-prior of 0 for all
    /// hypotheses makes them equally probable.
    ///
    /// # Errors
    /// If there are more than [`LIMIT`](Self::LIMIT) hypotheses or none, or the
    /// prior or noise is not a probability.
    pub fn new(
        space: &'s S,
        log_prior: impl Fn(&S::Hypothesis) -> f64,
        noise: f64,
    ) -> Result<Self> {
        check_noise(noise)?;
        let hypotheses: Vec<S::Hypothesis> = space.hypotheses().take(Self::LIMIT + 1).collect();
        if hypotheses.len() > Self::LIMIT {
            let message = format!("there are more than {} hypotheses", Self::LIMIT);
            return Err(Error::parameter(message).with_hint("use a smaller space"));
        }
        Ok(BruteForce {
            space,
            consistent: vec![true; hypotheses.len()],
            belief: Belief::new(hypotheses.iter().map(log_prior).collect())?,
            hypotheses,
            noise,
        })
    }

    /// Updates on an example observed `times` times. Returns the logarithm of the predictive
    /// probability of its label.
    ///
    /// # Errors
    /// If the label is impossible under every hypothesis that remains; nothing changes then.
    pub fn observe(&mut self, instance: &S::Instance, positive: bool, times: f64) -> Result<f64> {
        let predictions: Vec<f64> = (self.hypotheses.iter())
            .map(|h| self.space.probability(h, instance))
            .collect();
        let logs: Vec<f64> = (predictions.iter())
            .map(|p| label_likelihood(*p, positive, self.noise).ln())
            .collect();
        let log_probability = self.belief.observe(&logs, times)?;
        for (consistent, p) in self.consistent.iter_mut().zip(predictions) {
            *consistent &= times == 0.0 || label_likelihood(p, positive, 0.0) > 0.0;
        }
        Ok(log_probability)
    }

    /// All hypotheses, in the order of [`belief`](Self::belief).
    pub fn hypotheses(&self) -> &[S::Hypothesis] {
        &self.hypotheses
    }

    /// Priors, posteriors and the evidence.
    pub fn belief(&self) -> &Belief {
        &self.belief
    }

    /// The hypotheses that make no error on the observations.
    pub fn version_space(&self) -> impl Iterator<Item = &S::Hypothesis> {
        let all = self.hypotheses.iter().zip(&self.consistent);
        all.filter(|(_, consistent)| **consistent).map(|(h, _)| h)
    }

    /// The most probable hypotheses, including all ties.
    pub fn map(&self) -> Vec<&S::Hypothesis> {
        let best = self.belief.map().into_iter();
        best.map(|h| &self.hypotheses[h]).collect()
    }

    /// Bayes-optimal prediction: the probability that an instance is positive, averaged over
    /// the posterior of the hypotheses.
    pub fn probability(&self, instance: &S::Instance) -> f64 {
        self.belief
            .average(|h| self.space.probability(&self.hypotheses[h], instance))
    }

    /// The Gibbs algorithm: the prediction of a hypothesis drawn from the posterior. Its
    /// expected error is at most twice that of the Bayes-optimal prediction (Haussler, Kearns
    /// and Schapire 1994).
    pub fn gibbs(&self, instance: &S::Instance, rng: &mut dyn Rng) -> bool {
        let drawn = &self.hypotheses[self.belief.draw(rng)];
        rng.random::<f64>() < self.space.probability(drawn, instance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// Intervals of whole numbers, including empty ones.
    #[derive(Clone, Debug)]
    struct Intervals(u32);

    impl Space for Intervals {
        type Hypothesis = (u32, u32);
        type Instance = u32;

        fn hypotheses(&self) -> impl Iterator<Item = (u32, u32)> {
            let ends = |start: u32| (start..=self.0).map(move |end| (start, end));
            (0..=self.0).flat_map(ends)
        }

        fn probability(&self, (start, end): &(u32, u32), x: &u32) -> f64 {
            f64::from(u8::from((start..end).contains(&x)))
        }
    }

    const EXAMPLES: [(u32, bool); 5] = [(5, true), (1, false), (8, false), (4, true), (5, true)];

    #[test]
    fn without_noise_every_consistent_hypothesis_is_a_map_hypothesis() {
        let space = Intervals(10);
        let mut learner = BruteForce::new(&space, |_| 0.0, 0.0).unwrap();
        for (x, positive) in EXAMPLES {
            learner.observe(&x, positive, 1.0).unwrap();
        }
        let consistent: Vec<&(u32, u32)> = learner.version_space().collect();
        assert_eq!(consistent, learner.map());
        for (h, p) in learner
            .hypotheses()
            .iter()
            .zip(learner.belief().posterior())
        {
            let right = |(x, positive): &(u32, bool)| space.is_consistent(h, x, *positive);
            let expected = if EXAMPLES.iter().all(right) {
                1.0 / consistent.len() as f64
            } else {
                0.0
            };
            assert!((p - expected).abs() < 1e-14);
        }
        let share = consistent.len() as f64 / learner.hypotheses().len() as f64;
        assert!((learner.belief().log_evidence() - share.ln()).abs() < 1e-12);
    }

    #[test]
    fn little_noise_is_close_to_none_and_allows_contradictions() {
        let space = Intervals(10);
        let learn = |noise: f64| {
            let mut learner = BruteForce::new(&space, |_| 0.0, noise).unwrap();
            for (x, positive) in EXAMPLES {
                learner.observe(&x, positive, 1.0).unwrap();
            }
            learner
        };
        let (none, little) = (learn(0.0), learn(1e-12));
        for (p, q) in (none.belief().posterior().iter()).zip(little.belief().posterior()) {
            assert!((p - q).abs() < 1e-9);
        }
        let mut noisy = learn(0.1);
        noisy.observe(&5, false, 1.0).unwrap();
        assert_eq!(noisy.version_space().count(), 0);
        assert!(noisy.probability(&5) > 0.9);
        assert!(none.clone().observe(&5, false, 1.0).is_err());
    }

    #[test]
    fn gibbs_predicts_positive_with_the_bayes_optimal_probability() {
        let space = Intervals(10);
        let mut learner = BruteForce::new(&space, |(a, b)| -f64::from(b - a), 0.05).unwrap();
        learner.observe(&5, true, 2.0).unwrap();
        let vote = learner.probability(&6);
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let hits = (0..20_000).filter(|_| learner.gibbs(&6, &mut rng)).count();
        assert!((hits as f64 / 20_000.0 - vote).abs() < 0.02, "{vote}");
    }

    #[test]
    fn too_much_noise_and_too_many_hypotheses_are_refused() {
        let space = Intervals(10);
        for noise in [-0.1, 0.5, f64::NAN] {
            assert!(BruteForce::new(&space, |_| 0.0, noise).is_err());
        }
        let error = BruteForce::new(&Intervals(4000), |_| 0.0, 0.0);
        assert!(error.unwrap_err().to_string().contains("more than 4194304"));
    }
}
