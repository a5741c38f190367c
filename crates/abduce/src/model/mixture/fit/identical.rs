//! Identical components have identical responsibilities in every iteration: EM stops at a saddle
//! point of the likelihood although different components would fit the rows better. Here such
//! components are found and separated: new starts for them are tried on their rows, and EM
//! continues from the best. The result is kept only if its objective is higher; otherwise the user
//! is warned that the components are identical.

use crate::Control;
use crate::data::{Chunk, Source, Table};
use crate::leaf::TableSummary;
use crate::learn::{EStep, EmOptions, Latent, em};
use crate::model::mixture::initialise::sample::{sample_rows, sample_size};
use crate::model::mixture::initialise::{Init, Points, statistics_of_groups};
use crate::model::mixture::report::diagnose::any_collapsed;
use crate::model::mixture::step::expect::Prepared;
use crate::model::mixture::step::task::{EmFit, Task};
use crate::model::mixture::{FitOptions, Parameters};
use crate::{ErrorKind, Result};

/// The largest difference between the mean log-likelihoods of two identical components.
const MAX_LOG_LIKELIHOOD_DIFFERENCE: f64 = 1e-8;

/// The largest distance between two identical components, in standard deviations of the table.
const MAX_DISTANCE: f64 = 1e-3;

/// The number of starts that try to separate identical components, and the iterations of each.
const STARTS: u64 = 3;
const ITERATIONS: usize = 20;

/// The groups of identical components that have rows.
fn identical_components(task: &Task, summary: &TableSummary, found: &EmFit) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    // Components that are held may be identical on purpose.
    if task.has_fixed_numbering() {
        return groups;
    }
    let clusters = found.parameters.weights.len() - task.noise_components();
    for j in (0..clusters).filter(|j| found.statistics.weights[*j] > 0.0) {
        let is_like = |group: &&mut Vec<usize>| are_identical(task, summary, found, group[0], j);
        match groups.iter_mut().find(is_like) {
            Some(group) => group.push(j),
            None => groups.push(vec![j]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

fn are_identical(task: &Task, summary: &TableSummary, found: &EmFit, i: usize, j: usize) -> bool {
    let mut leaves = task.leaves.iter().enumerate();
    leaves.all(|(number, leaf)| {
        if leaf.fixed {
            return true;
        }
        let distributions = &found.parameters.leaves[number];
        let (a, b) = (&distributions[i], &distributions[j]);
        let scales = summary.scales(leaf);
        let unit = |c: usize| match leaf.family.levels() {
            Some(_) => 1.0,
            None => scales.get(c).map_or(1.0, |scale| scale.variance.sqrt()),
        };
        let locations = a.place().into_iter().zip(b.place()).enumerate();
        let mut distances = locations.map(|(c, (a, b))| (a - b).abs() / unit(c));
        let have_same_likelihood = |component: usize| {
            let statistics = &found.statistics.leaves[number][component];
            let difference = a.log_likelihood(statistics) - b.log_likelihood(statistics);
            difference.abs() <= MAX_LOG_LIKELIHOOD_DIFFERENCE * statistics.weight()
        };
        distances.all(|distance| distance <= MAX_DISTANCE)
            && have_same_likelihood(i)
            && have_same_likelihood(j)
    })
}

/// Separates identical components where that raises the objective; otherwise returns the same
/// result.
pub(crate) fn separate_identical(
    task: &Task,
    source: &dyn Source,
    summary: &TableSummary,
    options: &FitOptions,
    control: Control,
    mut found: EmFit,
) -> Result<EmFit> {
    let separation = Separation {
        task,
        source,
        summary,
        options,
        control,
    };
    // Each round separates at least one component.
    for _ in 1..task.components {
        let groups = identical_components(task, summary, &found);
        let Some(group) = groups.first().filter(|_| found.converged) else {
            break;
        };
        match separation.separate(&found, group) {
            Ok(Some(better)) => found = better,
            Ok(None) => break,
            // The result so far is still valid.
            Err(error) if error.kind() == ErrorKind::Numeric => break,
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

struct Separation<'a> {
    task: &'a Task<'a>,
    source: &'a dyn Source,
    summary: &'a TableSummary,
    options: &'a FitOptions,
    control: Control<'a>,
}

impl Separation<'_> {
    /// A result with a higher objective in which the group is separated, if there is one.
    fn separate(&self, found: &EmFit, group: &[usize]) -> Result<Option<EmFit>> {
        let (task, options) = (self.task, self.options);
        let Some(best) = self.best_start(found, group)? else {
            return Ok(None);
        };
        let em_options = EmOptions {
            acceleration: options.em.acceleration,
            ..options.em.plain()
        };
        let result = em(task, self.source, best, &em_options, self.control)?;
        let Some(mut separated) = result else {
            return Ok(None);
        };
        let weight = found.statistics.total.max(f64::MIN_POSITIVE);
        let size = 1.0 + (found.objective / weight + task.log_units).abs();
        let gain = (separated.objective - found.objective) / weight;
        let min_gain = options.em.tolerance.max(MAX_LOG_LIKELIHOOD_DIFFERENCE) * size;
        if gain.is_nan()
            || gain <= min_gain
            || any_collapsed(task.leaves, self.summary, &separated.parameters)
        {
            return Ok(None);
        }
        separated.warmup = [found.warmup.as_slice(), &found.trace].concat();
        separated.iterations += found.iterations + 1;
        let before = found.seconds.last().copied().unwrap_or(0.0);
        separated.seconds.iter_mut().for_each(|end| *end += before);
        Ok(Some(separated))
    }

    /// The parameters of the best of a few starts on a sample of the rows, after some
    /// iterations.
    fn best_start(&self, found: &EmFit, group: &[usize]) -> Result<Option<Parameters>> {
        let (task, options) = (self.task, self.options);
        let size = sample_size(self.source, task.leaves);
        let rows = self.summary.rows as usize;
        let sample = sample_rows(self.source, rows, size, options.seed)?;
        let shared = weigh_by_components(task, &found.parameters, &sample, group)?;
        let points = Points::of(&shared, task.leaves, self.summary);
        let em_options = EmOptions {
            max_iterations: ITERATIONS.min(options.em.max_iterations),
            ..options.em.plain()
        };
        let mut best: Option<EmFit> = None;
        for number in 0..STARTS {
            let init = if number == 0 {
                Init::Hierarchical
            } else {
                Init::KMeansPlusPlus
            };
            let groups = points.group(group.len(), init, options.seed.wrapping_add(number));
            let Some(start) = initial_parameters(task, found, group, &shared, &groups) else {
                continue;
            };
            let attempt = match em(task, &sample, start, &em_options, self.control) {
                Ok(Some(attempt)) => attempt,
                Ok(None) => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Numeric => continue,
                Err(error) => return Err(error),
            };
            let is_better = |best: &EmFit| attempt.objective > best.objective;
            let collapsed = any_collapsed(task.leaves, self.summary, &attempt.parameters);
            if !collapsed && best.as_ref().is_none_or(is_better) {
                best = Some(attempt);
            }
        }
        Ok(best.map(|best| best.parameters))
    }
}

/// The rows, weighted by their responsibilities for the components of a group.
fn weigh_by_components(
    task: &Task,
    parameters: &Parameters,
    rows: &Table,
    group: &[usize],
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
                let shares = group.iter().map(|j| outcome.responsibilities[j * rows + i]);
                weights[*row as usize] *= shares.sum::<f64>();
            }
        })?;
        let columns = chunk.columns().to_vec();
        Ok(Chunk::new(chunk.rows(), columns, Some(weights)))
    });
    let chunks = chunks.collect::<Result<Vec<_>>>()?;
    Ok(Table::from_chunks(rows.schema().clone(), chunks))
}

