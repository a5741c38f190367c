//! Marks are 48-bit hashes of the rows to which a model was fitted, by which it recognizes rows
//! that were not fitted. With 100,000 marks, a row that was not fitted has a known mark with
//! probability 4e-10. A mark is a sum over the cells of a hash of the column's name and the value,
//! so that it does not depend on the codes of levels and terms.

use crate::data::{Chunk, Field, Schema, Source, Values, number, reduce};
use crate::kernel::hashing::mix;
use crate::text::Encoding;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The maximum number of rows with marks; more would be larger than the model.
const MAX_ROWS: u64 = 100_000;

const BITS: u32 = 48;
const DIGITS: usize = BITS as usize / 4;

/// The relative rounding error of a difference of weights.
const ROUNDING: f64 = 1e-9;

/// The marks and weights of rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Serialized", into = "Serialized")]
pub struct Marks {
    /// In ascending order of mark and weight.
    groups: Vec<Group>,
}

/// Rows with the same mark and weight.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Group {
    mark: u64,
    weight: f64,
    rows: u64,
}

/// The form of marks in a model file: 12 hexadecimal digits each. Weights and numbers of rows
/// are left out if all are 1.
#[derive(Serialize, Deserialize)]
struct Serialized {
    marks: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    weights: Vec<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rows: Vec<u64>,
}

impl Marks {
    /// The marks of all rows with positive weight; `None` if there are too many.
    pub(crate) fn of(source: &dyn Source) -> Result<Option<Marks>> {
        if source.rows() > MAX_ROWS {
            return Ok(None);
        }
        let marker = Marker::new(source.schema());
        let marks = reduce(
            source,
            |_, chunk| {
                let marks = marker.marks(chunk);
                let group = |row: usize| Group {
                    mark: marks[row],
                    weight: chunk.weights().map_or(1.0, |w| w[row]),
                    rows: 1,
                };
                Ok(chunk.rows_with_weight().map(group).collect::<Vec<_>>())
            },
            |all: &mut Vec<Group>, more| all.extend(more),
        )?;
        let groups = marks.unwrap_or_default();
        Ok(Some(Marks { groups }.sorted()))
    }

    /// Sorts the groups, and merges those with the same mark and weight.
    fn sorted(mut self) -> Marks {
        self.groups.sort_unstable_by(|a, b| {
            let weights = a.weight.total_cmp(&b.weight);
            a.mark.cmp(&b.mark).then(weights)
        });
        self.groups.dedup_by(|later, earlier| {
            let same = (later.mark, later.weight) == (earlier.mark, earlier.weight);
            if same {
                earlier.rows += later.rows;
            }
            same
        });
        self
    }

    /// Whether there are few enough marks to keep.
    pub(crate) fn is_small_enough(&self) -> bool {
        self.groups.len() as u64 <= MAX_ROWS
    }

    /// Adds the marks of other rows.
    pub(crate) fn merge(&mut self, other: &Marks) {
        self.groups.extend_from_slice(&other.groups);
        *self = std::mem::take(self).sorted();
    }

    /// Removes the marks of rows, and returns the number of rows removed entirely, not counting
    /// those of which some weight is left.
    ///
    /// # Errors
    /// If one of the rows was not fitted, or with a smaller weight.
    pub(crate) fn forget(&mut self, rows: &dyn Source) -> Result<u64> {
        let marker = Marker::new(rows.schema());
        let mut kept: BTreeMap<u64, Vec<Group>> = BTreeMap::new();
        for group in &self.groups {
            kept.entry(group.mark).or_default().push(*group);
        }
        let mut before = 0;
        for chunk in rows.scan()? {
            let chunk = chunk?;
            let marks = marker.marks(&chunk);
            for row in chunk.rows_with_weight() {
                let weight = chunk.weights().map_or(1.0, |w| w[row]);
                let taken = kept.get_mut(&marks[row]).map(|groups| take(groups, weight));
                let message = match taken {
                    Some(true) => continue,
                    Some(false) => "the model was fitted to this row fewer times",
                    None => "the model was not fitted to this row",
                };
                return Err(Error::data(message)
                    .at_row(before + row as u64 + 1)
                    .with_hint("only rows that the model was fitted to can be forgotten"));
            }
            before += chunk.rows() as u64;
        }
        let all = self.rows();
        let groups = kept.into_values().flatten();
        let groups = groups.filter(|group| group.rows > 0).collect();
        *self = Marks { groups }.sorted();
        Ok(all - self.rows())
    }

