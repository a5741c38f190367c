//! Selection of the number of components and the covariance structure: every pair of a grid is
//! fitted, and the one with the best criterion is kept,
//!
//!   BIC = −2 ln L + ν ln n,  AIC = −2 ln L + 2ν,  ICL = BIC − 2 Σ_i ln max_j p(j | x_i)
//!
//! (Schwarz 1978; Akaike 1974; Biernacki, Celeux & Govaert 2000), or −2 times the log-likelihood
//! of held-out rows. Smaller values are better. A fit with components collapsed onto a few rows
//! is reported but not chosen.

pub(crate) mod bootstrap;
mod cells;
pub(crate) mod distinct;
mod exchange;
pub(crate) mod pattern;

use crate::Control;
use crate::ask::{Joint, Predict};
use crate::data::Folds;
use crate::data::{Source, fold};
use crate::model::mixture::fit::interrupted;
use crate::model::mixture::report::diagnose::Spurious;
use crate::model::mixture::select::cells::{Cell, Cells};
use crate::model::mixture::select::distinct::{Distinct, Pair, SameCovariances};
use crate::model::mixture::{
    CovarianceKind, Fit, FitOptions, FittedMixture, Reals, Specification, fit,
};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The maximum number of rows for which pairs are fitted in parallel: a fit of so few rows cannot
/// use all threads.
const MAX_PARALLEL_ROWS: u64 = 16_384;

/// The criterion by which fits are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Criterion {
    /// The Bayesian information criterion.
    #[default]
    Bic,
    /// Akaike's information criterion.
    Aic,
    /// The integrated complete-data likelihood, which prefers well separated clusters.
    Icl,
    /// −2 times the log-likelihood of held-out rows, by cross-validation.
    Cv,
}

impl FromStr for Criterion {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "bic" => Ok(Criterion::Bic),
            "aic" => Ok(Criterion::Aic),
            "icl" => Ok(Criterion::Icl),
            "cv" => Ok(Criterion::Cv),
            _ => Err(Error::parameter(format!("\"{name}\" is not a criterion"))
                .with_hint("the criteria are bic, aic, icl and cv")),
        }
    }
}

/// The numbers of components and covariance structures to try.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grid {
    /// The numbers of components.
    pub components: Vec<usize>,
    /// The covariance structures.
    pub covariances: Vec<CovarianceKind>,
    /// The criterion by which the best fit is chosen.
    pub criterion: Criterion,
    /// The number of folds for [`Criterion::Cv`].
    pub folds: usize,
}

/// One fit of a grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The covariance structure.
    pub covariance: CovarianceKind,
    /// The requested number of components.
    pub components: usize,
    /// The number of components of the fit, without empty ones, which are dropped.
    pub left: usize,
    /// The log-likelihood of the rows.
    pub log_likelihood: Option<f64>,
    /// The number of free parameters.
    pub parameters: usize,
    /// See [`Criterion::Bic`].
    pub bic: Option<f64>,
    /// See [`Criterion::Aic`].
    pub aic: Option<f64>,
    /// See [`Criterion::Icl`].
    pub icl: Option<f64>,
    /// See [`Criterion::Cv`]; only computed if it is the criterion of the grid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cv: Option<f64>,
    /// Whether the fit converged.
    pub converged: bool,
    /// Whether EM was stopped before it converged, because the fit was no longer expected to become
    /// the best. The criteria are those of the parameters at that point; further iterations would
    /// make them smaller.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped_early: bool,
    /// Why the fit is spurious, if it is: a component has collapsed onto a few rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spurious: Option<String>,
}

impl Candidate {
    /// The value of a criterion.
    pub fn value(&self, criterion: Criterion) -> Option<f64> {
        match criterion {
            Criterion::Bic => self.bic,
            Criterion::Aic => self.aic,
            Criterion::Icl => self.icl,
            Criterion::Cv => self.cv,
        }
    }

    /// Whether the fit may be chosen: it is not spurious, and no component was dropped.
    pub fn is_eligible(&self) -> bool {
        self.spurious.is_none() && self.left == self.components
    }
}

/// The fits of a grid, and which one was chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Selection {
    /// The criterion of the choice.
    pub criterion: Criterion,
    /// The candidates, in the order of the grid. Pairs that are the same model, for example all
    /// covariances of a single column with one component, share a fit.
    pub tried: Vec<Candidate>,
    /// The position of the chosen candidate.
    pub chosen: usize,
    /// Covariance structures that are the same model for every number of components.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same: Vec<SameCovariances>,
}

