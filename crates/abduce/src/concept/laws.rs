//! Laws of conjunctions: results computed without enumeration equal those by enumeration.

use super::*;
use crate::data::{Field, Kind};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::HashSet;

fn space(levels: &[u32]) -> Conjunctions {
    let fields = levels.iter().enumerate().map(|(a, n)| {
        let levels = (0..*n).map(|value| format!("v{value}"));
        Field::with_levels(format!("a{a}"), Kind::Categorical, levels)
    });
    Conjunctions::new(fields.collect()).unwrap()
}

struct Problem {
    space: Conjunctions,
    examples: Vec<(Vec<Option<u32>>, bool, f64)>,
}

/// Small spaces with examples of a random concept, a share of them with wrong labels.
fn problems(number: u64, missing: f64, noise: f64) -> impl Iterator<Item = Problem> {
    (0..number).map(move |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let attributes = rng.random_range(1..5usize);
        let levels: Vec<u32> = (0..attributes).map(|_| rng.random_range(1..4)).collect();
        let space = space(&levels);
        let all: Vec<Conjunction> = space.hypotheses().collect();
        let truth = &all[rng.random_range(0..all.len())];
        let examples = (0..rng.random_range(0..8))
            .map(|_| {
                let full: Vec<Option<u32>> = (levels.iter())
                    .map(|n| {
                        // Sometimes a value beyond those of the attribute.
                        let more = u32::from(rng.random::<f64>() < 0.1);
                        Some(rng.random_range(0..n + more))
                    })
                    .collect();
                let right = space.probability(truth, &full) == 1.0;
                let positive = right != (rng.random::<f64>() < noise);
                let hide = |cell: Option<u32>| cell.filter(|_| rng.random::<f64>() >= missing);
                let seen: Vec<Option<u32>> = full.into_iter().map(hide).collect();
                (seen, positive, f64::from(rng.random_range(1..3u8)))
            })
            .collect();
        Problem { space, examples }
    })
}

impl Problem {
    fn examples(&self) -> Examples {
        let mut examples = Examples::default();
        for (instance, positive, weight) in &self.examples {
            examples.add(instance, *positive, *weight);
        }
        examples
    }

    fn fitting(&self) -> HashSet<Conjunction> {
        let fits = |h: &Conjunction| {
            let mut all = self.examples.iter();
            all.all(|(x, positive, _)| self.space.is_consistent(h, x, *positive))
        };
        self.space.hypotheses().filter(fits).collect()
    }

    fn enumerated(&self, prior: ConceptPrior, noise: f64) -> Option<BruteForce<'_, Conjunctions>> {
        let weights = prior.weights(&self.space).unwrap();
        let mut learner = BruteForce::new(&self.space, |h| weights.of(h), noise).unwrap();
        for (x, positive, weight) in &self.examples {
            learner.observe(x, *positive, *weight).ok()?;
        }
        Some(learner)
    }

    /// Some complete instances, then some with missing values.
    fn queries(&self) -> Vec<Vec<Option<u32>>> {
        let attributes = self.space.attributes().len();
        let incomplete = (0..attributes).map(|hidden| {
            let cell = |a: usize| (a != hidden).then_some(0);
            (0..attributes).map(cell).collect()
        });
        let same = (0..3).map(|value| vec![Some(value); attributes]);
        same.chain(incomplete)
            .chain([vec![None; attributes]])
            .collect()
    }
}

fn settings() -> [(ConceptPrior, f64); 4] {
    let simple = ConceptPrior::Simple(0.3);
    let uniform = ConceptPrior::Uniform;
    [(uniform, 0.0), (uniform, 0.1), (simple, 0.0), (simple, 0.2)]
}

#[test]
fn boundaries_contain_exactly_the_hypotheses_that_fit() {
    for missing in [0.0, 0.25] {
        for problem in problems(300, missing, 0.05) {
            let boundaries = Boundaries::new(&problem.space, &problem.examples()).unwrap();
            let fitting = problem.fitting();
            for h in problem.space.hypotheses() {
                assert_eq!(boundaries.contains(&h), fitting.contains(&h), "{h:?}");
            }
            assert_eq!(boundaries.is_empty(), fitting.is_empty());
            for s in &boundaries.specific {
                let below = |h: &&Conjunction| s.is_as_general_as(h) && *h != s;
                assert!(fitting.contains(s) && !fitting.iter().any(|h| below(&h)));
            }
            for g in &boundaries.general {
                let above = |h: &&Conjunction| h.is_as_general_as(g) && *h != g;
                assert!(fitting.contains(g) && !fitting.iter().any(|h| above(&h)));
            }
            let size = version_space_size(&problem.space, &problem.examples()).unwrap();
            assert_eq!(size.exact(), Some(fitting.len() as u128));
        }
    }
}

