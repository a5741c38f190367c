//! The levels of a column: collected in the first pass, looked up in the second. Numbers are
//! compared by value, words by spelling.

use crate::data::encode::truth::Spellings;
use crate::data::read::{Cell, Key, key, number, token};
use crate::data::table::schema::Field;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// Cells that are longer than this on average are documents, not levels.
const MEAN_BYTES: usize = 400;

/// The distinct cells of a column, unless they are too many.
pub(crate) struct Levels {
    limit: usize,
    full: bool,
    count: usize,
    /// The total length of all words.
    bytes: usize,
    /// A bit for each of the numbers 0..256, which most numeric levels are.
    small: [u64; 4],
    numbers: HashSet<u64, BuildHasherDefault<Mix>>,
    words: HashSet<String>,
}

impl Levels {
    pub fn new(limit: usize) -> Levels {
        Levels {
            limit,
            full: false,
            count: 0,
            bytes: 0,
            small: [0; 4],
            numbers: HashSet::default(),
            words: HashSet::new(),
        }
    }

    #[inline]
    pub fn add(&mut self, key: Key<'_>) {
        match key {
            Key::Number(x) if x.fract() == 0.0 && (0.0..256.0).contains(&x) => {
                let (word, bit) = (x as usize / 64, 1 << (x as usize % 64));
                self.count += usize::from(self.small[word] & bit == 0);
                self.small[word] |= bit;
                return;
            }
            Key::Number(x) => {
                if !self.numbers.insert(x.to_bits()) {
                    return;
                }
            }
            Key::Word(word) => {
                if self.words.contains(&*word) {
                    return;
                }
                self.bytes += word.len();
                self.words.insert(word.into_owned());
            }
        }
        self.count += 1;
        self.full = self.count > self.limit || self.bytes > MEAN_BYTES * self.limit;
        if self.full {
            self.numbers = HashSet::default();
            self.words = HashSet::new();
        }
    }

    /// Whether there were too many.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Whether they are exactly the numbers 0 and 1.
    pub fn are_zero_and_one(&self) -> bool {
        self.small == [0b11, 0, 0, 0] && self.count() == 2
    }

    /// The number of levels, or when they became too many.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The levels in the order of [`sort_levels`].
    pub fn sorted(&self) -> Vec<String> {
        let small = (0..256).filter(|x| self.small[x / 64] >> (x % 64) & 1 == 1);
        let mut levels: Vec<String> = small
            .map(|x| x.to_string())
            .chain(self.numbers.iter().map(|bits| token(f64::from_bits(*bits))))
            .chain(self.words.iter().cloned())
            .collect();
        sort_levels(&mut levels);
        levels
    }
}

/// Sorts levels as numbers if all of them are numbers, else by bytes.
pub(crate) fn sort_levels(levels: &mut [String]) {
    if levels.iter().all(|level| number(level).is_some()) {
        levels.sort_by(|a, b| {
            let (x, y) = (number(a).unwrap_or(0.0), number(b).unwrap_or(0.0));
            x.total_cmp(&y).then_with(|| a.cmp(b))
        });
    } else {
        levels.sort();
    }
}

/// Finds the codes of levels.
pub(crate) struct Lookup {
    numbers: HashMap<u64, u32, BuildHasherDefault<Mix>>,
    words: HashMap<String, u32>,
    last: (u64, u32),
    /// Other spellings of no and yes.
    spellings: Option<Spellings>,
}

impl Lookup {
    /// The levels of a field.
    pub fn of(field: &Field) -> Lookup {
        Lookup {
            spellings: field.spellings(),
            ..Lookup::new(&field.levels)
        }
    }

    pub fn new(levels: &[String]) -> Lookup {
        let mut lookup = Lookup {
            numbers: HashMap::default(),
            words: HashMap::new(),
            last: (f64::NAN.to_bits(), 0),
            spellings: Spellings::of_pair(levels),
        };
        for (level, code) in levels.iter().zip(0..) {
            match key(Cell::Text(level)) {
                Some(Key::Number(x)) => {
                    lookup.numbers.entry(x.to_bits()).or_insert(code);
                }
                _ => {
                    lookup.words.entry(level.clone()).or_insert(code);
                }
            }
        }
        lookup
    }

