//! Exact answers, from the distribution of the columns as a mixture of products: with the
//! evidence x_c ∈ S_c,
//!
//!   w_k ∝ w_k Π_c P_k(S_c),    P(x_a ∈ A, … | evidence) = Σ_k w_k Π_a P_k(A ∩ S_a) / P_k(S_a).

use super::answer::{Found, Numbers, Probability, Row, Value};
use super::ast::Kind;
use super::bind::{Asked, Bound};
use super::numbers::{MixedNumbers, Part};
use super::restricted::{Restricted, probability};
use super::sets::Set;
use crate::ask::product::MAX_COMBINATIONS;
use crate::ask::{Joint, Marginal, impossible, repeated};
use crate::data::Field;
use crate::family::{PointMass, Univariate};
use crate::{Error, Result};

/// The exact answer, if the model has one.
///
/// # Errors
/// If the evidence is impossible, or there is no such answer to any question of this form.
pub(super) fn exact(model: &dyn Joint, bound: &Bound) -> Result<Option<Found>> {
    match Product::new(model, bound)? {
        Some(product) => product.answer(),
        None => Ok(None),
    }
}

/// The columns that a question is about, given its evidence.
struct Product<'a> {
    bound: &'a Bound,
    /// The probability of each part, given all evidence.
    weights: Vec<f64>,
    /// The columns, and their distribution in each part without the evidence on them.
    columns: Vec<(usize, Vec<Marginal>)>,
}

impl<'a> Product<'a> {
    fn new(model: &dyn Joint, bound: &'a Bound) -> Result<Option<Product<'a>>> {
        let places = bound.columns();
        let Some(mixture) = model.product_mixture(&bound.given, &places)? else {
            return Ok(None);
        };
        let mut weights = mixture.weights;
        let mut log_weights = mixture.log_weights;
        let mut columns: Vec<_> = places.into_iter().zip(mixture.columns).collect();
        if let Some(component) = bound
            .component()
            .filter(|component| bound.concerns(*component))
        {
            if !mixture.are_components {
                if !columns.is_empty() || bound.known(component).is_some() {
                    return Ok(None);
                }
                let row = repeated(model.schema(), &bound.given, 1);
                weights = model.posterior(&row)?.row(0).to_vec();
                log_weights = weights.iter().map(|weight| weight.ln()).collect();
            }
            let parts = (0..weights.len()).map(|part| Marginal::Value(part as f64));
            columns.push((component, parts.collect()));
        }
        let mut product = Product {
            bound,
            weights,
            columns,
        };
        Ok(product.condition(log_weights)?.then_some(product))
    }

    /// Multiplies the weights by the probabilities of the evidence; whether the model gives them.
    fn condition(&mut self, mut log_weights: Vec<f64>) -> Result<bool> {
        if self.bound.evidence.is_empty() {
            return Ok(true);
        }
        for (column, set) in &self.bound.evidence {
            check_points(&self.bound.fields[*column], set, self.marginals(*column))?;
            for (log_weight, marginal) in log_weights.iter_mut().zip(self.marginals(*column)) {
                match of_set(marginal, set) {
                    Some(probability) => *log_weight += probability.ln(),
                    None => return Ok(false),
                }
            }
        }
        let most = log_weights
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        if most == f64::NEG_INFINITY {
            return Err(impossible());
        }
        let weights = log_weights.iter().map(|weight| (weight - most).exp());
        let total: f64 = weights.clone().sum();
        self.weights = weights.map(|weight| weight / total).collect();
        Ok(true)
    }

    fn marginals(&self, column: usize) -> &[Marginal] {
        let mut columns = self.columns.iter();
        let found = columns.find(|(place, _)| *place == column);
        found.map_or(&[], |(_, marginals)| marginals)
    }

    fn answer(&self) -> Result<Option<Found>> {
        let asked = &self.bound.asked;
        let first = &asked[0];
        if first.event.is_some() {
            let found = self.probability()?;
            return Ok(found.map(|probability| Found::Probability(Probability::exact(probability))));
        }
        let is_coded = self.bound.is_coded(first.column);
        match (self.bound.kind, is_coded) {
            (Kind::Mean, _) => self.mean(first),
            (kind, true) => {
                let found = self.table()?;
                Ok(found.map(|table| {
                    let probabilities = table.into_iter().map(Probability::exact);
                    in_table(self.bound, kind, probabilities.collect())
                }))
            }
            (kind, false) => self.numbers(kind, first),
        }
    }

    /// The probability of all events together.
    fn probability(&self) -> Result<Option<f64>> {
        let mut shares = self.weights.clone();
        for asked in &self.bound.asked {
            let Some(event) = &asked.event else { continue };
            let field = &self.bound.fields[asked.column];
            let marginals = self.marginals(asked.column);
            check_points(field, event, marginals).map_err(|e| e.at_position(asked.position))?;
            let known = self.bound.known(asked.column);
            let both = known.map_or_else(|| event.clone(), |known| event.intersection(known));
            for (share, marginal) in shares
                .iter_mut()
                .zip(marginals)
                .filter(|(share, _)| **share > 0.0)
            {
                let Some(probability) = of_set(marginal, &both) else {
                    return Ok(None);
                };
                let known = known.and_then(|known| of_set(marginal, known));
                *share *= probability / known.unwrap_or(1.0);
            }
        }
        Ok(Some(shares.iter().sum()))
    }

    /// The probabilities of all combinations of the levels of the columns asked about.
    fn table(&self) -> Result<Option<Vec<f64>>> {
        let counts = level_counts(self.bound)?;
        let mut table = vec![0.0; counts.iter().product()];
        for (part, weight) in self
            .weights
            .iter()
            .enumerate()
            .filter(|(_, weight)| **weight > 0.0)
        {
            let mut combinations = vec![(0, *weight)];
            for (asked, count) in self.bound.asked.iter().zip(&counts) {
                let marginal = &self.marginals(asked.column)[part];
                let known = self.bound.known(asked.column);
                let Some(levels) = levels_of(marginal, known, *count) else {
                    return Ok(None);
                };
                let longer = combinations.iter().flat_map(|(place, weight)| {
                    let levels = levels.iter();
                    levels.map(move |(level, share)| (place * count + level, weight * share))
                });
                combinations = longer.collect();
            }
            let combinations = combinations.into_iter();
            combinations.for_each(|(place, probability)| table[place] += probability);
        }
        Ok(Some(table))
    }

    /// The distribution of a column of numbers, if all its parts are known.
    fn mixed(&self, column: usize) -> Option<MixedNumbers<'_>> {
        let known = self.bound.known(column);
        let parts = self.weights.iter().zip(self.marginals(column));
        let parts = parts.filter(|(weight, _)| **weight > 0.0);
        let parts = parts.map(|(weight, marginal)| {
            let part = match (marginal, known) {
                (Marginal::Levels(_), _) => return None,
                (Marginal::Value(x), _) => Part::Value(PointMass { value: *x }),
                (Marginal::Numbers(distribution), Some(Set::Numbers(intervals))) => {
                    Part::Restricted(Restricted::new(distribution.univariate()?, intervals)?)
                }
                (Marginal::Numbers(distribution), _) => Part::Whole(distribution.univariate()?),
            };
            Some((*weight, part))
        });
        parts.collect::<Option<_>>().map(MixedNumbers)
    }

