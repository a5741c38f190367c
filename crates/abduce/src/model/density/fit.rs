//! Fitting densities to the complete rows of each class. Scales, bins and the bandwidths of
//! constant columns are those of all rows, so that a class of a single row has a density in
//! the units of the table.

use super::diagnose::Findings;
use super::points::ClassPoints;
use super::{Density, DensityModel, Estimator, Specification};
use crate::data::Source;
use crate::density::{Bandwidth, Edges, Histogram, KernelDensity, NearestNeighbours, Points, Rule};
use crate::model::mixture::interrupted;
use crate::{Control, Progress, Result};

/// Fitted densities and how the fit went.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The model.
    pub model: DensityModel,
    /// The number of complete rows.
    pub rows: u64,
    /// Their total weight.
    pub weight: f64,
    /// The log-likelihood of the rows, each given all others; that of a histogram is of all
    /// rows given all.
    pub log_likelihood: f64,
    /// The number of free parameters; points do not count.
    pub parameters: usize,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// Fits densities to a source.
///
/// ```
/// use abduce::data::{Column, Field, Kind, Schema, Table};
/// use abduce::density::Bins;
/// use abduce::Control;
/// use abduce::model::density::{Estimator, Specification, fit};
/// let schema = Schema::new(vec![Field::new("x", Kind::Real)]);
/// let x = Column::from_numbers([Some(1.0), Some(2.0), None, Some(4.0)]);
/// let table = Table::new(schema, vec![x], None)?;
/// let estimator = Estimator::Histogram { bins: Bins::Number(3), smoothing: 0.0 };
/// let specification = Specification { target: None, estimator };
/// let fit = fit(&specification, &table, Control::default())?;
/// assert_eq!(fit.rows, 3);
/// assert_eq!(fit.warnings.len(), 1);
/// # Ok::<(), abduce::Error>(())
/// ```
///
/// # Errors
/// If the specification does not fit the source, the source cannot be read, or
/// no row is complete.
pub fn fit(specification: &Specification, source: &dyn Source, control: Control) -> Result<Fit> {
    let mut fit = fit_unscored(specification, source, control)?;
    fit.log_likelihood = (fit.model).log_likelihood_of_points(&mut fit.warnings, control);
    Ok(fit)
}

/// Fits densities to a source without computing the log-likelihood, which is −∞ instead. It
/// takes longer than all other steps. See [`fit`].
///
/// # Errors
/// As [`fit`].
pub fn fit_unscored(
    specification: &Specification,
    source: &dyn Source,
    control: Control,
) -> Result<Fit> {
    let schema = source.schema();
    let (target, mut columns) = specification.columns(schema)?;
    let classes = target.map_or(1, |target| schema.fields[target].levels.len());
    control.report(Progress::Survey);
    let mut points = ClassPoints::read(source, target, &columns, control)?;
    let mut all = points.all(schema, &columns)?;
    let constants = specification.estimator.constants(&columns, &all);
    if !constants.is_empty() {
        columns.retain(|column| constants.iter().all(|(constant, _)| constant != column));
        points = ClassPoints::read(source, target, &columns, control)?;
        all = points.all(schema, &columns)?;
    }
    let scales = all.scales();
    let mut findings = Findings::default();
    let units: Vec<f64> = (columns.iter())
        .map(|column| schema.fields[*column].unit)
        .collect();
    let mut estimate = Estimate::new(specification.estimator, &all, &scales, &mut findings);
    estimate.given_bandwidth = specification.estimator.given_width(&units);
    let densities = (0..classes)
        .map(|class| match points.class(class) {
            Some(points) => (estimate.density(class, points?, &mut findings, control)).map(Some),
            None => Ok(None),
        })
        .collect::<Result<Vec<Option<Density>>>>()?;
    let model = DensityModel {
        schema: schema.clone(),
        target,
        columns,
        constants,
        weights: points.shares(),
        densities,
        patterns: Default::default(),
    };
    findings.constant_columns = (all.deviations().iter().enumerate())
        .filter(|(_, deviation)| **deviation == 0.0)
        .map(|(column, _)| column)
        .collect();
    let warnings = findings.warnings(&model, &specification.estimator, &points);
    Ok(Fit {
        rows: points.rows(),
        weight: all.weight(),
        log_likelihood: f64::NEG_INFINITY,
        parameters: model.parameters(),
        warnings,
        model,
    })
}