    /// The code of a cell; `None` for a missing value and for an unknown level.
    #[inline]
    pub fn code(&mut self, cell: Cell<'_>) -> Option<u32> {
        match key(cell)? {
            Key::Number(x) => {
                let bits = x.to_bits();
                if self.last.0 != bits {
                    let code = self.numbers.get(&bits).copied();
                    self.last = (bits, code.or_else(|| self.spelled_otherwise(&token(x)))?);
                }
                Some(self.last.1)
            }
            Key::Word(word) => {
                (self.words.get(&*word).copied()).or_else(|| self.spelled_otherwise(&word))
            }
        }
    }

    /// The code of another spelling of no or yes.
    fn spelled_otherwise(&self, word: &str) -> Option<u32> {
        let place = self.spellings.as_ref()?.place(word)?;
        u32::try_from(place).ok()
    }
}

/// Hashes the bits of a number, whose low half is often all zeros.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }
    fn write_u64(&mut self, bits: u64) {
        let mixed = (self.0 ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::encode::truth::truth;
    use crate::data::table::schema::{Kind, SetByUser};

    fn of(cells: &[&str], limit: usize) -> Levels {
        let mut levels = Levels::new(limit);
        for cell in cells {
            if let Some(key) = key(Cell::Text(cell)) {
                levels.add(key);
            }
        }
        levels
    }

    #[test]
    fn levels_are_sorted_as_numbers_only_when_all_are_numbers() {
        let levels = of(&["10", "9", "1.0", "1", "-3", "1e3", "0.5"], 100);
        assert_eq!(levels.sorted(), ["-3", "0.5", "1", "9", "10", "1000"]);
        assert_eq!(levels.count(), 6);
        assert_eq!(of(&["10", "9", "x"], 100).sorted(), ["10", "9", "x"]);
        assert!(of(&["0", "1.0", "0"], 100).are_zero_and_one());
        assert!(!of(&["0", "1", "01"], 100).are_zero_and_one());
    }

    #[test]
    fn too_many_or_too_long_levels_are_forgotten() {
        assert!(!of(&["a", "b", "a"], 2).is_full());
        let full = of(&["a", "b", "c"], 2);
        assert!(full.is_full() && full.words.is_empty());
        assert!(of(&[&"long ".repeat(200)], 2).is_full());
    }

    #[test]
    fn other_spellings_of_no_and_yes_are_the_same_level() {
        for levels in [
            ["False", "True"],
            ["0", "1"],
            ["no", "yes"],
            ["1", "0"],
            ["true", "FALSE"],
        ] {
            let levels = levels.map(String::from);
            let mut lookup = Lookup::new(&levels);
            let yes = levels.iter().position(|level| truth(level) == Some(true));
            let yes = yes.map(|code| code as u32);
            for spelling in ["TRUE", "true", "1", "1.0", "Yes"] {
                assert_eq!(
                    lookup.code(Cell::Text(spelling)),
                    yes,
                    "{levels:?} {spelling}"
                );
            }
            assert_eq!(lookup.code(Cell::Bool(true)), yes);
            assert_ne!(lookup.code(Cell::Bool(false)), yes);
            assert_eq!(lookup.code(Cell::Text("maybe")), None);
        }
        let more = Field::with_levels("b", Kind::Categorical, ["false", "maybe", "true"]);
        assert_eq!(Lookup::of(&more).code(Cell::Text("TRUE")), Some(2));
        assert_eq!(Lookup::of(&more).code(Cell::Text("0")), Some(0));
        let asked = more.set_by_user(SetByUser::Kind);
        assert_eq!(Lookup::of(&asked).code(Cell::Text("TRUE")), None);
    }

    #[test]
    fn every_level_has_its_code_and_other_cells_have_none() {
        let levels = ["1", "2.5", "007", "x", "9007199254740993"].map(String::from);
        let mut lookup = Lookup::new(&levels);
        for (level, code) in levels.iter().zip(0..) {
            assert_eq!(lookup.code(Cell::Text(level)), Some(code));
        }
        assert_eq!(lookup.code(Cell::Text("1.0")), Some(0));
        assert_eq!(lookup.code(Cell::Integer(1)), Some(0));
        assert_eq!(lookup.code(Cell::Text("7")), None);
        assert_eq!(lookup.code(Cell::Text("X")), None);
        assert_eq!(lookup.code(Cell::Missing), None);
    }
}
