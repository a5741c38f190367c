//! Old Faithful: fits reach the known maxima.

use crate::common::{golden_columns, real_table};
use abduce::Control;
use abduce::model::mixture::{CovarianceKind, Fit, FitOptions, Specification, fit};

fn learn(components: usize, covariance: CovarianceKind) -> Fit {
    let columns = golden_columns("faithful").into_iter();
    let table = real_table(columns.map(|x| x.into_iter().map(Some)), None);
    let specification = Specification::mixture(components, covariance);
    let fit = fit(
        &specification,
        &table,
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
