//! What a fitted model of any kind provides, and a fitted model whose kind is known at run time
//! only.

use crate::ask::{Explain, Joint, Predict};
use crate::data::Source;
use crate::model::FitReport;
use crate::{Control, Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::Any;
use std::fmt::Debug;
use std::ops::{Deref, DerefMut};

/// A kind of fitted model. It is implemented in the folder of the model.
pub trait FittedModel: Clone + Debug + Predict + Serialize + DeserializeOwned + 'static {
    /// The name of this kind in model files.
    const KIND: &'static str;
    /// The specification and the options of the fit, which the file keeps.
    type Recipe: Part;
    /// The part of the fit's report that only this kind has.
    type Details: Part;

    /// The compact form in which the model is stored in a file; `None` if it is stored as it is.
    /// Files with a compact form have version 2 of the format.
    fn compact(&self) -> Option<Self> {
        None
    }

    /// Restores a model that was read from a file from its compact form.
    ///
    /// # Errors
    /// If the compact form contradicts itself.
    fn restore(&mut self) -> Result<()> {
        Ok(())
    }

    /// Checks a model that was read from a file: all later code may rely on it.
    ///
    /// # Errors
    /// If the parts of the model contradict each other.
    fn check(&self) -> Result<()>;

    /// The model as a joint distribution.
    ///
    /// # Errors
    /// If it is not one.
    fn joint(&self) -> Result<&dyn Joint>;

    /// The model as one that explains its predictions.
    fn explain(&self) -> Option<&dyn Explain> {
        None
    }

    /// The model as one that can change without its rows.
    ///
    /// # Errors
    /// If it cannot, and why.
    fn incremental(_fitted: &Fitted<Self>) -> Result<&dyn Incremental> {
        Err(Error::parameter(
            "this kind of model cannot be updated, merged or made to forget rows",
        ))
    }

    /// The model with its parameters drawn from their distribution given `rows`, as each copy
    /// of a multiple imputation needs them; `None` if the model has no such distribution.
    ///
    /// # Errors
    /// If the rows cannot be read, or no drawn table can be fitted.
    fn with_drawn_parameters(
        _fitted: &Fitted<Self>,
        _rows: &dyn Source,
        _seed: u64,
        _control: Control,
    ) -> Result<Option<Self>> {
        Ok(None)
    }
}

/// A part of a model file.
pub trait Part:
    Clone + Debug + PartialEq + Send + Sync + Serialize + DeserializeOwned + 'static
{
}

impl<T> Part for T where
    T: Clone + Debug + PartialEq + Send + Sync + Serialize + DeserializeOwned + 'static
{
}

/// A fitted model with its recipe and the details of its fit.
#[derive(Clone, Debug)]
pub struct Fitted<M: FittedModel> {
    /// The model.
    pub model: M,
    /// The specification and the options of the fit.
    pub recipe: M::Recipe,
    /// The part of the report that only this kind of model has.
    pub details: M::Details,
}

impl<M: FittedModel> Deref for Fitted<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.model
    }
}

impl<M: FittedModel> DerefMut for Fitted<M> {
    fn deref_mut(&mut self) -> &mut M {
        &mut self.model
    }
}

/// A model that can change without the rows that it was fitted to.
pub trait Incremental {
    /// Adds new rows; `unlabelled` is the weight of rows without a label, by default that of
    /// the fit. `None` if the rows change nothing, with the reason among the notes.
    ///
    /// # Errors
    /// If the rows do not fit the model's columns.
    fn update(
        &self,
        report: &FitReport,
        rows: &dyn Source,
        unlabelled: Option<f64>,
        control: Control,
    ) -> Result<Changed>;

    /// Adds models that were fitted to other rows.
    ///
    /// # Errors
    /// If they are of another kind or were fitted differently.
    fn merge(&self, report: &FitReport, others: &[&AnyModel]) -> Result<Changed>;

    /// Removes rows.
    ///
    /// # Errors
    /// If the model cannot have been fitted to them.
    fn forget(&self, report: &FitReport, rows: &dyn Source, control: Control) -> Result<Changed>;

    /// The columns whose kinds new rows may still settle.
    fn unsettled(&self) -> Vec<String>;
}

/// A model after a change.
#[derive(Debug)]
pub struct Changed {
    /// The report and the model; `None` if nothing changed.
    pub result: Option<(FitReport, AnyModel)>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// A fitted model of any kind in the [list](super::MODELS).
#[derive(Debug)]
pub struct AnyModel(Box<dyn Erased>);

impl AnyModel {
    /// The model of this type, if it is one.
    pub fn get<M: FittedModel>(&self) -> Option<&Fitted<M>> {
        self.0.any().downcast_ref()
    }

    /// The model of this type, if it is one.
    pub fn get_mut<M: FittedModel>(&mut self) -> Option<&mut Fitted<M>> {
        self.0.any_mut().downcast_mut()
    }

    /// The name of its kind in model files.
    pub fn kind(&self) -> &'static str {
        self.0.kind()
    }

