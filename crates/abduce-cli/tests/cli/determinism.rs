//! The same seed gives the same bytes on any number of threads.

use crate::run::{Files, Outcome, abduce, command, data};

#[test]
fn model_files_do_not_depend_on_the_number_of_threads() {
    let files = Files::new();
    let model = files.fit(&["naive-bayes", &data("penguins.csv"), "--target", "species"]);
    let large = files.path("large.csv");
    abduce(&["sample", &model, "-n", "10000", "-o", &large]).succeeds();
    let fit = |level: &str, threads: &str| {
        let path = files.path("fitted.abduce");
        let arguments = [
            "fit",
            "mixture",
            &large,
            "-k",
            "3",
            "--restarts",
            "2",
            "--max-iter",
            "20",
            "--threads",
            threads,
            "-o",
            &path,
        ];
        let run = command(&arguments).env("ABDUCE_SIMD", level).output();
        Outcome::of(run.unwrap()).succeeds();
        files.read("fitted.abduce")
    };
    for level in ["baseline", "avx2", "avx512"] {
        let one = fit(level, "1");
        assert_eq!(one, fit(level, "2"), "{level}");
        assert_eq!(one, fit(level, "7"), "{level}");
    }
}

#[test]
fn an_unknown_level_of_vector_instructions_is_an_error() {
    let run = command(&["tour"]).env("ABDUCE_SIMD", "sse9").output();
    Outcome::of(run.unwrap()).fails(2, &["ABDUCE_SIMD is \"sse9\"", "baseline, avx2 or avx512"]);
}

#[test]
fn draws_depend_on_the_seed_but_not_on_threads() {
    let files = Files::new();
    let model = files.fit(&["naive-bayes", &data("penguins.csv"), "--target", "species"]);
    let sample = |seed: &str, threads: &str| {
        let arguments = [
            "sample",
            &model,
            "-n",
            "20000",
            "--seed",
            seed,
            "--threads",
            threads,
        ];
        abduce(&arguments).succeeds().stdout
    };
    let one = sample("1", "1");
    assert_eq!(one, sample("1", "2"));
    assert_eq!(one, sample("1", "7"));
    assert_ne!(one, sample("2", "1"));
    let lines: std::collections::HashSet<&str> = one.lines().collect();
    assert!(lines.len() > 19_900, "chunks must not repeat each other");
    let incomplete = files.path("incomplete.csv");
    let without_labels: String =
        one.lines()
            .enumerate()
            .fold(String::new(), |text, (number, line)| {
                let (label, rest) = line.split_once(',').unwrap();
                let label = if number % 3 == 1 { "" } else { label };
                text + label + "," + rest + "\n"
            });
    std::fs::write(&incomplete, without_labels).unwrap();
    let impute = |seed: &str, threads: &str| {
        let arguments = [
            "impute",
            &model,
            &incomplete,
            "--how",
            "draw",
            "--seed",
            seed,
            "--threads",
            threads,
        ];
        abduce(&arguments).succeeds().stdout
    };
    let filled = impute("5", "1");
    assert_eq!(filled, impute("5", "7"));
    assert_ne!(filled, impute("6", "1"));
}

#[test]
fn tables_larger_than_memory_give_the_same_answers() {
    let files = Files::new();
    let table = data("penguins.csv");
    let model = files.fit(&["naive-bayes", &table, "--target", "species"]);
    let ask = |command: &str, memory: &str| {
        abduce(&[command, &model, &table, "--memory", memory])
            .succeeds()
            .stdout
    };
    for command in ["predict", "score", "impute"] {
        assert_eq!(ask(command, "1K"), ask(command, "1G"), "{command}");
    }
}
