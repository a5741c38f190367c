//! The numbers of a plot out of a model and its rows: which rows are drawn, their groups
//! and how uncertain these are, and the model's densities of columns and pairs of them
//! on grids. A density with all other columns hidden is the marginal one, because models
//! integrate over what is hidden, so this serves every model there is.

use super::sample::Sample;
use super::{Axis, Cloud, Gaussian, Grid, Marginal, Scale, Surface, Variable};
use crate::ask::{Joint, Moments, Predict};
use crate::data::{Chunk, Column, Kind, Source};
use crate::store::Model;
use crate::{Error, Result};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// What is wanted of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    /// The columns, by their positions in the schema.
    pub columns: Vec<usize>,
    /// Those of them on a logarithmic axis.
    pub logarithmic: Vec<usize>,
    /// Whether the densities of pairs are wanted.
    pub surfaces: bool,
    /// How many rows are drawn at most.
    pub most_rows: usize,
    /// The seed of what is drawn by chance.
    pub seed: u64,
}

/// The numbers of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Gathered {
    /// The rows and what the model says of the columns.
    pub cloud: Cloud,
    /// The densities of pairs of columns.
    pub surfaces: Vec<Surface>,
    /// What must be said about the rows.
    pub notes: Vec<String>,
}

/// The columns of a model that are numbers and can be drawn.
pub fn plottable(model: &dyn Predict) -> Vec<usize> {
    let fields = model.schema().fields.iter().enumerate();
    let is_number = |kind: Kind| matches!(kind, Kind::Real | Kind::Count);
    let numbers = fields.filter(|(c, field)| is_number(field.kind) && model.target() != Some(*c));
    numbers.map(|(c, _)| c).collect()
}

/// Asks a model for the numbers of a plot, with the rows of a table if there is one.
///
/// # Errors
/// If rows cannot be read or the arithmetic fails, or if the densities of pairs
/// are wanted of a model that does not have them.
pub fn gather(model: &Model, source: Option<&dyn Source>, wish: &Wish) -> Result<Gathered> {
    let fields = &model.schema().fields;
    let variable = |column: &usize| Variable {
        name: match fields[*column].unit {
            1.0 => fields[*column].name.clone(),
            unit => format!("{} in units of {unit:e}", fields[*column].name),
        },
        whole: fields[*column].kind == Kind::Count,
        scale: match wish.logarithmic.contains(column) {
            true => Scale::Logarithmic,
            false => Scale::Linear,
        },
        ..Variable::default()
    };
    let mut cloud = Cloud {
        variables: wish.columns.iter().map(variable).collect(),
        groups: model.names(),
        gaussians: gaussians(model, &wish.columns),
        ..Cloud::default()
    };
    let mut notes = Vec::new();
    if let Some(source) = source {
        add_rows(&mut cloud, model, source, wish, &mut notes)?;
        jitter(&mut cloud, &mut notes);
    }
    let joint = model
        .joint()
        .and_then(|joint| joint.check_density().map(|()| joint));
    let surfaces = match joint {
        Ok(joint) => densities(&mut cloud, joint, wish)?,
        Err(why) if wish.surfaces => return Err(why),
        Err(_) => Vec::new(),
    };
    Ok(Gathered {
        cloud,
        surfaces,
        notes,
    })
}

/// Where the groups are, as far as they are Gaussian.
fn gaussians(model: &Model, columns: &[usize]) -> Vec<Gaussian> {
    let groups = model.predictor().moments(columns).into_iter();
    let gaussian = |group: Moments| Gaussian {
        mean: group.mean,
        covariance: group.covariance,
    };
    groups.map(gaussian).collect()
}

