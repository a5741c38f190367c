//! What is learned from the examples: the version space, the posterior and how it evolves, and
//! predictions.

use super::read::Concept;
use crate::context::Context;
use crate::io::failure::{Failure, Outcome};
use crate::io::random::chunk_rng;
use abduce::concept::{
    Assumptions, Boundaries, Conjunction, ConjunctionPosterior, Count, Examples, Space,
    version_space_size,
};
use abduce::data::ReadOptions;
use abduce::{Error, ErrorKind};

/// How many of the rows on which a hypothesis is wrong are named.
const MAX_NAMED_ROWS: usize = 5;

/// The results; each is an error if its computation would be too large.
pub struct Learned<'c> {
    pub assumptions: Assumptions,
    pub examples: Examples,
    pub boundaries: Result<Boundaries, Error>,
    pub size: Result<Count, Error>,
    pub posterior: Result<ConjunctionPosterior<'c>, Error>,
    pub best: Vec<(Conjunction, f64)>,
}

/// A hypothesis checked against the examples.
pub struct Check {
    pub hypothesis: Conjunction,
    /// The weight of the rows on which it is wrong.
    pub errors: f64,
    pub wrong_rows: usize,
    /// The first of these rows.
    pub rows: Vec<u64>,
    pub posterior: Option<f64>,
    /// Whether it is a MAP hypothesis.
    pub best: bool,
}

/// The posterior after an example.
pub struct Stage {
    pub row: u64,
    pub positive: bool,
    /// The log-probability of the label given the examples before it.
    pub log_probability: f64,
    pub log_evidence: f64,
    pub ties: Count,
    pub map: (Conjunction, f64),
}

/// The prediction of a row without a label.
pub struct Prediction {
    /// Whether the row is in the table, not in the file of --predict.
    pub in_table: bool,
    pub row: u64,
    /// The probability of the positive label, by the vote of all hypotheses.
    pub probability: f64,
    /// Whether a hypothesis drawn from the posterior accepts the row.
    pub gibbs: bool,
}

impl Prediction {
    /// Whether the positive label has at least half of the votes, up to rounding.
    pub fn positive(&self) -> bool {
        self.probability >= 0.5 - 1e-12
    }
}

impl<'c> Learned<'c> {
    pub fn new(concept: &'c Concept, assumptions: Assumptions, top: usize) -> Outcome<Self> {
        let space = &concept.space;
        let examples = concept.examples(u64::MAX)?;
        if examples.distinct().is_empty() {
            let error = Error::data("no row has a label").at_column(&concept.target);
            return Err(error.into());
        }
        let posterior = ConjunctionPosterior::new(space, &examples, assumptions);
        if let Err(error) = &posterior
            && error.kind() == ErrorKind::Parameter
        {
            return Err(error.clone().into());
        }
        let best = posterior.as_ref().map_or(Vec::new(), |p| p.best(top));
        let size = match &posterior {
            // The version space depends neither on noise nor on the prior.
            _ if assumptions != Assumptions::default() => version_space_size(space, &examples),
            Ok(posterior) => Ok(posterior.possible()),
            Err(error) if error.kind() == ErrorKind::Numeric => Ok(Count::from(0)),
            Err(error) => Err(error.clone()),
        };
        Ok(Learned {
            assumptions,
            boundaries: Boundaries::new(space, &examples),
            size,
            examples,
            posterior,
            best,
        })
    }

    pub fn check(&self, concept: &Concept, hypothesis: Conjunction) -> Outcome<Check> {
        let (mut errors, mut wrong_rows, mut rows) = (0.0, 0, Vec::new());
        concept.each_row(|row| {
            let label = row.positive;
            let right = |positive| {
                concept
                    .space
                    .is_consistent(&hypothesis, row.instance, positive)
            };
            if !label.is_none_or(right) {
                errors += row.weight;
                wrong_rows += 1;
                rows.push(row.number);
                rows.truncate(MAX_NAMED_ROWS);
            }
            Ok(())
        })?;
        let posterior = self.posterior.as_ref().ok();
        let log_posterior = posterior.map(|posterior| posterior.log_posterior(&hypothesis));
        let best = posterior.map(|posterior| posterior.map().1);
        Ok(Check {
            errors,
            wrong_rows,
            rows,
            best: (log_posterior.zip(best)).is_some_and(|(log, best)| log >= best - 1e-9),
            posterior: log_posterior.map(f64::exp),
            hypothesis,
        })
    }

