//! The model file: versioned, readable JSON that holds the schema, the
//! parameters, the sufficient statistics and where it all came from. A file is
//! written to a temporary name beside its own and renamed, so that nothing is
//! ever half there; a file of an older version stays readable.

mod check;
mod early;
mod kinds;
mod living;
mod lock;
mod replacement;

pub use kinds::read_kinds;
pub use living::{Changed, NO_MARKS};
pub use lock::FileLock;
pub use replacement::Replacement;

use crate::ask::{Classifier, Decider, Joint, Posterior, decider_by};
use crate::data::{Chunk, not_opened};
use crate::eval::Calibration;
use crate::model::density::{self, DensityModel};
use crate::model::kmeans::{self, KMeans};
use crate::model::mixture::{
    BootstrapTest, Diagnostics, Fit, FitOptions, LogLikelihoodOf, Mixture, Selection,
    Specification, Start, UnlabelledChoice,
};
use crate::validate::{number_or_infinity, number_or_minus_infinity};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::Path;

/// The version that this program writes; it reads this and all before.
pub const VERSION: u32 = 1;

const FORMAT: &str = "abduce model";

/// A fitted model as it lies in a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Model {
    format: String,
    version: u32,
    /// What it was fitted as: `naive-bayes`, `gda`, `mixture`, `kde`, `kmeans`.
    pub model: String,
    /// How the fit went.
    pub fit: FitRecord,
    /// Where it came from.
    pub provenance: Provenance,
    /// What another face of the program wants to know of it again: the class and the
    /// parameters of a Python estimator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimator: Option<serde_json::Value>,
    /// What corrects the probabilities of its classes, if anything does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// The model itself.
    pub body: Body,
}

/// The model itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Body {
    /// A mixture of products of families.
    Mixture(Mixture),
    /// Densities without a family.
    Density(DensityModel),
    /// Clusters about centres.
    KMeans(KMeans),
}

/// How a fit went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitRecord {
    /// The number of rows.
    pub rows: u64,
    /// Their total weight.
    pub weight: f64,
    /// The log-likelihood of the rows, or what stands in its place.
    #[serde(deserialize_with = "number_or_minus_infinity")]
    pub log_likelihood: f64,
    /// What that is; the information criteria are of the same. Files of early versions do
    /// not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_likelihood_of: Option<LogLikelihoodOf>,
    /// The Bayesian information criterion; less is better. Not finite where a
    /// model has none.
    #[serde(deserialize_with = "number_or_infinity")]
    pub bic: f64,
    /// Akaike's information criterion; less is better.
    #[serde(deserialize_with = "number_or_infinity")]
    pub aic: f64,
    /// The number of free parameters.
    pub parameters: usize,
    /// How many times the parameters were maximised.
    pub iterations: usize,
    /// Whether the fit converged.
    pub converged: bool,
    /// Whether the objective never fell.
    pub monotone: bool,
    /// Log-likelihoods before each iteration and at the end; of k-means, inertias.
    pub trace: Vec<Option<f64>>,
    /// The log-likelihood plus log-prior wherever the trace has a log-likelihood, if
    /// they differ: with a prior it is this that never falls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objective_trace: Vec<Option<f64>>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// How much rows without a label count, where that was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlabelled: Option<UnlabelledChoice>,
    /// What it was chosen from, where there were several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// The tests by which the number of components was chosen, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<BootstrapTest>,
    /// What became of each start, of a mixture without labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<Start>,
    /// What became of each start of k-means.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kmeans_starts: Vec<kmeans::Start>,
    /// How a mixture stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnostics: Option<Diagnostics>,
    /// The sum of distances to the centres, of k-means; the trace is then of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inertia: Option<f64>,
}

impl FitRecord {
    fn of(fit: &Fit) -> FitRecord {
        let finite = |l: &f64| l.is_finite().then_some(*l);
        let mut objective_trace: Vec<_> = fit.objectives.iter().map(finite).collect();
        let trace: Vec<_> = fit.trace.iter().map(finite).collect();
        if objective_trace == trace {
            objective_trace.clear();
        }
        FitRecord {
            rows: fit.rows,
            weight: fit.weight,
            log_likelihood: fit.log_likelihood,
            log_likelihood_of: Some(fit.log_likelihood_of),
            bic: fit.bic,
            aic: fit.aic,
            parameters: fit.parameters,
            iterations: fit.iterations,
            converged: fit.converged,
            monotone: fit.monotone,
            trace,
            objective_trace,
            warnings: fit.warnings.clone(),
            unlabelled: fit.unlabelled.clone(),
            selection: None,
            bootstrap: None,
            starts: fit.starts.clone(),
            kmeans_starts: Vec::new(),
            diagnostics: Some(fit.diagnostics.clone()),
            inertia: None,
        }
    }
}

