//! Laws of all formats: the same network in each is read alike, networks with odd names are
//! read back as they were written, and no broken file is a panic or an error without a place.

use super::samples::{SAMPLES, asia, without_names};
use super::{FORMATS, Format, of_path, read_evidence, read_factors, read_text};
use crate::model::network::{Distribution, Network, Variable};
use std::path::Path;

/// Numbers that are the same each time (SplitMix64, Steele et al. 2014).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

const NAMES: [&str; 44] = [
    "None",
    "NA",
    "null",
    "Yes/No",
    "<5",
    ">=7.5",
    "12-18",
    "0",
    "1e-5",
    "nan",
    "table",
    "default",
    "node",
    "net",
    "variable",
    "probability",
    "a b",
    " lead",
    "trail ",
    "",
    "tab\tbed",
    "line\nbreak",
    "cr\rx",
    "\u{a0}",
    "naïve",
    "日本",
    "e\u{301}",
    "quote\"d",
    "\"",
    "it's",
    "C:\\",
    "\\\"",
    "a,b",
    "x;y",
    "{z}",
    "(p)",
    "[q]",
    "a|b",
    "//c",
    "/* d",
    "%e",
    "#f",
    "&amp;<![CDATA[]]>",
    "_x20_",
];

/// Names without repetition, all of them odd.
fn names(numbers: &mut Numbers, count: usize) -> Vec<String> {
    let mut pool: Vec<&str> = NAMES.to_vec();
    (0..count)
        .map(|_| pool.swap_remove(numbers.below(pool.len())).to_string())
        .collect()
}

fn distribution(numbers: &mut Numbers, states: usize) -> Vec<f64> {
    let mut weights: Vec<f64> = (0..states)
        .map(|_| match numbers.below(4) {
            0 => 0.0,
            1 => numbers.unit() * 1e-200,
            _ => numbers.unit(),
        })
        .collect();
    if weights.iter().sum::<f64>() < 1e-3 {
        weights[0] = 1.0;
    }
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// A network whose variables come in any order.
fn random_network(numbers: &mut Numbers) -> Network {
    let count = 1 + numbers.below(7);
    let mut rank: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        rank.swap(last, numbers.below(last + 1));
    }
    let states: Vec<usize> = (0..count).map(|_| 1 + numbers.below(4)).collect();
    let mut variables = Vec::new();
    for (child, name) in names(numbers, count).into_iter().enumerate() {
        let mut parents: Vec<usize> = (0..count)
            .filter(|parent| rank[*parent] < rank[child] && numbers.below(2) == 0)
            .collect();
        parents.truncate(3);
        if numbers.below(2) == 0 {
            parents.reverse();
        }
        let configurations: usize = parents.iter().map(|parent| states[*parent]).product();
        let table = (0..configurations)
            .flat_map(|_| distribution(numbers, states[child]))
            .collect();
        variables.push(Variable {
            name,
            states: names(numbers, states[child]),
            parents,
            distribution: Distribution::Table(table),
        });
    }
    Network::new(variables).unwrap().0
}

/// The same network with parents before children.
fn sorted(network: &Network) -> Network {
    let order = network.order();
    let mut position = vec![0; order.len()];
    order
        .iter()
        .enumerate()
        .for_each(|(new, old)| position[*old] = new);
    let moved = |old: &usize| {
        let mut variable = network.variables()[*old].clone();
        variable
            .parents
            .iter_mut()
            .for_each(|parent| *parent = position[*parent]);
        variable
    };
    Network::new(order.iter().map(moved).collect()).unwrap().0
}

fn format(name: &str) -> &'static Format {
    FORMATS.iter().find(|format| format.name == name).unwrap()
}

/// What a format keeps of a network: UAI has no names, and XDSL has parents before children.
fn kept(format: &Format, network: &Network) -> Network {
    match format.name {
        "uai" => without_names(network),
        "xdsl" => sorted(network),
        _ => network.clone(),
    }
}

#[test]
fn asia_is_the_same_network_in_every_format() {
    for (name, text) in SAMPLES {
        let format = format(name);
        for text in [
            text.to_string(),
            format!("\u{feff}{text}"),
            text.replace('\n', "\r\n"),
        ] {
            let (network, notes) = read_text(format, &text).unwrap();
            assert_eq!(network, kept(format, &asia()), "{name}");
            let uniform = "the potential of \"smoke\" has no data; its states are equally probable";
            let expected = if name == "net" { vec![uniform] } else { vec![] };
            assert_eq!(notes, expected);
        }
    }
}

