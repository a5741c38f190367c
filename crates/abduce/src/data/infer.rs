//! What a column is, from all of its cells: one pass, in memory that does not
//! grow with the rows. Numbers are real, counts or 0/1; words are levels, or
//! text when they hardly repeat. The user's word on a column is law.

use super::encode::{Place, as_number, shown, too_large};
use super::levels::{Levels, Lookup};
use super::options::{KindOverride, Missing};
use super::read::{Cell, Key, Located, TOO_LARGE, key, number};
use super::schema::{Asked, Field, Kind};
use crate::{Error, Result};

/// Words with more levels than this are text.
const TEXT_LEVELS: usize = 10_000;

/// So are more than this many levels, when most cells have their own.
const FEW_LEVELS: usize = 50;

/// No coded column, even one asked for, has more levels than this.
const MOST_LEVELS: usize = 1_000_000;

/// The words for no and yes that make a column binary, in any case.
const NO_YES: [[&str; 2]; 4] = [["false", "true"], ["no", "yes"], ["n", "y"], ["f", "t"]];

/// Whether a level is one of the words for no.
pub(crate) fn is_no(level: &str) -> bool {
    NO_YES.iter().any(|[no, _]| level.eq_ignore_ascii_case(no))
}

/// What the user said about a column.
#[derive(Clone, Default)]
pub(crate) struct Wish {
    pub kind: Option<KindOverride>,
    pub target: bool,
    /// The column has no name of its own, so it may be a row number.
    pub unnamed: bool,
    /// Numbers beyond all bounds are read in a unit of their own instead of refused.
    pub units: bool,
    /// Text cells are names of categories, even those that look like numbers.
    pub words: bool,
}

impl Wish {
    fn is_coded(&self) -> bool {
        match &self.kind {
            Some(asked) => asked.kind.is_coded(),
            None => self.target,
        }
    }
}

/// What was seen of one column.
pub(crate) struct Summary {
    name: String,
    wish: Wish,
    given: Option<Lookup>,
    cells: u64,
    seen: u64,
    numbers: u64,
    /// Whether every number was whole.
    whole: bool,
    least: f64,
    /// The largest number, either way of 0.
    largest: f64,
    sum: f64,
    squares: f64,
    levels: Levels,
    truths: u64,
    first_word: Option<(String, Place)>,
    first_large: Option<(String, Place)>,
    /// How many cells have several words, and how many have many.
    phrases: u64,
    sentences: u64,
    /// Whether each number was its predecessor's successor, file by file.
    consecutive: bool,
    previous: Option<(usize, f64)>,
}

impl Summary {
    pub fn new(name: &str, wish: Wish) -> Summary {
        let limit = if wish.is_coded() {
            MOST_LEVELS
        } else {
            TEXT_LEVELS
        };
        let given = wish.kind.as_ref().filter(|asked| !asked.levels.is_empty());
        Summary {
            name: name.to_string(),
            given: given.map(|asked| Lookup::new(&asked.levels)),
            cells: 0,
            seen: 0,
            numbers: 0,
            whole: true,
            least: f64::INFINITY,
            largest: 0.0,
            sum: 0.0,
            squares: 0.0,
            levels: Levels::new(limit),
            truths: 0,
            first_word: None,
            first_large: None,
            phrases: 0,
            sentences: 0,
            consecutive: wish.unnamed,
            previous: None,
            wish,
        }
    }

    /// Looks at all cells of the column in a batch.
    pub fn observe(
        &mut self,
        located: &Located<'_>,
        column: Option<usize>,
        missing: &Missing,
    ) -> Result<()> {
        let rows = located.batch.rows();
        self.cells += rows as u64;
        let Some(column) = column else {
            return Ok(());
        };
        let asked = self.wish.kind.as_ref().map(|asked| asked.kind);
        let asked = asked.filter(|kind| matches!(kind, Kind::Real | Kind::Count));
        let read = located.visit(column, 0..rows, missing, |row, cell| {
            if cell == Cell::Missing {
                return Ok(());
            }
            if let Some(kind) = asked {
                let largest = match self.wish.units && kind == Kind::Real {
                    true => f64::MAX,
                    false => TOO_LARGE,
                };
                as_number(cell, kind, largest, &self.name, missing)?;
            }
            if let Some(given) = &mut self.given
                && given.code(cell).is_none()
            {
                return Err(self.not_among_given(&shown(cell)));
            }
            self.seen += 1;
            self.look(cell, row, located);
            Ok(())
        });
        read.map_err(|error| error.at_column(&self.name))
    }

    fn not_among_given(&self, level: &str) -> Error {
        let levels = self
            .wish
            .kind
            .as_ref()
            .map_or(String::new(), |asked| asked.levels.join(", "));
        Error::data(format!("\"{level}\" is not one of the levels {levels}"))
            .at_column(&self.name)
            .about_kind()
            .with_hint("add it to the levels in --kind, or pass it in --missing")
    }

