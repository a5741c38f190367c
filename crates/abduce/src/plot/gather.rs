//! Computes the numbers of a plot from a model and its rows: the rows that are drawn with their
//! groups and uncertainties, and the model's densities of columns and pairs of columns on grids.
//! These are densities with all other columns missing, which every model integrates over.

use super::sample::Sample;
use super::{Axis, Cloud, Gaussian, Grid, Marginal, Scale, Surface, Variable};
use crate::ask::{Joint, Moments, Predict};
use crate::data::{Chunk, Column, Kind, Source};
use crate::store::Model;
use crate::{Error, Result};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// What to compute for a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct PlotOptions {
    /// The positions of the columns in the schema.
    pub columns: Vec<usize>,
    /// Those of them with a logarithmic axis.
    pub logarithmic: Vec<usize>,
    /// Whether to compute the densities of pairs of columns.
    pub surfaces: bool,
    /// The most rows to draw.
    pub most_rows: usize,
    /// The seed of the random numbers.
    pub seed: u64,
}

/// The numbers of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Gathered {
    /// The rows, and the groups and densities of the model.
    pub cloud: Cloud,
    /// The densities of pairs of columns.
    pub surfaces: Vec<Surface>,
    /// Notes about the rows for the caption.
    pub notes: Vec<String>,
}

/// The numeric columns of a model, which can be plotted.
pub fn plottable(model: &dyn Predict) -> Vec<usize> {
    let fields = model.schema().fields.iter().enumerate();
    let is_number = |kind: Kind| matches!(kind, Kind::Real | Kind::Count);
    let numbers = fields.filter(|(c, field)| is_number(field.kind) && model.target() != Some(*c));
    numbers.map(|(c, _)| c).collect()
}

/// Computes the numbers of a plot from a model, with the rows of a table if there is one.
///
/// # Errors
/// If rows cannot be read, a computation fails, or the model does not have the densities.
pub fn gather(
    model: &Model,
    source: Option<&dyn Source>,
    options: &PlotOptions,
) -> Result<Gathered> {
    let fields = &model.schema().fields;
    let variable = |column: &usize| Variable {
        name: match fields[*column].unit {
            1.0 => fields[*column].name.clone(),
            unit => format!("{} in units of {unit:e}", fields[*column].name),
        },
        whole: fields[*column].kind == Kind::Count,
        scale: if options.logarithmic.contains(column) {
            Scale::Logarithmic
        } else {
            Scale::Linear
        },
        ..Variable::default()
    };
    let mut cloud = Cloud {
        variables: options.columns.iter().map(variable).collect(),
        groups: model.names(),
        gaussians: gaussians(model, &options.columns),
        ..Cloud::default()
    };
    let mut notes = Vec::new();
    if let Some(source) = source {
        add_rows(&mut cloud, model, source, options, &mut notes)?;
        jitter(&mut cloud, &mut notes);
    }
    let joint = model
        .joint()
        .and_then(|joint| joint.check_density().map(|()| joint));
    let surfaces = match joint {
        Ok(joint) => densities(&mut cloud, joint, options)?,
        Err(why) if options.surfaces => return Err(why),
        Err(_) => Vec::new(),
    };
    Ok(Gathered {
        cloud,
        surfaces,
        notes,
    })
}

/// The mean and covariance of each group, in the columns in which it is Gaussian.
fn gaussians(model: &Model, columns: &[usize]) -> Vec<Gaussian> {
    let groups = model.predictor().moments(columns).into_iter();
    let gaussian = |group: Moments| Gaussian {
        mean: group.mean,
        covariance: group.covariance,
    };
    groups.map(gaussian).collect()
}

/// The numbers of rows that are not drawn completely.
#[derive(Default)]
struct Omitted {
    /// Rows whose missing values the model cannot integrate over.
    unanswered: usize,
    /// Rows with missing values in the plotted columns.
    incomplete: usize,
}

/// Adds rows, all or a sample, with their groups and uncertainties.
fn add_rows(
    cloud: &mut Cloud,
    model: &Model,
    source: &dyn Source,
    options: &PlotOptions,
    notes: &mut Vec<String>,
) -> Result<()> {
    let classifier = model.classifier()?;
    let mut sample = Sample::new(source, options.most_rows, options.seed)?;
    let mut omitted = Omitted::default();
    for chunk in source.scan()? {
        let chunk = chunk?;
        let taken: Vec<(u32, f64)> = chunk
            .rows_with_weight()
            .filter_map(|row| {
                let weight = chunk.weights().map_or(1.0, |weights| weights[row]);
                Some((row as u32, sample.count(weight)?))
            })
            .collect();
        let rows: Vec<u32> = taken.iter().map(|(row, _)| *row).collect();
        let rows = chunk.take(&rows);
        let lacking = model.predictor().unanswerable(&rows);
        omitted.unanswered += lacking.len();
        let is_answered = |row: &u32| lacking.binary_search(&(*row as usize)).is_err();
        let answered: Vec<u32> = (0..rows.rows() as u32).filter(is_answered).collect();
        let rows = rows.take(&answered);
        let posterior = classifier(&rows)?;
        for (place, row) in answered.iter().enumerate() {
            let best = posterior.best(place);
            cloud.group.push(best);
            let uncertainty = 1.0 - posterior.row(place)[best];
            cloud.uncertainty.push(uncertainty.clamp(0.0, 1.0));
            cloud.weights.push(taken[*row as usize].1);
        }
        let mut is_incomplete = vec![false; rows.rows()];
        for (variable, column) in cloud.variables.iter_mut().zip(&options.columns) {
            let cells = rows.column(*column).cells(0, rows.rows());
            for (row, is_incomplete) in is_incomplete.iter_mut().enumerate() {
                let value = cells.number(row);
                *is_incomplete |= value.is_none();
                variable.values.push(value);
            }
        }
        omitted.incomplete += is_incomplete.iter().filter(|row| **row).count();
    }
    if let Some(all) = sample.thinned() {
        let drawn = cloud.rows();
        notes.push(format!(
            "{drawn} of {all} rows, sampled evenly (seed\u{a0}{}).",
            options.seed
        ));
    }
    notes.extend(omitted.notes(options.columns.len()));
    Ok(())
}

