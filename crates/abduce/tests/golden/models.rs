//! Fits and predictions against scikit-learn, mclust and SciPy's optimizer.

use super::*;
use crate::common::{golden_columns, real_table};
use abduce::Control;
use abduce::ask::{Joint, Predict};
use abduce::data::{Chunk, Column, Field, Kind, Schema, Source, Table};
use abduce::family::{Covariance, Distribution, MultivariateGaussian};
use abduce::learn::EmOptions;
use abduce::model::mixture::{
    CovarianceKind, Fit, FitOptions, FittedMixture, Parameters, Specification, fit, fit_from,
};

/// A table of numbers or codes with a last column "y" of labels.
fn labelled(x: &[Vec<f64>], y: &[f64], weights: &Value, fields: Vec<Field>) -> Table {
    let classes = y.iter().fold(0.0, |top: f64, y| top.max(*y)) as usize + 1;
    let mut columns = columns(x, &fields);
    columns.push(Column::from_codes(y.iter().map(|y| Some(*y as u32))));
    let mut fields = fields;
    fields.push(Field::with_levels(
        "y",
        Kind::Categorical,
        (0..classes).map(|j| j.to_string()),
    ));
    let weights = (!weights.is_null()).then(|| numbers(weights));
    Table::new(Schema::new(fields), columns, weights).unwrap()
}

fn columns(x: &[Vec<f64>], fields: &[Field]) -> Vec<Column> {
    let cells = transposed(x);
    fields
        .iter()
        .zip(cells)
        .map(|(field, cells)| {
            if field.kind.is_coded() {
                Column::from_codes(cells.into_iter().map(|c| Some(c as u32)))
            } else {
                Column::from_numbers(cells.into_iter().map(Some))
            }
        })
        .collect()
}

/// Rows to predict, without labels or with a given one.
fn test_rows(x: &[Vec<f64>], mixture: &FittedMixture, label: Option<u32>) -> Chunk {
    let fields = &mixture.schema.fields;
    let mut columns = columns(x, &fields[..fields.len() - 1]);
    columns.push(Column::from_codes(vec![label; x.len()]));
    Chunk::new(x.len(), columns, None)
}

fn learn(specification: Specification, table: &Table) -> FittedMixture {
    let specification = Specification {
        variance_floor: 0.0,
        ..specification
    };
    fit(
        &specification,
        table,
        &FitOptions::default(),
        Control::default(),
    )
    .unwrap()
    .mixture
}

/// Joint log-likelihoods and posteriors of the test rows.
fn assert_predictions(
    mixture: &FittedMixture,
    test: &[Vec<f64>],
    joint: &[Vec<f64>],
    posterior: &[Vec<f64>],
) {
    for class in 0..mixture.components() {
        let obtained = mixture
            .log_density(&test_rows(test, mixture, Some(class as u32)))
            .unwrap();
        for (obtained, expected) in obtained.iter().zip(joint) {
            assert_close(*obtained, expected[class], 1e-10);
        }
    }
    let answers = mixture.posterior(&test_rows(test, mixture, None)).unwrap();
    for (row, expected) in posterior.iter().enumerate() {
        assert_all_close(answers.row(row), expected, 1e-10);
    }
}

fn exponentials(logs: &[Vec<f64>]) -> Vec<Vec<f64>> {
    logs.iter()
        .map(|row| row.iter().map(|l| l.exp()).collect())
        .collect()
}

#[test]
fn naive_bayes_agrees_with_scikit_learn() {
    let golden = golden("naive_bayes");
    for kind in ["gaussian", "bernoulli", "categorical"] {
        for case in list(&golden[kind]) {
            let x = rows(&case["x"]);
            let fields = (0..x[0].len())
                .map(|c| {
                    let name = format!("x{c}");
                    match kind {
                        "gaussian" => Field::new(name, Kind::Real),
                        "bernoulli" => Field::with_levels(name, Kind::Binary, ["0", "1"]),
                        _ => {
                            let levels = number(&case["levels"][c]) as usize;
                            Field::with_levels(
                                name,
                                Kind::Categorical,
                                (0..levels).map(|l| l.to_string()),
                            )
                        }
                    }
                })
                .collect();
            let table = labelled(&x, &numbers(&case["y"]), &case["weights"], fields);
            let smoothing = case["smoothing"].as_f64().unwrap_or(0.0);
            let mixture = learn(
                Specification {
                    smoothing,
                    ..Specification::naive_bayes("y")
                },
                &table,
            );
            let joint = rows(&case["joint_log_likelihood"]);
            assert_predictions(
                &mixture,
                &rows(&case["test"]),
                &joint,
                &exponentials(&rows(&case["log_posterior"])),
            );
        }
    }
}

