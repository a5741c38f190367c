//! The report of a model with several parameters and no conjugate prior.

use super::conjugate::check_rows;
use super::prior::expression;
use super::report::{
    Described, Estimate, Exceedance, Interval, MonteCarlo, Numbers, Point, Prediction, RiskReport,
};
use super::rows::{Seen, error_unless, for_each_row};
use super::{PriorChoice, Request, standard_errors};
use crate::bayes::{Domain, Parameter, SampledPosterior};
use crate::data::Source;
use crate::family::{Averaged, PointStats, Scalar, Stats, Univariate, improper_because, turned};
use crate::{Error, Result};
use std::f64::consts::TAU;
use std::sync::Arc;

/// The range of a parameter.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Range {
    Anywhere,
    Above(f64),
    Share,
    /// A direction, with the position of its concentration among the slots.
    Angle {
        held_by: usize,
    },
}

/// The largest Monte Carlo error of the standard deviation of a prediction that is reported, as a
/// share of it.
const MAX_RELATIVE_ERROR: f64 = 0.1;

/// A parameter of a family.
pub(super) struct Slot {
    pub name: &'static str,
    pub range: Range,
    /// The largest value of the maximum-likelihood estimate.
    pub most: f64,
    /// The prior where none is given.
    pub prior: &'static str,
}

/// A family whose parameters have no conjugate prior.
pub(super) struct Sampled<'a, F: Scalar> {
    pub slots: &'a [Slot],
    /// The valid values, for error messages.
    pub domain: &'a str,
    pub build: fn(&[f64]) -> Result<F>,
    /// Parameters to start from where there is no estimate.
    pub wide: fn(&[(f64, f64)]) -> Vec<f64>,
    /// Why a posterior that falls along every parameter is improper, if it is. Families without
    /// this function have improper posteriors where the rows do not bound the likelihood and the
    /// priors do not integrate.
    pub improper: Option<Improper<F>>,
    /// The mixture of weighted distributions of a row.
    pub average: fn(Vec<(f64, F)>) -> Together,
}

/// Why a posterior is improper, if it is.
pub(super) type Improper<F> = fn(&<F as Scalar>::Stats, &[Parameter]) -> Option<String>;

/// A mixture, unless all weights are 0.
pub(super) type Together = Option<Arc<dyn Univariate>>;

/// The mixture of distributions of a number.
pub(super) fn averaged<F: Univariate + 'static>(parts: Vec<(f64, F)>) -> Together {
    let boxed =
        |(weight, distribution): (f64, F)| (weight, Box::new(distribution) as Box<dyn Univariate>);
    let average = Averaged::new(parts.into_iter().map(boxed))?;
    Some(Arc::new(average))
}

/// Rows, and the maximum-likelihood estimate from them.
struct Fitted<F: Scalar> {
    cells: Vec<(f64, f64)>,
    seen: Seen,
    stats: <F as Scalar>::Stats,
    maximum: Result<F>,
    names: Vec<String>,
    /// Parameters to start from: the estimate where there is one.
    start: Vec<f64>,
}

impl<F: Scalar> Fitted<F> {
    fn read(source: &dyn Source, family: &Sampled<F>) -> Result<Self> {
        let wrong = |x: f64| error_unless(<F as Scalar>::supports(x), x, family.domain);
        let mut cells = Vec::new();
        let seen = for_each_row(source, wrong, |row, weight| cells.push((row[0], weight)))?;
        check_rows(&seen)?;
        let mut stats = <F as Scalar>::Stats::default();
        F::observe_values(&mut cells.iter().copied(), &mut stats);
        let maximum = F::estimate(&stats);
        let names = family.slots.iter().map(|slot| slot.name.to_string());
        let names: Vec<String> = names.collect();
        let start = match &maximum {
            Ok(maximum) => {
                let numbers = Numbers::of(maximum);
                let values = names.iter().map(|name| numbers.get(name).unwrap_or(1.0));
                values.collect()
            }
            Err(_) => (family.wide)(&cells),
        };
        Ok(Fitted {
            cells,
            seen,
            stats,
            maximum,
            names,
            start,
        })
    }

    /// The range of a parameter, given the rows.
    fn domain(&self, range: Range) -> Domain {
        let points = PointStats::new(self.cells.iter().copied());
        match range {
            Range::Anywhere => {
                let deviation = points.variance().sqrt();
                Domain::Anywhere {
                    around: points.mean(),
                    unit: if deviation > 0.0 { deviation } else { 1.0 },
                }
            }
            Range::Above(low) => Domain::Above(low),
            Range::Share => Domain::Share,
            Range::Angle { held_by } => {
                let (east, north) = (points.sum(f64::cos), points.sum(f64::sin));
                Domain::Angle {
                    around: north.atan2(east),
                    held: Some((held_by, north.hypot(east))),
                }
            }
        }
    }

