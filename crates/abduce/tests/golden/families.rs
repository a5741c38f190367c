//! Densities and estimates against SciPy.

use super::*;
use abduce::data::{Cells, Rows};
use abduce::family::{
    Bernoulli, Categorical, Covariance, Exponential, Family, Gaussian, MultivariateGaussian,
    Poisson,
};

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
            // Rounding is relative to the terms that cancel, of size x ln x.
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