impl Omitted {
    /// Notes for a plot of this many columns.
    fn notes(&self, columns: usize) -> Vec<String> {
        let mut notes = Vec::new();
        if self.incomplete > 0 {
            let rows = if self.incomplete == 1 {
                "1 row with missing values is".to_string()
            } else {
                format!("{} rows with missing values are", self.incomplete)
            };
            notes.push(match columns {
                1 | 2 => format!("{rows} not drawn."),
                _ => format!("{rows} drawn only where both numbers are known."),
            });
        }
        if self.unanswered > 0 {
            notes.push(format!(
                "{} more have missing values that this model cannot integrate over.",
                self.unanswered
            ));
        }
        notes
    }
}

/// Jitters points that would hide each other.
fn jitter(cloud: &mut Cloud, notes: &mut Vec<String>) {
    // A single column is drawn as a density.
    if cloud.variables.len() < 2 {
        return;
    }
    for variable in &mut cloud.variables {
        let linear = variable.scale == Scale::Linear;
        variable.jittered = linear && variable.is_of_few_whole_numbers();
    }
    let jittered = cloud.variables.iter().filter(|column| column.jittered);
    let names: Vec<&str> = jittered.map(|column| column.name.as_str()).collect();
    if !names.is_empty() {
        notes.push(format!(
            "Points are moved by up to 0.3 where many are equal: {}.",
            names.join(", ")
        ));
    }
}

/// Adds the density of each column to the cloud, and returns the densities of pairs.
fn densities(cloud: &mut Cloud, joint: &dyn Joint, options: &PlotOptions) -> Result<Vec<Surface>> {
    let drawn = draws(joint, options);
    if drawn.iter().all(Vec::is_empty) && cloud.rows() == 0 {
        let error = Error::parameter("the range of this model's density is unknown");
        return Err(error.with_hint("plot it together with its data"));
    }
    let lines = |place: usize, count: usize| lines(&cloud.variables[place], &drawn[place], count);
    let places = 0..cloud.variables.len();
    let marginal = |place: usize| {
        let at = lines(place, 320);
        marginal(joint, options.columns[place], at, cloud.groups.len())
    };
    let marginals = places.clone().map(marginal).collect::<Result<Vec<_>>>()?;
    let mut surfaces = Vec::new();
    let each = if cloud.variables.len() == 2 { 120 } else { 64 };
    let pairs = places.flat_map(|y| (0..y).map(move |x| (x, y)));
    for (x, y) in pairs.filter(|_| options.surfaces) {
        let columns = [options.columns[x], options.columns[y]];
        let density = density_of_pair(joint, columns, lines(x, each), lines(y, each))?;
        surfaces.push(Surface { x, y, density });
    }
    for (variable, marginal) in cloud.variables.iter_mut().zip(marginals) {
        variable.marginal = marginal;
    }
    Ok(surfaces)
}

/// The number of draws from the model to find the range of its density.
const DRAWS: usize = 2000;

/// Draws from the model in each column; none from a model that cannot be drawn from.
fn draws(joint: &dyn Joint, options: &PlotOptions) -> Vec<Vec<f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let nothing = vec![None; joint.schema().fields.len()];
    let Ok(draws) = joint.sample(&nothing, DRAWS, &mut rng) else {
        return vec![Vec::new(); options.columns.len()];
    };
    let numbers = |column: &usize| {
        let cells = draws.column(*column).cells(0, draws.rows());
        let numbers = (0..draws.rows()).filter_map(|row| cells.number(row));
        numbers.filter(|x| x.is_finite()).collect()
    };
    options.columns.iter().map(numbers).collect()
}

