//! Equal components, which EM by itself would keep equal.

use super::{clusters, from};
use abduce::Control;
use abduce::data::{Column, Field, Kind, Schema, Source, Table};
use abduce::learn::{EStep, EmOptions};
use abduce::model::mixture::{CovarianceKind, FitOptions, Parameters, Reals, Specification, fit};

/// All components as one fit of one component.
fn equal(specification: &Specification, data: &dyn Source) -> Parameters {
    let k = specification.components.unwrap();
    let one = Specification {
        components: Some(1),
        ..specification.clone()
    };
    let fit = fit(&one, data, &FitOptions::default(), Control::default()).unwrap();
    let own = fit.mixture.parameters;
    let leaves = own.leaves.into_iter().map(|leaf| vec![leaf[0].clone(); k]);
    Parameters {
        weights: vec![1.0 / k as f64; k],
        leaves: leaves.collect(),
        unseen: Vec::new(),
    }
}

#[test]
fn equal_starts_reach_what_a_fresh_fit_reaches() {
    let alone = Specification {
        reals: Reals::Alone,
        ..Specification::mixture(2, CovarianceKind::Full)
    };
    for (k, kind, reals) in [
        (2, CovarianceKind::Full, None),
        (2, CovarianceKind::Tied, None),
        (3, CovarianceKind::Vev, None),
        (3, CovarianceKind::Spherical, Some(alone.reals)),
    ] {
        let data = clusters(600, k, 2, 8.0, 11);
        let mut specification = Specification::mixture(k, kind);
        specification.reals = reals.unwrap_or(specification.reals);
        let start = equal(&specification, &data);
        let options = FitOptions::default();
        let fresh = fit(&specification, &data, &options, Control::default()).unwrap();
        let left = from(&specification, &data, &start, EmOptions::default());
        let behind = (fresh.log_likelihood - left.log_likelihood).abs();
        assert!(
            behind <= 1e-4 * fresh.log_likelihood.abs(),
            "{kind:?} {behind}"
        );
        assert!(left.monotone && left.converged && left.warnings.is_empty());
        assert!(left.log_likelihood > *left.warmup.last().unwrap() + 100.0);
        assert!(left.iterations >= left.bounds.len() + left.warmup.len());
    }
}

#[test]
fn only_the_equal_components_are_parted() {
    let data = clusters(900, 3, 2, 8.0, 12);
    let specification = Specification::mixture(3, CovarianceKind::Full);
    let options = FitOptions::default();
    let fresh = fit(&specification, &data, &options, Control::default()).unwrap();
    let two = Specification::mixture(2, CovarianceKind::Full);
    let two = fit(&two, &data, &options, Control::default()).unwrap();
    // The second of two components twice, which shares its rows.
    let own = two.mixture.parameters;
    let start = Parameters {
        weights: vec![own.weights[0] / 2.0, own.weights[1], own.weights[0] / 2.0],
        leaves: own
            .leaves
            .iter()
            .map(|leaf| vec![leaf[0].clone(), leaf[1].clone(), leaf[0].clone()])
            .collect(),
        unseen: Vec::new(),
    };
    let left = from(&specification, &data, &start, EmOptions::default());
    let behind = fresh.log_likelihood - left.log_likelihood;
    assert!(
        behind.abs() <= 1e-4 * fresh.log_likelihood.abs(),
        "{behind}"
    );
}

#[test]
fn rows_that_cannot_be_told_apart_end_with_a_warning() {
    let x = Column::from_numbers([1.5; 40].map(Some));
    let codes = Column::from_codes([0u32; 40].map(Some));
    let level = Field::with_levels("level", Kind::Categorical, ["a", "b"]);
    let tables = [
        Table::new(
            Schema::new(vec![Field::new("x", Kind::Real)]),
            vec![x.clone()],
            None,
        ),
        Table::new(
            Schema::new(vec![Field::new("x", Kind::Real), level]),
            vec![x, codes],
            None,
        ),
    ];
    for data in tables {
        let data = data.unwrap();
        let specification = Specification::mixture(3, CovarianceKind::Full);
        for step in [EStep::Soft, EStep::Sampled] {
            let em = EmOptions {
                step,
                ..EmOptions::default()
            };
            let start = equal(&specification, &data);
            let fit = from(&specification, &data, &start, em);
            let told = fit
                .warnings
                .iter()
                .any(|line| line.contains("are identical"));
            assert!(told || fit.mixture.components() == 1, "{:?}", fit.warnings);
            assert!(fit.iterations < 200);
        }
    }
}

#[test]
fn levels_that_are_independent_stay_one_component() {
    // Both columns take every pair of levels equally often: there is nothing to find.
    let a = Column::from_codes((0..400u32).map(|i| Some(i % 2)));
    let b = Column::from_codes((0..400u32).map(|i| Some(i / 2 % 2)));
    let field = |name: &str| Field::with_levels(name, Kind::Categorical, ["no", "yes"]);
    let data = Table::new(Schema::new(vec![field("a"), field("b")]), vec![a, b], None).unwrap();
    let specification = Specification::mixture(2, CovarianceKind::Full);
    let start = equal(&specification, &data);
    let fit = from(&specification, &data, &start, EmOptions::default());
    assert!((fit.log_likelihood + 400.0 * 4.0f64.ln()).abs() < 1e-6);
    assert!(fit.warnings[0].contains("components 1 and 2 are identical"));
}
