//! The rows of a source that have a label, the others weighing nothing. What is
//! only in those, levels and terms, can be left out too. The rows keep their
//! numbers, so that errors still say where they are.

use crate::Result;
use crate::data::adapt::recoded::NO_CODE;
use crate::data::table::chunk::Chunk;
use crate::data::table::column::Column;
use crate::data::table::schema::{Asked, Field, Kind, Schema};
use crate::data::table::source::Source;
use crate::data::table::terms::Terms;
use crate::text::{Encoder, Encoding};
use arrow_buffer::NullBuffer;

/// The rows of a source that have a label.
pub(crate) struct Labelled<'a> {
    source: &'a dyn Source,
    target: usize,
    schema: Schema,
    /// The new codes of levels and terms, by column, where some are gone.
    codes: Vec<Option<Vec<u32>>>,
}

impl<'a> Labelled<'a> {
    /// The rows with a label, with all levels and terms of the source or without
    /// those that only the other rows have; `None` where all that weigh anything
    /// have a label.
    pub fn of(
        source: &'a dyn Source,
        target: usize,
        all_levels: bool,
    ) -> Result<Option<Labelled<'a>>> {
        let mut schema = source.schema().clone();
        let prunable = |field: &Field| match field.text.as_deref() {
            _ if all_levels => false,
            Some(text) => text.may_grow() && matches!(text.encoding, Encoding::Vocabulary(_)),
            None => field.kind != Kind::Binary && field.asked != Asked::Levels,
        };
        let size = |field: &Field| match prunable(field) {
            true => field.levels.len().max(field.terms()),
            false => 0,
        };
        let mut there: Vec<Vec<bool>> =
            schema.fields.iter().map(|f| vec![false; size(f)]).collect();
        there[target].clear();
        let mut hidden = false;
        for chunk in source.scan()? {
            let chunk = chunk?;
            let labels = chunk.column(target).cells(0, chunk.rows());
            let weighing: Vec<usize> = chunk.weighing_rows().collect();
            hidden |= weighing.iter().any(|row| !labels.is_seen(*row));
            for (place, there) in there.iter_mut().enumerate().filter(|(_, t)| !t.is_empty()) {
                let cells = chunk.column(place).cells(0, chunk.rows());
                let labelled = weighing.iter().filter(|row| labels.is_seen(**row));
                for row in labelled.filter(|row| cells.is_seen(**row)) {
                    match cells.terms() {
                        Some(terms) => {
                            terms
                                .row(*row)
                                .0
                                .iter()
                                .for_each(|t| there[*t as usize] = true);
                        }
                        None => there[cells.codes()[*row] as usize] = true,
                    }
                }
            }
        }
        if !hidden {
            return Ok(None);
        }
        let fields = schema.fields.iter_mut().zip(&there);
        let codes = fields.map(|(field, there)| kept(field, there)).collect();
        Ok(Some(Labelled {
            source,
            target,
            schema,
            codes,
        }))
    }

    fn chunk(&self, chunk: &Chunk) -> Chunk {
        let rows = chunk.rows();
        let labels = chunk.column(self.target).cells(0, rows);
        let labelled = |row: usize| labels.is_seen(row);
        let weight = |row: usize| match labelled(row) {
            true => chunk.weights().map_or(1.0, |weights| weights[row]),
            false => 0.0,
        };
        let columns = chunk.columns().iter().zip(&self.codes);
        let columns = columns.map(|(column, codes)| match codes {
            None => column.clone(),
            Some(codes) => {
                let cells = column.cells(0, rows);
                let seen = |row: usize| labelled(row) && cells.is_seen(row);
                if let Some(terms) = cells.terms() {
                    let row = |row: usize| {
                        let (own, counts) = terms.row(row);
                        let own = own.iter().filter(|_| seen(row));
                        let own = own.map(|code| codes[*code as usize]);
                        own.zip(counts.iter().copied()).collect()
                    };
                    return Column::Text {
                        values: Terms::from_rows((0..rows).map(row)),
                        nulls: Some(NullBuffer::from_iter((0..rows).map(seen))),
                    };
                }
                let code = |row: usize| seen(row).then(|| codes[cells.codes()[row] as usize]);
                Column::from_codes(
                    (0..rows)
                        .map(code)
                        .map(|code| code.filter(|c| *c != NO_CODE)),
                )
            }
        });
        let columns: Vec<Column> = columns.collect();
        Chunk::new(rows, columns, Some((0..rows).map(weight).collect()))
    }
}

/// Leaves a column with what is there, and gives the new codes if anything is
/// gone.
fn kept(field: &mut Field, there: &[bool]) -> Option<Vec<u32>> {
    if !there.contains(&false) {
        return None;
    }
    let mut next = 0;
    let codes = there.iter().map(|there| match there {
        true => {
            next += 1;
            next - 1
        }
        false => NO_CODE,
    });
    let codes = codes.collect();
    if let Some(text) = field.text.as_deref() {
        if let Encoding::Vocabulary(terms) = &text.encoding {
            let terms = terms.terms().zip(there);
            let terms = terms.filter(|(_, there)| **there).map(|(term, _)| term);
            let encoder = Encoder {
                analyzer: text.analyzer.clone(),
                encoding: Encoding::Vocabulary(terms.collect()),
                limits: text.limits,
            };
            *field = Field::with_text(&field.name, encoder);
        }
        return Some(codes);
    }
    let mut there = there.iter();
    field.levels.retain(|_| there.next() == Some(&true));
    Some(codes)
}

impl Source for Labelled<'_> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.source.rows()
    }

    fn scan(&self) -> Result<Box<dyn Iterator<Item = Result<Chunk>> + Send + '_>> {
        let labelled = |chunk: Result<Chunk>| chunk.map(|chunk| self.chunk(&chunk));
        Ok(Box::new(self.source.scan()?.map(labelled)))
    }
}
