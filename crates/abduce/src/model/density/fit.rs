//! Fitting densities: the complete rows become points, class by class; scales,
//! bins and fallback widths are those of all of them together, so that a class
//! of a single row has a density in the units of the table.

use super::diagnose::{Doubts, quoted};
use super::{Density, DensityModel, Estimator, Specification};
use crate::data::{Chunk, Schema, Source};
use crate::density::{Bandwidth, Edges, Histogram, KernelDensity, NearestNeighbours, Points, Rule};
use crate::model::some_of;
use crate::{Control, Progress};
use crate::{Error, Result};

/// Rows whose likelihood is looked at; that of more is estimated from so many.
const ROWS_SCORED: usize = 20_000;
/// Rows that are scored before an interrupt is looked for again.
const ROWS_AT_ONCE: usize = 1_000;

/// Fitted densities and how the fit went.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The model.
    pub model: DensityModel,
    /// The number of rows that became points.
    pub rows: u64,
    /// Their total weight.
    pub weight: f64,
    /// The log-likelihood of the rows: each given all others, but for a histogram,
    /// whose is of all rows under all.
    pub log_likelihood: f64,
    /// The number of free parameters; points are none.
    pub parameters: usize,
    /// What the user should know.
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
    fit.log_likelihood = (fit.model).own_log_likelihood(&mut fit.warnings, control);
    Ok(fit)
}

/// Fits densities to a source, whose likelihood remains unknown: minus infinity. It takes
/// longer than all else. See [`fit`].
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
    let mut gathered = Gathered::of(source, target, &columns, control)?;
    let mut all = gathered.all(schema, &columns)?;
    let constants = specification.estimator.constants(&columns, &all);
    if !constants.is_empty() {
        columns.retain(|column| constants.iter().all(|(constant, _)| constant != column));
        gathered = Gathered::of(source, target, &columns, control)?;
        all = gathered.all(schema, &columns)?;
    }
    let spreads = all.scales();
    let mut doubts = Doubts::default();
    let units: Vec<f64> = (columns.iter())
        .map(|column| schema.fields[*column].unit)
        .collect();
    let mut estimate = Estimate::new(specification.estimator, &all, &spreads, &mut doubts);
    estimate.given = specification.estimator.given_width(&units);
    let densities = (0..classes)
        .map(|class| match gathered.class(class) {
            Some(points) => estimate.of(class, points?, &mut doubts, control).map(Some),
            None => Ok(None),
        })
        .collect::<Result<Vec<Option<Density>>>>()?;
    let model = DensityModel {
        schema: schema.clone(),
        target,
        columns,
        constants,
        weights: gathered.shares(),
        densities,
        patterns: Default::default(),
    };
    doubts.columns = (all.deviations().iter().enumerate())
        .filter(|(_, deviation)| **deviation == 0.0)
        .map(|(column, _)| column)
        .collect();
    let warnings = doubts.told(&model, &specification.estimator, &gathered);
    Ok(Fit {
        rows: gathered.rows(),
        weight: all.weight(),
        log_likelihood: f64::NEG_INFINITY,
        parameters: model.parameters(),
        warnings,
        model,
    })
}

fn stopped() -> Error {
    Error::numeric("stopped before there was a model")
}

impl Estimator {
    /// The columns that are constant at these points, and their values. Where the width of
    /// kernels is given, a constant column has a density like any other; and where all
    /// columns are constant, they are all there is.
    fn constants(&self, columns: &[usize], points: &Points) -> Vec<(usize, f64)> {
        let given = matches!(
            self,
            Estimator::Kde { selection, .. } if matches!(selection.rule, Rule::Number(_))
        );
        let cells = columns.iter().zip(points.row(0)).zip(points.deviations());
        let constants = cells.filter(|(_, deviation)| *deviation == 0.0 && !given);
        let constants: Vec<_> = constants.map(|((column, x), _)| (*column, *x)).collect();
        if constants.len() < columns.len() {
            constants
        } else {
            Vec::new()
        }
    }

    /// A given width of every column in the units in which columns are read, where these
    /// are not the numbers' own.
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

/// How points become a density: what is the same for all classes.
struct Estimate<'a> {
    estimator: Estimator,
    spreads: &'a [f64],
    /// The bins of every column, for a histogram.
    edges: Vec<Edges>,
    /// The width that is given in numbers of the file, where columns are read in units.
    given: Option<Bandwidth>,
}