/// Where a model came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The version of abduce that fitted it.
    pub abduce: String,
    /// The files it was fitted on.
    pub files: Vec<String>,
    /// The model file whose parameters the fit began with, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// What was fitted, and how.
    #[serde(flatten)]
    pub recipe: Recipe,
}

/// What was fitted, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Recipe {
    /// A mixture.
    Mixture {
        /// What was fitted.
        specification: Box<Specification>,
        /// How it was fitted.
        options: FitOptions,
    },
    /// Densities without a family.
    Density {
        /// What was fitted.
        density: density::Specification,
    },
    /// Clusters about centres.
    KMeans {
        /// What was fitted.
        kmeans: kmeans::Specification,
        /// How it was fitted.
        kmeans_options: kmeans::Options,
    },
}

impl Model {
    /// The file of a fit.
    pub fn new(
        model: impl Into<String>,
        fit: Fit,
        specification: Specification,
        options: FitOptions,
        files: Vec<String>,
    ) -> Model {
        Model {
            format: FORMAT.into(),
            version: VERSION,
            model: model.into(),
            fit: FitRecord::of(&fit),
            provenance: Provenance {
                abduce: env!("CARGO_PKG_VERSION").into(),
                files,
                start: None,
                recipe: Recipe::Mixture {
                    specification: Box::new(specification),
                    options,
                },
            },
            estimator: None,
            calibration: None,
            body: Body::Mixture(fit.mixture),
        }
    }

    /// The file of fitted densities.
    pub fn of_density(
        fit: density::Fit,
        specification: density::Specification,
        files: Vec<String>,
    ) -> Model {
        // Information criteria are about likelihoods at their maximum.
        let penalised = |penalty: f64| match specification.estimator {
            density::Estimator::Histogram { .. } => {
                penalty * fit.parameters as f64 - 2.0 * fit.log_likelihood
            }
            _ => f64::INFINITY,
        };
        Model {
            format: FORMAT.into(),
            version: VERSION,
            model: specification.estimator.name().into(),
            fit: FitRecord {
                rows: fit.rows,
                weight: fit.weight,
                log_likelihood: fit.log_likelihood,
                log_likelihood_of: Some(LogLikelihoodOf::Rows),
                bic: penalised(fit.weight.ln()),
                aic: penalised(2.0),
                parameters: fit.parameters,
                iterations: 1,
                converged: true,
                monotone: true,
                trace: vec![fit.log_likelihood.is_finite().then_some(fit.log_likelihood)],
                objective_trace: Vec::new(),
                warnings: fit.warnings,
                unlabelled: None,
                selection: None,
                bootstrap: None,
                starts: Vec::new(),
                kmeans_starts: Vec::new(),
                diagnostics: None,
                inertia: None,
            },
            provenance: Provenance {
                abduce: env!("CARGO_PKG_VERSION").into(),
                files,
                start: None,
                recipe: Recipe::Density {
                    density: specification,
                },
            },
            estimator: None,
            calibration: None,
            body: Body::Density(fit.model),
        }
    }

    /// The file of fitted clusters. `log_likelihood` is that of the rows under the
    /// Gaussians that the clusters are, if they are any.
    pub fn of_kmeans(
        fit: kmeans::Fit,
        log_likelihood: Option<f64>,
        specification: kmeans::Specification,
        options: kmeans::Options,
        files: Vec<String>,
    ) -> Model {
        let parameters = fit.model.free_parameters();
        let penalised = |penalty: f64| match log_likelihood {
            Some(log_likelihood) => penalty * parameters as f64 - 2.0 * log_likelihood,
            None => f64::INFINITY,
        };
        let finite = |inertia: &f64| inertia.is_finite().then_some(*inertia);
        Model {
            format: FORMAT.into(),
            version: VERSION,
            model: "kmeans".into(),
            fit: FitRecord {
                rows: fit.rows,
                weight: fit.weight,
                log_likelihood: log_likelihood.unwrap_or(f64::NEG_INFINITY),
                log_likelihood_of: Some(LogLikelihoodOf::Rows),
                bic: penalised(fit.weight.ln()),
                aic: penalised(2.0),
                parameters,
                iterations: fit.iterations,
                converged: fit.converged,
                monotone: fit.monotone,
                trace: fit.trace.iter().map(finite).collect(),
                objective_trace: Vec::new(),
                warnings: fit.warnings,
                unlabelled: None,
                selection: None,
                bootstrap: None,
                starts: Vec::new(),
                kmeans_starts: fit.starts,
                diagnostics: None,
                inertia: finite(&fit.inertia),
            },
            provenance: Provenance {
                abduce: env!("CARGO_PKG_VERSION").into(),
                files,
                start: None,
                recipe: Recipe::KMeans {
                    kmeans: specification,
                    kmeans_options: options,
                },
            },
            estimator: None,
            calibration: None,
            body: Body::KMeans(fit.model),
        }
    }

