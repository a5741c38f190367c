//! The two passes over files: the first infers the columns' kinds and levels, the second
//! encodes the rows in chunks, kept in memory or in a temporary file.

use crate::data::encode::alike::unify;
use crate::data::encode::cell_encoder::CellEncoder;
use crate::data::encode::infer::{Summary, Wish};
use crate::data::encode::learn_terms::learn_terms;
use crate::data::missing::Missing;
use crate::data::open::Opened;
use crate::data::options::{KindOverride, ReadOptions};
use crate::data::read::{Inputs, Known, Located, Parse};
use crate::data::table::chunk::{CHUNK_ROWS, Chunk};
use crate::data::table::column::Column;
use crate::data::table::schema::{Asked, Field, Kind, Schema};
use crate::data::table::store::Store;
use crate::{Error, Result};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// The first pass: infers the schema of the wanted columns.
pub(super) fn infer(
    inputs: &Inputs,
    options: &ReadOptions,
    wanted: &[bool],
    notes: &mut Vec<String>,
) -> Result<Schema> {
    let missing = Missing::new(&options.missing);
    let mut summaries = empty_summaries(inputs, options, wanted);
    let mut read = vec![false; inputs.names.len()];
    summaries.iter().for_each(|(at, _)| read[*at] = true);
    let mut columns = vec![false; inputs.names.len()];
    let parsed = summaries.iter().filter(|(_, s)| s.parses_numbers());
    parsed.for_each(|(at, _)| columns[*at] = true);
    let parse = Parse {
        columns: &columns,
        missing: &missing,
    };
    let (mut rows, mut weighing) = (0, 0);
    inputs.scan_parsed(&read, Some(parse), |round| {
        for located in &*round {
            rows += located.batch.rows();
            weighing += located.weighing_rows();
        }
        first_error(summaries.par_iter_mut().map(|(at, summary)| {
            let mut batches = round.iter().enumerate();
            batches.try_for_each(|(place, located)| {
                let observed = summary.observe(located, *at, &missing);
                observed.map_err(|error| (place, error.at_file(located.name)))
            })
        }))
    })?;
    if rows == 0 {
        return Err(no_rows(inputs));
    }
    if weighing == 0 && !options.more_rows {
        let column = options.weight.as_deref().unwrap_or_default();
        return Err(Error::data("every row has weight 0")
            .at_column(column)
            .with_hint("leave the weights out, or name another column with `weight`"));
    }
    unify(&mut summaries, notes);
    let mut fields = Vec::new();
    for (_, summary) in summaries {
        let field = summary.finish(&missing, options.text.is_some(), notes)?;
        fields.extend(field.map(|field| {
            if options.more_rows {
                field.asked(Asked::Nothing)
            } else {
                field
            }
        }));
    }
    if fields.is_empty() {
        let error = Error::data("no column is left that a model could use");
        return Err(if notes.is_empty() {
            error
        } else {
            error.with_hint(notes.join("; "))
        });
    }
    if let Some(text) = &options.text {
        learn_terms(inputs, text, &missing, &mut fields, notes)?;
    }
    Ok(Schema {
        fields,
        weight: options.weight.clone(),
    })
}

/// An empty summary for each wanted column but the weight, with the column's position.
fn empty_summaries(
    inputs: &Inputs,
    options: &ReadOptions,
    wanted: &[bool],
) -> Vec<(usize, Summary)> {
    (0..inputs.names.len())
        .filter(|&at| wanted[at] && options.weight.as_ref() != Some(&inputs.names[at]))
        .map(|at| {
            let name = &inputs.names[at];
            let target = options.target.as_ref() == Some(name);
            let known = match inputs.known[at] {
                Some(Known::Text | Known::Pairs) => Some(Kind::Text),
                Some(Known::Label) if !target => Some(Kind::Categorical),
                _ => None,
            };
            let asked = options.kind_override(name).cloned();
            let wish = Wish {
                kind: asked.or(known.map(KindOverride::from)),
                target,
                unnamed: inputs.unnamed[at],
                units: options.units,
                words: options.words.contains(name),
            };
            (at, Summary::new(name, wish))
        })
        .collect()
}

