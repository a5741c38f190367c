//! The recipe and the details that a model file stores with a mixture, and the capabilities of a
//! fitted mixture.

use super::initialise::outcome::Start;
use super::{
    BootstrapTest, Diagnostics, Fit, FitOptions, FittedMixture, Selection, Specification,
    Unlabelled, UnlabelledChoice, fit,
};
use crate::ask::{Explain, Joint};
use crate::data::Source;
use crate::model::report::finite;
use crate::model::{FitReport, Fitted, FittedModel, Incremental, Learned};
use crate::{Control, Error, Result};
use serde::{Deserialize, Serialize};

/// The specification of a mixture and the options of its fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// The specification of the mixture.
    pub specification: Box<Specification>,
    /// The options of the fit.
    pub options: FitOptions,
}

impl Recipe {
    /// A specification with the options of a fit.
    pub fn new(specification: Specification, options: FitOptions) -> Recipe {
        Recipe {
            specification: Box::new(specification),
            options,
        }
    }

    /// Fits a mixture to rows.
    ///
    /// # Errors
    /// As [`fit`].
    pub(crate) fn learn(&self, rows: &dyn Source, control: Control) -> Result<Learned> {
        let fit = fit(&self.specification, rows, &self.options, control)?;
        Ok(fit.learned(self.clone()))
    }
}

/// The part of a report that only mixtures have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Details {
    /// The log-likelihood plus log-prior wherever the trace has a log-likelihood, if they
    /// differ: with a prior, this never decreases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objective_trace: Vec<Option<f64>>,
    /// The weight of rows without a label, if it was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlabelled: Option<UnlabelledChoice>,
    /// The candidates among which a criterion chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// The tests by which the number of components was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<BootstrapTest>,
    /// The outcome of each start of a fit without labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<Start>,
    /// How certain the components are, and how well the fit converged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnostics: Option<Diagnostics>,
}

impl FittedModel for FittedMixture {
    const KIND: &'static str = "mixture";
    type Recipe = Recipe;
    type Details = Details;

    fn compact(&self) -> Option<Self> {
        self.compacted()
    }

    fn restore(&mut self) -> Result<()> {
        self.restore_matrices()
    }

    fn check(&self) -> Result<()> {
        FittedMixture::check(self)
    }

    fn joint(&self) -> Result<&dyn Joint> {
        Ok(self)
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }

    fn incremental(fitted: &Fitted<Self>) -> Result<&dyn Incremental> {
        match cannot_change(&fitted.model) {
            Some(error) => Err(error),
            None => Ok(fitted),
        }
    }

    fn with_drawn_parameters(
        fitted: &Fitted<Self>,
        rows: &dyn Source,
        seed: u64,
        control: Control,
    ) -> Result<Option<Self>> {
        let unlabelled = fitted.unlabelled_weight();
        let drawn = (fitted.model).with_drawn_parameters(rows, unlabelled, seed, control)?;
        Ok(Some(drawn))
    }
}

/// Why a mixture cannot change without its rows, if it cannot.
fn cannot_change(mixture: &FittedMixture) -> Option<Error> {
    if mixture.has_noise() {
        let why = "a mixture with noise cannot be updated, merged or made to forget rows: the \
                   noise covers the range of the rows";
        return Some(Error::parameter(why).with_hint("fit it again, with `start` at this model"));
    }
    let mut fields = mixture.schema.fields.iter();
    let field = fields.find(|field| field.unit != 1.0)?;
    let why = format!(
        "the numbers are in units of {:e}, and new numbers need not be",
        field.unit
    );
    let why = Error::parameter(why).at_column(&field.name);
    Some(why.with_hint("fit all rows at once"))
}

impl Fitted<FittedMixture> {
    /// The weight of rows without a label in this model.
    pub(crate) fn unlabelled_weight(&self) -> f64 {
        if self.model.target.is_none() {
            return 1.0;
        }
        let given = match self.recipe.options.unlabelled {
            Unlabelled::Weight(weight) => Some(weight),
            Unlabelled::Chosen => None,
        };
        let chosen = self.details.unlabelled.as_ref();
        given.or(chosen.map(|choice| choice.weight)).unwrap_or(0.0)
    }
}

impl Fit {
    /// The common part of the report.
    pub(crate) fn report(&self) -> FitReport {
        FitReport {
            rows: self.rows,
            weight: self.weight,
            log_likelihood: self.log_likelihood,
            log_likelihood_of: Some(self.log_likelihood_of),
            bic: self.bic,
            aic: self.aic,
            parameters: self.parameters,
            iterations: self.iterations,
            converged: self.converged,
            monotone: self.monotone,
            trace: finite(&self.trace),
            warnings: self.warnings.clone(),
        }
    }

    /// The part of the report that only mixtures have.
    pub(crate) fn details(&self) -> Details {
        let mut objective_trace = finite(&self.objectives);
        if objective_trace == finite(&self.trace) {
            objective_trace.clear();
        }
        Details {
            objective_trace,
            unlabelled: self.unlabelled.clone(),
            selection: None,
            bootstrap: None,
            starts: self.starts.clone(),
            diagnostics: Some(self.diagnostics.clone()),
        }
    }

    /// The fit as that of any model.
    pub fn learned(self, recipe: Recipe) -> Learned {
        let interrupted = self.interrupted;
        self.learned_with(recipe, interrupted, |_| ())
    }

    /// The same with more details.
    pub(crate) fn learned_with(
        self,
        recipe: Recipe,
        interrupted: bool,
        add: impl FnOnce(&mut Details),
    ) -> Learned {
        let (report, mut details) = (self.report(), self.details());
        add(&mut details);
        Learned {
            report,
            interrupted,
            restarts: self.restarts,
            bounds: self.bounds,
            model: Fitted {
                model: self.mixture,
                recipe,
                details,
            }
            .into(),
        }
    }
}
