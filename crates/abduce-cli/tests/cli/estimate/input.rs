//! `abduce estimate`: invalid rows, priors and columns, and extreme values.

use crate::estimate::{FAMILIES, assert_near, column, estimate, report};
use crate::run::{Files, abduce, abduce_reading};

#[test]
fn rows_outside_the_support_are_an_error_with_their_line() {
    for (family, cells, more, impossible) in FAMILIES {
        let Some(impossible) = impossible else {
            continue;
        };
        let line = format!("t.csv, line {}, ", cells.split(' ').count() + 2);
        let outcome = estimate(family, &format!("{cells} {impossible}"), more);
        let words = [line.as_str(), "\"x\"", impossible, "fix or remove"];
        outcome.fails(2, &words);
        estimate(family, "1 tall 0", more).fails(2, &["\"x\""]);
    }
    let files = Files::new();
    let table = files.write("t.csv", "a,b\n1,2\n\n3,-4\n");
    let multinomial = abduce(&["estimate", "multinomial", &table]);
    multinomial.fails(2, &["t.csv, line 4, column \"b\"", "-4"]);
    let unknown = abduce(&["estimate", "poisson", &table, "--column", "c"]);
    unknown.fails(2, &["no column \"c\"", "a, b"]);
}

#[test]
fn errors_name_the_file_of_the_row() {
    let files = Files::new();
    let first = files.write("first.csv", "x\n1\n2\n");
    let second = files.write("second.csv", "x\n3\n4\n-5\n");
    let outcome = abduce(&["estimate", "poisson", &first, &second, "--column", "x"]);
    outcome.fails(2, &["second.csv, line 4, column \"x\"", "-5"]);
    let same = abduce(&["estimate", "poisson", &first, "--column", "x"]);
    same.succeeds();
}

#[test]
fn columns_are_used_in_the_given_order() {
    let files = Files::new();
    let table = files.write("t.csv", "a,b,c\n1,2,3\n4,5,6\n");
    let run = |columns: &str| {
        let prior = ["--prior", "dirichlet(100,1,1)", "--json"];
        let estimate = ["estimate", "multinomial", &table, "--column", columns];
        abduce(&[&estimate[..], &prior[..]].concat())
    };
    let report = run("c,a,b").succeeds().json();
    assert_eq!(report["columns"], serde_json::json!(["c", "a", "b"]));
    assert_near(&report["mean"]["c"], 109.0 / 123.0);
    run("a,b,a").fails(2, &["\"a\" is named twice"]);
}

#[test]
fn a_prior_with_a_nonintegrable_pole_is_improper() {
    for prior in ["1/x^2", "x^-1.2", "1/x^3"] {
        let report = report("exponential", "1 2 3", &["--prior", prior]);
        let improper = report["log_evidence"].is_null() && report["proper"] == false;
        assert!(improper, "{prior}: {report}");
    }
    estimate("exponential", "5 5 5 5", &["--prior", "1/x^40"]).fails(1, &["improper"]);
    let inside = ["--known", "variance=4", "--prior", "1/x^2"];
    estimate("gaussian", "1 2 3", &inside).fails(1, &["improper"]);
    let about = ["--prior", "1/(x-0.45)^2"];
    estimate("bernoulli", "1 0 1", &about).fails(1, &["improper"]);
}

#[test]
fn a_column_of_one_negative_word_has_no_successes() {
    let no = report("bernoulli", "no no no", &[]);
    assert_near(&no["maximum_likelihood"]["parameters"]["probability"], 0.0);
    let cured = report("bernoulli", "cured cured", &[]);
    assert_near(
        &cured["maximum_likelihood"]["parameters"]["probability"],
        1.0,
    );
}

