//! Updating, merging and forgetting give the same model as fitting all the rows.

mod differing_schemas;
mod unlabelled_and_predictive;

use abduce::Control;
use abduce::Result;
use abduce::data::{Opened, ReadOptions, TextOptions, open, open_more};
use abduce::model::mixture::{
    CovarianceKind, Event, Fit, FitOptions, FittedMixture, MEstimate, Specification, Unlabelled,
    fit,
};
use serde_json::Value;
use std::fmt::Write as _;

const COLUMNS: &str = "label,size,hits,answer,color,note,still,mood";

/// A row with every kind of column and some missing values. Some shards lack the rare class,
/// some levels and words, and the second value of `still`.
fn row(i: usize) -> String {
    let noise = |k: usize| ((i * 7919 + k * 104_729) % 1000) as f64 / 1000.0;
    let label = match i {
        _ if i % 29 == 3 => "rare",
        _ if noise(1) < 0.4 => "a",
        _ => "b",
    };
    let shift = if label == "a" { 0.0 } else { 1.5 };
    let size = match i % 17 {
        5 => String::new(),
        _ => format!("{}", 1e3 + shift + noise(2)),
    };
    let hits = ((noise(3) * 4.0 + shift) as u32).to_string();
    let answer = if noise(4) < 0.5 { "no" } else { "yes" };
    let color = match i % 13 {
        0 => "",
        1 if i > 100 => "violet",
        _ if noise(5) < 0.3 + shift / 5.0 => "red",
        _ => "green",
    };
    let word = if i % 11 == 4 { "seldom" } else { "often" };
    let note = format!("it is {word} seen that row n{} comes by", i % 5);
    let still = if i < 100 { "7" } else { "7.5" };
    let mood = if i.is_multiple_of(2) { "" } else { "fine" };
    format!("{label},{size},{hits},{answer},{color},{note},{still},{mood}\n")
}

fn options() -> ReadOptions {
    let kind = |name: &str, kind| (name.to_string(), abduce::data::KindOverride::from(kind));
    ReadOptions {
        target: Some("label".into()),
        text: Some(TextOptions::default()),
        kinds: vec![
            kind("hits", abduce::data::Kind::Count),
            kind("size", abduce::data::Kind::Real),
            kind("note", abduce::data::Kind::Text),
        ],
        ..ReadOptions::default()
    }
}

fn write_rows(rows: impl Iterator<Item = usize>) -> (tempfile::TempDir, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    let text: String = rows.map(row).collect();
    std::fs::write(&path, format!("{COLUMNS}\n{text}")).unwrap();
    let path = path.display().to_string();
    (folder, vec![path])
}

fn open_rows(rows: impl Iterator<Item = usize>) -> Opened {
    let (_folder, paths) = write_rows(rows);
    open(&paths, &options()).unwrap()
}

fn open_more_rows(rows: impl Iterator<Item = usize>, model: &FittedMixture) -> Result<Opened> {
    let (_folder, paths) = write_rows(rows);
    open_more(&paths, &options(), &model.schema, &model.unsettled())
}

fn fit_rows(specification: &Specification, rows: impl Iterator<Item = usize>) -> Fit {
    let opened = open_rows(rows);
    let options = FitOptions {
        marks: true,
        ..FitOptions::default()
    };
    fit(specification, &*opened.source, &options, Control::default()).unwrap()
}

/// Specifications whose fit is determined by sufficient statistics.
fn specifications() -> Vec<(&'static str, Specification)> {
    let naive = Specification::naive_bayes("label");
    let with_family = |name: &str, family: &str| {
        let mut specification = naive.clone();
        specification
            .families
            .push((name.into(), family.parse().unwrap()));
        specification
    };
    let mut listed = vec![
        ("laplace", naive.clone()),
        ("bernoulli words", {
            let mut specification = naive.clone();
            specification.event = Some(Event::Bernoulli);
            specification
                .families
                .push(("hits".into(), "poisson".parse().unwrap()));
            specification
        }),
        (
            "pooled presence",
            Specification {
                event: Some(Event::Bernoulli),
                families: vec![("hits".into(), "poisson".parse().unwrap())],
                m_estimate: Some(MEstimate {
                    rows: 2.0,
                    pooled: true,
                }),
                ..naive.clone()
            },
        ),
        (
            "complement",
            Specification {
                event: Some(Event::Complement),
                ..naive.clone()
            },
        ),
        (
            "m-estimate",
            Specification {
                m_estimate: Some(MEstimate {
                    rows: 3.0,
                    pooled: true,
                }),
                ..naive.clone()
            },
        ),
        (
            "gda tied",
            Specification::gda("label", CovarianceKind::Tied),
        ),
        (
            "gda diagonal",
            Specification::gda("label", CovarianceKind::Diagonal),
        ),
        (
            "gda full",
            Specification::gda("label", CovarianceKind::Full),
        ),
    ];
    for family in [
        "gamma",
        "log-normal",
        "student-t",
        "kde",
        "histogram",
        "exponential",
    ] {
        listed.push((family, with_family("size", family)));
    }
    for family in ["negative-binomial", "geometric", "zero-inflated-poisson"] {
        listed.push((family, with_family("hits", family)));
    }
    listed
}

