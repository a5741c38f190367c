//! Asking a model about all rows of a table, chunk by chunk, and cells given as evidence.

use crate::errors::{exception, value_error};
use crate::fitting::interruptible;
use crate::model::Model;
use crate::table::Table;
use crate::threads::pooled;
use abduce::ask::answers;
use abduce::data::{CHUNK_ROWS, Chunk};
use abduce::model::density::DensityModel;
use pyo3::prelude::*;

/// The number of rows between checks for Ctrl-C, if rows are slow.
const SLOW_ROWS: usize = 512;

impl Model {
    /// The answers about all rows, computed chunk by chunk.
    pub fn each<T: Send + Clone>(
        &self,
        py: Python<'_>,
        table: &Table,
        threads: Option<usize>,
        ask: impl Fn(&Chunk) -> abduce::Result<Vec<T>> + Sync,
    ) -> PyResult<Vec<T>> {
        let _borrow = table.borrow(py)?;
        let slow = self.model.body.get::<DensityModel>().is_some();
        // For a few rows, a thread that checks for Ctrl-C takes longer to start than the answer.
        if table.chunks() == 1 && !slow {
            return pooled(py, threads, || ask(&*table.chunk(0)?))?.map_err(exception);
        }
        let most = if slow { SLOW_ROWS } else { CHUNK_ROWS };
        interruptible(py, threads, None, |control| {
            answers(table.source(), most, control, |_, chunk| ask(chunk))
        })
    }
}

/// A given cell: a number or a level.
#[derive(FromPyObject)]
pub enum Given {
    Number(f64),
    Level(String),
}

impl Model {
    /// Given cells by the positions of their columns.
    pub fn known(&self, given: Vec<(String, Given)>) -> PyResult<Vec<Option<f64>>> {
        let schema = self.schema_of();
        let mut known = vec![None; schema.fields.len()];
        for (name, cell) in given {
            let position = schema.position(&name).map_err(exception)?;
            let field = &schema.fields[position];
            known[position] = Some(match (cell, field.kind.is_coded()) {
                (Given::Level(level), true) => {
                    f64::from(field.find_code(&level).map_err(exception)?)
                }
                (Given::Number(x), true) => {
                    f64::from(field.find_code(&x.to_string()).map_err(exception)?)
                }
                (Given::Number(x), false) => x / field.unit,
                (Given::Level(level), false) => {
                    return Err(value_error(format!(
                        "column \"{name}\" holds numbers, not \"{level}\""
                    )));
                }
            });
        }
        Ok(known)
    }
}
