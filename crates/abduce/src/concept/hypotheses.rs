//! Named hypotheses and a table of likelihoods: the probability of each outcome of an
//! observation under each hypothesis. The posterior is updated by each observation of an
//! outcome that happened or did not happen:
//!
//!   P(h | D, d) = P(d | h) P(h | D) / P(d | D),   P(not d | h) = 1 − P(d | h).

use super::belief::Belief;
use crate::data::{listed, nearest};
use crate::{Error, Result};
use rand::Rng;
use std::collections::HashSet;

/// The largest difference from 1 of a sum of priors.
const ROUNDING: f64 = 1e-9;

/// Hypotheses with priors, likelihoods and observations.
///
/// ```
/// use abduce::concept::Hypotheses;
/// let mut patient = Hypotheses::new(["cancer", "healthy"], &[0.008, 0.992])?
///     .with_outcome("positive", &[0.98, 0.03])?;
/// let positive = patient.event("positive")?;
/// patient.observe(positive, 1.0)?;
/// let belief = patient.belief();
/// assert!((belief.posterior()[0] - 0.208511).abs() < 1e-6);
/// assert_eq!(patient.names()[belief.map()[0]], "healthy");
/// assert_eq!(patient.names()[belief.maximum_likelihood()[0]], "cancer");
/// assert!((belief.log_evidence().exp() - 0.0376).abs() < 1e-6);
/// assert!(patient.event("negative").is_err());
/// let negative = patient.event("not positive")?;
/// patient.observe(negative, 2.0)?;
/// assert!(patient.belief().posterior()[0] < 1e-3);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Hypotheses {
    names: Vec<String>,
    priors: Vec<f64>,
    outcomes: Vec<Outcome>,
    belief: Belief,
    history: Vec<Step>,
}

#[derive(Clone, Debug)]
struct Outcome {
    name: String,
    /// P(outcome | h) of every hypothesis.
    likelihoods: Vec<f64>,
    /// Logarithms of the likelihoods and of their complements, once needed.
    happened: Option<Vec<f64>>,
    absent: Option<Vec<f64>>,
}

/// An observation: an outcome happened or did not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    outcome: usize,
    happened: bool,
}

/// An observation in the history.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The event.
    pub event: Event,
    /// The number of times it was observed.
    pub times: f64,
    /// The logarithm of its predictive probability before it was observed.
    pub log_probability: f64,
}

impl Hypotheses {
    /// Hypotheses with prior probabilities.
    ///
    /// # Errors
    /// If a name is empty or repeated, a prior is not a probability, or they do not sum to 1.
    pub fn new<N: Into<String>>(
        names: impl IntoIterator<Item = N>,
        priors: &[f64],
    ) -> Result<Hypotheses> {
        let sum: f64 = priors.iter().sum();
        let hypotheses = Self::weighted(names, priors)?;
        if (sum - 1.0).abs() > ROUNDING {
            return Err(Error::parameter(format!(
                "the priors sum to {}, not to 1",
                rounded(sum)
            )));
        }
        Ok(hypotheses)
    }