    /// Predicts the rows without a label, then those of another file.
    pub fn predictions(
        &self,
        concept: &Concept,
        file: Option<&str>,
        options: ReadOptions,
        context: &Context,
    ) -> Outcome<Vec<Prediction>> {
        let mut predictions = Vec::new();
        let posterior = match &self.posterior {
            Ok(posterior) => posterior,
            Err(error) if error.kind() != ErrorKind::Numeric && file.is_some() => {
                return Err(error.clone().into());
            }
            // `report_limits` reports it, after what is known of the version space.
            Err(_) => return Ok(predictions),
        };
        let mut rng = chunk_rng(context.seed, 0, 0);
        let mut predict = |in_table: bool, row: u64, instance: &[Option<u32>]| {
            predictions.push(Prediction {
                in_table,
                row,
                probability: posterior.probability(instance),
                gibbs: posterior.gibbs(instance, &mut rng),
            });
            Ok(())
        };
        concept.each_row(|row| match row.positive {
            None => predict(true, row.number, row.instance),
            Some(_) => Ok(()),
        })?;
        if let Some(path) = file {
            let visit = |row: u64, instance: &[Option<u32>]| predict(false, row, instance);
            concept.each_row_of_file(path, options, context, visit)?;
        }
        Ok(predictions)
    }

    /// Warns about results that could not be computed; an error if no hypothesis fits the examples.
    pub fn report_limits(&self, concept: &Concept, context: &Context) -> Outcome {
        let limits = [
            self.boundaries.as_ref().err(),
            self.size.as_ref().err(),
            self.posterior.as_ref().err(),
        ];
        let limits = limits.into_iter().flatten();
        let mut warnings: Vec<String> = limits
            .filter(|error| error.kind() != ErrorKind::Numeric)
            .map(Error::to_string)
            .collect();
        warnings.dedup();
        warnings.iter().for_each(|text| context.warn(text));
        let impossible = matches!(&self.posterior, Err(e) if e.kind() == ErrorKind::Numeric);
        if !impossible {
            return Ok(());
        }
        if context.json {
            return Err(Failure::Reported);
        }
        let place = match contradiction(concept)? {
            Some(row) => format!(" from row {row} on"),
            None => String::new(),
        };
        Err(Failure::work(format!(
            "no conjunction fits the examples{place}; allow for wrong labels with --noise 0.05"
        )))
    }
}

/// The first row after which no hypothesis fits, by bisection: contradictory examples remain
/// contradictory with more rows.
fn contradiction(concept: &Concept) -> Outcome<Option<u64>> {
    let (mut fits, mut fails) = (0, concept.rows());
    while fits + 1 < fails {
        let middle = fits + (fails - fits) / 2;
        let examples = concept.examples(middle)?;
        match Boundaries::new(&concept.space, &examples) {
            Ok(boundaries) if boundaries.is_empty() => fails = middle,
            Ok(_) => fits = middle,
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(fails))
}

/// The posterior after every labelled row, until no hypothesis fits.
pub fn evolution(concept: &Concept, assumptions: Assumptions) -> Outcome<Vec<Stage>> {
    let space = &concept.space;
    let mut examples = Examples::default();
    let mut posterior = Some(ConjunctionPosterior::new(space, &examples, assumptions)?);
    let mut stages: Vec<Stage> = Vec::new();
    concept.each_row(|row| {
        let (Some(positive), Some(before)) = (row.positive, &posterior) else {
            return Ok(());
        };
        examples.add(row.instance, positive, row.weight);
        let p = before.probability(row.instance);
        let certain = p == f64::from(u8::from(positive));
        // A label that had probability 1 does not change the posterior.
        if assumptions.noise > 0.0 || !certain || stages.is_empty() {
            let log_evidence = before.log_evidence();
            posterior = match ConjunctionPosterior::new(space, &examples, assumptions) {
                Ok(after) => {
                    let (ties, _) = after.map();
                    stages.extend(after.best(1).pop().map(|map| Stage {
                        row: row.number,
                        positive,
                        log_probability: after.log_evidence() - log_evidence,
                        log_evidence: after.log_evidence(),
                        ties,
                        map,
                    }));
                    Some(after)
                }
                Err(error) if error.kind() == ErrorKind::Numeric => None,
                Err(error) => return Err(error.into()),
            };
        } else if let Some(last) = stages.last() {
            stages.push(Stage {
                row: row.number,
                positive,
                log_probability: 0.0,
                log_evidence: last.log_evidence,
                ties: last.ties,
                map: last.map.clone(),
            });
        }
        Ok(())
    })?;
    Ok(stages)
}
