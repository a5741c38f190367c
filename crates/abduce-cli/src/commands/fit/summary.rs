//! What is told about a fit: a few lines for people, one document for
//! programs.

use crate::cluster_tables;
use crate::context::Context;
use crate::density_tables;
use crate::diagnostics_table;
use crate::escape;
use crate::failure::Outcome;
use crate::flags::all_spelled;
use crate::output::{Output, write_json};
use crate::recipe_lines::{covariance, tails};
use crate::selection_table;
use crate::text_table::{counted, labelled, readable, wrapped};
use abduce::data::{Field, Schema};
use abduce::eval::{Calibration, CalibrationMethod};
use abduce::model::kmeans;
use abduce::model::mixture::{
    BootstrapTest, Diagnostics, LogLikelihoodOf, Selection, Start, UnlabelledChoice,
};
use abduce::store::{Body, FitRecord, Model, Recipe};
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use unicode_width::UnicodeWidthStr;

/// What scores do not have.
pub const LIKELIHOODS: [&str; 3] = ["log-likelihood", "BIC", "AIC"];

/// How kinds are inferred.
pub const RULE: &str = "inferred kinds: 0/1 and yes/no are binary, small whole numbers with zeros \
    counts, other numbers real, words categorical; change them with --kind COL=KIND or --schema FILE";

/// Whether a model has densities, and not scores that only tell classes apart.
pub fn is_generative(model: &Model) -> bool {
    match &model.body {
        Body::Mixture(mixture) => mixture.is_generative(),
        Body::Density(_) => true,
        Body::KMeans(clusters) => clusters.gaussians().is_ok(),
    }
}

/// The log-likelihood of a fit, and what it is where it is not that of the rows.
pub fn log_likelihood(fit: &FitRecord) -> String {
    match fit.log_likelihood_of.and_then(LogLikelihoodOf::remark) {
        Some(remark) => format!("{:.6} ({remark})", fit.log_likelihood),
        None => format!("{:.6}", fit.log_likelihood),
    }
}

/// A fit and what is to be told about it.
pub struct Told<'a> {
    pub model: &'a Model,
    pub notes: &'a [String],
    pub restarts: &'a [f64],
    pub bounds: &'a [f64],
    pub seconds: f64,
    pub interrupted: bool,
    pub file: Option<&'a Path>,
}

