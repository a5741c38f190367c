//! What is chosen among, several numbers of components and covariances, and how: by which
//! criterion, or by which tests.

use super::{ModelOptions, does_not_apply};
use crate::commands::fit::ModelName;
use crate::commands::fit::values::Choice;
use crate::failure::{Failure, Outcome};
use abduce::Error;
use abduce::model::mixture::{BootstrapOptions, CovarianceKind, Criterion, Grid};
use std::ops::RangeInclusive;

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
            let message = format!(
                "--covariance: several covariances do not apply to {}",
                model.name()
            );
            let hint = "only a mixture is chosen among several; compare them with abduce evaluate";
            return Err(Error::parameter(message).with_hint(hint).into());
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
            criterion: match self.select {
                Some(Choice::By(criterion)) => criterion,
                _ => Criterion::default(),
            },
            folds: 5,
        }))
    }

    /// An option of tests without any is in vain.
    pub(super) fn refuse_tests_not_asked_for(&self, model: ModelName) -> Outcome {
        let unfit = [
            (self.replicates.is_some(), "--replicates"),
            (self.significance.is_some(), "--significance"),
        ];
        match unfit.iter().find(|(given, _)| *given) {
            Some((_, option)) if self.select != Some(Choice::Bootstrap) => Err(does_not_apply(
                option,
                model,
                "it is for --select bootstrap",
            )),
            _ => Ok(()),
        }
    }

    /// The numbers of components to test, where they are to be tested.
    pub(super) fn tests(
        &self,
        model: ModelName,
    ) -> Outcome<Option<(RangeInclusive<usize>, BootstrapOptions)>> {
        if self.select != Some(Choice::Bootstrap) {
            return Ok(None);
        }
        let refused = |why: &str| does_not_apply("--select bootstrap", model, why);
        if model != ModelName::Mixture {
            return Err(refused("only a mixture has components to test"));
        }
        if self.covariance.as_ref().is_some_and(|own| own.0.len() > 1) {
            return Err(refused(
                "it tests numbers of components of one --covariance",
            ));
        }
        let numbers = self.components.as_ref().map_or(&[][..], |own| &own.0);
        let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else {
            return Err(refused("give --components, as in 1-9"));
        };
        if numbers.len() < 2 || last - first + 1 != numbers.len() {
            return Err(Failure::usage(format!(
                "--select bootstrap tests each number of components against the next, and --components {first}{} \
                 has no next; give a range such as --components 1-9",
                match numbers.len() {
                    1 => String::new(),
                    _ => format!(" … {last}"),
                }
            )));
        }
        let default = BootstrapOptions::default();
        let test = BootstrapOptions {
            replicates: self.replicates.unwrap_or(default.replicates),
            significance: self.significance.unwrap_or(default.significance),
            ..default
        };
        Ok(Some((*first..=*last, test)))
    }
}
