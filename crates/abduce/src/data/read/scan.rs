//! A pass over the rows of all files. A separate thread reads parts of the files ahead; the
//! parts of the next round are decoded by all threads while those of the last are processed.

use crate::data::missing::Missing;
use crate::data::read::inputs::guarded;
use crate::data::read::{Batch, Cell, Inputs, KeptRows, Numbers, Part, number};
use crate::{Error, Result};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::mpsc::sync_channel;

/// A batch and where it comes from.
pub(crate) struct Located<'a> {
    pub batch: Batch,
    /// The number of the file.
    pub file: usize,
    /// The file's name.
    pub name: &'a str,
    /// The position in the batch of each column of the table.
    pub positions: &'a [Option<usize>],
    /// The numbers of each column of the table that was parsed and holds nothing else.
    pub numbers: Vec<Option<Numbers>>,
    /// Which rows have weight 0; empty if none has.
    zero_weight: Vec<bool>,
    /// Whether cells are texts and classes, none of which means a missing value.
    verbatim: bool,
}

/// The columns whose cells are parsed as numbers while a batch is decoded.
#[derive(Clone, Copy)]
pub(crate) struct Parse<'a> {
    pub columns: &'a [bool],
    pub missing: &'a Missing,
}

impl<'a> Located<'a> {
    /// Kept rows, with the numbers of each column that has them.
    pub fn kept(
        rows: KeptRows,
        positions: &'a [Option<usize>],
        numbers: Vec<Option<Numbers>>,
    ) -> Self {
        Located {
            batch: Batch::Kept(rows),
            file: 0,
            name: "",
            positions,
            numbers,
            zero_weight: Vec::new(),
            verbatim: false,
        }
    }

    /// The number of rows of positive weight.
    pub fn rows_with_weight(&self) -> usize {
        let zero = self.zero_weight.iter().filter(|zero| **zero);
        self.batch.rows() - zero.count()
    }

    /// The suspicious quotes of the batch, with the name of the file.
    pub fn suspicious_quotes(&self) -> impl Iterator<Item = (String, u64, u64)> {
        let quotes = self.batch.suspicious_quotes().iter();
        quotes.map(|(line, lines)| (self.name.to_string(), *line, *lines))
    }

    /// Calls `each` as [`Batch::visit`] does, with missing values in rows of weight 0.
    pub fn visit(
        &self,
        column: usize,
        rows: Range<usize>,
        missing: &Missing,
        mut each: impl FnMut(usize, Cell<'_>) -> Result<()>,
    ) -> Result<()> {
        if let Batch::Kept(_) = self.batch
            && self.numbers[column].is_some()
        {
            return Err(Error::data("these numbers are not kept as cells"));
        }
        let none = Missing::new(&[]);
        let missing = if self.verbatim { &none } else { missing };
        if self.zero_weight.is_empty() {
            return self.batch.visit(column, rows, missing, each);
        }
        self.batch.visit(column, rows, missing, |row, cell| {
            let ignored = self.zero_weight[row];
            each(row, if ignored { Cell::Missing } else { cell })
        })
    }

    /// Parses the columns that hold only numbers.
    fn parse(&mut self, parse: Parse<'_>, weight: Option<usize>) {
        if self.verbatim {
            return;
        }
        let wanted = |at: &usize| parse.columns[*at];
        let columns = (0..self.positions.len()).filter(wanted);
        let columns = columns.filter_map(|at| Some((at, self.positions[at]?)));
        let columns: Vec<(usize, usize)> = columns.collect();
        let positions: Vec<usize> = columns.iter().map(|(_, position)| *position).collect();
        let parsed = Numbers::of(&self.batch, &positions, parse.missing);
        self.numbers.resize_with(self.positions.len(), || None);
        for ((at, _), numbers) in columns.into_iter().zip(parsed) {
            let numbers = numbers.map(|mut numbers| {
                if weight != Some(at) {
                    numbers.ignore(&self.zero_weight);
                }
                numbers
            });
            self.numbers[at] = numbers;
        }
    }
}

/// Which rows of a batch have weight 0; empty if none has.
fn zero_weights(batch: &Batch, column: usize) -> Vec<bool> {
    let mut zero = Vec::with_capacity(batch.rows());
    let read = batch.visit(column, 0..batch.rows(), &Missing::new(&[]), |_, cell| {
        zero.push(match cell {
            Cell::Text(text) => number(text) == Some(0.0),
            Cell::Integer(x) => x == 0,
            Cell::Number(x) => x == 0.0,
            _ => false,
        });
        Ok(())
    });
    // An invalid weight is reported when the weights are encoded.
    if read.is_ok() && zero.contains(&true) {
        zero
    } else {
        Vec::new()
    }
}

impl Inputs {
    /// Calls `each` with the batches of all files in order; errors get the file's name.
    pub fn scan(
        &self,
        wanted: &[bool],
        mut each: impl FnMut(&Located<'_>) -> Result<()>,
    ) -> Result<()> {
        self.scan_parsed(wanted, None, |round| {
            round
                .iter()
                .try_for_each(|located| each(located).map_err(|error| error.at_file(located.name)))
        })
    }

    /// Calls `each` with some batches at a time, of all files in order, after the columns to
    /// `parse` have been parsed.
    pub fn scan_parsed<'a>(
        &'a self,
        wanted: &[bool],
        parse: Option<Parse<'_>>,
        mut each: impl FnMut(&mut [Located<'a>]) -> Result<()>,
    ) -> Result<()> {
        let mut wanted = wanted.to_vec();
        if let Some(weight) = self.weight {
            wanted[weight] = true;
        }
        let wanted = &wanted;
        let together = rayon::current_num_threads();
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(together);
            scope.spawn(move || self.send_parts(wanted, |part| sender.send(part).is_ok()));
            let mut round = Round::default();
            loop {
                let parts: Vec<_> = receiver.iter().take(together).collect();
                let mut next = Round::default();
                let last = parts.is_empty();
                rayon::in_place_scope(|pool| {
                    pool.spawn(|_| next = self.decode(parts, parse));
                    round.process(&mut each)
                })?;
                if last {
                    return Ok(());
                }
                round = next;
            }
        })
    }