impl Told<'_> {
    pub fn write(&self, context: &Context, output: &mut Output) -> Outcome {
        match context.json {
            true => self.write_json(output),
            false => self.write_text(context, output),
        }
    }

    fn write_json(&self, output: &mut Output) -> Outcome {
        let fit = &self.model.fit;
        let joint = self.model.joint();
        let fields = joint.schema().fields.iter().enumerate();
        let names = joint.names();
        let (weights, densities, clusters) = match &self.model.body {
            Body::Mixture(mixture) => (mixture.parameters.weights.clone(), None, None),
            Body::Density(densities) => {
                let document = density_tables::document(densities);
                (densities.weights.clone(), Some(document), None)
            }
            Body::KMeans(clusters) => {
                let total: f64 = clusters.sizes.iter().sum();
                let shares = clusters.sizes.iter().map(|size| size / total).collect();
                (shares, None, Some(cluster_tables::document(clusters)))
            }
        };
        let document = Document {
            model: &self.model.model,
            rows: fit.rows,
            weight: fit.weight,
            columns: fields
                .map(|(position, field)| ColumnTold {
                    field,
                    target: joint.target() == Some(position),
                })
                .collect(),
            log_likelihood: fit.log_likelihood,
            log_likelihood_of: fit.log_likelihood_of,
            objective: fit.objective_trace.last().copied().flatten(),
            inertia: fit.inertia,
            bic: fit.bic,
            aic: fit.aic,
            parameters: fit.parameters,
            iterations: fit.iterations,
            converged: fit.converged,
            monotone: fit.monotone,
            interrupted: self.interrupted,
            components: (names.iter().zip(&weights))
                .map(|(name, weight)| ComponentTold {
                    name,
                    weight: *weight,
                })
                .collect(),
            calibration: self.model.calibration.as_ref(),
            densities,
            clusters,
            trace: &fit.trace,
            objective_trace: &fit.objective_trace,
            unlabelled: fit.unlabelled.as_ref(),
            selection: fit.selection.as_ref(),
            bootstrap: fit.bootstrap.as_ref(),
            diagnostics: fit.diagnostics.as_ref(),
            starts: match fit.kmeans_starts.is_empty() {
                true => StartsTold::Mixture(&fit.starts),
                false => StartsTold::KMeans(&fit.kmeans_starts),
            },
            restarts: self.restarts,
            elbo: self.bounds,
            warnings: all_spelled(&fit.warnings),
            notes: all_spelled(self.notes),
            seconds: self.seconds,
            file: self.file.map(|file| file.display().to_string()),
        };
        write_json(output, &document)
    }

    fn write_text(&self, context: &Context, output: &mut Output) -> Outcome {
        let fit = &self.model.fit;
        let joint = self.model.joint();
        let fields = &joint.schema().fields;
        let of = match joint.target() {
            Some(target) => format!(" of {}", fields[target].name),
            None => String::new(),
        };
        let heading = context.heading(output, &format!("{}{of}", self.model.model));
        let weighted = match fit.weight == fit.rows as f64 {
            true => String::new(),
            false => format!(" (weight {})", readable(fit.weight)),
        };
        let rows = counted(fit.rows, "row");
        let columns = counted(fields.len() as u64, "column");
        writeln!(output, "{heading}: {rows}{weighted}, {columns}")?;
        match &self.model.body {
            Body::Mixture(mixture) => {
                let class = mixture.target.map_or("component", |_| "class");
                let table = diagnostics_table::brief(class, mixture, fit.diagnostics.as_ref());
                write!(output, "{}", table.text(2))?;
            }
            Body::Density(densities) => write!(output, "{}", density_tables::of(densities))?,
            Body::KMeans(clusters) => write!(output, "{}", cluster_tables::of(clusters))?,
        }
        if let Some(selection) = &fit.selection {
            write!(output, "{}", selection_table::text(selection))?;
        }
        if let Some(test) = &fit.bootstrap {
            write!(output, "{}", selection_table::tests(test))?;
        }
        let ended = match (fit.converged, self.interrupted) {
            (true, _) => "converged",
            (false, true) => "stopped",
            (false, false) => "not converged",
        };
        let mut lines = vec![
            ("covariance", covariance(self.model)),
            ("tails", tails(self.model)),
            ("log-likelihood", log_likelihood(fit)),
            ("BIC", format!("{:.4}", fit.bic)),
            ("AIC", format!("{:.4}", fit.aic)),
            ("parameters", fit.parameters.to_string()),
            ("iterations", format!("{}, {ended}", fit.iterations)),
            ("starts", diagnostics_table::starts(fit)),
            ("certainty", diagnostics_table::certainty(fit)),
            ("seconds", format!("{:.3}", self.seconds)),
        ];
        lines.retain(|(_, value)| !value.is_empty());
        if !is_generative(self.model) {
            lines.retain(|(name, _)| !LIKELIHOODS.contains(name));
        }
        if let Recipe::KMeans { kmeans, .. } = &self.model.provenance.recipe {
            lines.insert(0, ("distance", cluster_tables::distance(kmeans)));
            lines.insert(
                1,
                ("inertia", readable(fit.inertia.unwrap_or(f64::INFINITY))),
            );
        }
        if let Recipe::Density { density } = &self.model.provenance.recipe {
            // Nothing is iterated, and most densities have no maximum likelihood.
            lines.retain(|(name, _)| *name != "iterations");
            if fit.bic.is_infinite() {
                lines.retain(|(name, _)| !["BIC", "AIC"].contains(name));
                lines[0].1.push_str(", each row given the others");
            }
            lines.insert(
                0,
                (
                    "tuning",
                    density_tables::tuning(&density.estimator, &fit.warnings),
                ),
            );
        }
        if let Some(calibration) = &self.model.calibration {
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
    columns: Vec<ColumnTold<'a>>,
    log_likelihood: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_likelihood_of: Option<LogLikelihoodOf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    objective: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inertia: Option<f64>,
    bic: f64,
    aic: f64,
    parameters: usize,
    iterations: usize,
    converged: bool,
    monotone: bool,
    interrupted: bool,
    components: Vec<ComponentTold<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<&'a Calibration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    densities: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clusters: Option<serde_json::Value>,
    trace: &'a [Option<f64>],
    #[serde(skip_serializing_if = "<[Option<f64>]>::is_empty")]
    objective_trace: &'a [Option<f64>],
    #[serde(skip_serializing_if = "Option::is_none")]
    unlabelled: Option<&'a UnlabelledChoice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    selection: Option<&'a Selection>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bootstrap: Option<&'a BootstrapTest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<&'a Diagnostics>,
    #[serde(skip_serializing_if = "StartsTold::are_none")]
    starts: StartsTold<'a>,
    restarts: &'a [f64],
    elbo: &'a [f64],
    warnings: Vec<String>,
    notes: Vec<String>,
    seconds: f64,
    file: Option<String>,
}

/// What became of each start.
#[derive(Serialize)]
#[serde(untagged)]
enum StartsTold<'a> {
    Mixture(&'a [Start]),
    KMeans(&'a [kmeans::Start]),
}

impl StartsTold<'_> {
    fn are_none(&self) -> bool {
        match self {
            StartsTold::Mixture(starts) => starts.is_empty(),
            StartsTold::KMeans(starts) => starts.is_empty(),
        }
    }
}

#[derive(Serialize)]
struct ColumnTold<'a> {
    #[serde(flatten)]
    field: &'a Field,
    target: bool,
}

