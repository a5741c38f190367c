//! Mitchell's PlayTennis: naive Bayes without and with smoothing.

use super::{Group, Line, open, row_of_levels};
use abduce::Control;
use abduce::Result;
use abduce::ask::{Joint, Predict};
use abduce::data::ReadOptions;
use abduce::model::mixture::{FitOptions, FittedMixture, Specification, fit};

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
    let unsmoothed = learn(0.0, 0.0)?;
    let smoothed_features = learn(1.0, 0.0)?;
    let smoothed_all = learn(1.0, 1.0)?;
    Ok(vec![
        Line::number(
            "P(day, yes), without smoothing",
            0.005_291_0,
            joint_probability(&unsmoothed, "Yes")?,
            7,
        ),
        Line::number(
            "P(day, no), without smoothing",
            0.020_571_4,
            joint_probability(&unsmoothed, "No")?,
            7,
        ),
        Line::number(
            "P(no | day), without smoothing",
            0.795_417,
            probability_of_no(&unsmoothed)?,
            6,
        ),
        Line::number(
            "P(no | day), add one to features",
            0.720_067,
            probability_of_no(&smoothed_features)?,
            6,
        ),
        Line::number(
            "P(no | day), add one to the class too",
            0.735_314,
            probability_of_no(&smoothed_all)?,
            6,
        ),
    ])
}

fn learn(smoothing: f64, weight_smoothing: f64) -> Result<FittedMixture> {
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

/// P(day, label), the joint probability of the attributes and the label.
fn joint_probability(model: &FittedMixture, label: &str) -> Result<f64> {
    let levels: Vec<(&str, &str)> = DAY.into_iter().chain([("PlayTennis", label)]).collect();
    let row = row_of_levels(&model.schema, &levels)?;
    Ok(model.log_density(&row)?[0].exp())
}

/// P(no | day).
fn probability_of_no(model: &FittedMixture) -> Result<f64> {
    let row = row_of_levels(&model.schema, &DAY)?;
    let no = model.names().iter().position(|name| name == "No");
    Ok(model.posterior(&row)?.row(0)[no.unwrap_or(0)])
}
