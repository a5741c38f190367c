//! The multivariate Gaussian, and the point mass of a constant column.

use super::conjugate::{Maximum, Model, Predicts, check_rows, report};
use super::report::{Described, Estimate, Interval, Numbers, Point, Prediction, RiskReport};
use super::rows::for_each_row;
use super::{Request, standard_errors};
use crate::data::Source;
use crate::family::{
    Conjugate, Covariance, Family, MultivariateBoth, MultivariateGaussian, MultivariateStats,
    MultivariateT, PointMass, Stats, Univariate,
};
use crate::{Error, Result};
use std::sync::Arc;

impl Predicts for MultivariateT {
    fn prediction(self, name: &str, _: f64) -> (Prediction, Option<Arc<dyn Univariate>>) {
        (Prediction::named(Described::of(name, &self)), None)
    }
}

/// Means and covariances by the names of the columns.
fn named(names: &[String], mean: &[f64], covariance: &[f64]) -> Numbers {
    let order = names.len();
    let means = names
        .iter()
        .zip(mean)
        .map(|(name, x)| (format!("mean[{name}]"), *x));
    let pair = |j: usize, i: usize| format!("covariance[{},{}]", names[i], names[j]);
    let entries = (0..order).flat_map(|j| (j..order).map(move |i| (j, i)));
    let entries = entries.map(|(j, i)| (pair(j, i), covariance[j * order + i]));
    Numbers(means.chain(entries).collect())
}

/// The maximum-likelihood estimate with its standard errors: Var x̄_i = Σ_ii / n and
/// Var S_ij = (Σ_ii Σ_jj + Σ_ij²) / n.
fn gaussian_maximum(names: &[String], stats: &MultivariateStats) -> Result<Maximum> {
    let order = names.len();
    let fitted = MultivariateGaussian::mle(stats)?;
    let Covariance::Full(covariance) = &fitted.covariance else {
        return Err(Error::numeric("the covariance is not a whole matrix"));
    };
    let rows = stats.weight();
    let diagonal = |i: usize| covariance[i * order + i];
    let means: Vec<f64> = (0..order).map(|i| (diagonal(i) / rows).sqrt()).collect();
    let entry = |at: usize| {
        let variances = diagonal(at / order) * diagonal(at % order);
        ((variances + covariance[at].powi(2)) / rows).sqrt()
    };
    let entries: Vec<f64> = (0..order * order).map(entry).collect();
    let errors = named(names, &means, &entries);
    let errors = errors.0.iter().map(|(name, error)| (name.as_str(), *error));
    Ok(Maximum {
        parameters: named(names, &fitted.mean, covariance),
        log_likelihood: fitted.log_likelihood(stats),
        fitted: None,
        ruled_out: Vec::new(),
        errors: standard_errors::named(errors),
    })
}

/// The covariance with n − 1 as its divisor.
fn unbiased_covariance(names: &[String], stats: &MultivariateStats) -> Option<Numbers> {
    let rows = stats.weight();
    let MultivariateStats::Full { mean, scatter, .. } = stats else {
        return None;
    };
    let covariance: Vec<f64> = scatter.iter().map(|s| s / (rows - 1.0)).collect();
    let all = named(names, mean, &covariance);
    (rows > 1.0).then(|| Numbers(all.0.into_iter().skip(names.len()).collect()))
}

/// Replaces positions by the names of the columns.
fn rename(estimate: &mut Estimate, names: &[String]) {
    let rename = |numbers: &mut Numbers| {
        let values: Vec<f64> = numbers.0.iter().map(|(_, x)| *x).collect();
        *numbers = named(names, &values[..names.len()], &values[names.len()..]);
    };
    estimate.map.as_mut().map(rename);
    estimate.mean.as_mut().map(rename);
    for interval in &mut estimate.intervals {
        interval.parameter = by_name(&interval.parameter, names);
    }
    for exceedance in &mut estimate.above {
        exceedance.parameter = by_name(&exceedance.parameter, names);
    }
}

