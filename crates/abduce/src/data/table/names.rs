//! Names of columns in messages: short lists, and suggestions for misspelled names.

/// The most similar name, if it is similar enough to suggest.
pub(crate) fn nearest<'a>(name: &str, names: &'a [String]) -> Option<&'a String> {
    let plain = |name: &str| name.to_lowercase().chars().collect::<Vec<char>>();
    let asked = plain(name);
    let few = (asked.len() / 3).max(1);
    let near = names
        .iter()
        .map(|other| (edits(&asked, &plain(other)), other));
    let near = near.filter(|(edits, other)| *edits <= few && *edits < other.chars().count());
    near.min_by_key(|(edits, _)| *edits).map(|(_, other)| other)
}

/// The edit distance between two words (Levenshtein 1966).
fn edits(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// A list of at most 40 names.
pub(crate) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    shortly(40, names)
}

/// A list of at most `shown` names, and the number of the others.
pub(crate) fn shortly<'a>(shown: usize, names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.collect();
    let more = names.len().saturating_sub(shown);
    names.truncate(shown);
    let mut list = names.join(", ");
    if more > 0 {
        list.push_str(&format!(" and {more} more"));
    }
    list
}