impl Selection {
    /// Whether the largest of several numbers of components was chosen, so that a larger one may
    /// be better.
    pub fn chose_most_components(&self) -> bool {
        let numbers = self.tried.iter().map(|candidate| candidate.components);
        let chosen = self.tried.get(self.chosen);
        let chosen = chosen.map(|candidate| candidate.components);
        let (least, most) = (numbers.clone().min(), numbers.max());
        chosen == most && least < most
    }
}

/// Fits every pair of a grid and returns the best fit.
///
/// ```
/// use abduce::data::{Column, Field, Kind, Schema, Table};
/// use abduce::Control;
/// use abduce::model::mixture::{
///     Criterion, CovarianceKind, FitOptions, Grid, Specification, select,
/// };
/// let x = (0..60).map(|i| Some(f64::from(i % 3) * 10.0 + f64::from(i) * 0.01));
/// let schema = Schema::new(vec![Field::new("x", Kind::Real)]);
/// let table = Table::new(schema, vec![Column::from_numbers(x)], None)?;
/// let grid = Grid {
///     components: vec![1, 2, 3, 4],
///     covariances: vec![CovarianceKind::Eii, CovarianceKind::Spherical],
///     criterion: Criterion::Bic,
///     folds: 5,
/// };
/// let specification = Specification::mixture(1, CovarianceKind::Full);
/// let (fit, selection) =
///     select(&specification, &grid, &table, &FitOptions::default(), Control::default())?;
/// assert_eq!(fit.mixture.components(), 3);
/// assert_eq!(selection.tried.len(), 8);
/// # Ok::<(), abduce::Error>(())
/// ```
///
/// # Errors
/// If no pair can be fitted.
pub fn select(
    specification: &Specification,
    grid: &Grid,
    source: &dyn Source,
    options: &FitOptions,
    control: Control,
) -> Result<(Fit, Selection)> {
    options.refuse_start_by()?;
    let distinct = Distinct::of(specification, grid, source.schema())?;
    let cells = Cells {
        specification,
        grid,
        source,
        options,
        control,
    };
    let (mut fits, failure) = fit_pairs(&cells, &distinct.fitted);
    let requested = distinct.pairs.len();
    // The candidates, and the position of the fit of each.
    let (mut tried, mut positions) = (Vec::new(), Vec::new());
    for ((covariance, _), position) in distinct.pairs {
        if let Some((_, candidate)) = &fits[position] {
            tried.push(Candidate {
                covariance,
                ..candidate.clone()
            });
            positions.push(position);
        }
    }
    let Some(chosen) = best_candidate(&tried, grid.criterion) else {
        return Err(failure.unwrap_or_else(interrupted));
    };
    let (mut fit, _) = fits[positions[chosen]].take().ok_or_else(interrupted)?;
    let value = |candidate: &Candidate| candidate.value(grid.criterion);
    let better = tried.iter().filter(|candidate| {
        let values = (value(candidate), value(&tried[chosen]));
        !candidate.is_eligible() && matches!(values, (Some(a), Some(b)) if a < b)
    });
    let better = better.count();
    if better > 0 {
        fit.warnings.push(format!(
            "{better} fits of the grid have a better criterion by components on a few rows, and were not chosen"
        ));
    }
    if control.is_interrupted() {
        fit.warnings.push(format!(
            "the selection was interrupted: the best of {} of {requested} fits of the grid",
            tried.len()
        ));
    }
    if let Some(error) = failure {
        fit.warnings
            .push(format!("some of the grid could not be fitted: {error}"));
    }
    Ok((
        fit,
        Selection {
            criterion: grid.criterion,
            tried,
            chosen,
            same: distinct.same,
        },
    ))
}

/// Fits pairs of a grid, and returns the last error besides. A fit is `None` if it failed or the
/// caller stopped it.
fn fit_pairs(cells: &Cells, pairs: &[Pair]) -> (Vec<Option<(Fit, Candidate)>>, Option<Error>) {
    let outcomes = cells.fit(pairs);
    let criteria = cells.map(&outcomes, |outcome| {
        let cell = outcome.as_ref().and_then(|result| result.as_ref().ok());
        cell.map(|cell| candidate(cells, cell))
    });
    let mut failure = None;
    let pairs = outcomes.into_iter().zip(criteria);
    let fits = pairs.map(|(outcome, candidate)| {
        let found = outcome?.and_then(|cell| Ok((cell.fit, candidate.ok_or_else(interrupted)??)));
        match found {
            Ok(fit) => Some(fit),
            Err(error) => {
                failure = Some(error);
                None
            }
        }
    });
    (fits.collect(), failure)
}