    /// Hypotheses with unnormalised prior weights.
    ///
    /// # Errors
    /// If a name is empty or repeated, a weight is negative or not finite, or none is positive.
    pub fn weighted<N: Into<String>>(
        names: impl IntoIterator<Item = N>,
        weights: &[f64],
    ) -> Result<Hypotheses> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        if names.len() != weights.len() {
            return Err(Error::parameter(format!(
                "{} priors for {} hypotheses",
                weights.len(),
                names.len()
            )));
        }
        let mut seen = HashSet::new();
        for (name, weight) in names.iter().zip(weights) {
            if name.is_empty() {
                return Err(Error::parameter("a hypothesis has no name"));
            }
            if !seen.insert(name) {
                let message = format!("there are two hypotheses \"{name}\"");
                return Err(Error::parameter(message));
            }
            if !weight.is_finite() || *weight < 0.0 {
                return Err(Error::parameter(format!(
                    "the prior of \"{name}\" is {weight}, which is not a probability"
                )));
            }
        }
        let belief = Belief::new(weights.iter().map(|w| w.ln()).collect())?;
        let sum: f64 = weights.iter().sum();
        let share = |weight: &f64| {
            if (sum - 1.0).abs() > ROUNDING {
                weight / sum
            } else {
                *weight
            }
        };
        Ok(Hypotheses {
            names,
            priors: weights.iter().map(share).collect(),
            outcomes: Vec::new(),
            belief,
            history: Vec::new(),
        })
    }

    /// Adds an outcome with its probability under every hypothesis. Outcomes may be mutually
    /// exclusive, as those of one test are, or not.
    ///
    /// # Errors
    /// If there is an outcome of this name, or the likelihoods are not one probability per
    /// hypothesis.
    pub fn with_outcome(
        mut self,
        name: impl Into<String>,
        likelihoods: &[f64],
    ) -> Result<Hypotheses> {
        let name = name.into();
        if name.is_empty() {
            return Err(Error::parameter("an outcome has no name"));
        }
        if self.outcomes.iter().any(|outcome| outcome.name == name) {
            return Err(Error::parameter(format!(
                "outcome \"{name}\" is given twice"
            )));
        }
        if likelihoods.len() != self.names.len() {
            return Err(Error::parameter(format!(
                "outcome \"{name}\" needs {} likelihoods, not {}",
                self.names.len(),
                likelihoods.len()
            ))
            .with_hint(format!(
                "give one for each of {}, in this order",
                listed(self.names.iter().map(String::as_str))
            )));
        }
        let mut pairs = self.names.iter().zip(likelihoods);
        if let Some((hypothesis, p)) = pairs.find(|(_, p)| !(0.0..=1.0).contains(*p)) {
            return Err(Error::parameter(format!(
                "the likelihood of outcome \"{name}\" under \"{hypothesis}\" is {p}, which is not a \
                 probability"
            ))
            .with_hint("a probability is between 0 and 1"));
        }
        self.outcomes.push(Outcome {
            name,
            likelihoods: likelihoods.to_vec(),
            happened: None,
            absent: None,
        });
        Ok(self)
    }

    /// Parses an event: the name of an outcome, or `not` or `!` and the name of an outcome that
    /// did not happen.
    ///
    /// # Errors
    /// If there is no such outcome.
    pub fn event(&self, text: &str) -> Result<Event> {
        let text = text.trim();
        let find = |name: &str| self.outcomes.iter().position(|o| o.name == name);
        let event = |outcome: usize, happened: bool| Event { outcome, happened };
        if let Some(outcome) = find(text) {
            return Ok(event(outcome, true));
        }
        let negated = text.strip_prefix("not ").or(text.strip_prefix('!'));
        if let Some(outcome) = negated.and_then(|name| find(name.trim())) {
            return Ok(event(outcome, false));
        }
        let names: Vec<String> = self.outcomes.iter().map(|o| o.name.clone()).collect();
        let near = nearest(negated.unwrap_or(text).trim(), &names);
        let meant = near.map_or(String::new(), |near| format!("did you mean {near}? "));
        let all = if names.is_empty() {
            "there are none".to_string()
        } else {
            format!(
                "the outcomes are {}",
                listed(names.iter().map(String::as_str))
            )
        };
        Err(Error::parameter(format!("there is no outcome \"{text}\""))
            .with_hint(format!("{meant}{all}")))
    }

    /// An event as text.
    pub fn describe(&self, event: Event) -> String {
        let outcome = self.outcomes.get(event.outcome);
        let name = outcome.map_or("", |outcome| outcome.name.as_str());
        if event.happened {
            name.to_string()
        } else {
            format!("not {name}")
        }
    }

    /// Updates on an event observed `times` times.
    ///
    /// # Errors
    /// If it is impossible under every hypothesis that remains; nothing changes then.
    pub fn observe(&mut self, event: Event, times: f64) -> Result<Step> {
        let Some(outcome) = self.outcomes.get_mut(event.outcome) else {
            return Err(Error::parameter("this event belongs to other hypotheses"));
        };
        let p = &outcome.likelihoods;
        let logs = if event.happened {
            outcome
                .happened
                .get_or_insert_with(|| p.iter().map(|p| p.ln()).collect())
        } else {
            outcome
                .absent
                .get_or_insert_with(|| p.iter().map(|p| (-p).ln_1p()).collect())
        };
        let log_probability = self.belief.observe(logs, times).map_err(|error| {
            let number = self.history.len() + 1;
            match error.kind() {
                crate::ErrorKind::Numeric => Error::numeric(format!(
                    "observation {number}, \"{}\", is impossible under every hypothesis that remains",
                    self.describe(event)
                ))
                .with_hint("no observation can change a probability of 0; use a small one instead"),
                _ => error,
            }
        })?;
        let step = Step {
            event,
            times,
            log_probability,
        };
        self.history.push(step);
        Ok(step)
    }

    /// The names of the hypotheses.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// P(h) of every hypothesis.
    pub fn priors(&self) -> &[f64] {
        &self.priors
    }

    /// The names of the outcomes.
    pub fn outcomes(&self) -> impl Iterator<Item = &str> {
        self.outcomes.iter().map(|outcome| outcome.name.as_str())
    }

    /// Priors, likelihoods, posterior and evidence.
    pub fn belief(&self) -> &Belief {
        &self.belief
    }

    /// All observations, in order.
    pub fn history(&self) -> &[Step] {
        &self.history
    }

    /// The probability of every outcome in the next observation:
    /// Σ P(outcome | h) P(h | D).
    pub fn predictive(&self) -> Vec<f64> {
        let outcomes = self.outcomes.iter();
        outcomes
            .map(|outcome| self.belief.average(|h| outcome.likelihoods[h]))
            .collect()
    }

    /// The position of a hypothesis drawn from the posterior.
    pub fn draw(&self, rng: &mut dyn Rng) -> usize {
        self.belief.draw(rng)
    }

    /// The first hypothesis whose likelihoods sum to more than 1, which means that its outcomes
    /// are not mutually exclusive, with the sum.
    pub fn exceeding(&self) -> Option<(usize, f64)> {
        let sum = |h: usize| -> f64 { self.outcomes.iter().map(|o| o.likelihoods[h]).sum() };
        let mut sums = (0..self.names.len()).map(|h| (h, sum(h)));
        sums.find(|(_, sum)| *sum > 1.0 + ROUNDING)
    }
}

