//! Updates with unlabelled rows, and predictive distributions.

use super::*;

#[test]
fn incremental_em_reports_a_lower_bound_of_the_likelihood() {
    let mut specification = Specification::naive_bayes("label");
    specification.weight_smoothing = 1.0;
    let text = |rows: std::ops::Range<usize>| -> String {
        rows.map(|i| {
            // Every third row has no label.
            let labelled = row(i);
            match i % 3 {
                0 => labelled[labelled.find(',').unwrap()..].to_string(),
                _ => labelled,
            }
        })
        .collect()
    };
    let read_rows = |rows: std::ops::Range<usize>, known: Option<&FittedMixture>| {
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
        &*read_rows(0..90, None).source,
        &options,
        control(),
    )
    .unwrap();
    assert!(!first.mixture.is_exact());
    let new = read_rows(90..150, Some(&first.mixture));
    let updated = first
        .mixture
        .update(&*new.source, &specification, &options, 1.0, control())
        .unwrap();
    assert_eq!(updated.rows, 150);
    let all = read_rows(0..150, None);
    let likelihood = |mixture: &FittedMixture| -> f64 {
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
    let truth = likelihood(&updated.mixture);
    assert!(
        updated.log_likelihood <= truth + 1e-6,
        "{} {truth}",
        updated.log_likelihood
    );
    assert!(
        updated.log_likelihood > truth - 30.0,
        "{} {truth}",
        updated.log_likelihood
    );
    // A fit of all rows reaches at least this likelihood.
    let whole = fit(&specification, &*all.source, &options, control()).unwrap();
    assert!(whole.log_likelihood >= truth - 1e-6);
}

#[test]
fn predictive_densities_agree_with_formulas_by_hand() {
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
    // Class b has two rows with mean 8.5 and scatter 0.5; all rows have mean 4.8 and variance
    // 10.16.
    let (k, m, v) = (0.01, 4.8, 10.16);
    let mean = (k * m + 2.0 * 8.5) / (k + 2.0);
    let shape: f64 = 1.5 + 1.0;
    let rate = 0.5 * v + 0.25 + 0.5 * k * 2.0 / (k + 2.0) * (8.5f64 - m).powi(2);
    let scale = (rate / shape * (k + 3.0) / (k + 2.0)).sqrt();
    let student = abduce::family::StudentT::new(mean, scale, 2.0 * shape).unwrap();
    // The prior counts as one row at the overall mean 2.2; the two rows of the class sum to 7.
    let counts = abduce::family::NegativeBinomial::new(2.2 + 7.0, 3.0 / 4.0).unwrap();
    use abduce::family::Univariate;
    let chunk = table.scan().unwrap().next().unwrap().unwrap();
    let row = model.log_density(&chunk).unwrap()[3];
    let expected = (2.0f64 / 5.0).ln() + student.log_density(8.0) + counts.log_density(5.0);
    assert!((row - expected).abs() < 1e-12, "{row} {expected}");

    // Documents: the product of the predictive probabilities of their words, each added to the
    // counts before the next (Pólya's urn).
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
    // Class a contains u 4 times and w once; the prior adds one of each.
    let urn = |mut u: f64, mut w: f64, draws: &str| -> f64 {
        let mut sum = 0.0;
        for c in draws.chars() {
            let drawn = if c == 'u' { &mut u } else { &mut w };
            let before = *drawn;
            *drawn += 1.0;
            sum += (before / (u + w - 1.0)).ln();
        }
        sum
    };
    let expected = (2.0f64 / 3.0).ln() + urn(5.0, 2.0, "uuuw");
    assert!((rows[0] - expected).abs() < 1e-12);
    let expected = (1.0f64 / 3.0).ln() + urn(1.0, 13.0, "wwwwwwwwwwww");
    assert!((rows[2] - expected).abs() < 1e-12);
}
