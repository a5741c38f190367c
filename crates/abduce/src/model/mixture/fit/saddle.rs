//! Components that are the same have the same responsibilities for ever: EM ends where
//! they are, in a saddle of the likelihood, though the rows would tell them apart. Here
//! they are found and parted, by the library's own starts on the rows that they share,
//! and EM goes on. What it finds is kept only if it is better; where the rows do not
//! tell them apart it is not, and the user is told that they are the same.

use crate::Control;
use crate::data::{Chunk, Source, Table};
use crate::leaf::Seen;
use crate::learn::{EStep, EmOptions, Latent, em};
use crate::model::mixture::initialise::sample::{sample_rows, sample_size};
use crate::model::mixture::initialise::{Init, Points, statistics_of_groups};
use crate::model::mixture::report::diagnose::any_collapsed;
use crate::model::mixture::step::expect::Prepared;
use crate::model::mixture::step::task::{Found, Task};
use crate::model::mixture::{FitOptions, Parameters};
use crate::{ErrorKind, Result};

/// The mean log-likelihoods that two components give to the rows of either differ by
/// less where they are the same.
const SAME: f64 = 1e-8;

/// How far apart two that are the same may lie, in standard deviations of the table.
const APART: f64 = 1e-3;

/// How many ways of parting them are tried, and EM's steps in each.
const STARTS: u64 = 3;
const ROUNDS: usize = 20;

