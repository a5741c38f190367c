//! Fitting clusters: a survey of all rows, several starts on a sample in parallel, and from
//! the best of these one run over all rows.

use super::choice::{chosen, within_memory};
use super::iterate::{Found, Rows, iterate};
use super::medians::medians;
use super::mini_batch::mini_batches;
use super::parallel::seeds_of_all;
use super::points::Points;
use super::seeding::{Measure, seeds};
use super::specification::{Algorithm, Distance, Init, Options, Specification};
use super::starts::Start;
use super::survey::Survey;
use super::{FittedKMeans, Frame, by_medoids, diagnose};
use crate::data::{Source, Table};
use crate::model::check_tries;
use crate::model::mixture::{interrupted, sample_rows};
use crate::{Control, Progress};
use crate::{Error, Result};
use rayon::prelude::*;

/// Fitted clusters and how the fit went.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The model.
    pub model: FittedKMeans,
    /// The number of rows of positive weight.
    pub rows: u64,
    /// Their total weight.
    pub weight: f64,
    /// Σ w d(x, c) of all rows and their centres.
    pub inertia: f64,
    /// The number of iterations.
    pub iterations: usize,
    /// Whether the fit converged.
    pub converged: bool,
    /// Whether the inertia never rose.
    pub monotone: bool,
    /// Whether the caller stopped the fit.
    pub interrupted: bool,
    /// The inertia before each iteration and at the end.
    pub trace: Vec<f64>,
    /// Seconds from the first pass to the end of each pass of the trace.
    pub trace_seconds: Vec<f64>,
    /// The cluster of each row, if the rows were in memory and none was ignored.
    pub labels: Option<Vec<u32>>,
    /// The inertia that each start reached, on a sample where rows are many.
    pub restarts: Vec<f64>,
    /// The outcome of each start.
    pub starts: Vec<Start>,
    /// The algorithm used.
    pub algorithm: Algorithm,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// Rows on which starts are tried, and how many there should be of each cluster.
const SAMPLE_ROWS: usize = 20_000;
const ROWS_OF_CLUSTER: usize = 32;

/// Fits clusters to a source.
///
/// ```
/// use abduce::data::{Column, Field, Kind, Schema, Table};
/// use abduce::Control;
/// use abduce::model::kmeans::{Options, Specification, fit};
/// let x = [1.0, 1.5, 0.5, 8.0, 9.0].map(Some);
/// let schema = Schema::new(vec![Field::new("x", Kind::Real)]);
/// let table = Table::new(schema, vec![Column::from_numbers(x)], None)?;
/// let fit = fit(&Specification::new(2), &table, &Options::default(), Control::default())?;
/// assert_eq!(fit.model.centres, [[1.0], [8.5]]);
/// assert_eq!(fit.inertia, 1.0);
/// # Ok::<(), abduce::Error>(())
/// ```
///
/// # Errors
/// If the specification does not fit the source, or the source cannot be read.
pub fn fit(
    specification: &Specification,
    source: &dyn Source,
    options: &Options,
    control: Control,
) -> Result<Fit> {
    fit_from(specification, source, None, options, control)
}

/// Fits clusters from given centres, if there are any: a number for each column of
/// numbers, in its units. See [`fit`].
///
/// # Errors
/// As [`fit`], and if the centres are not of these columns.
pub fn fit_from(
    specification: &Specification,
    source: &dyn Source,
    start: Option<&[Vec<f64>]>,
    options: &Options,
    control: Control,
) -> Result<Fit> {
    check_tries("restarts", options.restarts)?;
    let (mut columns, left_out) = specification.columns(source.schema())?;
    control.report(Progress::Survey);
    let mut survey = Survey::of(source, &columns, control)?.ok_or_else(interrupted)?;
    let learned =
        specification.distance == Distance::Mahalanobis && specification.covariance.is_none();
    let constants = survey.constants(&columns);
    let useless = survey.leave_out(&mut columns, learned);
    let frame = Frame::new(specification, columns, &survey, source)?;
    // More clusters than rows would have none.
    let rows = usize::try_from(survey.rows).unwrap_or(usize::MAX);
    let within_rows = Specification {
        clusters: match start {
            None => specification.clusters.min(rows),
            Some(_) => specification.clusters,
        },
        ..specification.clone()
    };
    let run = Run {
        specification: &within_rows,
        options,
        frame: &frame,
        measure: match specification.distance {
            Distance::Manhattan => Measure::Absolute,
            _ => Measure::Squared,
        },
        control,
    };
    let mut starts = Vec::new();
    let (found, algorithm) = match (specification.medoids, start) {
        (true, Some(_)) => {
            return Err(Error::parameter(
                "`medoids` cannot be combined with given centres",
            ));
        }
        (true, None) => (
            Some(by_medoids(&run, source, survey.rows, &mut starts)?),
            Algorithm::Auto,
        ),
        (false, Some(start)) => run.over_all(source, run.given(start)?)?,
        (false, None) => run.with_restarts(source, &survey, &mut starts)?,
    };
    let found = found.ok_or_else(interrupted)?;
    let mut fit = run.finish(source, &survey, found, starts, algorithm);
    // A given covariance is that of all columns, constant ones too.
    if specification.covariance.is_none() {
        fit.model.leave_out_constants(constants, &survey);
    }
    fit.warnings = diagnose(
        specification,
        options,
        source,
        &survey,
        &fit,
        left_out,
        &useless,
    );
    Ok(fit)
}

