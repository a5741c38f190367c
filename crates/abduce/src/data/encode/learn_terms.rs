//! The terms of columns of text: a pass over them that makes their vocabulary,
//! or none where terms are numbered by hashing.

use crate::Result;
use crate::data::encode::Texts;
use crate::data::options::{Missing, TextOptions};
use crate::data::read::{Inputs, Known};
use crate::data::table::schema::{Field, Kind};
use crate::text::{Encoder, Encoding, TermCounter, Vocabulary};

/// A column of text whose terms are to be learned.
struct Learned<'a> {
    /// Where it stands among the fields, and in the table.
    place: usize,
    at: usize,
    options: &'a TextOptions,
    counter: TermCounter,
}

/// A pass over the columns of text, if there are any: which terms they have.
pub(crate) fn learn_terms(
    inputs: &Inputs,
    options: &TextOptions,
    missing: &Missing,
    fields: &mut [Field],
    notes: &mut Vec<String>,
) -> Result<()> {
    let places = fields.iter().enumerate();
    let places = places.filter(|(_, field)| field.kind == Kind::Text);
    let pairs = TextOptions::of_pairs()?;
    let mut columns: Vec<Learned> = places
        .filter_map(|(place, field)| {
            let at = inputs.position(&field.name)?;
            Some(Learned {
                place,
                at,
                options: match inputs.known[at] {
                    Some(Known::Pairs) => &pairs,
                    _ => options,
                },
                counter: TermCounter::default(),
            })
        })
        .collect();
    let mut read = vec![false; inputs.names.len()];
    let counted = |column: &&mut Learned| column.options.hashing.is_none();
    let places = columns.iter_mut().filter(counted);
    places.for_each(|column| read[column.at] = true);
    if read.contains(&true) {
        inputs.scan(&read, |located| {
            for column in columns.iter_mut().filter(counted) {
                let rows = 0..located.batch.rows();
                let texts = Texts::of(located, located.positions[column.at], rows, missing)?;
                let seen: Vec<&str> = texts.iter().flatten().collect();
                column.counter.add(&column.options.analyzer, &seen);
            }
            Ok(())
        })?;
    }
    for column in columns {
        let Learned {
            place,
            options,
            counter,
            ..
        } = column;
        let name = fields[place].name.clone();
        let encoding = match options.hashing {
            Some(hashing) => Encoding::Hashing(hashing),
            None => {
                let vocabulary = match counter.is_empty() && options.wordless {
                    true => Ok(Vocabulary::default()),
                    false => counter.finish(&options.limits),
                };
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
