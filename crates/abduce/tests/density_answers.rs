//! What densities of classes answer where rows, labels or classes are odd: classes
//! that only holes or no rows speak for, places that nothing reaches.

use abduce::ask::{Conditional, Joint};
use abduce::data::{Chunk, Column, Field, Kind, Schema, Table};
use abduce::density::{BandwidthShape, Bins, Kernel, Rule, Selection};
use abduce::family::Fill;
use abduce::learn::Control;
use abduce::model::density::{DensityModel, Estimator, Fit, Specification, fit};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

type Row = (Option<f64>, Option<f64>, Option<u32>);

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(1)
}

fn chunk(rows: &[Row]) -> Chunk {
    let columns = vec![
        Column::from_numbers(rows.iter().map(|row| row.0)),
        Column::from_numbers(rows.iter().map(|row| row.1)),
        Column::from_codes(rows.iter().map(|row| row.2)),
    ];
    Chunk::new(rows.len(), columns, None)
}

fn fitted(estimator: Estimator, rows: &[Row], weights: Option<Vec<f64>>) -> Fit {
    let schema = Schema::new(vec![
        Field::new("x", Kind::Real),
        Field::new("y", Kind::Real),
        Field::with_levels("z", Kind::Categorical, ["a", "b", "c"]),
    ]);
    let columns = chunk(rows).columns().to_vec();
    let table = Table::new(schema, columns, weights).unwrap();
    let specification = Specification {
        target: Some("z".into()),
        estimator,
    };
    fit(&specification, &table, Control::default()).unwrap()
}

fn kde(kernel: Kernel, rule: Rule) -> Estimator {
    let selection = Selection {
        rule,
        shape: match rule {
            Rule::Number(_) => BandwidthShape::Diagonal,
            _ => BandwidthShape::Full,
        },
        ..Selection::default()
    };
    Estimator::Kde { kernel, selection }
}

fn histogram(smoothing: f64) -> Estimator {
    Estimator::Histogram {
        bins: Bins::Number(8),
        smoothing,
    }
}

const KNN: Estimator = Estimator::Knn { neighbours: None };

/// Two classes of ten rows that lie apart along x, of which b has two holes; c has
/// one row, and that has a hole.
fn rows() -> Vec<Row> {
    let y = |i: u32| Some((f64::from(i) * 1.3).sin() + 0.3 * f64::from(i));
    let of_a = (0..10).map(|i| (Some(f64::from(i) * 0.1), y(i), Some(0)));
    let of_b = (0..10).map(|i| (Some(5.0 + f64::from(i) * 0.1), y(i), Some(1)));
    let mut rows: Vec<Row> = of_a.chain(of_b).collect();
    rows[13].1 = None;
    rows[17].0 = None;
    rows.push((Some(2.0), None, Some(2)));
    rows
}

fn log_density(model: &DensityModel, row: Row) -> f64 {
    model.log_density(&chunk(&[row])).unwrap()[0]
}

#[test]
fn a_hole_takes_nothing_from_what_a_label_says() {
    for estimator in [kde(Kernel::Gaussian, Rule::Scott), histogram(1.0), KNN] {
        let fit = fitted(estimator, &rows(), None);
        assert_eq!(fit.model.weights, [0.5, 0.5, 0.0]);
        assert_eq!((fit.rows, fit.weight), (18, 18.0));
        let nothing = fit.model.posterior(&chunk(&[(None, None, None)])).unwrap();
        assert_eq!(nothing.row(0), [0.5, 0.5, 0.0]);
    }
}

#[test]
fn a_class_of_no_points_is_impossible_and_its_holes_are_filled_from_all_rows() {
    for estimator in [kde(Kernel::Gaussian, Rule::Scott), histogram(1.0)] {
        let model = fitted(estimator, &rows(), None).model;
        assert_eq!(
            log_density(&model, (Some(5.1), Some(1.0), Some(2))),
            f64::NEG_INFINITY
        );
        assert_eq!(
            log_density(&model, (None, None, Some(2))),
            f64::NEG_INFINITY
        );
        assert!(
            model
                .sample(&[None, None, Some(2.0)], 3, &mut rng())
                .is_err()
        );
        for how in [Fill::Mean, Fill::Mode, Fill::Draw] {
            let labelled = chunk(&[(Some(5.1), None, Some(2))]);
            let unlabelled = chunk(&[(Some(5.1), None, None)]);
            let y = |rows: &Chunk| {
                let filled = model.complete(rows, how, &mut rng()).unwrap();
                filled.column(1).cells(0, 1).reals()[0]
            };
            assert_eq!(y(&labelled), y(&unlabelled));
            let filled = model.complete(&labelled, how, &mut rng()).unwrap();
            assert_eq!(filled.column(2).cells(0, 1).codes(), [2]);
        }
    }
}

