//! Answers by rows drawn given the evidence, where there is no exact one. A column that is known
//! to be in a set S is drawn from its distribution within S given what is drawn before it, and
//! the row is weighted by P(S) of that distribution (sequential importance sampling; Doucet, de
//! Freitas & Gordon 2001). Where a model does not give that distribution, rows outside of S weigh
//! nothing.
//!
//! With weights w and values v, the mean is m = Σ w v / Σ w, its standard error
//! √(Σ w² (v − m)²) / Σ w, and the rows are worth (Σ w)² / Σ w² independent ones.

use super::QueryOptions;
use super::answer::{Answer, Found, Method, Numbers, Probability};
use super::ast::Kind;
use super::bind::{Asked, Bound};
use super::exact::{count_row, in_table, level_counts, no_probability};
use super::proposal::Proposal;
use super::sets::Set;
use crate::ask::{Joint, check_room, impossible, repeated};
use crate::data::{CHUNK_ROWS, Chunk, Column, Kind as ColumnKind};
use crate::family::{Fill, draw_index};
use crate::{Error, ErrorKind, Result};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::BTreeMap;

/// The answer by draws.
///
/// # Errors
/// If no draw agrees with the evidence, or the model cannot draw rows.
pub(super) fn by_draws(model: &dyn Joint, bound: &Bound, options: &QueryOptions) -> Result<Answer> {
    if options.draws == 0 {
        return Err(Error::parameter("`draws` must be at least 1"));
    }
    check_points(bound)?;
    let drawn = Drawn::new(model, bound, options)?;
    let asked = &bound.asked;
    let first = &asked[0];
    let is_coded = |asked: &Asked| bound.is_coded(asked.column);
    let found = match bound.kind {
        _ if first.event.is_some() => Found::Probability(drawn.probability(asked)),
        Kind::Mean => {
            let (mean, error) = drawn.mean(drawn.column(first.column));
            let unit = bound.fields[first.column].unit;
            Found::Mean {
                mean: mean * unit,
                standard_error: Some(error * unit),
            }
        }
        kind if asked.iter().all(is_coded) => in_table(bound, kind, drawn.table(bound)?),
        Kind::MostProbable => return Err(no_mode(bound, first)),
        Kind::Probability => drawn.numbers(bound, first.column),
    };
    Ok(Answer {
        found,
        method: Method::Draws {
            draws: options.draws,
            effective_draws: drawn.effective(),
        },
    })
}

/// Refuses single numbers of columns that are not counts.
fn check_points(bound: &Bound) -> Result<()> {
    let events = bound
        .asked
        .iter()
        .filter_map(|asked| Some((asked.column, asked.event.as_ref()?)));
    let evidence = bound.evidence.iter().map(|(column, set)| (*column, set));
    for (column, set) in events.chain(evidence) {
        let field = &bound.fields[column];
        if set.has_points() && field.kind != ColumnKind::Count {
            return Err(no_probability(field));
        }
    }
    Ok(())
}

fn no_mode(bound: &Bound, asked: &Asked) -> Error {
    Error::parameter("the most probable number cannot be estimated from draws")
        .at_column(&bound.fields[asked.column].name)
        .at_position(asked.position)
        .with_hint("ask E or P of it")
}

/// Rows drawn given the evidence: the columns of the question, and the weights.
struct Drawn {
    columns: BTreeMap<usize, Vec<f64>>,
    weights: Vec<f64>,
    total: f64,
}

impl Drawn {
    fn new(model: &dyn Joint, bound: &Bound, options: &QueryOptions) -> Result<Drawn> {
        let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
        let mut columns: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        let mut weights = Vec::new();
        for start in (0..options.draws).step_by(CHUNK_ROWS) {
            let count = CHUNK_ROWS.min(options.draws - start);
            let block = Block::new(model, bound, count, &mut rng)?;
            for column in bound.columns() {
                let cells = block.rows.column(column).cells(0, count);
                let numbers: Option<Vec<f64>> = (0..count).map(|row| cells.number(row)).collect();
                let numbers = numbers.ok_or_else(|| {
                    let error = Error::parameter("the model cannot draw this column");
                    error.at_column(&bound.fields[column].name)
                })?;
                columns.entry(column).or_default().extend(numbers);
            }
            if let Some(component) = bound.component() {
                columns
                    .entry(component)
                    .or_default()
                    .extend(block.components);
            }
            weights.extend(block.weights);
        }
        let total = weights.iter().sum();
        if total > 0.0 {
            return Ok(Drawn {
                columns,
                weights,
                total,
            });
        }
        let draws = options.draws;
        let message =
            format!("none of {draws} draws agrees with what is given: its probability is about 0");
        Err(Error::numeric(message).with_hint("raise `draws` if the evidence is possible"))
    }

