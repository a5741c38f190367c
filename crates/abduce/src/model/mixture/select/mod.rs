//! How many components, and of which covariance: every pair of a grid is fitted, and the
//! one with the best criterion is kept,
//!
//!   BIC = −2 ln L + ν ln n,  AIC = −2 ln L + 2ν,  ICL = BIC − 2 Σ_i ln max_j p(j | x_i)
//!
//! (Schwarz 1978; Akaike 1974; Biernacki, Celeux & Govaert 2000), or −2 times the
//! log-likelihood of rows held out. Less is better in each. A fit that owes its likelihood to
//! components collapsed onto a few rows is told, and not chosen.

pub(crate) mod bootstrap;
pub(crate) mod distinct;
pub(crate) mod pattern;

use crate::ask::{Joint, Predict};
use crate::data::Folds;
use crate::data::{Source, fold};
use crate::model::mixture::fit::interrupted;
use crate::model::mixture::report::diagnose::Spurious;
use crate::model::mixture::select::distinct::{Distinct, Pair, SameCovariances};
use crate::model::mixture::{
    CovarianceKind, Fit, FitOptions, FittedMixture, Reals, Specification, fit,
};
use crate::{Control, Progress};
use crate::{Error, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What makes one fit better than another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Criterion {
    /// The Bayesian information criterion.
    #[default]
    Bic,
    /// Akaike's information criterion.
    Aic,
    /// The integrated complete-data likelihood, which asks for clusters well apart.
    Icl,
    /// −2 times the log-likelihood of rows held out, by cross-validation.
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

/// What to try.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grid {
    /// Numbers of components.
    pub components: Vec<usize>,
    /// Covariances of the numbers.
    pub covariances: Vec<CovarianceKind>,
    /// What the best of them is best in.
    pub criterion: Criterion,
    /// How many folds of rows are held out in turn for [`Criterion::Cv`].
    pub folds: usize,
}

/// One fit of a grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The covariance of the numbers.
    pub covariance: CovarianceKind,
    /// The number of components asked for.
    pub components: usize,
    /// How many were left; empty ones are dropped.
    pub left: usize,
    /// The log-likelihood of the rows.
    pub log_likelihood: Option<f64>,
    /// The number of free parameters.
    pub parameters: usize,
    /// The criteria; less is better.
    pub bic: Option<f64>,
    /// See [`Criterion::Aic`].
    pub aic: Option<f64>,
    /// See [`Criterion::Icl`].
    pub icl: Option<f64>,
    /// See [`Criterion::Cv`]; only where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cv: Option<f64>,
    /// Whether the fit converged.
    pub converged: bool,
    /// Why it is not to be trusted, if so.
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

    /// Whether it may be chosen.
    pub fn stands(&self) -> bool {
        self.spurious.is_none() && self.left == self.components
    }
}

/// All fits of a grid, and which was chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Selection {
    /// What the chosen one is best in.
    pub criterion: Criterion,
    /// The fits, in the order of the grid; where pairs are one model, such as all
    /// covariances of one column and one component, it was fitted once.
    pub tried: Vec<Candidate>,
    /// Which of them was chosen.
    pub chosen: usize,
    /// Covariances that are one model whatever the number of components, and were
    /// tried as one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same: Vec<SameCovariances>,
}

impl Selection {
    /// Whether the number of components that was chosen is the largest of several, so
    /// that more may be better still.
    pub fn chose_the_most(&self) -> bool {
        let numbers = self.tried.iter().map(|own| own.components);
        let chosen = self.tried.get(self.chosen).map(|own| own.components);
        let (least, most) = (numbers.clone().min(), numbers.max());
        chosen == most && least < most
    }
}

