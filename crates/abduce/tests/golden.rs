//! Numbers from programs nobody here wrote; `golden/README.md` says which, and
//! how they are made again.

use abduce::ask::Joint;
use abduce::data::{Cells, Chunk, Column, Field, Kind, Rows, Schema, Source, Table};
use abduce::family::{
    Bernoulli, Categorical, Covariance, Distribution, Exponential, Family, Gaussian,
    MultivariateGaussian, Poisson,
};
use abduce::learn::{Control, EmOptions};
use abduce::model::mixture::{
    CovarianceKind, Fit, FitOptions, Mixture, Parameters, Specification, fit, fit_from,
};
use serde_json::Value;

fn golden(name: &str) -> Value {
    let path = format!("{}/../../golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap()
}

fn weights(value: &Value, rows: usize) -> Vec<f64> {
    if value.is_null() {
        vec![1.0; rows]
    } else {
        numbers(value)
    }
}

fn transposed(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    (0..rows[0].len())
        .map(|c| rows.iter().map(|row| row[c]).collect())
        .collect()
}

#[track_caller]
fn assert_close(obtained: f64, expected: f64, relative: f64) {
    let error = (obtained - expected).abs();
    assert!(
        error <= relative * (1.0 + expected.abs()),
        "obtained {obtained}, expected {expected}"
    );
}

#[track_caller]
fn assert_all_close(obtained: &[f64], expected: &[f64], relative: f64) {
    assert_eq!(obtained.len(), expected.len());
    for (obtained, expected) in obtained.iter().zip(expected) {
        assert_close(*obtained, *expected, relative);
    }
}

fn densities<F: Family>(family: &F, cells: &[Cells]) -> Vec<f64> {
    let rows = Rows::new(cells);
    let mut out = vec![0.0; rows.len];
    family.add_log_density(&rows, &mut out);
    out
}

fn estimate<F: Family>(shape: &F::Shape, cells: &[Cells], weights: &[f64]) -> F {
    let mut stats = F::zero(shape);
    F::observe(&Rows::new(cells), weights, &mut stats);
    F::mle(&stats).unwrap()
}

#[test]
fn one_column_densities_are_those_of_scipy() {
    let golden = golden("families");
    for case in list(&golden["normal"]["densities"]) {
        let points = numbers(&case["points"]);
        let family = Gaussian {
            mean: number(&case["mean"]),
            variance: number(&case["variance"]),
        };
        let obtained = densities(&family, &[Cells::real(&points)]);
        assert_all_close(&obtained, &numbers(&case["log_density"]), 1e-12);
    }
    for case in list(&golden["poisson"]["densities"]) {
        let points = numbers(&case["points"]);
        let obtained = densities(
            &Poisson {
                rate: number(&case["rate"]),
            },
            &[Cells::real(&points)],
        );
        for ((obtained, expected), x) in obtained
            .iter()
            .zip(numbers(&case["log_density_mpmath"]))
            .zip(&points)
        {
            // The terms that cancel are of the size x ln x.
            let size = 1.0 + x * (1.0 + x).ln();
            assert!(
                (obtained - expected).abs() < 4e-15 * size + 1e-12,
                "{obtained} {expected}"
            );
        }
    }
    for case in list(&golden["exponential"]["densities"]) {
        let points = numbers(&case["points"]);
        let obtained = densities(
            &Exponential {
                rate: number(&case["rate"]),
            },
            &[Cells::real(&points)],
        );
        assert_all_close(&obtained, &numbers(&case["log_density"]), 1e-13);
    }
    for case in list(&golden["bernoulli"]["densities"]) {
        let codes: Vec<u32> = numbers(&case["points"]).iter().map(|x| *x as u32).collect();
        let obtained = densities(
            &Bernoulli {
                probability: number(&case["p"]),
            },
            &[Cells::code(&codes)],
        );
        assert_all_close(&obtained, &numbers(&case["log_density"]), 1e-13);
    }
    for case in list(&golden["categorical"]["densities"]) {
        let codes: Vec<u32> = numbers(&case["points"]).iter().map(|x| *x as u32).collect();
        let obtained = densities(
            &Categorical {
                probabilities: numbers(&case["p"]),
            },
            &[Cells::code(&codes)],
        );
        assert_all_close(&obtained, &numbers(&case["log_density"]), 1e-13);
    }
}

#[test]
fn one_column_estimates_are_those_of_scipy() {
    let golden = golden("families");
    for case in list(&golden["normal"]["fits"]) {
        let values = numbers(&case["values"]);
        let fitted: Gaussian = estimate(
            &(),
            &[Cells::real(&values)],
            &weights(&case["weights"], values.len()),
        );
        assert_close(fitted.mean, number(&case["mean"]), 1e-14);
        assert_close(fitted.variance, number(&case["variance"]), 1e-9);
    }
    for case in list(&golden["poisson"]["fits"]) {
        let values = numbers(&case["values"]);
        let fitted: Poisson = estimate(
            &(),
            &[Cells::real(&values)],
            &weights(&case["weights"], values.len()),
        );
        assert_close(fitted.rate, number(&case["rate"]), 1e-14);
    }
    for case in list(&golden["exponential"]["fits"]) {
        let values = numbers(&case["values"]);
        let fitted: Exponential = estimate(
            &(),
            &[Cells::real(&values)],
            &weights(&case["weights"], values.len()),
        );
        assert_close(fitted.rate, number(&case["rate"]), 1e-14);
    }
    for case in list(&golden["bernoulli"]["fits"]) {
        let codes: Vec<u32> = numbers(&case["values"]).iter().map(|x| *x as u32).collect();
        let fitted: Bernoulli = estimate(
            &(),
            &[Cells::code(&codes)],
            &weights(&case["weights"], codes.len()),
        );
        assert_close(fitted.probability, number(&case["p"]), 1e-14);
    }
    for case in list(&golden["categorical"]["fits"]) {
        let codes: Vec<u32> = numbers(&case["values"]).iter().map(|x| *x as u32).collect();
        let levels = case["levels"].as_u64().unwrap() as usize;
        let fitted: Categorical = estimate(
            &levels,
            &[Cells::code(&codes)],
            &weights(&case["weights"], codes.len()),
        );
        assert_all_close(&fitted.probabilities, &numbers(&case["p"]), 1e-14);
    }
}

fn covariance(structure: &str, matrix: &[Vec<f64>]) -> Covariance {
    match structure {
        "full" => Covariance::Full(matrix.concat()),
        "diagonal" => Covariance::Diagonal((0..matrix.len()).map(|c| matrix[c][c]).collect()),
        "spherical" => Covariance::Spherical(matrix[0][0]),
        other => panic!("{other}"),
    }
}

#[test]
fn multivariate_densities_and_estimates_are_those_of_scipy() {
    let golden = golden("families");
    let family = &golden["multivariate_normal"];
    for case in list(&family["densities"]) {
        let structure = case["structure"].as_str().unwrap();
        let columns = transposed(&rows(&case["points"]));
        let cells: Vec<Cells> = columns.iter().map(|c| Cells::real(c)).collect();
        let normal = MultivariateGaussian {
            mean: numbers(&case["mean"]),
            covariance: covariance(structure, &rows(&case["covariance"])),
        };
        assert_all_close(
            &densities(&normal, &cells),
            &numbers(&case["log_density"]),
            1e-11,
        );
    }
    for case in list(&family["fits"]) {
        let matrix = rows(&case["covariance"]);
        let shape = MultivariateGaussian {
            mean: numbers(&case["mean"]),
            covariance: covariance(case["structure"].as_str().unwrap(), &matrix),
        }
        .shape();
        let values = rows(&case["values"]);
        let columns = transposed(&values);
        let cells: Vec<Cells> = columns.iter().map(|c| Cells::real(c)).collect();
        let fitted: MultivariateGaussian =
            estimate(&shape, &cells, &weights(&case["weights"], values.len()));
        assert_all_close(&fitted.mean, &numbers(&case["mean"]), 1e-13);
        for (i, row) in matrix.iter().enumerate() {
            for (j, expected) in row.iter().enumerate() {
                assert_close(fitted.covariance(i, j), *expected, 1e-12);
            }
        }
    }
}

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

/// Rows to ask about, their labels hidden or given.
fn asked(x: &[Vec<f64>], mixture: &Mixture, label: Option<u32>) -> Chunk {
    let fields = &mixture.schema.fields;
    let mut columns = columns(x, &fields[..fields.len() - 1]);
    columns.push(Column::from_codes(vec![label; x.len()]));
    Chunk::new(x.len(), columns, None)
}

fn learn(specification: Specification, table: &Table) -> Mixture {
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
fn check_answers(mixture: &Mixture, test: &[Vec<f64>], joint: &[Vec<f64>], posterior: &[Vec<f64>]) {
    for class in 0..mixture.components() {
        let obtained = mixture
            .log_density(&asked(test, mixture, Some(class as u32)))
            .unwrap();
        for (obtained, expected) in obtained.iter().zip(joint) {
            assert_close(*obtained, expected[class], 1e-10);
        }
    }
    let answers = mixture.posterior(&asked(test, mixture, None)).unwrap();
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
fn naive_bayes_answers_like_scikit_learn() {
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
            check_answers(
                &mixture,
                &rows(&case["test"]),
                &joint,
                &exponentials(&rows(&case["log_posterior"])),
            );
        }
    }
}

#[test]
fn discriminant_analysis_answers_like_scikit_learn() {
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
                check_answers(
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

fn real_table(x: &[Vec<f64>]) -> Table {
    let fields: Vec<Field> = (0..x[0].len())
        .map(|c| Field::new(format!("x{c}"), Kind::Real))
        .collect();
    Table::new(Schema::new(fields.clone()), columns(x, &fields), None).unwrap()
}

#[test]
fn five_iterations_of_em_are_those_of_scikit_learn() {
    let golden = golden("mixture");
    let table = real_table(&rows(&golden["five_iterations"]["x"]));
    for run in list(&golden["five_iterations"]["runs"]) {
        let structure = run["structure"].as_str().unwrap();
        let start = Parameters {
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
            // Ours are sorted by weight.
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
    let iris = real_table(&rows(&golden_mixture["iris"]["x"]));
    for case in list(&golden_mixture["iris"]["maxima"]) {
        let kind = kind_of(case["structure"].as_str().unwrap());
        let obtained = maximum(&iris, case["components"].as_u64().unwrap() as usize, kind);
        assert!(
            obtained > number(&case["log_likelihood"]) - 1e-3,
            "{kind:?} {obtained} {}",
            case["log_likelihood"]
        );
    }
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../golden/faithful.csv"
    ))
    .unwrap();
    let x: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|l| l.split(',').map(|c| c.parse().unwrap()).collect())
        .collect();
    let faithful = real_table(&x);
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
        let fields = (0..d)
            .map(|c| Field::new(format!("x{c}"), Kind::Real))
            .collect();
        let columns = (0..d)
            .map(|c| Column::from_numbers(x.iter().map(|row| row[c])))
            .collect();
        let table = Table::new(Schema::new(fields), columns, None).unwrap();
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
