//! Model files that take in new rows, add up and forget. What a change makes
//! untrue, such as a calibration, is dropped and told.

use super::{Body, FitRecord, Model, Recipe};
use crate::Control;
use crate::data::Source;
use crate::model::mixture::{Fit, FitOptions, LogLikelihoodOf, Mixture, Specification, Unlabelled};
use crate::{Error, Result};

/// What is said where a model has forgotten rows without knowing whether it has seen them.
pub const NO_MARKS: &str = "the model keeps no marks of its rows, so that only what its statistics \
                            rule out is known not to have been seen";

/// A model after a change, and what is to be said about it.
#[derive(Debug)]
pub struct Changed {
    /// The model.
    pub model: Model,
    /// What the user should know.
    pub notes: Vec<String>,
}

const BOUND: &str = "the model was not learned from its rows alone: what was made of hidden labels \
     or cells stays as it was, and the log-likelihood is a lower bound; fit all rows again for the \
     best model";

impl Model {
    /// Takes in new rows; `unlabelled` is how much those without a label count,
    /// as before if not given. See [`Mixture::update`].
    ///
    /// # Errors
    /// If this kind of model cannot, or the rows do not fit its columns.
    pub fn update(
        &self,
        rows: &dyn Source,
        files: Vec<String>,
        unlabelled: Option<f64>,
        control: Control,
    ) -> Result<Changed> {
        let (mixture, specification, options) = self.living()?;
        if weigh_nothing(rows)? {
            return Ok(self.unchanged());
        }
        let weight = unlabelled.unwrap_or_else(|| self.unlabelled_weight());
        let labelled = mixture.taught_by(rows, weight)?;
        let mut notes = Vec::new();
        if labelled.is_some() {
            let given = matches!(options.unlabelled, Unlabelled::Weight(_));
            notes.push(match unlabelled.is_some() || given {
                true => "rows without a label teach nothing, as their weight is 0".to_string(),
                false => "rows without a label teach nothing here: the model has not learned how \
                         much they should count; --unlabelled says it"
                    .to_string(),
            });
        }
        if let Some(labelled) = &labelled
            && weigh_nothing(labelled)?
        {
            return Ok(Changed {
                model: self.clone(),
                notes,
            });
        }
        let fit = mixture.update(rows, specification, options, weight, control)?;
        self.changed(fit, files, notes)
    }

    /// Adds up models of different rows. See [`Mixture::merge`].
    ///
    /// # Errors
    /// If they are of different kinds or were fitted differently.
    pub fn merge(models: &[Model]) -> Result<Changed> {
        let Some(first) = models.first() else {
            return Err(Error::parameter("there is no model to merge"));
        };
        let (_, specification, options) = first.living()?;
        let mut parts = Vec::with_capacity(models.len());
        for model in models {
            let (mixture, own, _) = model.living()?;
            let other = |model: &Model| model.unlabelled_weight() != first.unlabelled_weight();
            let hidden = mixture.seen.unlabelled > 0.0;
            let difference = match () {
                () if model.model != first.model => {
                    Some(format!("it is a {}, that a {}", model.model, first.model))
                }
                () if hidden && other(model) => Some("--unlabelled".to_string()),
                () => specification.difference(own).map(String::from),
            };
            if let Some(difference) = difference {
                return Err(Error::parameter(format!(
                    "a model was fitted differently from the first: {difference}"
                ))
                .with_hint("models add up that were fitted with the same options"));
            }
            parts.push(mixture);
        }
        let weight = first.unlabelled_weight();
        let fit = Mixture::merge(&parts, specification, options, weight)?;
        let others = models[1..].iter();
        let files = others.flat_map(|model| model.provenance.files.clone());
        let mut changed = first.changed(fit, files.collect(), Vec::new())?;
        let marked = |marked: bool| parts.iter().any(|part| part.marks.is_some() == marked);
        if marked(true) && marked(false) {
            changed.notes.push(
                "one of the models keeps no marks of its rows, so that all of them together have none"
                    .into(),
            );
        }
        let repeated = parts.iter().enumerate().any(|(i, part)| {
            let marks = part.marks.as_ref();
            marks.is_some() && parts[..i].iter().any(|other| other.marks.as_ref() == marks)
        });
        if repeated {
            changed
                .notes
                .push("two of the models have the same rows, which now count twice".into());
        }
        let calibrated = models[1..].iter().any(|model| model.calibration.is_some());
        if calibrated && first.calibration.is_none() {
            changed.notes.push(UNCALIBRATED.into());
        }
        Ok(changed)
    }

    /// Takes rows out that the model has seen. See [`Mixture::forget`].
    ///
    /// # Errors
    /// If this kind of model cannot, or it cannot have seen the rows.
    pub fn forget(&self, rows: &dyn Source, control: Control) -> Result<Changed> {
        let (mixture, specification, options) = self.living()?;
        if weigh_nothing(rows)? {
            return Ok(self.unchanged());
        }
        let fit = mixture.forget(rows, specification, options, control)?;
        let mut notes = Vec::new();
        if mixture.marks.is_none() {
            notes.push(NO_MARKS.to_string());
        }
        self.changed(fit, Vec::new(), notes)
    }

    /// The columns of which new rows may say what they are. See
    /// [`Mixture::unsettled`].
    pub fn unsettled(&self) -> Vec<String> {
        match &self.body {
            Body::Mixture(mixture) => mixture.unsettled(),
            Body::Density(_) | Body::KMeans(_) => Vec::new(),
        }
    }

