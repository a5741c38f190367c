//! Mitchell's PlayTennis: naive Bayes by hand, and what smoothing does to it.

use super::{Group, Line, open, row_of_levels};
use abduce::Control;
use abduce::Result;
use abduce::ask::{Joint, Predict};
use abduce::data::ReadOptions;
use abduce::model::mixture::{FitOptions, Mixture, Specification, fit};

pub const GROUP: Group = Group {
    name: "PlayTennis on a sunny, cool, humid, windy day",
    run,
};

const DAY: [(&str, &str); 4] = [
    ("Outlook", "Sunny"),
    ("Temperature", "Cool"),
    ("Humidity", "High"),
    ("Wind", "Strong"),
];

fn run() -> Result<Vec<Line>> {
    let counted = learn(0.0, 0.0)?;
    let features = learn(1.0, 0.0)?;
    let both = learn(1.0, 1.0)?;
    Ok(vec![
        Line::number(
            "P(day, yes), counted",
            0.005_291_0,
            score(&counted, "Yes")?,
            7,
        ),
        Line::number(
            "P(day, no), counted",
            0.020_571_4,
            score(&counted, "No")?,
            7,
        ),
        Line::number("P(no | day), counted", 0.795_417, no(&counted)?, 6),
        Line::number(
            "P(no | day), add one to features",
            0.720_067,
            no(&features)?,
            6,
        ),
        Line::number(
            "P(no | day), add one to class too",
            0.735_314,
            no(&both)?,
            6,
        ),
    ])
}

fn learn(smoothing: f64, weight_smoothing: f64) -> Result<Mixture> {
    let options = ReadOptions {
        target: Some("PlayTennis".into()),
        ..ReadOptions::default()
    };
    let opened = open(include_str!("../../data/tennis.csv"), &options)?;
    let specification = Specification {
        smoothing,
        weight_smoothing,
        ..Specification::naive_bayes("PlayTennis")
    };
    let fit = fit(
        &specification,
        &*opened.source,
        &FitOptions::default(),
        Control::default(),
    )?;
    Ok(fit.mixture)
}

/// P(day, label).
fn score(model: &Mixture, label: &str) -> Result<f64> {
    let seen: Vec<(&str, &str)> = DAY.into_iter().chain([("PlayTennis", label)]).collect();
    let row = row_of_levels(&model.schema, &seen)?;
    Ok(model.log_density(&row)?[0].exp())
}

/// P(no | day).
fn no(model: &Mixture) -> Result<f64> {
    let row = row_of_levels(&model.schema, &DAY)?;
    let no = model.names().iter().position(|name| name == "No");
    Ok(model.posterior(&row)?.row(0)[no.unwrap_or(0)])
}
