//! A mark for every row that a model has seen, so that it can tell a row which it
//! has not: 48 bits of a hash of its cells. Of 100,000 rows, one that was never
//! seen has the mark of another with probability 4e-10. Marks are sums over cells of
//! their column's name and their value, whatever codes levels and terms have.

use crate::data::{Chunk, Field, Schema, Source, Values, number, reduce};
use crate::kernel::hashing::mix;
use crate::text::Encoding;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Marks of more rows are not kept: they would outweigh the model.
const MOST_ROWS: u64 = 100_000;

const BITS: u32 = 48;
const DIGITS: usize = BITS as usize / 4;

/// A share of a weight that rounding leaves when all of it is gone.
const ROUNDING: f64 = 1e-9;

/// The marks of rows, with what each row weighs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Marks {
    /// In ascending order of mark and weight.
    each: Vec<Alike>,
}

/// Rows with the same mark and weight.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Alike {
    mark: u64,
    weight: f64,
    rows: u64,
}

/// Marks as they stand in a file: 12 hexadecimal digits each, and the weights and
/// the numbers of rows unless all are 1.
#[derive(Serialize, Deserialize)]
struct Written {
    marks: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    weights: Vec<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rows: Vec<u64>,
}

impl Marks {
    /// The marks of all rows that weigh anything; `None` if there are too many.
    pub(crate) fn of(source: &dyn Source) -> Result<Option<Marks>> {
        if source.rows() > MOST_ROWS {
            return Ok(None);
        }
        let marker = Marker::new(source.schema());
        let marks = reduce(
            source,
            |_, chunk| {
                let marks = marker.marks(chunk);
                let alike = |row: usize| Alike {
                    mark: marks[row],
                    weight: chunk.weights().map_or(1.0, |w| w[row]),
                    rows: 1,
                };
                Ok(chunk.weighing_rows().map(alike).collect::<Vec<_>>())
            },
            |all: &mut Vec<Alike>, more| all.extend(more),
        )?;
        let each = marks.unwrap_or_default();
        Ok(Some(Marks { each }.tidied()))
    }

    fn tidied(mut self) -> Marks {
        self.each.sort_unstable_by(|a, b| {
            let weights = a.weight.total_cmp(&b.weight);
            a.mark.cmp(&b.mark).then(weights)
        });
        self.each.dedup_by(|later, earlier| {
            let same = (later.mark, later.weight) == (earlier.mark, earlier.weight);
            if same {
                earlier.rows += later.rows;
            }
            same
        });
        self
    }

    /// Whether they are few enough to be kept.
    pub(crate) fn are_few(&self) -> bool {
        self.each.len() as u64 <= MOST_ROWS
    }

    /// Adds the marks of other rows.
    pub(crate) fn merge(&mut self, other: &Marks) {
        self.each.extend_from_slice(&other.each);
        *self = std::mem::take(self).tidied();
    }

    /// Takes the marks of rows out, and gives how many rows are gone: a row of
    /// which some weight is left is not.
    ///
    /// # Errors
    /// If one of the rows was not seen, or not so often.
    pub(crate) fn forget(&mut self, rows: &dyn Source) -> Result<u64> {
        let marker = Marker::new(rows.schema());
        let mut kept: BTreeMap<u64, Vec<Alike>> = BTreeMap::new();
        for alike in &self.each {
            kept.entry(alike.mark).or_default().push(*alike);
        }
        let mut before = 0;
        for chunk in rows.scan()? {
            let chunk = chunk?;
            let marks = marker.marks(&chunk);
            for row in chunk.weighing_rows() {
                let weight = chunk.weights().map_or(1.0, |w| w[row]);
                let taken = kept.get_mut(&marks[row]).map(|own| take(own, weight));
                let message = match taken {
                    Some(true) => continue,
                    Some(false) => "the model has not seen this row so often",
                    None => "the model has never seen this row",
                };
                return Err(Error::data(message)
                    .at_row(before + row as u64 + 1)
                    .with_hint("only rows that it was fitted on can be forgotten"));
            }
            before += chunk.rows() as u64;
        }
        let all = self.rows();
        let each = kept.into_values().flatten().filter(|own| own.rows > 0);
        let each = each.collect();
        *self = Marks { each }.tidied();
        Ok(all - self.rows())
    }

    fn rows(&self) -> u64 {
        self.each.iter().map(|own| own.rows).sum()
    }
}

/// Takes some weight out of rows that are the same: a row that weighs just so, or
/// else the heaviest; `false` if they weigh less together.
fn take(own: &mut Vec<Alike>, weight: f64) -> bool {
    let just = |own: &&mut Alike| {
        own.rows > 0 && (own.weight - weight).abs() <= ROUNDING * own.weight.max(weight)
    };
    if let Some(own) = own.iter_mut().find(just) {
        own.rows -= 1;
        return true;
    }
    let all: f64 = own.iter().map(|own| own.weight * own.rows as f64).sum();
    if all < weight * (1.0 - ROUNDING) {
        return false;
    }
    own.sort_unstable_by(|a, b| b.weight.total_cmp(&a.weight));
    let mut wanted = weight;
    let mut part = None;
    for own in own.iter_mut().filter(|own| own.rows > 0) {
        if wanted <= ROUNDING * weight {
            break;
        }
        let whole = (wanted / own.weight * (1.0 + ROUNDING)).floor();
        let whole = (whole as u64).min(own.rows);
        own.rows -= whole;
        wanted -= whole as f64 * own.weight;
        if own.rows > 0 && wanted > ROUNDING * own.weight {
            own.rows -= 1;
            part = Some(Alike {
                weight: own.weight - wanted,
                rows: 1,
                ..*own
            });
            wanted = 0.0;
        }
    }
    own.extend(part);
    true
}