#[test]
fn discriminant_analysis_agrees_with_scikit_learn() {
    let golden = golden("discriminant");
    for table in ["iris", "seeded"] {
        let case = &golden[table];
        let x = rows(&case["x"]);
        let fields = (0..x[0].len())
            .map(|c| Field::new(format!("x{c}"), Kind::Real))
            .collect();
        let table = labelled(&x, &numbers(&case["y"]), &Value::Null, fields);
        for (kind, form) in [
            (CovarianceKind::Full, "quadratic"),
            (CovarianceKind::Tied, "linear"),
        ] {
            let mixture = learn(Specification::gda("y", kind), &table);
            let expected = &case[form];
            for posterior in ["posterior", "posterior_scikit_learn"] {
                let joint = rows(&expected["joint_log_likelihood"]);
                assert_predictions(
                    &mixture,
                    &rows(&case["test"]),
                    &joint,
                    &rows(&expected[posterior]),
                );
            }
        }
    }
}

fn kind_of(structure: &str) -> CovarianceKind {
    structure.parse().unwrap()
}

fn gaussians(structure: &str, means: &Value, covariances: &Value) -> Vec<Distribution> {
    rows(means)
        .into_iter()
        .enumerate()
        .map(|(j, mean)| {
            let covariance = match structure {
                "full" => Covariance::Full(rows(&covariances[j]).concat()),
                "tied" => Covariance::Full(rows(covariances).concat()),
                "diagonal" => Covariance::Diagonal(numbers(&covariances[j])),
                _ => Covariance::Spherical(number(&covariances[j])),
            };
            Distribution::Multivariate(MultivariateGaussian { mean, covariance })
        })
        .collect()
}

/// Columns without missing values.
fn present(columns: Vec<Vec<f64>>) -> Vec<Vec<Option<f64>>> {
    let column = |cells: Vec<f64>| cells.into_iter().map(Some).collect();
    columns.into_iter().map(column).collect()
}

#[test]
fn five_iterations_of_em_are_those_of_scikit_learn() {
    let golden = golden("mixture");
    let table = real_table(
        present(transposed(&rows(&golden["five_iterations"]["x"]))),
        None,
    );
    for run in list(&golden["five_iterations"]["runs"]) {
        let structure = run["structure"].as_str().unwrap();
        let start = Parameters {
            unseen: Vec::new(),
            weights: numbers(&run["start"]["weights"]),
            leaves: vec![gaussians(
                structure,
                &run["start"]["means"],
                &run["start"]["covariances"],
            )],
        };
        let specification = Specification {
            variance_floor: 0.0,
            ..Specification::mixture(start.weights.len(), kind_of(structure))
        };
        let em = EmOptions {
            tolerance: -1.0,
            max_iterations: 5,
            ..EmOptions::default()
        };
        let options = FitOptions {
            em,
            ..FitOptions::default()
        };
        let Fit { trace, mixture, .. } = fit_from(
            &specification,
            &table,
            Some(&start),
            &options,
            Control::default(),
        )
        .unwrap();
        let mean: Vec<f64> = trace.iter().map(|l| l / table.rows() as f64).collect();
        assert_all_close(
            &mean[..5],
            &numbers(&run["mean_log_likelihood_before_each_m_step"]),
            1e-12,
        );
        assert_close(
            mean[5],
            number(&run["mean_log_likelihood_at_the_end"]),
            1e-12,
        );
        let expected = gaussians(structure, &run["end"]["means"], &run["end"]["covariances"]);
        let weights = numbers(&run["end"]["weights"]);
        for (weight, expected) in weights.iter().zip(&expected) {
            // The components of a fit are sorted by weight.
            let j = mixture
                .parameters
                .weights
                .iter()
                .position(|w| (w - weight).abs() < 1e-9)
                .unwrap();
            let (Distribution::Multivariate(a), Distribution::Multivariate(b)) =
                (&mixture.parameters.leaves[0][j], expected)
            else {
                panic!("not a Gaussian")
            };
            assert_all_close(&a.mean, &b.mean, 1e-9);
            for (i, l) in (0..9).map(|t| (t % 3, t / 3)) {
                assert_close(a.covariance(i, l), b.covariance(i, l), 1e-9);
            }
        }
    }
}