    #[inline]
    fn look(&mut self, cell: Cell<'_>, row: usize, located: &Located<'_>) {
        let Some(key) = key(cell) else {
            return;
        };
        let value = match (&key, cell) {
            (_, Cell::Text(_)) if self.wish.words => None,
            (Key::Number(x), _) => Some(*x),
            (Key::Word(_), Cell::Text(text)) => number(text),
            (Key::Word(_), Cell::Integer(x)) => Some(x as f64),
            (Key::Word(_), Cell::Number(x)) => Some(x),
            (Key::Word(_), _) => None,
        };
        self.truths += u64::from(matches!(cell, Cell::Bool(_)));
        if !self.levels.is_full() {
            self.levels.add(key);
        }
        let Some(x) = value else {
            if let Cell::Text(text) = cell {
                let gaps = text.split_whitespace().take(4).count();
                self.phrases += u64::from(gaps > 1);
                self.sentences += u64::from(gaps > 3);
            }
            self.first_word
                .get_or_insert_with(|| (shown(cell), located.place(row)));
            return;
        };
        self.numbers += 1;
        if x.abs() > TOO_LARGE {
            self.whole = false;
            if !(self.wish.units && x.is_finite()) {
                self.first_large
                    .get_or_insert_with(|| (shown(cell), located.place(row)));
                return;
            }
        }
        self.largest = self.largest.max(x.abs());
        self.least = self.least.min(x);
        if self.whole {
            self.whole = x.fract() == 0.0;
            self.sum += x;
            self.squares += x * x;
        }
        if self.consecutive {
            self.consecutive = self
                .previous
                .is_none_or(|(file, before)| file != located.file || x == before + 1.0);
            self.previous = Some((located.file, x));
        }
    }

    /// The column of the schema, or `None` when it is left out, and what is to
    /// be said about it.
    pub fn finish(
        self,
        missing: &Missing,
        text: bool,
        notes: &mut Vec<String>,
    ) -> Result<Option<Field>> {
        let name = &self.name;
        if let Some(asked) = &self.wish.kind {
            let levels = match asked.kind {
                Kind::Real | Kind::Count => {
                    let field = Field::new(name, asked.kind).asked(Asked::Kind);
                    return Ok(Some(self.in_unit(field, notes)));
                }
                Kind::Text if text => return Ok(Some(Field::new(name, Kind::Text))),
                Kind::Text => {
                    notes.push(format!(
                        "column {name} is text, which this does not use; it is left out"
                    ));
                    return Ok(None);
                }
                _ if !asked.levels.is_empty() => asked.levels.clone(),
                Kind::Binary => self.two_levels()?,
                _ => self.sorted_levels()?,
            };
            let said = match asked.levels.is_empty() {
                true => Asked::Kind,
                false => Asked::Levels,
            };
            return Ok(Some(
                Field::with_levels(name, asked.kind, levels).asked(said),
            ));
        }
        if self.wish.target {
            let levels = self.sorted_levels()?;
            if levels.is_empty() {
                notes.push(format!("no cell of the target {name} is filled"));
            } else if let [only] = levels.as_slice() {
                notes.push(format!("the target {name} has one level only, {only}"));
            } else if 10 * levels.len() as u64 >= 9 * self.seen
                || levels.len() > FEW_LEVELS && 2 * levels.len() as u64 > self.seen
            {
                notes.push(format!(
                    "the target {name} has {} levels in {} rows: hardly any label repeats",
                    levels.len(),
                    self.seen
                ));
            }
            return Ok(Some(Field::with_levels(name, Kind::Categorical, levels)));
        }
        if self.seen == 0 {
            notes.push(format!("no cell of column {name} is filled"));
            return Ok(Some(Field::new(name, Kind::Real)));
        }
        let all_numbers = self.numbers == self.seen;
        if self.consecutive && self.whole && all_numbers && self.seen == self.cells {
            notes.push(format!(
                "{name} has no name and numbers the rows; it is left out"
            ));
            return Ok(None);
        }
        if all_numbers {
            let field = self.numeric()?;
            return Ok(Some(self.in_unit(field, notes)));
        }
        if self.numbers > self.seen - self.numbers
            && let Some((word, place)) = &self.first_word
        {
            let others = self.seen - self.numbers;
            notes.push(format!(
                "column {name} holds {} numbers and {others} other {} (first: \"{word}\", {place}); \
                 pass {} if it means missing",
                self.numbers,
                if others == 1 { "cell" } else { "cells" },
                missing.with(word)
            ));
        }
        self.decimal_comma(notes);
        let distinct = self.levels.count();
        let rare = distinct > FEW_LEVELS && 2 * distinct as u64 > self.seen;
        // A few sentences that hardly repeat are text too.
        let sentences = 2 * self.sentences > self.seen && 2 * distinct as u64 > self.seen;
        if text && sentences {
            return Ok(Some(Field::new(name, Kind::Text)));
        }
        if self.levels.is_full() || rare {
            // A name or an identifier is one word, and tells rows apart at most.
            if text && 2 * self.phrases > self.seen {
                return Ok(Some(Field::new(name, Kind::Text)));
            }
            let many = if self.levels.is_full() {
                "more than "
            } else {
                ""
            };
            notes.push(format!(
                "column {name} has {many}{distinct} different cells in {} rows; it is left out, \
                 unless --kind \"{name}=categorical\"{} asks for it",
                self.seen,
                if text {
                    format!(" or \"{name}=text\"")
                } else {
                    String::new()
                }
            ));
            return Ok(None);
        }
        let levels = self.sorted_levels()?;
        if self.truths == self.seen {
            let levels = ["false", "true"];
            return Ok(Some(Field::with_levels(name, Kind::Binary, levels)));
        }
        Ok(Some(match no_then_yes(&levels) {
            Some(levels) => Field::with_levels(name, Kind::Binary, levels),
            None => Field::with_levels(name, Kind::Categorical, levels),
        }))
    }

