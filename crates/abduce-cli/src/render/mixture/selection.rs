//! The table of criteria of a grid, with a line for every number of components and a column for
//! every covariance, and the table of bootstrap tests.

use crate::render::text_table::{TextTable, counted};
use abduce::model::mixture::{BootstrapTest, Candidate, Criterion, Selection};

/// The note if more components might be better still.
pub const LARGEST_CHOSEN: &str = "the largest number of components was chosen; try larger ones";

/// The name of a criterion.
pub fn name(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::Bic => "BIC",
        Criterion::Aic => "AIC",
        Criterion::Icl => "ICL",
        Criterion::Cv => "held out",
    }
}

/// The table, which marks the chosen fit and unreliable ones.
pub fn text(selection: &Selection) -> String {
    let mut covariances: Vec<&str> = Vec::new();
    let mut numbers: Vec<usize> = Vec::new();
    for candidate in &selection.tried {
        if !covariances.contains(&candidate.covariance.name()) {
            covariances.push(candidate.covariance.name());
        }
        numbers.push(candidate.components);
    }
    numbers.sort_unstable();
    numbers.dedup();
    let title = name(selection.criterion);
    let mut table = TextTable::new([title].into_iter().chain(covariances.iter().copied()));
    let cell = |covariance: &str, components: usize| {
        let found = selection.tried.iter().enumerate().find(|(_, candidate)| {
            candidate.covariance.name() == covariance && candidate.components == components
        });
        found.map_or(String::new(), |(i, candidate)| {
            mark(selection, i, candidate)
        })
    };
    for components in numbers {
        let cells = covariances
            .iter()
            .map(|candidate| cell(candidate, components));
        table.row([components.to_string()].into_iter().chain(cells));
    }
    let mut text = table.text(2);
    text.push_str("  lower is better; * chosen");
    let any = |property: fn(&Candidate) -> bool| selection.tried.iter().any(property);
    if any(|candidate| candidate.spurious.is_some()) {
        text.push_str("; ! spurious: a component has collapsed onto a few rows");
    }
    if any(|candidate| candidate.left < candidate.components) {
        text.push_str("; - some components have no rows");
    }
    if any(|candidate| mark_of(candidate) == "~") {
        text.push_str("; ~ stopped early, as not expected to become the best");
    }
    text.push('\n');
    for group in &selection.same {
        let mut names = vec![group.covariance.name()];
        names.extend(group.same.iter().map(|same| same.code()));
        text.push_str(&format!(
            "  {} are the same model for these columns and were fitted once\n",
            names.join(", ")
        ));
    }
    if selection.chose_most_components() {
        text.push_str(&format!("  {LARGEST_CHOSEN}\n"));
    }
    text
}

fn mark(selection: &Selection, number: usize, candidate: &Candidate) -> String {
    let value = candidate.value(selection.criterion);
    let value = value.map_or("none".to_string(), |value| format!("{value:.2}"));
    let mark = match candidate {
        _ if number == selection.chosen => "*",
        candidate => mark_of(candidate),
    };
    format!("{value}{mark}")
}

/// The mark of a candidate that is not chosen.
fn mark_of(candidate: &Candidate) -> &'static str {
    match candidate {
        candidate if candidate.spurious.is_some() => "!",
        candidate if candidate.left < candidate.components => "-",
        candidate if candidate.stopped_early => "~",
        _ => " ",
    }
}

/// The table of tests, and their result.
pub fn tests(test: &BootstrapTest) -> String {
    let mut table = TextTable::new(["components", "LRTS", "p"]);
    for step in &test.steps {
        let more = step.components + 1;
        table.row([
            format!("{} or {more}", step.components),
            format!("{:.4}", step.statistic),
            format!("{:.4}", step.p_value),
        ]);
    }
    let significance = test.options.significance;
    let result = if test.accepted {
        format!("not rejected at {significance}")
    } else {
        "the largest number tested; all tests rejected".to_string()
    };
    format!(
        "{}  {}: {result}; {} simulated for each test\n",
        table.text(2),
        counted(test.chosen as u64, "component"),
        counted(test.options.replicates as u64, "table")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use abduce::model::mixture::CovarianceKind;

    #[test]
    fn fits_that_were_stopped_early_are_marked() {
        let candidate = |components: usize, bic: f64, stopped_early: bool| Candidate {
            covariance: CovarianceKind::Full,
            components,
            left: components,
            log_likelihood: None,
            parameters: 1,
            bic: Some(bic),
            aic: None,
            icl: None,
            cv: None,
            converged: !stopped_early,
            stopped_early,
            spurious: None,
        };
        let mut selection = Selection {
            criterion: Criterion::Bic,
            tried: vec![candidate(1, 10.0, false), candidate(2, 300.0, true)],
            chosen: 0,
            same: Vec::new(),
        };
        let shown = text(&selection);
        assert!(
            shown.contains("10.00*") && shown.contains("300.00~"),
            "{shown}"
        );
        assert!(shown.contains("; ~ stopped early"), "{shown}");
        selection.tried.pop();
        assert!(!text(&selection).contains('~'));
    }
}
