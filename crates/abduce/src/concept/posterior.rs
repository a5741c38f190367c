//! The posterior over all conjunctions, given noise-free or noisy examples and a prior that is
//! a product over attributes. Evidence, best hypotheses, draws and Bayes-optimal votes are
//! folds over the [`Trellis`], without enumeration.

use super::best_first::BestFirst;
use super::conjunction::{Conjunction, Conjunctions};
use super::count::Count;
use super::examples::{Decisive, Example, Examples};
use super::prior::{Assumptions, ConceptPrior, Weights};
use super::space::{Space, check_noise, label_likelihood};
use super::trellis::{Choice, Trellis};
use crate::family::draw_index;
use crate::{Error, Result};
use rand::{Rng, RngExt};

/// The posterior over all conjunctions.
///
/// ```
/// use abduce::concept::{Assumptions, ConjunctionPosterior, Conjunctions, Examples};
/// use abduce::data::{Field, Kind};
/// let days = Conjunctions::new(vec![
///     Field::with_levels("sky", Kind::Categorical, ["sunny", "rainy"]),
///     Field::with_levels("wind", Kind::Categorical, ["strong", "weak"]),
/// ])?;
/// let mut examples = Examples::default();
/// examples.add(&[Some(0), Some(0)], true, 1.0);
/// examples.add(&[Some(1), Some(1)], false, 1.0);
/// let posterior = ConjunctionPosterior::new(&days, &examples, Assumptions::default())?;
/// // ⟨sunny, ?⟩, ⟨?, strong⟩ and ⟨sunny, strong⟩, of ten.
/// assert!((posterior.log_evidence() - 0.3f64.ln()).abs() < 1e-12);
/// assert!((posterior.probability(&[Some(0), Some(1)]) - 1.0 / 3.0).abs() < 1e-12);
/// assert_eq!(posterior.best(10).len(), 3);
/// # Ok::<(), abduce::Error>(())
/// ```
pub struct ConjunctionPosterior<'s> {
    space: &'s Conjunctions,
    weights: Weights,
    trellis: Trellis,
    /// log P(D | ∅).
    nothing_likelihood: f64,
    /// log P(∅, D), without the normalising constant of the prior.
    nothing: f64,
    /// For every state, the log-sum of the weights of all paths from it.
    sums: Vec<Vec<f64>>,
    /// log P(D), without the normalising constant of the prior.
    total: f64,
    /// The total weight of the examples.
    observed: f64,
}