    fn decimal_comma(&self, notes: &mut Vec<String>) {
        if let Some((word, place)) = &self.first_word
            && word.contains(',')
            && number(&word.replacen(',', ".", 1)).is_some()
        {
            notes.push(format!(
                "column {}: \"{word}\" ({place}) looks like a number with a comma; numbers are \
                 written with a point",
                self.name
            ));
        }
    }

    /// The column in the unit that its numbers ask for.
    fn in_unit(&self, field: Field, notes: &mut Vec<String>) -> Field {
        if !self.wish.units || field.kind != Kind::Real {
            return field;
        }
        let field = field.in_unit_of(self.largest);
        if field.unit != 1.0 {
            notes.push(format!(
                "column {} holds numbers as large as {:e}; what is said of it is in units of {:e}",
                self.name, self.largest, field.unit
            ));
        }
        field
    }

    fn numeric(&self) -> Result<Field> {
        if let Some((text, place)) = &self.first_large {
            let error = too_large(text, &self.name);
            return Err(error.at_file(&place.file).at_line(place.line));
        }
        if !self.whole {
            return Ok(Field::new(&self.name, Kind::Real));
        }
        let distinct = self.levels.count();
        if self.levels.are_zero_and_one() {
            let levels = ["0", "1"];
            return Ok(Field::with_levels(&self.name, Kind::Binary, levels));
        }
        let mean = self.sum / self.seen as f64;
        let variance = self.squares / self.seen as f64 - mean * mean;
        let counts = self.least == 0.0 && distinct >= 3 && variance <= 4.0 * mean;
        let kind = if counts { Kind::Count } else { Kind::Real };
        Ok(Field::new(&self.name, kind))
    }

    fn sorted_levels(&self) -> Result<Vec<String>> {
        if self.levels.is_full() {
            return Err(
                Error::data(format!("{} levels are too many", self.levels.count()))
                    .at_column(&self.name)
                    .about_kind()
                    .with_hint("leave the column out with --drop, or ask for another --kind"),
            );
        }
        Ok(self.levels.sorted())
    }

    fn two_levels(&self) -> Result<Vec<String>> {
        let levels = self.sorted_levels()?;
        if let Some(ordered) = no_then_yes(&levels) {
            return Ok(ordered);
        }
        match levels.as_slice() {
            [_, _] => return Ok(levels),
            [] => return Ok(["0", "1"].map(String::from).into()),
            [only] if only == "0" || only == "1" => return Ok(["0", "1"].map(String::from).into()),
            _ => {}
        }
        let mut some = levels[..levels.len().min(5)].join(", ");
        if levels.len() > 5 {
            some.push_str(", …");
        }
        Err(Error::data(format!(
            "a binary column has two levels, this one {}: {some}",
            levels.len()
        ))
        .at_column(&self.name)
        .about_kind()
        .with_hint("name both, as in --kind \"x=binary(no,yes)\", or ask for categorical"))
    }
}

/// The two levels with the one that denies first, if they are such a pair.
fn no_then_yes(levels: &[String]) -> Option<Vec<String>> {
    let [a, b] = levels else {
        return None;
    };
    NO_YES.iter().find_map(|[no, yes]| {
        let pair = |x: &str, y: &str| x.eq_ignore_ascii_case(no) && y.eq_ignore_ascii_case(yes);
        if pair(a, b) {
            Some(vec![a.clone(), b.clone()])
        } else if pair(b, a) {
            Some(vec![b.clone(), a.clone()])
        } else {
            None
        }
    })
}