/// Adds rows, all or an even sample, with their groups and how uncertain these are.
fn add_rows(
    cloud: &mut Cloud,
    model: &Model,
    source: &dyn Source,
    wish: &Wish,
    notes: &mut Vec<String>,
) -> Result<()> {
    let classifier = model.classifier()?;
    let mut sample = Sample::new(source, wish.most_rows, wish.seed)?;
    let (mut unanswered, mut holes) = (0, 0);
    for chunk in source.scan()? {
        let chunk = chunk?;
        let taken: Vec<(u32, f64)> = chunk
            .weighing_rows()
            .filter_map(|row| {
                let weight = chunk.weights().map_or(1.0, |weights| weights[row]);
                Some((row as u32, sample.count(weight)?))
            })
            .collect();
        let rows: Vec<u32> = taken.iter().map(|(row, _)| *row).collect();
        let rows = chunk.take(&rows);
        let lacking = model.predictor().unanswerable(&rows);
        unanswered += lacking.len();
        let is_there = |row: &u32| lacking.binary_search(&(*row as usize)).is_err();
        let answered: Vec<u32> = (0..rows.rows() as u32).filter(is_there).collect();
        let rows = rows.take(&answered);
        let posterior = classifier(&rows)?;
        for (place, own) in answered.iter().enumerate() {
            let best = posterior.best(place);
            cloud.group.push(best);
            let uncertainty = 1.0 - posterior.row(place)[best];
            cloud.uncertainty.push(uncertainty.clamp(0.0, 1.0));
            cloud.weights.push(taken[*own as usize].1);
        }
        let mut has_hole = vec![false; rows.rows()];
        for (variable, column) in cloud.variables.iter_mut().zip(&wish.columns) {
            let cells = rows.column(*column).cells(0, rows.rows());
            for (row, hole) in has_hole.iter_mut().enumerate() {
                let value = cells.number(row);
                *hole |= value.is_none();
                variable.values.push(value);
            }
        }
        holes += has_hole.iter().filter(|hole| **hole).count();
    }
    if let Some(all) = sample.thinned() {
        let drawn = cloud.rows();
        notes.push(format!(
            "{drawn} of {all} rows, taken evenly by chance (seed\u{a0}{}).",
            wish.seed
        ));
    }
    if holes > 0 {
        let rows = if holes == 1 {
            "row with missing values is"
        } else {
            "rows with missing values are"
        };
        notes.push(match wish.columns.len() {
            1 | 2 => format!("{holes} {rows} not drawn."),
            _ => format!("{holes} {rows} drawn only where both numbers are known."),
        });
    }
    if unanswered > 0 {
        notes.push(format!(
            "{unanswered} more have missing values that this model cannot integrate over."
        ));
    }
    Ok(())
}

/// Moves points apart that would hide each other.
fn jitter(cloud: &mut Cloud, notes: &mut Vec<String>) {
    // One column is drawn as a density.
    if cloud.variables.len() < 2 {
        return;
    }
    for variable in &mut cloud.variables {
        let linear = variable.scale == Scale::Linear;
        variable.jittered = linear && variable.is_of_few_whole_numbers();
    }
    let jittered = cloud.variables.iter().filter(|own| own.jittered);
    let names: Vec<&str> = jittered.map(|own| own.name.as_str()).collect();
    if !names.is_empty() {
        notes.push(format!(
            "Points are moved by up to 0.3 where many are equal: {}.",
            names.join(", ")
        ));
    }
}