/// The groups of components that are the same; those without rows are no components.
pub(crate) fn same_components(task: &Task, seen: &Seen, found: &Found) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    // What is held to be the same stays so.
    if task.is_numbered() {
        return groups;
    }
    for j in (0..found.parameters.weights.len() - task.noise())
        .filter(|j| found.statistics.weights[*j] > 0.0)
    {
        let own = groups
            .iter_mut()
            .find(|g| are_same(task, seen, found, g[0], j));
        match own {
            Some(group) => group.push(j),
            None => groups.push(vec![j]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

fn are_same(task: &Task, seen: &Seen, found: &Found, i: usize, j: usize) -> bool {
    let leaves = task.leaves.iter().enumerate();
    let mut free = leaves.filter(|(_, leaf)| !leaf.fixed);
    free.all(|(number, leaf)| {
        let (a, b) = (
            &found.parameters.leaves[number][i],
            &found.parameters.leaves[number][j],
        );
        let scales = seen.scales(leaf);
        let unit = |c: usize| match leaf.family.levels() {
            Some(_) => 1.0,
            None => scales.get(c).map_or(1.0, |scale| scale.variance.sqrt()),
        };
        let places = a.place().into_iter().zip(b.place()).enumerate();
        let mut places = places.map(|(c, (a, b))| (a - b).abs() / unit(c));
        places.all(|apart| apart <= APART)
            && [i, j].iter().all(|own| {
                let own = &found.statistics.leaves[number][*own];
                let difference = a.log_likelihood(own) - b.log_likelihood(own);
                difference.abs() <= SAME * own.weight()
            })
    })
}

/// The same fit, or a better one that parts components which were the same.
pub(crate) fn left(
    task: &Task,
    source: &dyn Source,
    seen: &Seen,
    options: &FitOptions,
    control: Control,
    mut found: Found,
) -> Result<Found> {
    // Each time there is at least one less to part.
    for _ in 1..task.components {
        let groups = same_components(task, seen, &found);
        let Some(same) = groups.first().filter(|_| found.converged) else {
            break;
        };
        match parted(task, source, seen, options, control, &found, same) {
            Ok(Some(better)) => found = better,
            Ok(None) => break,
            // What was found before is still a fit.
            Err(why) if why.kind() == ErrorKind::Numeric => break,
            Err(why) => return Err(why),
        }
    }
    Ok(found)
}

/// A better fit in which these components are no more the same.
fn parted(
    task: &Task,
    source: &dyn Source,
    seen: &Seen,
    options: &FitOptions,
    control: Control,
    found: &Found,
    same: &[usize],
) -> Result<Option<Found>> {
    let size = sample_size(source, task.leaves);
    let sample = sample_rows(source, seen.rows as usize, size, options.seed)?;
    let shared = shared_rows(task, &found.parameters, &sample, same)?;
    let points = Points::of(&shared, task.leaves, seen);
    let few = EmOptions {
        max_iterations: ROUNDS.min(options.em.max_iterations),
        ..options.em.plainly()
    };
    let mut best: Option<Found> = None;
    for number in 0..STARTS {
        let init = match number {
            0 => Init::Hierarchical,
            _ => Init::KMeansPlusPlus,
        };
        let groups = points.group(same.len(), init, options.seed.wrapping_add(number));
        let Some(start) = start_of(task, found, same, &shared, &groups) else {
            continue;
        };
        let tried = match em(task, &sample, start, &few, control) {
            Ok(Some(tried)) => tried,
            Ok(None) => return Ok(None),
            Err(why) if why.kind() == ErrorKind::Numeric => continue,
            Err(why) => return Err(why),
        };
        let higher = |best: &Found| tried.objective > best.objective;
        let sound = !any_collapsed(task.leaves, seen, &tried.parameters);
        if sound && best.as_ref().is_none_or(higher) {
            best = Some(tried);
        }
    }
    let Some(best) = best else {
        return Ok(None);
    };
    let going_on = EmOptions {
        acceleration: options.em.acceleration,
        ..options.em.plainly()
    };
    let Some(mut after) = em(task, source, best.parameters, &going_on, control)? else {
        return Ok(None);
    };
    let weight = found.statistics.total.max(f64::MIN_POSITIVE);
    let size = 1.0 + (found.objective / weight + task.log_units).abs();
    let gain = (after.objective - found.objective) / weight;
    let rises = gain > options.em.tolerance.max(SAME) * size;
    if !rises || any_collapsed(task.leaves, seen, &after.parameters) {
        return Ok(None);
    }
    after.warmup = [found.warmup.as_slice(), &found.trace].concat();
    after.iterations += found.iterations + 1;
    let begun = found.seconds.last().copied().unwrap_or(0.0);
    after.seconds.iter_mut().for_each(|own| *own += begun);
    Ok(Some(after))
}

/// The rows with the weight that they have in some components.
fn shared_rows(
    task: &Task,
    parameters: &Parameters,
    rows: &Table,
    same: &[usize],
) -> Result<Table> {
    let prepared = Prepared::new(task.leaves, None, parameters, EStep::Soft)?;
    let chunks = rows.chunks().iter().map(|chunk| {
        let mut weights = match chunk.weights() {
            Some(weights) => weights.to_vec(),
            None => vec![1.0; chunk.rows()],
        };
        prepared.process(chunk, None, |outcome| {
            let rows = outcome.rows.len();
            for (i, row) in outcome.rows.iter().enumerate() {
                let own = same.iter().map(|j| outcome.responsibilities[j * rows + i]);
                weights[*row as usize] *= own.sum::<f64>();
            }
        })?;
        let columns = chunk.columns().to_vec();
        Ok(Chunk::new(chunk.rows(), columns, Some(weights)))
    });
    let chunks = chunks.collect::<Result<Vec<_>>>()?;
    Ok(Table::from_chunks(rows.schema().clone(), chunks))
}

/// The parameters with which EM goes on: the other components as they are, these as the
/// groups say; `None` where these have no rows.
fn start_of(
    task: &Task,
    found: &Found,
    same: &[usize],
    shared: &Table,
    groups: &[Option<usize>],
) -> Option<Parameters> {
    let mut apart = statistics_of_groups(shared, task.leaves, groups, same.len());
    let weight: f64 = apart.weights.iter().sum();
    let all: f64 = same.iter().map(|j| found.statistics.weights[*j]).sum();
    if weight <= 0.0 {
        return None;
    }
    apart.scale(all / weight);
    let mut statistics = found.statistics.clone();
    for (number, j) in same.iter().enumerate() {
        statistics.weights[*j] = apart.weights[number];
        for (leaf, own) in statistics.leaves.iter_mut().zip(&apart.leaves) {
            leaf[*j] = own[number].clone();
        }
    }
    Some(task.maximize(&statistics, Some(&found.parameters)))
}

/// What to tell of components that are the same, as they are numbered in the end.
pub(crate) fn told(task: &Task, seen: &Seen, found: &Found) -> Vec<String> {
    let name = |group: &Vec<usize>| {
        let numbers: Vec<String> = group.iter().map(|j| (j + 1).to_string()).collect();
        let (last, first) = numbers.split_last().map_or(("", &[][..]), |(l, f)| (l, f));
        format!(
            "components {} and {last} are the same, and their rows cannot be told apart; fewer components would do",
            first.join(", ")
        )
    };
    same_components(task, seen, found)
        .iter()
        .map(name)
        .collect()
}
