//! Fitting clusters: a survey of all rows, several starts in parallel, for a large table on a
//! sample of its rows, and iterations over all rows from the best of them.

use super::choose_algorithm::{fastest_algorithm, limit_memory};
use super::iterate::{Rows, RunResult, iterate};
use super::medians::fit_medians;
use super::mini_batch::mini_batches;
use super::seeding::Measure;
use super::specification::{Algorithm, Distance, Options, Specification};
use super::starts::Start;
use super::survey::Survey;
use super::{FittedKMeans, Frame, diagnose, fit_medoids};
use crate::data::Source;
use crate::model::check_tries;
use crate::model::mixture::interrupted;
use crate::{Control, Progress};
use crate::{Error, Result};
use std::cmp::Ordering;

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
    /// Whether the inertia never increased.
    pub monotone: bool,
    /// Whether the caller stopped the fit.
    pub interrupted: bool,
    /// The inertia before each iteration and at the end.
    pub trace: Vec<f64>,
    /// Seconds from the first pass to the end of each pass of the trace.
    pub trace_seconds: Vec<f64>,
    /// The cluster of each row, if all rows were in memory and none was ignored.
    pub labels: Option<Vec<u32>>,
    /// The inertia that each start reached; for a large table, on a sample of its rows.
    pub restarts: Vec<f64>,
    /// The outcome of each start.
    pub starts: Vec<Start>,
    /// The algorithm used.
    pub algorithm: Algorithm,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

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

/// Fits clusters from given centres, if there are any: each has a number for each numeric column,
/// in its units. See [`fit`].
///
/// # Errors
/// As [`fit`], and if the centres do not match the numeric columns.
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
    let estimates_covariance =
        specification.distance == Distance::Mahalanobis && specification.covariance.is_none();
    let constants = survey.constants(&columns);
    let useless = survey.leave_out(&mut columns, estimates_covariance);
    let frame = Frame::new(specification, columns, &survey, source)?;
    // With more clusters than rows, some would be empty.
    let rows = usize::try_from(survey.rows).unwrap_or(usize::MAX);
    let limited = Specification {
        clusters: match start {
            None => specification.clusters.min(rows),
            Some(_) => specification.clusters,
        },
        ..specification.clone()
    };
    let run = Run {
        specification: &limited,
        options,
        frame: &frame,
        measure: match specification.distance {
            Distance::Manhattan => Measure::Absolute,
            _ => Measure::Squared,
        },
        control,
    };
    let mut starts = Vec::new();
    let (found, algorithm) = run.find_clusters(source, &survey, start, &mut starts)?;
    let found = found.ok_or_else(interrupted)?;
    let mut fit = run.finish(source, &survey, found, starts, algorithm);
    // With a given covariance, constant columns are part of the densities.
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

/// The arguments of a fit.
pub(super) struct Run<'a> {
    pub specification: &'a Specification,
    pub options: &'a Options,
    pub frame: &'a Frame,
    pub measure: Measure,
    pub control: Control<'a>,
}

