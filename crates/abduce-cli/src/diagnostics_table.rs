//! How a fitted mixture stands, at a glance: a line for every component, and lines about
//! all of them. What a model has not is left out.

use crate::text_table::{TextTable, readable};
use abduce::model::kmeans;
use abduce::model::mixture::{ComponentDiagnostics, Diagnostics, Ended, Mixture, Start};
use abduce::store::FitRecord;

/// A figure of a component: its heading, and what it is in words.
type Figure = (&'static str, fn(&ComponentDiagnostics) -> Option<String>);

/// Three digits tell how a component stands.
fn short(x: f64) -> String {
    match x {
        0.0 => "0".into(),
        x if x < 1e-3 => "<0.001".into(),
        x if x < 10.0 => format!("{x:.3}"),
        x if x < 1e4 => format!("{x:.1}"),
        x => format!("{x:.1e}"),
    }
}

fn size(x: f64) -> String {
    format!("{x:.1}")
}

const ROWS: Figure = ("rows", |own| Some(size(own.rows)));
const KISH: Figure = ("Kish's rows", |own| own.kish_sample_size.map(size));
const CONDITION: Figure = ("condition", |own| own.condition.map(short));
const UNCERTAINTY: Figure = ("uncertainty", |own| own.uncertainty.map(short));
const ENTROPY: Figure = ("entropy", |own| own.entropy.map(short));

/// The weights, with the figures that most users look for.
pub fn brief(what: &str, mixture: &Mixture, told: Option<&Diagnostics>) -> TextTable {
    // Where every label is seen, the weights say how many rows a class has.
    let hidden = told.is_some_and(|told| told.uncertainty.is_some());
    let figures = [ROWS, CONDITION, UNCERTAINTY];
    let figures = if hidden { &figures[..] } else { &figures[1..] };
    table(what, mixture, told, false, figures)
}

/// The weights, with all figures.
pub fn whole(what: &str, mixture: &Mixture, told: Option<&Diagnostics>) -> TextTable {
    let figures = [KISH, CONDITION, UNCERTAINTY, ENTROPY];
    table(what, mixture, told, true, &figures)
}

fn table(
    what: &str,
    mixture: &Mixture,
    told: Option<&Diagnostics>,
    rows: bool,
    figures: &[Figure],
) -> TextTable {
    let own = told.map_or(&[][..], |told| &told.components);
    let shown: Vec<&Figure> = (figures.iter())
        .filter(|(_, figure)| own.iter().any(|own| figure(own).is_some()))
        .collect();
    let first = [what, "weight", "rows"];
    let first = first.into_iter().take(if rows { 3 } else { 2 });
    let mut table = TextTable::new(first.chain(shown.iter().map(|(heading, _)| *heading)));
    for (j, name) in mixture.names().into_iter().enumerate() {
        let mut line = vec![name, format!("{:.6}", mixture.parameters.weights[j])];
        if rows {
            line.push(readable(mixture.statistics.weights[j]));
        }
        let figures = shown.iter().map(|(_, figure)| own.get(j).and_then(figure));
        line.extend(figures.map(Option::unwrap_or_default));
        table.row(line);
    }
    table
}

/// How surely rows belong to components; nothing where no label is hidden.
pub fn certainty(fit: &FitRecord) -> String {
    let told = fit.diagnostics.as_ref();
    let several = told.filter(|told| told.components.len() > 1);
    let figures = several.and_then(|told| told.certainty.zip(told.uncertainty));
    figures.map_or(String::new(), |(certainty, uncertainty)| {
        format!("{certainty:.4}, mean uncertainty {}", short(uncertainty))
    })
}

/// What became of the starts; nothing of a single one that converged.
pub fn starts(fit: &FitRecord) -> String {
    let of_kmeans = kmeans::Start::best_of(&fit.kmeans_starts);
    let of_mixture = Start::best_of(&fit.starts, fit.weight);
    let (best, reached) = match (of_kmeans, of_mixture) {
        (Some((inertia, reached)), _) => (format!("best inertia {}", readable(inertia)), reached),
        (None, Some((best, reached))) => (format!("best objective {best:.4}"), reached),
        (None, None) => return String::new(),
    };
    let clusters = fit.kmeans_starts.iter().map(|own| own.ended);
    let starts = clusters.chain(fit.starts.iter().map(|own| own.ended));
    let starts: Vec<Ended> = starts.collect();
    if starts == [Ended::Converged] {
        return String::new();
    }
    let count = |ended: Ended| starts.iter().filter(|own| **own == ended).count();
    let mut text = match count(Ended::Tried) > 0 {
        true => format!("{} tried on a sample of the rows", starts.len()),
        false => format!("{}: {best} reached by {reached}", starts.len()),
    };
    let others = [
        (Ended::Spurious, "spurious"),
        (Ended::Unconverged, "not converged"),
        (Ended::Failed, "failed"),
        (Ended::Interrupted, "stopped"),
    ];
    for (ended, name) in others {
        let number = count(ended);
        if number > 0 {
            text.push_str(&format!(", {number} {name}"));
        }
    }
    text
}