impl<'s> ConjunctionPosterior<'s> {
    /// Computes the posterior.
    ///
    /// # Errors
    /// If the prior or noise is not a probability, no hypothesis fits all examples without
    /// noise, or the trellis has too many states.
    pub fn new(
        space: &'s Conjunctions,
        examples: &Examples,
        assumptions: Assumptions,
    ) -> Result<ConjunctionPosterior<'s>> {
        let Assumptions { prior, noise } = assumptions;
        check_noise(noise)?;
        examples.check(space)?;
        let weights = prior.weights(space)?;
        let trellis = trellis(space, examples, &weights, noise)?;
        let sums = trellis.fold(
            |leaf| leaf,
            |attribute, next| {
                let choices = trellis.choices[attribute].iter().zip(next);
                log_sum(choices.map(|(choice, next)| choice.log_weight + next))
            },
        );
        let rejected = examples
            .distinct()
            .iter()
            .map(|e| label_log_likelihood(e, 0.0, noise));
        let nothing_likelihood = rejected.sum::<f64>();
        let nothing = weights.nothing + nothing_likelihood;
        let total = log_sum([sums[0][0], nothing].into_iter());
        if total == f64::NEG_INFINITY {
            let message = if nothing_likelihood > f64::NEG_INFINITY {
                "only the empty hypothesis fits all examples, and its prior is 0"
            } else {
                "no hypothesis fits all examples"
            };
            return Err(
                Error::numeric(message).with_hint("allow for wrong labels with `noise=0.05`")
            );
        }
        Ok(ConjunctionPosterior {
            space,
            weights,
            trellis,
            nothing_likelihood,
            nothing,
            sums,
            total,
            observed: examples.weight(true) + examples.weight(false),
        })
    }

    /// log P(D).
    pub fn log_evidence(&self) -> f64 {
        self.total - self.weights.total
    }

    /// log P(D | h).
    pub fn log_likelihood(&self, hypothesis: &Conjunction) -> f64 {
        match hypothesis {
            // If its prior is 0, the likelihood does not follow from the joint probability.
            Conjunction::Nothing => self.nothing_likelihood,
            _ => self.log_joint(hypothesis) - self.weights.of(hypothesis),
        }
    }

    /// log P(h | D).
    pub fn log_posterior(&self, hypothesis: &Conjunction) -> f64 {
        self.log_joint(hypothesis) - self.total
    }

    /// log P(h, D), without the normalising constant of the prior.
    fn log_joint(&self, hypothesis: &Conjunction) -> f64 {
        match hypothesis {
            Conjunction::Nothing => self.nothing,
            Conjunction::Constraints(constraints) => self.trellis.weight(constraints),
        }
    }

    /// Bayes-optimal prediction: the probability that an instance is positive, averaged over
    /// the posterior of the hypotheses.
    pub fn probability(&self, instance: &[Option<u32>]) -> f64 {
        let cell = |attribute: usize| instance.get(attribute).copied().flatten();
        let met: Vec<Vec<f64>> = (self.trellis.choices.iter().enumerate())
            .map(|(attribute, choices)| {
                let choices = choices.iter();
                choices
                    .map(|choice| {
                        let met = self.space.probability_met(
                            attribute,
                            choice.constraint,
                            cell(attribute),
                        );
                        choice.log_weight + met.ln()
                    })
                    .collect()
            })
            .collect();
        let positive = self.trellis.fold(
            |leaf| leaf,
            |attribute, next| log_sum(met[attribute].iter().zip(next).map(|(m, n)| m + n)),
        );
        (positive[0][0] - self.total).exp().min(1.0)
    }

    /// Draws a hypothesis from the posterior.
    pub fn draw(&self, rng: &mut dyn Rng) -> Conjunction {
        if rng.random::<f64>() < (self.nothing - self.total).exp() {
            return Conjunction::Nothing;
        }
        let mut state = 0;
        let mut constraints = Vec::with_capacity(self.trellis.depth());
        for (attribute, choices) in self.trellis.choices.iter().enumerate() {
            let after = &self.sums[attribute + 1];
            let shares: Vec<f64> = (choices.iter().enumerate())
                .map(|(number, choice)| {
                    let next = after[self.trellis.next(attribute, state, number)];
                    (choice.log_weight + next - self.sums[attribute][state]).exp()
                })
                .collect();
            let drawn = draw_index(&shares, rng);
            constraints.push(choices[drawn].constraint);
            state = self.trellis.next(attribute, state, drawn);
        }
        Conjunction::Constraints(constraints)
    }

    /// The Gibbs algorithm: the prediction of a hypothesis drawn from the posterior.
    pub fn gibbs(&self, instance: &[Option<u32>], rng: &mut dyn Rng) -> bool {
        let drawn = self.draw(rng);
        rng.random::<f64>() < self.space.probability(&drawn, instance)
    }

    /// The at most `most` best hypotheses of positive probability in decreasing order, with
    /// their log-posteriors.
    pub fn best(&self, most: usize) -> Vec<(Conjunction, f64)> {
        let best = BestFirst::new(&self.trellis).map(|(constraints, weight)| {
            let hypothesis = Conjunction::Constraints(constraints);
            (hypothesis, weight - self.total)
        });
        let mut found: Vec<(Conjunction, f64)> = best.take(most).collect();
        let nothing = self.nothing - self.total;
        if nothing > f64::NEG_INFINITY {
            let place = found.partition_point(|(_, other)| *other >= nothing);
            found.insert(place, (Conjunction::Nothing, nothing));
            found.truncate(most);
        }
        found
    }

    /// The number of hypotheses of positive probability: without noise the size of the version
    /// space, except ∅ if its prior is 0.
    pub fn possible(&self) -> Count {
        let nothing = u128::from(self.nothing > f64::NEG_INFINITY);
        self.trellis.count().plus(Count::from(nothing))
    }

    /// The number of most probable hypotheses, and their log-posterior.
    pub fn map(&self) -> (Count, f64) {
        let best = self.trellis.maxima()[0][0].max(self.nothing);
        // The rounding error of this many factors.
        let slack = 8.0 * f64::EPSILON * (1.0 + best.abs() + self.observed);
        let near = |a: f64, b: f64| a >= b - slack;
        let counts = self.trellis.fold(
            |leaf| (leaf, Count::from(1)),
            |attribute, next| {
                let choices = self.trellis.choices[attribute].iter().zip(next);
                let paths =
                    choices.map(|(choice, (next, count))| (choice.log_weight + next, *count));
                let top = (paths.clone()).fold(f64::NEG_INFINITY, |top, (path, _)| top.max(path));
                let equal = paths.filter(|(path, _)| near(*path, top));
                (
                    top,
                    equal.fold(Count::from(0), |sum, (_, count)| sum.plus(count)),
                )
            },
        );
        let (top, count) = counts[0][0];
        let mut all = Count::from(0);
        if near(top, best) {
            all = all.plus(count);
        }
        if near(self.nothing, best) {
            all = all.plus(Count::from(1));
        }
        (all, best - self.total)
    }
}

