//! One kind for columns with similar names: which of `pixel_1` … `pixel_64` happen to have
//! only zeros and ones depends on the rows, but they measure the same thing.

use crate::data::encode::infer::Summary;
use crate::data::table::schema::Kind;
use std::collections::BTreeMap;

/// A column of inferred kind.
pub(crate) enum InferredKind {
    /// Whole numbers from 0 up, not all the same.
    Whole { kind: Kind, least: f64, most: f64 },
    /// Other numbers, which do not affect similar columns.
    Number,
    /// Words.
    Other,
}

/// Gives columns whose names differ only in digits the most general of their kinds (binary,
/// count, real), if all of them hold numbers. Only columns of whole numbers from 0 up with
/// overlapping ranges affect each other.
pub(crate) fn unify(summaries: &mut [(usize, Summary)], notes: &mut Vec<String>) {
    let mut groups: BTreeMap<String, Vec<(usize, InferredKind)>> = BTreeMap::new();
    for (place, (_, summary)) in summaries.iter().enumerate() {
        if let (Some(pattern), Some(inferred)) = (without_numbers(summary.name()), summary.shape())
        {
            groups.entry(pattern).or_default().push((place, inferred));
        }
    }
    for (pattern, group) in groups {
        if group
            .iter()
            .any(|(_, inferred)| matches!(inferred, InferredKind::Other))
        {
            continue;
        }
        let raised = raised(&group);
        for kind in [Kind::Real, Kind::Count] {
            let places = raised.iter().filter(|(_, raised)| *raised == kind);
            let places: Vec<usize> = places.map(|(place, _)| *place).collect();
            let columns = match places.as_slice() {
                [] => continue,
                [only] => format!("column {} is", summaries[*only].1.name()),
                more => format!("{} columns are", more.len()),
            };
            notes.push(format!(
                "{columns} read as {}, as other columns with names like {pattern} are",
                kind.name(),
            ));
        }
        for (place, kind) in raised {
            summaries[place].1.raise(kind);
        }
    }
}

/// The columns of a group that get a more general kind, with that kind.
fn raised(group: &[(usize, InferredKind)]) -> Vec<(usize, Kind)> {
    let whole = group.iter().filter_map(|(place, inferred)| match inferred {
        InferredKind::Whole { kind, least, most } => Some((*place, *kind, *least, *most)),
        _ => None,
    });
    let whole: Vec<(usize, Kind, f64, f64)> = whole.collect();
    let of = |(place, kind, least, most): &(usize, Kind, f64, f64)| {
        let others = whole
            .iter()
            .filter(|other| other.2 <= *most && *least <= other.3);
        let general = others
            .map(|other| other.1)
            .max_by_key(|kind| generality(*kind))?;
        (generality(general) > generality(*kind)).then_some((*place, general))
    };
    whole.iter().filter_map(of).collect()
}

fn generality(kind: Kind) -> u8 {
    match kind {
        Kind::Binary => 0,
        Kind::Count => 1,
        _ => 2,
    }
}

/// A name with `#` for each of its numbers, if it has one.
fn without_numbers(name: &str) -> Option<String> {
    let mut pattern = String::new();
    let mut before = ' ';
    for c in name.chars() {
        if !c.is_ascii_digit() {
            pattern.push(c);
        } else if !before.is_ascii_digit() {
            pattern.push('#');
        }
        before = c;
    }
    name.contains(|c: char| c.is_ascii_digit())
        .then_some(pattern)
}