/// Adds the density of each column, and gives those of pairs.
fn densities(cloud: &mut Cloud, joint: &dyn Joint, wish: &Wish) -> Result<Vec<Surface>> {
    let mut rng = ChaCha8Rng::seed_from_u64(wish.seed);
    let nothing = vec![None; joint.schema().fields.len()];
    // Neighbours cannot be drawn from; then the rows say where the mass is.
    let draws = joint.sample(&nothing, DRAWS, &mut rng).ok();
    let numbers = |place: usize| -> Vec<f64> {
        let column = wish.columns[place];
        let cells = draws
            .as_ref()
            .map(|draws| draws.column(column).cells(0, draws.rows()));
        let drawn = cells
            .iter()
            .flat_map(|cells| (0..DRAWS).filter_map(|row| cells.number(row)));
        drawn.filter(|x| x.is_finite()).collect()
    };
    let places = 0..cloud.variables.len();
    let drawn: Vec<Vec<f64>> = places.clone().map(numbers).collect();
    if drawn.iter().all(Vec::is_empty) && cloud.rows() == 0 {
        let error = Error::parameter("nothing says where the density of this model is");
        return Err(error.with_hint("name the DATA too"));
    }
    let lines = |place: usize, count: usize| lines(&cloud.variables[place], &drawn[place], count);
    let marginal = |place: usize| -> Result<Option<Marginal>> {
        let at = lines(place, 320);
        let given = [(wish.columns[place], at.clone())];
        Ok(asked(joint, &given, true)?.map(|(log_density, groups)| {
            let density: Vec<f64> = log_density.iter().map(|l| l.exp()).collect();
            let group = |number: usize| {
                let shares = groups.iter().skip(number).step_by(cloud.groups.len());
                let shares = density.iter().zip(shares);
                shares.map(|(density, share)| density * share).collect()
            };
            let groups = (0..cloud.groups.len()).map(group).collect();
            Marginal {
                at,
                density,
                groups,
            }
        }))
    };
    let marginals = places.clone().map(marginal).collect::<Result<Vec<_>>>()?;
    let mut surfaces = Vec::new();
    let each = if cloud.variables.len() == 2 { 120 } else { 64 };
    let pairs = places.clone().flat_map(|y| (0..y).map(move |x| (x, y)));
    for (x, y) in pairs.filter(|_| wish.surfaces) {
        let (across, up) = (lines(x, each), lines(y, each));
        let cells = up.iter().flat_map(|y| across.iter().map(|x| (*x, *y)));
        let (xs, ys) = cells.unzip();
        let given = [(wish.columns[x], xs), (wish.columns[y], ys)];
        let Some((log_density, _)) = asked(joint, &given, false)? else {
            return Err(Error::parameter(
                "this model has no density of two columns without its others",
            )
            .with_hint("draw all its columns if they are two, or fit kde instead"));
        };
        let peak = log_density.iter().copied().filter(|l| l.is_finite());
        let peak = peak.fold(f64::NEG_INFINITY, f64::max);
        let relative = log_density.iter().map(|l| (l - peak).exp());
        surfaces.push(Surface {
            x,
            y,
            density: Grid {
                x: across,
                y: up,
                values: relative
                    .map(|d| if d.is_finite() { d } else { 0.0 })
                    .collect(),
            },
        });
    }
    for (variable, marginal) in cloud.variables.iter_mut().zip(marginals) {
        variable.marginal = marginal;
    }
    Ok(surfaces)
}

/// How many rows are drawn to find where the mass is.
const DRAWS: usize = 2000;

/// The log-densities of rows of which some columns are given, and the probabilities of
/// their groups if asked for; nothing where the model cannot say.
fn asked(
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
            |(column, field)| match given.iter().find(|(own, _)| *own == column) {
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
    for (own, shares) in answers {
        densities.extend(own);
        groups.extend(shares);
    }
    Ok(Some((densities, groups)))
}

/// Where the density of a column is asked for: half of the lines evenly over the range of
/// rows and draws, half as close as these are, so that a narrow peak is not missed.
fn lines(variable: &Variable, draws: &[f64], count: usize) -> Vec<f64> {
    let has_place = |x: &f64| variable.scale == Scale::Linear || *x > 0.0;
    let mut numbers: Vec<f64> = draws.iter().copied().filter(has_place).collect();
    numbers.sort_by(f64::total_cmp);
    // A heavy tail draws very far numbers.
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
    // Lines closer than a hair are one.
    let mut last = f64::NEG_INFINITY;
    lines.retain(|x| {
        let place = axis.fraction(*x).unwrap_or(last);
        let far = place - last > 1e-4;
        last = if far { place } else { last };
        far
    });
    lines
}