impl<'a> Estimate<'a> {
    fn new(estimator: Estimator, all: &Points, spreads: &'a [f64], doubts: &mut Doubts) -> Self {
        let mut edges = Vec::new();
        if let Estimator::Histogram { bins, .. } = estimator {
            for column in 0..all.columns() {
                let (own, chosen) = Edges::choose(&all.column(column), all.weights(), bins);
                edges.push(own);
                doubts.bins.extend((!chosen).then_some(column));
            }
        }
        Estimate {
            estimator,
            spreads,
            edges,
            given: None,
        }
    }

    fn of(
        &self,
        class: usize,
        points: Points,
        doubts: &mut Doubts,
        control: Control,
    ) -> Result<Density> {
        if points.deviations().iter().all(|own| *own == 0.0) {
            doubts.spreads.push(class);
        }
        Ok(match self.estimator {
            Estimator::Kde { kernel, selection } => {
                let spreads = Some(self.spreads);
                let (bandwidth, own) = selection.choose(&points, kernel, spreads, control)?;
                if control.is_interrupted() {
                    return Err(stopped());
                }
                doubts.widths.extend((!own).then_some(class));
                let bandwidth = self.given.clone().unwrap_or(bandwidth);
                Density::Kde(KernelDensity::with_bandwidth(points, kernel, bandwidth)?)
            }
            Estimator::Histogram { smoothing, .. } => {
                let edges = self.edges.clone();
                Density::Histogram(Histogram::with_edges(&points, edges, smoothing)?)
            }
            Estimator::Knn { neighbours } => {
                let rows = points.weight();
                let wanted = neighbours.unwrap_or(rows.sqrt().round().max(1.0) as usize);
                let there = wanted.min(rows.max(1.0) as usize);
                doubts.neighbours.extend((there < wanted).then_some(class));
                let scales = Some(self.spreads.to_vec());
                Density::Knn(NearestNeighbours::new(points, there, scales)?)
            }
        })
    }
}

/// The complete rows, class by class and column by column.
pub(super) struct Gathered {
    cells: Vec<Vec<Vec<f64>>>,
    pub(super) weights: Vec<Vec<f64>>,
    /// The weight of the labelled rows of each class, with or without missing values.
    labelled: Vec<f64>,
    pub(super) incomplete: u64,
    pub(super) unlabelled: u64,
}

impl Gathered {
    fn new(classes: usize, columns: usize) -> Gathered {
        Gathered {
            cells: vec![vec![Vec::new(); columns]; classes],
            weights: vec![Vec::new(); classes],
            labelled: vec![0.0; classes],
            incomplete: 0,
            unlabelled: 0,
        }
    }

    /// The rows of a source.
    fn of(
        source: &dyn Source,
        target: Option<usize>,
        columns: &[usize],
        control: Control,
    ) -> Result<Gathered> {
        let schema = source.schema();
        let classes = target.map_or(1, |target| schema.fields[target].levels.len());
        let mut gathered = Gathered::new(classes, columns.len());
        for chunk in source.scan()? {
            if control.is_interrupted() {
                return Err(stopped());
            }
            gathered.take(&chunk?, target, columns);
        }
        Ok(gathered)
    }

    fn take(&mut self, chunk: &Chunk, target: Option<usize>, columns: &[usize]) {
        let cells = |column: usize| chunk.column(column).cells(0, chunk.rows());
        let labels = target.map(cells);
        let numbers: Vec<_> = columns.iter().map(|column| cells(*column)).collect();
        for row in chunk.weighing_rows() {
            let weight = chunk.weights().map_or(1.0, |weights| weights[row]);
            let class = match &labels {
                None => 0,
                Some(labels) if labels.is_seen(row) => labels.codes()[row] as usize,
                Some(_) => {
                    self.unlabelled += 1;
                    continue;
                }
            };
            self.labelled[class] += weight;
            if !numbers.iter().all(|cells| cells.is_seen(row)) {
                self.incomplete += 1;
                continue;
            }
            for (column, cells) in self.cells[class].iter_mut().zip(&numbers) {
                column.push(cells.reals()[row]);
            }
            self.weights[class].push(weight);
        }
    }

    /// The number of complete rows.
    pub(super) fn rows(&self) -> u64 {
        self.weights.iter().map(|own| own.len() as u64).sum()
    }

    /// The share of each class. A missing value in a row takes nothing from what its label
    /// says, but a class without a point has no density and so no share.
    fn shares(&self) -> Vec<f64> {
        let classes = self.labelled.iter().zip(&self.weights);
        let own: Vec<f64> = classes
            .map(|(labelled, points)| if points.is_empty() { 0.0 } else { *labelled })
            .collect();
        let total: f64 = own.iter().sum();
        own.iter().map(|own| own / total).collect()
    }