#[test]
fn close_numbers_are_printed_with_enough_digits() {
    let outcome = estimate("gaussian", "1000000.1 1000000.2 1000000.4", &[]).succeeds();
    assert!(outcome.stdout.contains("1000000.233"), "{}", outcome.stdout);
    assert!(
        !outcome.stdout.contains("1000000 to 1000001"),
        "{}",
        outcome.stdout
    );
    let cells = "100000000.1 100000000.2 100000000.4";
    let outcome = estimate("gaussian", cells, &["--above", "mean=100000000.25"]).succeeds();
    for words in [
        "normal-gamma(mean=100000000.233,",
        "student-t(location=100000000.23,",
        "mean 100000000.23,",
        "P(mean > 100000000.25)",
    ] {
        assert!(
            outcome.stdout.contains(words),
            "{words}: {}",
            outcome.stdout
        );
    }
}

#[test]
fn the_header_of_a_prior_table_is_optional() {
    let files = Files::new();
    let points = "0,2\n0.5,2\n0.6,8\n1,8\n";
    let named = files.write("named.csv", format!("place,density\n{points}"));
    let bare = files.write("bare.csv", points);
    let mean = |file: &str| {
        let report = report("bernoulli", "1 1 0", &["--prior-table", file]);
        report["mean"]["probability"].as_f64().unwrap()
    };
    assert_eq!(mean(&named), mean(&bare));
    let incomplete = files.write("incomplete.csv", "0,2\n0.5,\n1,3\n");
    let outcome = estimate("bernoulli", "1 1 0", &["--prior-table", &incomplete]);
    outcome.fails(2, &["incomplete.csv, line 2"]);
}

#[test]
fn test_rows_outside_the_support_are_an_error() {
    let files = Files::new();
    for (family, cells, more, impossible) in FAMILIES {
        let Some(impossible) = impossible.filter(|_| family != "bernoulli") else {
            continue;
        };
        let test = files.write("test.csv", column(&format!("1 {impossible}")));
        let test = match family {
            "beta" => files.write("test.csv", column(&format!("0.5 {impossible}"))),
            _ => test,
        };
        let outcome = estimate(family, cells, &[more, &["--test", &test]].concat());
        outcome.fails(2, &["test.csv, line 3", impossible]);
    }
}

#[test]
fn counts_that_are_all_0_have_an_infinite_risk() {
    for (family, known) in [
        ("poisson", &[][..]),
        ("geometric", &[]),
        ("negative-binomial", &["--known", "size=2"]),
        ("negative-binomial", &[]),
    ] {
        let report = report(family, "0 0 0 0", known);
        assert_eq!(
            report["risk"]["ruled_out"][0], "every count above 0",
            "{family}"
        );
    }
}

#[test]
fn the_success_level_of_a_bernoulli_can_be_chosen() {
    let files = Files::new();
    let probability = |cells: &str, level: &str| {
        let report = report("bernoulli", cells, &["--positive", level]);
        let entry = report["maximum_likelihood"]["parameters"]["probability"].clone();
        entry.as_f64().unwrap()
    };
    assert_eq!(probability("no yes no no", "no"), 0.75);
    assert_eq!(probability("no yes no no", "yes"), 0.25);
    assert_eq!(probability("no yes maybe no", "maybe"), 0.25);
    assert_eq!(probability("1 0 0 0", "0"), 0.75);
    let test = files.write("test.csv", column("no never"));
    let more = ["--positive", "no", "--test", &test];
    let tested = report("bernoulli", "no yes no no", &more);
    let expected = -0.5 * (0.75_f64.ln() + 0.25_f64.ln());
    assert_near(&tested["test"]["maximum_likelihood"], expected);
    let wrong = estimate("bernoulli", "no yes", &["--positive", "ja"]);
    wrong.fails(2, &["--positive", "no, yes"]);
    estimate("poisson", "1 2", &["--positive", "1"]).fails(2, &["bernoulli"]);
}

