//! Rows as they are in the files, every cell with its original text, to write a table back
//! with only its missing values filled.

use crate::Result;
use crate::data::encode::shown;
use crate::data::missing::Missing;
use crate::data::options::ReadOptions;
use crate::data::read::{Batch, Batches, Inputs};
use std::borrow::Cow;
use std::sync::Arc;

/// Opens files to read their cells as text.
///
/// ```
/// use abduce::data::{ReadOptions, raw_rows};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("table.csv");
/// std::fs::write(&path, "name,height\n Ann ,1.70\nBob,NA\n")?;
/// let mut rows = raw_rows(&[path.display().to_string()], &ReadOptions::default())?;
/// assert_eq!(rows.header(), ["name", "height"]);
/// let batch = rows.next().unwrap()?;
/// assert_eq!(batch.cell(0, 0).text, " Ann ");
/// assert_eq!(batch.cell(0, 1).text, "1.70");
/// assert!(batch.cell(1, 1).missing);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a file cannot be read.
pub fn raw_rows(paths: &[String], options: &ReadOptions) -> Result<RawRows> {
    RawRows::new(Arc::new(Inputs::new(paths, options)?))
}

/// The rows of all files in order, in batches of some thousands.
pub struct RawRows {
    inputs: Arc<Inputs>,
    names: Vec<String>,
    wanted: Vec<bool>,
    missing: Arc<Missing>,
    file: usize,
    current: Option<Batches>,
}

impl RawRows {
    pub(crate) fn new(inputs: Arc<Inputs>) -> Result<RawRows> {
        let wanted = |name: &String| !inputs.options.drop.contains(name);
        Ok(RawRows {
            names: inputs.names.iter().filter(|n| wanted(n)).cloned().collect(),
            wanted: inputs.names.iter().map(wanted).collect(),
            missing: Arc::new(Missing::new(&inputs.options.missing)),
            inputs,
            file: 0,
            current: None,
        })
    }

    /// The names of all columns but those dropped.
    pub fn header(&self) -> &[String] {
        &self.names
    }
}

impl Iterator for RawRows {
    type Item = Result<RawBatch>;

    fn next(&mut self) -> Option<Result<RawBatch>> {
        loop {
            if self.file == self.inputs.widths.len() {
                return None;
            }
            let batches = match &mut self.current {
                Some(batches) => batches,
                None => match self.inputs.raw_batches(self.file, &self.wanted) {
                    Ok((batches, _)) => self.current.insert(batches),
                    Err(error) => {
                        self.file = self.inputs.widths.len();
                        return Some(Err(error));
                    }
                },
            };
            match self.inputs.next_batch(self.file, batches) {
                Ok(Some(batch)) => {
                    return Some(Ok(RawBatch {
                        batch,
                        positions: (self.inputs.positions[self.file].iter())
                            .zip(&self.wanted)
                            .filter_map(|(position, wanted)| wanted.then_some(*position))
                            .collect(),
                        missing: Arc::clone(&self.missing),
                    }));
                }
                Ok(None) => {
                    self.file += 1;
                    self.current = None;
                }
                Err(error) => {
                    self.file = self.inputs.widths.len();
                    return Some(Err(error));
                }
            }
        }
    }
}

/// Some consecutive rows of a file.
pub struct RawBatch {
    batch: Batch,
    positions: Vec<Option<usize>>,
    missing: Arc<Missing>,
}

/// One cell of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawCell<'a> {
    /// The text, without quotes; a binary number in its shortest form.
    pub text: Cow<'a, str>,
    /// Whether the cell is a missing value.
    pub missing: bool,
}

impl RawBatch {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.batch.rows()
    }

    /// The line of the file on which a row of this batch begins; the number of the row in
    /// a binary file.
    pub fn line(&self, row: usize) -> u64 {
        self.batch.line(row)
    }

    /// Whether the cells of a column can be written as text. Those that cannot, lists and
    /// bytes, appear as missing values.
    pub fn has_text(&self, column: usize) -> bool {
        match (&self.batch, self.positions[column]) {
            (Batch::Arrow(arrays), Some(column)) => arrays.has_text(column),
            _ => true,
        }
    }

    /// The cell of a row, counted from 0 in this batch, in a column, counted
    /// as in [`RawRows::header`].
    pub fn cell(&self, row: usize, column: usize) -> RawCell<'_> {
        let absent = RawCell {
            text: Cow::Borrowed(""),
            missing: true,
        };
        let Some(column) = self.positions[column] else {
            return absent;
        };
        if let Batch::Text(rows) = &self.batch {
            let text = rows.cell(row, column);
            return RawCell {
                text: Cow::Borrowed(text),
                missing: self.missing.is(text.trim_ascii()),
            };
        }
        if let Batch::Arrow(arrays) = &self.batch
            && let Some(text) = arrays.unreadable_text(row, column)
        {
            return RawCell {
                missing: text.is_empty(),
                text: Cow::Owned(text),
            };
        }
        let mut found = absent;
        let read = self
            .batch
            .visit(column, row..row + 1, &self.missing, |_, cell| {
                found = RawCell {
                    text: Cow::Owned(shown(cell)),
                    missing: cell == crate::data::read::Cell::Missing,
                };
                Ok(())
            });
        // Other columns have been handled above, so this cannot fail.
        debug_assert!(read.is_ok());
        found
    }
}
