//! Densities of scikit-learn and SciPy, bandwidths of SciPy and KDEpy, bins of
//! NumPy and astropy.

use super::*;
use abduce::density::{
    Bandwidth, BandwidthShape, Bins, Edges, Histogram, Kernel, KernelDensity, NearestNeighbours,
    Points, Rule, Selection, Tolerance,
};

fn points(case: &Value) -> Points {
    let x = rows(&case["x"]);
    let weights = weights(&case["weights"], x.len());
    Points::from_columns(&transposed(&x), Some(&weights)).unwrap()
}

#[test]
fn kernel_densities_are_those_of_scikit_learn() {
    for case in list(&golden("density")["kernels"]) {
        let kernel: Kernel = case["kernel"].as_str().unwrap().parse().unwrap();
        let bandwidth = Bandwidth::Shared(number(&case["bandwidth"]));
        let density = KernelDensity::with_bandwidth(points(case), kernel, bandwidth).unwrap();
        let density = density.with_tolerance(Tolerance::EXACT);
        let obtained = density.log_densities(&rows(&case["places"])).unwrap();
        for (obtained, expected) in obtained.iter().zip(list(&case["log_density"])) {
            match expected.as_f64() {
                Some(expected) => assert_close(*obtained, expected, 1e-12),
                None => assert_eq!(*obtained, f64::NEG_INFINITY),
            }
        }
    }
}

/// The points with weights scaled so that their sum is the effective sample size,
/// (Σw)² / Σw², as in SciPy.
fn with_effective_weight(points: &Points) -> Points {
    let squares: f64 = points.weights().iter().map(|w| w * w).sum();
    let factor = points.weight() / squares;
    let weights: Vec<f64> = points.weights().iter().map(|w| w * factor).collect();
    let columns: Vec<Vec<f64>> = (0..points.columns()).map(|c| points.column(c)).collect();
    Points::from_columns(&columns, Some(&weights)).unwrap()
}

#[test]
fn rules_with_full_matrices_are_those_of_scipy() {
    for case in list(&golden("density")["gaussian"]) {
        let selection = Selection {
            rule: case["rule"].as_str().unwrap().parse().unwrap(),
            shape: BandwidthShape::Full,
        };
        let points = with_effective_weight(&points(case));
        let density = KernelDensity::fit(points, Kernel::Gaussian, &selection).unwrap();
        let Bandwidth::Matrix(matrix) = density.bandwidth() else {
            panic!("{:?}", density.bandwidth());
        };
        assert_all_close(matrix, &rows(&case["matrix"]).concat(), 1e-12);
        let obtained = density.log_densities(&rows(&case["places"])).unwrap();
        assert_all_close(&obtained, &numbers(&case["log_density"]), 1e-8);
    }
}

#[test]
fn the_improved_sheather_jones_bandwidth_is_that_of_kdepy() {
    for case in list(&golden("density")["sheather_jones"]) {
        let points = Points::from_columns(&[numbers(&case["x"])], None).unwrap();
        let selection = Selection {
            rule: Rule::Isj,
            ..Selection::default()
        };
        let chosen = selection
            .bandwidth(&points, Kernel::Gaussian, None)
            .unwrap();
        let expected = number(&case["bandwidth"]);
        assert!(
            (chosen.widths(1)[0] / expected - 1.0).abs() < 5e-3,
            "{chosen:?} {expected}"
        );
    }
}

#[test]
fn bins_are_those_of_numpy_and_astropy() {
    for case in list(&golden("density")["bins"]) {
        let x = numbers(&case["x"]);
        let ones = vec![1.0; x.len()];
        for rule in ["fd", "scott", "sturges", "knuth"] {
            let edges = Edges::of(&x, &ones, rule.parse().unwrap());
            assert_eq!(Some(edges.bins as u64), case[rule].as_u64(), "{rule}");
        }
        let points = Points::from_columns(&[x], None).unwrap();
        let histogram = Histogram::fit(&points, Bins::Fd, 0.0).unwrap();
        let edges = histogram.edges[0];
        for (bin, expected) in numbers(&case["histogram"]).into_iter().enumerate() {
            let middle = edges.edge(bin) + 0.5 * edges.width();
            let obtained = histogram.log_density(&[Some(middle)]).unwrap().exp();
            assert_close(obtained, expected, 1e-12);
        }
    }
}

#[test]
fn distances_to_neighbours_are_those_of_scikit_learn() {
    let golden = golden("density");
    let case = &golden["nearest"];
    let neighbours = case["neighbours"].as_u64().unwrap() as usize;
    let points = points(case);
    let n = points.len() as f64;
    let density = NearestNeighbours::new(points, neighbours, Some(vec![1.0, 1.0])).unwrap();
    let obtained = density.log_densities(&rows(&case["places"])).unwrap();
    for (obtained, distance) in obtained.iter().zip(numbers(&case["distances"])) {
        let expected = neighbours as f64 / (n * std::f64::consts::PI * distance * distance);
        assert_close(*obtained, expected.ln(), 1e-12);
    }
}
