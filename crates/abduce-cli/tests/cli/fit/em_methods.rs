//! `fit --method` and `--accelerate`.

use crate::run::{Files, abduce, data};

/// Two overlapping groups of numbers, in a file.
fn overlapping(files: &Files, rows: usize) -> String {
    let mut text = String::from("x,y\n");
    // A fixed generator, so that the file is the same on every machine.
    let mut state = 1u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    for row in 0..rows {
        let group = (row % 2) as f64;
        let mut normal = || (0..12).map(|_| next()).sum::<f64>() - 6.0;
        let (x, y) = (normal() + 1.5 * group, normal() - 1.5 * group);
        text += &format!("{x:.6},{y:.6}\n");
    }
    files.write("overlapping.csv", text)
}

fn fitted(path: &str, more: &[&str]) -> serde_json::Value {
    let arguments = [&["fit", "mixture", path, "-k", "2", "--json"], more].concat();
    abduce(&arguments).succeeds().json()
}

#[test]
fn acceleration_reaches_the_same_likelihood_in_fewer_iterations() {
    let files = Files::new();
    let path = overlapping(&files, 2000);
    let plain = fitted(&path, &["--accelerate", "none"]);
    for how in ["auto", "squarem"] {
        let accelerated = fitted(&path, &["--accelerate", how]);
        // Summed over all starts, because the best of nearly equal ones depends on rounding.
        let iterations = |json: &serde_json::Value| -> u64 {
            let starts = json["starts"].as_array().unwrap().iter();
            starts
                .map(|entry| entry["iterations"].as_u64().unwrap())
                .sum()
        };
        assert!(iterations(&accelerated) < iterations(&plain), "{how}");
        let likelihood = |json: &serde_json::Value| json["log_likelihood"].as_f64().unwrap();
        assert!(
            likelihood(&accelerated) >= likelihood(&plain) - 1e-4,
            "{how}"
        );
        assert_eq!(accelerated["monotone"], true);
        assert_eq!(accelerated["converged"], true);
        let trace = accelerated["trace"].as_array().unwrap().len();
        assert_eq!(accelerated["elbo"].as_array().unwrap().len() + 1, trace);
    }
}

#[test]
fn stochastic_and_online_em_reach_the_likelihood_of_em() {
    let files = Files::new();
    let path = overlapping(&files, 20_000);
    let plain = fitted(&path, &[]);
    let likelihood = |json: &serde_json::Value| json["log_likelihood"].as_f64().unwrap();
    for more in [
        &[
            "--method",
            "stochastic",
            "--rounds",
            "10",
            "--restarts",
            "2",
        ][..],
        &["--method", "online", "--batch", "4096", "--passes", "3"],
    ] {
        let other = fitted(&path, more);
        assert!(
            (likelihood(&other) - likelihood(&plain)).abs() < 10.0,
            "{more:?}"
        );
        assert_eq!(other["monotone"], true);
        assert_eq!(fitted(&path, more)["trace"], other["trace"], "{more:?}");
    }
}

#[test]
fn options_of_another_method_are_an_error() {
    let faithful = data("faithful.csv");
    let fit = |model: &str, more: &[&str]| {
        abduce(&[&["fit", model, &faithful, "-k", "2"], more].concat())
    };
    fit("mixture", &["--batch", "100"]).fails(2, &["--batch is an option of --method online"]);
    fit("mixture", &["--passes", "2"]).fails(2, &["--passes"]);
    fit("mixture", &["--rounds", "5", "--method", "online"]).fails(2, &["--rounds"]);
    fit("mixture", &["--method", "hard", "--accelerate", "squarem"]).fails(2, &["squarem"]);
    fit("kmeans", &["--accelerate", "auto"]).fails(2, &["--accelerate", "kmeans"]);
    fit("kmeans", &["--method", "online"]).fails(2, &["--method", "kmeans"]);
    fit("mixture", &["--method", "swift"]).fails(2, &["em, hard, stochastic and online"]);
    fit("mixture", &["--accelerate", "much"]).fails(2, &["auto, none or squarem"]);
    fit("mixture", &["--method", "online", "--batch", "0"]).fails(2, &["at least 1"]);
}