#[test]
fn a_written_network_is_read_back_exactly() {
    let mut numbers = Numbers(1);
    for _ in 0..300 {
        let network = random_network(&mut numbers);
        for (name, _) in SAMPLES {
            let format = format(name);
            let text = (format.write)(&network).unwrap();
            let (read, notes) =
                read_text(format, &text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
            assert_eq!(read, kept(format, &network), "{name}\n{text}");
            assert_eq!(notes, Vec::<String>::new());
        }
    }
}

#[test]
fn the_text_of_a_read_file_is_stable() {
    for (name, text) in SAMPLES {
        let format = format(name);
        let once = (format.write)(&read_text(format, text).unwrap().0).unwrap();
        let twice = (format.write)(&read_text(format, &once).unwrap().0).unwrap();
        assert_eq!(once, twice);
    }
}

/// Changes a text in a few places: removes, repeats, replaces and cuts.
fn mutate(text: &str, numbers: &mut Numbers) -> String {
    const PIECES: [&str; 30] = [
        "\"",
        "\\",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "<",
        ">",
        "/",
        ";",
        ",",
        "|",
        "=",
        "%",
        "/*",
        "//",
        "\n",
        "é",
        "-1",
        "0",
        "1e999",
        "nan",
        "99999999999999999999",
        "4000000000",
        "&",
        "]]>",
        "<!--",
        " ",
    ];
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + numbers.below(3) {
        let start = numbers.below(bytes.len() + 1);
        let end = (start + numbers.below(12)).min(bytes.len());
        let piece = PIECES[numbers.below(PIECES.len())].as_bytes();
        match numbers.below(6) {
            0 => drop(bytes.drain(start..end)),
            1 => bytes.truncate(start.max(1)),
            2 => {
                let copy = bytes[start..end].to_vec();
                let target = numbers.below(bytes.len() + 1);
                drop(bytes.splice(target..target, copy));
            }
            3 => drop(bytes.splice(start..start, piece.iter().copied())),
            _ => drop(bytes.splice(start..end, piece.iter().copied())),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn a_broken_file_is_an_error_with_its_line_and_character() {
    let mut numbers = Numbers(2);
    for (name, text) in SAMPLES {
        let format = format(name);
        let odd_names = (format.write)(&random_network(&mut numbers)).unwrap();
        let mut refused = 0;
        for round in 0..4000 {
            let whole = if round % 4 == 0 { &odd_names } else { text };
            let broken = mutate(whole, &mut numbers);
            let Err(error) = read_text(format, &broken) else {
                continue;
            };
            refused += 1;
            assert!(error.line().is_some(), "{name}: {error}\n{broken}");
            let (_, character) = error.message().rsplit_once(", at character ").unwrap();
            assert!(
                character.parse::<usize>().is_ok(),
                "{name}: {error}\n{broken}"
            );
            let lines = broken.split('\n').count() as u64;
            assert!(
                error.line().is_some_and(|line| (1..=lines).contains(&line)),
                "{error}"
            );
        }
        assert!(
            refused > 1000,
            "{name}: only {refused} of the files are broken"
        );
    }
}

#[test]
fn broken_factors_and_evidence_are_errors_with_their_line() {
    let factors = "MARKOV 3 2 2 3 2 2 0 1 2 1 2\n4 4.0 2.4 1 0\n6 2.25 3.25 3.75 0 0 10";
    let mut numbers = Numbers(3);
    for _ in 0..3000 {
        if let Err(error) = read_factors(&mutate(factors, &mut numbers)) {
            assert!(error.line().is_some(), "{error}");
        }
        if let Err(error) = read_evidence(&mutate("1\n2 1 0 2 1\n", &mut numbers)) {
            assert!(error.line().is_some(), "{error}");
        }
    }
}

#[test]
fn every_prefix_of_a_file_is_refused_or_read() {
    for (name, text) in SAMPLES {
        let format = format(name);
        for end in 0..text.trim_end().len() {
            let result = read_text(format, &text[..end]);
            // Only the last digits of a UAI file can be missing without notice.
            assert!(
                result.is_err() || name == "uai" || end + 2 > text.trim_end().len(),
                "{name} {end}"
            );
        }
    }
}

#[test]
fn a_format_is_known_by_its_extension() {
    let name = |path: &str| of_path(Path::new(path)).map(|format| format.name);
    assert_eq!(name("a/alarm.bif"), Some("bif"));
    assert_eq!(name("alarm.BIF.gz"), Some("bif"));
    assert_eq!(name("alarm.xml"), Some("xmlbif"));
    assert_eq!(name("alarm.net.zst"), Some("net"));
    assert_eq!(name("alarm.gv"), Some("dot"));
    for path in ["alarm", "alarm.csv", "alarm.gz", ".bif", ""] {
        assert_eq!(name(path), None, "{path}");
    }
}