/// Lists the values of two documents that differ by more than rounding.
fn differences(path: &str, a: &Value, b: &Value, found: &mut String) {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in a {
                let other = b.get(key).unwrap_or(&Value::Null);
                differences(&format!("{path}.{key}"), value, other, found);
            }
            for key in b.keys().filter(|key| !a.contains_key(*key)) {
                writeln!(found, "{path}.{key} is missing").unwrap();
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}[{i}]"), a, b, found);
            }
        }
        (Value::Number(x), Value::Number(y)) => {
            let (x, y) = (x.as_f64().unwrap(), y.as_f64().unwrap());
            // The columns contain values of about 1000.
            if (x - y).abs() > 1e-9 * (1.0 + x.abs().max(y.abs())) {
                writeln!(found, "{path}: {x} and {y}").unwrap();
            }
        }
        (a, b) if a == b => {}
        (a, b) => writeln!(found, "{path}: {a} and {b}").unwrap(),
    }
}

fn assert_same(name: &str, a: &Fit, b: &Fit) {
    let document = |fit: &Fit| serde_json::to_value(&fit.mixture).unwrap();
    let mut found = String::new();
    differences("", &document(a), &document(b), &mut found);
    let first: Vec<&str> = found.lines().take(12).collect();
    assert!(found.is_empty(), "{name}:\n{}", first.join("\n"));
    let close = (a.log_likelihood - b.log_likelihood).abs() <= 1e-8 * a.log_likelihood.abs();
    let scores = !a.mixture.is_generative();
    assert!(
        close || scores,
        "{name}: {} {}",
        a.log_likelihood,
        b.log_likelihood
    );
    let weights = (a.weight - b.weight).abs() <= 1e-12 * a.weight;
    assert!(weights, "{name}: {} {}", a.weight, b.weight);
}

/// The numbers of `n` rows; for gda only those without missing values.
fn rows_of(name: &str, n: usize) -> Vec<usize> {
    let complete = |i: &usize| !name.starts_with("gda") || i % 17 != 5;
    (0..n).filter(complete).collect()
}

#[test]
fn merging_shards_equals_fitting_all_rows() {
    for (name, specification) in specifications() {
        let rows = rows_of(name, 210);
        let shards: Vec<Fit> = rows
            .chunks(rows.len().div_ceil(7))
            .map(|shard| fit_rows(&specification, shard.iter().copied()))
            .collect();
        let parts: Vec<&FittedMixture> = shards.iter().map(|shard| &shard.mixture).collect();
        let merged =
            FittedMixture::merge(&parts, &specification, &FitOptions::default(), 0.0).unwrap();
        let whole = fit_rows(&specification, rows.iter().copied());
        assert_same(name, &merged, &whole);
        let reversed: Vec<&FittedMixture> = parts.iter().rev().copied().collect();
        let reversed =
            FittedMixture::merge(&reversed, &specification, &FitOptions::default(), 0.0).unwrap();
        assert_same(name, &reversed, &whole);
    }
}