#[derive(Serialize)]
struct ComponentTold<'a> {
    name: &'a str,
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

/// The columns with their kinds and levels, one to a line, at most so wide where words allow.
pub fn columns(schema: &Schema, target: Option<&str>, holes: &[u64], most: usize) -> String {
    const SHOWN: usize = 6;
    const COLUMNS: usize = 30;
    let width = |cells: &mut dyn Iterator<Item = &str>| {
        cells.map(UnicodeWidthStr::width).max().unwrap_or(0)
    };
    let is_target = |field: &Field| target == Some(field.name.as_str());
    let name = |field: &Field| escape::line(&field.name).into_owned();
    let fields = schema.fields.iter().zip(holes).enumerate();
    // The target is always among those shown.
    let shown: Vec<(&Field, u64)> = fields
        .filter(|(number, (field, _))| *number < COLUMNS || is_target(field))
        .map(|(_, (field, holes))| (field, *holes))
        .collect();
    let names: Vec<String> = shown.iter().map(|(field, _)| name(field)).collect();
    let widest = width(&mut names.iter().map(String::as_str));
    let kinds = width(&mut shown.iter().map(|(field, _)| field.kind.name()));
    let mut text = String::new();
    for ((field, holes), name) in shown.iter().zip(&names) {
        let gap = widest - name.width();
        let mut levels: Vec<&str> = field.levels.iter().map(String::as_str).collect();
        let more = levels.len().saturating_sub(SHOWN);
        levels.truncate(SHOWN);
        let mut remark = escape::line(&levels.join(", ")).into_owned();
        if more > 0 {
            remark.push_str(&format!(" and {more} more"));
        }
        if is_target(field) {
            remark = format!("target: {remark}");
        }
        if field.unit != 1.0 {
            remark = format!("in units of {:e}", field.unit);
        }
        if *holes > 0 {
            let gap = if remark.is_empty() { "" } else { "; " };
            let what = if is_target(field) {
                "unlabelled"
            } else {
                "missing"
            };
            remark.push_str(&format!("{gap}{holes} {what}"));
        }
        let line = format!(
            "  {name}{:gap$}  {:kinds$}  {remark}",
            "",
            field.kind.name()
        );
        let remark_at = 2 + widest + 2 + kinds + 2;
        text.push_str(&wrapped(line.trim_end(), most, remark_at));
        text.push('\n');
    }
    let more = (schema.fields.len() - shown.len()) as u64;
    if more > 0 {
        text.push_str(&format!("  and {}\n", counted(more, "more column")));
    }
    text
}
