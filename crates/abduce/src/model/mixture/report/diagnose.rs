//! Warnings about a fit: empty components, degenerate covariances, a decreasing objective, no
//! convergence.

use crate::data::Schema;
use crate::family::{Distribution, LeafFamily, Scale};
use crate::leaf::Leaf;
use crate::leaf::TableSummary;
use crate::learn::EStep;
use crate::model::mixture::step::task::{EmFit, Task, has_ridge};
use crate::model::mixture::{FitOptions, FittedMixture, Parameters};
use crate::model::some_of;
use std::cmp::Ordering;

/// A component is degenerate if its smallest variance is below this share of the table's. Rows
/// that agree in two or three digits have a few 1e-5 of the variance of the others, and such
/// clusters are real. Spurious maxima on rows that are equal up to rounding are orders of
/// magnitude smaller, close to the default variance floor of 1e-6 divided by their rows.
const COLLAPSED: f64 = 1e-5;

/// A component is empty if its share of the rows is below this. This is a hundredth of one row in
/// ten million, so that only components that EM has emptied are dropped.
const EMPTY: f64 = 1e-9;

/// For each component, the smallest variance of a column given those before it, as a share of
/// the table's variance: the smallest pivot of the covariance, cheaper than an eigenvalue. 1 if
/// no variance is estimated.
pub(crate) fn spreads(
    leaves: &[Leaf],
    summary: &TableSummary,
    parameters: &Parameters,
) -> Vec<f64> {
    let mut smallest = vec![1.0f64; parameters.weights.len()];
    let leaves = leaves.iter().zip(&parameters.leaves);
    let leaves = leaves.filter(|(leaf, _)| !leaf.fixed && !leaf.has_given_spread());
    for (leaf, distributions) in leaves {
        let scales = summary.scales(leaf);
        for j in leaf.learned(distributions.len()) {
            smallest[j] = smallest[j].min(distributions[j].spread(&scales));
        }
    }
    smallest
}

/// Whether a smallest variance, as a share of the table's, is degenerate.
pub(crate) fn is_collapsed(spread: f64) -> bool {
    spread < COLLAPSED
}

/// Whether any component is degenerate.
pub(crate) fn any_collapsed(
    leaves: &[Leaf],
    summary: &TableSummary,
    parameters: &Parameters,
) -> bool {
    let mut spreads = spreads(leaves, summary, parameters).into_iter();
    spreads.any(is_collapsed)
}

/// Whether any Gaussian or Student t component is degenerate, compared with the prior
/// distribution of its family, which is as wide as the table.
pub(crate) fn any_singular(leaves: &[Leaf], parameters: &Parameters) -> bool {
    let pairs = leaves.iter().zip(&parameters.leaves);
    let mut learned = pairs.filter(|(leaf, _)| !leaf.fixed);
    learned.any(|(leaf, distributions)| {
        let wide = match leaf.family.fallback() {
            Some(Distribution::Multivariate(wide)) => wide,
            Some(Distribution::MultivariateStudentT(wide)) => wide.gaussian,
            _ => return false,
        };
        let scale = |c: usize| Scale {
            mean: wide.mean[c],
            variance: wide.covariance(c, c),
            constant: false,
        };
        let scales: Vec<Scale> = (0..wide.mean.len()).map(scale).collect();
        let mut components = leaf.learned(distributions.len()).into_iter();
        components.any(|j| is_collapsed(distributions[j].spread(&scales)))
    })
}

/// A degenerate component: its likelihood comes from a few rows that happen to be close to each
/// other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spurious {
    /// The component, counted from 1.
    component: usize,
    /// The weight of its rows.
    rows: f64,
    /// Its smallest variance, as a share of the table's.
    spread: f64,
}

impl Spurious {
    /// The component with the smallest variance, if it is degenerate.
    pub fn of(mixture: &FittedMixture) -> Option<Spurious> {
        let spreads = spreads(&mixture.leaves, &mixture.summary, &mixture.parameters);
        let (worst, spread) = spreads
            .into_iter()
            .enumerate()
            .min_by(|a, b| a.1.total_cmp(&b.1))?;
        is_collapsed(spread).then(|| Spurious {
            component: worst + 1,
            rows: mixture.statistics.weights[worst],
            spread,
        })
    }
}

impl std::fmt::Display for Spurious {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(
            out,
            "component {} with {:.1} rows has {:.0e} of the table's variance in some direction",
            self.component, self.rows, self.spread
        )
    }
}

/// Warnings about the result of a fit.
pub(crate) fn diagnose(
    task: &Task,
    schema: &Schema,
    summary: &TableSummary,
    found: &EmFit,
    options: &FitOptions,
) -> Vec<String> {
    let name = |j: usize| match task.target {
        Some(target) => format!("class \"{}\"", schema.fields[target].levels[j]),
        None => format!("component {}", j + 1),
    };
    let mut warnings = unused_columns(task, schema);
    let spreads = spreads(task.leaves, summary, &found.parameters);
    let collapsed = (0..spreads.len()).filter(|j| is_collapsed(spreads[*j]));
    let collapsed: Vec<String> = collapsed.map(name).collect();
    if !collapsed.is_empty() {
        warnings.push(format!(
            "almost no variance in some direction, kept above zero (`variance_floor`): {}",
            some_of(&collapsed)
        ));
    }
    let components = found.parameters.weights.len();
    warnings.extend(fixed_range(task, schema, components, options));
    let weights = found.statistics.weights.iter().enumerate();
    let empty = weights.filter(|(_, weight)| **weight <= EMPTY * found.statistics.total);
    let empty: Vec<String> = empty.map(|(j, _)| name(j)).collect();
    if task.target.is_some() && !empty.is_empty() {
        warnings.push(format!(
            "these classes have no rows and are estimated from all rows: {}",
            some_of(&empty)
        ));
    }
    warnings.extend(convergence(found, options, has_ridge(task.leaves)));
    warnings
}