    fn rows(&self) -> u64 {
        self.groups.iter().map(|group| group.rows).sum()
    }
}

/// Removes a weight from rows with the same mark: a row of exactly this weight or, without one,
/// the heaviest rows. Returns `false` if their total weight is smaller.
fn take(groups: &mut Vec<Group>, weight: f64) -> bool {
    let has_weight = |group: &&mut Group| {
        let larger = group.weight.max(weight);
        group.rows > 0 && (group.weight - weight).abs() <= ROUNDING * larger
    };
    if let Some(group) = groups.iter_mut().find(has_weight) {
        group.rows -= 1;
        return true;
    }
    let weights = groups.iter().map(|group| group.weight * group.rows as f64);
    if weights.sum::<f64>() < weight * (1.0 - ROUNDING) {
        return false;
    }
    groups.sort_unstable_by(|a, b| b.weight.total_cmp(&a.weight));
    let mut remaining = weight;
    let mut lighter = None;
    for group in groups.iter_mut().filter(|group| group.rows > 0) {
        if remaining <= ROUNDING * weight {
            break;
        }
        let whole = (remaining / group.weight * (1.0 + ROUNDING)).floor();
        let whole = (whole as u64).min(group.rows);
        group.rows -= whole;
        remaining -= whole as f64 * group.weight;
        if group.rows > 0 && remaining > ROUNDING * group.weight {
            group.rows -= 1;
            lighter = Some(Group {
                weight: group.weight - remaining,
                rows: 1,
                ..*group
            });
            remaining = 0.0;
        }
    }
    groups.extend(lighter);
    true
}

/// Computes the marks of rows.
struct Marker {
    columns: Vec<Column>,
}

/// The hash of a column's name, which is mixed with its numbers, and those of its levels.
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
                // A numeric level has the hash of the number.
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
        for (column, data) in self.columns.iter().zip(chunk.columns()) {
            let cells = data.cells(0, chunk.rows());
            let add = |sums: &mut [u64], of: &dyn Fn(usize) -> u64| {
                let rows = sums.iter_mut().enumerate();
                let seen = rows.filter(|(row, _)| cells.is_seen(*row));
                seen.for_each(|(row, sum)| *sum = sum.wrapping_add(of(row)));
            };
            match cells.values {
                // The common case, which the compiler vectorizes.
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

impl From<Marks> for Serialized {
    fn from(marks: Marks) -> Serialized {
        let groups = || marks.groups.iter();
        let weighted = groups().any(|group| group.weight != 1.0);
        let repeated = groups().any(|group| group.rows != 1);
        Serialized {
            marks: groups()
                .map(|group| format!("{:0DIGITS$x}", group.mark))
                .collect(),
            weights: groups()
                .filter(|_| weighted)
                .map(|group| group.weight)
                .collect(),
            rows: groups()
                .filter(|_| repeated)
                .map(|group| group.rows)
                .collect(),
        }
    }
}

impl TryFrom<Serialized> for Marks {
    type Error = Error;

    fn try_from(serialized: Serialized) -> Result<Marks> {
        let damaged = || Error::data("the marks of rows are damaged");
        let digits = serialized.marks.as_bytes();
        let marks = digits.chunks(DIGITS).map(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            u64::from_str_radix(digits, 16).ok()
        });
        let marks: Vec<u64> = marks.collect::<Option<_>>().ok_or_else(damaged)?;
        let weights = if serialized.weights.is_empty() {
            vec![1.0; marks.len()]
        } else {
            serialized.weights
        };
        let rows = if serialized.rows.is_empty() {
            vec![1; marks.len()]
        } else {
            serialized.rows
        };
        let groups = marks.iter().zip(&weights).zip(&rows);
        let groups = groups.map(|((mark, weight), rows)| Group {
            mark: *mark,
            weight: *weight,
            rows: *rows,
        });
        let groups: Vec<Group> = groups.collect();
        let sorted = groups.is_sorted_by(|a, b| (a.mark, a.weight) < (b.mark, b.weight));
        let lengths = weights.len() == marks.len() && rows.len() == marks.len();
        let valid_weights = weights.iter().all(|weight| *weight > 0.0);
        let valid_rows = rows.iter().all(|rows| (1..=1 << 32).contains(rows));
        let valid = lengths && valid_weights && valid_rows && sorted;
        if !digits.len().is_multiple_of(DIGITS) || !valid {
            return Err(damaged());
        }
        Ok(Marks { groups })
    }
}
