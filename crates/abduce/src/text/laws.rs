//! Property tests of splitting, counting and encoding texts.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

/// Few letters, so that terms repeat.
const LETTERS: &str = "[ab AB_1.'\n\té√Σσİ\u{301}你😀]{0,40}";
const ASCII: &str = "[a-cA-C_0-2 .'\n\t\r-]{0,60}";

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(LETTERS, 1..20)
}

fn analyzers() -> impl Strategy<Value = Analyzer> {
    let units = prop_oneof![
        Just(Unit::Words),
        Just(Unit::Characters),
        Just(Unit::CharactersWithinWords)
    ];
    (units, 1..4_usize, 0..3_usize, any::<bool>(), 1..3_usize).prop_map(
        |(unit, shortest, more, lowercase, shortest_word)| {
            Analyzer::new(AnalyzerOptions {
                unit,
                ngrams: (shortest, shortest + more),
                lowercase,
                stop_words: StopWords::List(vec!["ab".to_string()]),
                shortest_word,
            })
            .expect("the options are right")
        },
    )
}

fn terms(analyzer: &Analyzer, text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    analyzer.terms(text, &mut Scratch::default(), |term| {
        terms.push(term.to_string())
    });
    terms
}

fn tallied(terms: &[String]) -> BTreeMap<&str, u32> {
    let mut tallied = BTreeMap::new();
    for term in terms {
        *tallied.entry(term.as_str()).or_default() += 1;
    }
    tallied
}

/// The counts of a row by term.
fn read<'a>(vocabulary: &'a Vocabulary, row: (&[u32], &[u32])) -> BTreeMap<&'a str, u32> {
    let names = row
        .0
        .iter()
        .map(|code| vocabulary.term(*code).expect("known"));
    names.zip(row.1.iter().copied()).collect()
}

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads can be had").install(work)
}

/// Enough texts for several batches.
fn corpus() -> Vec<String> {
    let word = |number: usize| format!("w{}", number * number % 7919 % (number % 97 + 3));
    let text = |place: usize| {
        (0..30)
            .map(|number| word(place * 31 + number) + " ")
            .collect()
    };
    (0..20_000).map(text).collect()
}