    /// An error if rows and priors leave the posterior improper.
    fn check(
        &self,
        family: &Sampled<F>,
        parameters: &[Parameter],
        proper: Option<bool>,
    ) -> Result<()> {
        match (family.improper, &self.maximum) {
            (Some(improper), _) => match improper(&self.stats, parameters) {
                Some(why) => Err(improper_because(&why)),
                None => Ok(()),
            },
            (None, Err(why)) if proper != Some(true) => {
                let hint = format!(
                    "use more rows or proper priors: {}",
                    prior_hint(family.slots)
                );
                Err(Error::numeric(format!("the posterior is improper: {why}")).with_hint(hint))
            }
            _ => Ok(()),
        }
    }

    /// The maximum-likelihood estimate with its standard errors.
    fn point(&self, family: &Sampled<F>, log_likelihood: &impl Fn(&[f64]) -> f64) -> Option<Point> {
        // A maximum at the end of a parameter's range has no standard error.
        let within = |x: &[f64]| {
            let outside = family.slots.iter().zip(x).any(|(slot, x)| *x > slot.most);
            if outside {
                f64::NEG_INFINITY
            } else {
                log_likelihood(x)
            }
        };
        let fitted = self.maximum.as_ref().ok()?;
        Some(Point {
            parameters: Numbers::of(fitted),
            standard_errors: standard_errors::of_maximum(&self.names, &self.start, &within),
            log_likelihood: fitted.log_likelihood_of(&self.stats),
        })
    }

    /// The number of draws: where the statistics are the rows, every draw takes a pass over them.
    fn draws(&self) -> usize {
        match self.cells.len() {
            0..=2_000 => 8192,
            2_001..=20_000 => 4096,
            _ => 1024,
        }
    }
}

/// Reads the rows and estimates.
pub(super) fn report<F: Scalar + 'static>(
    source: &dyn Source,
    request: &Request,
    family: &Sampled<F>,
) -> Result<Estimate> {
    let (build, level) = (family.build, request.level);
    let rows = Fitted::read(source, family)?;
    let (stats, names) = (&rows.stats, &rows.names);
    let place = |range: Range| rows.domain(range);
    let (parameters, prior) = priors(family.slots, request.prior.as_ref(), place)?;
    let proper = proper(&parameters)?;
    rows.check(family, &parameters, proper)?;
    let log_likelihood = |x: &[f64]| {
        build(x).map_or(f64::NEG_INFINITY, |distribution| {
            distribution.log_likelihood_of(stats)
        })
    };
    let sample = if rows.maximum.is_ok() {
        SampledPosterior::of_bounded
    } else {
        SampledPosterior::new
    };
    let (start, draws) = (&rows.start, rows.draws());
    let posterior = sample(&parameters, log_likelihood, start, draws, request.seed)?;
    let map = mode(&posterior, &parameters, &log_likelihood);
    let mut notes = sampling_notes(&posterior, map.is_some());
    let Predicted {
        predictive,
        prediction,
        errors,
        note,
    } = Predicted::of(&posterior, names, level, family)?;
    notes.extend(note);
    let maximum = rows.maximum.as_ref().ok();
    Ok(Estimate {
        maximum_likelihood: rows.point(family, &log_likelihood),
        no_maximum: rows.maximum.as_ref().err().map(Error::to_string),
        prior,
        proper,
        method: "importance sampling".into(),
        map: map.map(|mode| Numbers::new(names, mode)),
        mean: Some(Numbers::new(names, posterior.means())),
        intervals: intervals(&posterior, names, level),
        above: exceedances(&posterior, names, request)?,
        predictive: Some(prediction),
        log_evidence: posterior.log_evidence,
        monte_carlo: Some(errors),
        risk: RiskReport {
            log_loss: maximum.map(|fitted| -fitted.log_likelihood_of(stats) / stats.weight() + 0.0),
            entropy: maximum.map(|fitted| fitted.entropy() + 0.0),
            ruled_out: Vec::new(),
        },
        notes,
        fitted: maximum.map(|fitted| Arc::new(fitted.clone()) as Arc<dyn Univariate>),
        predicted: Some(predictive),
        ..Estimate::of_rows(<F as Scalar>::NAME, rows.seen, level)
    })
}

fn sampling_notes(posterior: &SampledPosterior, has_mode: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if !has_mode {
        notes.push("the posterior has no mode: it grows without bound towards an edge".into());
    }
    if posterior.effective < 400.0 {
        notes.push(format!(
            "the effective number of the {} draws is only {:.0}: the posterior is rough",
            posterior.draws.len(),
            posterior.effective
        ));
    }
    notes
}

