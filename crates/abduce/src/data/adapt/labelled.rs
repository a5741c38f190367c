//! A source whose rows without a label have weight 0, optionally without the levels and
//! terms that only those rows have. No row is removed, so that row numbers in errors stay
//! correct.

use crate::Result;
use crate::data::adapt::recoded::NO_CODE;
use crate::data::table::chunk::Chunk;
use crate::data::table::column::Column;
use crate::data::table::schema::{Field, Kind, Schema, SetByUser};
use crate::data::table::source::Source;
use crate::data::table::terms::Terms;
use crate::text::{Encoder, Encoding};
use arrow_buffer::NullBuffer;

/// The rows of a source that have a label.
pub(crate) struct Labelled<'a> {
    source: &'a dyn Source,
    target: usize,
    schema: Schema,
    /// The new codes of levels and terms in each column that loses some.
    codes: Vec<Option<Vec<u32>>>,
}

impl<'a> Labelled<'a> {
    /// The rows with a label, with `all_levels` and terms of the source or only those that
    /// these rows have; `None` if every row of positive weight has a label.
    pub fn of(
        source: &'a dyn Source,
        target: usize,
        all_levels: bool,
    ) -> Result<Option<Labelled<'a>>> {
        let mut schema = source.schema().clone();
        let prunable = |field: &Field| match field.text.as_deref() {
            _ if all_levels => false,
            Some(text) => text.may_grow() && matches!(text.encoding, Encoding::Vocabulary(_)),
            None => field.kind != Kind::Binary && field.set_by_user != SetByUser::Levels,
        };
        let size = |field: &Field| {
            if prunable(field) {
                field.levels.len().max(field.terms())
            } else {
                0
            }
        };
        let mut used: Vec<Vec<bool>> = schema.fields.iter().map(|f| vec![false; size(f)]).collect();
        used[target].clear();
        let mut hidden = false;
        for chunk in source.scan()? {
            let chunk = chunk?;
            let labels = chunk.column(target).cells(0, chunk.rows());
            let weighted: Vec<usize> = chunk.rows_with_weight().collect();
            hidden |= weighted.iter().any(|row| !labels.is_seen(*row));
            for (place, used) in used.iter_mut().enumerate().filter(|(_, t)| !t.is_empty()) {
                let cells = chunk.column(place).cells(0, chunk.rows());
                let labelled = weighted.iter().filter(|row| labels.is_seen(**row));
                for row in labelled.filter(|row| cells.is_seen(**row)) {
                    match cells.terms() {
                        Some(terms) => {
                            let (codes, _) = terms.row(*row);
                            codes.iter().for_each(|code| used[*code as usize] = true);
                        }
                        None => used[cells.codes()[*row] as usize] = true,
                    }
                }
            }
        }
        if !hidden {
            return Ok(None);
        }
        let fields = schema.fields.iter_mut().zip(&used);
        let codes = fields.map(|(field, used)| kept(field, used)).collect();
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
        let weight = |row: usize| {
            if labelled(row) {
                chunk.weights().map_or(1.0, |weights| weights[row])
            } else {
                0.0
            }
        };
        let columns = chunk.columns().iter().zip(&self.codes);
        let columns = columns.map(|(column, codes)| match codes {
            None => column.clone(),
            Some(codes) => {
                let cells = column.cells(0, rows);
                let seen = |row: usize| labelled(row) && cells.is_seen(row);
                if let Some(terms) = cells.terms() {
                    let row = |row: usize| {
                        let (old, counts) = terms.row(row);
                        let old = old.iter().filter(|_| seen(row));
                        let new = old.map(|code| codes[*code as usize]);
                        new.zip(counts.iter().copied()).collect()
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

/// Removes the unused levels or terms of a column, and returns the new codes if there are any.
fn kept(field: &mut Field, used: &[bool]) -> Option<Vec<u32>> {
    if !used.contains(&false) {
        return None;
    }
    let mut next = 0;
    let codes = used.iter().map(|used| {
        if *used {
            next += 1;
            next - 1
        } else {
            NO_CODE
        }
    });
    let codes = codes.collect();
    if let Some(text) = field.text.as_deref() {
        if let Encoding::Vocabulary(terms) = &text.encoding {
            let terms = terms.terms().zip(used);
            let terms = terms.filter(|(_, used)| **used).map(|(term, _)| term);
            let encoder = Encoder {
                analyzer: text.analyzer.clone(),
                encoding: Encoding::Vocabulary(terms.collect()),
                limits: text.limits,
            };
            *field = Field::with_text(&field.name, encoder);
        }
        return Some(codes);
    }
    let mut used = used.iter();
    field.levels.retain(|_| used.next() == Some(&true));
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
