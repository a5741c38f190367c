//! Changes to model files by `update`, `merge` and `forget`, and the report about them.

use crate::arguments::{DataArguments, files_read};
use crate::context::Context;
use crate::flags::all_with_flags;
use crate::io::escape;
use crate::io::failure::{Failure, Outcome};
use crate::io::interrupt;
use crate::io::output::{Output, check_not_an_input, write_json};
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
const MAX_SHOWN: usize = 8;

/// A model file to change, and the file for the result if it is another one.
pub struct ModelChange<'a> {
    pub model: &'a Path,
    pub output: Option<&'a Path>,
}

impl ModelChange<'_> {
    /// Changes the model by the rows of the data.
    pub fn change(
        &self,
        data: &DataArguments,
        context: &Context,
        act: impl FnOnce(&Model, &Opened, Control) -> abduce::Result<Changed>,
    ) -> Outcome {
        let output = self.output.unwrap_or(self.model);
        let lock = lock_if_input(output, &[self.model], context)?;
        let model = Model::load(self.model)?;
        model.incremental()?;
        Output::check_writable(output)?;
        let opened = data.open_more(&model, context)?;
        reject_one_class(&model, &opened)?;
        let files = files_read(&opened, self.model).into_iter();
        check_not_an_input(Some(output), files.filter(|file| file != self.model))?;
        let changed = interrupt::stoppable(|interrupt| {
            let control = Control {
                interrupt: Some(interrupt),
                progress: None,
            };
            act(&model, &opened, control)
        });
        let changed = changed.map_err(|error| interrupt::failure(opened.locate(error)))?;
        if interrupt::is_stopped() {
            let message = format!("stopped; {} is unchanged", output.display());
            return Err(Failure::Interrupted(Some(message)));
        }
        let result = ChangedModel {
            changed: &changed,
            before: &[&model],
            output,
            notes: &opened.notes,
        };
        result.save(lock, context)
    }
}

/// Locks the output file if it is also one of the input models, so that changes by another process
/// are not lost; `None` if no lock is needed.
pub fn lock_if_input(
    output: &Path,
    models: &[impl AsRef<Path>],
    context: &Context,
) -> Outcome<Option<FileLock>> {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let Some(file) = real(output).filter(|file| file.is_file()) else {
        return Ok(None);
    };
    if !models
        .iter()
        .any(|model| real(model.as_ref()).as_ref() == Some(&file))
    {
        return Ok(None);
    }
    let waiting = || {
        let output = output.display();
        context.note(&format!(
            "waiting for another process that is changing {output}"
        ));
    };
    Ok(Some(FileLock::acquire(output, waiting)?))
}

/// Rejects a single folder of texts or a single mailbox, because it does not say which class its
/// texts have.
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

/// A changed model with the models before the change.
pub struct ChangedModel<'a> {
    pub changed: &'a Changed,
    /// The models before the change.
    pub before: &'a [&'a Model],
    pub output: &'a Path,
    /// Notes about the data.
    pub notes: &'a [String],
}

impl ChangedModel<'_> {
    /// Writes the model to its output and reports what has changed. `lock` is the lock of the
    /// output if that was read too.
    pub fn save(&self, lock: Option<FileLock>, context: &Context) -> Outcome {
        let model = &self.changed.model;
        let mut file = Output::bytes(Some(self.output))?;
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
            file: self.output.display().to_string(),
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
            notes: all_with_flags(self.notes.iter().chain(&self.changed.notes)),
            warnings: all_with_flags(&report.warnings),
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
        writeln!(output, "  written to      {}", self.output.display())?;
        Ok(())
    }
}

/// The first few names of a list.
fn shortened(names: &[String]) -> String {
    let shown: Vec<_> = names
        .iter()
        .take(MAX_SHOWN)
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
