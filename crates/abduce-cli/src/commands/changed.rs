//! What is told about a model that has taken in rows, was added up or has
//! forgotten: what is new in it, what is gone, and where it lies now.

use crate::arguments::{DataArguments, files_read};
use crate::context::Context;
use crate::flags::all_spelled;
use crate::io::escape;
use crate::io::failure::{Failure, Outcome};
use crate::io::interrupt;
use crate::io::output::{Output, refuse_inputs, write_json};
use crate::render::text_table::{counted, readable};
use crate::render::{has_density, log_likelihood};
use abduce::Control;
use abduce::data::{Field, Opened, Schema};
use abduce::model::LogLikelihoodOf;
use abduce::store::{Changed, FileLock, Model};
use abduce::text::Encoding;
use serde::Serialize;
use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

/// How many new or lost names are shown.
const SHOWN: usize = 8;

/// A model file that is to change, and where to write it if not in its place.
pub struct Place<'a> {
    pub model: &'a Path,
    pub output: Option<&'a Path>,
}

impl Place<'_> {
    /// Lets rows change the model.
    pub fn change(
        &self,
        data: &DataArguments,
        context: &Context,
        act: impl FnOnce(&Model, &Opened, Control) -> abduce::Result<Changed>,
    ) -> Outcome {
        let place = self.output.unwrap_or(self.model);
        let lock = lock_in_place(place, &[self.model], context)?;
        let model = Model::load(self.model)?;
        model.incremental()?;
        Output::probe(place)?;
        let opened = data.open_more(&model, context)?;
        refuse_one_class(&model, &opened)?;
        let files = files_read(&opened, self.model).into_iter();
        refuse_inputs(Some(place), files.filter(|file| file != self.model))?;
        let changed = interrupt::stoppable(|interrupt| {
            let control = Control {
                interrupt: Some(interrupt),
                progress: None,
            };
            act(&model, &opened, control)
        });
        let changed = changed.map_err(|why| interrupt::failure(opened.locate(why)))?;
        if interrupt::is_asked() {
            let message = format!("stopped; {} is as it was", place.display());
            return Err(Failure::Interrupted(Some(message)));
        }
        keep(&changed, &[&model], place, lock, &opened.notes, context)
    }
}

/// Locks a model file that is read and written: the rows of a process that
/// changes it at the same time would be lost.
pub fn lock_in_place(
    place: &Path,
    models: &[impl AsRef<Path>],
    context: &Context,
) -> Outcome<Option<FileLock>> {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let Some(file) = real(place).filter(|file| file.is_file()) else {
        return Ok(None);
    };
    if !models
        .iter()
        .any(|model| real(model.as_ref()).as_ref() == Some(&file))
    {
        return Ok(None);
    }
    let waiting = || {
        let place = place.display();
        context.note(&format!("waiting for another process that changes {place}"));
    };
    Ok(Some(FileLock::acquire(place, waiting)?))
}

/// A folder of texts or a mailbox by itself has no class, unlike those the model was
/// fitted on.
fn refuse_one_class(model: &Model, opened: &Opened) -> Outcome {
    let Some(target) = model.target().map(|at| &model.schema().fields[at].name) else {
        return Ok(());
    };
    let mailbox = |path: &Path| {
        let end = path.extension().and_then(|end| end.to_str());
        end.is_some_and(|end| ["mbox", "mbx", "eml"].contains(&end))
    };
    let texts = |file: &String| Path::new(file).is_dir() || mailbox(Path::new(file));
    if opened.source.schema().position(target).is_ok() || !opened.files.iter().all(texts) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} alone does not say its {target}; pass the folder that holds the folders of all \
         classes, or all mailboxes together",
        opened.files.join(", ")
    )))
}

/// A column whose levels or terms are others than before.
#[derive(Serialize)]
struct Column {
    name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    new: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gone: Vec<String>,
}

#[derive(Serialize)]
struct Document<'a> {
    model: &'a str,
    file: String,
    rows: u64,
    rows_before: u64,
    weight: f64,
    log_likelihood: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_likelihood_of: Option<LogLikelihoodOf>,
    bic: f64,
    aic: f64,
    parameters: usize,
    classes: Vec<String>,
    columns: Vec<Column>,
    notes: Vec<String>,
    warnings: Vec<String>,
}

