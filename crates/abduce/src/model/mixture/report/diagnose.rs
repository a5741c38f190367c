//! What went wrong or nearly so in a fit: components without rows, covariances
//! without volume, a likelihood that fell. Nothing here fails; it is told.

use crate::data::Schema;
use crate::family::{Distribution, LeafFamily, Scale};
use crate::leaf::Leaf;
use crate::leaf::Seen;
use crate::learn::{EStep, EmResult};
use crate::model::mixture::{FitOptions, Mixture, MixtureStatistics, Parameters};
use crate::model::some_of;
use std::cmp::Ordering;

/// A variance, as a share of the table's, below which a component has collapsed onto a
/// few equal rows. Rows that agree in two or three digits have a few 1e-5 of the variance
/// of the rest, and such groups are real; maxima on rows that are equal but for rounding
/// lie orders of magnitude below, next to the variance floor of 1e-6 over their rows.
const COLLAPSED: f64 = 1e-5;

/// A share of the rows below which a component is empty: a hundredth of one row in ten
/// million, so that only components that EM has given up are dropped, and far enough above
/// the smallest number that what is left of them divides nothing by zero.
const EMPTY: f64 = 1e-9;

type Result = EmResult<Parameters, MixtureStatistics>;

/// Every component's smallest variance of a column given those before it, as a share of
/// the table's: the smallest pivot of its covariance, which costs no eigenvalues. 1 where no
/// spread is learned.
pub(crate) fn spreads(leaves: &[Leaf], seen: &Seen, parameters: &Parameters) -> Vec<f64> {
    let mut least = vec![1.0f64; parameters.weights.len()];
    let leaves = leaves.iter().zip(&parameters.leaves);
    for (leaf, own) in leaves.filter(|(leaf, _)| !leaf.fixed && !leaf.has_given_spread()) {
        let scales = seen.scales(leaf);
        for j in leaf.learned(own.len()) {
            least[j] = least[j].min(own[j].spread(&scales));
        }
    }
    least
}

/// Whether so small a share of the table's variance is next to nothing.
pub(crate) fn is_collapsed(spread: f64) -> bool {
    spread < COLLAPSED
}

/// Whether the spread of any component is next to nothing in some direction.
pub(crate) fn any_collapsed(leaves: &[Leaf], seen: &Seen, parameters: &Parameters) -> bool {
    let mut spreads = spreads(leaves, seen, parameters).into_iter();
    spreads.any(is_collapsed)
}

/// The same for Gaussians and t beside what is said where nothing was seen, which
/// is as wide as the table.
pub(crate) fn any_singular(leaves: &[Leaf], parameters: &Parameters) -> bool {
    let learned = leaves.iter().zip(&parameters.leaves);
    let mut learned = learned.filter(|(leaf, _)| !leaf.fixed);
    learned.any(|(leaf, own)| {
        let wide = match leaf.family.vague() {
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
        let mut these = leaf.learned(own.len()).into_iter();
        these.any(|j| is_collapsed(own[j].spread(&scales)))
    })
}

/// Why a fit is not to be trusted: its likelihood is that of a component on a few
/// rows that happen to lie close to each other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spurious {
    /// The component, counted from 1.
    component: usize,
    /// Its rows.
    rows: f64,
    /// Its smallest variance, as a share of the table's.
    spread: f64,
}

impl Spurious {
    /// The worst of a mixture's components, if it is one.
    pub fn of(mixture: &Mixture) -> Option<Spurious> {
        let spreads = spreads(&mixture.leaves, &mixture.seen, &mixture.parameters);
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
            "component {} of {:.1} rows has {:.0e} of the table's variance in some direction",
            self.component, self.rows, self.spread
        )
    }
}

