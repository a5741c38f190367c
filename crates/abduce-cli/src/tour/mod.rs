//! The worked examples, one file per group. To add a group, add its file, its `mod` line and its
//! entry in `GROUPS`.

mod drug_trial;
mod faithful;
mod hypotheses;
mod missing_cells;
mod mixtures;
mod penguins;
mod play_tennis;

use crate::render::text_table::readable;
use abduce::data::{Chunk, Column, Opened, ReadOptions, Schema, Table};
use abduce::{Error, Result};

/// A group of examples.
pub struct Group {
    pub name: &'static str,
    pub run: fn() -> Result<Vec<Line>>,
}

/// The groups, in the order in which they are run.
pub const GROUPS: &[Group] = &[
    drug_trial::GROUP,
    play_tennis::GROUP,
    mixtures::GROUP,
    missing_cells::GROUP,
    faithful::GROUP,
    penguins::GROUP,
    hypotheses::GROUP,
];

/// One example: the expected result, the obtained result, and whether they agree.
pub struct Line {
    pub name: String,
    pub expected: String,
    pub obtained: String,
    pub ok: bool,
}

impl Line {
    fn new(name: &str, expected: String, obtained: String, ok: bool) -> Line {
        Line {
            name: name.into(),
            expected,
            obtained,
            ok,
        }
    }

    /// A number that agrees with the expected one to this many decimals.
    fn number(name: &str, expected: f64, obtained: f64, decimals: usize) -> Line {
        let show = |x: f64| format!("{x:.decimals$}");
        let (expected, obtained) = (show(expected), show(obtained));
        let ok = expected == obtained;
        Line::new(name, expected, obtained, ok)
    }

    /// A number within a tolerance of the expected one.
    fn close_to(name: &str, expected: f64, tolerance: f64, obtained: f64) -> Line {
        Line::new(
            name,
            format!("{expected} ± {tolerance}"),
            format!("{obtained:.6}"),
            (obtained - expected).abs() <= tolerance,
        )
    }

    /// A number that is not below a limit.
    fn at_least(name: &str, least: f64, obtained: f64, decimals: usize) -> Line {
        Line::new(
            name,
            format!("≥ {least}"),
            format!("{obtained:.decimals$}"),
            obtained >= least,
        )
    }

    /// A number below a limit.
    fn below(name: &str, limit: f64, obtained: f64) -> Line {
        Line::new(
            name,
            format!("< {}", readable(limit)),
            readable(obtained),
            obtained < limit,
        )
    }

    /// A count that equals the expected one.
    fn count(name: &str, expected: u64, obtained: u64) -> Line {
        Line::new(
            name,
            expected.to_string(),
            obtained.to_string(),
            expected == obtained,
        )
    }
}

/// Opens a table that is compiled into the program.
fn open(text: &str, options: &ReadOptions) -> Result<Opened> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("table.csv");
    std::fs::write(&path, text)?;
    abduce::data::open(&[path.display().to_string()], options)
}

/// The table in memory; an error if it is streamed.
fn table(opened: &Opened) -> Result<&Table> {
    let too_large = || Error::data("the table does not fit into memory");
    opened.source.table().ok_or_else(too_large)
}

/// One row with the given categories; the other cells are missing.
fn row_of_levels(schema: &Schema, levels: &[(&str, &str)]) -> Result<Chunk> {
    let mut codes = vec![None; schema.fields.len()];
    for (column, level) in levels {
        let position = schema.position(column)?;
        codes[position] = schema.fields[position].code(level);
    }
    let columns = codes.into_iter().map(|code| Column::from_codes([code]));
    Ok(Chunk::new(1, columns.collect(), None))
}