impl Estimator {
    /// The constant columns to leave out, and their values. None are left out if the bandwidth
    /// is given as a number, as then constant columns have a density too, or if all columns are
    /// constant.
    fn constants(&self, columns: &[usize], points: &Points) -> Vec<(usize, f64)> {
        let has_given_width = matches!(
            self,
            Estimator::Kde { selection, .. } if matches!(selection.rule, Rule::Number(_))
        );
        let cells = columns.iter().zip(points.row(0)).zip(points.deviations());
        let constants = cells.filter(|(_, deviation)| *deviation == 0.0 && !has_given_width);
        let constants: Vec<_> = constants.map(|((column, x), _)| (*column, *x)).collect();
        if constants.len() < columns.len() {
            constants
        } else {
            Vec::new()
        }
    }

    /// A bandwidth given as a number, which is in the units of the file, converted to the units
    /// in which the columns were read, if these differ.
    fn given_width(&self, units: &[f64]) -> Option<Bandwidth> {
        let Estimator::Kde { selection, .. } = self else {
            return None;
        };
        match selection.rule {
            Rule::Number(width) if units.iter().any(|unit| *unit != 1.0) => Some(
                Bandwidth::Columns(units.iter().map(|unit| width / unit).collect()),
            ),
            _ => None,
        }
    }
}

/// An estimator with what is common to all classes.
struct Estimate<'a> {
    estimator: Estimator,
    scales: &'a [f64],
    /// The bins of every column, for a histogram.
    edges: Vec<Edges>,
    /// The given bandwidth, if it had to be converted.
    given_bandwidth: Option<Bandwidth>,
}

impl<'a> Estimate<'a> {
    fn new(estimator: Estimator, all: &Points, scales: &'a [f64], findings: &mut Findings) -> Self {
        let mut edges = Vec::new();
        if let Estimator::Histogram { bins, .. } = estimator {
            for column in 0..all.columns() {
                let (bins, by_rule) = Edges::choose(&all.column(column), all.weights(), bins);
                edges.push(bins);
                (findings.other_bins).extend((!by_rule).then_some(column));
            }
        }
        Estimate {
            estimator,
            scales,
            edges,
            given_bandwidth: None,
        }
    }

    /// The density of a class.
    fn density(
        &self,
        class: usize,
        points: Points,
        findings: &mut Findings,
        control: Control,
    ) -> Result<Density> {
        if points
            .deviations()
            .iter()
            .all(|deviation| *deviation == 0.0)
        {
            findings.constant_classes.push(class);
        }
        Ok(match self.estimator {
            Estimator::Kde { kernel, selection } => {
                let scales = Some(self.scales);
                let (bandwidth, by_rule) = selection.choose(&points, kernel, scales, control)?;
                if control.is_interrupted() {
                    return Err(interrupted());
                }
                (findings.other_bandwidths).extend((!by_rule).then_some(class));
                let bandwidth = self.given_bandwidth.clone().unwrap_or(bandwidth);
                Density::Kde(KernelDensity::with_bandwidth(points, kernel, bandwidth)?)
            }
            Estimator::Histogram { smoothing, .. } => {
                let edges = self.edges.clone();
                Density::Histogram(Histogram::with_edges(&points, edges, smoothing)?)
            }
            Estimator::Knn { neighbours } => {
                let rows = points.weight();
                let neighbours = neighbours.unwrap_or(rows.sqrt().round().max(1.0) as usize);
                let available = neighbours.min(rows.max(1.0) as usize);
                (findings.few_neighbours).extend((available < neighbours).then_some(class));
                let scales = Some(self.scales.to_vec());
                Density::Knn(NearestNeighbours::new(points, available, scales)?)
            }
        })
    }
}

impl DensityModel {
    /// The number of free parameters.
    fn parameters(&self) -> usize {
        let densities = self.densities.iter().flatten();
        let parameters = densities.map(|density| match density {
            Density::Kde(density) => density.bandwidth().parameters(),
            Density::Knn(_) => 1,
            Density::Histogram(histogram) => {
                let bins = histogram.edges.iter().map(|edges| edges.bins);
                bins.fold(1, usize::saturating_mul).saturating_sub(1)
            }
        });
        parameters.fold(self.weights.len() - 1, usize::saturating_add)
    }
}
