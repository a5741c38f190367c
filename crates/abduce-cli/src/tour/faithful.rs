//! Old Faithful: the maximum likelihood of two mixtures, compared with that of other programs.

use super::{Group, Line, open};
use abduce::Control;
use abduce::Result;
use abduce::data::ReadOptions;
use abduce::model::mixture::{CovarianceKind, Fit, FitOptions, Specification, fit};

pub const GROUP: Group = Group {
    name: "Old Faithful",
    run,
};

fn run() -> Result<Vec<Line>> {
    let two = learn(2, CovarianceKind::Full)?;
    let three = learn(3, CovarianceKind::Tied)?;
    Ok(vec![
        Line::close_to(
            "log-likelihood, 2 components, full",
            -1130.26396,
            1e-4,
            two.log_likelihood,
        ),
        Line::at_least(
            "log-likelihood, 3 components, tied",
            -1126.316,
            three.log_likelihood,
            6,
        ),
    ])
}

fn learn(components: usize, covariance: CovarianceKind) -> Result<Fit> {
    let opened = open(
        include_str!("../../data/faithful.csv"),
        &ReadOptions::default(),
    )?;
    fit(
        &Specification::mixture(components, covariance),
        &*opened.source,
        &FitOptions::default(),
        Control::default(),
    )
}
