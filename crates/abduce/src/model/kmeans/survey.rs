//! A first look at all rows: where each column lies and how widely it spreads, so
//! that distances can be computed about the middle of the table and in numbers
//! whose squares neither overflow nor vanish.

use super::points::numbers_of;
use crate::Control;
use crate::data::{Chunk, Source, reduce};
use crate::family::{GaussianStats, Stats as _};
use crate::kernel::sums::shifted_moments;
use crate::{Error, Result};
use std::borrow::Cow;

/// What was seen of all rows together.
#[derive(Clone, Debug)]
pub(super) struct Survey {
    /// The rows that weigh anything, and their weight.
    pub rows: u64,
    pub weight: f64,
    /// The power of two that numbers were multiplied with before anything else.
    pub power: f64,
    /// Moments of each column used, of numbers times the power.
    pub columns: Vec<GaussianStats>,
    /// The largest number, whatever its sign.
    largest: f64,
}

/// Numbers between these have squares that do no harm.
const SMALL: f64 = 1e-100;
const LARGE: f64 = 1e100;

impl Survey {
    /// Looks at all rows; `None` when the caller stopped it.
    pub fn of(source: &dyn Source, columns: &[usize], control: Control) -> Result<Option<Survey>> {
        let Some(survey) = Survey::with_power(source, columns, 1.0, control)? else {
            return Ok(None);
        };
        let largest = survey.largest;
        if largest == 0.0 || (SMALL..LARGE).contains(&largest) {
            return Ok(Some(survey));
        }
        // The exponent of f64 has room for neither 2^-1074 nor 2^1024 turned over.
        let exponent = largest.log2().round().clamp(-1000.0, 1000.0);
        Survey::with_power(source, columns, (-exponent).exp2(), control)
    }

    fn with_power(
        source: &dyn Source,
        columns: &[usize],
        power: f64,
        control: Control,
    ) -> Result<Option<Survey>> {
        let survey = reduce(
            source,
            |_, chunk| {
                let stopped = control.is_interrupted();
                Ok((!stopped).then(|| Survey::of_chunk(chunk, columns, power)))
            },
            |all, more| match (all.as_mut(), more) {
                (Some(all), Some(more)) => all.merge(&more),
                _ => *all = None,
            },
        )?;
        let survey = match survey {
            None => return Err(Error::data("the table has no rows")),
            Some(None) => return Ok(None),
            Some(Some(survey)) => survey,
        };
        if survey.weight <= 0.0 {
            return Err(Error::data("every row has weight 0"));
        }
        if survey.columns.iter().all(|column| column.weight <= 0.0) {
            return Err(Error::data("all values are missing"));
        }
        Ok(Some(survey))
    }

    fn of_chunk(chunk: &Chunk, columns: &[usize], power: f64) -> Survey {
        let rows: Vec<usize> = chunk.weighing_rows().collect();
        let ones = vec![1.0; rows.len()];
        let mut survey = Survey {
            rows: rows.len() as u64,
            weight: chunk.total_weight(),
            power,
            columns: Vec::with_capacity(columns.len()),
            largest: 0.0,
        };
        for column in columns {
            let numbers = numbers_of(chunk, *column);
            if let (Cow::Borrowed(whole), None, true) = (&numbers, chunk.weights(), power == 1.0) {
                survey.add(whole, &ones);
                continue;
            }
            let (mut seen, mut weights) = (Vec::with_capacity(rows.len()), Vec::new());
            for row in rows.iter().filter(|row| !numbers[**row].is_nan()) {
                seen.push(numbers[*row] * power);
                weights.push(chunk.weights().map_or(1.0, |weights| weights[*row]));
            }
            survey.add(&seen, &weights);
        }
        survey
    }

    /// One more column.
    fn add(&mut self, seen: &[f64], weights: &[f64]) {
        self.largest = self.largest.max(largest(seen));
        self.columns.push(moments(seen, weights));
    }

    fn merge(&mut self, other: &Survey) {
        self.rows += other.rows;
        self.weight += other.weight;
        self.largest = self.largest.max(other.largest);
        let columns = self.columns.iter_mut().zip(&other.columns);
        columns.for_each(|(all, more)| all.merge(more));
    }

    /// Leaves out columns in which no row differs, and says which and why: those of which
    /// nothing is seen, and, where their spread is what distances are measured in,
    /// `constant` ones, unless all are.
    pub fn leave_out(
        &mut self,
        columns: &mut Vec<usize>,
        constant: bool,
    ) -> Vec<(usize, &'static str)> {
        let spread: Vec<bool> = (0..columns.len())
            .map(|c| self.deviation(c) > 0.0)
            .collect();
        let constant = constant && spread.contains(&true);
        let why = |c: usize| {
            if self.columns[c].weight <= 0.0 {
                Some("has only missing values")
            } else if constant && !spread[c] {
                Some("is constant")
            } else {
                None
            }
        };
        let why: Vec<Option<&str>> = (0..columns.len()).map(why).collect();
        let told = columns.iter().zip(&why);
        let told = told.filter_map(|(column, why)| why.map(|why| (*column, why)));
        let told = told.collect();
        let mut kept = why.iter();
        columns.retain(|_| kept.next().is_none_or(Option::is_none));
        let mut kept = why.iter();
        self.columns
            .retain(|_| kept.next().is_none_or(Option::is_none));
        told
    }

    /// The columns that are constant, and their values.
    pub fn constants(&self, columns: &[usize]) -> Vec<(usize, f64)> {
        let own = columns.iter().zip(&self.columns).enumerate();
        let constant = own.filter(|(c, (_, own))| own.weight > 0.0 && self.deviation(*c) == 0.0);
        constant
            .map(|(_, (column, own))| (*column, own.mean / self.power))
            .collect()
    }

    /// The standard deviation of a column; 0 where it is constant or never seen.
    pub fn deviation(&self, column: usize) -> f64 {
        let moments = &self.columns[column];
        if moments.weight <= 0.0 {
            return 0.0;
        }
        let deviation = (moments.scatter / moments.weight).sqrt();
        // Below this the spread is rounding of the mean.
        if deviation <= moments.mean.abs() * f64::EPSILON {
            0.0
        } else {
            deviation
        }
    }
}

/// The largest number, whatever its sign.
fn largest(numbers: &[f64]) -> f64 {
    let mut most = [0.0f64; 8];
    for some in numbers.chunks(most.len()) {
        let each = most.iter_mut().zip(some);
        each.for_each(|(most, x)| *most = most.max(x.abs()));
    }
    most.into_iter().fold(0.0, f64::max)
}

fn moments(x: &[f64], weights: &[f64]) -> GaussianStats {
    let Some(first) = x.first() else {
        return GaussianStats::default();
    };
    let (weight, shift, _) = shifted_moments(x, weights, *first);
    let mean = first + shift / weight;
    // About the mean, so that nothing cancels.
    let (_, shift, scatter) = shifted_moments(x, weights, mean);
    GaussianStats {
        weight,
        mean: mean + shift / weight,
        scatter: (scatter - shift * shift / weight).max(0.0),
    }
}
