//! Parts of model files as JSON.

use crate::errors::value_error;
use crate::messages::warning;
use crate::model::Model;
use abduce::density::Bandwidth;
use abduce::model::density::{Density, DensityModel};
use abduce::model::kmeans::{Distance, FittedKMeans};
use abduce::model::mixture::FittedMixture;
use pyo3::PyResult;

/// The bandwidth of each class, as in the model file; `None` for a class without kernels.
fn bandwidths(model: &DensityModel) -> Vec<Option<&Bandwidth>> {
    let each = model.densities.iter();
    each.map(|density| match density {
        Some(Density::Kde(kde)) => Some(kde.bandwidth()),
        _ => None,
    })
    .collect()
}

impl Model {
    /// A part of the model file.
    pub fn json_of_part(&self, name: &str) -> PyResult<String> {
        let model = &self.model;
        let text = match name {
            "model" => serde_json::to_string(&model.model),
            "fit" => serde_json::to_string(&model.fit_document()),
            "warnings" => {
                let warnings = model.fit.warnings.iter();
                serde_json::to_string(&warnings.map(|text| warning(text)).collect::<Vec<_>>())
            }
            "provenance" => serde_json::to_string(&model.provenance_document()),
            "estimator" => serde_json::to_string(&model.estimator),
            "schema" => serde_json::to_string(self.schema_of()),
            "target" => serde_json::to_string(&model.target()),
            "calibrated" => serde_json::to_string(&model.calibration.is_some()),
            "names" => serde_json::to_string(&model.names()),
            "body" => serde_json::to_string(&model.body_document()),
            _ => self.part_of_body(name)?,
        };
        text.map_err(|why| value_error(why.to_string()))
    }

    /// A part of the body.
    fn part_of_body(&self, name: &str) -> PyResult<serde_json::Result<String>> {
        let body = &self.model.body;
        let text = if let Some(mixture) = body.get::<FittedMixture>() {
            match name {
                "weights" => Some(serde_json::to_string(&mixture.parameters.weights)),
                "leaves" => Some(serde_json::to_string(&mixture.leaves)),
                "parameters" => Some(serde_json::to_string(&mixture.parameters.leaves)),
                "start" => Some(serde_json::to_string(&mixture.parameters)),
                "statistics" => Some(serde_json::to_string(&mixture.statistics)),
                _ => None,
            }
        } else if let Some(clusters) = body.get::<FittedKMeans>() {
            match name {
                "centres" => Some(serde_json::to_string(&clusters.centres)),
                "sizes" => Some(serde_json::to_string(&clusters.sizes)),
                // Whether distances are summed instead of their squares.
                "plain" => Some(serde_json::to_string(
                    &(clusters.medoids
                        || matches!(clusters.distance, Distance::Manhattan | Distance::Cosine)),
                )),
                "columns" => Some(serde_json::to_string(&clusters.frame.columns)),
                _ => None,
            }
        } else {
            let densities = body.get::<DensityModel>().filter(|_| name == "bandwidths");
            densities.map(|densities| serde_json::to_string(&bandwidths(densities)))
        };
        text.ok_or_else(|| value_error(format!("a {} has no {name}", self.model.model)))
    }
}
