//! The passes over files: the first infers the columns' kinds and levels and keeps the cells,
//! which are then encoded in chunks. A second pass reads them again only where the kept cells
//! do not suffice.

use crate::data::chunks::{ChunkWriter, first_error};
use crate::data::encode::alike::unify;
use crate::data::encode::cell_encoder::CellEncoder;
use crate::data::encode::infer::{Summary, Wish};
use crate::data::encode::learn_terms::learn_terms;
use crate::data::kept::{Kept, Quoted};
use crate::data::missing::Missing;
use crate::data::open::Opened;
use crate::data::options::{KindOverride, ReadOptions};
use crate::data::read::{Inputs, Known, Located, Parse};
use crate::data::table::schema::{Field, Kind, Schema, SetByUser};
use crate::{Error, Result};
use rayon::prelude::*;
use std::sync::Arc;

/// The first pass: infers the schema of the wanted columns.
pub(super) fn infer(
    inputs: &Inputs,
    options: &ReadOptions,
    wanted: &[bool],
    notes: &mut Vec<String>,
) -> Result<(Schema, Option<Kept>)> {
    let missing = Missing::new(&options.missing);
    let (mut summaries, kept) = summarise(inputs, options, wanted, &missing)?;
    unify(&mut summaries, notes);
    let mut fields = Vec::new();
    for (_, summary) in summaries {
        let field = summary.finish(&missing, options.text.is_some(), notes)?;
        fields.extend(field.map(|field| {
            if options.more_rows {
                field.set_by_user(SetByUser::Nothing)
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
    let schema = Schema {
        fields,
        weight: options.weight.clone(),
    };
    Ok((schema, kept))
}

/// Summaries of columns, with their positions.
type Summaries = Vec<(usize, Summary)>;

/// Summaries of the wanted columns, and the cells, if they can be kept.
fn summarise(
    inputs: &Inputs,
    options: &ReadOptions,
    wanted: &[bool],
    missing: &Missing,
) -> Result<(Summaries, Option<Kept>)> {
    let mut summaries = empty_summaries(inputs, options, wanted);
    let mut read = vec![false; inputs.names.len()];
    summaries.iter().for_each(|(at, _)| read[*at] = true);
    let mut columns = vec![false; inputs.names.len()];
    let parsed = summaries.iter().filter(|(_, s)| s.parses_numbers());
    parsed.for_each(|(at, _)| columns[*at] = true);
    if let Some(weight) = inputs.weight {
        columns[weight] = true;
        read[weight] = true;
    }
    let parse = Parse {
        columns: &columns,
        missing,
    };
    // Texts are encoded from the files.
    let reads_texts = options.text.is_some() && summaries.iter().any(|(_, s)| s.is_text());
    let mut kept = (!reads_texts).then(|| Kept::new(&read, options.memory_budget));
    let (mut rows, mut weighted) = (0, 0);
    inputs.scan_parsed(&read, Some(parse), |round| {
        for located in &*round {
            rows += located.batch.rows();
            weighted += located.rows_with_weight();
        }
        first_error(summaries.par_iter_mut().map(|(at, summary)| {
            let mut batches = round.iter().enumerate();
            batches.try_for_each(|(place, located)| {
                let observed = summary.observe(located, *at, missing);
                observed.map_err(|error| (place, error.at_file(located.name)))
            })
        }))?;
        if kept.as_mut().is_some_and(|kept| !kept.keep(round, missing)) {
            kept = None;
        }
        Ok(())
    })?;
    if rows == 0 {
        return Err(no_rows(inputs));
    }
    if weighted == 0 && !options.more_rows {
        let column = options.weight.as_deref().unwrap_or_default();
        return Err(Error::data("every row has weight 0")
            .at_column(column)
            .with_hint("leave the weights out, or name another column with `weight`"));
    }
    Ok((summaries, kept))
}

/// An empty summary for each wanted column but the weight, with the column's position.
pub(super) fn empty_summaries(
    inputs: &Inputs,
    options: &ReadOptions,
    wanted: &[bool],
) -> Summaries {
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

/// Where the levels of the schema come from.
pub(super) enum Levels<'a> {
    /// From the same files, so the schema has all of their levels; with the cells kept.
    Found(Option<Kept>),
    /// From a model; a label of the target that the model lacks is a missing value.
    Known { target: Option<&'a str> },
}

/// Encodes the rows in chunks, stored in memory or in a temporary file.
pub(super) fn encode(
    inputs: Inputs,
    options: &ReadOptions,
    schema: Schema,
    weight: Option<usize>,
    mut notes: Vec<String>,
    allowed: &[bool],
    mut levels: Levels<'_>,
) -> Result<Opened> {
    let missing = Missing::new(&options.missing);
    let kept = match &mut levels {
        Levels::Found(kept) => kept.take(),
        Levels::Known { .. } => None,
    };
    let mut wanted = vec![false; inputs.names.len()];
    for field in &schema.fields {
        let position = inputs.position(&field.name).filter(|at| allowed[*at]);
        position.into_iter().for_each(|at| wanted[at] = true);
    }
    let left_out = (inputs.names.iter().zip(&wanted).enumerate())
        .filter(|(at, (_, wanted))| !**wanted && weight != Some(*at))
        .map(|(_, (name, _))| name.clone())
        .collect();
    if let Some(at) = weight {
        wanted[at] = true;
    }
    let chunks = || {
        let mut encoders = encoders(&inputs, options, &schema, allowed, &levels);
        let weights = weight.map(|at| CellEncoder::weight(&inputs.names[at]));
        encoders.extend(weights.map(|encoder| (weight, encoder)));
        ChunkWriter::new(encoders, weight.is_some(), options.memory_budget)
    };
    let replayed = match kept {
        Some(kept) => replay(kept, chunks(), &missing),
        None => None,
    };
    let (chunks, quoted) = match replayed {
        Some(replayed) => replayed,
        None => read_again(&inputs, &wanted, chunks(), &missing)?,
    };
    notes.extend(quote_notes(quoted));
    notes.extend(chunks.notes());
    let (missing_values, source) = chunks.finish(schema)?;
    if source.rows() == 0 {
        return Err(no_rows(&inputs));
    }
    Ok(Opened {
        source,
        notes,
        files: inputs.files(),
        left_out,
        missing_values,
        inputs: Arc::new(inputs),
    })
}

/// Encodes the kept cells; `None` if they do not suffice, or if there is anything to report
/// that needs the place of a cell.
fn replay(kept: Kept, mut chunks: ChunkWriter, missing: &Missing) -> Option<(ChunkWriter, Quoted)> {
    let mut encoders = chunks.encoders();
    if !encoders.all(|(at, encoder)| kept.suffices(at, encoder)) {
        return None;
    }
    drop(encoders);
    let quoted = kept
        .replay(|batches| chunks.append(batches, missing))
        .ok()?;
    let reported = chunks.notes().next().is_some();
    (!reported).then_some((chunks, quoted))
}

/// Encodes the wanted columns of all files.
fn read_again(
    inputs: &Inputs,
    wanted: &[bool],
    mut chunks: ChunkWriter,
    missing: &Missing,
) -> Result<(ChunkWriter, Quoted)> {
    let mut columns = vec![false; inputs.names.len()];
    let parsed = chunks.encoders();
    let parsed = parsed.filter(|(_, encoder)| encoder.parses_numbers());
    parsed.for_each(|(at, _)| columns[at] = true);
    let parse = Parse {
        columns: &columns,
        missing,
    };
    let mut quoted = Vec::new();
    inputs.scan_parsed(wanted, Some(parse), |round| {
        quoted.extend(round.iter().flat_map(Located::suspicious_quotes));
        chunks.append(round, missing)
    })?;
    Ok((chunks, quoted))
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
            Levels::Found(_) => false,
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

/// Notes about suspicious quotes, each given by its file, its line and the number of lines
/// that the quoted cell spans; 0 where text follows the closing quote.
fn quote_notes(mut quoted: Quoted) -> Vec<String> {
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