/// The position of the candidate with the smallest criterion, among eligible ones if there are
/// any.
fn best_candidate(tried: &[Candidate], criterion: Criterion) -> Option<usize> {
    let best = |only_eligible: bool| {
        let candidates = tried.iter().enumerate();
        candidates
            .filter(|(_, candidate)| candidate.is_eligible() || !only_eligible)
            .filter_map(|(i, candidate)| Some((i, candidate.value(criterion)?)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(i, _)| i)
    };
    best(true).or_else(|| best(false))
}

impl Specification {
    /// The same specification with another covariance structure and number of components.
    pub fn with_pair(&self, covariance: CovarianceKind, components: usize) -> Specification {
        let reals = match self.reals {
            Reals::Together { counts, .. } => Reals::Together { covariance, counts },
            Reals::Alone => Reals::Alone,
        };
        Specification {
            components: Some(components),
            reals,
            ..self.clone()
        }
    }
}

/// The criteria of a fit of a grid.
fn candidate(cells: &Cells, cell: &Cell) -> Result<Candidate> {
    let (fit, (covariance, components)) = (&cell.fit, cell.pair);
    let finite = |x: f64| x.is_finite().then_some(x);
    let cv = match cells.grid.criterion {
        Criterion::Cv => Some(-2.0 * cross_validated_log_likelihood(cells, cell.pair)?),
        _ => None,
    };
    Ok(Candidate {
        covariance,
        components,
        left: fit.mixture.components() - usize::from(fit.mixture.has_noise()),
        log_likelihood: finite(fit.log_likelihood),
        parameters: fit.parameters,
        bic: finite(fit.bic),
        aic: finite(fit.aic),
        icl: finite(fit.bic - 2.0 * log_certainty(&fit.mixture, cells.source)?),
        cv: cv.and_then(finite),
        converged: fit.converged && !cell.is_coarse,
        stopped_early: cell.is_coarse,
        spurious: Spurious::of(&fit.mixture).map(|spurious| spurious.to_string()),
    })
}

/// Σ_i w_i ln max_j p(j | x_i): 0 if the component of every row is certain.
fn log_certainty(mixture: &FittedMixture, source: &dyn Source) -> Result<f64> {
    let classifier = mixture.classifier()?;
    let total = fold(
        source,
        1,
        |sum, _, chunk| {
            let posterior = classifier(chunk)?;
            let terms = (0..chunk.rows()).map(|row| {
                let weight = chunk.weights().map_or(1.0, |weights| weights[row]);
                let largest = posterior.row(row).iter().copied().fold(0.0, f64::max);
                if weight > 0.0 {
                    weight * largest.ln()
                } else {
                    0.0
                }
            });
            *sum.get_or_insert(0.0) += terms.sum::<f64>();
            Ok(())
        },
        |total: &mut f64, more| *total += more,
    )?;
    Ok(total.unwrap_or(0.0))
}

/// The log-likelihood of all rows, each under the fit to the other folds.
fn cross_validated_log_likelihood(cells: &Cells, (covariance, components): Pair) -> Result<f64> {
    let (source, options) = (cells.source, cells.options);
    let control = Control {
        progress: None,
        ..cells.control
    };
    let specification = cells.specification.with_pair(covariance, components);
    let folds = Folds::stratified(source, None, cells.grid.folds, options.seed)?;
    let numbers: Vec<usize> = (0..folds.number()).collect();
    let parts = cells.map(&numbers, |number| {
        let training = folds.training(source, *number)?;
        let held_out = folds.held_out(source, *number)?;
        let model = fit(&specification, &*training, options, control)?.mixture;
        log_likelihood_of(&model, &*held_out)
    });
    let parts: Vec<f64> = parts.into_iter().collect::<Result<_>>()?;
    Ok(parts.iter().sum())
}

/// The log-likelihood of rows under a mixture.
fn log_likelihood_of(mixture: &FittedMixture, source: &dyn Source) -> Result<f64> {
    let sum = fold(
        source,
        1,
        |sum, _, chunk| {
            let densities = mixture.log_density(chunk)?;
            let terms = densities.iter().enumerate().map(|(row, log)| {
                let weight = chunk.weights().map_or(1.0, |weights| weights[row]);
                if weight > 0.0 { weight * log } else { 0.0 }
            });
            *sum.get_or_insert(0.0) += terms.sum::<f64>();
            Ok(())
        },
        |total: &mut f64, more| *total += more,
    )?;
    Ok(sum.unwrap_or(0.0))
}
