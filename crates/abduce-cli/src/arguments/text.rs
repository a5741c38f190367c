//! The options for splitting columns of text into terms.

use crate::arguments::values::given;
use crate::context::Context;
use crate::io::failure::Outcome;
use abduce::data::{Schema, TextOptions};
use abduce::text::{Analyzer, AnalyzerOptions, Frequency, Hashing, Limits, StopWords, Unit};
use clap::Args;
use std::path::Path;

/// How columns of text are read.
#[derive(Args)]
#[command(next_help_heading = "Text options")]
pub struct TextArguments {
    /// Terms of a text: words, characters, characters-within-words, or pairs of a term and its
    /// weight as in cash:2 [default: words]
    #[arg(long, value_name = "UNIT", value_parser = unit)]
    terms: Option<Unit>,

    /// Number of consecutive words or characters in a term, as in 2 or 1-3 [default: 1]
    #[arg(long, value_name = "N", value_parser = ngrams)]
    ngrams: Option<(usize, usize)>,

    /// Distinguish upper and lower case
    #[arg(long)]
    case_sensitive: bool,

    /// Words to leave out: english, or a file with one word per line
    #[arg(long, value_name = "WORDS")]
    stop_words: Option<String>,

    /// Leave out terms in fewer documents than this number or share, as in 5 or 0.01 [default: 1]
    #[arg(long, value_name = "N")]
    min_df: Option<Frequency>,

    /// Leave out terms in more documents than this number or share, as in 1000 or 0.5 [default:
    /// 1.0]
    #[arg(long, value_name = "N")]
    max_df: Option<Frequency>,

    /// Keep only this many of the most frequent terms
    #[arg(long, value_name = "N")]
    max_terms: Option<usize>,

    /// Hash terms to 2^BITS codes instead of storing a vocabulary; a model then stores 2^BITS
    /// numbers per class
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(1..=24))]
    hash_bits: Option<u32>,
}

impl TextArguments {
    /// Notes the given options if there is no column of text that they apply to.
    pub fn note_unused(&self, schema: &Schema, context: &Context) {
        let unit = self.terms.unwrap_or_default();
        let mut texts = schema.fields.iter().filter_map(|field| field.text.as_ref());
        if texts.any(|text| text.analyzer.options().unit == unit) {
            return;
        }
        let options = [
            (self.terms.is_some(), "--terms"),
            (self.ngrams.is_some(), "--ngrams"),
            (self.case_sensitive, "--case-sensitive"),
            (self.stop_words.is_some(), "--stop-words"),
            (self.min_df.is_some(), "--min-df"),
            (self.max_df.is_some(), "--max-df"),
            (self.max_terms.is_some(), "--max-terms"),
            (self.hash_bits.is_some(), "--hash-bits"),
        ];
        let given: Vec<&str> = given(&options).collect();
        if !given.is_empty() {
            let has_terms = schema.fields.iter().any(|field| field.text.is_some());
            let reason = if has_terms {
                "the data already consists of terms"
            } else {
                "there is no column of text; --kind COL=text makes one"
            };
            let has = if given.len() == 1 { "has" } else { "have" };
            context.note(&format!("{} {has} no effect: {reason}", given.join(", ")));
        }
    }

    pub fn options(&self) -> Outcome<TextOptions> {
        let default = AnalyzerOptions::default();
        let stop_words = match self.stop_words.as_deref() {
            None => StopWords::default(),
            Some(name) if Path::new(name).is_file() => StopWords::read(Path::new(name))?,
            Some(name) => StopWords::named(name)?,
        };
        let limits = Limits::default();
        Ok(TextOptions {
            wordless: false,
            analyzer: Analyzer::new(AnalyzerOptions {
                unit: self.terms.unwrap_or(default.unit),
                ngrams: self.ngrams.unwrap_or(default.ngrams),
                lowercase: !self.case_sensitive,
                stop_words,
                ..default
            })?,
            limits: Limits {
                smallest: self.min_df.unwrap_or(limits.smallest),
                largest: self.max_df.unwrap_or(limits.largest),
                most_terms: self.max_terms,
            },
            hashing: self.hash_bits.map(Hashing::new).transpose()?,
        })
    }
}

fn unit(text: &str) -> Result<Unit, String> {
    match text {
        "words" => Ok(Unit::Words),
        "characters" => Ok(Unit::Characters),
        "characters-within-words" => Ok(Unit::CharactersWithinWords),
        "pairs" => Ok(Unit::Pairs),
        _ => Err("the units are words, characters, characters-within-words and pairs".into()),
    }
}

fn ngrams(text: &str) -> Result<(usize, usize), String> {
    let invalid = || "write a number, or two as in 1-3".to_string();
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    let read = |part: &str| part.trim().parse::<usize>().map_err(|_| invalid());
    match (read(least)?, read(most)?) {
        (least, most) if least >= 1 && least <= most => Ok((least, most)),
        _ => Err(invalid()),
    }
}
