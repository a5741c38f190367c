//! From raw cells to encoded columns: numbers become `f64`, levels their
//! codes, whatever stands for a missing value a missing value. A cell that cannot be what its
//! column says is an error that names it and what to do about it.

pub(crate) mod alike;
pub(crate) mod infer;
pub(crate) mod learn_terms;
pub(crate) mod levels;
pub(crate) mod pattern;
pub(crate) mod settle;
pub(crate) mod truth;

use crate::data::encode::levels::Lookup;
use crate::data::options::{Missing, UnseenCategory, kind_option};
use crate::data::read::{Cell, Located, TOO_LARGE, number, token};
use crate::data::table::column::Column;
use crate::data::table::schema::{Field, Kind};
use crate::data::table::terms::TermsBuilder;
use crate::text::{self, Unit};
use crate::{Error, Result};
use arrow_buffer::NullBufferBuilder;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Where a cell stands.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub file: String,
    pub line: u64,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, line {}", self.file, self.line)
    }
}

impl Located<'_> {
    pub fn place(&self, row: usize) -> Place {
        Place {
            file: self.name.to_string(),
            line: self.batch.line(row),
        }
    }
}

/// The number in a cell of a real or count column, if it is not beyond the largest;
/// `None` for a missing value.
#[inline]
pub(crate) fn as_number(
    cell: Cell<'_>,
    kind: Kind,
    largest: f64,
    name: &str,
    missing: &Missing,
) -> Result<Option<f64>> {
    let x = match cell {
        Cell::Missing => return Ok(None),
        Cell::Text(text) => number(text),
        Cell::Integer(x) => Some(x as f64),
        Cell::Number(x) => Some(x),
        Cell::Bool(x) => Some(f64::from(u8::from(x))),
    };
    match x {
        Some(x) if x.abs() <= largest => {
            if kind == Kind::Count && (x < 0.0 || x.fract() != 0.0) {
                return Err(not_a_count(cell, name));
            }
            Ok(Some(x))
        }
        Some(_) => Err(too_large(&shown(cell), name)),
        None => Err(not_a_number(&shown(cell), name, missing)),
    }
}

fn not_a_number(text: &str, name: &str, missing: &Missing) -> Error {
    let error = Error::data(format!("\"{text}\" is not a number")).at_column(name);
    if number(&text.replacen(',', ".", 1)).is_some() {
        return error.with_hint("numbers are written with a point; replace the comma");
    }
    error.with_hint(format!(
        "pass {} if it means missing, or correct the cell",
        missing.with(text)
    ))
}

fn not_a_count(cell: Cell<'_>, name: &str) -> Error {
    Error::data(format!("{} is not a count", shown(cell)))
        .at_column(name)
        .about_kind(Kind::Real.name())
        .with_hint(format!(
            "counts are 0, 1, 2, …; pass {} for other numbers",
            kind_option(name, Kind::Real.name())
        ))
}

/// Says that a number is infinite or would overflow.
pub(crate) fn too_large(text: &str, name: &str) -> Error {
    let infinite = text
        .trim_start_matches(['+', '-'])
        .to_ascii_lowercase()
        .starts_with("inf");
    let (message, hint) = match infinite {
        true => (
            format!("{text} is not a finite number"),
            "correct the cell, or leave it empty",
        ),
        false if number(text).is_none_or(f64::is_finite) => (
            format!("{text} is too large, beyond 1e140"),
            "rescale the column, or correct the cell",
        ),
        false => (
            format!("{text} is beyond the largest number of double precision, 1.8e308"),
            "rescale the column, or correct the cell",
        ),
    };
    Error::data(message).at_column(name).with_hint(hint)
}

/// A cell as a user would type it.
pub(crate) fn shown(cell: Cell<'_>) -> String {
    match cell {
        Cell::Missing => String::new(),
        Cell::Text(text) => text.to_string(),
        Cell::Integer(x) => x.to_string(),
        Cell::Number(x) => token(x),
        Cell::Bool(x) => x.to_string(),
    }
}

/// The largest number of a column in a unit.
fn largest(unit: f64) -> f64 {
    match unit == 1.0 {
        true => TOO_LARGE,
        false => (TOO_LARGE * unit).min(f64::MAX),
    }
}

/// Encodes one column, a run of rows at a time.
pub(crate) struct CellEncoder {
    name: String,
    rule: Rule,
    reals: Vec<f64>,
    codes: Vec<u32>,
    terms: TermsBuilder,
    seen: NullBufferBuilder,
    strangers: u64,
    first_stranger: Option<(String, Place)>,
}