#[test]
fn the_order_of_examples_is_irrelevant() {
    for mut problem in problems(100, 0.2, 0.1) {
        let boundaries = |p: &Problem| Boundaries::new(&p.space, &p.examples()).unwrap();
        let before = boundaries(&problem);
        problem.examples.reverse();
        assert_eq!(before, boundaries(&problem));
    }
}

#[test]
fn evidence_posterior_and_votes_are_those_of_enumeration() {
    for missing in [0.0, 0.25] {
        for problem in problems(200, missing, 0.05) {
            let examples = problem.examples();
            for (prior, noise) in settings() {
                let assumptions = Assumptions { prior, noise };
                let posterior = ConjunctionPosterior::new(&problem.space, &examples, assumptions);
                let Some(learner) = problem.enumerated(prior, noise) else {
                    assert!(posterior.is_err());
                    continue;
                };
                let posterior = posterior.unwrap();
                let evidence = learner.belief().log_evidence();
                assert!((posterior.log_evidence() - evidence).abs() < 1e-10);
                let belief = learner.belief();
                for (number, h) in learner.hypotheses().iter().enumerate() {
                    let p = belief.posterior()[number];
                    assert!((posterior.log_posterior(h).exp() - p).abs() < 1e-10);
                    let likelihood = belief.log_likelihood(number).exp();
                    assert!((posterior.log_likelihood(h).exp() - likelihood).abs() < 1e-10);
                }
                for x in problem.queries() {
                    let (one, other) = (posterior.probability(&x), learner.probability(&x));
                    assert!((one - other).abs() < 1e-10, "{one} {other}");
                }
            }
        }
    }
}

#[test]
fn the_best_come_first_and_ties_are_counted() {
    for problem in problems(150, 0.1, 0.05) {
        let examples = problem.examples();
        for (prior, noise) in settings() {
            let assumptions = Assumptions { prior, noise };
            let Some(learner) = problem.enumerated(prior, noise) else {
                continue;
            };
            let posterior =
                ConjunctionPosterior::new(&problem.space, &examples, assumptions).unwrap();
            let (ties, top) = posterior.map();
            assert_eq!(ties.exact(), Some(learner.map().len() as u128));
            let best = posterior.best(usize::MAX);
            assert!((best[0].1 - top).abs() < 1e-10);
            let different: HashSet<&Conjunction> = best.iter().map(|(h, _)| h).collect();
            let possible = learner.belief().posterior().iter();
            let possible = possible.filter(|p| **p > 0.0).count();
            assert_eq!(posterior.possible().exact(), Some(possible as u128));
            assert_eq!(best.len(), different.len());
            assert_eq!(best.len(), possible);
            assert!(best.windows(2).all(|pair| pair[0].1 >= pair[1].1 - 1e-12));
            for (h, p) in &best {
                assert!((posterior.log_posterior(h) - p).abs() < 1e-10);
            }
            let some: Vec<Conjunction> = posterior.best(3).into_iter().map(|(h, _)| h).collect();
            assert_eq!(some.len(), best.len().min(3));
        }
    }
}

#[test]
fn without_noise_and_missing_values_all_hypotheses_that_fit_are_equally_probable() {
    for problem in problems(100, 0.0, 0.0) {
        let examples = problem.examples();
        let posterior =
            ConjunctionPosterior::new(&problem.space, &examples, Assumptions::default()).unwrap();
        let fitting = problem.fitting();
        assert_eq!(posterior.map().0.exact(), Some(fitting.len() as u128));
        let share = fitting.len() as f64 / problem.space.size().as_f64();
        assert!((posterior.log_evidence() - share.ln()).abs() < 1e-12);
    }
}

#[test]
fn a_unanimous_vote_has_probability_exactly_one() {
    for problem in problems(100, 0.0, 0.0) {
        let examples = problem.examples();
        let posterior =
            ConjunctionPosterior::new(&problem.space, &examples, Assumptions::default()).unwrap();
        for (x, positive, _) in &problem.examples {
            assert_eq!(posterior.probability(x), f64::from(u8::from(*positive)));
        }
    }
}