#[test]
fn where_nothing_reaches_what_is_seen_tells_nothing() {
    for estimator in [
        kde(Kernel::Epanechnikov, Rule::Scott),
        kde(Kernel::Tophat, Rule::Number(0.5)),
        histogram(0.0),
    ] {
        let model = fitted(estimator, &rows(), None).model;
        for how in [Fill::Mean, Fill::Mode, Fill::Draw] {
            let y = |x: Option<f64>| {
                let row = chunk(&[(x, None, Some(0))]);
                let filled = model.complete(&row, how, &mut rng()).unwrap();
                filled.column(1).cells(0, 1).reals()[0]
            };
            let far = y(Some(1e6));
            assert!((-3.0..6.0).contains(&far), "{estimator:?} {how:?}: {far}");
            if how != Fill::Draw {
                assert_eq!(far, y(None));
            }
        }
    }
    // Within the box but in no cell of points, the whole box is all that is known.
    let model = fitted(histogram(1.0), &rows(), None).model;
    let empty = chunk(&[(Some(3.0), None, Some(0))]);
    let mode = model.complete(&empty, Fill::Mode, &mut rng()).unwrap();
    let mean = model.complete(&empty, Fill::Mean, &mut rng()).unwrap();
    assert_eq!(
        mode.column(1).cells(0, 1).reals(),
        mean.column(1).cells(0, 1).reals()
    );
}

#[test]
fn the_farthest_places_are_impossible_and_not_numbers_gone_wrong() {
    for estimator in [
        kde(Kernel::Gaussian, Rule::Scott),
        kde(Kernel::Gaussian, Rule::Number(1e-140)),
        kde(Kernel::Exponential, Rule::Number(1e-140)),
        histogram(0.0),
        KNN,
    ] {
        let model = fitted(estimator, &rows(), None).model;
        for place in [(1e300, 1e300), (1e300, -1e300), (f64::MAX, 0.0)] {
            let row = (Some(place.0), Some(place.1), None);
            assert_eq!(log_density(&model, row), f64::NEG_INFINITY, "{estimator:?}");
            let posterior = model.posterior(&chunk(&[row])).unwrap();
            assert_eq!(posterior.row(0), model.weights);
        }
        if estimator != KNN {
            let far = chunk(&[(Some(1e300), None, None), (Some(f64::MAX), None, Some(1))]);
            let filled = model.complete(&far, Fill::Mean, &mut rng()).unwrap();
            assert!(
                filled
                    .column(1)
                    .cells(0, 2)
                    .reals()
                    .iter()
                    .all(|y| y.is_finite())
            );
        }
    }
}

#[test]
fn conditionals_of_histograms_have_the_density_of_the_joint() {
    let model = fitted(histogram(1.0), &rows(), None).model;
    let Conditional::Numbers(parts) = model.condition(&[Some(0.4), None, None], 1).unwrap() else {
        panic!("numbers were asked for");
    };
    for y in [0.1, 1.2, 2.2] {
        let cells = [y];
        let columns = [abduce::data::Cells::real(&cells)];
        let rows = abduce::data::Rows::new(&columns);
        let mixed: f64 = parts
            .iter()
            .map(|(weight, part)| {
                let mut out = [0.0];
                part.add_log_density(&rows, &mut out);
                weight * out[0].exp()
            })
            .sum();
        let expected = log_density(&model, (Some(0.4), Some(y), None))
            - log_density(&model, (Some(0.4), None, None));
        assert!((mixed.ln() - expected).abs() < 1e-12, "{mixed} {expected}");
    }
}

#[test]
fn a_number_too_large_is_told_with_its_column() {
    let mut odd = rows();
    odd[4].1 = Some(1e200);
    let table = Table::new(
        Schema::new(vec![
            Field::new("x", Kind::Real),
            Field::new("y", Kind::Real),
        ]),
        chunk(&odd).columns()[..2].to_vec(),
        None,
    );
    let specification = Specification {
        target: None,
        estimator: KNN,
    };
    let error = fit(&specification, &table.unwrap(), Control::default()).unwrap_err();
    assert_eq!(error.column(), Some("y"));
}
