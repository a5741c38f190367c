//! Old Faithful: fits reach the known maxima.

use abduce::Control;
use abduce::data::{ReadOptions, open};
use abduce::model::mixture::{CovarianceKind, Fit, FitOptions, Specification, fit};

const FAITHFUL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../golden/faithful.csv");

fn learn(components: usize, covariance: CovarianceKind) -> Fit {
    let opened = open(&[FAITHFUL.to_string()], &ReadOptions::default()).unwrap();
    let specification = Specification::mixture(components, covariance);
    let fit = fit(
        &specification,
        &*opened.source,
        &FitOptions::default(),
        Control::default(),
    )
    .unwrap();
    assert!(fit.monotone && fit.converged);
    fit
}

#[test]
fn two_full_components_reach_the_known_maximum() {
    let fit = learn(2, CovarianceKind::Full);
    assert!(
        (fit.log_likelihood + 1130.26396).abs() < 1e-4,
        "{}",
        fit.log_likelihood
    );
    assert_eq!(fit.parameters, 11);
}

#[test]
fn three_tied_components_reach_at_least_the_maximum_of_mclust() {
    let fit = learn(3, CovarianceKind::Tied);
    assert!(fit.log_likelihood >= -1126.316, "{}", fit.log_likelihood);
    assert_eq!(fit.parameters, 11);
}
