//! The defaults of fits, which are those of the command line.

use crate::errors::value_error;
use abduce::model::mixture::{CovarianceKind, FitOptions, Specification};
use pyo3::prelude::*;

/// The default `specification` and `options` of a `naive-bayes`, `gda` or `mixture` model, as JSON.
#[pyfunction]
pub fn defaults(model: &str) -> PyResult<String> {
    let covariance = CovarianceKind::default();
    let specification = match model {
        "naive-bayes" => Specification::naive_bayes("y"),
        "gda" => Specification::gda("y", covariance),
        "mixture" => Specification::mixture(1, covariance),
        _ => return Err(value_error(format!("there is no model \"{model}\""))),
    };
    let options = FitOptions::default();
    let both = serde_json::json!({"specification": specification, "options": options});
    Ok(both.to_string())
}