/// Parameters in which the components of `group` are those of `groups` of rows, and the others
/// stay as they are; `None` if the groups have no weight.
fn initial_parameters(
    task: &Task,
    found: &EmFit,
    group: &[usize],
    rows: &Table,
    groups: &[Option<usize>],
) -> Option<Parameters> {
    let mut separate = statistics_of_groups(rows, task.leaves, groups, group.len());
    let weight: f64 = separate.weights.iter().sum();
    if weight <= 0.0 {
        return None;
    }
    let group_weight: f64 = group.iter().map(|j| found.statistics.weights[*j]).sum();
    separate.scale(group_weight / weight);
    let mut statistics = found.statistics.clone();
    for (number, j) in group.iter().enumerate() {
        statistics.weights[*j] = separate.weights[number];
        for (leaf, separate) in statistics.leaves.iter_mut().zip(&separate.leaves) {
            leaf[*j] = separate[number].clone();
        }
    }
    Some(task.maximize(&statistics, Some(&found.parameters)))
}

/// Warnings about identical components, by their final numbers.
pub(crate) fn warnings(task: &Task, summary: &TableSummary, found: &EmFit) -> Vec<String> {
    let warning = |group: &Vec<usize>| {
        let numbers: Vec<String> = group.iter().map(|j| (j + 1).to_string()).collect();
        let (last, first) = numbers.split_last().map_or(("", &[][..]), |(l, f)| (l, f));
        format!(
            "components {} and {last} are identical; fewer components fit as well",
            first.join(", ")
        )
    };
    let groups = identical_components(task, summary, found);
    groups.iter().map(warning).collect()
}
