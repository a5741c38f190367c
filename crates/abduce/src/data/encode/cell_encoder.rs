//! The encoder of one column: numbers become `f64`, levels codes, texts counts of terms.

use crate::data::encode::levels::Lookup;
use crate::data::encode::texts::Texts;
use crate::data::encode::{Place, as_number, shown};
use crate::data::missing::Missing;
use crate::data::options::{UnseenCategory, kind_option};
use crate::data::read::{Cell, Located, Numbers, TOO_LARGE, number};
use crate::data::table::column::Column;
use crate::data::table::schema::{Field, Kind};
use crate::data::table::terms::TermsBuilder;
use crate::text::{Encoder, Unit};
use crate::{Error, Result};
use arrow_buffer::NullBufferBuilder;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Encodes one column, a run of rows at a time.
pub(crate) struct CellEncoder {
    name: String,
    rule: Rule,
    encoded: Encoded,
}

/// How cells are encoded.
enum Rule {
    Number {
        kind: Kind,
        unit: f64,
    },
    Level(Lookup),
    /// Levels of a model: unseen ones get the code `next`, after the last.
    Known {
        lookup: Lookup,
        next: u32,
        unseen: UnseenCategory,
    },
    Text(Option<Arc<Encoder>>),
    Weight,
}

/// Cells encoded so far; one of the lists of values is in use.
struct Encoded {
    reals: Vec<f64>,
    codes: Vec<u32>,
    terms: TermsBuilder,
    seen: NullBufferBuilder,
    /// The number of cells or words that are not in the schema, and the first of the cells.
    unseen: u64,
    first_unseen: Option<(String, Place)>,
}

/// Some rows of a column of a batch.
struct Run<'a> {
    located: &'a Located<'a>,
    column: usize,
    rows: Range<usize>,
    missing: &'a Missing,
    /// The cells, if they were parsed as numbers.
    numbers: Option<&'a Numbers>,
}

impl CellEncoder {
    /// An encoder for a column whose levels are all in the schema.
    pub fn field(field: &Field) -> CellEncoder {
        let rule = match field.kind {
            Kind::Text => Rule::Text(field.text.clone()),
            kind if kind.is_coded() => Rule::Level(Lookup::of(field)),
            kind => Rule::Number {
                kind,
                unit: field.unit,
            },
        };
        Self::new(&field.name, rule)
    }

    /// An encoder for a column of a model, which may lack some of the levels.
    pub fn known(field: &Field, unseen: UnseenCategory) -> CellEncoder {
        if !field.kind.is_coded() {
            return Self::field(field);
        }
        let rule = Rule::Known {
            lookup: Lookup::of(field),
            next: field.levels.len() as u32,
            unseen,
        };
        Self::new(&field.name, rule)
    }

    /// An encoder for the column of weights.
    pub fn weight(name: &str) -> CellEncoder {
        Self::new(name, Rule::Weight)
    }

    fn new(name: &str, rule: Rule) -> CellEncoder {
        CellEncoder {
            name: name.to_string(),
            rule,
            encoded: Encoded {
                reals: Vec::new(),
                codes: Vec::new(),
                terms: TermsBuilder::default(),
                seen: NullBufferBuilder::new(0),
                unseen: 0,
                first_unseen: None,
            },
        }
    }

    /// Whether the column's cells are worth parsing as numbers before they are encoded.
    pub fn parses_numbers(&self) -> bool {
        !matches!(self.rule, Rule::Text(_))
    }

    /// Whether kept numbers and words suffice to encode the column; `plain` is whether the numbers
    /// are plain.
    pub fn takes_kept(&self, plain: bool) -> bool {
        match self.rule {
            Rule::Number { .. } | Rule::Weight => true,
            Rule::Level(_) | Rule::Known { .. } => plain,
            Rule::Text(_) => false,
        }
    }

    /// Appends a run of rows of the column at this position in the table; missing values if
    /// the data lack the column.
    pub fn append(
        &mut self,
        located: &Located<'_>,
        at: Option<usize>,
        rows: Range<usize>,
        missing: &Missing,
    ) -> Result<()> {
        let column = at.and_then(|at| Some((at, located.positions[at]?)));
        let Some((at, column)) = column else {
            self.append_missing(rows.len());
            return Ok(());
        };
        let run = Run {
            located,
            column,
            rows,
            missing,
            numbers: located.numbers.get(at).and_then(Option::as_ref),
        };
        let encoded = &mut self.encoded;
        let read = match &mut self.rule {
            Rule::Number { kind, unit } => encoded.append_numbers(run, &self.name, *kind, *unit),
            Rule::Weight => encoded.append_weights(run, &self.name),
            Rule::Text(Some(encoder)) if encoder.analyzer.options().unit == Unit::Pairs => {
                encoded.append_pairs(run, encoder)
            }
            Rule::Text(encoder) => encoded.append_texts(run, encoder.as_deref()),
            Rule::Level(lookup) => encoded.append_levels(run, lookup, None),
            Rule::Known { lookup, next, .. } => encoded.append_levels(run, lookup, Some(*next)),
        };
        read.map_err(|error| error.at_column(&self.name))
    }