    /// The model as one that predicts.
    pub fn predictor(&self) -> &dyn Predict {
        self.0.predictor()
    }

    /// The model as a joint distribution.
    ///
    /// # Errors
    /// If it is not one.
    pub fn joint(&self) -> Result<&dyn Joint> {
        self.0.joint()
    }

    /// The model as one that explains its predictions.
    pub fn explain(&self) -> Option<&dyn Explain> {
        self.0.explain()
    }

    /// The model as one that can change without its rows.
    ///
    /// # Errors
    /// If it cannot, and why.
    pub fn incremental(&self) -> Result<&dyn Incremental> {
        self.0.incremental()
    }

    /// The model with drawn parameters; see [`FittedModel::with_drawn_parameters`].
    ///
    /// # Errors
    /// As there.
    pub fn with_drawn_parameters(
        &self,
        rows: &dyn Source,
        seed: u64,
        control: Control,
    ) -> Result<Option<AnyModel>> {
        self.0.with_drawn_parameters(rows, seed, control)
    }

    /// The compact form of the model for a file, if it has one.
    pub(crate) fn compact(&self) -> Option<Box<dyn erased_serde::Serialize>> {
        self.0.compact()
    }

    /// Restores a model that was read from a file from its compact form.
    pub(crate) fn restore(&mut self) -> Result<()> {
        self.0.restore()
    }

    /// Checks a model that was read from a file.
    pub(crate) fn check(&self) -> Result<()> {
        self.0.check()
    }

    /// The model for a file.
    pub(crate) fn model(&self) -> &dyn erased_serde::Serialize {
        self.0.model()
    }

    /// The recipe for a file.
    pub(crate) fn recipe(&self) -> &dyn erased_serde::Serialize {
        self.0.recipe()
    }

    /// The details of the fit for a file.
    pub(crate) fn details(&self) -> &dyn erased_serde::Serialize {
        self.0.details()
    }
}

impl<M: FittedModel> From<Fitted<M>> for AnyModel {
    fn from(fitted: Fitted<M>) -> AnyModel {
        AnyModel(Box::new(fitted))
    }
}

impl Clone for AnyModel {
    fn clone(&self) -> AnyModel {
        self.0.copy()
    }
}

/// [`Fitted`] without its type.
trait Erased: Debug + Send + Sync {
    fn any(&self) -> &dyn Any;
    fn any_mut(&mut self) -> &mut dyn Any;
    fn copy(&self) -> AnyModel;
    fn kind(&self) -> &'static str;
    fn compact(&self) -> Option<Box<dyn erased_serde::Serialize>>;
    fn restore(&mut self) -> Result<()>;
    fn check(&self) -> Result<()>;
    fn predictor(&self) -> &dyn Predict;
    fn joint(&self) -> Result<&dyn Joint>;
    fn explain(&self) -> Option<&dyn Explain>;
    fn incremental(&self) -> Result<&dyn Incremental>;
    fn with_drawn_parameters(
        &self,
        rows: &dyn Source,
        seed: u64,
        control: Control,
    ) -> Result<Option<AnyModel>>;
    fn model(&self) -> &dyn erased_serde::Serialize;
    fn recipe(&self) -> &dyn erased_serde::Serialize;
    fn details(&self) -> &dyn erased_serde::Serialize;
}

impl<M: FittedModel> Erased for Fitted<M> {
    fn any(&self) -> &dyn Any {
        self
    }

    fn any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn copy(&self) -> AnyModel {
        self.clone().into()
    }

    fn kind(&self) -> &'static str {
        M::KIND
    }

    fn compact(&self) -> Option<Box<dyn erased_serde::Serialize>> {
        let compact = self.model.compact();
        compact.map(|model| Box::new(model) as Box<dyn erased_serde::Serialize>)
    }

    fn restore(&mut self) -> Result<()> {
        self.model.restore()
    }

    fn check(&self) -> Result<()> {
        self.model.check()
    }

    fn predictor(&self) -> &dyn Predict {
        &self.model
    }

    fn joint(&self) -> Result<&dyn Joint> {
        self.model.joint()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        self.model.explain()
    }

    fn incremental(&self) -> Result<&dyn Incremental> {
        M::incremental(self)
    }

    fn with_drawn_parameters(
        &self,
        rows: &dyn Source,
        seed: u64,
        control: Control,
    ) -> Result<Option<AnyModel>> {
        let drawn = M::with_drawn_parameters(self, rows, seed, control)?;
        let with = |model: M| Fitted {
            model,
            recipe: self.recipe.clone(),
            details: self.details.clone(),
        };
        Ok(drawn.map(|model| with(model).into()))
    }

    fn model(&self) -> &dyn erased_serde::Serialize {
        &self.model
    }

    fn recipe(&self) -> &dyn erased_serde::Serialize {
        &self.recipe
    }

    fn details(&self) -> &dyn erased_serde::Serialize {
        &self.details
    }
}
