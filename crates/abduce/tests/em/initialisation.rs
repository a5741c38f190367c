//! Initial values of unlabelled components: starts without k-means iterations reach maxima
//! that the others miss.

use abduce::Control;
use abduce::data::{Column, Field, Kind, Schema, Table};
use abduce::model::mixture::{CovarianceKind, FitOptions, Init, Specification, fit};

/// Five overlapping groups of three columns, from a linear congruential generator.
fn overlapping(rows: usize) -> Table {
    let mut state = 41_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005);
        state = state.wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut groups = Vec::new();
    for _ in 0..5 {
        let centre = [0; 3].map(|_| 4.0 * normal(&mut uniform));
        let spread = [0; 3].map(|_| (3.0 * uniform()).powi(2) + 0.05);
        groups.push((centre, spread));
    }
    let mut cells = vec![Vec::new(); 3];
    for _ in 0..rows {
        let (centre, spread) = groups[(5.0 * uniform()) as usize];
        for c in 0..3 {
            let x = centre[c] + spread[c] * normal(&mut uniform);
            cells[c].push(Some((1000.0 * x).round() / 1000.0));
        }
    }
    let fields = ["a", "b", "c"].map(|name| Field::new(name, Kind::Real));
    let columns = cells.into_iter().map(Column::from_numbers).collect();
    Table::new(Schema::new(fields.to_vec()), columns, None).unwrap()
}

/// An approximately standard normal number: the sum of twelve uniform ones.
fn normal(uniform: &mut impl FnMut() -> f64) -> f64 {
    (0..12).map(|_| uniform()).sum::<f64>() - 6.0
}

#[test]
fn starts_without_k_means_iterations_reach_maxima_that_others_miss() {
    let table = overlapping(200);
    let specification = Specification::mixture(5, "VVI".parse::<CovarianceKind>().unwrap());
    let best = |init: Init, restarts: usize| {
        let options = FitOptions {
            init,
            restarts,
            ..FitOptions::default()
        };
        let fit = fit(&specification, &table, &options, Control::default()).unwrap();
        fit.log_likelihood
    };
    let by_default = best(Init::Auto, 10);
    assert!(by_default > -1521.1, "{by_default}");
    for init in [Init::Hierarchical, Init::KMeansPlusPlus] {
        let other = best(init, 30);
        assert!(other < -1525.0, "{init:?}: {other}");
    }
}
