//! The precision of a scatter after rows are subtracted. A scatter S has a rounding error of
//! about εS. If the remaining scatter is not much larger, because a removed row was far from the
//! others, its value is meaningless. That is harmless only if the remaining scatter is
//! negligible compared with the squares of the values.

use crate::family::{GaussianStats, MultivariateStats, Statistics, Stats as _};
use crate::model::mixture::MixtureStatistics;

/// The relative rounding error of a scatter.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// The largest relative error at full precision.
const FULL: f64 = 1e-7;

/// The relative error above which all precision is lost.
const LOST: f64 = 1e-3;

/// Variances below this are negligible, as a share of the mean square of the column.
const NEGLIGIBLE: f64 = 1e-12;

/// The precision of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Precision {
    Full,
    Reduced,
    Lost,
}

/// The precision of a column's remaining scatter. For the moments of one component, `mean_square`
/// is that of the whole column.
pub(super) fn precision(
    before: &GaussianStats,
    after: &GaussianStats,
    mean_square: f64,
) -> Precision {
    if after.weight <= 0.0 || after.weight >= before.weight {
        return Precision::Full;
    }
    let error = ROUNDING * before.scatter;
    let share = error / after.scatter;
    // All remaining values may be zero.
    let removed = before.weight - after.weight;
    let shift = (before.scatter / removed).sqrt() * removed / after.weight;
    let zero = mean_square <= 0.0
        && after.mean.abs() <= 8.0 * f64::EPSILON * (before.mean.abs() + shift)
        && after.scatter <= error;
    let mean_square = mean_square.max(after.mean * after.mean);
    if share <= FULL || error / after.weight <= NEGLIGIBLE * mean_square || zero {
        Precision::Full
    } else if share <= LOST {
        Precision::Reduced
    } else {
        Precision::Lost
    }
}

/// The moments of each column of a leaf, if its statistics contain them.
fn moments(statistics: &Statistics) -> Vec<GaussianStats> {
    match statistics {
        Statistics::Gaussian(stats) => vec![stats.clone()],
        Statistics::Multivariate(stats) => multivariate_moments(stats),
        Statistics::MultivariateStudentT(stats) => multivariate_moments(&stats.moments),
        _ => Vec::new(),
    }
}

fn multivariate_moments(statistics: &MultivariateStats) -> Vec<GaussianStats> {
    match statistics {
        MultivariateStats::Columns { columns, .. } => columns.clone(),
        MultivariateStats::Full {
            weight,
            mean,
            scatter,
        } => {
            let d = mean.len();
            let column = |i: usize| GaussianStats {
                weight: *weight,
                mean: mean[i],
                scatter: scatter[i * (d + 1)],
            };
            (0..d).map(column).collect()
        }
    }
}

/// The moments of a leaf's columns over all components. Subtracting rows from one component
/// leaves those of the others exact.
pub(super) fn merged_moments(components: &[Statistics]) -> Vec<GaussianStats> {
    let mut all: Vec<GaussianStats> = Vec::new();
    for statistics in components {
        let moments = moments(statistics);
        all.resize(moments.len(), GaussianStats::default());
        all.iter_mut().zip(&moments).for_each(|(a, b)| a.merge(b));
    }
    all
}

/// The worst precision over the components of a leaf, by column; `mean_squares` are those of the
/// whole columns.
pub(super) fn worst_precision(
    before: &MixtureStatistics,
    after: &MixtureStatistics,
    leaf: usize,
    mean_squares: &[f64],
) -> Vec<Precision> {
    let mut worst = vec![Precision::Full; mean_squares.len()];
    let pairs = before.leaves[leaf].iter().zip(&after.leaves[leaf]);
    for (before, after) in pairs {
        let moments = moments(before).into_iter().zip(moments(after));
        let columns = moments.zip(mean_squares).zip(&mut worst);
        for (((before, after), mean_square), worst) in columns {
            *worst = (*worst).max(precision(&before, &after, *mean_square));
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments_of_values(numbers: &[f64]) -> GaussianStats {
        let mut all = GaussianStats::default();
        for x in numbers {
            all.merge(&GaussianStats {
                weight: 1.0,
                mean: *x,
                scatter: 0.0,
            });
        }
        all
    }

    fn precision_without(removed: &[f64], remaining: &[f64]) -> Precision {
        let before = moments_of_values(&[remaining, removed].concat());
        let mut after = before.clone();
        after.forget(&moments_of_values(removed)).unwrap();
        precision(&before, &after, 0.0)
    }

    #[test]
    fn forgetting_an_outlier_loses_precision_and_forgetting_from_a_constant_does_not() {
        let spread = [0.3, 1.7, 0.9, 1.2, 0.1];
        assert_eq!(precision_without(&[5.0], &spread), Precision::Full);
        assert_eq!(precision_without(&[1e3], &spread), Precision::Full);
        assert_eq!(precision_without(&[1e5], &spread), Precision::Reduced);
        for outlier in [1e7, 1e8, 1e12, 1e15] {
            assert_eq!(
                precision_without(&[outlier], &spread),
                Precision::Lost,
                "{outlier}"
            );
        }
        assert_eq!(precision_without(&[8.0], &[7.0, 7.0, 7.0]), Precision::Full);
        assert_eq!(precision_without(&[1.0], &[0.0, 0.0, 0.0]), Precision::Full);
        assert_eq!(
            precision_without(&[3.0, 0.1], &[0.0, 0.0, 0.0]),
            Precision::Full
        );
    }
}