/// The density of a column at some points, with the contribution of each group; `None` if the
/// model does not have it.
fn marginal(
    joint: &dyn Joint,
    column: usize,
    at: Vec<f64>,
    groups: usize,
) -> Result<Option<Marginal>> {
    let Some((log_density, shares)) = log_densities(joint, &[(column, at.clone())], true)? else {
        return Ok(None);
    };
    let density: Vec<f64> = log_density.iter().map(|l| l.exp()).collect();
    let group = |number: usize| {
        let shares = shares.iter().skip(number).step_by(groups);
        let pairs = density.iter().zip(shares);
        pairs.map(|(density, share)| density * share).collect()
    };
    Ok(Some(Marginal {
        at,
        groups: (0..groups).map(group).collect(),
        density,
    }))
}

/// The density of two columns on a grid, relative to its maximum there.
fn density_of_pair(
    joint: &dyn Joint,
    [x, y]: [usize; 2],
    across: Vec<f64>,
    up: Vec<f64>,
) -> Result<Grid> {
    let cells = up.iter().flat_map(|y| across.iter().map(|x| (*x, *y)));
    let (xs, ys) = cells.unzip();
    let Some((log_density, _)) = log_densities(joint, &[(x, xs), (y, ys)], false)? else {
        return Err(
            Error::parameter("this model does not have the density of two of its columns")
                .with_hint("plot all its columns if they are two, or fit kde instead"),
        );
    };
    let peak = log_density.iter().copied().filter(|l| l.is_finite());
    let peak = peak.fold(f64::NEG_INFINITY, f64::max);
    let relative = log_density.iter().map(|l| (l - peak).exp());
    Ok(Grid {
        x: across,
        y: up,
        values: relative
            .map(|d| if d.is_finite() { d } else { 0.0 })
            .collect(),
    })
}

/// The log-densities of rows with some given columns, and if wanted the probabilities of their
/// groups; `None` if the model cannot integrate over the other columns.
fn log_densities(
    joint: &dyn Joint,
    given: &[(usize, Vec<f64>)],
    with_groups: bool,
) -> Result<Option<(Vec<f64>, Vec<f64>)>> {
    let rows = given.first().map_or(0, |(_, numbers)| numbers.len());
    let columns = joint
        .schema()
        .fields
        .iter()
        .enumerate()
        .map(
            |(column, field)| match given.iter().find(|(given, _)| *given == column) {
                Some((_, numbers)) => Column::from_numbers(numbers.iter().copied().map(Some)),
                None => Column::hidden(field.kind, rows),
            },
        );
    let all = Chunk::new(rows, columns.collect(), None);
    if !joint.unanswerable(&all).is_empty() {
        return Ok(None);
    }
    const PART: usize = 1024;
    let parts: Vec<usize> = (0..rows).step_by(PART).collect();
    let answers = parts.par_iter().map(|start| {
        let part = all.slice(*start, PART.min(rows - start));
        let densities = joint.log_density(&part)?;
        let mut groups = Vec::new();
        if with_groups {
            let posterior = joint.posterior(&part)?;
            (0..posterior.rows()).for_each(|row| groups.extend_from_slice(posterior.row(row)));
        }
        Ok((densities, groups))
    });
    let answers = answers.collect::<Result<Vec<_>>>()?;
    let (mut densities, mut groups) = (Vec::new(), Vec::new());
    for (part, shares) in answers {
        densities.extend(part);
        groups.extend(shares);
    }
    Ok(Some((densities, groups)))
}

/// The points at which the density of a column is computed: half of them evenly over the range
/// of rows and draws, half at their quantiles, so that a narrow peak is not missed.
fn lines(variable: &Variable, draws: &[f64], count: usize) -> Vec<f64> {
    let has_place = |x: &f64| variable.scale == Scale::Linear || *x > 0.0;
    let mut numbers: Vec<f64> = draws.iter().copied().filter(has_place).collect();
    numbers.sort_by(f64::total_cmp);
    // Draws from heavy tails may be extremely far.
    let cut = numbers.len() / 250;
    let mut bulk: Vec<f64> = numbers[cut..numbers.len() - cut].to_vec();
    bulk.extend(variable.numbers().filter(has_place));
    bulk.sort_by(f64::total_cmp);
    let axis = Axis::covering(bulk.iter().copied(), variable.scale);
    if variable.whole {
        let (low, high) = (axis.low().floor().max(0.0), axis.high().ceil());
        let step = ((high - low) / count as f64).ceil().max(1.0);
        let steps = ((high - low) / step) as usize;
        return (0..=steps).map(|k| low + step * k as f64).collect();
    }
    let half = (count / 2).max(2);
    let wide = |k: usize| axis.at(-0.15 + 1.3 * k as f64 / (half - 1) as f64);
    let quantile = |k: usize| bulk.get((bulk.len() * k + bulk.len() / 2) / half).copied();
    let mut lines: Vec<f64> = (0..half).map(wide).collect();
    lines.extend((0..half).filter_map(quantile));
    lines.retain(|x| x.is_finite());
    lines.sort_by(f64::total_cmp);
    // Points that would coincide in the plot are merged.
    let mut last = f64::NEG_INFINITY;
    lines.retain(|x| {
        let place = axis.fraction(*x).unwrap_or(last);
        let far = place - last > 1e-4;
        last = if far { place } else { last };
        far
    });
    lines
}