/// What a fit is to do.
pub(super) struct Run<'a> {
    pub specification: &'a Specification,
    pub options: &'a Options,
    pub frame: &'a Frame,
    pub measure: Measure,
    pub control: Control<'a>,
}

impl Run<'_> {
    fn given(&self, start: &[Vec<f64>]) -> Result<Vec<f64>> {
        let width = self.frame.columns.len();
        let fits =
            |centre: &Vec<f64>| centre.len() == width && centre.iter().all(|x| x.is_finite());
        if start.len() != self.specification.clusters || !start.iter().all(fits) {
            return Err(Error::parameter(format!(
                "the given start must be {} centres of {width} numbers",
                self.specification.clusters
            )));
        }
        Ok(start
            .iter()
            .flat_map(|centre| self.frame.in_coordinates(centre))
            .collect())
    }

    /// The one run over all rows.
    fn over_all(&self, source: &dyn Source, start: Vec<f64>) -> Result<(Option<Found>, Algorithm)> {
        let rows = self.rows(source)?;
        self.run(&rows, start, self.options)
    }

    /// The rows of a source; those of medians in memory, also where it is streamed.
    fn rows<'b>(&'b self, source: &'b dyn Source) -> Result<Rows<'b>> {
        match self.measure {
            Measure::Squared => Ok(Rows::new(source, self.frame)),
            Measure::Absolute => Rows::gathered(source, self.frame),
        }
    }

    fn run(
        &self,
        rows: &Rows,
        start: Vec<f64>,
        options: &Options,
    ) -> Result<(Option<Found>, Algorithm)> {
        if self.measure == Measure::Absolute {
            return Ok((
                medians(rows, start, options, self.control)?,
                Algorithm::Lloyd,
            ));
        }
        if options.algorithm == Algorithm::MiniBatch {
            let (centres, passes) = mini_batches(rows, start, options, self.control)?;
            // The pass that says what the inertia is; its centres are the batches'.
            let last = Options {
                max_iterations: 0,
                ..options.clone()
            };
            let found = iterate(rows, centres, Algorithm::Lloyd, &last, self.control)?;
            let found = found.map(|found| Found {
                iterations: passes,
                converged: !self.control.is_interrupted(),
                ..found
            });
            return Ok((found, Algorithm::MiniBatch));
        }
        let clusters = start.len() / self.frame.columns.len();
        let algorithm = match (options.algorithm, &rows.held) {
            (_, None) => Algorithm::Lloyd,
            (Algorithm::Auto, Some(_)) => chosen(self.frame.columns.len()),
            (given, Some(_)) => given,
        };
        let algorithm = within_memory(algorithm, rows.source.rows(), clusters);
        Ok((
            iterate(rows, start, algorithm, options, self.control)?,
            algorithm,
        ))
    }

    fn with_restarts(
        &self,
        source: &dyn Source,
        survey: &Survey,
        starts: &mut Vec<Start>,
    ) -> Result<(Option<Found>, Algorithm)> {
        let clusters = self.specification.clusters;
        let size = SAMPLE_ROWS.max(clusters.saturating_mul(ROWS_OF_CLUSTER));
        let whole = survey.rows <= size as u64;
        let sample: Table = sample_rows(source, survey.rows as usize, size, self.options.seed)?;
        let rows = Rows::new(&sample, self.frame);
        let owned;
        let points = match rows.held.as_deref() {
            Some([one]) => one,
            Some(held) => {
                owned = Points::together(held);
                &owned
            }
            None => {
                return Err(
                    Error::parameter("this number of clusters needs too much memory")
                        .with_hint("ask for fewer clusters"),
                );
            }
        };
        let distinct = self.options.by_value.then(|| points.distinct());
        let points = distinct.as_ref().unwrap_or(points);
        let tries = self.options.restarts.max(1);
        let start = |number: usize| {
            let seed = (self.options.seed.wrapping_mul(1_000_003)).wrapping_add(number as u64);
            match self.options.init {
                Init::Parallel if self.measure == Measure::Squared => {
                    seeds_of_all(&self.rows(source)?, clusters, seed)
                }
                init => Ok(seeds(points, clusters, init, self.measure, seed)),
            }
        };
        let start = |number: usize| match start(number)? {
            none if none.is_empty() => Err(Error::data("no row has a direction")
                .with_hint("rows of zeros have none; use `distance=euclidean`")),
            start => Ok(start),
        };
        // One start on a large table needs no trial.
        if tries == 1 && !whole {
            let (found, algorithm) = self.over_all(source, start(1)?)?;
            starts.push(self.outcome(found.as_ref(), true));
            return Ok((found, algorithm));
        }
        let trial = Options {
            tolerance: if whole {
                self.options.tolerance
            } else {
                self.options.tolerance.max(1e-5)
            },
            algorithm: match self.options.algorithm {
                Algorithm::MiniBatch if !whole => Algorithm::Auto,
                own => own,
            },
            ..self.options.clone()
        };
        // Each is small, so they are tried side by side; the order of the results is
        // that of their numbers.
        let tried: Vec<Result<(Option<Found>, Algorithm)>> = (1..=tries)
            .into_par_iter()
            .map(|number| {
                self.control.report(Progress::Restart { number, of: tries });
                if number > 1 && self.control.is_interrupted() {
                    return Ok((None, Algorithm::Auto));
                }
                self.run(&rows, start(number)?, &trial)
            })
            .collect();
        let mut best: Option<(Found, Algorithm)> = None;
        for one in tried {
            let (found, algorithm) = one?;
            starts.push(self.outcome(found.as_ref(), whole));
            let Some(found) = found else {
                continue;
            };
            if best
                .as_ref()
                .is_none_or(|(best, _)| found.inertia() < best.inertia())
            {
                best = Some((found, algorithm));
            }
        }
        let Some((best, algorithm)) = best else {
            return Ok((None, Algorithm::Auto));
        };
        if whole {
            return Ok((Some(best), algorithm));
        }
        match self.over_all(source, best.centres.clone())? {
            (Some(found), algorithm) => Ok((Some(found), algorithm)),
            (None, algorithm) => Ok((
                Some(Found {
                    interrupted: true,
                    converged: false,
                    ..best
                }),
                algorithm,
            )),
        }
    }

    /// The outcome of a start.
    pub fn outcome(&self, found: Option<&Found>, whole: bool) -> Start {
        let inertia = found.map_or(f64::INFINITY, Found::inertia);
        Start::of(found, self.in_units(inertia), whole)
    }

    /// An inertia in the units of the table, of which the largest where columns have several.
    pub fn in_units(&self, inertia: f64) -> f64 {
        let power = self.frame.power;
        match (self.measure, self.specification.distance) {
            // 1 − cos is half of the squared distance of unit rows.
            (_, Distance::Cosine) => 0.5 * inertia,
            (_, Distance::Mahalanobis) => inertia,
            _ if self.specification.standardize => inertia,
            (Measure::Absolute, _) => inertia / power,
            (Measure::Squared, _) if self.specification.medoids => inertia / power,
            (Measure::Squared, _) => inertia / power / power,
        }
    }

    fn finish(
        &self,
        source: &dyn Source,
        survey: &Survey,
        found: Found,
        starts: Vec<Start>,
        algorithm: Algorithm,
    ) -> Fit {
        let width = self.frame.columns.len();
        let centres = found
            .centres
            .chunks_exact(width)
            .map(|c| self.frame.in_units_of_table(c));
        type Cluster = (f64, Vec<f64>, usize);
        let mut clusters: Vec<Cluster> = (found.weights.iter().zip(centres).enumerate())
            .map(|(number, (weight, centre))| (*weight, centre, number))
            .filter(|(weight, ..)| *weight > 0.0)
            .collect();
        let by_size = |a: &Cluster, b: &Cluster| {
            let centres = a.1.iter().zip(&b.1);
            let order = centres
                .map(|(a, b)| a.total_cmp(b))
                .find(|order| order.is_ne());
            b.0.total_cmp(&a.0)
                .then(order.unwrap_or(std::cmp::Ordering::Equal))
        };
        if !self.options.numbered {
            clusters.sort_by(by_size);
        }
        let mut names = vec![0; found.weights.len()];
        for (name, (.., number)) in clusters.iter().enumerate() {
            names[*number] = name as u32;
        }
        let labels = (found.labels.len() as u64 == source.rows()).then(|| {
            let own = found.labels.iter();
            own.map(|number| names[*number as usize]).collect()
        });
        let (sizes, centres) = (clusters.into_iter())
            .map(|(size, centre, _)| (size, centre))
            .unzip();
        let squared = self.measure == Measure::Squared && !self.specification.medoids;
        let has_variance = squared && !self.frame.unit && found.inertia() > found.nothing;
        let variance = if has_variance {
            found.inertia() / found.cells
        } else {
            0.0
        };
        Fit {
            model: FittedKMeans {
                schema: source.schema().clone(),
                distance: self.specification.distance,
                medoids: self.specification.medoids,
                frame: self.frame.clone(),
                centres,
                sizes,
                variance,
                constants: Vec::new(),
                gaussians: Default::default(),
            },
            rows: survey.rows,
            weight: survey.weight,
            inertia: self.in_units(found.inertia()),
            iterations: found.iterations,
            converged: found.converged,
            monotone: found.monotone,
            interrupted: found.interrupted || self.control.is_interrupted(),
            trace: found
                .trace
                .iter()
                .map(|inertia| self.in_units(*inertia))
                .collect(),
            trace_seconds: found.seconds,
            labels,
            restarts: starts.iter().filter_map(|own| own.inertia).collect(),
            starts,
            algorithm,
            warnings: Vec::new(),
        }
    }
}
