//! The terms of columns of text: a pass over them that makes their vocabulary,
//! or none where terms are numbered by hashing.

use super::encode::Texts;
use super::options::{Missing, TextOptions};
use super::read::Inputs;
use super::schema::{Field, Kind};
use crate::Result;
use crate::text::{Encoder, Encoding, TermCounter};

/// A pass over the columns of text, if there are any: which terms they have.
pub(super) fn learn_terms(
    inputs: &Inputs,
    options: &TextOptions,
    missing: &Missing,
    fields: &mut [Field],
    notes: &mut Vec<String>,
) -> Result<()> {
    let places = fields.iter().enumerate();
    let places = places.filter(|(_, field)| field.kind == Kind::Text);
    let mut counters: Vec<(usize, usize, TermCounter)> = places
        .filter_map(|(place, field)| {
            Some((place, inputs.position(&field.name)?, TermCounter::default()))
        })
        .collect();
    if counters.is_empty() {
        return Ok(());
    }
    if options.hashing.is_none() {
        let mut read = vec![false; inputs.names.len()];
        counters.iter().for_each(|(_, at, _)| read[*at] = true);
        inputs.scan(&read, |located| {
            for (_, at, counter) in &mut counters {
                let rows = 0..located.batch.rows();
                let texts = Texts::of(located, located.positions[*at], rows, missing)?;
                let seen: Vec<&str> = texts.iter().flatten().collect();
                counter.add(&options.analyzer, &seen);
            }
            Ok(())
        })?;
    }
    for (place, _, counter) in counters {
        let name = fields[place].name.clone();
        let encoding = match options.hashing {
            Some(hashing) => Encoding::Hashing(hashing),
            None => {
                let vocabulary = counter.finish(&options.limits);
                Encoding::Vocabulary(vocabulary.map_err(|error| error.at_column(&name))?)
            }
        };
        let dropped = counter.dropped();
        if dropped.terms > 0 {
            notes.push(format!(
                "column {name}: {} rare terms were dropped to keep memory bounded; none of them \
                 is in more than {} documents",
                dropped.terms, dropped.documents_missed
            ));
        }
        let encoder = Encoder {
            analyzer: options.analyzer.clone(),
            encoding,
            limits: options.limits,
        };
        fields[place] = Field::with_text(name, encoder);
    }
    Ok(())
}
