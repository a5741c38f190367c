//! Updating a saved model with new rows, merging saved models, and forgetting rows.

use super::Model;
use crate::Control;
use crate::data::Source;
use crate::model::{self, Incremental};
use crate::{Error, Result};

/// A model after a change, and notes for the user.
#[derive(Debug)]
pub struct Changed {
    /// The model.
    pub model: Model,
    /// Notes for the user.
    pub notes: Vec<String>,
}

const CALIBRATION_DROPPED: &str =
    "the calibration was learned from other rows and is dropped; fit again with `calibrate`";

impl Model {
    /// Adds new rows; `unlabelled` is the weight of rows without a label, by default that of
    /// the fit.
    ///
    /// # Errors
    /// If this kind of model cannot be updated, or the rows do not have its columns.
    pub fn update(
        &self,
        rows: &dyn Source,
        files: Vec<String>,
        unlabelled: Option<f64>,
        control: Control,
    ) -> Result<Changed> {
        let changed = (self.incremental()?).update(&self.fit, rows, unlabelled, control)?;
        Ok(self.with_change(changed, files, self.calibration.is_some()))
    }

    /// Merges models fitted to different rows into one.
    ///
    /// # Errors
    /// If they are of different kinds or were fitted differently.
    pub fn merge(models: &[Model]) -> Result<Changed> {
        let Some((first, others)) = models.split_first() else {
            return Err(Error::parameter("no models to merge"));
        };
        let incremental = first.incremental()?;
        for other in others {
            other.incremental()?;
            if other.model != first.model {
                return Err(Error::parameter(format!(
                    "a model was fitted differently from the first: it is a {}, the first a {}",
                    other.model, first.model
                ))
                .with_hint("only models fitted with the same options can be merged"));
            }
        }
        let bodies: Vec<_> = others.iter().map(|other| &other.body).collect();
        let changed = incremental.merge(&first.fit, &bodies)?;
        let files = others.iter().flat_map(|other| &other.provenance.files);
        let calibrated = models.iter().any(|model| model.calibration.is_some());
        Ok(first.with_change(changed, files.cloned().collect(), calibrated))
    }

    /// Removes rows that the model was fitted to.
    ///
    /// # Errors
    /// If rows cannot be removed from this kind of model, or it cannot have been fitted to them.
    pub fn forget(&self, rows: &dyn Source, control: Control) -> Result<Changed> {
        let changed = (self.incremental()?).forget(&self.fit, rows, control)?;
        Ok(self.with_change(changed, Vec::new(), self.calibration.is_some()))
    }

    /// The model as one that can be updated without the rows it was fitted to.
    ///
    /// # Errors
    /// If it cannot be; the error says why.
    pub fn incremental(&self) -> Result<&dyn Incremental> {
        self.body.incremental()
    }

    /// This model with a changed body; the calibration does not apply to it.
    fn with_change(
        &self,
        changed: model::Changed,
        files: Vec<String>,
        calibrated: bool,
    ) -> Changed {
        let mut notes = changed.notes;
        let mut model = self.clone();
        if let Some((report, body)) = changed.result {
            if calibrated {
                notes.push(CALIBRATION_DROPPED.into());
            }
            model.calibration = None;
            for file in files {
                if !model.provenance.files.contains(&file) {
                    model.provenance.files.push(file);
                }
            }
            model.fit = report;
            model.body = body;
        }
        Changed { model, notes }
    }
}
