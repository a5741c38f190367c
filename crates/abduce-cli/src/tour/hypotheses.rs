//! Finite hypotheses: a test for cancer, a cough, and Mitchell's EnjoySport.

use super::{Group, Line, open, table};
use abduce::Result;
use abduce::concept::{
    Assumptions, Boundaries, Conjunction, ConjunctionPosterior, Conjunctions, Examples, Hypotheses,
};
use abduce::data::{ReadOptions, Source};

pub const GROUP: Group = Group {
    name: "Bayes' theorem over finite hypotheses",
    run,
};

fn run() -> Result<Vec<Line>> {
    let mut patient = Hypotheses::new(["cancer", "healthy"], &[0.008, 0.992])?
        .with_outcome("positive", &[0.98, 0.03])?;
    let positive = patient.event("positive")?;
    let mut lines = Vec::new();
    for (tests, p, best) in [("one", 0.208_511, "healthy"), ("two", 0.895_896, "cancer")] {
        patient.observe(positive, 1.0)?;
        let name = format!("P(cancer | {tests} positive)");
        let belief = patient.belief();
        lines.push(Line::number(&name, p, belief.posterior()[0], 6));
        let name = format!("MAP hypothesis, {tests} positive");
        lines.push(text(&name, best, &map_names(&patient)));
    }
    let mut cough =
        Hypotheses::new(["flu", "no flu"], &[0.05, 0.95])?.with_outcome("cough", &[0.8, 0.2])?;
    cough.observe(cough.event("cough")?, 1.0)?;
    let flu = cough.belief().posterior()[0];
    lines.push(Line::number("P(flu | cough)", 0.173_913, flu, 6));
    lines.extend(enjoy_sport()?);
    Ok(lines)
}

fn enjoy_sport() -> Result<Vec<Line>> {
    let options = ReadOptions {
        target: Some("EnjoySport".into()),
        ..ReadOptions::default()
    };
    let opened = open(include_str!("../../data/enjoysport.csv"), &options)?;
    let days = table(&opened)?;
    let mut attributes = days.schema().fields.clone();
    let label = days.schema().position("EnjoySport")?;
    let yes = attributes.remove(label).find_code("Yes")?;
    let space = Conjunctions::new(attributes)?;
    let mut examples = Examples::default();
    for chunk in days.chunks() {
        let columns: Vec<&[u32]> = (chunk.columns().iter())
            .map(|column| column.cells(0, chunk.rows()).codes())
            .collect();
        for row in 0..chunk.rows() {
            let mut cells: Vec<Option<u32>> = columns.iter().map(|c| Some(c[row])).collect();
            let positive = cells.remove(label) == Some(yes);
            examples.add(&cells, positive, 1.0);
        }
    }
    let boundaries = Boundaries::new(&space, &examples)?;
    let describe = |boundary: &[Conjunction]| {
        let members: Vec<String> = boundary.iter().map(|h| space.describe(h)).collect();
        members.join(" ")
    };
    let posterior = ConjunctionPosterior::new(&space, &examples, Assumptions::default())?;
    let consistent = posterior.possible().to_string();
    Ok(vec![
        text(
            "EnjoySport: most specific",
            "<Sunny, Warm, ?, Strong, ?, ?>",
            &describe(&boundaries.specific),
        ),
        text(
            "EnjoySport: most general",
            "<Sunny, ?, ?, ?, ?, ?> <?, Warm, ?, ?, ?, ?>",
            &describe(&boundaries.general),
        ),
        text("EnjoySport: consistent hypotheses", "6", &consistent),
    ])
}

fn map_names(hypotheses: &Hypotheses) -> String {
    let best = hypotheses.belief().map();
    let names: Vec<&str> = best
        .iter()
        .map(|h| hypotheses.names()[*h].as_str())
        .collect();
    names.join(", ")
}

fn text(name: &str, expected: &str, obtained: &str) -> Line {
    let ok = expected == obtained;
    Line::new(name, expected.into(), obtained.into(), ok)
}
