//! Words for no and yes. `TRUE`, `true` and `1` are one level of a binary column,
//! within one table and between a model's table and a new one.

use super::levels::sort_levels;

/// The words for no and yes that make a column binary, in any case.
const NO_YES: [[&str; 2]; 4] = [["false", "true"], ["no", "yes"], ["n", "y"], ["f", "t"]];

/// How many of the pairs may also be written as 0 and 1 in the same column.
const ALSO_DIGITS: usize = 2;

/// Whether a level is one of the words for no.
pub(crate) fn is_no(level: &str) -> bool {
    NO_YES.iter().any(|[no, _]| level.eq_ignore_ascii_case(no))
}

/// How many of the pairs are words that mean no and yes among other levels too; single
/// letters may mean anything there.
const LONG: usize = 2;

/// The places of no and yes among other levels: those of the only word for each of one pair.
pub(super) fn places_among_others(levels: &[String]) -> Option<[usize; 2]> {
    let only = |word: &str| {
        let mut places = (0..levels.len()).filter(|i| levels[*i].eq_ignore_ascii_case(word));
        let place = places.next()?;
        places.next().is_none().then_some(place)
    };
    let place = |[no, yes]: &[&str; 2]| Some([only(no)?, only(yes)?]);
    NO_YES[..LONG].iter().find_map(place)
}

/// The levels of a column that has both words of a pair beside other levels: each of the
/// two once, in lower case where it is spelled in several ways.
pub(super) fn folded_among_others(levels: &[String]) -> Option<Vec<String>> {
    let spellings = |word: &str| -> Vec<&String> {
        let same = |level: &&String| level.eq_ignore_ascii_case(word);
        levels.iter().filter(same).collect()
    };
    let both = |pair: &&[&str; 2]| pair.iter().all(|word| !spellings(word).is_empty());
    let pair = NO_YES[..LONG].iter().find(both)?;
    let digits = ["0", "1"];
    let is_of_pair = |level: &String| {
        let words = pair.iter().any(|word| level.eq_ignore_ascii_case(word));
        words || digits.contains(&level.as_str())
    };
    let mut found: Vec<String> = levels
        .iter()
        .filter(|own| !is_of_pair(own))
        .cloned()
        .collect();
    for (word, digit) in pair.iter().zip(digits) {
        match spellings(word).as_slice() {
            [only] if !levels.iter().any(|level| level == digit) => found.push((*only).clone()),
            _ => found.push(word.to_string()),
        }
    }
    (found.len() < levels.len()).then(|| {
        sort_levels(&mut found);
        found
    })
}

/// What a level says, if it is a word for no or yes, 0 or 1.
pub(super) fn truth(level: &str) -> Option<bool> {
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
pub(super) fn are_truths(levels: &[String]) -> bool {
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

/// The two levels with the one that denies first, if they are such a pair.
pub(super) fn no_then_yes(levels: &[String]) -> Option<Vec<String>> {
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

/// The levels of a column that spells the words of one pair in several ways, each
/// once and in lower case; `None` where no two levels mean the same.
pub(super) fn folded(levels: &[String]) -> Option<Vec<String>> {
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
        let fold = |levels: &str| folded_among_others(&of(levels)).map(|own| own.join(" "));
        let found = fold("1 FALSE TRUE maybe true");
        assert_eq!(found.as_deref(), Some("FALSE maybe true"));
        assert_eq!(fold("NO No maybe yes").as_deref(), Some("maybe no yes"));
        for kept in [
            "FALSE TRUE maybe",
            "TRUE maybe true",
            "N Y maybe n",
            "0 1 2 yes",
        ] {
            assert_eq!(fold(kept), None, "{kept}");
        }
        assert_eq!(places_among_others(&of("FALSE maybe true")), Some([0, 2]));
        for none in ["FALSE TRUE maybe true", "maybe true", "a n y"] {
            assert_eq!(places_among_others(&of(none)), None, "{none}");
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
