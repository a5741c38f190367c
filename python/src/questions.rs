//! Questions about numbers, components and rows: the probabilities of counts, the most probable
//! number of a column, the probabilities of the components of a mixture, the tail
//! probabilities of rows.

use crate::asking::Given;
use crate::model::Model;
use crate::pools::pooled;
use crate::table::Table;
use crate::trouble::{raised, refused, wrong};
use abduce::ask::{Conditional, TailProbabilities};
use abduce::data::{Chunk, Column, Kind};
use abduce::family::{Distribution, Univariate};
use abduce::model::mixture::Mixture;
use numpy::PyArray1;
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// The probability that may be left out at either end of a list of counts.
const TAIL: f64 = 1e-12;

/// The most counts whose probabilities are listed.
const MOST: f64 = 1e6;

/// Steps of golden-section search: each shortens the interval by a factor of 0.618.
const STEPS: usize = 80;

/// The distribution of a column of numbers given cells of others: parts with their weights.
struct Parts(Vec<(f64, Distribution)>);

impl Parts {
    fn of(model: &Model, column: &str, given: Vec<(String, Given)>) -> PyResult<Parts> {
        let position = model.schema_of().position(column).map_err(raised)?;
        let known = model.known(given)?;
        let found = model.joint_model()?.condition(&known, position);
        match found.map_err(refused)? {
            Conditional::Numbers(parts) => {
                let parts = parts.into_iter().filter(|(weight, _)| *weight > 0.0);
                Ok(Parts(parts.collect()))
            }
            Conditional::Levels(_) => Err(wrong(format!(
                "column \"{column}\" holds categories, not numbers"
            ))),
        }
    }

    fn each(&self) -> impl Iterator<Item = (f64, &dyn Univariate)> {
        let parts = self.0.iter();
        parts.filter_map(|(weight, own)| Some((*weight, own.univariate()?)))
    }

    fn are_discrete(&self) -> bool {
        self.each().all(|(_, own)| own.is_discrete())
    }

    fn density(&self, x: f64) -> f64 {
        self.each()
            .map(|(weight, own)| weight * own.density(x))
            .sum()
    }

    /// The numbers between which all but a small tail of the probability lies.
    fn range(&self) -> (f64, f64) {
        let none = (f64::INFINITY, f64::NEG_INFINITY);
        self.each().fold(none, |(least, most), (_, own)| {
            (
                least.min(own.quantile(TAIL)),
                most.max(own.quantile(1.0 - TAIL)),
            )
        })
    }

    /// The number with the highest density, refined from the modes of the parts.
    fn mode(&self) -> Option<f64> {
        let modes: Vec<f64> = self.each().map(|(_, own)| own.mode()).collect();
        let refined: Vec<f64> = match (modes.len(), self.are_discrete()) {
            (1, _) => modes,
            (_, true) => {
                let (least, most) = bounds(&modes)?;
                let len = (most - least).min(MOST) as usize;
                (0..=len).map(|step| least.round() + step as f64).collect()
            }
            (_, false) => {
                let (least, most) = bounds(&modes)?;
                let climbed = modes.iter().map(|from| self.climb(*from, least, most));
                climbed.chain(modes.iter().copied()).collect()
            }
        };
        let better = |a: &f64, b: &f64| self.density(*a).total_cmp(&self.density(*b));
        // The first of equals, so that the answer does not depend on the order of the parts.
        let mut refined = refined;
        refined.sort_by(f64::total_cmp);
        refined.into_iter().rev().max_by(better)
    }

    /// The peak of the density beside a number: every peak of a mixture of unimodal parts that
    /// is of use lies between their modes.
    fn climb(&self, from: f64, least: f64, most: f64) -> f64 {
        let width = self.width();
        let (mut low, mut high) = ((from - width).max(least), (from + width).min(most));
        let share = (5f64.sqrt() - 1.0) / 2.0;
        for _ in 0..STEPS {
            let (a, b) = (high - share * (high - low), low + share * (high - low));
            if self.density(a) < self.density(b) {
                low = a;
            } else {
                high = b;
            }
        }
        0.5 * (low + high)
    }

    /// The least standard deviation of the parts.
    fn width(&self) -> f64 {
        let variances = self.each().filter_map(|(_, own)| own.variance());
        let least = variances.filter(|own| own.is_finite()).reduce(f64::min);
        least.map_or(1.0, f64::sqrt)
    }
}

fn bounds(numbers: &[f64]) -> Option<(f64, f64)> {
    let least = numbers.iter().copied().reduce(f64::min)?;
    Some((least, numbers.iter().copied().reduce(f64::max)?))
}

