//! Integrals compared with exact results.

use super::*;
use std::f64::consts::{FRAC_2_PI, PI};

fn of(f: impl Fn(f64) -> f64, support: (f64, f64), breaks: &[f64]) -> Option<f64> {
    match total(&|x| f(x).ln(), support, breaks, &[]) {
        Total::Finite(log) => Some(log.exp()),
        _ => None,
    }
}

#[test]
fn powers_have_their_integrals_however_slowly_they_fall() {
    for power in [-0.999, -0.99, -0.5, 0.0, 2.0] {
        let found = of(|x| x.powf(power), (0.0, 1.0), &[]).unwrap();
        assert!(
            (found * (power + 1.0) - 1.0).abs() < 1e-9,
            "{power}: {found}"
        );
        let far = of(|x| x.powf(power - 1.001), (1.0, f64::INFINITY), &[]);
        let exact = -1.0 / (power - 0.001);
        if power <= 0.0 {
            assert!((far.unwrap() / exact - 1.0).abs() < 1e-6, "{power} {far:?}")
        } else {
            assert_eq!(far, None)
        }
    }
    for power in [-0.9, -0.5] {
        let found = of(|x| (1.0 - x).powf(power), (0.0, 1.0), &[]).unwrap();
        assert!(
            (found * (power + 1.0) - 1.0).abs() < 1e-5,
            "{power}: {found}"
        );
        // A pole inside, seen from both sides.
        let found = of(|x| (x - 0.3).abs().powf(power), (0.0, 1.0), &[0.3]).unwrap();
        let exact = (0.3f64.powf(power + 1.0) + 0.7f64.powf(power + 1.0)) / (power + 1.0);
        assert!(
            (found / exact - 1.0).abs() < 1e-5,
            "{power}: {found} {exact}"
        );
    }
}

#[test]
fn infinite_and_undetermined_integrals_are_distinguished() {
    let kind =
        |f: &dyn Fn(f64) -> f64, support: (f64, f64)| total(&|x| f(x).ln(), support, &[], &[]);
    for power in [-1.0, -1.001, -3.0] {
        assert_eq!(kind(&|x| x.powf(power), (0.0, 1.0)), Total::Infinite);
    }
    assert_eq!(kind(&|x| 1.0 / x, (1.0, f64::INFINITY)), Total::Infinite);
    let slow = |x: f64| 1.0 / (x * x.ln() * x.ln());
    assert_eq!(kind(&slow, (0.0, 0.5)), Total::Unsettled);
}

#[test]
fn waves_have_their_mean_and_bells_their_width() {
    let waves = of(|x| (1000.0 * x).sin().abs(), (0.0, 1.0), &[]).unwrap();
    assert!((waves - FRAC_2_PI).abs() < 1e-3, "{waves}");
    let all = (f64::NEG_INFINITY, f64::INFINITY);
    let bell = total(&|x| -0.5 * x * x, all, &[], &[]);
    let Total::Finite(log) = bell else {
        panic!("{bell:?}")
    };
    assert!((log - 0.5 * (2.0 * PI).ln()).abs() < 1e-9, "{log}");
}