    /// Reads the parts of all files, until the first error or `send` returns false.
    fn send_parts(&self, wanted: &[bool], send: impl Fn((usize, Result<Part>)) -> bool) {
        for file in 0..self.files().len() {
            let mut parts = match self.parts(file, wanted) {
                Ok(parts) => parts,
                Err(error) => {
                    send((file, Err(error)));
                    return;
                }
            };
            while let Some(part) = guarded(|| parts.next().transpose()).transpose() {
                let failed = part.is_err();
                if !send((file, part)) || failed {
                    return;
                }
            }
        }
    }

    /// Decodes parts on all threads.
    fn decode<'a>(
        &'a self,
        parts: Vec<(usize, Result<Part>)>,
        parse: Option<Parse<'_>>,
    ) -> Round<'a> {
        let decode = |(file, part): (usize, Result<Part>)| {
            let batches = part.and_then(|part| guarded(|| Ok(part.decode())));
            (file, batches.unwrap_or_else(|error| vec![Err(error)]))
        };
        let locate = |(file, batches): (usize, Vec<Result<Batch>>)| -> Vec<_> {
            let failed = |error: Error| error.at_file(self.name(file));
            let batches = batches.into_iter().map(|batch| batch.map_err(failed));
            let located = batches.map(|batch| Ok(self.located(file, batch?, parse)));
            located.collect()
        };
        let is_turn = |(_, part): &(usize, Result<Part>)| matches!(part, Ok(Part::Turn(_)));
        let decoded: Vec<Vec<Result<Located<'a>>>> = if parts.iter().any(is_turn) {
            let decoded: Vec<_> = parts.into_iter().map(decode).collect();
            decoded.into_par_iter().map(locate).collect()
        } else {
            let parts = parts.into_par_iter();
            parts.map(|part| locate(decode(part))).collect()
        };
        let mut round = Round::default();
        for located in decoded.into_iter().flatten() {
            match located {
                Ok(located) => round.batches.push(located),
                Err(error) => {
                    round.error = Some(error);
                    break;
                }
            }
        }
        round
    }

    fn located(&self, file: usize, batch: Batch, parse: Option<Parse<'_>>) -> Located<'_> {
        let positions = &self.positions[file];
        let weight = self.weight.and_then(|weight| positions[weight]);
        let mut located = Located {
            zero_weight: weight.map_or(Vec::new(), |at| zero_weights(&batch, at)),
            batch,
            file,
            name: self.name(file),
            positions,
            numbers: Vec::new(),
            verbatim: self.is_of_texts(file),
        };
        if let Some(parse) = parse {
            located.parse(parse, self.weight);
        }
        located
    }
}

/// Decoded batches, and the error after them.
#[derive(Default)]
struct Round<'a> {
    batches: Vec<Located<'a>>,
    error: Option<Error>,
}

impl<'a> Round<'a> {
    fn process(mut self, each: &mut impl FnMut(&mut [Located<'a>]) -> Result<()>) -> Result<()> {
        if !self.batches.is_empty() {
            each(&mut self.batches)?;
        }
        self.error.map_or(Ok(()), Err)
    }
}