#[test]
fn merging_seven_shards_and_forgetting_two_equals_fitting_five() {
    for (name, specification) in specifications() {
        let rows = rows_of(name, 210);
        let shards: Vec<&[usize]> = rows.chunks(rows.len().div_ceil(7)).collect();
        let fits: Vec<Fit> = shards
            .iter()
            .map(|shard| fit_rows(&specification, shard.iter().copied()))
            .collect();
        let parts: Vec<&FittedMixture> = fits.iter().map(|shard| &shard.mixture).collect();
        let options = FitOptions::default();
        let mut merged = FittedMixture::merge(&parts, &specification, &options, 0.0).unwrap();
        // The last four shards contain the levels, words and values that the others lack.
        for forgotten in [5, 6] {
            let rows = open_more_rows(shards[forgotten].iter().copied(), &merged.mixture).unwrap();
            merged = merged
                .mixture
                .forget(&*rows.source, &specification, &options, Control::default())
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let rest = fit_rows(&specification, shards[..5].concat().into_iter());
        assert_same(name, &merged, &rest);
    }
}

#[test]
fn updating_equals_fitting_all_rows() {
    for (name, specification) in specifications() {
        let rows = rows_of(name, 160);
        let (first, second) = rows.split_at(60);
        let model = fit_rows(&specification, first.iter().copied());
        let new = open_more_rows(second.iter().copied(), &model.mixture).unwrap();
        let options = FitOptions::default();
        let updated = model
            .mixture
            .update(
                &*new.source,
                &specification,
                &options,
                0.0,
                Control::default(),
            )
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_same(
            name,
            &updated,
            &fit_rows(&specification, rows.iter().copied()),
        );
    }
}

#[test]
fn forgetting_a_row_that_was_not_fitted_is_an_error() {
    let specification = Specification::naive_bayes("label");
    let model = fit_rows(&specification, 0..60).mixture;
    let forget = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        std::fs::write(&path, format!("{COLUMNS}\n{}{text}", row(4))).unwrap();
        let rows = open_more(
            &[path.display().to_string()],
            &options(),
            &model.schema,
            &model.unsettled(),
        )
        .unwrap();
        let options = FitOptions::default();
        let forgotten = model.forget(&*rows.source, &specification, &options, Control::default());
        forgotten
            .map(|fit| fit.rows)
            .map_err(|error| rows.locate(error).to_string())
    };
    assert_eq!(forget(""), Ok(59));
    assert_eq!(forget(&row(5)), Ok(58));
    // Every cell of this row was fitted, but in different rows.
    let mixed = "a,1000.5,2,no,red,it is often seen that row n1 comes by,7,fine\n";
    let error = forget(mixed).unwrap_err();
    assert!(
        error.contains("not fitted to this row") && error.contains("line 3"),
        "{error}"
    );
    let error = forget(&row(4)).unwrap_err();
    assert!(error.contains("fitted to this row fewer times"), "{error}");
    let error = forget("z,1000.5,2,no,red,it is often seen,7,fine\n").unwrap_err();
    assert!(
        error.contains("no fitted row has \"z\"") && error.contains("line 3"),
        "{error}"
    );
    let whole: String = (0..60).filter(|i| *i != 4).map(row).collect();
    assert!(forget(&whole).unwrap_err().contains("no row would be left"));
}

#[test]
fn without_row_marks_statistics_never_become_negative() {
    let specification = Specification::naive_bayes("label");
    let opened = open_rows(0..60);
    let options = FitOptions {
        marks: false,
        ..FitOptions::default()
    };
    let model = fit(
        &specification,
        &*opened.source,
        &options,
        Control::default(),
    )
    .unwrap();
    assert!(model.mixture.marks.is_none());
    let others = open_more_rows(200..230, &model.mixture).unwrap();
    let forget = |rows: &Opened| {
        let model = &model.mixture;
        model.forget(&*rows.source, &specification, &options, Control::default())
    };
    assert!(forget(&others).is_err());
    let fitted = open_more_rows(0..10, &model.mixture).unwrap();
    assert_eq!(forget(&fitted).unwrap().rows, 50);
}

#[test]
fn models_of_other_columns_kinds_or_clusters_do_not_merge() {
    let specification = Specification::naive_bayes("label");
    let options = FitOptions::default();
    let read = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        std::fs::write(&path, text).unwrap();
        open(
            &[path.display().to_string()],
            &self::options_without_kinds(),
        )
        .unwrap()
    };
    let fit_text = |text: &str| {
        let rows = read(text);
        let control = Control::default();
        fit(&specification, &*rows.source, &options, control)
            .unwrap()
            .mixture
    };
    let merge = |a: &FittedMixture, b: &FittedMixture| {
        let merged = FittedMixture::merge(&[a, b], &specification, &options, 0.0);
        merged
            .map(|fit| fit.rows)
            .map_err(|error| error.to_string())
    };
    let numbers = fit_text("label,x\na,1.5\nb,2.5\na,2\n");
    let words = fit_text("label,x\na,red\nb,blue\n");
    let other = fit_text("label,y\na,1\nb,2\n");
    let counts = fit_text("label,x\na,0\nb,1\na,3\nb,2\n");
    assert_eq!(merge(&numbers, &numbers), Ok(6));
    assert!(
        merge(&numbers, &words)
            .unwrap_err()
            .contains("real in one and categorical")
    );
    assert!(
        merge(&numbers, &other)
            .unwrap_err()
            .contains("only some of the models")
    );
    // The statistics of counts have no sum of squares.
    let error = merge(&numbers, &counts).unwrap_err();
    assert!(
        error.contains("family poisson cannot be converted to those of gaussian"),
        "{error}"
    );
    // A binary column can become a count column.
    let bits = fit_text("label,x\na,0\nb,1\n");
    assert_eq!(merge(&bits, &counts), Ok(6));
    let clusters = Specification::mixture(2, CovarianceKind::Full);
    let rows = read("x,y\n1,2\n2,1\n8,9\n9,8\n");
    let found = fit(&clusters, &*rows.source, &options, Control::default()).unwrap();
    let parts = [&found.mixture, &found.mixture];
    let error = FittedMixture::merge(&parts, &clusters, &options, 1.0).unwrap_err();
    assert!(error.to_string().contains("cannot be matched"));
}

fn options_without_kinds() -> ReadOptions {
    ReadOptions {
        kinds: Vec::new(),
        target: None,
        otherwise: None,
        ..options()
    }
}
