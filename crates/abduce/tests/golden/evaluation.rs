//! Metrics of predictions and clusterings, and calibration, against scikit-learn.

use super::*;
use abduce::Control;
use abduce::data::Folds;
use abduce::data::{Column, Field, Kind, Schema, Source, Table};
use abduce::eval::{Calibration, CalibrationMethod, Contingency, Curve, Metrics};
use abduce::model::AnyModel;
use abduce::model::mixture::{FitOptions, Recipe, Specification, fit};

fn codes(value: &Value) -> Vec<usize> {
    numbers(value)
        .into_iter()
        .map(|code| code as usize)
        .collect()
}

fn metrics(p: &[Vec<f64>], truth: &[usize], weights: &[f64]) -> Metrics {
    let mut metrics = Metrics::new(p[0].len());
    for ((p, truth), weight) in p.iter().zip(truth).zip(weights) {
        metrics.observe(p, *truth, *weight);
    }
    metrics
}

#[test]
fn prediction_metrics_are_those_of_scikit_learn() {
    for case in list(&golden("evaluation")["metrics"]) {
        let p = rows(&case["probabilities"]);
        let truth = codes(&case["truth"]);
        let found = metrics(&p, &truth, &weights(&case["weights"], truth.len()));
        for (figure, obtained) in [
            ("accuracy", found.accuracy()),
            ("log_loss", found.clipped_log_loss()),
            ("brier", found.brier()),
            ("macro_f1", found.macro_f1()),
            ("weighted_f1", found.weighted_f1()),
            ("balanced_accuracy", found.balanced_accuracy()),
        ] {
            assert_close(obtained, number(&case[figure]), 1e-13);
        }
        assert_eq!(
            found.brier_of_two().is_none(),
            case["brier_score_loss"].is_null()
        );
        if let Some(brier) = found.brier_of_two() {
            assert_close(brier, number(&case["brier_score_loss"]), 1e-13);
        }
        for (class, confusion) in rows(&case["confusion"]).iter().enumerate() {
            let obtained: Vec<f64> = (0..p[0].len()).map(|k| found.confusion(class, k)).collect();
            assert_all_close(&obtained, confusion, 1e-13);
            let obtained = found.class(class);
            assert_close(
                obtained.precision,
                numbers(&case["precision"])[class],
                1e-13,
            );
            assert_close(obtained.recall, numbers(&case["recall"])[class], 1e-13);
            assert_close(obtained.f1, numbers(&case["f1"])[class], 1e-13);
            assert_close(obtained.support, numbers(&case["support"])[class], 1e-13);
        }
    }
}

#[test]
fn the_reliability_table_is_that_of_scikit_learn() {
    for case in list(&golden("evaluation")["metrics"]) {
        let p = rows(&case["probabilities"]);
        let truth = codes(&case["truth"]);
        let found = metrics(&p, &truth, &vec![1.0; truth.len()]);
        let bins: Vec<_> = (found.reliability().iter())
            .filter(|bin| bin.weight > 0.0)
            .collect();
        let expected = &case["reliability"];
        let of = |figure: fn(&abduce::eval::Bin) -> f64| -> Vec<f64> {
            bins.iter().map(|bin| figure(bin)).collect()
        };
        assert_eq!(of(|bin| bin.weight), numbers(&expected["rows"]));
        let (accuracy, confidence) = (&expected["accuracy"], &expected["confidence"]);
        assert_all_close(&of(|bin| bin.accuracy()), &numbers(accuracy), 1e-13);
        assert_all_close(&of(|bin| bin.confidence()), &numbers(confidence), 1e-13);
        let gaps = numbers(accuracy).into_iter().zip(numbers(confidence));
        let gaps = gaps.zip(numbers(&expected["rows"]));
        let error: f64 = gaps.map(|((a, c), rows)| rows * (a - c).abs()).sum();
        assert_close(found.calibration_error(), error / truth.len() as f64, 1e-13);
    }
}

#[test]
fn clustering_metrics_are_those_of_scikit_learn() {
    for case in list(&golden("evaluation")["clusters"]) {
        let mut table = Contingency::new(8, 8);
        for (truth, cluster) in codes(&case["truth"]).iter().zip(codes(&case["clusters"])) {
            table.observe(*truth, cluster, 1.0);
        }
        let (ari, nmi) = (
            table.adjusted_rand_index(),
            table.normalized_mutual_information(),
        );
        assert_close(ari, number(&case["adjusted_rand"]), 1e-13);
        assert_close(nmi, number(&case["normalized_mutual_information"]), 1e-13);
    }
}

