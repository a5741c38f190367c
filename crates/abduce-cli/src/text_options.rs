//! How columns of text are taken apart into terms.

use crate::failure::Outcome;
use abduce::data::TextOptions;
use abduce::text::{Analyzer, AnalyzerOptions, Frequency, Hashing, Limits, StopWords, Unit};
use clap::Args;
use std::path::Path;

/// How columns of text are read.
#[derive(Args)]
#[command(next_help_heading = "Text options")]
pub struct TextArguments {
    /// What a term is: words, characters, or characters within words
    /// [default: words]
    #[arg(long, value_name = "UNIT", value_parser = unit)]
    terms: Option<Unit>,

    /// How many words or characters make a term, as in 2 or 1-3 [default: 1]
    #[arg(long, value_name = "N", value_parser = ngrams)]
    ngrams: Option<(usize, usize)>,

    /// Tell Capital from small letters
    #[arg(long)]
    case_sensitive: bool,

    /// Words to leave out: english, or a file with a word on each line
    #[arg(long, value_name = "WORDS")]
    stop_words: Option<String>,

    /// Leave out terms of fewer documents: a number, or a share such as 0.01
    /// [default: 1]
    #[arg(long, value_name = "N", value_parser = frequency)]
    min_df: Option<Frequency>,

    /// Leave out terms of more documents: a number, or a share such as 0.5
    /// [default: 1.0]
    #[arg(long, value_name = "N", value_parser = frequency)]
    max_df: Option<Frequency>,

    /// Keep this many terms at most, the most frequent
    #[arg(long, value_name = "N")]
    max_terms: Option<usize>,

    /// Number terms by hashing to 2^BITS codes instead of keeping a vocabulary; a
    /// model has a number for each code and class
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(1..=24))]
    hash_bits: Option<u32>,
}

impl TextArguments {
    pub fn options(&self) -> Outcome<TextOptions> {
        let default = AnalyzerOptions::default();
        let stop_words = match self.stop_words.as_deref() {
            None => StopWords::default(),
            Some(name) if Path::new(name).is_file() => StopWords::read(Path::new(name))?,
            Some(name) => StopWords::named(name)?,
        };
        let limits = Limits::default();
        Ok(TextOptions {
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
        _ => Err("the units are words, characters and characters-within-words".into()),
    }
}

fn ngrams(text: &str) -> Result<(usize, usize), String> {
    let wrong = || "write a number, or two as in 1-3".to_string();
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    let read = |part: &str| part.trim().parse::<usize>().map_err(|_| wrong());
    match (read(least)?, read(most)?) {
        (least, most) if least >= 1 && least <= most => Ok((least, most)),
        _ => Err(wrong()),
    }
}

fn frequency(text: &str) -> Result<Frequency, String> {
    text.parse()
        .map_err(|error: abduce::Error| error.to_string())
}
