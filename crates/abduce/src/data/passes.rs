//! The passes over files: one that finds out what their columns are, one that
//! encodes their rows in chunks, in memory or in a temporary file.

use crate::data::encode::CellEncoder;
use crate::data::encode::alike::unify;
use crate::data::encode::infer::{Summary, Wish};
use crate::data::encode::learn_terms::learn_terms;
use crate::data::open::Opened;
use crate::data::options::{KindOverride, Missing, ReadOptions};
use crate::data::read::{Inputs, Known};
use crate::data::table::chunk::{CHUNK_ROWS, Chunk};
use crate::data::table::column::Column;
use crate::data::table::schema::{Asked, Kind, Schema};
use crate::data::table::store::Store;
use crate::{Error, Result};
use rayon::prelude::*;
use std::sync::Arc;

/// The first pass: what the wanted columns are.
pub(super) fn infer(
    inputs: &Inputs,
    options: &ReadOptions,
    wanted: &[bool],
    notes: &mut Vec<String>,
) -> Result<Schema> {
    let missing = Missing::new(&options.missing);
    let mut summaries: Vec<(usize, Summary)> = (0..inputs.names.len())
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
        .collect();
    let mut read = vec![false; inputs.names.len()];
    summaries.iter().for_each(|(at, _)| read[*at] = true);
    let (mut rows, mut weighing) = (0, 0);
    inputs.scan(&read, |located| {
        rows += located.batch.rows();
        weighing += located.weighing_rows();
        first_error(
            summaries
                .par_iter_mut()
                .map(|(at, summary)| summary.observe(located, located.positions[*at], &missing)),
        )
    })?;
    if rows == 0 {
        return Err(no_rows(inputs));
    }
    if weighing == 0 && !options.more_rows {
        let column = options.weight.as_deref().unwrap_or_default();
        return Err(Error::data("every row has weight 0")
            .at_column(column)
            .with_hint("leave the weights out, or name another column with --weight"));
    }
    unify(&mut summaries, notes);
    let mut fields = Vec::new();
    for (_, summary) in summaries {
        let field = summary.finish(&missing, options.text.is_some(), notes)?;
        fields.extend(field.map(|field| match options.more_rows {
            true => field.asked(Asked::Nothing),
            false => field,
        }));
    }
    if fields.is_empty() {
        let error = Error::data("no column is left that a model could use");
        return Err(match notes.is_empty() {
            true => error,
            false => error.with_hint(notes.join("; ")),
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

fn no_rows(inputs: &Inputs) -> Error {
    let error = Error::data("there are no rows");
    match inputs.files().as_slice() {
        [only] => error.at_file(only),
        _ => error,
    }
}

/// The error of the first row that has one, whichever thread found it.
fn first_error(results: impl ParallelIterator<Item = Result<()>>) -> Result<()> {
    let errors: Vec<Error> = results.filter_map(Result::err).collect();
    match errors.into_iter().min_by_key(|error| error.line()) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Where the levels of the schema come from.
pub(super) enum Levels<'a> {
    /// From these files, so that all of theirs are there.
    Found,
    /// From a model; a label that it has not is none.
    Known { target: Option<&'a str> },
}

/// The second pass: the rows in chunks, in memory or in a temporary file.
pub(super) fn encode(
    inputs: Inputs,
    options: &ReadOptions,
    schema: Schema,
    weight: Option<usize>,
    mut notes: Vec<String>,
    allowed: &[bool],
    levels: Levels<'_>,
) -> Result<Opened> {
    let (known, target) = match levels {
        Levels::Found => (false, None),
        Levels::Known { target } => (true, target),
    };
    let missing = Missing::new(&options.missing);
    let place = |name: &str| inputs.position(name).filter(|at| allowed[*at]);
    let mut encoders: Vec<(Option<usize>, CellEncoder)> = schema
        .fields
        .iter()
        .enumerate()
        .map(|(column, field)| {
            let encoder = match known && Some(field.name.as_str()) != target {
                true => {
                    let unseen = options.unseen.get(column).copied();
                    CellEncoder::known(field, unseen.unwrap_or_default())
                }
                false => CellEncoder::field(field),
            };
            (place(&field.name), encoder)
        })
        .collect();
    let mut wanted = vec![false; inputs.names.len()];
    encoders
        .iter()
        .filter_map(|(at, _)| *at)
        .for_each(|at| wanted[at] = true);
    let left_out = (inputs.names.iter().zip(&wanted).enumerate())
        .filter(|(at, (_, wanted))| !**wanted && weight != Some(*at))
        .map(|(_, (name, _))| name.clone())
        .collect();
    if let Some(at) = weight {
        wanted[at] = true;
        encoders.push((weight, CellEncoder::weight(&inputs.names[at])));
    }
    let mut store = Store::new(options.memory_budget);
    let mut filled = 0;
    let mut holes = vec![0; schema.fields.len()];
    let mut count = |chunk: &Chunk| {
        for (holes, column) in holes.iter_mut().zip(chunk.columns()) {
            let Some(nulls) = column.nulls() else {
                continue;
            };
            *holes += match chunk.weights() {
                None => nulls.null_count() as u64,
                Some(_) => {
                    let rows = chunk.weighing_rows();
                    rows.filter(|row| nulls.is_null(*row)).count() as u64
                }
            };
        }
    };
    let mut long = Vec::new();
    inputs.scan(&wanted, |located| {
        let rows = located.batch.rows();
        let here = located.batch.long().iter();
        long.extend(here.map(|(line, lines)| (located.name.to_string(), *line, *lines)));
        let mut start = 0;
        while start < rows {
            let end = rows.min(start + CHUNK_ROWS - filled);
            first_error(encoders.par_iter_mut().map(|(at, encoder)| {
                let column = at.and_then(|at| located.positions[at]);
                encoder.append(located, column, start..end, &missing)
            }))?;
            filled += end - start;
            start = end;
            if filled == CHUNK_ROWS {
                let chunk = take(&mut encoders, filled, weight.is_some());
                count(&chunk);
                store.add(chunk)?;
                filled = 0;
            }
        }
        Ok(())
    })?;
    if filled > 0 {
        let chunk = take(&mut encoders, filled, weight.is_some());
        count(&chunk);
        store.add(chunk)?;
    }
    let letters: Vec<_> = long.extract_if(.., |(_, _, lines)| *lines == 0).collect();
    if let Some((file, line, _)) = letters.first() {
        notes.push(format!(
            "{file}, line {line}: text after a closing quote, so quotes enclose no cells there"
        ));
    }
    if let [(file, line, lines), more @ ..] = long.as_slice() {
        let more = match more.len() {
            0 => String::new(),
            more => format!(" (and {more} more such)"),
        };
        notes.push(format!(
            "{file}, line {line}: a quoted cell makes one row of {lines} lines{more}; \
             pass --quote none if quotes do not enclose cells"
        ));
    }
    notes.extend(encoders.iter().filter_map(|(_, encoder)| encoder.note()));
    let source = store.finish(schema)?;
    if source.rows() == 0 {
        return Err(no_rows(&inputs));
    }
    Ok(Opened {
        source,
        notes,
        files: inputs.files(),
        left_out,
        holes,
        inputs: Arc::new(inputs),
    })
}

/// The encoded rows so far, as a chunk.
fn take(encoders: &mut [(Option<usize>, CellEncoder)], rows: usize, weighted: bool) -> Chunk {
    let fields = encoders.len() - usize::from(weighted);
    let (columns, weights) = encoders.split_at_mut(fields);
    let columns = columns.iter_mut().map(|(_, encoder)| encoder.take());
    let columns: Vec<Column> = columns.collect();
    let weights = weights.first_mut();
    Chunk::new(
        rows,
        columns,
        weights.map(|(_, encoder)| encoder.take_weights()),
    )
}