proptest! {
    #[test]
    fn every_row_holds_the_terms_of_its_text(texts in texts(), analyzer in analyzers()) {
        let Ok((vocabulary, documents)) = count(&texts, &analyzer, &Limits::default()) else {
            prop_assert!(texts.iter().all(|text| terms(&analyzer, text).is_empty()));
            return Ok(());
        };
        prop_assert_eq!(documents.len(), texts.len());
        prop_assert_eq!(documents.width(), vocabulary.len());
        prop_assert!(vocabulary.terms().is_sorted());
        let mut all = 0;
        for (row, text) in documents.rows().zip(&texts) {
            let terms = terms(&analyzer, text);
            prop_assert!(row.0.is_sorted_by(|left, right| left < right));
            prop_assert_eq!(read(&vocabulary, row), tallied(&terms));
            all += terms.len() as u64;
        }
        prop_assert_eq!(documents.occurrences(), all);
    }

    #[test]
    fn two_passes_find_what_one_pass_finds(texts in texts(), analyzer in analyzers(), smallest in 1..3_u64, most in 1..9_usize) {
        let limits = Limits { smallest: Frequency::Documents(smallest), most_terms: Some(most), ..Limits::default() };
        let mut counter = TermCounter::default();
        for part in texts.chunks(3) {
            counter.add(&analyzer, part);
        }
        let one = count(&texts, &analyzer, &limits);
        prop_assert_eq!(one.is_ok(), counter.finish(&limits).is_ok());
        if let Ok((vocabulary, documents)) = one {
            prop_assert_eq!(&counter.finish(&limits)?, &vocabulary);
            let encoder = Encoder { analyzer, encoding: Encoding::Vocabulary(vocabulary), limits: Limits::default() };
            prop_assert_eq!(&encoder.encode(&texts), &documents);
            prop_assert_eq!(&encoder.encode_stream(&texts), &documents);
        }
    }

    #[test]
    fn known_and_unknown_terms_are_all_the_terms(texts in texts(), analyzer in analyzers()) {
        let limits = Limits { most_terms: Some(3), ..Limits::default() };
        if let Ok((_, documents)) = count(&texts, &analyzer, &limits) {
            for ((row, unknown), text) in documents.rows().zip(documents.unknown()).zip(&texts) {
                let sum = row.1.iter().sum::<u32>() + unknown;
                prop_assert_eq!(sum as usize, terms(&analyzer, text).len());
            }
        }
    }

    #[test]
    fn the_order_of_documents_is_irrelevant_to_the_vocabulary(texts in texts(), analyzer in analyzers()) {
        let mut reversed = texts.clone();
        reversed.reverse();
        let vocabulary = |texts: &[String]| count(texts, &analyzer, &Limits::default()).ok().map(|both| both.0);
        prop_assert_eq!(vocabulary(&texts), vocabulary(&reversed));
    }

    #[test]
    fn words_of_joined_texts_are_the_words_of_both(first in LETTERS, second in LETTERS) {
        let analyzer = Analyzer::default();
        let mut both = terms(&analyzer, &first);
        both.extend(terms(&analyzer, &second));
        prop_assert_eq!(terms(&analyzer, &format!("{first} . {second}")), both);
    }

    #[test]
    fn ascii_and_unicode_texts_are_split_alike(text in ASCII, analyzer in analyzers()) {
        // A non-ASCII character at the end, apart from all words.
        let slow = terms(&analyzer, &format!("{text} √"));
        let fast = terms(&analyzer, &format!("{text} !"));
        let slow: Vec<String> = slow.iter().map(|term| term.replace('√', "!")).collect();
        prop_assert_eq!(slow, fast);
    }

    #[test]
    fn one_scratch_serves_all_texts(texts in texts(), analyzer in analyzers()) {
        let mut scratch = Scratch::default();
        for text in &texts {
            let mut again = Vec::new();
            analyzer.terms(text, &mut scratch, |term| again.push(term.to_string()));
            prop_assert_eq!(again, terms(&analyzer, text));
        }
    }

    #[test]
    fn every_term_has_its_code(words in prop::collection::btree_set(".{0,20}", 0..200)) {
        let vocabulary: Vocabulary = words.iter().collect();
        prop_assert_eq!(vocabulary.len(), words.len());
        for (word, code) in words.iter().zip(0..) {
            prop_assert_eq!(vocabulary.code(word), Some(code));
            prop_assert_eq!(vocabulary.term(code), Some(word.as_str()));
        }
    }

    #[test]
    fn new_terms_do_not_change_old_codes(
        old in prop::collection::btree_set("[a-c]{1,10}", 0..40),
        new in prop::collection::vec("[a-c]{1,10}", 0..40),
    ) {
        let mut vocabulary: Vocabulary = old.iter().collect();
        let added = vocabulary.extend(&new);
        let all: BTreeSet<&String> = old.iter().chain(&new).collect();
        prop_assert_eq!(added, all.len() - old.len());
        prop_assert!(old.iter().zip(0..).all(|(term, code)| vocabulary.code(term) == Some(code)));
        prop_assert!(vocabulary.terms().skip(old.len()).is_sorted());
    }

    #[test]
    fn serialization_round_trips(words in prop::collection::vec(".{0,12}", 0..30), analyzer in analyzers()) {
        let vocabulary: Vocabulary = words.into_iter().collect();
        for encoding in [Encoding::Vocabulary(vocabulary), Encoding::Hashing(Hashing::new(12)?)] {
            let encoder = Encoder { analyzer: analyzer.clone(), encoding, limits: Limits::default() };
            let written = serde_json::to_string(&encoder).expect("writable");
            let read: Encoder = serde_json::from_str(&written).expect("readable");
            prop_assert_eq!(read, encoder);
        }
    }

    #[test]
    fn documents_appended_are_documents_encoded_together(texts in texts(), cut in 0..20_usize) {
        let encoder = Encoder { analyzer: Analyzer::default(), encoding: Encoding::Hashing(Hashing::new(4)?), limits: Limits::default() };
        let (first, second) = texts.split_at(cut.min(texts.len()));
        let mut both = encoder.encode(first);
        both.append(&encoder.encode(second));
        prop_assert_eq!(both, encoder.encode(&texts));
    }

    #[test]
    fn dropped_terms_are_reported(texts in prop::collection::vec("([a-d]{2} ){0,8}", 1..200), room in 1..40_usize) {
        let analyzer = Analyzer::default();
        let mut small = TermCounter::holding(room);
        let mut large = TermCounter::default();
        for text in texts.chunks(7) {
            small.add(&analyzer, text);
            large.add(&analyzer, text);
            prop_assert!(small.terms() <= room.max(1));
        }
        let dropped = small.dropped();
        let mut kept = 0;
        for term in large.finish(&Limits::default()).iter().flat_map(Vocabulary::terms) {
            let [counted, there] = [&small, &large].map(|counter| counter.document_frequency(term));
            prop_assert!(counted <= there && there <= counted + dropped.documents_missed);
            kept += small.occurrences(term);
            prop_assert!(small.occurrences(term) <= large.occurrences(term));
        }
        let all: usize = texts.iter().map(|text| terms(&analyzer, text).len()).sum();
        prop_assert_eq!(kept + dropped.occurrences, all as u64);
    }
}

