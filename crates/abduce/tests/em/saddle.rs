//! Starts with equal components, which plain EM would keep equal.

use super::{clusters, run_em};
use abduce::Control;
use abduce::data::{Column, Field, Kind, Schema, Source, Table};
use abduce::learn::{EStep, EmOptions};
use abduce::model::mixture::{CovarianceKind, FitOptions, Parameters, Reals, Specification, fit};

/// Parameters in which every component equals the fit of one component.
fn equal_components(specification: &Specification, data: &dyn Source) -> Parameters {
    let k = specification.components.unwrap();
    let one = Specification {
        components: Some(1),
        ..specification.clone()
    };
    let fit = fit(&one, data, &FitOptions::default(), Control::default()).unwrap();
    let one = fit.mixture.parameters;
    let leaves = one.leaves.into_iter().map(|leaf| vec![leaf[0].clone(); k]);
    Parameters {
        weights: vec![1.0 / k as f64; k],
        leaves: leaves.collect(),
        unseen: Vec::new(),
    }
}

#[test]
fn em_from_equal_components_reaches_the_likelihood_of_a_default_fit() {
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
        let start = equal_components(&specification, &data);
        let options = FitOptions::default();
        let default = fit(&specification, &data, &options, Control::default()).unwrap();
        let separated = run_em(&specification, &data, &start, EmOptions::default());
        let gap = (default.log_likelihood - separated.log_likelihood).abs();
        assert!(gap <= 1e-4 * default.log_likelihood.abs(), "{kind:?} {gap}");
        assert!(separated.monotone && separated.converged && separated.warnings.is_empty());
        assert!(separated.log_likelihood > *separated.warmup.last().unwrap() + 100.0);
        assert!(separated.iterations >= separated.bounds.len() + separated.warmup.len());
    }
}

#[test]
fn only_equal_components_are_separated() {
    let data = clusters(900, 3, 2, 8.0, 12);
    let specification = Specification::mixture(3, CovarianceKind::Full);
    let options = FitOptions::default();
    let default = fit(&specification, &data, &options, Control::default()).unwrap();
    let two = Specification::mixture(2, CovarianceKind::Full);
    let two = fit(&two, &data, &options, Control::default()).unwrap();
    // The first of two components appears twice and shares its weight.
    let two = two.mixture.parameters;
    let start = Parameters {
        weights: vec![two.weights[0] / 2.0, two.weights[1], two.weights[0] / 2.0],
        leaves: two
            .leaves
            .iter()
            .map(|leaf| vec![leaf[0].clone(), leaf[1].clone(), leaf[0].clone()])
            .collect(),
        unseen: Vec::new(),
    };
    let separated = run_em(&specification, &data, &start, EmOptions::default());
    let gap = default.log_likelihood - separated.log_likelihood;
    assert!(gap.abs() <= 1e-4 * default.log_likelihood.abs(), "{gap}");
}

#[test]
fn identical_rows_end_with_a_warning() {
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
            let start = equal_components(&specification, &data);
            let fit = run_em(&specification, &data, &start, em);
            let warned = fit
                .warnings
                .iter()
                .any(|line| line.contains("are identical"));
            assert!(
                warned || fit.mixture.components() == 1,
                "{:?}",
                fit.warnings
            );
            assert!(fit.iterations < 200);
        }
    }
}

#[test]
fn independent_columns_keep_components_identical() {
    // Every pair of levels is equally frequent, so the columns are independent.
    let a = Column::from_codes((0..400u32).map(|i| Some(i % 2)));
    let b = Column::from_codes((0..400u32).map(|i| Some(i / 2 % 2)));
    let field = |name: &str| Field::with_levels(name, Kind::Categorical, ["no", "yes"]);
    let data = Table::new(Schema::new(vec![field("a"), field("b")]), vec![a, b], None).unwrap();
    let specification = Specification::mixture(2, CovarianceKind::Full);
    let start = equal_components(&specification, &data);
    let fit = run_em(&specification, &data, &start, EmOptions::default());
    assert!((fit.log_likelihood + 400.0 * 4.0f64.ln()).abs() < 1e-6);
    assert!(fit.warnings[0].contains("components 1 and 2 are identical"));
}