/// Writes the model to its place and tells what has changed; `before` is what
/// it was, if it was one model. `lock` is on the place if that was read.
pub fn keep(
    changed: &Changed,
    before: &[&Model],
    place: &Path,
    lock: Option<FileLock>,
    notes: &[String],
    context: &Context,
) -> Outcome {
    let model = &changed.model;
    let mut file = Output::bytes(Some(place))?;
    file.write_all(model.to_json()?.as_bytes())?;
    lock.as_ref().map_or(Ok(()), FileLock::check)?;
    file.finish()?;
    drop(lock);
    changed.notes.iter().for_each(|note| context.note(note));
    let fit = &model.fit;
    fit.warnings
        .iter()
        .for_each(|warning| context.warn(warning));
    let rows_before = before.iter().map(|model| model.fit.rows).sum();
    let columns = match before {
        [only] => differences(only.schema(), model.schema()),
        _ => Vec::new(),
    };
    let mut output = Output::text(None, context)?;
    if context.json {
        let document = Document {
            model: &model.model,
            file: place.display().to_string(),
            rows: fit.rows,
            rows_before,
            weight: fit.weight,
            log_likelihood: fit.log_likelihood,
            log_likelihood_of: fit.log_likelihood_of,
            bic: fit.bic,
            aic: fit.aic,
            parameters: fit.parameters,
            classes: model.names(),
            columns,
            notes: all_spelled(notes.iter().chain(&changed.notes)),
            warnings: all_spelled(&fit.warnings),
        };
        write_json(&mut output, &document)?;
        return output.finish();
    }
    let heading = context.heading(&output, &model.model);
    writeln!(output, "{heading}")?;
    let rows = readable(fit.rows as f64);
    match before {
        [_] => writeln!(output, "  rows            {rows}, before {rows_before}")?,
        many => {
            let models = counted(many.len() as u64, "model");
            writeln!(output, "  rows            {rows} of {models}")?;
        }
    }
    if has_density(model) {
        writeln!(output, "  log-likelihood  {}", log_likelihood(fit))?;
        writeln!(output, "  BIC             {:.4}", fit.bic)?;
    }
    if let Some(target) = model.target() {
        let name = &model.schema().fields[target].name;
        writeln!(output, "  {name}: {}", some(&model.names()))?;
    }
    for column in &columns {
        for (what, names) in [("new", &column.new), ("gone", &column.gone)] {
            if !names.is_empty() {
                writeln!(output, "  {what} in {}: {}", column.name, some(names))?;
            }
        }
    }
    writeln!(output, "  written to      {}", place.display())?;
    output.finish()
}

fn some(names: &[String]) -> String {
    let shown: Vec<_> = names
        .iter()
        .take(SHOWN)
        .map(|name| escape::line(name))
        .collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The columns that have gained or lost levels or terms.
fn differences(before: &Schema, after: &Schema) -> Vec<Column> {
    let mut columns = Vec::new();
    for field in &after.fields {
        let Some(old) = before.fields.iter().find(|old| old.name == field.name) else {
            continue;
        };
        let (old, own) = (names(old), names(field));
        let lacking = |here: &[String], there: &[String]| {
            let there: HashSet<&String> = there.iter().collect();
            let here = here.iter().filter(|name| !there.contains(name));
            here.cloned().collect::<Vec<String>>()
        };
        let column = Column {
            name: field.name.clone(),
            new: lacking(&own, &old),
            gone: lacking(&old, &own),
        };
        if !(column.new.is_empty() && column.gone.is_empty()) {
            columns.push(column);
        }
    }
    columns
}

/// The levels or terms of a column.
fn names(field: &Field) -> Vec<String> {
    match field.text.as_deref().map(|text| &text.encoding) {
        Some(Encoding::Vocabulary(terms)) => terms.terms().map(String::from).collect(),
        _ => field.levels.clone(),
    }
}