fn no_rows(inputs: &Inputs) -> Error {
    let error = Error::data("there are no rows");
    match inputs.files().as_slice() {
        [only] => error.at_file(only),
        _ => error,
    }
}

/// The error on the earliest line of the earliest batch, whichever thread found it.
fn first_error(
    results: impl ParallelIterator<Item = std::result::Result<(), (usize, Error)>>,
) -> Result<()> {
    let errors: Vec<(usize, Error)> = results.filter_map(std::result::Result::err).collect();
    let first = errors.into_iter();
    let first = first.min_by_key(|(place, error)| (*place, error.line()));
    first.map_or(Ok(()), |(_, error)| Err(error))
}

/// Where the levels of the schema come from.
pub(super) enum Levels<'a> {
    /// From the same files, so the schema has all of their levels.
    Found,
    /// From a model; a label of the target that the model lacks is a missing value.
    Known { target: Option<&'a str> },
}

/// The second pass: encodes the rows in chunks, kept in memory or in a temporary file.
pub(super) fn encode(
    inputs: Inputs,
    options: &ReadOptions,
    schema: Schema,
    weight: Option<usize>,
    mut notes: Vec<String>,
    allowed: &[bool],
    levels: Levels<'_>,
) -> Result<Opened> {
    let missing = Missing::new(&options.missing);
    let mut encoders = encoders(&inputs, options, &schema, allowed, &levels);
    let mut wanted = vec![false; inputs.names.len()];
    let positions = encoders.iter().filter_map(|(at, _)| *at);
    positions.for_each(|at| wanted[at] = true);
    let left_out = (inputs.names.iter().zip(&wanted).enumerate())
        .filter(|(at, (_, wanted))| !**wanted && weight != Some(*at))
        .map(|(_, (name, _))| name.clone())
        .collect();
    if let Some(at) = weight {
        wanted[at] = true;
        encoders.push((weight, CellEncoder::weight(&inputs.names[at])));
    }
    let mut chunks = ChunkWriter {
        encoders,
        weighted: weight.is_some(),
        filled: 0,
        missing_values: vec![0; schema.fields.len()],
        store: Store::new(options.memory_budget),
    };
    let mut columns = vec![false; inputs.names.len()];
    let parsed = (chunks.encoders.iter()).filter(|(_, encoder)| encoder.parses_numbers());
    parsed.for_each(|(at, _)| at.iter().for_each(|at| columns[*at] = true));
    let parse = Parse {
        columns: &columns,
        missing: &missing,
    };
    let mut quoted = Vec::new();
    inputs.scan_parsed(&wanted, Some(parse), |round| {
        for located in &*round {
            let cells = located.batch.suspicious_quotes().iter();
            quoted.extend(cells.map(|(line, lines)| (located.name.to_string(), *line, *lines)));
        }
        chunks.append(round, &missing)
    })?;
    chunks.flush()?;
    notes.extend(quote_notes(quoted));
    notes.extend(
        chunks
            .encoders
            .iter()
            .filter_map(|(_, encoder)| encoder.note()),
    );
    let source = chunks.store.finish(schema)?;
    if source.rows() == 0 {
        return Err(no_rows(&inputs));
    }
    Ok(Opened {
        source,
        notes,
        files: inputs.files(),
        left_out,
        missing_values: chunks.missing_values,
        inputs: Arc::new(inputs),
    })
}

/// An encoder for each field, with the position of its column in the files.
fn encoders(
    inputs: &Inputs,
    options: &ReadOptions,
    schema: &Schema,
    allowed: &[bool],
    levels: &Levels<'_>,
) -> Vec<(Option<usize>, CellEncoder)> {
    let position = |name: &str| inputs.position(name).filter(|at| allowed[*at]);
    let fields = schema.fields.iter().enumerate();
    let encoder = |(column, field): (usize, &Field)| {
        let may_be_unseen = match levels {
            Levels::Found => false,
            Levels::Known { target } => Some(field.name.as_str()) != *target,
        };
        let encoder = if may_be_unseen {
            let unseen = options.unseen.get(column).copied();
            CellEncoder::known(field, unseen.unwrap_or_default())
        } else {
            CellEncoder::field(field)
        };
        (position(&field.name), encoder)
    };
    fields.map(encoder).collect()
}

