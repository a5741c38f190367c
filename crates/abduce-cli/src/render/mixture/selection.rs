//! The table of criteria of a grid: a line for every number of components, a column
//! for every covariance. And the table of tests: a line for each number of components.

use crate::render::text_table::{TextTable, counted};
use abduce::model::mixture::{BootstrapTest, Candidate, Criterion, Selection};

/// What is said where more components may be better still.
pub const THE_MOST: &str = "the best number of components is the largest asked for; try more";

/// The name of a criterion.
pub fn name(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::Bic => "BIC",
        Criterion::Aic => "AIC",
        Criterion::Icl => "ICL",
        Criterion::Cv => "held out",
    }
}

/// The table, with the chosen fit and the ones not to be trusted marked.
pub fn text(selection: &Selection) -> String {
    let mut covariances: Vec<&str> = Vec::new();
    let mut numbers: Vec<usize> = Vec::new();
    for own in &selection.tried {
        if !covariances.contains(&own.covariance.name()) {
            covariances.push(own.covariance.name());
        }
        numbers.push(own.components);
    }
    numbers.sort_unstable();
    numbers.dedup();
    let title = name(selection.criterion);
    let mut table = TextTable::new([title].into_iter().chain(covariances.iter().copied()));
    let cell = |covariance: &str, components: usize| {
        let found =
            selection.tried.iter().enumerate().find(|(_, own)| {
                own.covariance.name() == covariance && own.components == components
            });
        found.map_or(String::new(), |(i, own)| mark(selection, i, own))
    };
    for components in numbers {
        let cells = covariances.iter().map(|own| cell(own, components));
        table.row([components.to_string()].into_iter().chain(cells));
    }
    let mut text = table.text(2);
    text.push_str("  less is better; * chosen");
    let any = |of: fn(&Candidate) -> bool| selection.tried.iter().any(of);
    if any(|own| own.spurious.is_some()) {
        text.push_str("; ! not to be trusted: a component on a few rows");
    }
    if any(|own| own.left < own.components) {
        text.push_str("; - components without rows");
    }
    text.push('\n');
    for own in &selection.same {
        let codes = own.same.iter().map(|same| same.code());
        text.push_str(&format!(
            "  {} is also {}: the same model of these columns, fitted once\n",
            own.covariance.name(),
            codes.collect::<Vec<_>>().join(", ")
        ));
    }
    if selection.chose_the_most() {
        text.push_str(&format!("  {THE_MOST}\n"));
    }
    text
}

fn mark(selection: &Selection, number: usize, own: &Candidate) -> String {
    let value = own.value(selection.criterion);
    let value = value.map_or("none".to_string(), |value| format!("{value:.2}"));
    let mark = match own {
        _ if number == selection.chosen => "*",
        own if own.spurious.is_some() => "!",
        own if own.left < own.components => "-",
        _ => " ",
    };
    format!("{value}{mark}")
}

/// The table of tests, with what they come to.
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
    let found = match test.accepted {
        true => format!("not rejected at {significance}"),
        false => "the last; no test accepts it".to_string(),
    };
    format!(
        "{}  {}: {found}; {} drawn for each test\n",
        table.text(2),
        counted(test.chosen as u64, "component"),
        counted(test.options.replicates as u64, "table")
    )
}
