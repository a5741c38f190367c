//! The multivariate t as a family: densities, estimates, priors, starts. An estimate from rows
//! without an E-step is only a start of EM.

use crate::Result;
use crate::data::Rows;
use crate::family::multivariate::run::{by_pattern, slices};
use crate::family::multivariate::tails::degrees::{START, estimates};
use crate::family::multivariate::tails::run::TailedKernel;
use crate::family::multivariate::tails::stats::shrink_rows_together;
use crate::family::multivariate::tails::{
    MultivariateStudentT, MultivariateStudentTShape, MultivariateStudentTStats,
};
use crate::family::multivariate::{
    Covariance, Filler, MultivariateGaussian, MultivariatePrior, MultivariateShape,
};
use crate::family::{
    Components, Domain, Family, Fill, MultivariateStats, PriorStrength, Scale, Unconstrained,
    Validate, nothing_seen,
};
use crate::kernel::gaussian::Scratch;
use crate::kernel::linear::{cholesky, log_diagonal};
use crate::kernel::special::LN_TAU;
use rand::Rng;

impl MultivariateStudentTShape {
    /// The shape of location and scale matrix.
    pub(crate) fn of_gaussian(&self) -> MultivariateShape {
        MultivariateShape {
            columns: self.columns,
            structure: self.structure,
        }
    }
}

impl Family for MultivariateStudentT {
    const NAME: &'static str = "multivariate student-t";
    const LATENT: bool = true;
    type Stats = MultivariateStudentTStats;
    type Shape = MultivariateStudentTShape;
    /// The prior of location and scale matrix; ν has a flat one.
    type Prior = MultivariatePrior;

    fn zero(shape: &MultivariateStudentTShape) -> MultivariateStudentTStats {
        let columns = if shape.structure.is_correlated() {
            0
        } else {
            shape.columns
        };
        MultivariateStudentTStats {
            weight: 0.0,
            observed_weights: vec![0.0; columns],
            moments: MultivariateGaussian::zero(&shape.of_gaussian()),
            heaviness: 0.0,
        }
    }

    fn shape(&self) -> MultivariateStudentTShape {
        let MultivariateShape { columns, structure } = self.gaussian.shape();
        MultivariateStudentTShape {
            columns,
            structure,
            degrees: None,
        }
    }

    /// Takes every u to be 1, with the uncertainty it has before EM; [`expect`](Family::expect)
    /// uses the expectation of u. A full matrix is estimated from complete rows.
    fn observe(rows: &Rows, weights: &[f64], stats: &mut MultivariateStudentTStats) {
        MultivariateGaussian::observe(rows, weights, &mut stats.moments);
        let all = stats.observed_weights.is_empty();
        let mut weight_of_rows = 0.0;
        for (row, weight) in weights.iter().enumerate().take(rows.len) {
            let seen = rows.columns.iter().map(|cells| cells.is_seen(row));
            let enough = if all {
                seen.clone().all(|seen| seen)
            } else {
                seen.clone().any(|seen| seen)
            };
            if enough {
                weight_of_rows += weight;
            }
            let columns = stats.observed_weights.iter_mut().zip(seen);
            columns
                .filter(|(_, seen)| *seen)
                .for_each(|(sum, _)| *sum += weight);
        }
        stats.add_rows(weight_of_rows);
    }

    fn expect(&self, rows: &Rows, weights: &[f64], stats: &mut MultivariateStudentTStats) {
        let Ok(kernel) = TailedKernel::new(vec![self.clone()], vec![1.0], false) else {
            return;
        };
        let mut scratch = Scratch::default();
        for group in by_pattern(rows) {
            let columns = group.columns(rows);
            if let Ok(mut run) = kernel.run(&group.seen, None, group.rows.len()) {
                let mut densities = vec![0.0; group.rows.len()];
                run.add_log_density(&slices(&columns), &mut scratch, &mut densities);
                run.accumulate(&mut scratch, &group.pick(weights));
                run.finish(&mut scratch, std::iter::once(&mut *stats));
            }
        }
    }

