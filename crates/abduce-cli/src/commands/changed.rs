//! Changes to model files by `update`, `merge` and `forget`, and the report about them.

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

/// How many levels or terms are shown.
const SHOWN: usize = 8;

/// A model file to change, and where to write the result if not to the same file.
pub struct Place<'a> {
    pub model: &'a Path,
    pub output: Option<&'a Path>,
}

impl Place<'_> {
    /// Changes the model by the rows of the data.
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
        reject_one_class(&model, &opened)?;
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
        if interrupt::is_stopped() {
            let message = format!("stopped; {} is unchanged", place.display());
            return Err(Failure::Interrupted(Some(message)));
        }
        let result = ChangedModel {
            changed: &changed,
            before: &[&model],
            place,
            notes: &opened.notes,
        };
        result.save(lock, context)
    }
}

/// Locks a model file that is read and written: otherwise the rows added by another process at
/// the same time would be lost.
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
        context.note(&format!(
            "waiting for another process that is changing {place}"
        ));
    };
    Ok(Some(FileLock::acquire(place, waiting)?))
}

/// Rejects a single folder of texts or mailbox, which does not determine the class of its texts.
fn reject_one_class(model: &Model, opened: &Opened) -> Outcome {
    let Some(target) = model.target().map(|at| &model.schema().fields[at].name) else {
        return Ok(());
    };
    let is_mailbox = |path: &Path| {
        let end = path.extension().and_then(|end| end.to_str());
        end.is_some_and(|end| ["mbox", "mbx", "eml"].contains(&end))
    };
    let is_text_source = |file: &String| Path::new(file).is_dir() || is_mailbox(Path::new(file));
    if opened.source.schema().position(target).is_ok() || !opened.files.iter().all(is_text_source) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} alone does not determine the {target} of its texts; pass the folder that contains \
         the folders of all classes, or all mailboxes together",
        opened.files.join(", ")
    )))
}

/// A column whose levels or terms have changed.
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

/// A changed model, and how it came about.
pub struct ChangedModel<'a> {
    pub changed: &'a Changed,
    /// The models before the change.
    pub before: &'a [&'a Model],
    pub place: &'a Path,
    /// Notes about the data.
    pub notes: &'a [String],
}

impl ChangedModel<'_> {
    /// Writes the model to its place and reports what has changed. `lock` is the lock of the
    /// place if that was read too.
    pub fn save(&self, lock: Option<FileLock>, context: &Context) -> Outcome {
        let model = &self.changed.model;
        let mut file = Output::bytes(Some(self.place))?;
        file.write_all(model.to_json()?.as_bytes())?;
        lock.as_ref().map_or(Ok(()), FileLock::check)?;
        file.finish()?;
        drop(lock);
        (self.changed.notes.iter()).for_each(|note| context.note(note));
        (model.fit.warnings.iter()).for_each(|warning| context.warn(warning));
        let mut output = Output::text(None, context)?;
        if context.json {
            write_json(&mut output, &self.document())?;
        } else {
            self.write_text(context, &mut output)?;
        }
        output.finish()
    }

    /// The columns that have changed, if there was one model before.
    fn columns(&self) -> Vec<Column> {
        match self.before {
            [only] => differences(only.schema(), self.changed.model.schema()),
            _ => Vec::new(),
        }
    }

    fn rows_before(&self) -> u64 {
        self.before.iter().map(|model| model.fit.rows).sum()
    }

    fn document(&self) -> Document<'_> {
        let model = &self.changed.model;
        let report = &model.fit;
        Document {
            model: &model.model,
            file: self.place.display().to_string(),
            rows: report.rows,
            rows_before: self.rows_before(),
            weight: report.weight,
            log_likelihood: report.log_likelihood,
            log_likelihood_of: report.log_likelihood_of,
            bic: report.bic,
            aic: report.aic,
            parameters: report.parameters,
            classes: model.names(),
            columns: self.columns(),
            notes: all_spelled(self.notes.iter().chain(&self.changed.notes)),
            warnings: all_spelled(&report.warnings),
        }
    }

    fn write_text(&self, context: &Context, output: &mut Output) -> Outcome {
        let model = &self.changed.model;
        let heading = context.heading(output, &model.model);
        writeln!(output, "{heading}")?;
        let rows = readable(model.fit.rows as f64);
        match self.before {
            [_] => {
                let before = self.rows_before();
                writeln!(output, "  rows            {rows}, before {before}")?;
            }
            models => {
                let models = counted(models.len() as u64, "model");
                writeln!(output, "  rows            {rows} of {models}")?;
            }
        }
        if has_density(model) {
            writeln!(output, "  log-likelihood  {}", log_likelihood(&model.fit))?;
            writeln!(output, "  BIC             {:.4}", model.fit.bic)?;
        }
        if let Some(target) = model.target() {
            let name = &model.schema().fields[target].name;
            writeln!(output, "  {name}: {}", shortened(&model.names()))?;
        }
        for column in self.columns() {
            for (change, names) in [("new", &column.new), ("gone", &column.gone)] {
                if !names.is_empty() {
                    let names = shortened(names);
                    writeln!(output, "  {change} in {}: {names}", column.name)?;
                }
            }
        }
        writeln!(output, "  written to      {}", self.place.display())?;
        Ok(())
    }
}

/// The first few names of a list.
fn shortened(names: &[String]) -> String {
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
        let (old, new) = (names(old), names(field));
        let column = Column {
            name: field.name.clone(),
            new: only_in(&new, &old),
            gone: only_in(&old, &new),
        };
        if !(column.new.is_empty() && column.gone.is_empty()) {
            columns.push(column);
        }
    }
    columns
}

/// The names of one list that another does not have.
fn only_in(names: &[String], others: &[String]) -> Vec<String> {
    let others: HashSet<&String> = others.iter().collect();
    let names = names.iter().filter(|name| !others.contains(name));
    names.cloned().collect()
}

/// The levels or terms of a column.
fn names(field: &Field) -> Vec<String> {
    match field.text.as_deref().map(|text| &text.encoding) {
        Some(Encoding::Vocabulary(terms)) => terms.terms().map(String::from).collect(),
        _ => field.levels.clone(),
    }
}
