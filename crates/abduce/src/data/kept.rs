//! Cells kept from the first pass, so that the rows can be encoded without reading them again:
//! numbers as they are, words as codes in order of appearance.

use crate::data::encode::cell_encoder::CellEncoder;
use crate::data::missing::Missing;
use crate::data::read::{Cell, KeptRows, Located, MISSING_WORD, Numbers, Words};
use crate::{Error, Result};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// A column with more different words than this is not kept.
const MAX_WORDS: usize = 100_000;

/// The number of batches that are encoded together.
const TOGETHER: usize = 16;

/// Suspicious quotes: the file, the line, and the number of lines that the quoted cell spans;
/// 0 where text follows the closing quote.
pub(super) type Quoted = Vec<(String, u64, u64)>;

/// The cells of all columns, in batches.
pub(super) struct Kept {
    /// For each column of the table, its cells.
    columns: Vec<KeptColumn>,
    /// The number of rows of each batch.
    rows: Vec<usize>,
    quoted: Quoted,
    /// The most bytes to keep.
    budget: u64,
}

/// The cells of one column.
#[derive(Default)]
pub(super) struct KeptColumn {
    /// Whether every cell so far is kept.
    complete: bool,
    /// Whether all numbers are plain, as defined by [`Numbers::plain`].
    plain: bool,
    batches: Vec<KeptCells>,
    words: HashMap<String, u32, ahash::RandomState>,
    bytes: u64,
}

/// The cells of a batch.
enum KeptCells {
    Absent,
    Numbers(Vec<f64>),
    /// Whole numbers from 0 to 254; 255 for a missing value.
    Small(Vec<u8>),
    Words(Vec<u32>),
}

/// A missing value among small numbers.
const MISSING_SMALL: u8 = 255;

impl KeptColumn {
    /// Keeps the cells of the column at a position of the table as words, unless they were
    /// parsed as numbers.
    pub fn keep_words(&mut self, located: &Located<'_>, at: usize, missing: &Missing) {
        if !self.complete {
            return;
        }
        if located.numbers.get(at).is_some_and(Option::is_some) {
            // `keep_numbers` replaces it.
            self.batches.push(KeptCells::Absent);
            return;
        }
        let Some(column) = located.positions[at] else {
            self.batches.push(KeptCells::Absent);
            return;
        };
        let rows = located.batch.rows();
        let mut codes = Vec::with_capacity(rows);
        let read = located.visit(column, 0..rows, missing, |_, cell| {
            codes.push(match cell {
                Cell::Missing => MISSING_WORD,
                Cell::Text(word) => self.code(word),
                // Only words have codes.
                _ => return Err(Error::data("this cell is not kept")),
            });
            Ok(())
        });
        if read.is_err() || self.words.len() > MAX_WORDS {
            self.forget();
            return;
        }
        self.bytes += 4 * rows as u64;
        self.batches.push(KeptCells::Words(codes));
    }

    fn code(&mut self, word: &str) -> u32 {
        if let Some(code) = self.words.get(word) {
            return *code;
        }
        let code = self.words.len() as u32;
        self.words.insert(word.to_string(), code);
        code
    }

    /// Keeps the cells of a batch, by its number, that were parsed as numbers.
    fn keep_numbers(&mut self, batch: usize, numbers: Numbers) {
        if !self.complete {
            return;
        }
        self.plain &= numbers.plain;
        let cells = match small(&numbers.values) {
            Some(small) => KeptCells::Small(small),
            None => KeptCells::Numbers(numbers.values),
        };
        self.bytes += match &cells {
            KeptCells::Numbers(values) => 8 * values.len() as u64,
            KeptCells::Small(values) => values.len() as u64,
            _ => 0,
        };
        self.batches[batch] = cells;
    }

    fn forget(&mut self) {
        *self = KeptColumn::default();
    }

    /// The words in the order of their codes.
    fn words(&mut self) -> Arc<Vec<String>> {
        let mut words: Vec<(String, u32)> = std::mem::take(&mut self.words).into_iter().collect();
        words.sort_unstable_by_key(|(_, code)| *code);
        Arc::new(words.into_iter().map(|(word, _)| word).collect())
    }
}

