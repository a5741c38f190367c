//! The model file: versioned, readable JSON that holds the schema, the parameters, the
//! sufficient statistics and the provenance of a model. A file is written under a temporary name
//! and then renamed, so that a failure leaves no partial file. Files of older versions stay
//! readable.

mod answers;
mod check;
mod early_versions;
mod file;
mod fit;
mod incremental;
mod kinds;
mod lock;
mod query;
mod replacement;

pub use answers::Prediction;
pub use fit::Fit;
pub use incremental::Changed;
pub use kinds::read_kinds;
pub use lock::FileLock;
pub use replacement::Replacement;

use crate::ask::{Classifier, Decider, Explain, Joint, Posterior, Predict, decider_by};
use crate::data::{Chunk, Schema, Source, not_opened};
use crate::eval::Calibration;
use crate::model::mixture::FittedMixture;
use crate::model::{AnyModel, FitReport, Learned};
use crate::{Control, Error, Result};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::Path;

pub use file::VERSION;

/// A fitted model with its provenance: the content of a model file.
#[derive(Clone, Debug)]
pub struct Model {
    /// The name of the model in the [list](crate::model::MODELS), such as `naive-bayes`.
    pub model: String,
    /// The report of the fit.
    pub fit: FitReport,
    /// Where it came from.
    pub provenance: Provenance,
    /// The class and the parameters of the Python estimator that fitted it, if one did.
    pub estimator: Option<serde_json::Value>,
    /// The calibration of the class probabilities, if there is one.
    pub calibration: Option<Calibration>,
    /// The model itself.
    pub body: AnyModel,
}

/// Where a model came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The version of abduce that fitted it.
    pub abduce: String,
    /// The files it was fitted to.
    pub files: Vec<String>,
    /// The model file whose parameters the fit started from, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
}

impl Model {
    /// A model fitted to files, under the name of a model in the list.
    pub fn new(name: impl Into<String>, learned: Learned, files: Vec<String>) -> Model {
        Model {
            model: name.into(),
            fit: learned.report,
            provenance: Provenance {
                abduce: env!("CARGO_PKG_VERSION").into(),
                files,
                start: None,
            },
            estimator: None,
            calibration: None,
            body: learned.model,
        }
    }

    /// Conditions a mixture on one of its components, given by its position.
    ///
    /// # Errors
    /// If the model has no such component.
    pub fn keep_component(&mut self, component: usize) -> Result<()> {
        let Some(mixture) = self.body.get_mut::<FittedMixture>() else {
            let message = format!("a {} has no components", self.model);
            return Err(Error::parameter(message));
        };
        let weights = &mut mixture.parameters.weights;
        if component >= weights.len() {
            let message = format!("there is no component {}", component + 1);
            let hint = format!("components are numbered from 1 to {}", weights.len());
            return Err(Error::parameter(message).with_hint(hint));
        }
        for (j, weight) in weights.iter_mut().enumerate() {
            *weight = if j == component { 1.0 } else { 0.0 };
        }
        Ok(())
    }

    /// The columns.
    pub fn schema(&self) -> &Schema {
        self.body.predictor().schema()
    }

    /// The column of labels, if there is one.
    pub fn target(&self) -> Option<usize> {
        self.body.predictor().target()
    }

    /// The names of the classes or clusters.
    pub fn names(&self) -> Vec<String> {
        self.body.predictor().names()
    }

    /// The model as a predictor; its probabilities are not calibrated.
    pub fn predictor(&self) -> &dyn Predict {
        self.body.predictor()
    }

    /// The model as a joint distribution.
    ///
    /// # Errors
    /// If this kind of model has no joint distribution.
    pub fn joint(&self) -> Result<&dyn Joint> {
        self.body.joint()
    }

    /// The model as one that explains its predictions.
    ///
    /// # Errors
    /// If this kind of model cannot explain them.
    pub fn explain(&self) -> Result<&dyn Explain> {
        self.body.explain().ok_or_else(|| {
            let message = format!("a {} model cannot explain its predictions", self.model);
            Error::parameter(message).with_hint("naive-bayes, gda and mixture can")
        })
    }

    /// The model with newly drawn parameters, for one copy of a multiple imputation of `rows`;
    /// `None` for models without a distribution of their parameters.
    ///
    /// # Errors
    /// If the rows cannot be read, or no drawn sample of them can be fitted.
    pub fn with_drawn_parameters(
        &self,
        rows: &dyn Source,
        seed: u64,
        control: Control,
    ) -> Result<Option<AnyModel>> {
        self.body.with_drawn_parameters(rows, seed, control)
    }

    /// The class or cluster probabilities of each row, calibrated if the model has a
    /// calibration.
    ///
    /// # Errors
    /// If the probabilities of a row cannot be computed.
    pub fn posterior(&self, chunk: &Chunk) -> Result<Posterior> {
        (self.classifier()?)(chunk)
    }

    /// The [`posterior`](Model::posterior) as a function, prepared once for many chunks.
    ///
    /// # Errors
    /// If the probabilities of a row cannot be computed.
    pub fn classifier(&self) -> Result<Classifier<'_>> {
        let classifier = self.body.predictor().classifier()?;
        Ok(match &self.calibration {
            Some(calibration) => Box::new(move |chunk| Ok(calibration.apply(&classifier(chunk)?))),
            None => classifier,
        })
    }

    /// The most probable class or cluster of each row by the [`posterior`](Model::posterior), as
    /// a function prepared once for many chunks.
    ///
    /// # Errors
    /// If the probabilities of a row cannot be computed.
    pub fn decider(&self) -> Result<Decider<'_>> {
        match &self.calibration {
            Some(_) => Ok(decider_by(self.classifier()?)),
            None => self.body.predictor().decider(),
        }
    }

    /// Writes a model file. If writing fails, a file already there is left unchanged.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let text = self.to_json()?;
        let path = path.as_ref();
        let mut file = Replacement::create(path)?;
        file.write_all(text.as_bytes())
            .map_err(|e| Error::from(e).at_file(path.display().to_string()))?;
        file.finish()
    }

    /// Reads a model file.
    ///
    /// # Errors
    /// If it cannot be read or is not a model.
    pub fn load(path: impl AsRef<Path>) -> Result<Model> {
        let path = path.as_ref();
        let name = path.display().to_string();
        if path.is_dir() {
            let folder = Error::io("this is a folder; name a model file");
            return Err(folder.caused_by(io::ErrorKind::IsADirectory).at_file(&name));
        }
        let bytes = std::fs::read(path).map_err(|e| not_opened(e).at_file(&name))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Error::data("this is not an abduce model").at_file(&name))?;
        Model::from_json(&text).map_err(|e| e.at_file(&name))
    }
}
