//! Names of columns in messages: lists that stay short, and the name that was
//! meant by a misspelt one.

/// The name that differs least, if it differs little.
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

/// How many letters must be changed, added or left out (Levenshtein 1966).
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

/// A list of names that stays readable.
pub(crate) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    shortly(40, names)
}

/// A list of names, the first few of them by name.
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
