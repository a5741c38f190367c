//! Figures of predictions and clusters, and calibrations, of scikit-learn.

use super::*;
use abduce::eval::{Contingency, Metrics};

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
fn figures_of_predictions_are_those_of_scikit_learn() {
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
            let own: Vec<f64> = (0..p[0].len()).map(|k| found.confusion(class, k)).collect();
            assert_all_close(&own, confusion, 1e-13);
            let own = found.class(class);
            assert_close(own.precision, numbers(&case["precision"])[class], 1e-13);
            assert_close(own.recall, numbers(&case["recall"])[class], 1e-13);
            assert_close(own.f1, numbers(&case["f1"])[class], 1e-13);
            assert_close(own.support, numbers(&case["support"])[class], 1e-13);
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
fn groupings_agree_as_much_as_scikit_learn_says() {
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