fn truth(value: &Value) -> Vec<bool> {
    numbers(value).into_iter().map(|y| y > 0.0).collect()
}

#[test]
fn isotonic_curves_are_those_of_scikit_learn() {
    for case in list(&golden("evaluation")["isotonic"]) {
        let scores = numbers(&case["scores"]);
        let weights = weights(&case["weights"], scores.len());
        // scikit-learn does not bound its curves away from 0 and 1.
        let curve = Curve::steps(&scores, &truth(&case["truth"]), &weights).unbounded();
        let Curve::Steps { scores, shares, .. } = &curve else {
            panic!("expected an isotonic curve");
        };
        // Both programs keep the two ends of every constant segment.
        assert_all_close(scores, &numbers(&case["knots"]), 1e-13);
        assert_all_close(shares, &numbers(&case["shares"]), 1e-13);
        let query = numbers(&case["asked"]).into_iter();
        let obtained: Vec<f64> = query.map(|score| curve.at(&[0.0, score], 1)).collect();
        assert_all_close(&obtained, &numbers(&case["calibrated"]), 1e-13);
    }
}

#[test]
fn logistic_curves_are_those_of_scikit_learn() {
    for case in list(&golden("evaluation")["platt"]) {
        let scores = numbers(&case["scores"]);
        let weights = weights(&case["weights"], scores.len());
        let curve = Curve::logistic(&scores, &truth(&case["truth"]), &weights);
        let Curve::Logistic { slope, intercept } = curve else {
            panic!("expected a logistic curve");
        };
        assert_close(slope, number(&case["slope"]), 1e-9);
        assert_close(intercept, number(&case["intercept"]), 1e-9);
    }
}

/// Rows of three numbers, with labels in the last column if there are any.
fn table(x: &[Vec<f64>], y: Option<&[usize]>, classes: usize) -> Table {
    let names = ["a", "b", "c"];
    let mut fields: Vec<Field> = names.map(|name| Field::new(name, Kind::Real)).to_vec();
    let levels = (0..classes).map(|class| class.to_string());
    fields.push(Field::with_levels("y", Kind::Categorical, levels));
    let cells = transposed(x).into_iter();
    let mut columns: Vec<Column> = cells
        .map(|cells| Column::from_numbers(cells.into_iter().map(Some)))
        .collect();
    let label = |row: usize| y.map(|y| y[row] as u32);
    columns.push(Column::from_codes((0..x.len()).map(label)));
    Table::new(Schema::new(fields), columns, None).unwrap()
}

#[test]
fn a_calibrated_naive_bayes_is_that_of_scikit_learn() {
    for case in list(&golden("evaluation")["calibrated"]) {
        let classes = number(&case["classes"]) as usize;
        let training = table(&rows(&case["x"]), Some(&codes(&case["y"])), classes);
        let specification = Specification {
            variance_floor: 0.0,
            ..Specification::naive_bayes("y")
        };
        let learn = |rows: &dyn Source| -> abduce::Result<AnyModel> {
            let options = FitOptions::default();
            let fit = fit(&specification, rows, &options, Control::default())?;
            Ok(fit
                .learned(Recipe::new(specification.clone(), options))
                .model)
        };
        let folds: Vec<Option<usize>> = codes(&case["fold"]).into_iter().map(Some).collect();
        let folds = Folds::given(&folds).unwrap();
        let method = CalibrationMethod::Isotonic;
        let bounded = Calibration::learn(method, &training, &folds, learn).unwrap();
        // scikit-learn does not bound its curves away from 0 and 1.
        let calibration = Calibration {
            curves: bounded.curves.into_iter().map(Curve::unbounded).collect(),
            ..bounded
        };
        let test = table(&rows(&case["test"]), None, classes);
        let posterior = learn(&training)
            .unwrap()
            .predictor()
            .posterior(&test.chunks()[0]);
        let calibrated = calibration.apply(&posterior.unwrap());
        for (row, expected) in rows(&case["probabilities"]).iter().enumerate() {
            assert_all_close(calibrated.row(row), expected, 1e-9);
        }
    }
}
