//! The summary of a fit: a few lines for people, one document for programs.

use crate::context::Context;
use crate::flags::all_with_flags;
use crate::io::escape;
use crate::io::failure::Outcome;
use crate::io::output::{Output, write_json};
use crate::render;
use crate::render::text_table::{counted, labelled, readable, wrapped};
use abduce::data::{Field, Schema};
use abduce::eval::{Calibration, CalibrationMethod};
use abduce::model::LogLikelihoodOf;
use abduce::store::Model;
use serde::Serialize;
use serde_json::{Map, Value};
use std::io::Write;
use std::path::Path;
use unicode_width::UnicodeWidthStr;

/// How kinds are inferred.
pub const KIND_INFERENCE_NOTE: &str = "inferred kinds: 0/1 and yes/no are binary, small whole numbers with zeros \
    counts, other numbers real, words categorical; change them with --kind COL=KIND or --schema FILE";

/// What a fit reports.
pub struct Summary<'a> {
    pub model: &'a Model,
    pub notes: &'a [String],
    pub restarts: &'a [f64],
    pub bounds: &'a [f64],
    pub seconds: f64,
    pub interrupted: bool,
    pub file: Option<&'a Path>,
}

impl Summary<'_> {
    pub fn write(&self, context: &Context, output: &mut Output) -> Outcome {
        if context.json {
            write_json(output, &self.document())
        } else {
            self.write_text(context, output)
        }
    }

    fn document(&self) -> Document<'_> {
        let (model, report) = (self.model, &self.model.fit);
        let fields = model.schema().fields.iter().enumerate();
        let render = render::of(model);
        let names = model.names().into_iter().zip(render.weights());
        Document {
            model: &model.model,
            rows: report.rows,
            weight: report.weight,
            columns: fields
                .map(|(position, field)| ColumnDocument {
                    field,
                    target: model.target() == Some(position),
                })
                .collect(),
            log_likelihood: report.log_likelihood,
            log_likelihood_of: report.log_likelihood_of,
            bic: report.bic,
            aic: report.aic,
            parameters: report.parameters,
            iterations: report.iterations,
            converged: report.converged,
            monotone: report.monotone,
            interrupted: self.interrupted,
            components: names
                .map(|(name, weight)| ComponentDocument { name, weight })
                .collect(),
            calibration: model.calibration.as_ref(),
            trace: &report.trace,
            kind_specific: render.document(),
            restarts: self.restarts,
            elbo: self.bounds,
            warnings: all_with_flags(&report.warnings),
            notes: all_with_flags(self.notes),
            seconds: self.seconds,
            file: self.file.map(|file| file.display().to_string()),
        }
    }

    fn write_text(&self, context: &Context, output: &mut Output) -> Outcome {
        let (model, report) = (self.model, &self.model.fit);
        let fields = &model.schema().fields;
        let target = match model.target() {
            Some(target) => format!(" of {}", fields[target].name),
            None => String::new(),
        };
        let heading = format!("{}{target}", model.model);
        let weighted = if report.weight == report.rows as f64 {
            String::new()
        } else {
            format!(" (weight {})", readable(report.weight))
        };
        let rows = counted(report.rows, "row");
        let columns = counted(fields.len() as u64, "column");
        context.write_heading(output, &heading, &format!(": {rows}{weighted}, {columns}"))?;
        let render = render::of(model);
        write!(output, "{}", render.summary())?;
        for (_, table) in render.choices() {
            write!(output, "{table}")?;
        }
        let mut lines = render.main_settings(report);
        lines.extend(render::figures(model, self.interrupted));
        lines.push(("seconds", format!("{:.3}", self.seconds)));
        if let Some(calibration) = &model.calibration {
            lines.push(("calibrated", calibrated(calibration)));
        }
        if let Some(file) = self.file {
            lines.push(("written to", file.display().to_string()));
        }
        let width = output.line_width();
        Ok(write!(output, "{}", labelled(lines, width))?)
    }
}