/// What to tell the user.
pub(crate) fn diagnose(
    leaves: &[Leaf],
    schema: &Schema,
    target: Option<usize>,
    seen: &Seen,
    result: &Result,
    options: &FitOptions,
) -> Vec<String> {
    let name = |j: usize| match target {
        Some(target) => format!("class \"{}\"", schema.fields[target].levels[j]),
        None => format!("component {}", j + 1),
    };
    let mut warnings = Vec::new();
    for (column, field) in schema.fields.iter().enumerate() {
        let modelled = leaves.iter().find(|leaf| leaf.columns.contains(&column));
        match modelled {
            None if target != Some(column) => warnings.push(format!(
                "column \"{}\" has no seen cell and is left out",
                field.name
            )),
            Some(leaf) if leaf.fixed => warnings.push(format!(
                "column \"{}\" is constant and says nothing",
                field.name
            )),
            _ => {}
        }
    }
    let spreads = spreads(leaves, seen, &result.parameters);
    let narrow: Vec<String> = (0..spreads.len())
        .filter(|j| is_collapsed(spreads[*j]))
        .map(name)
        .collect();
    if !narrow.is_empty() {
        warnings.push(format!(
            "next to no spread in some direction, variance kept from vanishing (--variance-floor): {}",
            some_of(&narrow)
        ));
    }
    let components = result.parameters.weights.len();
    let bounded = |leaf: &&Leaf| {
        let uniform = matches!(leaf.family, LeafFamily::Uniform { .. });
        uniform && !leaf.fixed && !leaf.tied && !leaf.learned(components).is_empty()
    };
    let narrowed = options.em.step == EStep::Hard || components == 1;
    if let (None, Some(leaf), false) = (target, leaves.iter().find(bounded), narrowed) {
        warnings.push(format!(
            "EM never narrows what a uniform reaches over, as in column \"{}\"; --method hard does",
            schema.fields[leaf.columns[0]].name
        ));
    }
    let weights = result.statistics.weights.iter().enumerate();
    let empty: Vec<String> = weights
        .filter(|(_, weight)| **weight <= EMPTY * result.statistics.total)
        .map(|(j, _)| name(j))
        .collect();
    if target.is_some() && !empty.is_empty() {
        warnings.push(format!(
            "no rows, described by all rows together: {}",
            some_of(&empty)
        ));
    }
    if !result.monotone {
        warnings.push("the objective fell during the fit by more than rounding explains".into());
    }
    if result.interrupted {
        warnings.push("the fit was stopped; this is the best model so far".into());
    } else if result.singular && !result.converged {
        warnings.push(
            "a component is so thin that rounding outweighs what a step gains: stopped before it; raise --variance-floor"
                .into(),
        );
    } else if !result.converged {
        warnings.push(format!(
            "not converged after {} iterations; raise --max-iter or --tol",
            options.em.max_iterations
        ));
    }
    warnings
}

/// Sorts unlabelled components by weight, the heaviest first, then by where they lie,
/// and drops the empty ones; says how many these were. Noise stays the last.
pub(crate) fn order_components(
    leaves: &[Leaf],
    result: &mut Result,
    warnings: &mut Vec<String>,
) -> usize {
    let noise = usize::from(leaves.iter().any(|leaf| leaf.noise.is_some()));
    let weights = &result.parameters.weights;
    let clusters = weights.len() - noise;
    // Weights that differ in what one more iteration would change are equal: at the default
    // tolerance of 1e-8 that is a few 1e-7.
    let rounded = |j: usize| (weights[j] * 1e6).round();
    let place = |j: usize| {
        let leaves = result.parameters.leaves.iter();
        leaves
            .flat_map(|leaf| leaf[j].place())
            .collect::<Vec<f64>>()
    };
    let mut order: Vec<usize> = (0..clusters).collect();
    order.sort_by(|a, b| {
        let by_weight = rounded(*b).total_cmp(&rounded(*a));
        let by_place = || {
            let pairs = place(*a).into_iter().zip(place(*b));
            let differing = pairs.map(|(a, b)| a.total_cmp(&b));
            differing.fold(Ordering::Equal, Ordering::then)
        };
        by_weight.then_with(by_place)
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
    for probabilities in unseen.filter(|own| !own.is_empty()) {
        *probabilities = pick(probabilities);
    }
    for leaf in &mut result.statistics.leaves {
        *leaf = order.iter().map(|j| leaf[*j].clone()).collect();
    }
    dropped
}