    fn mean(&self, asked: &Asked) -> Result<Option<Found>> {
        let Some(mixed) = self.mixed(asked.column) else {
            return Ok(None);
        };
        let mean = mixed.mean().ok_or_else(|| no_moments(self.bound, asked))?;
        Ok(Some(Found::Mean {
            mean: mean * self.bound.fields[asked.column].unit,
            standard_error: None,
        }))
    }

    fn numbers(&self, kind: Kind, asked: &Asked) -> Result<Option<Found>> {
        let Some(mixed) = self.mixed(asked.column) else {
            return Ok(None);
        };
        let field = &self.bound.fields[asked.column];
        let is_value = |marginal: &Marginal| matches!(marginal, Marginal::Value(_));
        let is_constant = self.marginals(asked.column).iter().all(is_value);
        if kind == Kind::MostProbable {
            return most_probable_number(field, &mixed).map(Some);
        }
        if mixed.are_discrete() && !is_constant {
            let counts = mixed.counts().ok_or_else(|| too_many_counts(field))?;
            let row = |(x, p): (f64, f64)| count_row(x * field.unit, Probability::exact(p));
            return Ok(Some(Found::Table {
                columns: vec![field.name.clone()],
                rows: counts.into_iter().map(row).collect(),
            }));
        }
        let moments = mixed.moments();
        let (mean, variance) = moments.ok_or_else(|| no_moments(self.bound, asked))?;
        Ok(Some(Found::Numbers(Numbers {
            column: field.name.clone(),
            mean: mean * field.unit,
            standard_error: None,
            variance: variance * field.unit * field.unit,
            variance_standard_error: None,
        })))
    }
}

/// The probability of a set under a distribution, where it is known.
fn of_set(marginal: &Marginal, set: &Set) -> Option<f64> {
    match (marginal, set) {
        (Marginal::Value(x), set) => Some(f64::from(u8::from(set.contains(*x)))),
        (Marginal::Levels(levels), Set::Levels(accepted)) => {
            let accepted = levels
                .iter()
                .zip(accepted)
                .filter(|(_, is_accepted)| **is_accepted);
            Some(accepted.map(|(p, _)| p).sum())
        }
        (Marginal::Numbers(distribution), Set::Numbers(intervals)) => {
            Some(probability(distribution.univariate()?, intervals))
        }
        _ => None,
    }
}

