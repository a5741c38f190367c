//! Terms and counts against scikit-learn's, and characters against Python's;
//! `golden/text.py` makes the numbers.

use std::ops::RangeInclusive;

use abduce::text::{
    Analyzer, AnalyzerOptions, Documents, Encoder, Encoding, Frequency, Hashing, Limits, Scratch,
    StopWords, TermCounter, Unit, count,
};
use serde_json::Value;

fn strings(value: &Value) -> Vec<&str> {
    let list = value.as_array().unwrap();
    list.iter().map(|text| text.as_str().unwrap()).collect()
}

fn numbers(value: &Value) -> Vec<u32> {
    let list = value.as_array().unwrap();
    list.iter()
        .map(|number| number.as_u64().unwrap() as u32)
        .collect()
}

fn ngrams(value: &Value) -> (usize, usize) {
    let ends = numbers(value);
    (ends[0] as usize, ends[1] as usize)
}

fn analyzer(options: &Value) -> Analyzer {
    let defaults = AnalyzerOptions::default();
    Analyzer::new(AnalyzerOptions {
        unit: match options["analyzer"].as_str() {
            Some("char") => Unit::Characters,
            Some("char_wb") => Unit::CharactersWithinWords,
            _ => Unit::Words,
        },
        ngrams: options.get("ngram_range").map_or((1, 1), ngrams),
        lowercase: options["lowercase"].as_bool().unwrap_or(true),
        stop_words: options.get("stop_words").map_or(StopWords::None, |words| {
            StopWords::List(strings(words).into_iter().map(str::to_string).collect())
        }),
        shortest_word: options["shortest_word"]
            .as_u64()
            .map_or(defaults.shortest_word, |letters| letters as usize),
    })
    .unwrap()
}

fn limits(options: &Value) -> Limits {
    let defaults = Limits::default();
    let frequency = |name: &str, default: Frequency| {
        options.get(name).map_or(default, |value| {
            serde_json::from_value(value.clone()).unwrap()
        })
    };
    Limits {
        smallest: frequency("min_df", defaults.smallest),
        largest: frequency("max_df", defaults.largest),
        most_terms: options["max_features"].as_u64().map(|most| most as usize),
    }
}

#[track_caller]
fn assert_rows(name: &str, documents: &Documents, rows: &Value) {
    let rows = rows.as_array().unwrap();
    assert_eq!(documents.len(), rows.len());
    for (document, row) in rows.iter().enumerate() {
        let (terms, counts) = documents.row(document);
        assert_eq!(terms, numbers(&row["terms"]), "{name}, document {document}");
        assert_eq!(
            counts,
            numbers(&row["counts"]),
            "{name}, document {document}"
        );
    }
}

#[test]
fn vocabularies_and_counts_are_those_of_count_vectorizer() {
    let golden = super::golden("text");
    let texts = strings(&golden["documents"]);
    for (name, case) in golden["counted"].as_object().unwrap() {
        let analyzer = analyzer(&case["options"]);
        let limits = limits(&case["options"]);
        let (vocabulary, documents) = count(&texts, &analyzer, &limits).unwrap();
        let expected = strings(&case["vocabulary"]);
        let terms: Vec<&str> = vocabulary.terms().collect();
        assert_eq!(terms, expected, "{name}");
        assert_rows(name, &documents, &case["rows"]);

        let mut counter = TermCounter::default();
        counter.add(&analyzer, &texts);
        assert_eq!(counter.finish(&limits).unwrap(), vocabulary, "{name}");
        let encoding = Encoding::Vocabulary(vocabulary);
        let encoder = Encoder {
            analyzer,
            encoding,
            limits: Limits::default(),
        };
        assert_eq!(encoder.encode(&texts), documents, "{name}");
    }
}

#[test]
fn hashed_counts_are_those_of_hashing_vectorizer() {
    let golden = super::golden("text");
    let texts = strings(&golden["documents"]);
    for case in golden["hashed"].as_array().unwrap() {
        let options = AnalyzerOptions {
            ngrams: ngrams(&case["ngrams"]),
            ..AnalyzerOptions::default()
        };
        let bits = case["bits"].as_u64().unwrap() as u32;
        let encoder = Encoder {
            analyzer: Analyzer::new(options).unwrap(),
            encoding: Encoding::Hashing(Hashing::new(bits).unwrap()),
            limits: Limits::default(),
        };
        let name = format!("{bits} bits");
        assert_rows(&name, &encoder.encode(&texts), &case["rows"]);
    }
}

fn ranges(value: &Value) -> Vec<RangeInclusive<u32>> {
    let ends = numbers(value);
    ends.chunks(2).map(|ends| ends[0]..=ends[1]).collect()
}

fn contains(ranges: &[RangeInclusive<u32>], character: char) -> bool {
    let code = character as u32;
    let next = ranges.partition_point(|range| *range.end() < code);
    ranges.get(next).is_some_and(|range| range.contains(&code))
}

/// How many terms a text has.
fn terms(analyzer: &Analyzer, text: &str) -> usize {
    let mut terms = 0;
    analyzer.terms(text, &mut Scratch::default(), |_| terms += 1);
    terms
}

#[test]
fn word_and_space_characters_are_those_of_python() {
    let golden = super::golden("text");
    let words = ranges(&golden["word_characters"]);
    let spaces = ranges(&golden["spaces"]);
    let not_assigned = ranges(&golden["not_assigned"]);
    let options = AnalyzerOptions {
        shortest_word: 1,
        lowercase: false,
        ..AnalyzerOptions::default()
    };
    let by_words = Analyzer::new(options.clone()).unwrap();
    let by_spaces = Analyzer::new(AnalyzerOptions {
        unit: Unit::CharactersWithinWords,
        ngrams: (9, 9),
        ..options
    })
    .unwrap();
    for character in ('\0'..=char::MAX).filter(|character| !contains(&not_assigned, *character)) {
        let is_word = terms(&by_words, &character.to_string()) == 1;
        assert_eq!(is_word, contains(&words, character), "{character:?}");
        let is_space = terms(&by_spaces, &format!("a{character}b")) == 2;
        assert_eq!(is_space, contains(&spaces, character), "{character:?}");
    }
}

#[test]
fn lower_case_is_that_of_python() {
    let golden = super::golden("text");
    let analyzer = Analyzer::new(AnalyzerOptions {
        unit: Unit::CharactersWithinWords,
        ngrams: (9, 9),
        ..AnalyzerOptions::default()
    })
    .unwrap();
    let mut lowered = Vec::new();
    let upper = golden["upper"].as_str().unwrap();
    analyzer.terms(upper, &mut Scratch::default(), |term| {
        lowered.push(term.trim().to_string());
    });
    assert_eq!(lowered.join(" "), golden["lower"].as_str().unwrap());
}
