//! How many digits are left of a spread when rows are taken out. A scatter of S
//! is known to about εS; if what is left of it is not much more, because a row that
//! went dwarfs those that stay, nobody can say what it is. Only where so small a
//! spread does not matter, beside the numbers themselves, may it be anything.

use crate::family::{GaussianStats, MultivariateStats, Statistics, Stats as _};
use crate::model::mixture::MixtureStatistics;

/// Rounding of a scatter, as a share of it.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// A share of a scatter that is no more than a loss of digits.
const FEWER_DIGITS: f64 = 1e-7;

/// A share of a scatter beyond which nothing of it is known.
const NO_DIGITS: f64 = 1e-3;

/// A variance that does not matter, as a share of the square of the column's
/// numbers.
const NEGLIGIBLE: f64 = 1e-12;

/// What is left of the digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Digits {
    All,
    Fewer,
    None,
}

/// What is left of the digits of a column's spread; `square` is that of all its
/// numbers, where these are only those of a component.
pub(super) fn digits(before: &GaussianStats, after: &GaussianStats, square: f64) -> Digits {
    if after.weight <= 0.0 || after.weight >= before.weight {
        return Digits::All;
    }
    let error = ROUNDING * before.scatter;
    let share = error / after.scatter;
    // Nothing but zeros, as far as one can see.
    let gone = before.weight - after.weight;
    let far = (before.scatter / gone).sqrt() * gone / after.weight;
    let zero = square <= 0.0
        && after.mean.abs() <= 8.0 * f64::EPSILON * (before.mean.abs() + far)
        && after.scatter <= error;
    let square = square.max(after.mean * after.mean);
    match () {
        () if share <= FEWER_DIGITS => Digits::All,
        () if error / after.weight <= NEGLIGIBLE * square || zero => Digits::All,
        () if share <= NO_DIGITS => Digits::Fewer,
        () => Digits::None,
    }
}

/// The moments of the columns of a leaf by themselves, where it keeps such.
pub(super) fn moments(statistics: &Statistics) -> Vec<GaussianStats> {
    match statistics {
        Statistics::Gaussian(own) => vec![own.clone()],
        Statistics::Multivariate(own) => moments_of(own),
        Statistics::MultivariateStudentT(own) => moments_of(&own.moments),
        _ => Vec::new(),
    }
}

fn moments_of(statistics: &MultivariateStats) -> Vec<GaussianStats> {
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

/// The moments of a leaf's columns in all components, where it keeps such: of rows
/// that have gone from one component, the others keep all digits.
pub(super) fn together(own: &[Statistics]) -> Vec<GaussianStats> {
    let mut all: Vec<GaussianStats> = Vec::new();
    for statistics in own {
        let moments = moments(statistics);
        all.resize(moments.len(), GaussianStats::default());
        all.iter_mut().zip(&moments).for_each(|(a, b)| a.merge(b));
    }
    all
}

/// What is left of the digits of a leaf in the worst of its components, by column;
/// `squares` are those of the columns' numbers.
pub(super) fn worst(
    before: &MixtureStatistics,
    after: &MixtureStatistics,
    leaf: usize,
    squares: &[f64],
) -> Vec<Digits> {
    let mut worst = vec![Digits::All; squares.len()];
    let pairs = before.leaves[leaf].iter().zip(&after.leaves[leaf]);
    for (before, after) in pairs {
        let moments = moments(before).into_iter().zip(moments(after));
        let columns = moments.zip(squares).zip(&mut worst);
        for (((before, after), square), worst) in columns {
            *worst = (*worst).max(digits(&before, &after, *square));
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: &[f64]) -> GaussianStats {
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

    fn left(numbers: &[f64], gone: &[f64]) -> Digits {
        let before = of(&[numbers, gone].concat());
        let mut after = before.clone();
        after.forget(&of(gone)).unwrap();
        digits(&before, &after, 0.0)
    }

    #[test]
    fn digits_go_with_an_outlier_and_stay_with_a_constant() {
        let spread = [0.3, 1.7, 0.9, 1.2, 0.1];
        assert_eq!(left(&spread, &[5.0]), Digits::All);
        assert_eq!(left(&spread, &[1e3]), Digits::All);
        assert_eq!(left(&spread, &[1e5]), Digits::Fewer);
        for outlier in [1e7, 1e8, 1e12, 1e15] {
            assert_eq!(left(&spread, &[outlier]), Digits::None, "{outlier}");
        }
        assert_eq!(left(&[7.0, 7.0, 7.0], &[8.0]), Digits::All);
        assert_eq!(left(&[0.0, 0.0, 0.0], &[1.0]), Digits::All);
        assert_eq!(left(&[0.0, 0.0, 0.0], &[3.0, 0.1]), Digits::All);
    }
}
