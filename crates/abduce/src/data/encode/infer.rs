//! A summary of a column from one pass over its cells, in memory that does not grow with the
//! rows. `settle.rs` infers the kind from it.

use crate::data::encode::levels::{Levels, Lookup};
use crate::data::encode::{Place, as_number, shown};
use crate::data::missing::Missing;
use crate::data::options::{KindOverride, kind_option};
use crate::data::read::{Cell, Key, Located, Numbers, TOO_LARGE, key, number};
use crate::data::table::schema::Kind;
use crate::{Error, Result};

/// Words with more levels than this are text.
const TEXT_LEVELS: usize = 10_000;

/// The most levels of a coded column, even if the kind was requested.
const MAX_LEVELS: usize = 1_000_000;

/// What is known about a column before its cells are read.
#[derive(Clone, Default)]
pub(crate) struct Wish {
    pub kind: Option<KindOverride>,
    pub target: bool,
    /// Whether the column has no name, so that it may hold row numbers.
    pub unnamed: bool,
    /// Whether very large numbers are rescaled to a unit instead of refused.
    pub units: bool,
    /// Whether text cells are categories even if they look like numbers.
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

/// The summary of one column.
pub(crate) struct Summary {
    pub(crate) name: String,
    pub(crate) wish: Wish,
    given: Option<Lookup>,
    pub(crate) cells: u64,
    /// The number of cells that are not missing values.
    pub(crate) present: u64,
    pub(crate) numbers: u64,
    /// Whether every number was whole.
    pub(crate) whole: bool,
    pub(crate) least: f64,
    /// The largest absolute value.
    pub(crate) largest: f64,
    pub(crate) sum: f64,
    pub(crate) squares: f64,
    pub(crate) zeros: u64,
    /// A more general kind, taken from columns with similar names.
    pub(crate) raised: Option<Kind>,
    pub(crate) levels: Levels,
    pub(crate) truths: u64,
    pub(crate) first_word: Option<(String, Place)>,
    pub(crate) first_large: Option<(String, Place)>,
    /// The number of cells with more than one word, and with more than three.
    pub(crate) phrases: u64,
    pub(crate) sentences: u64,
    /// Whether the numbers count up by 1 within each file.
    pub(crate) consecutive: bool,
    previous: Option<(usize, f64)>,
}

impl Summary {
    pub fn new(name: &str, wish: Wish) -> Summary {
        let limit = if wish.is_coded() {
            MAX_LEVELS
        } else {
            TEXT_LEVELS
        };
        let given = wish.kind.as_ref().filter(|asked| !asked.levels.is_empty());
        Summary {
            name: name.to_string(),
            given: given.map(|asked| Lookup::new(&asked.levels)),
            cells: 0,
            present: 0,
            numbers: 0,
            whole: true,
            least: f64::INFINITY,
            largest: 0.0,
            sum: 0.0,
            squares: 0.0,
            zeros: 0,
            raised: None,
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

    /// Whether the column is to be read as text.
    pub fn is_text(&self) -> bool {
        let asked = self.wish.kind.as_ref();
        asked.is_some_and(|asked| asked.kind == Kind::Text)
    }

    /// Whether the column's cells are worth parsing as numbers before they are added.
    pub fn parses_numbers(&self) -> bool {
        !self.is_text() && !self.wish.words
    }

    /// Adds the cells of the column in a batch, which is at this position in the table.
    pub fn observe(&mut self, located: &Located<'_>, at: usize, missing: &Missing) -> Result<()> {
        let rows = located.batch.rows();
        self.cells += rows as u64;
        let Some(column) = located.positions[at] else {
            return Ok(());
        };
        let numbers = located.numbers.get(at).and_then(Option::as_ref);
        if let Some(numbers) = numbers.filter(|numbers| self.can_add(numbers)) {
            self.add_numbers(&numbers.values);
            return Ok(());
        }
        let asked = self.wish.kind.as_ref().map(|asked| asked.kind);
        let asked = asked.filter(|kind| matches!(kind, Kind::Real | Kind::Count));
        let read = located.visit(column, 0..rows, missing, |row, cell| {
            if cell == Cell::Missing {
                return Ok(());
            }
            if let Some(kind) = asked {
                let largest = if self.wish.units && kind == Kind::Real {
                    f64::MAX
                } else {
                    TOO_LARGE
                };
                let read = as_number(cell, kind, largest, &self.name, missing);
                read.map_err(|error| self.or_levels(error, cell, missing))?;
            }
            if let Some(given) = &mut self.given
                && given.code(cell).is_none()
            {
                return Err(self.not_among_given(&shown(cell), missing));
            }
            self.present += 1;
            self.add(cell, row, located);
            Ok(())
        });
        read.map_err(|error| error.at_column(&self.name))
    }

    /// Whether these numbers can be added without a look at their cells.
    fn can_add(&self, numbers: &Numbers) -> bool {
        let asked = self.wish.kind.as_ref().map(|asked| asked.kind);
        let fits = |x: &f64| {
            let count = asked != Some(Kind::Count) || *x >= 0.0 && x.fract() == 0.0;
            x.is_nan() || x.abs() <= TOO_LARGE && count
        };
        let simple = self.given.is_none() && !self.consecutive && !self.wish.words;
        simple && numbers.plain && numbers.values.iter().all(fits)
    }

    /// Adds numbers that are plain and not too large; NaN for missing values.
    fn add_numbers(&mut self, values: &[f64]) {
        let present = || values.iter().filter(|x| !x.is_nan());
        let mut rest = present();
        while !self.levels.is_full()
            && let Some(x) = rest.next()
        {
            self.levels.add(Key::Number(x + 0.0));
        }
        let count = present().count() as u64;
        self.present += count;
        self.numbers += count;
        for x in values {
            // These ignore NaN.
            self.largest = self.largest.max(x.abs());
            self.least = self.least.min(*x);
        }
        for x in present() {
            if !self.whole {
                break;
            }
            self.whole = x.fract() == 0.0;
            self.sum += x;
            self.squares += x * x;
            self.zeros += u64::from(*x == 0.0);
        }
    }

    /// An error about a word in a column whose kind is to be numeric, with a hint at the
    /// option that reads words.
    fn or_levels(&self, error: Error, cell: Cell<'_>, missing: &Missing) -> Error {
        let word = shown(cell);
        if number(&word).is_some() || error.readable_as().is_some() {
            return error;
        }
        error.about_kind(Kind::Categorical.name()).with_hint(format!(
            "pass {} after the other kinds if the column holds levels, or {} if it means missing",
            kind_option(&self.name, Kind::Categorical.name()),
            missing.with(&word)
        ))
    }

    fn not_among_given(&self, level: &str, missing: &Missing) -> Error {
        let levels = self
            .wish
            .kind
            .as_ref()
            .map_or(&[][..], |asked| &asked.levels);
        Error::data(format!(
            "\"{level}\" is not one of the levels {}",
            levels.join(", ")
        ))
        .at_column(&self.name)
        .about_kind(Kind::Categorical.name())
        .with_hint(format!(
            "pass {} to take all levels from the data, or {} if it means missing",
            kind_option(&self.name, Kind::Categorical.name()),
            missing.with(level)
        ))
    }

    #[inline]
    fn add(&mut self, cell: Cell<'_>, row: usize, located: &Located<'_>) {
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
                let words = text.split_whitespace().take(4).count();
                self.phrases += u64::from(words > 1);
                self.sentences += u64::from(words > 3);
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
            self.zeros += u64::from(x == 0.0);
        }
        if self.consecutive {
            self.consecutive = self
                .previous
                .is_none_or(|(file, before)| file != located.file || x == before + 1.0);
            self.previous = Some((located.file, x));
        }
    }
}
