//! The first pass over the rows: the mean and the scatter of each column, so that distances can be
//! computed about the mean of the table, and a scale for which squares neither overflow nor
//! underflow.

use super::points::numbers_of;
use crate::Control;
use crate::data::{Chunk, Source, reduce};
use crate::family::{GaussianStats, Stats as _};
use crate::kernel::sums::shifted_moments;
use crate::{Error, Result};
use std::borrow::Cow;

/// The counts and moments of all rows.
#[derive(Clone, Debug)]
pub(super) struct Survey {
    /// The number of rows of positive weight, and their weight.
    pub rows: u64,
    pub weight: f64,
    /// The power of two by which all numbers were multiplied.
    pub power: f64,
    /// The moments of each column used, after multiplication by the power.
    pub columns: Vec<GaussianStats>,
    /// The largest absolute value.
    largest: f64,
}

/// Numbers between these have squares that neither overflow nor underflow.
const SMALL: f64 = 1e-100;
const LARGE: f64 = 1e100;

impl Survey {
    /// Surveys all rows; `None` if the caller stopped it.
    pub fn of(source: &dyn Source, columns: &[usize], control: Control) -> Result<Option<Survey>> {
        let Some(survey) = Survey::with_power(source, columns, 1.0, control)? else {
            return Ok(None);
        };
        let largest = survey.largest;
        if largest == 0.0 || (SMALL..LARGE).contains(&largest) {
            return Ok(Some(survey));
        }
        // The reciprocals of 2^-1074 and 2^1024 are not f64 numbers.
        let exponent = largest.log2().round().clamp(-1000.0, 1000.0);
        Survey::with_power(source, columns, (-exponent).exp2(), control)
    }

    /// A survey of numbers multiplied by a power of two.
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
        let rows: Vec<usize> = chunk.rows_with_weight().collect();
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

    /// Adds the moments of the next column.
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

    /// Leaves out columns that have only missing values and, with `constant`, constant columns
    /// unless all are constant. Returns the columns left out with the reason of each.
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
        let left_out = columns.iter().zip(&why);
        let left_out = left_out.filter_map(|(column, why)| why.map(|why| (*column, why)));
        let left_out = left_out.collect();
        let mut kept = why.iter();
        columns.retain(|_| kept.next().is_none_or(Option::is_none));
        let mut kept = why.iter();
        self.columns
            .retain(|_| kept.next().is_none_or(Option::is_none));
        left_out
    }

    /// The constant columns and their values.
    pub fn constants(&self, columns: &[usize]) -> Vec<(usize, f64)> {
        let columns = columns.iter().zip(&self.columns).enumerate();
        columns
            .filter(|(c, (_, moments))| moments.weight > 0.0 && self.deviation(*c) == 0.0)
            .map(|(_, (column, moments))| (*column, moments.mean / self.power))
            .collect()
    }

    /// The standard deviation of a column; 0 if it is constant or always missing.
    pub fn deviation(&self, column: usize) -> f64 {
        let moments = &self.columns[column];
        if moments.weight <= 0.0 {
            return 0.0;
        }
        let deviation = (moments.scatter / moments.weight).sqrt();
        // A smaller deviation is a rounding error of the mean.
        if deviation <= moments.mean.abs() * f64::EPSILON {
            0.0
        } else {
            deviation
        }
    }
}

/// The largest absolute value, by several maxima in parallel.
fn largest(numbers: &[f64]) -> f64 {
    let mut maxima = [0.0f64; 8];
    for block in numbers.chunks(maxima.len()) {
        let lanes = maxima.iter_mut().zip(block);
        lanes.for_each(|(maximum, x)| *maximum = maximum.max(x.abs()));
    }
    maxima.into_iter().fold(0.0, f64::max)
}

/// The weighted moments of numbers.
fn moments(x: &[f64], weights: &[f64]) -> GaussianStats {
    let Some(first) = x.first() else {
        return GaussianStats::default();
    };
    let (weight, shift, _) = shifted_moments(x, weights, *first);
    let mean = first + shift / weight;
    // Computed about the mean to avoid cancellation.
    let (_, shift, scatter) = shifted_moments(x, weights, mean);
    GaussianStats {
        weight,
        mean: mean + shift / weight,
        scatter: (scatter - shift * shift / weight).max(0.0),
    }
}