    fn column(&self, column: usize) -> &[f64] {
        self.columns.get(&column).map_or(&[], Vec::as_slice)
    }

    /// The number of independent draws that are worth as much.
    fn effective(&self) -> f64 {
        let squares: f64 = self.weights.iter().map(|weight| weight * weight).sum();
        self.total * self.total / squares
    }

    /// A weighted mean and its standard error.
    fn mean(&self, values: &[f64]) -> (f64, f64) {
        let rows = || self.weights.iter().zip(values);
        let mean = rows().map(|(weight, x)| weight * x).sum::<f64>() / self.total;
        let squares = rows().map(|(weight, x)| (weight * (x - mean)).powi(2));
        (mean, squares.sum::<f64>().sqrt() / self.total)
    }

    /// The share of the rows for which something is true.
    fn share(&self, is_true: impl Fn(usize) -> bool) -> Probability {
        let truths = (0..self.weights.len()).map(|row| f64::from(u8::from(is_true(row))));
        let (probability, error) = self.mean(&truths.collect::<Vec<f64>>());
        self.probability_of(probability, error)
    }

    /// A probability with its standard error; where all draws say the same, that of about one
    /// draw that says otherwise.
    fn probability_of(&self, probability: f64, error: f64) -> Probability {
        let effective = self.effective();
        let rare = 1.0 / (effective + 2.0);
        let least = (rare * (1.0 - rare) / effective).sqrt();
        Probability {
            probability,
            standard_error: Some(error.max(least)),
        }
    }

    fn probability(&self, asked: &[Asked]) -> Probability {
        let events = asked
            .iter()
            .filter_map(|asked| Some((self.column(asked.column), asked.event.as_ref()?)));
        let events: Vec<(&[f64], &Set)> = events.collect();
        self.share(|row| events.iter().all(|(column, set)| set.contains(column[row])))
    }

    /// The probabilities of all combinations of levels.
    fn table(&self, bound: &Bound) -> Result<Vec<Probability>> {
        let counts = level_counts(bound)?;
        let columns = bound.asked.iter().map(|asked| self.column(asked.column));
        let columns: Vec<&[f64]> = columns.collect();
        let mut sums = vec![(0.0, 0.0); counts.iter().product()];
        for (row, weight) in self.weights.iter().enumerate() {
            let codes = columns.iter().zip(&counts);
            let place = codes.fold(0, |place, (column, count)| {
                place * count + column[row] as usize
            });
            sums[place].0 += weight;
            sums[place].1 += weight * weight;
        }
        let squares: f64 = sums.iter().map(|(_, squares)| squares).sum();
        let probabilities = sums.into_iter().map(|(sum, squared)| {
            let probability = sum / self.total;
            let inside = squared * (1.0 - probability).powi(2);
            let outside = (squares - squared).max(0.0) * probability * probability;
            self.probability_of(probability, (inside + outside).sqrt() / self.total)
        });
        Ok(probabilities.collect())
    }

    /// The distribution of a column of numbers: of a count the probabilities of those drawn.
    fn numbers(&self, bound: &Bound, column: usize) -> Found {
        let field = &bound.fields[column];
        let numbers = self.column(column);
        if field.kind == ColumnKind::Count && numbers.iter().all(|x| x.fract() == 0.0) {
            let seen = self
                .weights
                .iter()
                .zip(numbers)
                .filter(|(weight, _)| **weight > 0.0);
            let mut counts: Vec<f64> = seen.map(|(_, x)| *x).collect();
            counts.sort_by(f64::total_cmp);
            counts.dedup();
            let rows = counts.into_iter().map(|count| {
                count_row(count * field.unit, self.share(|row| numbers[row] == count))
            });
            return Found::Table {
                columns: vec![field.name.clone()],
                rows: rows.collect(),
            };
        }
        let (mean, error) = self.mean(numbers);
        let squares: Vec<f64> = numbers.iter().map(|x| (x - mean).powi(2)).collect();
        let (variance, variance_error) = self.mean(&squares);
        let unit = field.unit;
        Found::Numbers(Numbers {
            column: field.name.clone(),
            mean: mean * unit,
            standard_error: Some(error * unit),
            variance: variance * unit * unit,
            variance_standard_error: Some(variance_error * unit * unit),
        })
    }
}

/// Some rows with their components and weights.
struct Block {
    rows: Chunk,
    components: Vec<f64>,
    weights: Vec<f64>,
}