/// Warnings about columns without any value and constant columns.
fn unused_columns(task: &Task, schema: &Schema) -> Vec<String> {
    let columns = schema.fields.iter().enumerate();
    let warnings = columns.filter_map(|(column, field)| {
        let name = &field.name;
        let mut leaves = task.leaves.iter();
        match leaves.find(|leaf| leaf.columns.contains(&column)) {
            None if task.target != Some(column) => Some(format!(
                "column \"{name}\" has only missing values and is left out"
            )),
            Some(leaf) if leaf.fixed => Some(format!(
                "column \"{name}\" is constant and carries no information"
            )),
            _ => None,
        }
    });
    warnings.collect()
}

/// A warning if EM cannot change the range of a uniform distribution: every component keeps some
/// responsibility for every row in it.
fn fixed_range(
    task: &Task,
    schema: &Schema,
    components: usize,
    options: &FitOptions,
) -> Option<String> {
    if task.target.is_some() || options.em.step == EStep::Hard || components == 1 {
        return None;
    }
    let mut leaves = task.leaves.iter();
    let leaf = leaves.find(|leaf| {
        let uniform = matches!(leaf.family, LeafFamily::Uniform { .. });
        uniform && !leaf.fixed && !leaf.tied && !leaf.learned(components).is_empty()
    })?;
    Some(format!(
        "EM never narrows the range of a uniform, as in column \"{}\"; pass `method=hard`",
        schema.fields[leaf.columns[0]].name
    ))
}

/// Warnings about how EM ended.
fn convergence(found: &EmFit, options: &FitOptions, has_ridge: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if !found.monotone && has_ridge {
        warnings.push(
            "the log-likelihood decreased during the fit, because a constant is added to every \
             variance after each step"
                .into(),
        );
    } else if !found.monotone {
        warnings.push("the objective decreased during the fit by more than rounding error".into());
    }
    if found.interrupted {
        warnings.push("the fit was interrupted; this is the best model so far".into());
    } else if found.statistics.log_likelihood == f64::NEG_INFINITY {
        warnings.push(
            "the log-likelihood is −∞, because a row is impossible in every component: it has a \
             value outside the range of a distribution, or an unseen category without smoothing; \
             choose another family, raise `smoothing` or pass `unlabelled=0`"
                .into(),
        );
    } else if found.singular && !found.converged {
        warnings.push(
            "stopped because a component is nearly singular, so that the rounding error of a step \
             exceeds its gain; raise `variance_floor`"
                .into(),
        );
    } else if !found.converged {
        warnings.push(format!(
            "not converged after {} iterations; raise `max_iter` or `tol`",
            options.em.max_iterations
        ));
    }
    warnings
}

/// Sorts unlabelled components by weight, the largest first, then by location, and drops empty
/// ones. Noise remains the last. Returns the number of dropped components.
pub(crate) fn order_components(
    leaves: &[Leaf],
    result: &mut EmFit,
    warnings: &mut Vec<String>,
) -> usize {
    let noise = usize::from(leaves.iter().any(|leaf| leaf.noise.is_some()));
    let weights = &result.parameters.weights;
    let clusters = weights.len() - noise;
    // One more iteration would change weights by a few 1e-7 at the default tolerance of 1e-8.
    let rounded = |j: usize| (weights[j] * 1e6).round();
    let location = |j: usize| {
        let leaves = result.parameters.leaves.iter();
        leaves
            .flat_map(|leaf| leaf[j].place())
            .collect::<Vec<f64>>()
    };
    let mut order: Vec<usize> = (0..clusters).collect();
    order.sort_by(|a, b| {
        let by_weight = rounded(*b).total_cmp(&rounded(*a));
        let by_location = || {
            let pairs = location(*a).into_iter().zip(location(*b));
            let coordinates = pairs.map(|(a, b)| a.total_cmp(&b));
            coordinates.fold(Ordering::Equal, Ordering::then)
        };
        by_weight.then_with(by_location)
    });
    let kept: Vec<usize> = order
        .iter()
        .copied()
        .filter(|j| weights[*j] > EMPTY)
        .collect();
    let mut dropped = 0;
    if kept.len() < order.len() && !kept.is_empty() {
        dropped = order.len() - kept.len();
        warnings.push(format!("empty components dropped: {dropped}"));
        order = kept;
    }
    order.extend(clusters..weights.len());
    let pick = |values: &[f64]| order.iter().map(|j| values[*j]).collect::<Vec<f64>>();
    result.parameters.weights = pick(&result.parameters.weights);
    result.statistics.weights = pick(&result.statistics.weights);
    for leaf in &mut result.parameters.leaves {
        *leaf = order.iter().map(|j| leaf[*j].clone()).collect();
    }
    let unseen = result.parameters.unseen.iter_mut();
    for probabilities in unseen.filter(|probabilities| !probabilities.is_empty()) {
        *probabilities = pick(probabilities);
    }
    for leaf in &mut result.statistics.leaves {
        *leaf = order.iter().map(|j| leaf[*j].clone()).collect();
    }
    dropped
}
