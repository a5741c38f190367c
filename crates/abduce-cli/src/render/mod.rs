//! How fitted models are shown, with a file or folder for each kind of model. A new kind is a file,
//! its `mod` line and its line in [`KINDS`].

pub mod density;
mod kmeans;
pub mod mixture;
pub mod text_table;

use crate::context::Context;
use crate::io::failure::Outcome;
use crate::io::output::Output;
use abduce::model::density::DensityModel;
use abduce::model::kmeans::FittedKMeans;
use abduce::model::mixture::FittedMixture;
use abduce::model::{FitReport, Fitted, FittedModel, LogLikelihoodOf, MODELS};
use abduce::store::Model;
use serde_json::{Map, Value};

/// Labels and their values, in the order in which they are printed.
pub type Lines = Vec<(&'static str, String)>;

/// How a kind of fitted model is shown.
pub trait Render {
    /// The weights of its classes or clusters.
    fn weights(&self) -> Vec<f64>;

    /// Changes the common lines about the fit: removes those that the model does not have,
    /// and adds its own.
    fn edit_figures(&self, _report: &FitReport, _lines: &mut Lines) {}

    /// The most important settings, for the summary of a fit.
    fn main_settings(&self, report: &FitReport) -> Lines;

    /// All settings.
    fn settings(&self, report: &FitReport) -> Lines;

    /// The tables of the summary of a fit.
    fn summary(&self) -> String;

    /// Writes the tables of all parameters.
    fn write_parameters(&self, context: &Context, output: &mut Output) -> Outcome;

    /// Tables about how the model was chosen, each with a heading.
    fn choices(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// A note about the choice of the model, if there is one.
    fn choice_note(&self) -> Option<&'static str> {
        None
    }

    /// The fields of the summary in JSON that only this kind of model has.
    fn document(&self) -> Map<String, Value>;
}

/// How a model is shown.
pub fn of(model: &Model) -> &dyn Render {
    let mut found = KINDS.iter().filter_map(|kind| (kind.render)(model));
    found.next().expect("every kind of model is in the list")
}

/// How a kind of model is shown.
struct RenderedKind {
    name: &'static str,
    render: fn(&Model) -> Option<&dyn Render>,
}

impl RenderedKind {
    const fn of<M: FittedModel>() -> RenderedKind
    where
        Fitted<M>: Render,
    {
        RenderedKind {
            name: M::KIND,
            render: |model| model.body.get::<M>().map(|fitted| fitted as &dyn Render),
        }
    }
}

/// All kinds of models.
const KINDS: &[RenderedKind] = &[
    RenderedKind::of::<FittedMixture>(),
    RenderedKind::of::<FittedKMeans>(),
    RenderedKind::of::<DensityModel>(),
];

// A model of the library that is missing in `KINDS` is a compile error.
const _: () = {
    let mut model = 0;
    while model < MODELS.len() {
        let mut kind = 0;
        while !is_same(KINDS[kind].name, MODELS[model].kind) {
            kind += 1;
            assert!(kind < KINDS.len(), "a kind of model cannot be shown");
        }
        model += 1;
    }
};

/// Whether two names are the same, at compile time.
const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut same = 0;
    while same < a.len() && same < b.len() && a[same] == b[same] {
        same += 1;
    }
    same == a.len() && same == b.len()
}

/// Whether the model has densities, not only scores or distances.
pub fn has_density(model: &Model) -> bool {
    model
        .joint()
        .is_ok_and(|joint| joint.check_density().is_ok())
}

/// The log-likelihood of a fit, with a remark if it is weighted or a lower bound.
pub fn log_likelihood(report: &FitReport) -> String {
    match report.log_likelihood_of.and_then(LogLikelihoodOf::remark) {
        Some(remark) => format!("{:.6} ({remark})", report.log_likelihood),
        None => format!("{:.6}", report.log_likelihood),
    }
}

/// The lines about how a fit went.
pub fn figures(model: &Model, interrupted: bool) -> Lines {
    let report = &model.fit;
    let ended = match (report.converged, interrupted) {
        (true, _) => "converged",
        (false, true) => "stopped",
        (false, false) => "not converged",
    };
    let mut lines = vec![
        ("log-likelihood", log_likelihood(report)),
        ("BIC", format!("{:.4}", report.bic)),
        ("AIC", format!("{:.4}", report.aic)),
        ("parameters", report.parameters.to_string()),
        ("iterations", format!("{}, {ended}", report.iterations)),
    ];
    if !has_density(model) {
        lines.retain(|(name, _)| !["log-likelihood", "BIC", "AIC"].contains(name));
    }
    of(model).edit_figures(report, &mut lines);
    lines
}

/// Removes lines by their labels.
fn remove(lines: &mut Lines, labels: &[&str]) {
    lines.retain(|(label, _)| !labels.contains(label));
}
