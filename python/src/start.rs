//! Mixtures for EM to begin at, made of fitted ones.

use crate::errors::value_error;
use crate::model::Model;
use abduce::family::{Covariance, Distribution};
use abduce::model::mixture::FittedMixture;
use pyo3::prelude::*;

/// The mixture that a model of classes is, once its last column, the labels, is taken from it.
#[pyfunction]
pub fn without_labels(model: &Model) -> PyResult<Model> {
    let mut model = model.model.clone();
    let Some(mixture) = model.body.get_mut::<FittedMixture>() else {
        return Err(value_error("this is not a mixture"));
    };
    let mut schema = mixture.schema.clone();
    if mixture.target != schema.fields.len().checked_sub(1) {
        return Err(value_error("the last column does not hold labels"));
    }
    schema.fields.pop();
    mixture.model = FittedMixture::given(
        schema,
        None,
        mixture.leaves.clone(),
        mixture.parameters.clone(),
    );
    Ok(Model { model })
}

/// A mixture of Gaussians with other weights, means or covariances: component by component, a
/// covariance in as many numbers as the model's has, or once for all.
#[pyfunction]
#[pyo3(signature = (model, weights=None, means=None, covariances=None))]
pub fn gaussian_start(
    model: &Model,
    weights: Option<Vec<f64>>,
    means: Option<Vec<f64>>,
    covariances: Option<Vec<f64>>,
) -> PyResult<Model> {
    let mut model = model.model.clone();
    let Some(mixture) = model.body.get_mut::<FittedMixture>() else {
        return Err(value_error("this is not a mixture"));
    };
    let k = mixture.components();
    if let Some(weights) = weights.filter(|weights| weights.len() == k) {
        mixture.parameters.weights = weights;
    }
    let Some(leaf) = mixture.parameters.leaves.first_mut() else {
        return Err(value_error("the mixture has no columns"));
    };
    for (j, own) in leaf.iter_mut().enumerate() {
        let Distribution::Multivariate(own) = own else {
            return Err(value_error("this is not a mixture of Gaussians"));
        };
        let d = own.mean.len();
        if let Some(mean) = means
            .as_ref()
            .and_then(|means| means.get(j * d..(j + 1) * d))
        {
            own.mean = mean.to_vec();
        }
        if let Some(all) = &covariances {
            let size = match &own.covariance {
                Covariance::Full(_) => d * d,
                Covariance::Diagonal(_) => d,
                Covariance::Spherical(_) => 1,
            };
            let start = if all.len() == size { 0 } else { j * size };
            let shape =
                || value_error("the parameter 'precisions' has another shape than the covariances");
            let cells = all.get(start..start + size).ok_or_else(shape)?.to_vec();
            own.covariance = match &own.covariance {
                Covariance::Full(_) => Covariance::Full(cells),
                Covariance::Diagonal(_) => Covariance::Diagonal(cells),
                Covariance::Spherical(_) => Covariance::Spherical(cells[0]),
            };
        }
    }
    Ok(Model { model })
}
