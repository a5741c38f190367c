//! What is shown of clusters: their sizes and centres, and how they were found.

use crate::text_table::{TextTable, readable};
use abduce::model::kmeans::{KMeans, Options, Specification};
use serde_json::{Value, json};

/// A line for each cluster.
pub fn of(clusters: &KMeans) -> String {
    const COLUMNS: usize = 12;
    let names = clusters.column_names();
    let shown = names.len().min(COLUMNS);
    let heading = ["cluster", "rows"]
        .into_iter()
        .chain(names[..shown].iter().copied());
    let more = (names.len() > shown).then(|| format!("and {} more", names.len() - shown));
    let mut table = TextTable::new(heading.map(String::from).chain(more));
    for (number, (size, centre)) in clusters.sizes.iter().zip(&clusters.centres).enumerate() {
        let numbers = [*size].into_iter().chain(centre[..shown].iter().copied());
        let name = (number + 1).to_string();
        table.row([name].into_iter().chain(numbers.map(readable)));
    }
    table.text(2)
}

/// How far apart rows are, in words.
pub fn distance(specification: &Specification) -> String {
    let mut text = specification.distance.name().to_string();
    if specification.standardize {
        text.push_str(", standardised columns");
    }
    if specification.medoids {
        text.push_str(", medoids");
    }
    text
}

/// How rows found their centres, in words.
pub fn search(specification: &Specification, options: &Options) -> String {
    match specification.medoids {
        true => format!("swaps of medoids, seed {}", options.seed),
        false => format!(
            "{}, begun by {}, seed {}",
            options.algorithm.name(),
            options.init.name(),
            options.seed
        ),
    }
}

/// The part of a document that is about clusters.
pub fn document(clusters: &KMeans) -> Value {
    json!({
        "distance": clusters.distance,
        "medoids": clusters.medoids,
        "columns": clusters.column_names(),
        "centres": clusters.centres,
        "sizes": clusters.sizes,
    })
}