/// Makes marks of rows.
struct Marker {
    columns: Vec<Column>,
}

/// What a column's numbers are mixed with, and what its codes become.
struct Column {
    name: u64,
    codes: Vec<u64>,
}

impl Marker {
    fn new(schema: &Schema) -> Marker {
        let column = |field: &Field| {
            let name = hash(&field.name);
            let codes = match field.text.as_deref().map(|text| &text.encoding) {
                Some(Encoding::Vocabulary(terms)) => {
                    terms.terms().map(|t| mix(name ^ hash(t))).collect()
                }
                // A level that is a number is that number.
                _ => field
                    .levels
                    .iter()
                    .map(|level| mix(name ^ number(level).map_or_else(|| hash(level), bits)))
                    .collect(),
            };
            Column { name, codes }
        };
        Marker {
            columns: schema.fields.iter().map(column).collect(),
        }
    }

    fn marks(&self, chunk: &Chunk) -> Vec<u64> {
        let mut sums = vec![0_u64; chunk.rows()];
        for (column, own) in self.columns.iter().zip(chunk.columns()) {
            let cells = own.cells(0, chunk.rows());
            let add = |sums: &mut [u64], of: &dyn Fn(usize) -> u64| {
                let rows = sums.iter_mut().enumerate();
                let seen = rows.filter(|(row, _)| cells.is_seen(*row));
                seen.for_each(|(row, sum)| *sum = sum.wrapping_add(of(row)));
            };
            match cells.values {
                // Most cells are such, and this becomes vector code.
                Values::Real(x) if cells.seen.is_none() => {
                    for (sum, x) in sums.iter_mut().zip(x) {
                        *sum = sum.wrapping_add(mix(column.name ^ bits(*x)));
                    }
                }
                Values::Real(x) => add(&mut sums, &|row| mix(column.name ^ bits(x[row]))),
                Values::Code(codes) => add(&mut sums, &|row| column.codes[codes[row] as usize]),
                Values::Text(documents) => add(&mut sums, &|row| {
                    let (codes, counts) = documents.row(row);
                    let terms = codes.iter().zip(counts);
                    let terms = terms.map(|(code, n)| {
                        let term = column.codes.get(*code as usize);
                        let term = term.copied().unwrap_or(u64::from(*code));
                        mix(term ^ bits(*n))
                    });
                    terms.fold(mix(column.name), u64::wrapping_add)
                }),
            }
        }
        sums.iter().map(|sum| mix(*sum) >> (64 - BITS)).collect()
    }
}

/// The bits of a number, the same for both zeros.
fn bits(x: f64) -> u64 {
    (x + 0.0).to_bits()
}

/// FNV-1a.
fn hash(text: &str) -> u64 {
    let step = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

impl From<Marks> for Written {
    fn from(marks: Marks) -> Written {
        let each = || marks.each.iter();
        let weighed = each().any(|own| own.weight != 1.0);
        let repeated = each().any(|own| own.rows != 1);
        Written {
            marks: each()
                .map(|own| format!("{:0DIGITS$x}", own.mark))
                .collect(),
            weights: each().filter(|_| weighed).map(|own| own.weight).collect(),
            rows: each().filter(|_| repeated).map(|own| own.rows).collect(),
        }
    }
}

impl TryFrom<Written> for Marks {
    type Error = Error;

    fn try_from(written: Written) -> Result<Marks> {
        let wrong = || Error::data("the marks of rows are damaged");
        let digits = written.marks.as_bytes();
        let marks = digits.chunks(DIGITS).map(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            u64::from_str_radix(digits, 16).ok()
        });
        let marks: Vec<u64> = marks.collect::<Option<_>>().ok_or_else(wrong)?;
        let weights = match written.weights.is_empty() {
            true => vec![1.0; marks.len()],
            false => written.weights,
        };
        let rows = match written.rows.is_empty() {
            true => vec![1; marks.len()],
            false => written.rows,
        };
        let each = marks.iter().zip(&weights).zip(&rows);
        let each = each.map(|((mark, weight), rows)| Alike {
            mark: *mark,
            weight: *weight,
            rows: *rows,
        });
        let each: Vec<Alike> = each.collect();
        let sorted = each.is_sorted_by(|a, b| (a.mark, a.weight) < (b.mark, b.weight));
        let lengths = weights.len() == marks.len() && rows.len() == marks.len();
        let weighed = weights.iter().all(|weight| *weight > 0.0);
        let counted = rows.iter().all(|rows| (1..=1 << 32).contains(rows));
        let sound = lengths && weighed && counted && sorted;
        if !digits.len().is_multiple_of(DIGITS) || !sound {
            return Err(wrong());
        }
        Ok(Marks { each })
    }
}
