//! Words for no and yes: `TRUE`, `true` and `1` are the same level of a binary column, within
//! one table and between a model and a new table.

use crate::data::encode::levels::sort_levels;
use crate::data::read::number;

/// The pairs of words for no and yes that make a column binary, in any case.
const NO_YES: [[&str; 2]; 4] = [["false", "true"], ["no", "yes"], ["n", "y"], ["f", "t"]];

/// The number of pairs, from the first, that may be mixed with 0 and 1 in a column.
const ALSO_DIGITS: usize = 2;

/// Whether a level is one of the words for no.
pub(crate) fn is_no(level: &str) -> bool {
    NO_YES.iter().any(|[no, _]| level.eq_ignore_ascii_case(no))
}

/// The number of pairs, from the first, that mean no and yes beside other levels; single
/// letters may mean anything there.
const LONG: usize = 2;

/// Maps all spellings of no and yes to the levels of a column.
pub(crate) struct Spellings {
    /// Pairs of words, any of them if `None`, and the positions of the levels that they mean.
    pairs: Vec<(Option<&'static [&'static str; 2]>, [usize; 2])>,
    /// Whether 0 and 1 are spellings too.
    digits: bool,
}

impl Spellings {
    /// The spellings of two levels that mean no and yes.
    pub fn of_pair(levels: &[String]) -> Option<Spellings> {
        are_truths(levels).then(|| Spellings {
            pairs: vec![match truth(&levels[0]) {
                Some(true) => (None, [1, 0]),
                _ => (None, [0, 1]),
            }],
            digits: true,
        })
    }

    /// The spellings of each pair whose words are both among the levels. 0 and 1 are spellings too
    /// if there is one such pair and no level is a number.
    pub fn among(levels: &[String]) -> Option<Spellings> {
        let only = |word: &str| {
            let mut places = (0..levels.len()).filter(|i| levels[*i].eq_ignore_ascii_case(word));
            let place = places.next()?;
            places.next().is_none().then_some(place)
        };
        let pairs = NO_YES[..LONG].iter();
        let pairs = pairs.filter_map(|pair| Some((Some(pair), [only(pair[0])?, only(pair[1])?])));
        let pairs: Vec<_> = pairs.collect();
        let digits = pairs.len() == 1 && levels.iter().all(|level| number(level).is_none());
        (!pairs.is_empty()).then_some(Spellings { pairs, digits })
    }

    /// The position of the level that a spelling means.
    pub fn place(&self, level: &str) -> Option<usize> {
        let digit = matches!(level, "0" | "1");
        self.pairs.iter().find_map(|(pair, places)| {
            let word = |word: &str| level.eq_ignore_ascii_case(word);
            let yes = match pair {
                _ if digit => self.digits.then_some(level == "1")?,
                None => truth(level)?,
                Some([no, _]) if word(no) => false,
                Some([_, yes]) if word(yes) => true,
                Some(_) => return None,
            };
            Some(places[usize::from(yes)])
        })
    }
}

/// Merges the spellings of words for no and yes among other levels, where both words of a pair
/// occur; a word with several spellings is left in lower case. `None` if nothing is merged.
pub(crate) fn folded_among_others(levels: &[String]) -> Option<Vec<String>> {
    let is = |level: &str, word: &str| level.eq_ignore_ascii_case(word);
    let has = |word: &&str| levels.iter().any(|level| is(level, word));
    let pairs = NO_YES[..LONG].iter().filter(|pair| pair.iter().all(&has));
    let pairs: Vec<&[&str; 2]> = pairs.collect();
    let digit = |level: &str| matches!(level, "0" | "1");
    let number = |level: &String| !digit(level) && number(level).is_some();
    let digits = pairs.len() == 1 && !levels.iter().any(number);
    let mut found = levels.to_vec();
    for pair in pairs {
        for (word, digit) in pair.iter().zip(["0", "1"]) {
            let same = |level: &str| is(level, word) || digits && level == digit;
            if found.iter().filter(|level| same(level)).count() > 1 {
                found.retain(|level| !same(level));
                found.push(word.to_string());
            }
        }
    }
    (found.len() < levels.len()).then(|| {
        sort_levels(&mut found);
        found
    })
}

/// The truth value of a level, if it is a word for no or yes, 0 or 1.
pub(crate) fn truth(level: &str) -> Option<bool> {
    match level {
        "0" => return Some(false),
        "1" => return Some(true),
        _ => {}
    }
    let says = |[no, yes]: &[&str; 2]| match level {
        _ if level.eq_ignore_ascii_case(no) => Some(false),
        _ if level.eq_ignore_ascii_case(yes) => Some(true),
        _ => None,
    };
    NO_YES.iter().find_map(says)
}