/// A sum rounded to ten digits after the point for display.
fn rounded(x: f64) -> f64 {
    let shown = format!("{x:.10}").parse();
    shown.unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coin() -> Hypotheses {
        let biases: Vec<f64> = (0..=10).map(|i| f64::from(i) / 10.0).collect();
        let names = biases.iter().map(|b| format!("bias {b}"));
        Hypotheses::weighted(names, &[1.0; 11])
            .unwrap()
            .with_outcome("heads", &biases)
            .unwrap()
    }

    #[test]
    fn an_outcome_that_did_not_happen_is_the_complement() {
        let flips: Vec<f64> = (0..=10).map(|i| 1.0 - f64::from(i) / 10.0).collect();
        let mut coin = coin().with_outcome("tails", &flips).unwrap();
        let mut other = coin.clone();
        let (tails, negated) = (coin.event("tails").unwrap(), coin.event("!heads").unwrap());
        coin.observe(tails, 3.0).unwrap();
        other.observe(negated, 3.0).unwrap();
        let pairs = coin
            .belief()
            .posterior()
            .iter()
            .zip(other.belief().posterior());
        assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 1e-14));
        assert_eq!(other.describe(negated), "not heads");
        assert_eq!(coin.event("not  heads").unwrap(), negated);
        let sum: f64 = coin.predictive().iter().sum();
        assert!((sum - 1.0).abs() < 1e-14);
        assert_eq!(coin.exceeding(), None);
    }

    #[test]
    fn the_posterior_concentrates_at_the_truth_and_the_history_sums_to_the_evidence() {
        let mut coin = coin();
        let (heads, tails) = (
            coin.event("heads").unwrap(),
            coin.event("not heads").unwrap(),
        );
        for i in 0..1000 {
            coin.observe(if i % 10 < 7 { heads } else { tails }, 1.0)
                .unwrap();
        }
        assert_eq!(coin.belief().map(), [7]);
        assert!(coin.belief().posterior()[7] > 0.999);
        let chain: f64 = coin.history().iter().map(|s| s.log_probability).sum();
        assert!((chain / coin.belief().log_evidence() - 1.0).abs() < 1e-12);
        assert!((coin.predictive()[0] - 0.7).abs() < 1e-3);
    }

    #[test]
    fn an_impossible_observation_is_named() {
        let mut sure = Hypotheses::new(["a", "b"], &[0.5, 0.5])
            .unwrap()
            .with_outcome("x", &[1.0, 0.0])
            .unwrap();
        let (x, not_x) = (sure.event("x").unwrap(), sure.event("not x").unwrap());
        sure.observe(x, 1.0).unwrap();
        let error = sure.observe(not_x, 1.0).unwrap_err().to_string();
        assert!(error.contains("observation 2, \"not x\""), "{error}");
        assert_eq!(sure.history().len(), 1);
    }

    #[test]
    fn invalid_tables_are_refused_with_the_reason() {
        let fails = |error: Result<Hypotheses>, word: &str| {
            let error = error.unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        };
        fails(Hypotheses::new(["a", "b"], &[0.5, 0.6]), "sum to 1.1");
        fails(Hypotheses::new(["a", "b"], &[1.5, -0.5]), "\"b\" is -0.5");
        fails(Hypotheses::new(["a", "a"], &[0.5, 0.5]), "two hypotheses");
        fails(Hypotheses::new(["a", ""], &[0.5, 0.5]), "no name");
        fails(Hypotheses::new(["a"], &[0.5, 0.5]), "2 priors for 1");
        fails(Hypotheses::weighted(["a"], &[0.0]), "no hypothesis");
        let two = || Hypotheses::new(["a", "b"], &[0.5, 0.5]).unwrap();
        fails(
            two().with_outcome("x", &[0.5]),
            "needs 2 likelihoods, not 1",
        );
        fails(two().with_outcome("x", &[0.5, 1.5]), "under \"b\" is 1.5");
        fails(two().with_outcome("x", &[f64::NAN, 1.0]), "under \"a\"");
        let one = two().with_outcome("positive", &[0.9, 0.8]).unwrap();
        fails(one.clone().with_outcome("positive", &[0.1, 0.2]), "twice");
        let near = one.event("postive").unwrap_err().to_string();
        assert!(near.contains("did you mean positive"), "{near}");
        let both = one.with_outcome("fever", &[0.1, 0.3]).unwrap();
        assert!(both.exceeding().is_some_and(|(h, _)| h == 1));
    }
}