/// The numbers as bytes, if all of them are small.
fn small(values: &[f64]) -> Option<Vec<u8>> {
    let byte = |x: &f64| {
        let byte = *x as u8;
        if x.is_nan() {
            Some(MISSING_SMALL)
        } else {
            let same = f64::from(byte).to_bits() == x.to_bits();
            (same && byte != MISSING_SMALL).then_some(byte)
        }
    };
    let mut bytes = Vec::new();
    for (row, value) in values.iter().enumerate() {
        let byte = byte(value)?;
        if row == 0 {
            bytes.reserve_exact(values.len());
        }
        bytes.push(byte);
    }
    Some(bytes)
}

impl Kept {
    /// Nothing kept so far of the marked columns.
    pub fn new(columns: &[bool], budget: u64) -> Kept {
        let column = |kept: &bool| KeptColumn {
            complete: *kept,
            plain: true,
            ..KeptColumn::default()
        };
        Kept {
            columns: columns.iter().map(column).collect(),
            rows: Vec::new(),
            quoted: Vec::new(),
            budget,
        }
    }

    /// Keeps batches, whose parsed numbers are taken; false if more bytes would be kept than
    /// allowed.
    pub fn keep(&mut self, batches: &mut [Located<'_>], missing: &Missing) -> bool {
        let columns = self.columns.par_iter_mut().enumerate();
        columns.for_each(|(at, column)| {
            let batches = batches.iter();
            batches.for_each(|located| column.keep_words(located, at, missing));
        });
        for located in batches {
            self.quoted.extend(located.suspicious_quotes());
            let batch = self.rows.len();
            self.rows.push(located.batch.rows());
            let numbers = located.numbers.iter_mut().zip(&mut self.columns);
            for (numbers, column) in numbers {
                if let Some(numbers) = numbers.take() {
                    column.keep_numbers(batch, numbers);
                }
            }
        }
        let bytes = self.columns.iter().map(|column| column.bytes);
        bytes.sum::<u64>() <= self.budget
    }

    /// Whether everything that an encoder of a column needs is kept.
    pub fn suffices(&self, at: usize, encoder: &CellEncoder) -> bool {
        let column = &self.columns[at];
        column.complete && encoder.takes_kept(column.plain)
    }

    /// Calls `each` with the batches in order, some at a time; returns the suspicious quotes.
    pub fn replay(mut self, mut each: impl FnMut(&[Located<'_>]) -> Result<()>) -> Result<Quoted> {
        let positions: Vec<Option<usize>> = (0..self.columns.len()).map(Some).collect();
        let words: Vec<_> = self.columns.iter_mut().map(KeptColumn::words).collect();
        let plain: Vec<bool> = self.columns.iter().map(|column| column.plain).collect();
        let columns = self.columns.into_iter();
        let mut columns: Vec<_> = columns.map(|column| column.batches.into_iter()).collect();
        for group in self.rows.chunks(TOGETHER) {
            let mut batches = Vec::with_capacity(group.len());
            for rows in group {
                let mut kept = KeptRows {
                    rows: *rows,
                    words: vec![None; columns.len()],
                };
                let mut numbers = Vec::with_capacity(columns.len());
                for (at, column) in columns.iter_mut().enumerate() {
                    let values = match column.next() {
                        None | Some(KeptCells::Absent) => None,
                        Some(KeptCells::Numbers(values)) => Some(values),
                        Some(KeptCells::Small(values)) => Some(values.iter().map(large).collect()),
                        Some(KeptCells::Words(codes)) => {
                            let words = Arc::clone(&words[at]);
                            kept.words[at] = Some(Words { codes, words });
                            None
                        }
                    };
                    let plain = plain[at];
                    numbers.push(values.map(|values| Numbers { values, plain }));
                }
                batches.push(Located::kept(kept, &positions, numbers));
            }
            each(&batches)?;
        }
        Ok(self.quoted)
    }
}

fn large(small: &u8) -> f64 {
    if *small == MISSING_SMALL {
        f64::NAN
    } else {
        f64::from(*small)
    }
}
