//! k-means clusters: their sizes and centres, and how they were found.

use super::{Lines, Render};
use crate::context::Context;
use crate::io::failure::Outcome;
use crate::io::output::Output;
use crate::render::text_table::{TextTable, readable};
use abduce::model::kmeans::{FittedKMeans, Options, Specification, Start};
use abduce::model::{FitReport, Fitted};
use serde_json::{Map, Value, json};
use std::io::Write;

impl Render for Fitted<FittedKMeans> {
    fn weights(&self) -> Vec<f64> {
        let total: f64 = self.sizes.iter().sum();
        self.sizes.iter().map(|size| size / total).collect()
    }

    fn edit_figures(&self, _: &FitReport, lines: &mut Lines) {
        let inertia = self.details.inertia.unwrap_or(f64::INFINITY);
        lines.insert(0, ("inertia", readable(inertia)));
        let starts = &self.details.kmeans_starts;
        if let Some((inertia, reached)) = Start::best_of(starts) {
            let best = format!("best inertia {}", readable(inertia));
            let ended = starts.iter().map(|start| start.ended).collect();
            lines.extend(super::mixture::components::starts(ended, &best, reached));
        }
    }

    fn main_settings(&self, _: &FitReport) -> Lines {
        vec![("distance", distance(&self.recipe.kmeans))]
    }

    fn settings(&self, _: &FitReport) -> Lines {
        let (specification, options) = (&self.recipe.kmeans, &self.recipe.kmeans_options);
        vec![
            ("distance", distance(specification)),
            ("search", search(specification, options)),
        ]
    }

    fn summary(&self) -> String {
        table(self)
    }

    fn write_parameters(&self, _: &Context, output: &mut Output) -> Outcome {
        Ok(write!(output, "{}", table(self))?)
    }

    fn document(&self) -> Map<String, Value> {
        let clusters = json!({
            "distance": self.distance,
            "medoids": self.medoids,
            "columns": self.column_names(),
            "centres": self.centres,
            "sizes": self.sizes,
        });
        let mut document = Map::from_iter([("clusters".into(), clusters)]);
        if let Some(inertia) = self.details.inertia {
            document.insert("inertia".into(), inertia.into());
        }
        if !self.details.kmeans_starts.is_empty() {
            document.insert("starts".into(), json!(self.details.kmeans_starts));
        }
        document
    }
}

/// A line for each cluster.
fn table(clusters: &FittedKMeans) -> String {
    const MAX_COLUMNS: usize = 12;
    let names = clusters.column_names();
    let shown = names.len().min(MAX_COLUMNS);
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

/// The distance, in words.
fn distance(specification: &Specification) -> String {
    let mut text = specification.distance.name().to_string();
    if specification.standardize {
        text.push_str(", standardised columns");
    }
    if specification.medoids {
        text.push_str(", medoids");
    }
    text
}

/// Describes the algorithm and the initialization.
fn search(specification: &Specification, options: &Options) -> String {
    if specification.medoids {
        return format!("swaps of medoids, seed {}", options.seed);
    }
    let (algorithm, init) = (options.algorithm.name(), options.init.name());
    format!("{algorithm}, started by {init}, seed {}", options.seed)
}
