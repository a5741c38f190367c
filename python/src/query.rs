//! Queries, conditioning on a component, and tail probabilities of rows.

use crate::checks::Found;
use crate::errors::{answer_exception, exception, value_error};
use crate::model::Model;
use crate::table::Table;
use crate::threads::pooled;
use abduce::ask::{self, QueryOptions, TailProbabilities, posterior_of};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// The answer to a query, as JSON.
#[pyfunction]
#[pyo3(signature = (model, question, draws, seed=0, components=None))]
pub fn query(
    py: Python<'_>,
    model: &Model,
    question: &str,
    draws: usize,
    seed: u64,
    components: Option<Vec<String>>,
) -> PyResult<String> {
    let joint = model.joint_model()?;
    let mut options = QueryOptions::default();
    options.draws = draws;
    options.seed = seed;
    options.components = components;
    let answer = pooled(py, None, || ask::query(joint, question, &options))?;
    let answer = answer.map_err(answer_exception)?;
    serde_json::to_string(&answer).map_err(|why| value_error(why.to_string()))
}

/// The probabilities of the levels of a column given the other cells of each row, and the number of
/// rows that no level makes possible with the first of them.
#[pyfunction]
#[pyo3(signature = (model, table, column, threads=None))]
#[allow(clippy::type_complexity)]
pub fn column_posterior<'py>(
    py: Python<'py>,
    model: &Model,
    table: &Table,
    column: &str,
    threads: Option<usize>,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Option<(usize, usize)>)> {
    let joint = model.joint_model()?;
    let schema = model.schema_of();
    let column = schema.position(column).map_err(exception)?;
    let chunks = model.each(py, table, threads, |chunk| {
        Ok(vec![posterior_of(joint, column, chunk)?])
    })?;
    let mut probabilities = Vec::new();
    let (mut impossible, mut start) = (Found::default(), 0);
    for posterior in chunks {
        let rows = 0..posterior.rows();
        rows.for_each(|row| probabilities.extend_from_slice(posterior.row(row)));
        impossible.add(Found::of(posterior.impossible().iter().copied()), start);
        start += posterior.rows();
    }
    let levels = schema.fields[column].levels.len();
    let probabilities = PyArray1::from_vec(py, probabilities).reshape([start, levels])?;
    Ok((probabilities, impossible.rows_and_first()))
}

/// The mixture conditioned on a component.
#[pyfunction]
pub fn of_component(model: &Model, component: usize) -> PyResult<Model> {
    let mut model = model.model.clone();
    model.keep_component(component).map_err(exception)?;
    Ok(Model { model })
}

/// The natural logarithms of the tail probabilities of rows; `None` if the model cannot draw the
/// columns that have values.
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
    let Some(tails) = tails.map_err(exception)? else {
        return Ok(None);
    };
    let all = model.each(py, table, threads, |chunk| tails.log_probabilities(chunk))?;
    Ok(Some(PyArray1::from_vec(py, all)))
}

/// The columns that were constant in the fitted rows and have other values in the table, each with
/// the number of such rows.
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