/// The parameters of highest posterior density, where there are any. The density at a mode is
/// hardly higher than at the best of thousands of draws; one that is far higher grows on towards
/// an edge, as under 1/x with few rows.
fn mode(
    posterior: &SampledPosterior,
    parameters: &[Parameter],
    log_likelihood: &impl Fn(&[f64]) -> f64,
) -> Option<Vec<f64>> {
    let height = |x: &[f64]| {
        let priors = parameters.iter().zip(x);
        let priors = priors.map(|(parameter, x)| parameter.log_prior(*x).unwrap_or(f64::NAN));
        log_likelihood(x) + priors.sum::<f64>()
    };
    let heights = posterior.draws.iter().map(|draw| height(draw));
    let highest = heights.fold(f64::NEG_INFINITY, f64::max);
    (height(&posterior.mode) <= highest + 20.0).then(|| posterior.mode.clone())
}

fn intervals(posterior: &SampledPosterior, names: &[String], level: f64) -> Vec<Interval> {
    let interval = |(i, name): (usize, &String)| {
        let [equal_tailed, shortest] = posterior.intervals(i, level);
        Interval {
            parameter: name.clone(),
            equal_tailed,
            shortest,
        }
    };
    names.iter().enumerate().map(interval).collect()
}

/// The probabilities that parameters exceed the requested numbers.
fn exceedances(
    posterior: &SampledPosterior,
    names: &[String],
    request: &Request,
) -> Result<Vec<Exceedance>> {
    let exceedance = |(name, value): &(Option<String>, f64)| {
        let requested = name.as_deref().unwrap_or(&names[0]);
        let place = names
            .iter()
            .position(|name| name == requested)
            .ok_or_else(|| {
                Error::parameter(format!("\"{requested}\" is not a parameter"))
                    .with_hint(format!("the parameters are {}", names.join(", ")))
            })?;
        let above = posterior.draws.iter().zip(&posterior.weights);
        let above = above.filter(|(draw, _)| draw[place] > *value);
        Ok(Exceedance {
            parameter: requested.to_string(),
            value: *value,
            probability: above.map(|(_, weight)| weight).sum::<f64>() + 0.0,
        })
    };
    request.above.iter().map(exceedance).collect()
}

/// The distribution of the next row, averaged over the posterior.
struct Predicted {
    predictive: Arc<dyn Univariate>,
    prediction: Prediction,
    errors: MonteCarlo,
    /// Figures left out of the prediction.
    note: Option<String>,
}

impl Predicted {
    fn of<F: Scalar + 'static>(
        posterior: &SampledPosterior,
        names: &[String],
        level: f64,
        family: &Sampled<F>,
    ) -> Result<Predicted> {
        let rows = posterior.weighted();
        let rows = rows.filter_map(|(weight, x)| Some((weight, (family.build)(x).ok()?)));
        let predictive = (family.average)(rows.collect())
            .ok_or_else(|| Error::numeric("no draw gives a predictive distribution"))?;
        let name = format!("{} averaged over the posterior", <F as Scalar>::NAME);
        let mut prediction = Prediction::of(Described::named(name), &*predictive, level);
        let both = (&prediction, &*predictive);
        let mut errors = monte_carlo(posterior, names, level, family.build, both);
        // A variance that rests on a few draws may be infinite.
        let uncertain = |(error, deviation): (f64, f64)| error > MAX_RELATIVE_ERROR * deviation;
        let deviation = errors.predictive_deviation.zip(prediction.deviation);
        let note = deviation.is_some_and(uncertain).then(|| {
            (prediction.deviation, errors.predictive_deviation) = (None, None);
            "standard deviation of the prediction omitted: it rests on a few draws and may be \
             infinite"
                .into()
        });
        Ok(Predicted {
            predictive,
            prediction,
            errors,
            note,
        })
    }
}