    fn unchanged(&self) -> Changed {
        Changed {
            model: self.clone(),
            notes: vec!["every row has weight 0; nothing is changed".into()],
        }
    }

    /// Whether it can change without its rows.
    ///
    /// # Errors
    /// If it cannot, and why.
    pub fn may_change(&self) -> Result<()> {
        self.living().map(|_| ())
    }

    /// What is needed to go on learning.
    fn living(&self) -> Result<(&Mixture, &Specification, &FitOptions)> {
        match (&self.body, &self.provenance.recipe) {
            (
                Body::Mixture(mixture),
                Recipe::Mixture {
                    specification,
                    options,
                },
            ) => match refusal(mixture) {
                Some(why) => Err(why),
                None => Ok((mixture, specification, options)),
            },
            (Body::KMeans(_), _) => Err(Error::parameter(
                "clusters of k-means do not change without their data: rows would change clusters",
            )
            .with_hint("fit them again; a mixture can change")),
            _ => Err(Error::parameter(format!(
                "a {} does not change without its data",
                self.model
            ))
            .with_hint("fit it again; naive-bayes with --family COL=kde can change")),
        }
    }

    /// The mixture with its parameters drawn anew, as each copy of a multiple imputation of
    /// `rows` needs them, see [`Mixture::with_drawn_parameters`]; `None` for models of
    /// other kinds, which have no such draw.
    ///
    /// # Errors
    /// If the rows cannot be read, or no drawn table can be fitted.
    pub fn with_drawn_parameters(
        &self,
        rows: &dyn Source,
        seed: u64,
        control: Control,
    ) -> Result<Option<Mixture>> {
        let Body::Mixture(mixture) = &self.body else {
            return Ok(None);
        };
        let unlabelled = self.unlabelled_weight();
        (mixture.with_drawn_parameters(rows, unlabelled, seed, control)).map(Some)
    }

    /// How much rows without a label count in this model.
    fn unlabelled_weight(&self) -> f64 {
        let given = match &self.provenance.recipe {
            Recipe::Mixture { options, .. } => match options.unlabelled {
                Unlabelled::Weight(weight) => Some(weight),
                Unlabelled::Chosen => None,
            },
            Recipe::Density { .. } | Recipe::KMeans { .. } => None,
        };
        let chosen = self.fit.unlabelled.as_ref().map(|choice| choice.weight);
        match self.joint().target() {
            Some(_) => given.or(chosen).unwrap_or(0.0),
            None => 1.0,
        }
    }

    fn changed(&self, fit: Fit, more: Vec<String>, mut notes: Vec<String>) -> Result<Changed> {
        fit.mixture.check().map_err(|_| {
            Error::numeric("too few digits are left of what is left")
                .with_hint("fit the rows again")
        })?;
        if !fit.mixture.is_exact() {
            notes.push(BOUND.into());
        }
        let classes = fit
            .mixture
            .target
            .map_or(0, |_| fit.mixture.components() as u64);
        if classes > self.joint().names().len() as u64 && 10 * classes >= 9 * fit.rows {
            notes.push(format!(
                "there are {classes} classes in {} rows: hardly any label repeats",
                fit.rows
            ));
        }
        let texts = fit.mixture.schema.fields.iter();
        let mut texts = texts.filter_map(|field| field.text.as_ref());
        if texts.any(|text| !text.limits.are_none()) {
            notes.push(LIMITED.into());
        }
        if self.calibration.is_some() {
            notes.push(UNCALIBRATED.into());
        }
        let mut model = self.clone();
        model.calibration = None;
        for file in more {
            if !model.provenance.files.contains(&file) {
                model.provenance.files.push(file);
            }
        }
        model.fit = FitRecord {
            unlabelled: model.fit.unlabelled.take(),
            ..FitRecord::of(&fit)
        };
        // Rows without a label that were left out before still are.
        let was = self.fit.log_likelihood_of;
        if was == Some(LogLikelihoodOf::Weighted) && fit.mixture.is_exact() {
            model.fit.log_likelihood_of = was;
        }
        model.body = Body::Mixture(fit.mixture);
        Ok(Changed { model, notes })
    }
}

/// Whether no row has a weight.
fn weigh_nothing(rows: &dyn Source) -> Result<bool> {
    for chunk in rows.scan()? {
        if chunk?.weighing_rows().next().is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

const LIMITED: &str = "the terms were limited when the model was fitted: which are kept is not \
     decided anew, and new ones are left out";

const UNCALIBRATED: &str =
    "the calibration was learned with other rows and is dropped; fit again with --calibrate";

/// Why a mixture cannot change without its rows, if it cannot.
fn refusal(mixture: &Mixture) -> Option<Error> {
    if mixture.has_noise() {
        let why = "a mixture with noise does not change without its data: noise is everywhere that rows are";
        return Some(Error::parameter(why).with_hint("fit it again, with --start from this model"));
    }
    let mut fields = mixture.schema.fields.iter();
    let field = fields.find(|field| field.unit != 1.0)?;
    let why = format!(
        "the numbers are in units of {:e}, in which others need not be",
        field.unit
    );
    let why = Error::parameter(why).at_column(&field.name);
    Some(why.with_hint("fit all rows at once"))
}