#[test]
fn draws_follow_the_posterior() {
    let mut problem = problems(1, 0.0, 0.0).next().unwrap();
    problem.space = space(&[2, 3]);
    problem.examples = vec![
        (vec![Some(0), None], true, 1.0),
        (vec![Some(1), Some(1)], false, 2.0),
    ];
    let examples = problem.examples();
    let assumptions = Assumptions {
        prior: ConceptPrior::Simple(0.4),
        noise: 0.1,
    };
    let posterior = ConjunctionPosterior::new(&problem.space, &examples, assumptions).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let draws: Vec<Conjunction> = (0..40_000).map(|_| posterior.draw(&mut rng)).collect();
    for h in problem.space.hypotheses() {
        let share = draws.iter().filter(|d| **d == h).count() as f64 / 40_000.0;
        assert!((share - posterior.log_posterior(&h).exp()).abs() < 0.01);
    }
    let x = [Some(0), Some(2)];
    let hits = (0..40_000)
        .filter(|_| posterior.gibbs(&x, &mut rng))
        .count();
    assert!((hits as f64 / 40_000.0 - posterior.probability(&x)).abs() < 0.01);
}

#[test]
fn spaces_beyond_any_enumeration_are_counted() {
    // 12^40 hypotheses, one positive example, and a negative one that differs
    // from it in two attributes: these must not both be `?`.
    let space = space(&[11; 40]);
    let mut examples = Examples::default();
    let positive = vec![Some(0); 40];
    let mut negative = positive.clone();
    (negative[3], negative[7]) = (Some(1), Some(2));
    examples.add(&positive, true, 1.0);
    examples.add(&negative, false, 1.0);
    let size = version_space_size(&space, &examples).unwrap();
    assert_eq!(size.exact(), Some(3 << 38));
    let boundaries = Boundaries::new(&space, &examples).unwrap();
    assert_eq!(
        (boundaries.specific.len(), boundaries.general.len()),
        (1, 2)
    );
    let posterior = ConjunctionPosterior::new(&space, &examples, Assumptions::default()).unwrap();
    let mut like = positive.clone();
    like[3] = Some(5);
    // A third of the remaining hypotheses have no constraint on attribute 3.
    assert!((posterior.probability(&like) - 1.0 / 3.0).abs() < 1e-12);
}

#[test]
fn a_boundary_that_explodes_is_refused_while_its_size_is_counted() {
    // Of each of 30 pairs of attributes one must be constrained: G has 2^30
    // members, the version space 3^30.
    let space = space(&[2; 60]);
    let mut examples = Examples::default();
    let positive = vec![Some(0); 60];
    examples.add(&positive, true, 1.0);
    for pair in 0..30 {
        let mut negative = positive.clone();
        (negative[2 * pair], negative[2 * pair + 1]) = (Some(1), Some(1));
        examples.add(&negative, false, 1.0);
    }
    assert!(Boundaries::new(&space, &examples).is_err());
    let size = version_space_size(&space, &examples).unwrap();
    assert_eq!(size.exact(), Some(3u128.pow(30)));
}

#[test]
fn examples_of_another_space_are_refused() {
    let space = space(&[2, 2]);
    let mut examples = Examples::default();
    examples.add(&[Some(0)], true, 1.0);
    assert!(Boundaries::new(&space, &examples).is_err());
    assert!(version_space_size(&space, &examples).is_err());
    let posterior = ConjunctionPosterior::new(&space, &examples, Assumptions::default());
    assert!(posterior.is_err());
}

#[test]
fn the_simple_prior_sums_to_one_without_the_empty_hypothesis() {
    for problem in problems(50, 0.1, 0.1) {
        for relevance in [0.1, 0.5, 0.9] {
            let weights = ConceptPrior::Simple(relevance).weights(&problem.space);
            let weights = weights.unwrap();
            let all = problem.space.hypotheses();
            let accepting = all.filter(|h| *h != Conjunction::Nothing);
            let sum: f64 = accepting.map(|h| weights.of(&h).exp()).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{sum}");
            assert_eq!(weights.of(&Conjunction::Nothing), f64::NEG_INFINITY);
            assert_eq!(weights.total, 0.0);
        }
    }
}
