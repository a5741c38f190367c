//! The distribution of several columns as a mixture of products,
//!
//!   p(x | given) = Σ_k w_k Π_c p_k(x_c),
//!
//! by which sums over any events are sums over k.

use super::{Conditional, Joint, impossible, repeated};
use crate::data::{CHUNK_ROWS, Chunk, Column};
use crate::family::Distribution;
use crate::{ErrorKind, Result};

/// The most combinations of levels that are enumerated.
pub(crate) const MAX_COMBINATIONS: usize = 1_000_000;

/// The most combinations for each of which a column of numbers is conditioned.
const MAX_CONDITIONED: usize = 10_000;

/// The codes of coded columns and their probability.
type Combinations = Vec<(Vec<f64>, f64)>;

/// The distribution of some columns given values of others, as a mixture in whose parts these
/// columns are independent.
#[derive(Clone, Debug)]
pub struct ProductMixture {
    /// The probability of each part.
    pub weights: Vec<f64>,
    /// The logarithms of the weights up to a constant, for parts whose weights are rounded
    /// to 0.
    pub log_weights: Vec<f64>,
    /// The distribution of each column in every part.
    pub columns: Vec<Vec<Marginal>>,
    /// Whether the parts are the components of the model, in the order of its names.
    pub are_components: bool,
}

/// The distribution of one column in a part of a mixture.
#[derive(Clone, Debug)]
pub enum Marginal {
    /// One level, as its code, or one number.
    Value(f64),
    /// The probability of each level.
    Levels(Vec<f64>),
    /// A distribution of numbers.
    Numbers(Distribution),
}

impl ProductMixture {
    fn new(weights: Vec<f64>, columns: Vec<Vec<Marginal>>) -> ProductMixture {
        ProductMixture {
            log_weights: weights.iter().map(|weight| weight.ln()).collect(),
            weights,
            columns,
            are_components: false,
        }
    }
}

/// The mixture whose parts are the combinations of levels of the coded columns, with at most
/// one column of numbers beside them; `None` if there are more, or the model does not give the
/// distribution of that one.
pub(crate) fn product_mixture_by_enumeration<M: Joint + ?Sized>(
    model: &M,
    given: &[Option<f64>],
    columns: &[usize],
) -> Result<Option<ProductMixture>> {
    let fields = &model.schema().fields;
    let is_coded = |column: &usize| fields[*column].kind.is_coded();
    let (coded, numeric): (Vec<usize>, Vec<usize>) = columns.iter().partition(|c| is_coded(c));
    match (coded.as_slice(), numeric.as_slice()) {
        ([], []) => Ok(Some(ProductMixture::new(vec![1.0], Vec::new()))),
        ([column], []) | ([], [column]) => of_one_column(model, given, *column),
        (_, [] | [_]) => {
            let Some(combinations) = combinations(model, given, &coded)? else {
                return Ok(None);
            };
            let coded: Vec<usize> = columns.iter().copied().filter(is_coded).collect();
            of_combinations(model, given, (columns, &coded), combinations)
        }
        _ => Ok(None),
    }
}

fn of_one_column<M: Joint + ?Sized>(
    model: &M,
    given: &[Option<f64>],
    column: usize,
) -> Result<Option<ProductMixture>> {
    Ok(conditioned(model, given, column)?.map(|parts| {
        let (weights, marginals) = parts.into_iter().unzip();
        ProductMixture::new(weights, vec![marginals])
    }))
}

/// The parts of the distribution of one column with their weights; `None` if the model does
/// not give it.
fn conditioned<M: Joint + ?Sized>(
    model: &M,
    given: &[Option<f64>],
    column: usize,
) -> Result<Option<Vec<(f64, Marginal)>>> {
    let constants = model.constants();
    let constant = constants.iter().find(|(place, _)| *place == column);
    match (model.condition(given, column), constant) {
        (Ok(_), Some((_, x))) => Ok(Some(vec![(1.0, Marginal::Value(*x))])),
        (Ok(Conditional::Levels(levels)), None) => Ok(Some(vec![(1.0, Marginal::Levels(levels))])),
        (Ok(Conditional::Numbers(parts)), None) => {
            let parts = parts.into_iter().filter(|(weight, _)| *weight > 0.0);
            let parts =
                parts.map(|(weight, distribution)| (weight, Marginal::Numbers(distribution)));
            Ok(Some(parts.collect()))
        }
        (Err(error), _) if error.kind() == ErrorKind::Parameter => Ok(None),
        (Err(error), _) => Err(error),
    }
}