    fn add_log_density(&self, rows: &Rows, out: &mut [f64]) {
        let Ok(kernel) = TailedKernel::new(vec![self.clone()], vec![1.0], false) else {
            out.fill(f64::NEG_INFINITY);
            return;
        };
        let mut scratch = Scratch::default();
        for group in by_pattern(rows) {
            let mut densities = vec![0.0; group.rows.len()];
            match kernel.run(&group.seen, None, group.rows.len()) {
                Ok(mut run) => {
                    let columns = group.columns(rows);
                    run.add_log_density(&slices(&columns), &mut scratch, &mut densities);
                }
                Err(_) => densities.fill(f64::NAN),
            }
            let rows = group.rows.iter().zip(densities);
            rows.for_each(|(row, density)| out[*row] += density);
        }
    }

    fn map(stats: &MultivariateStudentTStats, prior: &MultivariatePrior) -> Result<Self> {
        let degrees = stats.degrees().ok_or_else(nothing_seen)?;
        let gaussian = MultivariateGaussian::map(&stats.per_row(prior), &prior.of_covariance())?;
        Ok(MultivariateStudentT { degrees, gaussian })
    }

    fn log_prior(&self, prior: &MultivariatePrior) -> f64 {
        self.gaussian.log_prior(prior)
    }

    /// The expected log-likelihood of the rows and their u, up to terms without parameters.
    fn log_likelihood(&self, stats: &MultivariateStudentTStats) -> f64 {
        let d = self.gaussian.order();
        // A row counts once for the determinant, but E u times for the distance.
        let uncounted = match (&stats.moments, &self.gaussian.covariance) {
            (MultivariateStats::Full { weight, .. }, Covariance::Full(matrix)) => {
                let Ok(factor) = cholesky(matrix, d) else {
                    return f64::NEG_INFINITY;
                };
                let peak = 0.5 * d as f64 * LN_TAU + log_diagonal(&factor, d);
                (stats.weight - weight) * peak
            }
            (MultivariateStats::Columns { columns, .. }, _) => {
                let columns = columns.iter().zip(&stats.observed_weights).enumerate();
                let each = columns.map(|(c, (column, rows))| {
                    let peak = 0.5 * (LN_TAU + self.gaussian.covariance(c, c).ln());
                    (rows - column.weight) * peak
                });
                each.sum()
            }
            _ => return f64::NEG_INFINITY,
        };
        self.gaussian.log_likelihood(&stats.moments) - uncounted
            + stats.log_likelihood_of_scales(self.degrees)
    }

    fn parameters(shape: &MultivariateStudentTShape) -> usize {
        Self::parameters_of_all(shape, 1)
    }

    /// With one degree of freedom or less there is no mean; the location is used instead.
    fn fill(&self, how: Fill, row: &[Option<f64>], rng: &mut dyn Rng, out: &mut [f64]) {
        let is_seen: Vec<bool> = row.iter().map(Option::is_some).collect();
        Filler::of_student_t(self, &is_seen).fill(how, row, rng, out);
    }
}

impl Domain for MultivariateStudentT {
    const HAS_UNITS: bool = true;

    fn shape_of_column(_: usize) -> Option<MultivariateStudentTShape> {
        None
    }

    fn columns(shape: &MultivariateStudentTShape) -> usize {
        shape.columns
    }
}

impl Components for MultivariateStudentT {
    fn weak_prior(scales: &[Scale], strength: &PriorStrength) -> MultivariatePrior {
        MultivariateGaussian::weak_prior(scales, strength)
    }

    fn fallback(shape: &MultivariateStudentTShape, scales: &[Scale]) -> Self {
        MultivariateStudentT {
            degrees: shape.degrees.unwrap_or(START),
            gaussian: MultivariateGaussian::fallback(&shape.of_gaussian(), scales),
        }
    }

    fn shrink_together(stats: &mut [MultivariateStudentTStats]) {
        shrink_rows_together(stats);
    }

    fn spread(&self, scales: &[Scale]) -> f64 {
        self.gaussian.spread(scales)
    }

    fn map_all(
        shape: &MultivariateStudentTShape,
        stats: &[&MultivariateStudentTStats],
        prior: &MultivariatePrior,
        fallback: &Self,
    ) -> Vec<Self> {
        estimates(shape, stats, prior, fallback, None)
    }

    fn map_all_from(
        shape: &MultivariateStudentTShape,
        stats: &[&MultivariateStudentTStats],
        prior: &MultivariatePrior,
        fallback: &Self,
        before: &[&Self],
    ) -> Vec<Self> {
        estimates(shape, stats, prior, fallback, Some(before))
    }