/// Encodes rows and stores them in chunks of [`CHUNK_ROWS`].
struct ChunkWriter {
    /// An encoder for each field, and last the weights' where rows are weighted.
    encoders: Vec<(Option<usize>, CellEncoder)>,
    weighted: bool,
    /// How many rows the present chunk has so far.
    filled: usize,
    missing_values: Vec<u64>,
    store: Store,
}

impl ChunkWriter {
    fn append(&mut self, batches: &[Located<'_>], missing: &Missing) -> Result<()> {
        let mut runs = Vec::new();
        for (place, located) in batches.iter().enumerate() {
            let rows = located.batch.rows();
            let mut start = 0;
            while start < rows {
                let end = rows.min(start + CHUNK_ROWS - self.filled);
                runs.push((place, start..end));
                self.filled += end - start;
                start = end;
                if self.filled == CHUNK_ROWS {
                    self.encode(batches, &runs, missing)?;
                    runs.clear();
                    self.flush()?;
                }
            }
        }
        self.encode(batches, &runs, missing)
    }

    /// Encodes runs of rows of these batches.
    fn encode(
        &mut self,
        batches: &[Located<'_>],
        runs: &[(usize, Range<usize>)],
        missing: &Missing,
    ) -> Result<()> {
        first_error(self.encoders.par_iter_mut().map(|(at, encoder)| {
            runs.iter().try_for_each(|(place, rows)| {
                let located = &batches[*place];
                let encoded = encoder.append(located, *at, rows.clone(), missing);
                encoded.map_err(|error| (*place, error.at_file(located.name)))
            })
        }))
    }

    /// Stores the rows encoded so far as a chunk.
    fn flush(&mut self) -> Result<()> {
        if self.filled == 0 {
            return Ok(());
        }
        let fields = self.encoders.len() - usize::from(self.weighted);
        let (columns, weights) = self.encoders.split_at_mut(fields);
        let columns = columns.iter_mut().map(|(_, encoder)| encoder.take());
        let columns: Vec<Column> = columns.collect();
        let weights = weights.first_mut();
        let weights = weights.map(|(_, encoder)| encoder.take_weights());
        let chunk = Chunk::new(self.filled, columns, weights);
        self.count_missing(&chunk);
        self.filled = 0;
        self.store.add(chunk)
    }

    /// Counts the missing values in rows of positive weight.
    fn count_missing(&mut self, chunk: &Chunk) {
        for (count, column) in self.missing_values.iter_mut().zip(chunk.columns()) {
            let Some(nulls) = column.nulls() else {
                continue;
            };
            *count += match chunk.weights() {
                None => nulls.null_count() as u64,
                Some(_) => {
                    let rows = chunk.weighing_rows();
                    rows.filter(|row| nulls.is_null(*row)).count() as u64
                }
            };
        }
    }
}

/// Notes about suspicious quotes, each given by its file, its line and the number of lines
/// that the quoted cell spans; 0 where text follows the closing quote.
fn quote_notes(mut quoted: Vec<(String, u64, u64)>) -> Vec<String> {
    let mut notes = Vec::new();
    let misplaced: Vec<_> = quoted.extract_if(.., |(_, _, lines)| *lines == 0).collect();
    if let Some((file, line, _)) = misplaced.first() {
        notes.push(format!(
            "{file}, line {line}: text after a closing quote, so quotes enclose no cells there"
        ));
    }
    if let [(file, line, lines), more @ ..] = quoted.as_slice() {
        let more = match more.len() {
            0 => String::new(),
            more => format!(" (and {more} more such)"),
        };
        notes.push(format!(
            "{file}, line {line}: a quoted cell makes one row of {lines} lines{more}; \
             pass `quote=none` if quotes do not enclose cells"
        ));
    }
    notes
}
