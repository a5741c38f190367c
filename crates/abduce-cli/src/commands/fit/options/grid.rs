//! What is chosen among: several numbers of components and covariances, and by which
//! criterion.

use super::{ModelOptions, does_not_apply};
use crate::commands::fit::ModelName;
use crate::failure::Outcome;
use abduce::model::mixture::{CovarianceKind, Grid};

impl ModelOptions {
    /// The covariance, where it is one.
    pub(super) fn covariance(&self) -> Option<CovarianceKind> {
        let all = self.covariance.as_ref()?;
        all.0.first().copied().filter(|_| all.0.len() == 1)
    }

    /// What to choose from, where there is a choice.
    pub(super) fn grid(&self, model: ModelName) -> Outcome<Option<Grid>> {
        let components = self.components.clone().map_or(vec![1], |own| own.0);
        let covariances = match &self.covariance {
            Some(own) => own.0.clone(),
            None => vec![CovarianceKind::default()],
        };
        let several = components.len() * covariances.len() > 1;
        if model != ModelName::Mixture && several {
            return Err(does_not_apply(
                "several covariances",
                model,
                "only a mixture is chosen among several; compare them with abduce evaluate",
            ));
        }
        if self.select.is_some() && !several {
            return Err(does_not_apply(
                "--select",
                model,
                "there is nothing to choose from; give several with --components 1-9 or --covariance all",
            ));
        }
        Ok(several.then(|| Grid {
            components,
            covariances,
            criterion: self.select.unwrap_or_default(),
            folds: 5,
        }))
    }
}