enum Rule {
    /// Of a kind and in a unit.
    Number(Kind, f64),
    Level(Lookup),
    /// Levels of a model that may meet others: those get the code behind the
    /// last.
    Known(Lookup, u32, UnseenCategory),
    Text(Option<Arc<text::Encoder>>),
    Weight,
}

impl CellEncoder {
    /// An encoder for a column of the schema.
    pub fn field(field: &Field) -> CellEncoder {
        let rule = match field.kind {
            Kind::Text => Rule::Text(field.text.clone()),
            kind if kind.is_coded() => Rule::Level(Lookup::of(field)),
            kind => Rule::Number(kind, field.unit),
        };
        Self::new(&field.name, rule)
    }

    /// An encoder for a column of a model, to which cells may be new.
    pub fn known(field: &Field, unseen: UnseenCategory) -> CellEncoder {
        match field.kind.is_coded() {
            true => {
                let next = field.levels.len() as u32;
                Self::new(&field.name, Rule::Known(Lookup::of(field), next, unseen))
            }
            false => Self::field(field),
        }
    }

    /// An encoder for the column that weighs rows.
    pub fn weight(name: &str) -> CellEncoder {
        Self::new(name, Rule::Weight)
    }

    fn new(name: &str, rule: Rule) -> CellEncoder {
        CellEncoder {
            name: name.to_string(),
            rule,
            reals: Vec::new(),
            codes: Vec::new(),
            terms: TermsBuilder::default(),
            seen: NullBufferBuilder::new(0),
            strangers: 0,
            first_stranger: None,
        }
    }

