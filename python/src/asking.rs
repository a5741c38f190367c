//! How a model is asked: about the rows of a table, chunk by chunk, and given cells by the names of
//! their columns.

use crate::fitting::watched;
use crate::model::Model;
use crate::pools::pooled;
use crate::table::Table;
use crate::trouble::{raised, wrong};
use abduce::ask::answers;
use abduce::data::{CHUNK_ROWS, Chunk};
use abduce::model::density::DensityModel;
use pyo3::prelude::*;

/// How many rows are asked about, where each takes long, before Ctrl-C is listened for.
const PIECE: usize = 512;

impl Model {
    /// Asks about all rows, chunk by chunk.
    pub fn each<T: Send + Clone>(
        &self,
        py: Python<'_>,
        table: &Table,
        threads: Option<usize>,
        ask: impl Fn(&Chunk) -> abduce::Result<Vec<T>> + Sync,
    ) -> PyResult<Vec<T>> {
        let _borrow = table.borrow(py)?;
        let slow = self.model.body.get::<DensityModel>().is_some();
        // A thread that listens for Ctrl-C takes longer to start than a few rows to answer.
        if table.chunks() == 1 && !slow {
            return pooled(py, threads, || ask(&*table.chunk(0)?))?.map_err(raised);
        }
        let most = if slow { PIECE } else { CHUNK_ROWS };
        watched(py, threads, None, |control| {
            answers(table.source(), most, control, |_, chunk| ask(chunk))
        })
    }
}
/// A cell that is known: a number or a level.
#[derive(FromPyObject)]
pub enum Given {
    Number(f64),
    Level(String),
}

impl Model {
    /// Given cells by the places of their columns.
    pub fn known(&self, given: Vec<(String, Given)>) -> PyResult<Vec<Option<f64>>> {
        let schema = self.schema_of();
        let mut known = vec![None; schema.fields.len()];
        for (name, cell) in given {
            let position = schema.position(&name).map_err(raised)?;
            let field = &schema.fields[position];
            known[position] = Some(match (cell, field.kind.is_coded()) {
                (Given::Level(level), true) => f64::from(field.find_code(&level).map_err(raised)?),
                (Given::Number(x), true) => {
                    f64::from(field.find_code(&x.to_string()).map_err(raised)?)
                }
                (Given::Number(x), false) => x / field.unit,
                (Given::Level(level), false) => {
                    return Err(wrong(format!(
                        "column \"{name}\" holds numbers, and \"{level}\" is none"
                    )));
                }
            });
        }
        Ok(known)
    }
}