/// The number of conjunctions that fit all examples.
///
/// # Errors
/// If the trellis has too many states, or the examples do not match the attributes of the
/// space.
pub fn version_space_size(space: &Conjunctions, examples: &Examples) -> Result<Count> {
    examples.check(space)?;
    let weights = ConceptPrior::Uniform.weights(space)?;
    let trellis = trellis(space, examples, &weights, 0.0)?;
    let nothing = u128::from(examples.weight(true) == 0.0);
    Ok(trellis.count().plus(Count::from(nothing)))
}

/// Builds the trellis. Without noise, positive examples only restrict the choices and enter
/// their weights; with noise, they are part of the states.
fn trellis(
    space: &Conjunctions,
    examples: &Examples,
    weights: &Weights,
    noise: f64,
) -> Result<Trellis> {
    let likelihood = |example: &Example, p: f64| label_log_likelihood(example, p, noise);
    let attributes = 0..space.attributes().len();
    if noise > 0.0 {
        let choices = attributes.map(|attribute| {
            let values = (0..space.values(attribute)).map(|value| Choice {
                constraint: Some(value),
                log_weight: weights.value[attribute],
            });
            let any = Choice {
                constraint: None,
                log_weight: weights.any[attribute],
            };
            [any].into_iter().chain(values).collect()
        });
        return Trellis::new(space, examples.distinct(), choices.collect(), likelihood);
    }
    let decisive = Decisive::new(space, examples);
    let positives = || examples.distinct().iter().filter(|e| e.positive);
    let choices = attributes.map(|attribute| {
        // The likelihood of a positive example is a product over attributes, as the prior is.
        let choice = |constraint: Option<u32>, prior: f64| {
            let met =
                |e: &Example| space.probability_met(attribute, constraint, e.instance[attribute]);
            let seen = positives().map(|e| e.weight * met(e).ln());
            Choice {
                constraint,
                log_weight: prior + seen.sum::<f64>(),
            }
        };
        let values = decisive.allowed[attribute].iter();
        let values = values.map(|value| choice(Some(*value), weights.value[attribute]));
        let any = choice(None, weights.any[attribute]);
        [any].into_iter().chain(values).collect()
    });
    Trellis::new(space, &decisive.negatives, choices.collect(), likelihood)
}

/// log P(label | x, h) of an example that h accepts with probability `p`.
fn label_log_likelihood(example: &Example, p: f64, noise: f64) -> f64 {
    example.weight * label_likelihood(p, example.positive, noise).ln()
}

/// log Σ exp.
fn log_sum(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let top = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + terms.map(|term| (term - top).exp()).sum::<f64>().ln()
}
