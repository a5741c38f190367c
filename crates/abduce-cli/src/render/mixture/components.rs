//! The diagnostics of components, one per line, and of the starts of a fit.

use crate::render::text_table::{TextTable, readable};
use abduce::model::mixture::{ComponentDiagnostics, Diagnostics, Ended, FittedMixture};

/// A figure of a component: its heading, and its text if the component has it.
type Figure = (&'static str, fn(&ComponentDiagnostics) -> Option<String>);

/// A number with about three digits.
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

const ROWS: Figure = ("rows", |component| Some(size(component.rows)));
const KISH: Figure = ("Kish's rows", |component| {
    component.kish_sample_size.map(size)
});
const CONDITION: Figure = ("condition", |component| component.condition.map(short));
const UNCERTAINTY: Figure = ("uncertainty", |component| component.uncertainty.map(short));
const ENTROPY: Figure = ("entropy", |component| component.entropy.map(short));

/// The weights with the most important figures.
pub fn brief(what: &str, mixture: &FittedMixture, diagnostics: Option<&Diagnostics>) -> TextTable {
    // Without hidden labels, the rows of a class follow from its weight.
    let hidden = diagnostics.is_some_and(|diagnostics| diagnostics.uncertainty.is_some());
    let figures = [ROWS, CONDITION, UNCERTAINTY];
    let figures = if hidden { &figures[..] } else { &figures[1..] };
    table(what, mixture, diagnostics, false, figures)
}

/// The weights with all figures.
pub fn all(what: &str, mixture: &FittedMixture, diagnostics: Option<&Diagnostics>) -> TextTable {
    let figures = [KISH, CONDITION, UNCERTAINTY, ENTROPY];
    table(what, mixture, diagnostics, true, &figures)
}

fn table(
    what: &str,
    mixture: &FittedMixture,
    diagnostics: Option<&Diagnostics>,
    rows: bool,
    figures: &[Figure],
) -> TextTable {
    let components = diagnostics.map_or(&[][..], |diagnostics| &diagnostics.components);
    let shown: Vec<&Figure> = (figures.iter())
        .filter(|(_, figure)| {
            components
                .iter()
                .any(|component| figure(component).is_some())
        })
        .collect();
    let first = [what, "weight", "rows"];
    let first = first.into_iter().take(if rows { 3 } else { 2 });
    let mut table = TextTable::new(first.chain(shown.iter().map(|(heading, _)| *heading)));
    for (j, name) in mixture.names().into_iter().enumerate() {
        let mut line = vec![name, format!("{:.6}", mixture.parameters.weights[j])];
        if rows {
            line.push(readable(mixture.statistics.weights[j]));
        }
        let figures = shown
            .iter()
            .map(|(_, figure)| components.get(j).and_then(figure));
        line.extend(figures.map(Option::unwrap_or_default));
        table.row(line);
    }
    table
}

/// How certain the assignment of rows to components is; `None` if all labels are known.
pub fn certainty(diagnostics: Option<&Diagnostics>) -> Option<String> {
    let several = diagnostics.filter(|diagnostics| diagnostics.components.len() > 1)?;
    let (certainty, uncertainty) = several.certainty.zip(several.uncertainty)?;
    let uncertainty = short(uncertainty);
    Some(format!("{certainty:.4}, mean uncertainty {uncertainty}"))
}

/// Summarizes the results of all starts; `None` if there was a single start and it converged.
pub fn starts(
    ended: Vec<Ended>,
    best: &str,
    reached: impl std::fmt::Display,
) -> Option<(&'static str, String)> {
    if ended == [Ended::Converged] {
        return None;
    }
    let count = |how: Ended| ended.iter().filter(|ended| **ended == how).count();
    let mut text = if count(Ended::Tried) > 0 {
        format!("{} tried for a few iterations", ended.len())
    } else {
        format!("{}: {best} reached by {reached}", ended.len())
    };
    let others = [
        (Ended::Spurious, "spurious"),
        (Ended::Unconverged, "not converged"),
        (Ended::Failed, "failed"),
        (Ended::Interrupted, "stopped"),
    ];
    for (how, name) in others {
        let number = count(how);
        if number > 0 {
            text.push_str(&format!(", {number} {name}"));
        }
    }
    Some(("starts", text))
}