pub(super) fn multivariate_gaussian(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let names: Vec<String> = source
        .schema()
        .fields
        .iter()
        .map(|f| f.name.clone())
        .collect();
    let order = names.len();
    let maximum = |stats: &MultivariateStats| gaussian_maximum(&names, stats);
    let unbiased = |stats: &MultivariateStats| unbiased_covariance(&names, stats);
    let model = Model {
        family: "multivariate-gaussian",
        pair: MultivariateBoth::new(order),
        default: "matching",
        wrong: &|_| None,
        maximum: &maximum,
        unbiased: &unbiased,
        predictive: "multivariate-t",
        shift: 0.0,
    };
    // Users name parameters by columns, the pair by position.
    let by_place = |name: &String| {
        let all = MultivariateBoth::new(order).parameters();
        let parameter = all
            .into_iter()
            .find(|parameter| by_name(parameter, &names) == *name);
        parameter.unwrap_or_else(|| name.clone())
    };
    let above = request.above.iter();
    let request = Request {
        prior: request.prior.clone(),
        known: Vec::new(),
        level: request.level,
        above: above
            .map(|(name, value)| (name.as_ref().map(by_place), *value))
            .collect(),
        seed: request.seed,
    };
    let mut estimate = report(model, source, &request)?;
    rename(&mut estimate, &names);
    if estimate.prior.name == "matching" {
        estimate.notes.push(
            "the matching prior is |Σ|^(−d) for d columns: every column has the Student t and χ² \
             intervals with n − 1 degrees of freedom that it would have alone"
                .into(),
        );
    }
    if estimate.hidden > 0 {
        estimate.notes.push(format!(
            "rows with a missing value in one of the columns are left out: {}; a mixture with \
             `components=1` also learns from these",
            estimate.hidden
        ));
    }
    Ok(estimate)
}

/// `mean[2]` with the name of the second column.
fn by_name(parameter: &str, names: &[String]) -> String {
    let Some((what, places)) = parameter.trim_end_matches(']').split_once('[') else {
        return parameter.to_string();
    };
    let name = |place: &str| {
        let place = place
            .parse::<usize>()
            .ok()
            .and_then(|place| place.checked_sub(1));
        place
            .and_then(|place| names.get(place))
            .cloned()
            .unwrap_or_default()
    };
    let places: Vec<String> = places.split(',').map(name).collect();
    format!("{what}[{}]", places.join(","))
}

pub(super) fn point_mass(source: &dyn Source, request: &Request) -> Result<Estimate> {
    if request.prior.is_some() || !request.above.is_empty() {
        return Err(Error::parameter(
            "a point mass takes neither a prior nor `above`: one row determines it",
        ));
    }
    let mut value: Option<f64> = None;
    let first = std::cell::Cell::new(None);
    let wrong = |x: f64| {
        let first_value = *first.get().get_or_insert(x);
        first.set(Some(first_value));
        (x != first_value).then(|| format!("{x} differs from the first value, {first_value}"))
    };
    let seen = for_each_row(source, wrong, |row, _| value = Some(row[0]))?;
    check_rows(&seen)?;
    let value = value.unwrap_or_default();
    let parameters = Numbers(vec![("value".into(), value)]);
    let certain = || Some(Arc::new(PointMass { value }) as Arc<dyn Univariate>);
    let described = Described {
        name: "point-mass".into(),
        parameters: parameters.clone(),
    };
    Ok(Estimate {
        maximum_likelihood: Some(Point {
            parameters: parameters.clone(),
            standard_errors: Numbers::default(),
            log_likelihood: 0.0,
        }),
        prior: Described::named("uniform"),
        proper: Some(false),
        posterior: Some(described.clone()),
        map: Some(parameters.clone()),
        mean: Some(parameters),
        intervals: vec![Interval::of("value", &PointMass { value }, request.level)],
        predictive: Some(Prediction::of(
            described,
            &PointMass { value },
            request.level,
        )),
        risk: RiskReport {
            log_loss: Some(0.0),
            entropy: Some(0.0),
            ruled_out: vec!["every other number".into()],
        },
        fitted: certain(),
        predicted: certain(),
        ..Estimate::of_rows("point-mass", seen, request.level)
    })
}