/// Every combination of levels with its probability, the levels of the last column fastest;
/// `None` if there are too many, or the levels of a column are numbers to the model.
fn combinations<M: Joint + ?Sized>(
    model: &M,
    given: &[Option<f64>],
    coded: &[usize],
) -> Result<Option<Combinations>> {
    let fields = &model.schema().fields;
    let counts: Vec<usize> = coded.iter().map(|c| fields[*c].levels.len()).collect();
    let count = counts
        .iter()
        .try_fold(1usize, |all, count| all.checked_mul(*count));
    let Some(count) = count.filter(|count| *count <= MAX_COMBINATIONS) else {
        return Ok(None);
    };
    for column in coded {
        if !matches!(model.condition(given, *column)?, Conditional::Levels(_)) {
            return Ok(None);
        }
    }
    let evidence = model.log_density(&repeated(model.schema(), given, 1))?[0];
    if evidence == f64::NEG_INFINITY {
        return Err(impossible());
    }
    let mut found = Vec::with_capacity(count);
    for start in (0..count).step_by(CHUNK_ROWS) {
        let numbers = start..count.min(start + CHUNK_ROWS);
        let rows: Vec<Vec<f64>> = numbers.map(|number| codes_of(number, &counts)).collect();
        let densities = model.log_density(&with_codes(model, given, coded, &rows))?;
        let probabilities = densities.into_iter().map(|log| (log - evidence).exp());
        found.extend(rows.into_iter().zip(probabilities));
    }
    Ok(Some(found))
}

/// The codes of the combination of a number.
fn codes_of(mut number: usize, counts: &[usize]) -> Vec<f64> {
    let mut codes = vec![0.0; counts.len()];
    for (code, count) in codes.iter_mut().zip(counts).rev() {
        *code = (number % count) as f64;
        number /= count;
    }
    codes
}

fn with_codes<M: Joint + ?Sized>(
    model: &M,
    given: &[Option<f64>],
    coded: &[usize],
    rows: &[Vec<f64>],
) -> Chunk {
    let known = repeated(model.schema(), given, rows.len());
    let columns = coded.iter().enumerate();
    columns.fold(known, |chunk, (place, column)| {
        let codes = rows.iter().map(|row| Some(row[place] as u32));
        chunk.with_column(*column, Column::from_codes(codes))
    })
}

/// The parts for each possible combination, where a column of numbers is one of `columns`
/// conditioned on it.
fn of_combinations<M: Joint + ?Sized>(
    model: &M,
    given: &[Option<f64>],
    (columns, coded): (&[usize], &[usize]),
    combinations: Combinations,
) -> Result<Option<ProductMixture>> {
    let possible: Vec<_> = combinations.into_iter().filter(|(_, p)| *p > 0.0).collect();
    let numeric = columns.iter().find(|column| !coded.contains(column));
    if numeric.is_some() && possible.len() > MAX_CONDITIONED {
        return Ok(None);
    }
    let mut weights = Vec::new();
    let mut marginals = vec![Vec::new(); columns.len()];
    for (codes, probability) in possible {
        let mut known = given.to_vec();
        let pairs = coded.iter().zip(&codes);
        pairs.for_each(|(column, code)| known[*column] = Some(*code));
        let parts = match numeric {
            None => vec![(1.0, Marginal::Value(0.0))],
            Some(column) => match conditioned(model, &known, *column)? {
                Some(parts) => parts,
                None => return Ok(None),
            },
        };
        for (share, numbers) in parts {
            weights.push(probability * share);
            for (column, marginals) in columns.iter().zip(&mut marginals) {
                let place = coded.iter().position(|other| other == column);
                marginals
                    .push(place.map_or(numbers.clone(), |place| Marginal::Value(codes[place])));
            }
        }
    }
    Ok(Some(ProductMixture::new(weights, marginals)))
}