    fn log_prior_all<'a>(
        shape: &MultivariateStudentTShape,
        distributions: impl Iterator<Item = &'a Self>,
        prior: &MultivariatePrior,
    ) -> f64 {
        let gaussians = distributions.map(|distribution| &distribution.gaussian);
        MultivariateGaussian::log_prior_all(&shape.of_gaussian(), gaussians, prior)
    }

    fn parameters_of_all(shape: &MultivariateStudentTShape, components: usize) -> usize {
        let degrees = if shape.degrees.is_some() {
            0
        } else {
            components
        };
        MultivariateGaussian::parameters_of_all(&shape.of_gaussian(), components) + degrees
    }
}

impl Unconstrained for MultivariateStudentT {
    /// The Gaussian's coordinates and, if ν is learned, 1/ν, which is 0 for a Gaussian.
    fn coordinates(&self, shape: &MultivariateStudentTShape, unit: &Self) -> Option<Vec<f64>> {
        let structure = shape.structure;
        let mut numbers = self.gaussian.free_numbers(structure, &unit.gaussian)?;
        numbers.extend(shape.degrees.is_none().then(|| 1.0 / self.degrees));
        Some(numbers)
    }

    fn at_coordinates(
        &self,
        shape: &MultivariateStudentTShape,
        unit: &Self,
        coordinates: &[f64],
    ) -> Option<Self> {
        let (degrees, rest) = match shape.degrees {
            Some(given) => (given, coordinates),
            None => {
                let (inverse, rest) = coordinates.split_last()?;
                // A step that reaches or passes the Gaussian ends at the limit, as EM does.
                let most = if *inverse > 0.0 {
                    1.0 / inverse
                } else {
                    Self::MAX_LEARNED
                };
                (most.clamp(Self::MIN_DEGREES, Self::MAX_LEARNED), rest)
            }
        };
        let gaussian = self.gaussian.moved(shape.structure, &unit.gaussian, rest)?;
        Some(MultivariateStudentT { degrees, gaussian })
    }

    /// ν: the lighter the tails, the less information a u has about them, and the slower EM is.
    fn paced_apart(shape: &MultivariateStudentTShape) -> usize {
        usize::from(shape.degrees.is_none())
    }
}

impl Validate for MultivariateStudentT {
    fn is_valid(&self, shape: &MultivariateStudentTShape) -> bool {
        let range = Self::MIN_DEGREES..=Self::MAX_DEGREES;
        let as_given = shape.degrees.is_none_or(|given| given == self.degrees);
        range.contains(&self.degrees) && as_given && self.gaussian.is_valid(&shape.of_gaussian())
    }

    fn describes(shape: &MultivariateStudentTShape, stats: &MultivariateStudentTStats) -> bool {
        MultivariateGaussian::describes(&shape.of_gaussian(), &stats.moments)
            && stats.observed_weights.len() == Self::zero(shape).observed_weights.len()
            && stats.observed_weights.iter().all(|weight| *weight >= 0.0)
            && stats.weight >= 0.0
            && stats.heaviness >= 0.0
    }

    fn accepts(shape: &MultivariateStudentTShape, prior: &MultivariatePrior) -> bool {
        MultivariateGaussian::accepts(&shape.of_gaussian(), prior)
    }
}

#[cfg(test)]
impl crate::family::laws::Examples for MultivariateStudentT {
    fn examples() -> Vec<Self> {
        let of = |degrees: f64, mean: Vec<f64>, covariance: Covariance| MultivariateStudentT {
            degrees,
            gaussian: MultivariateGaussian { mean, covariance },
        };
        let full = vec![2.0, 0.6, -0.3, 0.6, 1.0, 0.2, -0.3, 0.2, 0.5];
        vec![
            of(4.0, vec![1.0, -2.0, 0.5], Covariance::Full(full)),
            of(
                12.0,
                vec![1e8, 3.0],
                Covariance::Full(vec![4.0, 1.0, 1.0, 0.5]),
            ),
            of(3.0, vec![0.0, 10.0], Covariance::Diagonal(vec![1.0, 0.01])),
            of(6.0, vec![5.0, 5.0], Covariance::Spherical(0.3)),
            of(2.5, vec![2.0], Covariance::Full(vec![3.0])),
        ]
    }
}