impl Run<'_> {
    /// Finds clusters from given centres or from several starts, whose outcomes are added to
    /// `starts`.
    fn find_clusters(
        &self,
        source: &dyn Source,
        survey: &Survey,
        centres: Option<&[Vec<f64>]>,
        starts: &mut Vec<Start>,
    ) -> Result<(Option<RunResult>, Algorithm)> {
        match (self.specification.medoids, centres) {
            (true, Some(_)) => Err(Error::parameter(
                "`medoids` cannot be combined with given centres",
            )),
            (true, None) => {
                let result = fit_medoids(self, source, survey.rows, starts)?;
                Ok((Some(result), Algorithm::Auto))
            }
            (false, Some(centres)) => self.run_on_all_rows(source, self.given_centres(centres)?),
            (false, None) => self.best_of_starts(source, survey, starts),
        }
    }

    /// Given centres in the coordinates of the frame.
    fn given_centres(&self, start: &[Vec<f64>]) -> Result<Vec<f64>> {
        let width = self.frame.columns.len();
        let is_valid =
            |centre: &Vec<f64>| centre.len() == width && centre.iter().all(|x| x.is_finite());
        if start.len() != self.specification.clusters || !start.iter().all(is_valid) {
            return Err(Error::parameter(format!(
                "the given start must be {} centres of {width} numbers",
                self.specification.clusters
            )));
        }
        Ok(start
            .iter()
            .flat_map(|centre| self.frame.to_coordinates(centre))
            .collect())
    }

    /// Runs from initial centres on all rows.
    pub fn run_on_all_rows(
        &self,
        source: &dyn Source,
        start: Vec<f64>,
    ) -> Result<(Option<RunResult>, Algorithm)> {
        let rows = self.rows(source)?;
        self.run(&rows, start, self.options)
    }

    /// The rows of a source; for medians, in memory even if the source is a stream.
    pub fn rows<'b>(&'b self, source: &'b dyn Source) -> Result<Rows<'b>> {
        match self.measure {
            Measure::Squared => Ok(Rows::new(source, self.frame)),
            Measure::Absolute => Rows::new_in_memory(source, self.frame),
        }
    }

    /// Runs from initial centres, and returns the algorithm used with the result.
    pub fn run(
        &self,
        rows: &Rows,
        start: Vec<f64>,
        options: &Options,
    ) -> Result<(Option<RunResult>, Algorithm)> {
        if self.measure == Measure::Absolute {
            return Ok((
                fit_medians(rows, start, options, self.control)?,
                Algorithm::Lloyd,
            ));
        }
        if options.algorithm == Algorithm::MiniBatch {
            let (centres, passes) = mini_batches(rows, start, options, self.control)?;
            // A last pass without moving the centres computes the inertia.
            let last_pass = Options {
                max_iterations: 0,
                ..options.clone()
            };
            let found = iterate(rows, centres, Algorithm::Lloyd, &last_pass, self.control)?;
            let found = found.map(|found| RunResult {
                iterations: passes,
                converged: !self.control.is_interrupted(),
                ..found
            });
            return Ok((found, Algorithm::MiniBatch));
        }
        let clusters = start.len() / self.frame.columns.len();
        let algorithm = match (options.algorithm, &rows.in_memory) {
            (_, None) => Algorithm::Lloyd,
            (Algorithm::Auto, Some(_)) => fastest_algorithm(self.frame.columns.len()),
            (chosen, Some(_)) => chosen,
        };
        let algorithm = limit_memory(algorithm, rows.source.rows(), clusters);
        Ok((
            iterate(rows, start, algorithm, options, self.control)?,
            algorithm,
        ))
    }

    /// An inertia in the units of the table, or in the largest unit if columns have several.
    pub fn in_table_units(&self, inertia: f64) -> f64 {
        let power = self.frame.power;
        match (self.measure, self.specification.distance) {
            // 1 − cos is half the squared distance of rows of length 1.
            (_, Distance::Cosine) => 0.5 * inertia,
            (_, Distance::Mahalanobis) => inertia,
            _ if self.specification.standardize => inertia,
            (Measure::Absolute, _) => inertia / power,
            (Measure::Squared, _) if self.specification.medoids => inertia / power,
            (Measure::Squared, _) => inertia / power / power,
        }
    }

    /// The fit that follows from a result.
    fn finish(
        &self,
        source: &dyn Source,
        survey: &Survey,
        found: RunResult,
        starts: Vec<Start>,
        algorithm: Algorithm,
    ) -> Fit {
        let clusters = self.clusters(&found);
        let mut numbers = vec![0; found.weights.len()];
        for (number, cluster) in clusters.iter().enumerate() {
            numbers[cluster.number] = number as u32;
        }
        let labels = (found.labels.len() as u64 == source.rows()).then(|| {
            let labels = found.labels.iter();
            labels.map(|label| numbers[*label as usize]).collect()
        });
        let (sizes, centres) = (clusters.into_iter())
            .map(|cluster| (cluster.weight, cluster.centre))
            .unzip();
        let squared = self.measure == Measure::Squared && !self.specification.medoids;
        let has_variance = squared && !self.frame.unit && found.inertia() > found.rounding_inertia;
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
            inertia: self.in_table_units(found.inertia()),
            iterations: found.iterations,
            converged: found.converged,
            monotone: found.monotone,
            interrupted: found.interrupted || self.control.is_interrupted(),
            trace: found
                .trace
                .iter()
                .map(|inertia| self.in_table_units(*inertia))
                .collect(),
            trace_seconds: found.seconds,
            labels,
            restarts: starts.iter().filter_map(|start| start.inertia).collect(),
            starts,
            algorithm,
            warnings: Vec::new(),
        }
    }

    /// The clusters that have rows, sorted by weight and centre unless they stay in their order.
    fn clusters(&self, found: &RunResult) -> Vec<Cluster> {
        let centres = found.centres.chunks_exact(self.frame.columns.len());
        let clusters = found.weights.iter().zip(centres).enumerate();
        let mut clusters: Vec<Cluster> = clusters
            .filter(|(_, (weight, _))| **weight > 0.0)
            .map(|(number, (weight, centre))| Cluster {
                number,
                weight: *weight,
                centre: self.frame.to_table_units(centre),
            })
            .collect();
        if !self.options.numbered {
            clusters.sort_by(|a, b| {
                let coordinates = a.centre.iter().zip(&b.centre);
                let by_centre = coordinates.map(|(a, b)| a.total_cmp(b));
                let by_centre = by_centre.fold(Ordering::Equal, Ordering::then);
                b.weight.total_cmp(&a.weight).then(by_centre)
            });
        }
        clusters
    }
}

/// A cluster of a result.
struct Cluster {
    /// Its position in the result.
    number: usize,
    weight: f64,
    /// Its centre in the units of the table.
    centre: Vec<f64>,
}