impl Block {
    fn new(model: &dyn Joint, bound: &Bound, count: usize, rng: &mut ChaCha8Rng) -> Result<Block> {
        let mut weights = vec![1.0; count];
        let (within, others) = draw_within(model, bound, &mut weights, rng)?;
        let rows = if within.is_empty() {
            model.sample(&bound.given, count, rng)?
        } else {
            check_room(model.schema(), count)?;
            let known = repeated(model.schema(), &bound.given, count);
            let known = within.into_iter().fold(known, |rows, (column, cells)| {
                let cells = if bound.is_coded(column) {
                    Column::from_codes(cells.iter().map(|code| Some(*code as u32)))
                } else {
                    Column::from_numbers(cells.iter().map(|x| Some(*x)))
                };
                rows.with_column(column, cells)
            });
            model.complete(&known, Fill::Draw, rng)?
        };
        for (column, set) in others {
            let cells = rows.column(column).cells(0, count);
            let outside = |row: usize| !cells.number(row).is_some_and(|x| set.contains(x));
            let outside = (0..count).filter(|row| outside(*row));
            outside.for_each(|row| weights[row] = 0.0);
        }
        let components = draw_components(model, bound, &rows, &mut weights, rng)?;
        Ok(Block {
            rows,
            components,
            weights,
        })
    }
}

/// Cells of columns that were drawn within their sets, and the columns that could not be.
type Within<'a> = (Vec<(usize, Vec<f64>)>, Vec<(usize, &'a Set)>);

/// Draws the columns that are known to be in a set, one after the other.
fn draw_within<'a>(
    model: &dyn Joint,
    bound: &'a Bound,
    weights: &mut [f64],
    rng: &mut ChaCha8Rng,
) -> Result<Within<'a>> {
    let (mut drawn, mut others) = (Vec::<(usize, Vec<f64>)>::new(), Vec::new());
    let evidence = bound.evidence.iter();
    for (column, set) in evidence.filter(|(column, _)| Some(*column) != bound.component()) {
        let mut given = bound.given.clone();
        let Some(first) = proposal(model, &given, *column, set)? else {
            others.push((*column, set));
            continue;
        };
        if drawn.is_empty() && first.probability <= 0.0 {
            return Err(impossible());
        }
        let mut cells = Vec::with_capacity(weights.len());
        for (row, weight) in weights.iter_mut().enumerate() {
            if *weight == 0.0 {
                cells.push(0.0);
                continue;
            }
            let of_row = match drawn.as_slice() {
                [] => None,
                _ => {
                    let before = drawn.iter();
                    before.for_each(|(column, cells)| given[*column] = Some(cells[row]));
                    proposal(model, &given, *column, set)?
                }
            };
            let proposal = of_row.as_ref().unwrap_or(&first);
            *weight *= proposal.probability;
            cells.push(proposal.draw(rng));
        }
        drawn.push((*column, cells));
    }
    Ok((drawn, others))
}

/// The distribution of a column within a set, if the model gives it.
fn proposal(
    model: &dyn Joint,
    given: &[Option<f64>],
    column: usize,
    set: &Set,
) -> Result<Option<Proposal>> {
    match model.condition(given, column) {
        Ok(conditional) => Ok(Proposal::new(conditional, set)),
        Err(error) if error.kind() == ErrorKind::Parameter => Ok(None),
        Err(error) => Err(error),
    }
}

/// Draws the component of each row, within the set that it is known to be in.
fn draw_components(
    model: &dyn Joint,
    bound: &Bound,
    rows: &Chunk,
    weights: &mut [f64],
    rng: &mut ChaCha8Rng,
) -> Result<Vec<f64>> {
    let Some(component) = bound
        .component()
        .filter(|component| bound.concerns(*component))
    else {
        return Ok(vec![0.0; weights.len()]);
    };
    let posterior = model.posterior(rows)?;
    let known = bound.known(component);
    let drawn = weights.iter_mut().enumerate().map(|(row, weight)| {
        let accepted = |j: usize| known.is_none_or(|known| known.contains(j as f64));
        let shares = posterior.row(row).iter().enumerate();
        let shares = shares.map(|(j, p)| if accepted(j) { *p } else { 0.0 });
        let shares: Vec<f64> = shares.collect();
        let total: f64 = shares.iter().sum();
        *weight *= total;
        let shares: Vec<f64> = shares.iter().map(|p| p / total).collect();
        draw_index(&shares, rng) as f64
    });
    Ok(drawn.collect())
}
