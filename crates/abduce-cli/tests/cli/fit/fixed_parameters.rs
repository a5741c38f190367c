//! Noise components, fixed and tied parameters, and given starts.

use crate::run::{Files, abduce, data};

#[test]
fn noise_is_a_component_in_every_command() {
    let files = Files::new();
    // A grid of rows near the origin, and a few far rows.
    let mut text = String::from("x,y,color\n");
    for i in 0..200 {
        let (x, y) = (f64::from(i % 20) / 10.0, f64::from(i / 20) / 5.0);
        text.push_str(&format!("{x},{y},{}\n", ["red", "blue"][i as usize % 2]));
    }
    for far in [
        "50,-40,red",
        "-60,30,blue",
        "70,80,red",
        "-45,-70,",
        "90,-20,red",
    ] {
        text.push_str(&format!("{far}\n"));
    }
    let table = files.write("noisy.csv", &text);
    let file = files.fit(&["mixture", &table, "-k", "1", "--noise"]);
    let shown = abduce(&["show", &file]).succeeds().stdout;
    for word in ["noise", "from", "to", "-60", "90"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let new = files.write("new.csv", "x,y,color\n1,1,red\n500,500,blue\n,,\n1,,\n");
    let predicted = abduce(&["predict", &file, &new, "--proba"]).succeeds();
    let lines = predicted.lines();
    assert_eq!(lines[0], "prediction,P(1),P(noise)");
    assert!(lines[1].starts_with("1,0.99"), "{}", lines[1]);
    assert_eq!(lines[2], "noise,0,1");
    for command in ["score", "impute"] {
        abduce(&[command, &file, &new]).succeeds();
    }
    abduce(&["explain", &file, &new, "--row", "2"]).succeeds();
    assert_eq!(
        abduce(&["sample", &file, "-n", "40"])
            .succeeds()
            .lines()
            .len(),
        41
    );
    let image = files.path("noisy.svg");
    abduce(&["plot", &file, &table, "-o", &image]).succeeds();
    let json = abduce(&["fit", "mixture", &table, "-k", "1", "--noise", "--json"]).succeeds();
    assert_eq!(json.json()["components"].as_array().unwrap().len(), 2);
}

#[test]
fn a_zero_inflated_poisson_is_a_mixture_with_a_fixed_poisson() {
    let files = Files::new();
    let mut text = String::from("visits\n");
    for count in [0, 0, 0, 3, 1, 0, 2, 4, 0, 0, 2, 5, 3, 0, 1, 0, 6, 2, 0, 3] {
        text.push_str(&format!("{count}\n"));
    }
    let table = files.write("visits.csv", &text);
    let fixed = [
        "fit",
        "mixture",
        &table,
        "-k",
        "2",
        "--fix",
        "1:visits=poisson(0)",
    ];
    let fixed = abduce(&[&fixed[..], &["--tol", "1e-12", "--json"]].concat()).succeeds();
    let family = ["fit", "mixture", &table, "-k", "1", "--json"];
    let family = [&family[..], &["--family", "visits=zero-inflated-poisson"]].concat();
    let family = abduce(&family).succeeds();
    for key in ["log_likelihood", "bic"] {
        let (a, b) = (fixed.json()[key].as_f64(), family.json()[key].as_f64());
        assert!((a.unwrap() - b.unwrap()).abs() < 1e-6, "{key}: {a:?} {b:?}");
    }
    assert_eq!(fixed.json()["parameters"], family.json()["parameters"]);
}

#[test]
fn fits_start_from_the_given_parameters() {
    let files = Files::new();
    let faithful = data("faithful.csv");
    let file = files.fit(&["mixture", &faithful, "-k", "2"]);
    let again = abduce(&["fit", "mixture", &faithful, "--start", &file, "--json"]).succeeds();
    assert!(again.json()["iterations"].as_u64().unwrap() <= 2);
    let fixed = ["fit", "mixture", &faithful, "--start", &file, "--json"];
    let fixed = abduce(&[&fixed[..], &["--fix", "1", "--fix", "weights"]].concat()).succeeds();
    assert_eq!(fixed.json()["parameters"], 5);
    let penguins = data("penguins.csv");
    let started = files.fit(&[
        "mixture",
        &penguins,
        "--start-by",
        "species",
        "--drop",
        "island,sex,year",
    ]);
    let predicted = abduce(&["predict", &started, &penguins]).succeeds();
    assert!(predicted.lines().contains(&"3"));
}

#[test]
fn invalid_fixed_parameters_are_an_error_with_the_reason() {
    let files = Files::new();
    let faithful = data("faithful.csv");
    let file = files.fit(&["mixture", &faithful, "-k", "2"]);
    let penguins = data("penguins.csv");
    let others = Files::new();
    let classes = others.fit(&["gda", &penguins, "--target", "species"]);
    let cases: [(&[&str], &str); 12] = [
        (
            &["-k", "2", "--fix", "3:waiting=gaussian(1,2)"],
            "component 3",
        ),
        (
            &["-k", "2", "--fix", "1:waiting=gausian(1,2)"],
            "gaussian(mean,variance)",
        ),
        (
            &["-k", "2", "--fix", "1:waiting=gaussian(1,-2)"],
            "variance",
        ),
        (
            &["-k", "2", "--fix", "1:waiting=gaussian"],
            "gaussian(5,0.36)",
        ),
        (&["-k", "2", "--fix", "0"], "numbered from 1"),
        (&["-k", "2", "--fix", "1"], "--start FILE"),
        (&["-k", "2", "--fix", "weights=.4,x"], "numbers"),
        (&["-k", "2", "--tie", "wait"], "\"wait\""),
        (&["-k", "3", "--start", &file], "2 components instead of 3"),
        (
            &["--start", &file, "--restarts", "3"],
            "does not apply with --start",
        ),
        (&["--start", &classes], "--start needs a mixture model"),
        (
            &["-k", "1-3", "--start", &file],
            "a choice among several mixtures",
        ),
    ];
    for (more, expected) in cases {
        let outcome = abduce(&[&["fit", "mixture", &faithful], more].concat());
        assert_eq!(outcome.code, 2, "{more:?}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(expected),
            "{more:?}: {}",
            outcome.stderr
        );
    }
    let outcome = abduce(&["fit", "gda", &penguins, "--target", "species", "--noise"]);
    assert_eq!(outcome.code, 2);
    assert!(
        outcome.stderr.contains("--noise does not apply"),
        "{}",
        outcome.stderr
    );
    let outcome = abduce(&["fit", "mixture", &faithful, "--start-by", "waiting"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("--kind"), "{}", outcome.stderr);
}

#[test]
fn fixed_parameters_stay_fixed_in_updates() {
    let files = Files::new();
    let penguins = data("penguins.csv");
    let numbers = "bill_length_mm,bill_depth_mm";
    let fit = [
        "naive-bayes",
        &penguins,
        "--target",
        "species",
        "--columns",
        numbers,
    ];
    let tied = files.fit(&[&fit[..], &["--tie", "bill_depth_mm"]].concat());
    let updated = files.path("updated.abduce");
    abduce(&["update", &tied, &penguins, "-o", &updated]).succeeds();
    // 2 weights, 3 Gaussians of bill length and 1 of bill depth.
    for file in [&tied, &updated] {
        let shown = abduce(&["show", file]).succeeds().stdout;
        assert!(shown.contains("parameters      10"), "{shown}");
    }
    let faithful = data("faithful.csv");
    let noisy = Files::new();
    let noisy = noisy.fit(&["mixture", &faithful, "-k", "2", "--noise"]);
    let updated = abduce(&["update", &noisy, &faithful]);
    updated.fails(2, &["noise", "--start"]);
}

#[test]
fn a_mixture_with_noise_and_a_constant_column_can_be_saved() {
    let files = Files::new();
    let rows = (0..60).map(|i| format!("{},{},5.5\n", i % 7, (i * i) % 11 + 20 * (i % 2)));
    let table = files.write("t.csv", format!("x,z,k\n{}", rows.collect::<String>()));
    let numbers = ["--kind", "*=real"];
    for more in [&["--noise"][..], &["--noise", "--tails", "student-t"]] {
        let fit = [&["mixture", &table, "-k", "2"], &numbers[..], more].concat();
        let model = files.fit(&fit);
        abduce(&["predict", &model, &table]).succeeds();
    }
}

#[test]
fn a_pooled_m_estimate_uses_the_proportions_of_the_table() {
    let files = Files::new();
    // Level p is in 3 of all 12 rows, but in 3 of the 4 labelled ones.
    let rows = "p,a\np,b\np,a\nq,b\nq,\nq,\nq,\nq,\nq,\nq,\nq,\nq,\n";
    let table = files.write("t.csv", format!("l,y\n{rows}"));
    let pseudocounts = |fit: &[&str]| {
        let model = files.fit(&[fit, &["--smoothing", "m=4,pooled"]].concat());
        let shown = abduce(&["show", &model]).succeeds().stdout;
        assert!(
            shown.contains("m-estimate of 4 rows in the proportions"),
            "{shown}"
        );
        let text = std::fs::read_to_string(&model).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json["body"]["leaves"][0].to_string()
    };
    for fit in [
        &["naive-bayes", &table, "--target", "y", "--unlabelled", "1"][..],
        &["mixture", &table, "-k", "2", "--columns", "l"],
    ] {
        let found = pseudocounts(fit);
        assert!(found.contains("[1.0,3.0]"), "{found}");
    }
}