    fn append_missing(&mut self, rows: usize) {
        let encoded = &mut self.encoded;
        encoded.seen.append_n_nulls(rows);
        match self.rule {
            Rule::Level(_) | Rule::Known { .. } => {
                encoded.codes.resize(encoded.codes.len() + rows, 0);
            }
            Rule::Text(_) => (0..rows).for_each(|_| encoded.terms.push(&[], &[])),
            _ => encoded.reals.resize(encoded.reals.len() + rows, 0.0),
        }
    }

    /// Returns the rows appended so far, and starts afresh.
    pub fn take(&mut self) -> Column {
        let encoded = &mut self.encoded;
        let nulls = encoded.seen.finish().filter(|nulls| nulls.null_count() > 0);
        match self.rule {
            Rule::Level(_) | Rule::Known { .. } => Column::Code {
                values: take_all(&mut encoded.codes).into(),
                nulls,
            },
            Rule::Text(_) => Column::Text {
                values: encoded.terms.finish(),
                nulls,
            },
            _ => Column::Real {
                values: take_all(&mut encoded.reals).into(),
                nulls,
            },
        }
    }

    /// Returns the weights appended so far, and starts afresh.
    pub fn take_weights(&mut self) -> Vec<f64> {
        take_all(&mut self.encoded.reals)
    }

    /// A note about levels and terms that the schema lacks.
    pub fn note(&self) -> Option<String> {
        let (name, count) = (&self.name, self.encoded.unseen);
        if let (Rule::Text(_), 1..) = (&self.rule, count) {
            let (words, they) = if count == 1 {
                ("word is", "it is")
            } else {
                ("words are", "they are")
            };
            return Some(format!(
                "column {name}: {count} {words} not in the vocabulary; {they} left out"
            ));
        }
        let (level, place) = self.encoded.first_unseen.as_ref()?;
        let consequence = match self.rule {
            Rule::Known { unseen, .. } => unseen.consequence(),
            _ => UnseenCategory::Missing.consequence(),
        };
        let cells = if count == 1 {
            "cell holds a category"
        } else {
            "cells hold categories"
        };
        Some(format!(
            "column {name}: {count} {cells} not seen in the fit (first: \"{level}\", {place}); \
             {consequence}"
        ))
    }
}

impl Encoded {
    fn append_numbers(&mut self, run: Run<'_>, name: &str, kind: Kind, unit: f64) -> Result<()> {
        let largest = if unit == 1.0 {
            TOO_LARGE
        } else {
            (TOO_LARGE * unit).min(f64::MAX)
        };
        if let Some(numbers) = run.numbers() {
            let fits = |x: &f64| {
                let count = kind != Kind::Count || *x >= 0.0 && x.fract() == 0.0;
                x.is_nan() || x.abs() <= largest && count
            };
            if numbers.iter().all(fits) {
                let number = |x: &f64| if x.is_nan() { 0.0 } else { x / unit };
                self.reals.extend(numbers.iter().map(number));
                self.append_seen(numbers);
                return Ok(());
            }
        }
        run.visit(|_, cell| {
            let x = as_number(cell, kind, largest, name, run.missing).map_err(|error| {
                // The first pass has settled the kind of a file's columns, so that only a
                // number that does not suit a model's kind is refused here.
                let text = shown(cell);
                match number(&text) {
                    Some(x) if x.abs() <= largest => error.with_hint(format!(
                        "the model knows this column as counts, 0, 1, 2, …; fit it again \
                         with {}, or pass {} to treat the cell as missing",
                        kind_option(name, Kind::Real.name()),
                        run.missing.with(&text)
                    )),
                    _ => error,
                }
            })?;
            self.seen.append(x.is_some());
            self.reals.push(x.unwrap_or(0.0) / unit);
            Ok(())
        })
    }

    /// Appends which of these numbers are present.
    fn append_seen(&mut self, numbers: &[f64]) {
        if numbers.iter().any(|x| x.is_nan()) {
            numbers.iter().for_each(|x| self.seen.append(!x.is_nan()));
        } else {
            self.seen.append_n_non_nulls(numbers.len());
        }
    }