/// Monte Carlo standard errors of all figures of the draws.
fn monte_carlo<F: Scalar>(
    posterior: &SampledPosterior,
    names: &[String],
    level: f64,
    build: fn(&[f64]) -> Result<F>,
    (prediction, predictive): (&Prediction, &dyn Univariate),
) -> MonteCarlo {
    let of_row = |draw: &[f64], figure: &dyn Fn(&F) -> Option<f64>| {
        let row = build(draw).ok();
        row.as_ref().and_then(figure).unwrap_or(f64::NAN)
    };
    // NaN where a draw has no mean, and so the figure has no error.
    let finite = |x: f64| x.is_finite().then_some(x);
    let error = |figure: &dyn Fn(&F) -> Option<f64>| {
        posterior.standard_error_of(|draw| of_row(draw, figure))
    };
    let is_angle = posterior.angles.contains(&true);
    // Directions are measured from the mean, on the circle cut open opposite of it.
    let away = |x: f64| if is_angle { turned(x) } else { x };
    let predictive_mean = prediction.mean.filter(|mean| mean.is_finite());
    let predictive_deviation = predictive_mean.zip(prediction.deviation);
    let predictive_deviation = predictive_deviation.and_then(|(mean, deviation)| {
        let square = |row: &F| Some(row.variance()? + away(row.mean()? - mean).powi(2));
        finite(0.5 * error(&square) / deviation)
    });
    let least = predictive.support().0;
    let below = |row: &F, x: f64| {
        if is_angle {
            turns_below(row, x) - turns_below(row, least)
        } else {
            row.cdf(x)
        }
    };
    let end = |x: f64| finite(error(&|row| Some(below(row, x))) / predictive.log_density(x).exp());
    let deviations = posterior.deviations();
    let intervals = names.iter().enumerate();
    let intervals = intervals.map(|(i, name)| (name.clone(), posterior.interval_errors(i, level)));
    MonteCarlo {
        draws: posterior.draws.len(),
        effective_sample_size: posterior.effective,
        mean: Numbers::new(names, posterior.mean_errors()),
        posterior_deviation: Numbers::new(names, deviations.iter().map(|estimate| estimate.0)),
        deviation: Numbers::new(names, deviations.iter().map(|estimate| estimate.1)),
        intervals: intervals.collect(),
        log_evidence: posterior.log_evidence_error(),
        predictive_mean: predictive_mean
            .and_then(|mean| finite(error(&|row| Some(away(row.mean()? - mean))))),
        predictive_deviation,
        predictive_interval: prediction
            .interval
            .filter(|_| !predictive.is_discrete())
            .and_then(|(low, high)| end(low).zip(end(high))),
    }
}

/// The distribution function of an angle, which grows by 1 with every turn.
fn turns_below(row: &dyn Univariate, x: f64) -> f64 {
    let (low, _) = row.support();
    let turns = ((x - low) / TAU).floor();
    turns + row.cdf(x - TAU * turns)
}

/// A hint that shows how priors of several parameters are written.
fn prior_hint(slots: &[Slot]) -> String {
    let names: Vec<&str> = slots.iter().map(|slot| slot.name).collect();
    format!("write {}=…, separated by semicolons", names.join("=…; "))
}

/// Whether all priors integrate; `None` if that could not be determined.
fn proper(parameters: &[Parameter]) -> Result<Option<bool>> {
    let totals = parameters.iter().map(Parameter::total);
    let known: Vec<Option<bool>> = totals
        .map(|total| Ok(total?.is_finite()))
        .collect::<Result<_>>()?;
    Ok(if known.contains(&Some(false)) {
        Some(false)
    } else {
        known
            .into_iter()
            .collect::<Option<Vec<bool>>>()
            .map(|_| true)
    })
}

/// The priors of the parameters from `a=…; b=…`; the rest have their defaults.
fn priors(
    slots: &[Slot],
    choice: Option<&PriorChoice>,
    place: impl Fn(Range) -> Domain,
) -> Result<(Vec<Parameter>, Described)> {
    let mut texts: Vec<String> = slots.iter().map(|slot| slot.prior.to_string()).collect();
    let names: Vec<&str> = slots.iter().map(|slot| slot.name).collect();
    match choice {
        None => {}
        Some(PriorChoice::Table(_)) => {
            return Err(Error::parameter(
                "a table is the prior of one parameter, but there are several",
            )
            .with_hint(prior_hint(slots)));
        }
        Some(PriorChoice::Text(text)) => {
            for part in text.split(';').filter(|part| !part.trim().is_empty()) {
                let (name, prior_text) = part.split_once('=').ok_or_else(|| {
                    Error::parameter(format!("\"{}\" does not name a parameter", part.trim()))
                        .with_hint(prior_hint(slots))
                })?;
                let place = names
                    .iter()
                    .position(|slot_name| *slot_name == name.trim())
                    .ok_or_else(|| {
                        Error::parameter(format!("\"{}\" is not a parameter", name.trim()))
                            .with_hint(prior_hint(slots))
                    })?;
                texts[place] = prior_text.trim().to_string();
            }
        }
    }
    let parameters = slots.iter().zip(&texts).map(|(slot, text)| {
        Ok(Parameter {
            name: slot.name.into(),
            domain: place(slot.range),
            prior: expression(text, slot.name)?,
        })
    });
    let described = texts
        .iter()
        .zip(&names)
        .map(|(text, name)| format!("{name}={text}"));
    let described = Described {
        name: described.collect::<Vec<_>>().join("; "),
        parameters: Numbers::default(),
    };
    Ok((parameters.collect::<Result<_>>()?, described))
}
