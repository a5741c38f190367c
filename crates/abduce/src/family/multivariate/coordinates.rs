//! A Gaussian as unconstrained numbers: its mean in standard deviations of the table, and the
//! logarithms of its variances if columns are uncorrelated. Otherwise Σ = U D Uᵀ, where U is lower
//! triangular with ones on its diagonal, gives the entries of U and the logarithms of D.
//!
//! A straight line in these numbers preserves structures in which components share nothing or all
//! of the covariance. It does not preserve shared axes nor, as rounding errors are magnified,
//! shared proportions or a shared product of D; a point outside such a structure may have a higher
//! likelihood than any inside. The covariances of those structures have no coordinates.

use crate::family::multivariate::{Covariance, MultivariateGaussian, Structure};
use crate::kernel::linear::cholesky;

/// Whether straight lines preserve this structure.
fn is_straight(structure: Structure) -> bool {
    matches!(
        structure,
        Structure::Eii
            | Structure::Spherical
            | Structure::Eei
            | Structure::Diagonal
            | Structure::Tied
            | Structure::Full
    )
}

impl MultivariateGaussian {
    fn deviations(&self) -> Vec<f64> {
        let variances = (0..self.order()).map(|i| self.covariance(i, i));
        variances.map(f64::sqrt).collect()
    }

    pub(super) fn free_numbers(&self, structure: Structure, unit: &Self) -> Option<Vec<f64>> {
        let (d, units) = (self.order(), unit.deviations());
        let means = self.mean.iter().zip(&unit.mean).zip(&units);
        let mut numbers: Vec<f64> = means
            .map(|((mean, origin), unit)| (mean - origin) / unit)
            .collect();
        if !is_straight(structure) {
            return Some(numbers);
        }
        match &self.covariance {
            Covariance::Full(matrix) => {
                let factor = cholesky(matrix, d).ok()?;
                for j in 0..d {
                    let pivot = factor[j * d + j];
                    numbers.push(2.0 * (pivot / units[j]).ln());
                    let below = j + 1..d;
                    numbers
                        .extend(below.map(|i| factor[j * d + i] / pivot * (units[j] / units[i])));
                }
            }
            Covariance::Diagonal(variances) => {
                let pairs = variances.iter().zip(&units);
                numbers.extend(pairs.map(|(variance, unit)| (variance / (unit * unit)).ln()));
            }
            Covariance::Spherical(variance) => numbers.push(variance.ln()),
        }
        Some(numbers)
    }

    pub(super) fn moved(&self, structure: Structure, unit: &Self, numbers: &[f64]) -> Option<Self> {
        let (d, units) = (self.order(), unit.deviations());
        if numbers.len() < d {
            return None;
        }
        let (means, spread) = numbers.split_at(d);
        let means = means.iter().zip(&unit.mean).zip(&units);
        let mean = means
            .map(|((shift, origin), unit)| origin + shift * unit)
            .collect();
        if !is_straight(structure) {
            let covariance = self.covariance.clone();
            return Some(MultivariateGaussian { mean, covariance });
        }
        let covariance = match &self.covariance {
            Covariance::Full(_) if spread.len() == d * (d + 1) / 2 => {
                Covariance::Full(product(spread, &units))
            }
            Covariance::Diagonal(_) if spread.len() == d => {
                let pairs = spread.iter().zip(&units);
                Covariance::Diagonal(pairs.map(|(log, unit)| log.exp() * unit * unit).collect())
            }
            Covariance::Spherical(_) if spread.len() == 1 => Covariance::Spherical(spread[0].exp()),
            _ => return None,
        };
        Some(MultivariateGaussian { mean, covariance })
    }
}

/// U D Uᵀ, column-major, from the logarithms of D and the entries below the diagonal of U, column
/// by column.
fn product(spread: &[f64], units: &[f64]) -> Vec<f64> {
    let d = units.len();
    let mut matrix = vec![0.0; d * d];
    let mut rest = spread;
    for j in 0..d {
        let (entries, later) = rest.split_at(d - j);
        rest = later;
        let variance = entries[0].exp() * units[j] * units[j];
        let below = (j + 1..d).map(|i| entries[i - j] * (units[i] / units[j]));
        let column: Vec<f64> = std::iter::once(1.0).chain(below).collect();
        for b in j..d {
            for a in b..d {
                matrix[b * d + a] += column[a - j] * variance * column[b - j];
            }
        }
    }
    for b in 0..d {
        for a in b + 1..d {
            matrix[a * d + b] = matrix[b * d + a];
        }
    }
    matrix
}