/// Fits every pair of a grid and keeps the best.
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
    let done = AtomicUsize::new(0);
    let silent = Control {
        progress: None,
        ..control
    };
    let one = |(covariance, components): &Pair| {
        if control.is_interrupted() {
            return None;
        }
        let own = specification.of_pair(*covariance, *components);
        let tried = attempt(
            &own,
            (*covariance, *components),
            grid,
            source,
            options,
            silent,
        );
        control.report(Progress::Candidate {
            number: done.fetch_add(1, Ordering::Relaxed) + 1,
            of: distinct.fitted.len(),
        });
        Some(tried)
    };
    // Small tables leave threads idle in each fit.
    let found: Vec<Option<Result<(Fit, Candidate)>>> = match source.rows() <= 16_384 {
        true => distinct.fitted.par_iter().map(one).collect(),
        false => distinct.fitted.iter().map(one).collect(),
    };
    let mut failure = None;
    let found = found.into_iter().map(|result| match result? {
        Ok(found) => Some(found),
        Err(why) => {
            failure = Some(why);
            None
        }
    });
    let mut fits: Vec<Option<(Fit, Candidate)>> = found.collect();
    let (mut tried, mut places) = (Vec::new(), Vec::new());
    for ((covariance, _), place) in distinct.pairs {
        if let Some((_, own)) = &fits[place] {
            tried.push(Candidate {
                covariance,
                ..own.clone()
            });
            places.push(place);
        }
    }
    let best = |standing: bool| {
        let these = tried.iter().enumerate();
        let these = these.filter(|(_, own)| own.stands() || !standing);
        let valued = these.filter_map(|(i, own)| Some((i, own.value(grid.criterion)?)));
        let best = valued.min_by(|a, b| a.1.total_cmp(&b.1));
        best.map(|(i, _)| i)
    };
    let Some(chosen) = best(true).or_else(|| best(false)) else {
        return Err(failure.unwrap_or_else(interrupted));
    };
    let (mut fit, _) = fits[places[chosen]].take().ok_or_else(interrupted)?;
    let better = tried.iter().filter(|own| {
        let pair = (
            own.value(grid.criterion),
            tried[chosen].value(grid.criterion),
        );
        !own.stands() && matches!(pair, (Some(a), Some(b)) if a < b)
    });
    let better = better.count();
    if better > 0 {
        fit.warnings.push(format!(
            "{better} fits of the grid have a better criterion by components on a few rows, and were not chosen"
        ));
    }
    if let Some(why) = failure {
        fit.warnings
            .push(format!("some of the grid could not be fitted: {why}"));
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

impl Specification {
    /// The same with another covariance and number of components.
    pub fn of_pair(&self, covariance: CovarianceKind, components: usize) -> Specification {
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

fn attempt(
    specification: &Specification,
    (covariance, components): (CovarianceKind, usize),
    grid: &Grid,
    source: &dyn Source,
    options: &FitOptions,
    control: Control,
) -> Result<(Fit, Candidate)> {
    let fit = fit(specification, source, options, control)?;
    let finite = |x: f64| x.is_finite().then_some(x);
    let cv = match grid.criterion {
        Criterion::Cv => {
            Some(-2.0 * held_out(specification, grid.folds, source, options, control)?)
        }
        _ => None,
    };
    let tried = Candidate {
        covariance,
        components,
        left: fit.mixture.components() - usize::from(fit.mixture.has_noise()),
        log_likelihood: finite(fit.log_likelihood),
        parameters: fit.parameters,
        bic: finite(fit.bic),
        aic: finite(fit.aic),
        icl: finite(fit.bic - 2.0 * log_certainty(&fit.mixture, source)?),
        cv: cv.and_then(finite),
        converged: fit.converged,
        spurious: Spurious::of(&fit.mixture).map(|found| found.to_string()),
    };
    Ok((fit, tried))
}

/// Σ_i w_i ln max_j p(j | x_i): 0 where every row is certainly of one component.
fn log_certainty(mixture: &FittedMixture, source: &dyn Source) -> Result<f64> {
    let classifier = mixture.classifier()?;
    let total = fold(
        source,
        1,
        |sum, _, chunk| {
            let posterior = classifier(chunk)?;
            let own = (0..chunk.rows()).map(|row| {
                let weight = chunk.weights().map_or(1.0, |weights| weights[row]);
                let most = posterior.row(row).iter().copied().fold(0.0, f64::max);
                if weight > 0.0 {
                    weight * most.ln()
                } else {
                    0.0
                }
            });
            *sum.get_or_insert(0.0) += own.sum::<f64>();
            Ok(())
        },
        |total: &mut f64, more| *total += more,
    )?;
    Ok(total.unwrap_or(0.0))
}

/// The log-likelihood of every row under the fit of the other folds.
fn held_out(
    specification: &Specification,
    number: usize,
    source: &dyn Source,
    options: &FitOptions,
    control: Control,
) -> Result<f64> {
    let folds = Folds::stratified(source, None, number, options.seed)?;
    let mut sum = 0.0;
    for number in 0..folds.number() {
        let rest = folds.training(source, number)?;
        let own = folds.held_out(source, number)?;
        let model = fit(specification, &*rest, options, control)?.mixture;
        let part = fold(
            &*own,
            1,
            |sum, _, chunk| {
                let densities = model.log_density(chunk)?;
                let own = densities.iter().enumerate().map(|(row, log)| {
                    let weight = chunk.weights().map_or(1.0, |weights| weights[row]);
                    if weight > 0.0 { weight * log } else { 0.0 }
                });
                *sum.get_or_insert(0.0) += own.sum::<f64>();
                Ok(())
            },
            |total: &mut f64, more| *total += more,
        )?;
        sum += part.unwrap_or(0.0);
    }
    Ok(sum)
}