    /// The model as something one can ask.
    pub fn joint(&self) -> &dyn Joint {
        match &self.body {
            Body::Mixture(mixture) => mixture,
            Body::Density(densities) => densities,
            Body::KMeans(clusters) => clusters,
        }
    }

    /// The same, kept.
    pub fn into_joint(self) -> Box<dyn Joint> {
        match self.body {
            Body::Mixture(mixture) => Box::new(mixture),
            Body::Density(densities) => Box::new(densities),
            Body::KMeans(clusters) => Box::new(clusters),
        }
    }

    /// The probabilities of classes or clusters of each row, calibrated where the
    /// model is.
    ///
    /// # Errors
    /// If the arithmetic fails.
    pub fn posterior(&self, chunk: &Chunk) -> Result<Posterior> {
        (self.classifier()?)(chunk)
    }

    /// What [`posterior`](Model::posterior) says, made ready once for many
    /// chunks.
    ///
    /// # Errors
    /// If the arithmetic fails.
    pub fn classifier(&self) -> Result<Classifier<'_>> {
        let classifier = self.joint().classifier()?;
        Ok(match &self.calibration {
            Some(calibration) => Box::new(move |chunk| Ok(calibration.apply(&classifier(chunk)?))),
            None => classifier,
        })
    }

    /// The most probable class or cluster of each row, by the
    /// [`posterior`](Model::posterior); made ready once for many chunks.
    ///
    /// # Errors
    /// If the arithmetic fails.
    pub fn decider(&self) -> Result<Decider<'_>> {
        match &self.calibration {
            Some(_) => Ok(decider_by(self.classifier()?)),
            None => self.joint().decider(),
        }
    }

    /// The text of the file, which is known to be readable.
    ///
    /// # Errors
    /// If it would not be: where a number must be, there is none.
    pub fn to_json(&self) -> Result<String> {
        let wrong = |why: &dyn std::fmt::Display| {
            Error::numeric(format!("the model cannot be written: {why}"))
                .with_hint("the numbers or options are too large or too small for double precision")
        };
        let text = serde_json::to_string_pretty(self).map_err(|error| wrong(&error))?;
        Model::from_json(&text).map_err(|error| wrong(&error))?;
        Ok(text)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// If it is not a model, is of a later version, or contradicts itself.
    pub fn from_json(text: &str) -> Result<Model> {
        let not_a_model = || {
            Error::data("this is not an abduce model")
                .with_hint("a model is written by abduce fit … -o FILE")
        };
        #[derive(Deserialize)]
        struct Head {
            format: String,
            version: u32,
        }
        let head: Head = serde_json::from_str(text).map_err(|error| {
            let text = text.trim();
            if text.starts_with('{') && !text.ends_with('}') {
                Error::data("the model file is cut short").at_line(error.line() as u64)
            } else {
                not_a_model()
            }
        })?;
        if head.format != FORMAT {
            return Err(not_a_model());
        }
        if head.version == 0 {
            return Err(
                Error::data("the model file is damaged: version: 0 is not a version")
                    .with_hint("versions of model files are counted from 1"),
            );
        }
        if head.version > VERSION {
            return Err(Error::data(format!(
                "the model is of version {}, and this program reads up to {VERSION}",
                head.version
            ))
            .with_hint("use a later abduce"));
        }
        let mut model: Model = serde_json::from_str(text).map_err(|error| {
            Error::data(format!("the model file is damaged: {error}")).at_line(error.line() as u64)
        })?;
        model.check()?;
        model.without_constants();
        Ok(model)
    }

    /// Writes the file, all of it or nothing.
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

    /// Reads a file.
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
