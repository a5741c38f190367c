//! Fitting a model in one call.

use super::Model;
use crate::data::Source;
use crate::model::Learner;
use crate::{Control, Result};

/// Fits a [`Learner`] to a table in one call.
pub trait Fit: Learner {
    /// Fits the model; the result includes the report of the fit.
    ///
    /// ```
    /// use abduce::prelude::*;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("faithful.csv");
    /// # std::fs::write(&path, "eruptions,waiting\n3.6,79\n1.8,54\n3.3,74\n2.3,62\n4.5,85\n")?;
    /// let table = Table::read(&path)?;
    /// let model = Gaussian::new(CovarianceKind::Full).fit(&table)?;
    /// assert_eq!(model.fit.rows, 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the options do not suit the table, or it cannot be read.
    fn fit(&self, rows: &dyn Source) -> Result<Model> {
        let learned = self.learn(rows, Control::default())?;
        Ok(Model::new(Self::NAME, learned, Vec::new()))
    }
}

impl<L: Learner> Fit for L {}
