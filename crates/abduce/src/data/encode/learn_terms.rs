//! A pass over the columns of text that builds their vocabularies; terms that are hashed need
//! none.

use crate::Result;
use crate::data::encode::texts::Texts;
use crate::data::missing::Missing;
use crate::data::options::TextOptions;
use crate::data::read::{Inputs, Known};
use crate::data::table::schema::{Field, Kind};
use crate::text::{Encoder, Encoding, TermCounter, Vocabulary};

/// A column of text whose terms are counted.
struct TextColumn<'a> {
    /// Its position among the fields.
    field: usize,
    /// Its position in the table.
    column: usize,
    options: &'a TextOptions,
    counter: TermCounter,
}

/// Sets the terms of every field of text, after a pass over the columns that need a
/// vocabulary.
pub(crate) fn learn_terms(
    inputs: &Inputs,
    options: &TextOptions,
    missing: &Missing,
    fields: &mut [Field],
    notes: &mut Vec<String>,
) -> Result<()> {
    let texts = fields.iter().enumerate();
    let texts = texts.filter(|(_, field)| field.kind == Kind::Text);
    let pairs = TextOptions::of_pairs()?;
    let mut columns: Vec<TextColumn> = texts
        .filter_map(|(place, field)| {
            let column = inputs.position(&field.name)?;
            Some(TextColumn {
                field: place,
                column,
                options: match inputs.known[column] {
                    Some(Known::Pairs) => &pairs,
                    _ => options,
                },
                counter: TermCounter::default(),
            })
        })
        .collect();
    count_terms(inputs, &mut columns, missing)?;
    for column in columns {
        let field = &mut fields[column.field];
        let name = field.name.clone();
        let encoding = column.encoding().map_err(|error| error.at_column(&name))?;
        let dropped = column.counter.dropped();
        if dropped.terms > 0 {
            notes.push(format!(
                "column {name}: {} rare terms were dropped to keep memory bounded; none of them \
                 is in more than {} documents",
                dropped.terms, dropped.documents_missed
            ));
        }
        let encoder = Encoder {
            analyzer: column.options.analyzer.clone(),
            encoding,
            limits: column.options.limits,
        };
        *field = Field::with_text(name, encoder);
    }
    Ok(())
}

/// Counts the terms of the columns that are not hashed.
fn count_terms(inputs: &Inputs, columns: &mut [TextColumn], missing: &Missing) -> Result<()> {
    let mut read = vec![false; inputs.names.len()];
    let is_counted = |column: &&mut TextColumn| column.options.hashing.is_none();
    let counted = columns.iter_mut().filter(is_counted);
    counted.for_each(|column| read[column.column] = true);
    if !read.contains(&true) {
        return Ok(());
    }
    inputs.scan(&read, |located| {
        for column in columns.iter_mut().filter(is_counted) {
            let rows = 0..located.batch.rows();
            let texts = Texts::of(located, located.positions[column.column], rows, missing)?;
            let texts: Vec<&str> = texts.iter().flatten().collect();
            column.counter.add(&column.options.analyzer, &texts);
        }
        Ok(())
    })
}

impl TextColumn<'_> {
    fn encoding(&self) -> Result<Encoding> {
        if let Some(hashing) = self.options.hashing {
            return Ok(Encoding::Hashing(hashing));
        }
        if self.counter.is_empty() && self.options.wordless {
            return Ok(Encoding::Vocabulary(Vocabulary::default()));
        }
        Ok(Encoding::Vocabulary(
            self.counter.finish(&self.options.limits)?,
        ))
    }
}