    fn all(&self, schema: &Schema, positions: &[usize]) -> Result<Points> {
        let weights = self.weights.concat();
        if weights.is_empty() {
            return Err(match (self.incomplete, self.unlabelled) {
                (0, 0) => Error::data("there are no rows"),
                (0, _) => Error::data("no row has a label"),
                _ => Error::data(
                    "every row has a missing value, and the points of a density are complete rows",
                )
                .with_hint("leave columns with many missing values out with --drop"),
            });
        }
        let columns = self.cells.first().map_or(0, Vec::len);
        let column = |c: usize| self.cells.iter().flat_map(|own| own[c].clone()).collect();
        let columns: Vec<Vec<f64>> = (0..columns).map(column).collect();
        let too_large = |x: &f64| x.abs() > Points::LARGEST;
        if let Some(c) = columns.iter().position(|own| own.iter().any(too_large)) {
            let name = &schema.fields[positions[c]].name;
            return Err(Error::data("a number is beyond 1e140, too large to square")
                .at_column(name)
                .with_hint("rescale the column"));
        }
        Points::from_columns(&columns, Some(&weights))
    }

    fn class(&self, class: usize) -> Option<Result<Points>> {
        let weights = &self.weights[class];
        (!weights.is_empty()).then(|| Points::from_columns(&self.cells[class], Some(weights)))
    }
}

impl DensityModel {
    /// The log-likelihood of the points the model is made of; after an interrupt, as those that
    /// were scored tell it.
    fn own_log_likelihood(&self, warnings: &mut Vec<String>, control: Control) -> f64 {
        let mut sum = 0.0;
        let (mut scored_rows, mut rows_of_scored) = (0, 0);
        let mut alone = Vec::new();
        let classes = self.weights.iter().zip(&self.densities).enumerate();
        for (class, (class_weight, density)) in classes {
            let points = match density {
                None => continue,
                Some(Density::Histogram(histogram)) => {
                    let weight = histogram.total() - histogram.smoothing;
                    sum += histogram.log_likelihood_of_points() + weight * class_weight.ln();
                    continue;
                }
                Some(Density::Kde(density)) => density.points(),
                Some(Density::Knn(density)) => density.points(),
            };
            let step = points.len().div_ceil(ROWS_SCORED);
            let mut rows: Vec<usize> = (0..points.len()).step_by(step).collect();
            let mut scored = Vec::with_capacity(rows.len());
            for some in rows.chunks(ROWS_AT_ONCE) {
                // The model is there: after an interrupt, what is scored tells enough.
                if !scored.is_empty() && control.is_interrupted() {
                    break;
                }
                scored.extend(match density {
                    Some(Density::Knn(density)) => density.leave_one_out(some),
                    Some(Density::Kde(density)) => density.leave_one_out(some),
                    _ => continue,
                });
            }
            rows.truncate(scored.len());
            if scored.contains(&f64::NEG_INFINITY) {
                alone.push(class);
            }
            let (mut own, mut weight) = (0.0, 0.0);
            for (row, log_density) in rows.iter().zip(scored) {
                own += points.weights()[*row] * (log_density + class_weight.ln());
                weight += points.weights()[*row];
            }
            sum += own * (points.weight() / weight);
            scored_rows += rows.len();
            rows_of_scored += points.len();
        }
        if scored_rows < rows_of_scored {
            warnings.push(format!(
                "the log-likelihood is estimated from {scored_rows} of {rows_of_scored} rows"
            ));
        }
        if !alone.is_empty() {
            let names = DensityModel::names(self);
            let which = match self.target {
                Some(_) => some_of(&quoted("class", alone.iter().map(|class| &names[*class]))),
                None => "all rows".into(),
            };
            warnings.push(format!(
                "the log-likelihood of each row given the others is -inf, as a row has no other \
                 near it: {which}"
            ));
        }
        sum
    }

    /// The number of free parameters.
    fn parameters(&self) -> usize {
        let own = self
            .densities
            .iter()
            .flatten()
            .map(|density| match density {
                Density::Kde(density) => density.bandwidth().parameters(),
                Density::Knn(_) => 1,
                Density::Histogram(histogram) => {
                    let bins = histogram.edges.iter().map(|edges| edges.bins);
                    bins.fold(1, usize::saturating_mul).saturating_sub(1)
                }
            });
        own.fold(self.weights.len() - 1, usize::saturating_add)
    }
}
