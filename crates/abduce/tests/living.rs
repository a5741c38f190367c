//! Models that live on without their rows: updating, merging and forgetting give
//! the model that a fit of the rows would.

mod common;

use abduce::Result;
use abduce::data::{Opened, ReadOptions, TextOptions, open, open_more};
use abduce::learn::Control;
use abduce::model::mixture::{
    CovarianceKind, Event, Fit, FitOptions, MEstimate, Mixture, Specification, Unlabelled, fit,
};
use serde_json::Value;
use std::fmt::Write as _;

const COLUMNS: &str = "label,size,hits,answer,color,note,still,mood";

/// Rows of every kind of column, some of them with holes. What is rare is only in
/// some shards: a class, levels, words, a column that is constant elsewhere.
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

fn written(rows: impl Iterator<Item = usize>) -> (tempfile::TempDir, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    let text: String = rows.map(row).collect();
    std::fs::write(&path, format!("{COLUMNS}\n{text}")).unwrap();
    let path = path.display().to_string();
    (folder, vec![path])
}

fn opened(rows: impl Iterator<Item = usize>) -> Opened {
    let (_folder, paths) = written(rows);
    open(&paths, &options()).unwrap()
}

fn more(rows: impl Iterator<Item = usize>, model: &Mixture) -> Result<Opened> {
    let (_folder, paths) = written(rows);
    open_more(&paths, &options(), &model.schema, &model.unsettled())
}

fn learned(specification: &Specification, rows: impl Iterator<Item = usize>) -> Fit {
    let opened = opened(rows);
    let options = FitOptions::default();
    fit(specification, &*opened.source, &options, Control::default()).unwrap()
}