#[test]
fn trials_may_differ_from_row_to_row() {
    let files = Files::new();
    let table = files.write("t.csv", "won,played,other\n3,10,1\n0,2,2\n5,8,3\n");
    let run = |more: &[&str]| abduce(&[&["estimate", "binomial", &table], more].concat());
    let report = run(&["--column", "won", "--trials", "played", "--json"]);
    let report = report.succeeds().json();
    assert_near(
        &report["maximum_likelihood"]["parameters"]["probability"],
        0.4,
    );
    assert_eq!(report["posterior"]["parameters"]["a"], 8.5);
    assert_eq!(report["posterior"]["parameters"]["b"], 12.5);
    // ln C(10,3) + ln C(2,0) + ln C(8,5) + 8 ln 0.4 + 12 ln 0.6.
    let expected = 120.0_f64.ln() + 56.0_f64.ln() + 8.0 * 0.4_f64.ln() + 12.0 * 0.6_f64.ln();
    assert_near(&report["maximum_likelihood"]["log_likelihood"], expected);
    run(&["--column", "played", "--trials", "won"]).fails(2, &["line 2", "3", "10 successes"]);
    run(&["--column", "won"]).fails(2, &["--trials"]);
    let same = |more: &[&str]| self::report("binomial", "3 0 5", more)["mean"].clone();
    assert_eq!(same(&["--trials", "9"]), same(&["--known", "trials=9"]));
}

#[test]
fn many_levels_are_abbreviated() {
    let cells: Vec<String> = (0..100).map(|i| format!("level{}", i % 50)).collect();
    let outcome = estimate("categorical", &cells.join(" "), &[]).succeeds();
    assert!(outcome.stdout.contains("50 in all"), "{}", outcome.stdout);
    let report = report("categorical", &cells.join(" "), &[]);
    let concentrations = report["posterior"]["parameters"]["concentration"].as_array();
    assert_eq!(concentrations.map(Vec::len), Some(50));
}

#[test]
fn improper_priors_have_no_evidence_and_need_enough_rows() {
    let report = report("bernoulli", "1 0 1", &["--prior", "haldane"]);
    assert!(report["log_evidence"].is_null() && report["proper"] == false);
    let outcome = estimate("poisson", "3 1", &["--prior", "uniform"]).succeeds();
    assert!(outcome.stdout.contains("improper"));
    for (family, cells) in [
        ("gaussian", "3"),
        ("gaussian", "4 4 4"),
        ("log-normal", "3"),
        ("uniform", "4 4"),
        ("exponential", "0 0"),
        ("gamma", "3"),
        ("gamma", "4 4 4"),
        ("beta", "0.5 0.5"),
        ("student-t", "4 4 4"),
    ] {
        estimate(family, cells, &[]).fails(1, &["improper", "proper prior"]);
    }
    // If the likelihood has a maximum, it is reported without a posterior.
    for (family, cells, prior) in [
        ("bernoulli", "1 1 1", "haldane"),
        ("binomial", "0 0", "haldane"),
        ("geometric", "0 0", "haldane"),
    ] {
        let known: &[&str] = if family == "binomial" {
            &["--trials", "3"]
        } else {
            &[]
        };
        let outcome = estimate(family, cells, &[&["--prior", prior], known].concat()).succeeds();
        assert!(outcome.stderr.contains("improper"), "{}", outcome.stderr);
        assert!(
            outcome.stdout.contains("posterior       none"),
            "{}",
            outcome.stdout
        );
        assert!(
            outcome.stdout.contains("log-likelihood"),
            "{}",
            outcome.stdout
        );
    }
    for (family, cells, prior) in [
        ("gaussian", "4 4 4", "normal-gamma(0,1,2,1)"),
        ("uniform", "4 4", "bilateral-pareto(0,1,2)"),
        ("gamma", "4 4 4", "shape=gamma(2,1); rate=gamma(2,1)"),
        ("beta", "0.5", "a=gamma(2,1); b=gamma(2,1)"),
        ("von-mises", "1", "concentration=gamma(2,1)"),
    ] {
        let report = crate::estimate::report(family, cells, &["--prior", prior]);
        assert!(report["log_evidence"].is_f64(), "{family}");
        assert!(report["mean"].is_object(), "{family}");
    }
}

