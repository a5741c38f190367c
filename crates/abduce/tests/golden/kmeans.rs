//! k-means from given centres, against scikit-learn.

use super::*;
use crate::common::real_table;
use abduce::Control;
use abduce::model::kmeans::{Algorithm, Options, Specification, fit_from};

#[test]
fn clusters_from_given_centres_are_those_of_scikit_learn() {
    for case in list(&golden("kmeans")["cases"]) {
        let (x, start) = (rows(&case["x"]), rows(&case["start"]));
        let columns = transposed(&x);
        let weights = weights(&case["weights"], x.len());
        let cells = columns
            .iter()
            .map(|column| column.iter().copied().map(Some));
        let table = real_table(cells, Some(weights));
        for (key, max_iterations) in [("three", 3), ("end", 1000)] {
            for algorithm in [
                Algorithm::Lloyd,
                Algorithm::Hamerly,
                Algorithm::Elkan,
                Algorithm::Yinyang,
            ] {
                let options = Options {
                    algorithm,
                    max_iterations,
                    tolerance: 0.0,
                    ..Options::default()
                };
                let specification = Specification::new(start.len());
                let fit = fit_from(
                    &specification,
                    &table,
                    Some(&start),
                    &options,
                    Control::default(),
                )
                .unwrap();
                let expected = &case[key];
                assert_close(fit.inertia, number(&expected["inertia"]), 1e-10);
                assert_all_close(&fit.model.sizes, &numbers(&expected["sizes"]), 1e-12);
                for (centre, expected) in fit.model.centres.iter().zip(rows(&expected["centres"])) {
                    assert_all_close(centre, &expected, 1e-10);
                }
            }
        }
    }
}