    /// Appends a run of rows; all missing values where the data lack the column.
    pub fn append(
        &mut self,
        located: &Located<'_>,
        column: Option<usize>,
        rows: Range<usize>,
        missing: &Missing,
    ) -> Result<()> {
        let Some(column) = column else {
            self.seen.append_n_nulls(rows.len());
            match self.rule {
                Rule::Level(_) | Rule::Known(..) => {
                    self.codes.resize(self.codes.len() + rows.len(), 0);
                }
                Rule::Text(_) => rows.for_each(|_| self.terms.push(&[], &[])),
                _ => self.reals.resize(self.reals.len() + rows.len(), 0.0),
            }
            return Ok(());
        };
        let CellEncoder {
            name,
            rule,
            reals,
            codes,
            terms,
            seen,
            strangers,
            first_stranger,
        } = self;
        let next = match rule {
            Rule::Known(_, next, _) => Some(*next),
            _ => None,
        };
        let read = match rule {
            Rule::Number(kind, unit) => located.visit(column, rows, missing, |_, cell| {
                let largest = largest(*unit);
                // Kinds were settled before: by the first look at these files,
                // or by the model's schema, which no --kind can change.
                let x = as_number(cell, *kind, largest, name, missing).map_err(|error| {
                    let text = shown(cell);
                    match number(&text) {
                        Some(x) if x.abs() <= largest => error.with_hint(format!(
                            "the model knows this column as counts, 0, 1, 2, …; fit it again \
                             with {}, or pass {} to treat the cell as missing",
                            kind_option(name, Kind::Real.name()),
                            missing.with(&text)
                        )),
                        _ => error,
                    }
                })?;
                seen.append(x.is_some());
                reals.push(x.unwrap_or(0.0) / *unit);
                Ok(())
            }),
            Rule::Weight => located.batch.visit(column, rows, missing, |_, cell| {
                let hint = "a weight says how often a row counts: 0, 1, 2.5, …";
                match as_number(cell, Kind::Real, TOO_LARGE, name, missing) {
                    Ok(Some(x)) if x >= 0.0 => {
                        reals.push(x);
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
                .map_err(|error| error.at_column(&*name).with_hint(hint))
            }),
            Rule::Text(Some(encoder)) if encoder.analyzer.options().unit == Unit::Pairs => {
                let start = rows.start;
                Texts::of(located, Some(column), rows, missing).and_then(|texts| {
                    let all: Vec<Option<&str>> = texts.iter().collect();
                    let weigh = |text: &Option<&str>| encoder.weigh(text.unwrap_or_default());
                    let weighed: Vec<_> = all.par_iter().map(weigh).collect();
                    for (row, (text, own)) in all.iter().zip(weighed).enumerate() {
                        let line = located.batch.line(start + row);
                        let own = own.map_err(|error| error.at_line(line))?;
                        terms.push(&own.codes, &own.weights);
                        seen.append(text.is_some());
                        *strangers += own.unknown;
                    }
                    Ok(())
                })
            }
            Rule::Text(encoder) => Texts::of(located, Some(column), rows, missing).map(|texts| {
                let all: Vec<&str> = texts.iter().map(Option::unwrap_or_default).collect();
                let documents = encoder.as_ref().map(|own| own.encode(&all));
                let mut counts = Vec::new();
                for (row, text) in texts.iter().enumerate() {
                    let own = documents.as_ref().map(|documents| documents.row(row));
                    let (codes, own) = own.unwrap_or_default();
                    counts.clear();
                    counts.extend(own.iter().map(|count| f64::from(*count)));
                    terms.push(codes, &counts);
                    seen.append(text.is_some());
                }
                let unknown = documents.iter().flat_map(|own| own.unknown());
                *strangers += unknown.map(|count| u64::from(*count)).sum::<u64>();
            }),
            Rule::Level(lookup) | Rule::Known(lookup, ..) => {
                located.visit(column, rows, missing, |row, cell| {
                    let mut code = lookup.code(cell);
                    if code.is_none() && cell != Cell::Missing {
                        *strangers += 1;
                        first_stranger.get_or_insert_with(|| (shown(cell), located.place(row)));
                        code = next;
                    }
                    seen.append(code.is_some());
                    codes.push(code.unwrap_or(0));
                    Ok(())
                })
            }
        };
        read.map_err(|error| error.at_column(&*name))
    }

    /// Hands out the rows appended so far.
    pub fn take(&mut self) -> Column {
        let nulls = self.seen.finish().filter(|nulls| nulls.null_count() > 0);
        match self.rule {
            Rule::Level(_) | Rule::Known(..) => Column::Code {
                values: take_all(&mut self.codes).into(),
                nulls,
            },
            Rule::Text(_) => Column::Text {
                values: self.terms.finish(),
                nulls,
            },
            _ => Column::Real {
                values: take_all(&mut self.reals).into(),
                nulls,
            },
        }
    }

    /// Hands out the weights appended so far.
    pub fn take_weights(&mut self) -> Vec<f64> {
        take_all(&mut self.reals)
    }

    /// What is to be said about levels and terms the schema does not have.
    pub fn note(&self) -> Option<String> {
        if let (Rule::Text(_), 1..) = (&self.rule, self.strangers) {
            return Some(format!(
                "column {}: {} {} not in the vocabulary; {} left out",
                self.name,
                self.strangers,
                if self.strangers == 1 {
                    "word is"
                } else {
                    "words are"
                },
                if self.strangers == 1 {
                    "it is"
                } else {
                    "they are"
                },
            ));
        }
        let (level, place) = self.first_stranger.as_ref()?;
        let then = match self.rule {
            Rule::Known(.., unseen) => unseen.consequence(),
            _ => UnseenCategory::Missing.consequence(),
        };
        let (cells, hold, levels) = if self.strangers == 1 {
            ("cell", "holds", "a category")
        } else {
            ("cells", "hold", "categories")
        };
        Some(format!(
            "column {}: {} {cells} {hold} {levels} not seen in the fit \
             (first: \"{level}\", {place}); {then}",
            self.name, self.strangers
        ))
    }
}

/// The texts of a run of cells, side by side.
pub(crate) struct Texts {
    text: String,
    ends: Vec<usize>,
    seen: Vec<bool>,
}

impl Texts {
    /// The cells of a column that may be missing altogether. A text may be any word:
    /// only those that the user has named stand for a missing value.
    pub fn of(
        located: &Located<'_>,
        column: Option<usize>,
        rows: Range<usize>,
        missing: &Missing,
    ) -> Result<Texts> {
        let none = Missing::new(&[]);
        let missing = if missing.are_usual() { &none } else { missing };
        let mut texts = Texts {
            text: String::new(),
            ends: Vec::with_capacity(rows.len()),
            seen: Vec::with_capacity(rows.len()),
        };
        let mut take = |cell: Cell<'_>| {
            match cell {
                Cell::Missing => {}
                Cell::Text(text) => texts.text.push_str(text),
                other => texts.text.push_str(&shown(other)),
            }
            texts.ends.push(texts.text.len());
            texts.seen.push(cell != Cell::Missing);
        };
        match column {
            Some(column) => located.visit(column, rows, missing, |_, cell| {
                take(cell);
                Ok(())
            })?,
            None => rows.for_each(|_| take(Cell::Missing)),
        }
        Ok(texts)
    }

    /// Each text, `None` for a missing value.
    pub fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let texts = starts.zip(&self.ends).zip(&self.seen);
        texts.map(|((start, end), seen)| seen.then(|| &self.text[*start..*end]))
    }
}

/// The cells, exactly as much memory as they need, and room for as many again.
fn take_all<T>(cells: &mut Vec<T>) -> Vec<T> {
    let capacity = cells.len();
    let mut taken = std::mem::replace(cells, Vec::with_capacity(capacity));
    taken.shrink_to_fit();
    taken
}
