//! The report and the notes after a fitted mixture is changed without its rows.

use super::super::{FittedMixture, Unlabelled};
use crate::data::Source;
use crate::model::mixture::{Fit, Specification};
use crate::model::{AnyModel, Changed, FitReport, Fitted, Incremental, LogLikelihoodOf};
use crate::{Control, Error, Result};

const BOUND: &str = "the statistics contain expected labels or missing values, which are not \
     updated: the log-likelihood is a lower bound; fit all rows again for the best model";

const LIMITED: &str = "the number of terms was limited when the model was fitted: the terms are \
     not selected again, and new terms are ignored";

/// The note that a model without marks may forget rows that were never fitted.
pub const NO_MARKS: &str = "the model has no row marks: rows that were never fitted are noticed \
     only if the statistics rule them out; fit with `marks` to recognize all of them";

impl Incremental for Fitted<FittedMixture> {
    fn update(
        &self,
        report: &FitReport,
        rows: &dyn Source,
        unlabelled: Option<f64>,
        control: Control,
    ) -> Result<Changed> {
        if all_weights_are_zero(rows)? {
            return Ok(unchanged());
        }
        let weight = unlabelled.unwrap_or_else(|| self.unlabelled_weight());
        let unused = self.unused_rows_note(unlabelled.is_some());
        if self.model.ignores_all_rows(rows, weight) {
            return Ok(Changed {
                result: None,
                notes: vec![unused],
            });
        }
        let labelled = self.model.labelled_rows(rows, weight)?;
        let mut notes = Vec::new();
        if let Some(labelled) = &labelled {
            notes.push(unused);
            if all_weights_are_zero(labelled)? {
                return Ok(Changed {
                    result: None,
                    notes,
                });
            }
        }
        let specification = &self.recipe.specification;
        let options = &self.recipe.options;
        let fit = (self.model).update(rows, specification, options, weight, control)?;
        self.changed(report, fit, notes)
    }

    fn merge(&self, report: &FitReport, others: &[&AnyModel]) -> Result<Changed> {
        let mut parts = vec![&self.model];
        for other in others {
            let other = other.get::<FittedMixture>();
            let difference = match other {
                None => Some("the kind of model"),
                Some(other) => self.difference(other),
            };
            if let Some(difference) = difference {
                return Err(Error::parameter(format!(
                    "a model was fitted differently from the first: {difference}"
                ))
                .with_hint("only models fitted with the same options can be merged"));
            }
            parts.extend(other.map(|other| &other.model));
        }
        let specification = &self.recipe.specification;
        let (options, weight) = (&self.recipe.options, self.unlabelled_weight());
        let fit = FittedMixture::merge(&parts, specification, options, weight)?;
        let mut changed = self.changed(report, fit, Vec::new())?;
        let marked = |marked: bool| parts.iter().any(|part| part.marks.is_some() == marked);
        if marked(true) && marked(false) {
            let note = "one of the models has no row marks, so the merged model has none";
            changed.notes.push(note.into());
        }
        let repeated = parts.iter().enumerate().any(|(i, part)| {
            let marks = part.marks.as_ref();
            marks.is_some() && parts[..i].iter().any(|other| other.marks.as_ref() == marks)
        });
        if repeated {
            let note = "two of the models were fitted to the same rows, which now count twice";
            changed.notes.push(note.into());
        }
        Ok(changed)
    }

    fn forget(&self, report: &FitReport, rows: &dyn Source, control: Control) -> Result<Changed> {
        if all_weights_are_zero(rows)? {
            return Ok(unchanged());
        }
        let specification = &self.recipe.specification;
        let options = &self.recipe.options;
        let fit = (self.model).forget(rows, specification, options, control)?;
        let mut notes = Vec::new();
        if self.model.marks.is_none() {
            notes.push(NO_MARKS.to_string());
        }
        self.changed(report, fit, notes)
    }

    fn unsettled(&self) -> Vec<String> {
        self.model.unsettled()
    }
}

impl Fitted<FittedMixture> {
    /// The note that rows without a label are not used; `given` is whether a weight was passed for
    /// them.
    fn unused_rows_note(&self, given: bool) -> String {
        if given || matches!(self.recipe.options.unlabelled, Unlabelled::Weight(_)) {
            "rows without a label are not used, as their weight is 0".to_string()
        } else {
            "rows without a label are not used: the model has no weight for them; pass \
             `unlabelled`"
                .to_string()
        }
    }

    /// The first option in which another model was fitted differently, if there is one.
    fn difference(&self, other: &Fitted<FittedMixture>) -> Option<&'static str> {
        let specification: &Specification = &self.recipe.specification;
        if let Some(difference) = specification.difference(&other.recipe.specification) {
            return Some(difference);
        }
        let differs = self.unlabelled_weight() != other.unlabelled_weight();
        (other.model.summary.unlabelled > 0.0 && differs).then_some("`unlabelled`")
    }

    /// The model after a fit without its rows.
    fn changed(&self, report: &FitReport, fit: Fit, mut notes: Vec<String>) -> Result<Changed> {
        fit.mixture.check().map_err(|_| {
            Error::numeric("the change loses too much numerical precision")
                .with_hint("fit the rows again")
        })?;
        let is_exact = fit.mixture.is_exact();
        if !is_exact {
            notes.push(BOUND.into());
        }
        let classes = fit.mixture.target.map_or(0, |_| fit.mixture.components());
        if classes > self.model.names().len() && 10 * classes as u64 >= 9 * fit.rows {
            notes.push(format!(
                "there are {classes} classes in {} rows: almost every row has its own label",
                fit.rows
            ));
        }
        let texts = fit.mixture.schema.fields.iter();
        let mut texts = texts.filter_map(|field| field.text.as_ref());
        if texts.any(|text| !text.limits.are_none()) {
            notes.push(LIMITED.into());
        }
        let mut details = fit.details();
        details.unlabelled = self.details.unlabelled.clone();
        let mut changed = fit.report();
        // Rows without a label that were not used before still are not.
        let before = report.log_likelihood_of;
        if before == Some(LogLikelihoodOf::Weighted) && is_exact {
            changed.log_likelihood_of = before;
        }
        let fitted = Fitted {
            model: fit.mixture,
            recipe: self.recipe.clone(),
            details,
        };
        Ok(Changed {
            result: Some((changed, fitted.into())),
            notes,
        })
    }
}

fn unchanged() -> Changed {
    Changed {
        result: None,
        notes: vec!["every row has weight 0; the model is unchanged".into()],
    }
}

/// Whether all rows have weight 0.
fn all_weights_are_zero(rows: &dyn Source) -> Result<bool> {
    for chunk in rows.scan()? {
        if chunk?.rows_with_weight().next().is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}