    fn append_weights(&mut self, run: Run<'_>, name: &str) -> Result<()> {
        if let Some(numbers) = run.numbers()
            && numbers.iter().all(|x| (0.0..=TOO_LARGE).contains(x))
        {
            self.reals.extend(numbers);
            return Ok(());
        }
        let Run {
            located,
            column,
            rows,
            missing,
            ..
        } = run;
        located.batch.visit(column, rows, missing, |_, cell| {
            match as_number(cell, Kind::Real, TOO_LARGE, name, missing) {
                Ok(Some(x)) if x >= 0.0 => {
                    self.reals.push(x);
                    Ok(())
                }
                Ok(Some(_)) => Err(Error::data("the weight is negative")),
                Ok(None) => Err(Error::data("the weight is missing")),
                Err(error) if number(&shown(cell)).is_some() => Err(error),
                Err(_) => Err(Error::data(format!(
                    "the weight \"{}\" is not a number",
                    shown(cell)
                ))),
            }
            .map_err(|error| {
                error
                    .at_column(name)
                    .with_hint("a weight says how often a row counts: 0, 1, 2.5, …")
            })
        })
    }

    fn append_pairs(&mut self, run: Run<'_>, encoder: &Encoder) -> Result<()> {
        let start = run.rows.start;
        let texts = run.texts()?;
        let texts: Vec<Option<&str>> = texts.iter().collect();
        let weigh = |text: &Option<&str>| encoder.weigh(text.unwrap_or_default());
        let weighed: Vec<_> = texts.par_iter().map(weigh).collect();
        for (row, (text, terms)) in texts.iter().zip(weighed).enumerate() {
            let line = run.located.batch.line(start + row);
            let terms = terms.map_err(|error| error.at_line(line))?;
            self.terms.push(&terms.codes, &terms.weights);
            self.seen.append(text.is_some());
            self.unseen += terms.unknown;
        }
        Ok(())
    }

    fn append_texts(&mut self, run: Run<'_>, encoder: Option<&Encoder>) -> Result<()> {
        let texts = run.texts()?;
        let all: Vec<&str> = texts.iter().map(Option::unwrap_or_default).collect();
        let documents = encoder.map(|encoder| encoder.encode(&all));
        let mut weights = Vec::new();
        for (row, text) in texts.iter().enumerate() {
            let terms = documents.as_ref().map(|documents| documents.row(row));
            let (codes, counts) = terms.unwrap_or_default();
            weights.clear();
            weights.extend(counts.iter().map(|count| f64::from(*count)));
            self.terms.push(codes, &weights);
            self.seen.append(text.is_some());
        }
        let unknown = documents.iter().flat_map(|documents| documents.unknown());
        self.unseen += unknown.map(|count| u64::from(*count)).sum::<u64>();
        Ok(())
    }

    /// Appends codes of levels; `next`, if given, is the code of unseen ones.
    fn append_levels(
        &mut self,
        run: Run<'_>,
        lookup: &mut Lookup,
        next: Option<u32>,
    ) -> Result<()> {
        let before = self.codes.len();
        if let Some(numbers) = run.numbers.filter(|numbers| numbers.plain) {
            let numbers = &numbers.values[run.rows.clone()];
            let code = |x: &f64| {
                if x.is_nan() {
                    Some(0)
                } else {
                    lookup.code(Cell::Number(*x))
                }
            };
            self.codes.extend(numbers.iter().map_while(code));
            if self.codes.len() == before + numbers.len() {
                self.append_seen(numbers);
                return Ok(());
            }
            // An unseen level is reported with its spelling.
            self.codes.truncate(before);
        }
        run.visit(|row, cell| {
            let mut code = lookup.code(cell);
            if code.is_none() && cell != Cell::Missing {
                self.unseen += 1;
                self.first_unseen
                    .get_or_insert_with(|| (shown(cell), run.located.place(row)));
                code = next;
            }
            self.seen.append(code.is_some());
            self.codes.push(code.unwrap_or(0));
            Ok(())
        })
    }
}

impl Run<'_> {
    /// Calls `each` with every cell and its row.
    #[inline]
    fn visit(&self, each: impl FnMut(usize, Cell<'_>) -> Result<()>) -> Result<()> {
        let rows = self.rows.clone();
        self.located.visit(self.column, rows, self.missing, each)
    }

    /// The cells, if they were parsed as numbers.
    fn numbers(&self) -> Option<&[f64]> {
        let numbers = self.numbers?;
        Some(&numbers.values[self.rows.clone()])
    }

    fn texts(&self) -> Result<Texts> {
        let rows = self.rows.clone();
        Texts::of(self.located, Some(self.column), rows, self.missing)
    }
}

/// Takes the values without spare capacity, and reserves room for as many again.
fn take_all<T>(values: &mut Vec<T>) -> Vec<T> {
    let capacity = values.len();
    let mut taken = std::mem::replace(values, Vec::with_capacity(capacity));
    taken.shrink_to_fit();
    taken
}
