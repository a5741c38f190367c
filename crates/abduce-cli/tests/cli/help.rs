//! `--help`, `--version`, completions, manual pages, colors and the tour.

use crate::run::{Files, abduce, command, data};

const COMMANDS: [&str; 14] = [
    "evaluate",
    "estimate",
    "fit",
    "predict",
    "score",
    "impute",
    "sample",
    "show",
    "plot",
    "bayes",
    "concept",
    "tour",
    "completions",
    "man",
];

#[test]
fn every_command_has_help_with_an_example() {
    let all = abduce(&["--help"]).succeeds().stdout;
    for name in COMMANDS {
        assert!(
            all.contains(&format!("\n  {name} ")),
            "{name} is not listed"
        );
        let help = abduce(&[name, "--help"]).succeeds().stdout;
        assert!(
            help.contains("Example") && help.contains(&format!("abduce {name}")),
            "{help}"
        );
    }
    assert!(
        abduce(&["--version"])
            .succeeds()
            .stdout
            .starts_with("abduce 0.")
    );
}

#[test]
fn completions_and_manual_pages_are_written() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = abduce(&["completions", shell]).succeeds().stdout;
        assert!(
            script.contains("abduce") && script.contains("impute"),
            "{shell}"
        );
    }
    assert!(abduce(&["man"]).succeeds().stdout.contains(".TH abduce"));
    let files = Files::new();
    abduce(&["man", &files.path("man1")]).succeeds();
    let page = std::fs::read_to_string(files.folder().join("man1/abduce-fit.1")).unwrap();
    assert!(page.contains("covariance"));
}

#[test]
fn the_tour_reproduces_its_documented_numbers() {
    let outcome = abduce(&["tour"]).succeeds();
    assert!(outcome.stdout.contains("0.795417") && !outcome.stdout.contains("DIFFERS"));
    let json = abduce(&["tour", "--json"]).succeeds().json();
    assert_eq!(json["ok"], true);
    let examples = json["examples"].as_array().unwrap();
    assert!(examples.len() >= 30 && examples.iter().all(|example| example["ok"] == true));
}

#[test]
fn output_is_colored_only_on_request() {
    let absent = ["show", "absent.abduce"];
    let colored = |arguments: &[&str]| abduce(arguments).stderr.contains('\x1b');
    assert!(!colored(&absent));
    assert!(colored(&["show", "absent.abduce", "--color", "always"]));
    assert!(!colored(&["show", "absent.abduce", "--color", "never"]));
    let mut plain = command(&["fit", "mixture", &data("faithful.csv"), "-k", "2"]);
    let plain = plain.env("NO_COLOR", "1").output().unwrap();
    assert!(!plain.stderr.contains(&0x1b) && !plain.stdout.contains(&0x1b));
}