#[test]
fn any_number_of_threads_gives_the_same_counts() {
    let texts = corpus();
    let analyzer = Analyzer::default();
    let counted = |threads| {
        with_threads(threads, || {
            let mut counter = TermCounter::holding(1000);
            counter.add(&analyzer, &texts);
            let both = count(&texts, &analyzer, &Limits::default()).expect("there are terms");
            let held = counter.finish(&Limits::default()).expect("there are terms");
            (both, held, counter.dropped())
        })
    };
    assert!(counted(1) == counted(3));
    assert!(counted(1) == counted(8));
}

#[test]
fn a_text_longer_than_a_block_loses_no_term() {
    let text: String = (0..5000).map(|number| format!("word{number} ")).collect();
    let options = AnalyzerOptions {
        ngrams: (1, 2),
        ..AnalyzerOptions::default()
    };
    let analyzer = Analyzer::new(options).expect("right");
    assert_eq!(terms(&analyzer, &text).len(), 9999);
}

#[test]
fn stop_words_are_split_as_texts_are() {
    let options = AnalyzerOptions {
        stop_words: StopWords::English,
        ..AnalyzerOptions::default()
    };
    let analyzer = Analyzer::new(options).expect("right");
    assert_eq!(
        terms(&analyzer, "We don't think you'll WIN the prize"),
        ["think", "win", "prize"]
    );
}

#[test]
fn invalid_options_are_refused() {
    let ngrams = |ngrams| {
        Analyzer::new(AnalyzerOptions {
            ngrams,
            ..AnalyzerOptions::default()
        })
    };
    assert!(ngrams((0, 1)).is_err());
    assert!(ngrams((3, 2)).is_err());
    assert!(serde_json::from_str::<Vocabulary>(r#"["a", "b", "a"]"#).is_err());
    assert!(serde_json::from_str::<Hashing>(r#"{"bits": 0}"#).is_err());
    assert!(serde_json::from_str::<Analyzer>(r#"{"ngrams": [2, 1]}"#).is_err());
    let texts = ["one two", "two three"];
    let refused = |limits: Limits| count(&texts, &Analyzer::default(), &limits).is_err();
    assert!(refused(Limits {
        smallest: Frequency::Documents(3),
        ..Limits::default()
    }));
    assert!(refused(Limits {
        largest: Frequency::Share(1.5),
        ..Limits::default()
    }));
    assert!(refused(Limits {
        most_terms: Some(0),
        ..Limits::default()
    }));
    assert!(count(&["", "!"], &Analyzer::default(), &Limits::default()).is_err());
}
