//! Naive Bayes on svmlight files written by scikit-learn, against scikit-learn.

use super::{golden, list, number, rows};
use abduce::Control;
use abduce::ask::Predict;
use abduce::data::{ReadOptions, TextOptions, open};
use abduce::model::mixture::{ClassPrior, FitOptions, Specification, fit};

#[test]
fn naive_bayes_of_svmlight_files_agrees_with_scikit_learn() {
    let golden = golden("svmlight");
    let folder = tempfile::tempdir().unwrap();
    for case in list(&golden["cases"]) {
        let path = folder.path().join("rows.svm");
        std::fs::write(&path, case["file"].as_str().unwrap()).unwrap();
        let options = ReadOptions {
            target: Some("label".into()),
            text: Some(TextOptions::default()),
            ..ReadOptions::default()
        };
        let opened = open(&[path.display().to_string()], &options).unwrap();
        let event = case["event"].as_str().unwrap();
        let specification = Specification {
            smoothing: number(&golden["smoothing"]),
            event: Some(event.parse().unwrap()),
            class_prior: if case["uniform"].as_bool().unwrap() {
                ClassPrior::Uniform
            } else {
                ClassPrior::Learned
            },
            ..Specification::naive_bayes("label")
        };
        let fit_options = FitOptions::default();
        let source = &*opened.source;
        let fit = fit(&specification, source, &fit_options, Control::default()).unwrap();
        assert_eq!(fit.mixture.names(), ["-1", "2", "7"]);
        let chunk = source.scan().unwrap().next().unwrap().unwrap();
        let posterior = fit.mixture.posterior(&chunk).unwrap();
        let expected = rows(&case["log_posterior"]);
        assert_eq!(expected.len(), chunk.rows());
        for (row, expected) in expected.iter().enumerate() {
            for (p, expected) in posterior.row(row).iter().zip(expected) {
                let error = (p - expected.exp()).abs();
                assert!(error <= 1e-10 * expected.exp(), "{event} {row}: {error}");
            }
        }
    }
}
