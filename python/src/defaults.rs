//! The defaults of the engine, which the command line takes too.

use crate::trouble::wrong;
use abduce::model::mixture::{CovarianceKind, FitOptions, Specification};
use pyo3::prelude::*;

/// What a model is fitted with unless the user says otherwise, as JSON: the `specification`
/// and the `options` of a `naive-bayes`, a `gda` or a `mixture`.
#[pyfunction]
pub fn defaults(model: &str) -> PyResult<String> {
    let covariance = CovarianceKind::default();
    let specification = match model {
        "naive-bayes" => Specification::naive_bayes("y"),
        "gda" => Specification::gda("y", covariance),
        "mixture" => Specification::mixture(1, covariance),
        _ => return Err(wrong(format!("there is no model \"{model}\""))),
    };
    let options = FitOptions::default();
    let both = serde_json::json!({"specification": specification, "options": options});
    Ok(both.to_string())
}
