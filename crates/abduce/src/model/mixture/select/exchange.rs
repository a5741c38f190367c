//! A start of one mixture from a fit of another covariance structure to the same rows. With S the
//! expected statistics under the parameters φ of that fit,
//!
//!   ln L(θ) ≥ ln L(φ) + Q(θ; S) − Q(φ; S),  θ = argmax Q(·; S),
//!
//! where Q is the expected complete-data log-likelihood. If φ satisfies the constraints of both,
//! the bound is at least ln L(φ).

use crate::family::{GaussianStats, LeafFamily, MultivariateStats, Statistics};
use crate::leaf::Leaf;
use crate::model::mixture::step::maximize::{WeightPrior, log_prior, maximize};
use crate::model::mixture::{Fit, MixtureStatistics, Parameters};

/// The parameters of a fit estimated from the statistics of another, and a lower bound of their
/// objective; `None` if the statistics do not suffice.
pub(super) fn start_from(fit: &Fit, other: &Fit) -> Option<(Parameters, f64)> {
    let (mixture, others) = (&fit.mixture, &other.mixture);
    let statistics = converted(&others.statistics, &mixture.leaves)?;
    let prior = WeightPrior {
        smoothing: mixture.weight_smoothing,
        given: mixture.given_weights.clone(),
    };
    let parameters = maximize(&mixture.leaves, &prior, &statistics, None);
    let before = others
        .statistics
        .complete_log_likelihood(&others.leaves, &others.parameters);
    let after = statistics.complete_log_likelihood(&mixture.leaves, &parameters);
    let bound = other.log_likelihood + (after - before);
    let bound = bound + log_prior(&mixture.leaves, &prior, &parameters);
    bound.is_finite().then_some((parameters, bound))
}

/// Converts statistics to those of other leaves over the same columns; `None` if these need
/// correlations that the statistics do not contain.
fn converted(statistics: &MixtureStatistics, leaves: &[Leaf]) -> Option<MixtureStatistics> {
    if statistics.leaves.len() != leaves.len() {
        return None;
    }
    let leaf = |(components, leaf): (&Vec<Statistics>, &Leaf)| -> Option<Vec<Statistics>> {
        let LeafFamily::Multivariate { .. } = &leaf.family else {
            return Some(components.clone());
        };
        let zero = leaf.family.zero();
        let component = |component: &Statistics| match (component, &zero) {
            (Statistics::Multivariate(stats), Statistics::Multivariate(zero)) => {
                of_columns(stats, zero).map(Statistics::Multivariate)
            }
            _ => None,
        };
        components.iter().map(component).collect()
    };
    let found = statistics.leaves.iter().zip(leaves).map(leaf);
    Some(MixtureStatistics {
        leaves: found.collect::<Option<_>>()?,
        ..statistics.clone()
    })
}

/// Converts statistics to the variant of `zero`; `None` as for [`converted`].
fn of_columns(stats: &MultivariateStats, zero: &MultivariateStats) -> Option<MultivariateStats> {
    match (stats, zero) {
        (
            MultivariateStats::Full {
                weight,
                mean,
                scatter,
            },
            MultivariateStats::Columns { spherical, .. },
        ) => {
            let order = mean.len();
            let column = |(c, mean): (usize, &f64)| GaussianStats {
                weight: *weight,
                mean: *mean,
                scatter: scatter[c * (order + 1)],
            };
            Some(MultivariateStats::Columns {
                spherical: *spherical,
                columns: mean.iter().enumerate().map(column).collect(),
            })
        }
        (MultivariateStats::Full { .. }, MultivariateStats::Full { .. }) => Some(stats.clone()),
        (
            MultivariateStats::Columns { columns, .. },
            MultivariateStats::Columns { spherical, .. },
        ) => Some(MultivariateStats::Columns {
            spherical: *spherical,
            columns: columns.clone(),
        }),
        (MultivariateStats::Columns { .. }, MultivariateStats::Full { .. }) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Control;
    use crate::data::{Column, Field, Kind, Schema, Table};
    use crate::learn::EmOptions;
    use crate::model::mixture::{CovarianceKind, FitOptions, Specification, fit, fit_from};

    /// Two elongated groups of different spread.
    fn table() -> Table {
        let noise =
            |i: u32, step: f64| (f64::from(i) * step).sin() + (f64::from(i * i) * 0.7).cos();
        let group = |i: u32| f64::from(i % 2);
        let x = (0..200).map(|i| Some(3.0 * group(i) + (1.0 + group(i)) * noise(i, 1.3)));
        let y = (0..200).map(|i| Some(2.0 * group(i) + 0.6 * noise(i, 1.3) + noise(i, 2.9)));
        let fields = ["x", "y"].map(|name| Field::new(name, Kind::Real));
        let columns = vec![Column::from_numbers(x), Column::from_numbers(y)];
        Table::new(Schema::new(fields.to_vec()), columns, None).unwrap()
    }

    #[test]
    fn the_start_from_another_structure_reaches_its_bound() {
        let table = table();
        let specification = |covariance| Specification::mixture(2, covariance);
        let fits = |covariance| {
            let options = FitOptions::default();
            let fit = fit(
                &specification(covariance),
                &table,
                &options,
                Control::default(),
            );
            (covariance, fit.unwrap())
        };
        let structures = [
            CovarianceKind::Eii,
            CovarianceKind::Diagonal,
            CovarianceKind::Tied,
        ];
        let fits = structures.map(fits);
        let options = FitOptions {
            em: EmOptions {
                max_iterations: 0,
                ..EmOptions::default()
            },
            ..FitOptions::default()
        };
        for (covariance, fit) in &fits {
            for (other_covariance, other) in &fits {
                let is_diagonal = *other_covariance != CovarianceKind::Tied;
                let Some((start, bound)) = start_from(fit, other) else {
                    assert!(is_diagonal && *covariance == CovarianceKind::Tied);
                    continue;
                };
                let specification = specification(*covariance);
                let control = Control::default();
                let at = fit_from(&specification, &table, Some(&start), &options, control);
                let reached = at.unwrap().objectives[0];
                assert!(reached >= bound - 1e-6, "{reached} < {bound}");
            }
        }
        // A spherical mixture of equal variances is a diagonal one.
        let [(_, spherical), (_, diagonal), _] = &fits;
        let (_, bound) = start_from(diagonal, spherical).unwrap();
        assert!(bound >= spherical.objectives.last().unwrap() - 1e-6);
    }
}