fn maximum(table: &Table, components: usize, kind: CovarianceKind) -> f64 {
    let specification = Specification::mixture(components, kind);
    let fit = fit(
        &specification,
        table,
        &FitOptions::default(),
        Control::default(),
    )
    .unwrap();
    assert!(fit.monotone);
    fit.log_likelihood
}

#[test]
fn mixtures_reach_the_maxima_that_scikit_learn_and_mclust_find() {
    let golden_mixture = golden("mixture");
    let iris = real_table(
        present(transposed(&rows(&golden_mixture["iris"]["x"]))),
        None,
    );
    for case in list(&golden_mixture["iris"]["maxima"]) {
        let kind = kind_of(case["structure"].as_str().unwrap());
        let obtained = maximum(&iris, case["components"].as_u64().unwrap() as usize, kind);
        assert!(
            obtained > number(&case["log_likelihood"]) - 1e-3,
            "{kind:?} {obtained} {}",
            case["log_likelihood"]
        );
    }
    let faithful = real_table(present(golden_columns("faithful")), None);
    for case in list(&golden_mixture["faithful"]) {
        let kind = kind_of(case["structure"].as_str().unwrap());
        let obtained = maximum(
            &faithful,
            case["components"].as_u64().unwrap() as usize,
            kind,
        );
        assert!(
            (obtained - number(&case["log_likelihood"])).abs() < 1e-3,
            "{kind:?} {obtained}"
        );
    }
    for case in list(&golden("mclust")["faithful"]) {
        let kind = if case["name"] == "EEE" {
            CovarianceKind::Tied
        } else {
            CovarianceKind::Full
        };
        let obtained = maximum(
            &faithful,
            case["components"].as_u64().unwrap() as usize,
            kind,
        );
        assert!(
            obtained >= number(&case["log_likelihood"]),
            "{kind:?} {obtained}"
        );
    }
}

#[test]
fn gaussians_with_holes_reach_the_observed_data_maximum() {
    let golden = golden("missing");
    for name in ["bivariate", "general"] {
        let case = &golden[name];
        let x: Vec<Vec<Option<f64>>> = list(&case["x"])
            .iter()
            .map(|row| list(row).iter().map(Value::as_f64).collect())
            .collect();
        let d = x[0].len();
        let table = real_table((0..d).map(|c| x.iter().map(move |row| row[c])), None);
        let specification = Specification {
            variance_floor: 0.0,
            ..Specification::mixture(1, CovarianceKind::Full)
        };
        let em = EmOptions {
            tolerance: 1e-14,
            ..EmOptions::default()
        };
        let options = FitOptions {
            em,
            ..FitOptions::default()
        };
        let fit = fit(&specification, &table, &options, Control::default()).unwrap();
        assert!(fit.monotone);
        assert_close(fit.log_likelihood, number(&case["log_likelihood"]), 1e-9);
        let Distribution::Multivariate(normal) = &fit.mixture.parameters.leaves[0][0] else {
            panic!("not a Gaussian")
        };
        assert_all_close(&normal.mean, &numbers(&case["mean"]), 1e-4);
        for (i, row) in rows(&case["covariance"]).iter().enumerate() {
            for (j, expected) in row.iter().enumerate() {
                assert_close(normal.covariance(i, j), *expected, 1e-4);
            }
        }
    }
}