/// The probabilities of counts given cells of other columns: of some counts, or of all that
/// are not next to impossible. Nothing where the numbers of the column have a density.
#[pyfunction]
#[pyo3(signature = (model, column, given=Vec::new(), counts=None))]
pub fn count_probabilities(
    model: &Model,
    column: &str,
    given: Vec<(String, Given)>,
    counts: Option<Vec<f64>>,
) -> PyResult<Option<Vec<(f64, f64)>>> {
    let parts = Parts::of(model, column, given)?;
    if !parts.are_discrete() {
        return Ok(None);
    }
    let counts = match counts {
        Some(counts) => counts,
        None => {
            let (least, most) = parts.range();
            let number = most - least + 1.0;
            if !(0.0..=MOST).contains(&number) {
                return Err(wrong(format!(
                    "column \"{column}\" has more than {MOST:e} probable counts; ask for one of them"
                )));
            }
            (0..number as usize)
                .map(|step| least + step as f64)
                .collect()
        }
    };
    let pairs = counts.into_iter().map(|x| (x, parts.density(x)));
    Ok(Some(pairs.collect()))
}

/// The most probable number of a column given cells of others, its density or, of a count, its
/// probability, and whether it is a count.
#[pyfunction]
#[pyo3(signature = (model, column, given=Vec::new()))]
pub fn most_probable_number(
    model: &Model,
    column: &str,
    given: Vec<(String, Given)>,
) -> PyResult<(f64, f64, bool)> {
    let parts = Parts::of(model, column, given)?;
    let position = model.schema_of().position(column).map_err(raised)?;
    let unit = model.schema_of().fields[position].unit;
    let none = || wrong(format!("column \"{column}\" has no most probable number"));
    let mode = parts.mode().ok_or_else(none)?;
    Ok((
        mode * unit,
        parts.density(mode) / unit,
        parts.are_discrete(),
    ))
}

/// The probabilities of the components of a mixture given cells of some columns.
#[pyfunction]
#[pyo3(signature = (model, given=Vec::new()))]
pub fn component_probabilities(model: &Model, given: Vec<(String, Given)>) -> PyResult<Vec<f64>> {
    let known = model.known(given)?;
    let fields = model.schema_of().fields.iter().zip(&known);
    let columns = fields.map(|(field, cell)| match field.kind {
        Kind::Text => Column::hidden(Kind::Text, 1),
        kind if kind.is_coded() => Column::from_codes([cell.map(|code| code as u32)]),
        _ => Column::from_numbers([*cell]),
    });
    let row = Chunk::new(1, columns.collect(), None);
    let joint = model.joint_model()?;
    if joint.log_density(&row).map_err(raised)?[0] == f64::NEG_INFINITY {
        return Err(wrong("what is given has probability 0 under the model"));
    }
    let found = joint.posterior(&row).map_err(raised)?;
    Ok(found.row(0).to_vec())
}

/// A mixture of which every row is of one component, so that all answers are given that component.
#[pyfunction]
pub fn of_component(model: &Model, component: usize) -> PyResult<Model> {
    let mut model = model.model.clone();
    let Some(mixture) = model.body.get_mut::<Mixture>() else {
        return Err(wrong(format!("a {} has no components", model.model)));
    };
    if component >= mixture.components() {
        return Err(wrong(format!("there is no component {component}")));
    }
    let weights = mixture.parameters.weights.iter_mut().enumerate();
    weights.for_each(|(j, own)| *own = if j == component { 1.0 } else { 0.0 });
    Ok(Model { model })
}

/// The natural logarithms of the tail probabilities of rows; nothing where the model cannot draw
/// the columns that are seen.
#[pyfunction]
#[pyo3(signature = (model, table, seed=0, threads=None))]
pub fn tail_probabilities<'py>(
    py: Python<'py>,
    model: &Model,
    table: &Table,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
    let joint = model.joint_model()?;
    let tails = pooled(py, threads, || {
        TailProbabilities::new(joint, table.source(), seed)
    })?;
    let Some(tails) = tails.map_err(raised)? else {
        return Ok(None);
    };
    let all = model.each(py, table, threads, |chunk| tails.log_probabilities(chunk))?;
    Ok(Some(PyArray1::from_vec(py, all)))
}

/// The columns that were constant in the fitted rows and have other values here, each with the
/// number of such rows.
#[pyfunction]
#[pyo3(signature = (model, table, threads=None))]
pub fn changed_constants(
    py: Python<'_>,
    model: &Model,
    table: &Table,
    threads: Option<usize>,
) -> PyResult<Vec<(String, usize)>> {
    let asked = model.model.predictor();
    if asked.constants().is_empty() {
        return Ok(Vec::new());
    }
    let all = model.each(py, table, threads, |chunk| {
        Ok(asked.changed_constants(chunk))
    })?;
    let mut rows: BTreeMap<usize, usize> = BTreeMap::new();
    for (column, number) in all {
        *rows.entry(column).or_default() += number;
    }
    let fields = &model.schema_of().fields;
    let named = rows.into_iter();
    Ok(named
        .map(|(column, number)| (fields[column].name.clone(), number))
        .collect())
}