/// The levels that are possible in a part with their probabilities, given that the column is in
/// a set.
fn levels_of(marginal: &Marginal, known: Option<&Set>, count: usize) -> Option<Vec<(usize, f64)>> {
    let total = known.map_or(Some(1.0), |known| of_set(marginal, known))?;
    let is_known = |level: usize| known.is_none_or(|known| known.contains(level as f64));
    match marginal {
        Marginal::Value(code) => Some(vec![(*code as usize, 1.0)]),
        Marginal::Levels(levels) => {
            let levels = levels.iter().take(count).enumerate();
            let possible = levels.filter(|(level, p)| **p > 0.0 && is_known(*level));
            Some(possible.map(|(level, p)| (level, p / total)).collect())
        }
        Marginal::Numbers(_) => None,
    }
}

/// Refuses single numbers of a column that has a density.
fn check_points(field: &Field, set: &Set, marginals: &[Marginal]) -> Result<()> {
    let has_density = |marginal: &Marginal| match marginal {
        Marginal::Numbers(distribution) => {
            !(distribution.univariate()).is_some_and(Univariate::is_discrete)
        }
        _ => false,
    };
    if set.has_points() && marginals.iter().any(has_density) {
        return Err(no_probability(field));
    }
    Ok(())
}

/// Single numbers where they have a density.
pub(super) fn no_probability(field: &Field) -> Error {
    let message = "the column holds numbers, of which each has a density, not a probability";
    let hint = format!(
        "ask about an interval, as in {} between 1 and 2",
        field.name
    );
    Error::parameter(message)
        .at_column(&field.name)
        .with_hint(hint)
}

/// The numbers of levels of the columns asked about.
///
/// # Errors
/// If they have too many combinations.
pub(super) fn level_counts(bound: &Bound) -> Result<Vec<usize>> {
    let asked = bound.asked.iter();
    let counts: Vec<usize> = asked
        .map(|asked| bound.fields[asked.column].levels.len())
        .collect();
    let all = counts
        .iter()
        .try_fold(1usize, |all, count| all.checked_mul(*count));
    if all.is_none_or(|all| all > MAX_COMBINATIONS) {
        let message = format!("there are more than {MAX_COMBINATIONS} combinations of levels");
        return Err(Error::parameter(message).with_hint("ask about fewer columns at once"));
    }
    Ok(counts)
}

/// The answer that the probabilities of all combinations of levels give.
pub(super) fn in_table(bound: &Bound, kind: Kind, probabilities: Vec<Probability>) -> Found {
    let fields: Vec<&Field> = bound
        .asked
        .iter()
        .map(|asked| &bound.fields[asked.column])
        .collect();
    let row = |(mut place, probability): (usize, Probability)| {
        let mut values = Vec::with_capacity(fields.len());
        for field in fields.iter().rev() {
            let count = field.levels.len();
            values.push(Value::Level(field.levels[place % count].clone()));
            place /= count;
        }
        values.reverse();
        Row {
            values,
            probability,
        }
    };
    let columns = fields.iter().map(|field| field.name.clone()).collect();
    let rows = probabilities.into_iter().enumerate();
    if kind == Kind::MostProbable {
        let probability = |row: &(usize, Probability)| row.1.probability;
        // The first of equals.
        let better = |a, b| {
            if probability(&b) > probability(&a) {
                b
            } else {
                a
            }
        };
        let best = rows.reduce(better).unwrap_or((0, Probability::exact(0.0)));
        let row = row(best);
        return Found::MostProbable { columns, row };
    }
    Found::Table {
        columns,
        rows: rows.map(row).collect(),
    }
}

/// A count with its probability.
pub(super) fn count_row(x: f64, probability: Probability) -> Row {
    Row {
        values: vec![Value::Number(x)],
        probability,
    }
}

fn most_probable_number(field: &Field, mixed: &MixedNumbers) -> Result<Found> {
    let mode = mixed.mode().filter(|x| x.is_finite()).ok_or_else(|| {
        Error::parameter("the column has no most probable number").at_column(&field.name)
    })?;
    let density = mixed.density(mode);
    Ok(if mixed.are_discrete() {
        Found::MostProbable {
            columns: vec![field.name.clone()],
            row: count_row(mode * field.unit, Probability::exact(density)),
        }
    } else {
        Found::HighestDensity {
            column: field.name.clone(),
            value: mode * field.unit,
            density: density / field.unit,
        }
    })
}

fn no_moments(bound: &Bound, asked: &Asked) -> Error {
    Error::parameter("the distribution of the column has no mean")
        .at_column(&bound.fields[asked.column].name)
        .at_position(asked.position)
}

fn too_many_counts(field: &Field) -> Error {
    Error::parameter("the column has more than a million probable counts")
        .at_column(&field.name)
        .with_hint("ask for the probability of an interval")
}
