//! How columns of text are taken apart into terms.

use crate::context::Context;
use crate::failure::Outcome;
use abduce::data::{Schema, TextOptions};
use abduce::text::{Analyzer, AnalyzerOptions, Frequency, Hashing, Limits, StopWords, Unit};
use clap::Args;
use std::path::Path;

/// How columns of text are read.
#[derive(Args)]
#[command(next_help_heading = "Text options")]
pub struct TextArguments {
    /// What a term is: words, characters, characters-within-words, or pairs of
    /// a term and its weight as in cash:2 [default: words]
    #[arg(long, value_name = "UNIT", value_parser = unit)]
    terms: Option<Unit>,

    /// How many words or characters make a term, as in 2 or 1-3 [default: 1]
    #[arg(long, value_name = "N", value_parser = ngrams)]
    ngrams: Option<(usize, usize)>,

    /// Treat upper and lower case as different
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
    /// Says which options are given where no column is text that they could
    /// take apart.
    pub fn note_unused(&self, schema: &Schema, context: &Context) {
        let unit = self.terms.unwrap_or_default();
        let mut texts = schema.fields.iter().filter_map(|field| field.text.as_ref());
        if texts.any(|own| own.analyzer.options().unit == unit) {
            return;
        }
        let given = [
            (self.terms.is_some(), "--terms"),
            (self.ngrams.is_some(), "--ngrams"),
            (self.case_sensitive, "--case-sensitive"),
            (self.stop_words.is_some(), "--stop-words"),
            (self.min_df.is_some(), "--min-df"),
            (self.max_df.is_some(), "--max-df"),
            (self.max_terms.is_some(), "--max-terms"),
            (self.hash_bits.is_some(), "--hash-bits"),
        ];
        let given = given.iter().filter(|(given, _)| *given);
        let given: Vec<&str> = given.map(|(_, option)| *option).collect();
        if !given.is_empty() {
            let fields = &mut schema.fields.iter();
            let cure = match fields.any(|field| field.text.is_some()) {
                true => "the terms of the data are given",
                false => "--kind col=text makes a column text",
            };
            context.note(&format!(
                "{}: without effect, because no column is text to be taken apart; {cure}",
                given.join(", ")
            ));
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