#[test]
fn a_posterior_that_increases_towards_a_bound_has_no_mode() {
    let outcome = estimate("gamma", "0.3 0.1 0.7", &["--json"]).succeeds();
    assert!(outcome.stderr.contains("no mode"), "{}", outcome.stderr);
    assert!(outcome.json()["map"].is_null() && outcome.json()["mean"].is_object());
}

#[test]
fn errors_about_priors_have_hints() {
    for (family, prior, words) in [
        ("bernoulli", "beta(2)", &["2 numbers", "beta(…,…)"][..]),
        ("bernoulli", "beta(-1,2)", &["positive", "-1"]),
        ("bernoulli", "bta(2,2)", &["\"bta\"", "beta(a,b)"]),
        ("bernoulli", "beta(2,2", &["\")\"", "character 9"]),
        ("bernoulli", "jeffreys(1)", &["jeffreys alone"]),
        ("bernoulli", "0.8 if", &["character 7"]),
        ("bernoulli", "", &["cannot be read"]),
        ("bernoulli", "y+1", &["y"]),
        ("bernoulli", "-x", &["0 or more"]),
        (
            "gaussian",
            "normal(0,1)",
            &["normal-gamma(mean,strength,shape,rate)", "known"],
        ),
        ("gaussian", "exp(-x^2)", &["normal-gamma", "--known"]),
        ("gaussian", "normal-gamma(0,-1,2,1)", &["positive"]),
        ("gamma", "gamma(2,1)", &["does not name", "shape=…; rate=…"]),
        ("gamma", "scale=gamma(2,1)", &["\"scale\"", "shape=…"]),
        ("gamma", "shape=gamma(2)", &["2 numbers"]),
        ("gamma", "shape=-1", &["0 or more"]),
        ("poisson", "beta(2,2)", &[]),
    ] {
        let outcome = estimate(family, "1 1 0", &["--prior", prior]);
        if words.is_empty() {
            // Any density can be the prior of a single parameter.
            outcome.succeeds();
        } else {
            let cells = if family == "gamma" { "1 2 3" } else { "1 1 0" };
            estimate(family, cells, &["--prior", prior]).fails(2, words);
        }
    }
    estimate("bernoulli", "1 1 0", &["--prior", "0"]).fails(1, &["no probability"]);
    let files = Files::new();
    let table = |text: &str| {
        let table = files.write("p.csv", text);
        estimate("bernoulli", "1 1 0", &["--prior-table", &table])
    };
    table("p,v\n0,1\n").fails(2, &["two rows"]);
    table("p,v\n0,1\n1,-1\n").fails(2, &["0 or more", "-1"]);
    table("p,v\n0,1\n1,\n").fails(2, &["p.csv, line 3", "not both numbers"]);
    table("p,v,z\n0,1,2\n1,2,3\n").fails(2, &["p.csv", "two columns"]);
    table("p,v\n0,a\n1,b\n").fails(2, &["p.csv, line 2", "\"a\""]);
    let table = files.write("p.csv", "p,v\n0,1\n1,2\n");
    estimate("gamma", "1 2 3", &["--prior-table", &table]).fails(2, &["several", "shape=…"]);
}

#[test]
fn unknown_families_and_columns_are_an_error_that_lists_the_valid_ones() {
    let files = Files::new();
    let table = files.write("t.csv", "x,y,z\n1,2,a\n0,3,b\n1,1,c\n");
    let run = |more: &[&str]| abduce(&[&["estimate"], more, &[&table]].concat());
    run(&["poison"]).fails(2, &["\"poison\"", "poisson, zero-inflated-poisson"]);
    run(&["poisson", "--column", "q"]).fails(2, &["\"q\"", "x, y, z"]);
    run(&["poisson"]).fails(2, &["one column", "--column", "x, y, z"]);
    run(&["poisson", "--column", "x,y"]).fails(2, &["one column", "x, y"]);
    run(&["bernoulli"]).fails(2, &["one column", "x, y, z"]);
    run(&["bernoulli", "--column", "z"]).fails(2, &["\"z\"", "3 levels"]);
    run(&["poisson", "--column", "y"]).succeeds();
    run(&["lognormal", "--column", "y"]).succeeds();
}