/// Specifications whose fits are their statistics.
fn specifications() -> Vec<(&'static str, Specification)> {
    let naive = Specification::naive_bayes("label");
    let of = |name: &str, family: &str| {
        let mut own = naive.clone();
        own.families.push((name.into(), family.parse().unwrap()));
        own
    };
    let mut listed = vec![
        ("laplace", naive.clone()),
        ("bernoulli words", {
            let mut own = naive.clone();
            own.event = Some(Event::Bernoulli);
            own.families
                .push(("hits".into(), "poisson".parse().unwrap()));
            own
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
        listed.push((family, of("size", family)));
    }
    for family in ["negative-binomial", "geometric", "zero-inflated-poisson"] {
        listed.push((family, of("hits", family)));
    }
    listed
}

/// Every number of two documents that differs by more than rounding.
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
            // Moments of the columns, whose values are about 1000.
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

/// The columns that gda needs without holes are without them.
fn rows_of(name: &str, n: usize) -> Vec<usize> {
    let complete = |i: &usize| !name.starts_with("gda") || i % 17 != 5;
    (0..n).filter(complete).collect()
}

#[test]
fn merging_shards_equals_one_fit_of_all() {
    for (name, specification) in specifications() {
        let rows = rows_of(name, 210);
        let shards: Vec<Fit> = rows
            .chunks(rows.len().div_ceil(7))
            .map(|shard| learned(&specification, shard.iter().copied()))
            .collect();
        let parts: Vec<&Mixture> = shards.iter().map(|shard| &shard.mixture).collect();
        let merged = Mixture::merge(&parts, &specification, &FitOptions::default(), 0.0).unwrap();
        let whole = learned(&specification, rows.iter().copied());
        assert_same(name, &merged, &whole);
        let turned: Vec<&Mixture> = parts.iter().rev().copied().collect();
        let turned = Mixture::merge(&turned, &specification, &FitOptions::default(), 0.0).unwrap();
        assert_same(name, &turned, &whole);
    }
}

#[test]
fn seven_shards_without_two_are_the_other_five() {
    for (name, specification) in specifications() {
        let rows = rows_of(name, 210);
        let shards: Vec<&[usize]> = rows.chunks(rows.len().div_ceil(7)).collect();
        let fits: Vec<Fit> = shards
            .iter()
            .map(|shard| learned(&specification, shard.iter().copied()))
            .collect();
        let parts: Vec<&Mixture> = fits.iter().map(|shard| &shard.mixture).collect();
        let options = FitOptions::default();
        let mut merged = Mixture::merge(&parts, &specification, &options, 0.0).unwrap();
        // The last four hold the levels, words and values that the others lack.
        for gone in [5, 6] {
            let rows = more(shards[gone].iter().copied(), &merged.mixture).unwrap();
            merged = merged
                .mixture
                .forget(&*rows.source, &specification, &options, Control::default())
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let left = learned(&specification, shards[..5].concat().into_iter());
        assert_same(name, &merged, &left);
    }
}

#[test]
fn taking_in_rows_equals_having_had_them() {
    for (name, specification) in specifications() {
        let rows = rows_of(name, 160);
        let (first, second) = rows.split_at(60);
        let model = learned(&specification, first.iter().copied());
        let new = more(second.iter().copied(), &model.mixture).unwrap();
        let options = FitOptions::default();
        let grown = model
            .mixture
            .update(
                &*new.source,
                &specification,
                &options,
                0.0,
                Control::default(),
            )
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_same(name, &grown, &learned(&specification, rows.iter().copied()));
    }
}

#[test]
fn a_row_never_seen_cannot_be_forgotten() {
    let specification = Specification::naive_bayes("label");
    let model = learned(&specification, 0..60).mixture;
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
        let gone = model.forget(&*rows.source, &specification, &options, Control::default());
        gone.map(|fit| fit.rows)
            .map_err(|error| rows.locate(error).to_string())
    };
    assert_eq!(forget(""), Ok(59));
    assert_eq!(forget(&row(5)), Ok(58));
    // A row of which every cell was seen, but never together.
    let mixed = "a,1000.5,2,no,red,it is often seen that row n1 comes by,7,fine\n";
    let error = forget(mixed).unwrap_err();
    assert!(
        error.contains("never seen this row") && error.contains("line 3"),
        "{error}"
    );
    let error = forget(&row(4)).unwrap_err();
    assert!(error.contains("not seen this row so often"), "{error}");
    let error = forget("z,1000.5,2,no,red,it is often seen,7,fine\n").unwrap_err();
    assert!(
        error.contains("never seen a row with \"z\"") && error.contains("line 3"),
        "{error}"
    );
    let whole: String = (0..60).filter(|i| *i != 4).map(row).collect();
    assert!(forget(&whole).unwrap_err().contains("no row would be left"));
}

#[test]
fn without_marks_the_statistics_still_never_turn_negative() {
    let specification = Specification::naive_bayes("label");
    let opened = opened(0..60);
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
    let others = more(200..230, &model.mixture).unwrap();
    let forget = |rows: &Opened| {
        let model = &model.mixture;
        model.forget(&*rows.source, &specification, &options, Control::default())
    };
    assert!(forget(&others).is_err());
    let own = more(0..10, &model.mixture).unwrap();
    assert_eq!(forget(&own).unwrap().rows, 50);
}

#[test]
fn models_of_other_columns_kinds_or_clusters_do_not_add_up() {
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
    let of = |text: &str| {
        let rows = read(text);
        let control = Control::default();
        fit(&specification, &*rows.source, &options, control)
            .unwrap()
            .mixture
    };
    let merge = |a: &Mixture, b: &Mixture| {
        let merged = Mixture::merge(&[a, b], &specification, &options, 0.0);
        merged
            .map(|fit| fit.rows)
            .map_err(|error| error.to_string())
    };
    let numbers = of("label,x\na,1.5\nb,2.5\na,2\n");
    let words = of("label,x\na,red\nb,blue\n");
    let other = of("label,y\na,1\nb,2\n");
    let counts = of("label,x\na,0\nb,1\na,3\nb,2\n");
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
    // Counts remember their sum, not their spread.
    let error = merge(&numbers, &counts).unwrap_err();
    assert!(
        error.contains("as poisson does not say enough for gaussian"),
        "{error}"
    );
    // Zeros and ones are numbers too.
    let bits = of("label,x\na,0\nb,1\n");
    assert_eq!(merge(&bits, &counts), Ok(6));
    let clusters = Specification::mixture(2, CovarianceKind::Full);
    let rows = read("x,y\n1,2\n2,1\n8,9\n9,8\n");
    let found = fit(&clusters, &*rows.source, &options, Control::default()).unwrap();
    let parts = [&found.mixture, &found.mixture];
    let error = Mixture::merge(&parts, &clusters, &options, 1.0).unwrap_err();
    assert!(error.to_string().contains("not the same clusters"));
}

fn options_without_kinds() -> ReadOptions {
    ReadOptions {
        kinds: Vec::new(),
        target: None,
        otherwise: None,
        ..options()
    }
}

/// Rows whose labels are partly hidden, and rows of a mixture.
#[test]
fn a_step_of_incremental_em_is_bounded_by_the_likelihood_and_gains() {
    let mut specification = Specification::naive_bayes("label");
    specification.weight_smoothing = 1.0;
    let text = |rows: std::ops::Range<usize>| -> String {
        rows.map(|i| {
            let own = row(i);
            match i % 3 {
                0 => own[own.find(',').unwrap()..].to_string(),
                _ => own,
            }
        })
        .collect()
    };
    let read = |rows: std::ops::Range<usize>, known: Option<&Mixture>| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        std::fs::write(&path, format!("{COLUMNS}\n{}", text(rows))).unwrap();
        let paths = [path.display().to_string()];
        match known {
            None => open(&paths, &options()).unwrap(),
            Some(known) => {
                open_more(&paths, &options(), &known.schema, &known.unsettled()).unwrap()
            }
        }
    };
    let options = FitOptions {
        unlabelled: Unlabelled::Weight(1.0),
        ..FitOptions::default()
    };
    let control = Control::default;
    let first = fit(
        &specification,
        &*read(0..90, None).source,
        &options,
        control(),
    )
    .unwrap();
    assert!(!first.mixture.is_exact());
    let new = read(90..150, Some(&first.mixture));
    let grown = first
        .mixture
        .update(&*new.source, &specification, &options, 1.0, control())
        .unwrap();
    assert_eq!(grown.rows, 150);
    let all = read(0..150, None);
    let likelihood = |mixture: &Mixture| -> f64 {
        use abduce::ask::Joint;
        let rows = abduce::data::Recoded::new(&*all.source, mixture.schema.clone()).unwrap();
        use abduce::data::Source;
        let chunks = rows.scan().unwrap();
        chunks
            .map(|chunk| {
                mixture
                    .log_density(&chunk.unwrap())
                    .unwrap()
                    .iter()
                    .sum::<f64>()
            })
            .sum()
    };
    let truth = likelihood(&grown.mixture);
    assert!(
        grown.log_likelihood <= truth + 1e-6,
        "{} {truth}",
        grown.log_likelihood
    );
    assert!(
        grown.log_likelihood > truth - 30.0,
        "{} {truth}",
        grown.log_likelihood
    );
    // Going on from there, EM has only to gain.
    let whole = fit(&specification, &*all.source, &options, control()).unwrap();
    assert!(whole.log_likelihood >= truth - 1e-6);
}

#[test]
fn parameters_integrated_out_are_student_and_dirichlet_multinomial() {
    use abduce::ask::Joint;
    use abduce::data::{Column, Field, Kind, Schema, Source, Table};
    let field = |name: &str, kind| Field::new(name, kind);
    let fields = vec![
        Field::with_levels("label", Kind::Categorical, ["a", "b"]),
        field("x", Kind::Real),
        field("n", Kind::Count),
    ];
    let labels = Column::from_codes([0, 0, 0, 1, 1].map(Some));
    let x = Column::from_numbers([1.0, 2.0, 4.0, 8.0, 9.0].map(Some));
    let n = Column::from_numbers([0.0, 1.0, 3.0, 5.0, 2.0].map(Some));
    let table = Table::new(Schema::new(fields), vec![labels, x, n], None).unwrap();
    let specification = Specification {
        predictive: true,
        ..Specification::naive_bayes("label")
    };
    let options = FitOptions::default();
    let model = fit(&specification, &table, &options, Control::default())
        .unwrap()
        .mixture;
    // By hand for class b: two rows, mean 8.5, scatter 0.5; all rows have mean
    // 4.8 and variance 10.16.
    let (k, m, v) = (0.01, 4.8, 10.16);
    let mean = (k * m + 2.0 * 8.5) / (k + 2.0);
    let shape: f64 = 1.5 + 1.0;
    let rate = 0.5 * v + 0.25 + 0.5 * k * 2.0 / (k + 2.0) * (8.5f64 - m).powi(2);
    let scale = (rate / shape * (k + 3.0) / (k + 2.0)).sqrt();
    let student = abduce::family::StudentT::new(mean, scale, 2.0 * shape).unwrap();
    // One row at the mean 2.2 of all, and two rows of 7 together.
    let counts = abduce::family::NegativeBinomial::new(2.2 + 7.0, 3.0 / 4.0).unwrap();
    use abduce::family::Univariate;
    let chunk = table.scan().unwrap().next().unwrap().unwrap();
    let row = model.log_density(&chunk).unwrap()[3];
    let expected = (2.0f64 / 5.0).ln() + student.log_density(8.0) + counts.log_density(5.0);
    assert!((row - expected).abs() < 1e-12, "{row} {expected}");

    // Documents: the evidence of their words one after the other, each with what
    // was seen before it added (the chain rule of Pólya's urn).
    let fields = vec![
        Field::with_levels("label", Kind::Categorical, ["a", "b"]),
        field("u", Kind::Count),
        field("w", Kind::Count),
    ];
    let column = |cells: [f64; 3]| Column::from_numbers(cells.map(Some));
    let labels = Column::from_codes([0, 0, 1].map(Some));
    let columns = vec![labels, column([3.0, 1.0, 0.0]), column([1.0, 0.0, 12.0])];
    let table = Table::new(Schema::new(fields), columns, None).unwrap();
    let specification = Specification {
        event: Some(Event::Multinomial),
        ..specification
    };
    let model = fit(&specification, &table, &options, Control::default())
        .unwrap()
        .mixture;
    let chunk = table.scan().unwrap().next().unwrap().unwrap();
    let rows = model.log_density(&chunk).unwrap();
    // Class a has seen u 4 times and w once; one of each is believed in.
    let urn = |mut u: f64, mut w: f64, draws: &str| -> f64 {
        let mut sum = 0.0;
        for c in draws.chars() {
            let drawn = if c == 'u' { &mut u } else { &mut w };
            let own = *drawn;
            *drawn += 1.0;
            sum += (own / (u + w - 1.0)).ln();
        }
        sum
    };
    let expected = (2.0f64 / 3.0).ln() + urn(5.0, 2.0, "uuuw");
    assert!((rows[0] - expected).abs() < 1e-12);
    let expected = (1.0f64 / 3.0).ln() + urn(1.0, 13.0, "wwwwwwwwwwww");
    assert!((rows[2] - expected).abs() < 1e-12);
}

/// Tables as users have them: nothing said of kinds, weights where there are any.
struct Parts {
    specification: Specification,
    options: ReadOptions,
}

impl Parts {
    fn new(specification: Specification) -> Parts {
        Parts {
            specification,
            options: ReadOptions {
                target: Some("y".into()),
                ..ReadOptions::default()
            },
        }
    }

    fn files(texts: &[&str]) -> (tempfile::TempDir, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let paths = texts.iter().enumerate().map(|(i, text)| {
            let path = folder.path().join(format!("{i}.csv"));
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        });
        let paths = paths.collect();
        (folder, paths)
    }

    fn fit(&self, texts: &[&str]) -> Fit {
        let (_folder, paths) = Parts::files(texts);
        let rows = open(&paths, &self.options).unwrap().source;
        let options = FitOptions::default();
        fit(&self.specification, &*rows, &options, Control::default()).unwrap()
    }

    fn more(&self, model: &Fit, text: &str) -> Opened {
        let (_folder, paths) = Parts::files(&[text]);
        let model = &model.mixture;
        open_more(&paths, &self.options, &model.schema, &model.unsettled()).unwrap()
    }

    fn merge(&self, a: &Fit, b: &Fit) -> Fit {
        let parts = [&a.mixture, &b.mixture];
        Mixture::merge(&parts, &self.specification, &FitOptions::default(), 0.0).unwrap()
    }

    fn update(&self, model: &Fit, text: &str) -> Fit {
        let (rows, options) = (self.more(model, text), FitOptions::default());
        let control = Control::default();
        let model = &model.mixture;
        model
            .update(&*rows.source, &self.specification, &options, 0.0, control)
            .unwrap()
    }

    fn forget(&self, model: &Fit, text: &str) -> Fit {
        let (rows, options) = (self.more(model, text), FitOptions::default());
        let control = Control::default();
        let model = &model.mixture;
        model
            .forget(&*rows.source, &self.specification, &options, control)
            .unwrap()
    }

    /// Merging and updating with the second, and forgetting it again.
    fn agree(&self, name: &str, first: &str, second: &str) {
        let (a, b) = (self.fit(&[first]), self.fit(&[second]));
        let whole = self.fit(&[first, second]);
        assert_same(name, &self.merge(&a, &b), &whole);
        assert_same(name, &self.merge(&b, &a), &whole);
        let grown = self.update(&a, second);
        assert_same(name, &grown, &whole);
        let left = self.forget(&grown, second);
        // What a column has been found to be it stays.
        match left.mixture.schema == a.mixture.schema {
            true => assert_same(name, &left, &a),
            false => assert_eq!(left.mixture.seen.rows, a.mixture.seen.rows),
        }
    }
}

#[test]
fn a_flag_that_is_not_yet_raised_is_a_flag() {
    let naive = Parts::new(Specification::naive_bayes("y"));
    let quiet = "y,flag,n\na,0,1\nb,0,3\na,0,0\nb,0,2\na,0,5\n";
    let raised = "y,flag,n\na,1,0\nb,0,7\nb,1,3\na,0,1\n";
    naive.agree("flag", quiet, raised);
}

#[test]
fn a_count_that_happens_to_be_constant_is_a_count() {
    let naive = Parts::new(Specification::naive_bayes("y"));
    let still = "y,n,x\na,3,1.5\nb,3,2.5\na,3,0.5\n";
    let moving = "y,n,x\na,0,1\nb,1,3\nb,4,2\na,2,2.5\n";
    naive.agree("count", still, moving);
}

#[test]
fn weights_count_in_what_comes_and_goes() {
    for specification in [
        Specification::naive_bayes("y"),
        Specification::gda("y", CovarianceKind::Full),
        Specification::gda("y", CovarianceKind::Tied),
    ] {
        let mut parts = Parts::new(specification);
        parts.options.weight = Some("w".into());
        let first = "w,y,x,still,z\n.1,a,1.5,7.3,2\n.7,b,2.5,7.3,1\n.3,a,0.5,7.3,4\n.2,b,4,7.3,3\n0,a,9,7.3,9\n.1,a,2,7.3,2.5\n.6,b,1,7.3,2\n";
        let second =
            "w,y,x,still,z\n.3,a,1.5,7.3,1\n2,b,2,7.3,2.25\n1,c,2,7,5\n.1,c,3,6,1\n.7,c,5,6.5,2\n";
        parts.agree("weights", first, second);
    }
}

#[test]
fn levels_with_an_order_stay_and_an_outlier_leaves_what_was_there() {
    let mut parts = Parts::new(Specification::naive_bayes("y"));
    let sizes = abduce::data::parse_kind_override("s=ordinal(small,medium,large)").unwrap();
    parts.options.kinds.push(sizes);
    let first = "y,s,x\na,small,1\nb,medium,2\na,medium,1.5\nb,small,2.5\n";
    let second = "y,s,x\na,large,1\nb,large,3\n";
    let model = parts.update(&parts.fit(&[first]), second);
    let left = parts.forget(&model, second);
    assert_eq!(
        left.mixture.schema.fields[1].levels,
        ["small", "medium", "large"]
    );
    assert_same("ordinal", &left, &parts.fit(&[first]));

    let outlier = "y,s,x\na,small,1e7\n";
    let model = parts.fit(&[first, outlier]);
    let left = parts.forget(&model, outlier).mixture;
    let means = left.parameters.leaves[1].iter().map(|d| match d {
        abduce::family::Distribution::Gaussian(own) => (own.mean, own.variance),
        _ => (f64::NAN, f64::NAN),
    });
    // Of 16 digits, 14 go with the outlier's square.
    for ((mean, variance), (m, v)) in means.zip([(1.25, 0.0625), (2.25, 0.0625)]) {
        assert!(
            (mean - m).abs() < 1e-6 && (variance - v).abs() < 0.05,
            "{mean} {variance}"
        );
    }
}