/// The document of `--json`; numbers that are not finite become null.
#[derive(Serialize)]
struct Document<'a> {
    model: &'a str,
    rows: u64,
    weight: f64,
    columns: Vec<ColumnDocument<'a>>,
    log_likelihood: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_likelihood_of: Option<LogLikelihoodOf>,
    bic: f64,
    aic: f64,
    parameters: usize,
    iterations: usize,
    converged: bool,
    monotone: bool,
    interrupted: bool,
    components: Vec<ComponentDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<&'a Calibration>,
    trace: &'a [Option<f64>],
    /// The fields that only this kind of model has.
    #[serde(flatten)]
    kind_specific: Map<String, Value>,
    restarts: &'a [f64],
    elbo: &'a [f64],
    warnings: Vec<String>,
    notes: Vec<String>,
    seconds: f64,
    file: Option<String>,
}

#[derive(Serialize)]
struct ColumnDocument<'a> {
    #[serde(flatten)]
    field: &'a Field,
    target: bool,
}

#[derive(Serialize)]
struct ComponentDocument {
    name: String,
    weight: f64,
}

/// How probabilities are calibrated, in words.
pub fn calibrated(calibration: &Calibration) -> String {
    format!(
        "by {} on {} held out in {}",
        match calibration.method {
            CalibrationMethod::Isotonic => "isotonic regression",
            CalibrationMethod::Platt => "Platt's curve",
        },
        counted(calibration.rows, "row"),
        counted(calibration.folds as u64, "fold")
    )
}

/// The columns with their kinds and levels, one per line of at most `line_width` characters.
pub fn columns(
    schema: &Schema,
    target: Option<&str>,
    missing: &[u64],
    line_width: usize,
) -> String {
    const MAX_COLUMNS: usize = 30;
    let is_target = |field: &Field| target == Some(field.name.as_str());
    let name = |field: &Field| escape::line(&field.name).into_owned();
    let fields = schema.fields.iter().zip(missing).enumerate();
    // The target is always among those shown.
    let shown: Vec<(&Field, u64)> = fields
        .filter(|(number, (field, _))| *number < MAX_COLUMNS || is_target(field))
        .map(|(_, (field, missing))| (field, *missing))
        .collect();
    let names: Vec<String> = shown.iter().map(|(field, _)| name(field)).collect();
    let widest = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let kinds = shown.iter().map(|(field, _)| field.kind.name().width());
    let kinds = kinds.max().unwrap_or(0);
    let mut text = String::new();
    for ((field, missing), name) in shown.iter().zip(&names) {
        let gap = widest - name.width();
        let remark = remark(field, *missing, is_target(field));
        let line = format!(
            "  {name}{:gap$}  {:kinds$}  {remark}",
            "",
            field.kind.name()
        );
        let remark_at = 2 + widest + 2 + kinds + 2;
        text.push_str(&wrapped(line.trim_end(), line_width, remark_at));
        text.push('\n');
    }
    let more = (schema.fields.len() - shown.len()) as u64;
    if more > 0 {
        text.push_str(&format!("  and {}\n", counted(more, "more column")));
    }
    text
}

/// The levels or the unit of a column, and how many of its values are missing.
fn remark(field: &Field, missing: u64, is_target: bool) -> String {
    const MAX_LEVELS: usize = 6;
    let mut levels: Vec<&str> = field.levels.iter().map(String::as_str).collect();
    let more = levels.len().saturating_sub(MAX_LEVELS);
    levels.truncate(MAX_LEVELS);
    let mut remark = escape::line(&levels.join(", ")).into_owned();
    if more > 0 {
        remark.push_str(&format!(" and {more} more"));
    }
    if is_target {
        remark = format!("target: {remark}");
    }
    if field.unit != 1.0 {
        remark = format!("in units of {:e}", field.unit);
    }
    if missing > 0 {
        let gap = if remark.is_empty() { "" } else { "; " };
        let what = if is_target { "unlabelled" } else { "missing" };
        remark.push_str(&format!("{gap}{missing} {what}"));
    }
    remark
}