#[test]
fn no_rows_are_an_error_unless_the_prior_is_proper() {
    let files = Files::new();
    let empty = files.write("empty.csv", "x\n");
    abduce(&["estimate", "poisson", &empty]).fails(2, &["no rows"]);
    let missing = files.write("missing.csv", "x,y\n,1\nNA,2\n");
    let run = |family: &str, more: &[&str]| {
        let line = ["estimate", family, &missing, "--column", "x"];
        abduce(&[&line[..], more].concat())
    };
    run("poisson", &[]).fails(2, &["there are no rows"]);
    run("gamma", &[]).fails(2, &["there are no rows"]);
    let prior = run("poisson", &["--prior", "gamma(3,2)", "--json"]).succeeds();
    assert_near(&prior.json()["mean"]["rate"], 1.5);
    assert_eq!(prior.json()["hidden"], 2);
    assert!(prior.json()["maximum_likelihood"].is_null());
}

#[test]
fn extreme_numbers_are_estimated_or_an_error() {
    let rate = |cells: &str| {
        let report = report("exponential", cells, &[]);
        report["maximum_likelihood"]["parameters"]["rate"]
            .as_f64()
            .unwrap()
    };
    assert!((rate("1e-200 3e-200") / 5e199 - 1.0).abs() < 1e-12);
    assert!((rate("1e120 3e120") / 5e-121 - 1.0).abs() < 1e-12);
    let offset = report("gaussian", "100000001 100000002 100000003", &[]);
    assert_near(&offset["unbiased"]["variance"], 1.0);
    estimate("exponential", "1e300 2", &[]).fails(2, &["line 2", "too large", "1e140"]);
    for (family, cells, more, _) in FAMILIES {
        let unit = match family {
            "bernoulli" | "binomial" | "beta" => continue,
            "geometric" | "negative-binomial" | "poisson" | "zero-inflated-poisson" => 1e9,
            _ => 1e100,
        };
        let cells = cells.split(' ').map(|cell| cell.parse::<f64>().unwrap());
        let huge = cells.map(|cell| format!("{:e}", unit * cell));
        let outcome = estimate(family, &huge.collect::<Vec<_>>().join(" "), more);
        assert!(
            [0, 1].contains(&outcome.code),
            "{family}: {}",
            outcome.stderr
        );
        assert!(
            !outcome.stdout.contains("NaN"),
            "{family}: {}",
            outcome.stdout
        );
    }
}

#[test]
fn rows_are_read_from_a_pipe_and_results_written_to_a_file() {
    let files = Files::new();
    for (family, cells, more, _) in FAMILIES {
        let piped = [&["estimate", family, "-", "--json"], more].concat();
        let piped = abduce_reading(&piped, &column(cells)).succeeds().json();
        assert_eq!(piped, report(family, cells, more), "{family}");
    }
    // Zeros and ones are read as numbers, not as two levels.
    let counts = abduce_reading(&["estimate", "geometric", "-"], &column("1 0 0"));
    assert!(counts.succeeds().stdout.contains("geometric of x: 3 rows"));
    let table = files.write("t.csv", column("1 0 1"));
    let written = files.path("out.txt");
    let outcome = abduce(&["estimate", "bernoulli", &table, "-o", &written]).succeeds();
    assert_eq!(outcome.stdout, "");
    assert!(files.read("out.txt").starts_with("bernoulli of x"));
    abduce(&["estimate", "bernoulli", &table, "-o", &table]).fails(2, &["would overwrite"]);
}