/// Whether two levels are a word for no and the word for yes, in either order, or
/// 0 and 1.
pub(crate) fn are_truths(levels: &[String]) -> bool {
    match levels {
        [a, b] => [[a, b], [b, a]].iter().any(|[no, yes]| {
            *no == "0" && *yes == "1" || NO_YES.iter().any(|pair| is_pair(pair, no, yes))
        }),
        _ => false,
    }
}

fn is_pair([no, yes]: &[&str; 2], a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(no) && b.eq_ignore_ascii_case(yes)
}

/// A pair of levels ordered as no and yes, if they are such a pair.
pub(crate) fn no_then_yes(levels: &[String]) -> Option<Vec<String>> {
    let [a, b] = levels else {
        return None;
    };
    NO_YES.iter().find_map(|pair| {
        if is_pair(pair, a, b) {
            Some(vec![a.clone(), b.clone()])
        } else if is_pair(pair, b, a) {
            Some(vec![b.clone(), a.clone()])
        } else {
            None
        }
    })
}

/// The levels of a column that has several spellings of one pair, each level once and in
/// lower case; `None` if no two levels mean the same.
pub(crate) fn folded(levels: &[String]) -> Option<Vec<String>> {
    let pairs = NO_YES.iter().enumerate();
    pairs.into_iter().find_map(|(number, pair)| {
        let digits = number < ALSO_DIGITS;
        let place = |level: &String| match level.as_str() {
            "0" if digits => Some(0),
            "1" if digits => Some(1),
            _ => pair
                .iter()
                .position(|word| level.eq_ignore_ascii_case(word)),
        };
        let places: Vec<usize> = levels.iter().map(place).collect::<Option<_>>()?;
        let word = |level: &String| level != "0" && level != "1";
        let mixed = levels.iter().any(word) && !levels.iter().all(word);
        let found: Vec<String> = (0..2)
            .filter(|place| places.contains(place))
            .map(|place| pair[place].to_string())
            .collect();
        (levels.iter().any(word) && (mixed || found.len() < levels.len())).then_some(found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_pair_are_folded_beside_other_levels_too() {
        let of = |levels: &str| -> Vec<String> { levels.split(' ').map(String::from).collect() };
        let fold = |levels: &str| folded_among_others(&of(levels)).map(|levels| levels.join(" "));
        for (levels, expected) in [
            ("1 FALSE TRUE maybe true", "FALSE maybe true"),
            ("NO No maybe yes", "maybe no yes"),
            ("NO True false maybe no true yes", "false maybe no true yes"),
            ("1 2 No no yes", "1 2 no yes"),
        ] {
            assert_eq!(fold(levels).as_deref(), Some(expected), "{levels}");
        }
        for kept in [
            "FALSE TRUE maybe",
            "TRUE maybe true",
            "N Y maybe n",
            "0 1 2 no yes",
        ] {
            assert_eq!(fold(kept), None, "{kept}");
        }
        let place = |levels: &str, spelling: &str| Spellings::among(&of(levels))?.place(spelling);
        assert_eq!(place("FALSE maybe true", "True"), Some(2));
        assert_eq!(place("FALSE maybe true", "0"), Some(0));
        assert_eq!(place("FALSE maybe no true yes", "YES"), Some(4));
        for (levels, spelling) in [
            ("FALSE TRUE maybe true", "True"),
            ("maybe no yes", "y"),
            ("2 3 no yes", "0"),
            ("FALSE maybe no true yes", "1"),
            ("maybe true", "True"),
        ] {
            assert_eq!(place(levels, spelling), None, "{levels} {spelling}");
        }
    }

    #[test]
    fn spellings_of_a_pair_are_folded_and_other_words_are_not() {
        let fold = |levels: &str| {
            let levels: Vec<String> = levels.split(' ').map(String::from).collect();
            folded(&levels).map(|levels| levels.join(" "))
        };
        let pair = |levels: &str| Some(levels.to_string());
        assert_eq!(fold("TRUE false true"), pair("false true"));
        assert_eq!(fold("0 1 True"), pair("false true"));
        assert_eq!(fold("0 true"), pair("false true"));
        assert_eq!(fold("NO Yes no"), pair("no yes"));
        assert_eq!(fold("Y y"), pair("y"));
        for other in [
            "False True",
            "0 1",
            "yes false",
            "0 1 t",
            "no yes maybe",
            "a A",
        ] {
            assert_eq!(fold(other), None, "{other}");
        }
    }
}
