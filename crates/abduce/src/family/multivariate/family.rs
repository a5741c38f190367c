//! The multivariate Gaussian as a family: densities, estimates, priors, starts.

use crate::Result;
use crate::data::Rows;
use crate::family::continuous::gaussian::GaussianStats;
use crate::family::multivariate::estimate::estimates_of_all;
use crate::family::multivariate::run::{by_pattern, slices};
use crate::family::multivariate::stats::{observe_complete, shrink_together};
use crate::family::multivariate::{
    Covariance, Filler, MultivariateGaussian, MultivariateKernel, MultivariatePrior,
    MultivariateShape, MultivariateStats, Structure,
};
use crate::family::{
    Components, Domain, Family, Fill, Gaussian, PriorStrength, Scale, Stats, Unconstrained,
    Validate, nothing_seen,
};
use crate::kernel::gaussian::Scratch;
use crate::kernel::linear::{
    cholesky, divide_by_scales, gram, invert_lower, log_diagonal, submatrix,
};
use crate::kernel::special::LN_TAU;
use rand::Rng;

impl Family for MultivariateGaussian {
    const NAME: &'static str = "multivariate gaussian";
    type Stats = MultivariateStats;
    type Shape = MultivariateShape;
    type Prior = MultivariatePrior;

    fn zero(shape: &MultivariateShape) -> MultivariateStats {
        let d = shape.columns;
        if shape.structure.is_correlated() {
            MultivariateStats::Full {
                weight: 0.0,
                mean: vec![0.0; d],
                scatter: vec![0.0; d * d],
            }
        } else {
            MultivariateStats::Columns {
                spherical: shape.structure.is_spherical(),
                columns: vec![GaussianStats::default(); d],
            }
        }
    }

    fn shape(&self) -> MultivariateShape {
        let structure = match self.covariance {
            Covariance::Full(_) => Structure::Full,
            Covariance::Diagonal(_) => Structure::Diagonal,
            Covariance::Spherical(_) => Structure::Spherical,
        };
        MultivariateShape {
            columns: self.order(),
            structure,
        }
    }

    /// A full covariance is estimated from complete rows only; [`expect`](Family::expect) also uses
    /// the others.
    fn observe(rows: &Rows, weights: &[f64], stats: &mut MultivariateStats) {
        if let MultivariateStats::Columns { columns, .. } = stats {
            for (cells, stats) in rows.columns.iter().zip(columns) {
                Gaussian::observe(&Rows::new(std::slice::from_ref(cells)), weights, stats);
            }
            return;
        }
        for group in by_pattern(rows) {
            if group.seen.len() == rows.columns.len() {
                let columns = group.columns(rows);
                observe_complete(&slices(&columns), &group.pick(weights), stats);
            }
        }
    }

    fn expect(&self, rows: &Rows, weights: &[f64], stats: &mut MultivariateStats) {
        if matches!(stats, MultivariateStats::Columns { .. }) {
            return Self::observe(rows, weights, stats);
        }
        let Ok(kernel) = MultivariateKernel::new(vec![self.clone()], vec![1.0], false) else {
            return;
        };
        let mut scratch = Scratch::default();
        for group in by_pattern(rows) {
            let columns = group.columns(rows);
            if let Ok(mut run) = kernel.run(&group.seen, None, group.rows.len()) {
                run.load(&slices(&columns), &mut scratch);
                run.accumulate(&mut scratch, &group.pick(weights));
                run.finish(None, &mut scratch, std::iter::once(&mut *stats));
            }
        }
        kernel.finish_patterns(None, &mut scratch, std::iter::once(stats));
    }

    fn add_log_density(&self, rows: &Rows, out: &mut [f64]) {
        if !matches!(self.covariance, Covariance::Full(_)) {
            for (c, cells) in rows.columns.iter().enumerate() {
                let (mean, variance) = (self.mean[c], self.covariance(c, c));
                let marginal = Gaussian { mean, variance };
                marginal.add_log_density(&Rows::new(std::slice::from_ref(cells)), out);
            }
            return;
        }
        let Ok(kernel) = MultivariateKernel::new(vec![self.clone()], vec![1.0], false) else {
            out.fill(f64::NEG_INFINITY);
            return;
        };
        let mut scratch = Scratch::default();
        for group in by_pattern(rows) {
            let mut densities = vec![0.0; group.rows.len()];
            if let Ok(run) = kernel.run(&group.seen, None, group.rows.len()) {
                let columns = group.columns(rows);
                run.add_log_density(&slices(&columns), &mut scratch, &mut densities);
            } else {
                densities.fill(f64::NAN);
            }
            for (row, density) in group.rows.iter().zip(densities) {
                out[*row] += density;
            }
        }
    }

    fn map(stats: &MultivariateStats, prior: &MultivariatePrior) -> Result<Self> {
        if stats.weight() <= 0.0 {
            return Err(nothing_seen());
        }
        let structure = match stats {
            MultivariateStats::Full { .. } => Structure::Full,
            MultivariateStats::Columns { spherical, .. } if *spherical => Structure::Spherical,
            MultivariateStats::Columns { .. } => Structure::Diagonal,
        };
        let mut found = Self::estimates(structure, &[stats], prior, None)?;
        found.pop().ok_or_else(nothing_seen)
    }

    fn log_prior(&self, prior: &MultivariatePrior) -> f64 {
        let (covariance, mean) = prior.log_density(self);
        covariance + mean
    }

    fn log_likelihood(&self, stats: &MultivariateStats) -> f64 {
        let d = self.order();
        match stats {
            MultivariateStats::Columns { columns, .. } => columns
                .iter()
                .enumerate()
                .map(|(c, stats)| {
                    let (mean, variance) = (self.mean[c], self.covariance(c, c));
                    Gaussian { mean, variance }.log_likelihood(stats)
                })
                .sum(),
            MultivariateStats::Full {
                weight,
                mean,
                scatter,
            } => {
                let Covariance::Full(matrix) = &self.covariance else {
                    return f64::NEG_INFINITY;
                };
                let Ok(factor) = cholesky(matrix, d) else {
                    return f64::NEG_INFINITY;
                };
                let precision = gram(&invert_lower(&factor, d), d);
                let mut trace = 0.0;
                let shift: Vec<f64> = (0..d).map(|c| mean[c] - self.mean[c]).collect();
                for (j, shift_j) in shift.iter().enumerate() {
                    let column = precision[j * d..].iter().zip(&scatter[j * d..]);
                    for ((p, s), shift_i) in column.zip(&shift) {
                        trace += p * (s + weight * shift_i * shift_j);
                    }
                }
                -0.5 * (weight * d as f64 * LN_TAU + trace) - weight * log_diagonal(&factor, d)
            }
        }
    }

    fn parameters(shape: &MultivariateShape) -> usize {
        Self::parameters_of_all(shape, 1)
    }

    fn fill(&self, how: Fill, row: &[Option<f64>], rng: &mut dyn Rng, out: &mut [f64]) {
        let is_seen: Vec<bool> = row.iter().map(Option::is_some).collect();
        Filler::new(self, &is_seen).fill(how, row, rng, out);
    }
}

impl Domain for MultivariateGaussian {
    const HAS_UNITS: bool = true;

    fn shape_of_column(_: usize) -> Option<MultivariateShape> {
        None
    }

    fn columns(shape: &MultivariateShape) -> usize {
        shape.columns
    }
}

impl Components for MultivariateGaussian {
    fn weak_prior(scales: &[Scale], strength: &PriorStrength) -> MultivariatePrior {
        let scatter = scales.iter().map(|s| strength.scatter() * s.variance);
        MultivariatePrior {
            scatter: scatter.collect(),
            ridge: strength.ridge,
            unit_share: strength.unit_share,
            ..MultivariatePrior::default()
        }
    }

    fn fallback(shape: &MultivariateShape, scales: &[Scale]) -> Self {
        let d = shape.columns;
        let variances: Vec<f64> = scales.iter().map(|s| s.variance).collect();
        let covariance = match shape.structure {
            Structure::Identity => Covariance::Spherical(1.0),
            structure if structure.is_correlated() => {
                let mut matrix = vec![0.0; d * d];
                (0..d).for_each(|c| matrix[c * d + c] = variances[c]);
                Covariance::Full(matrix)
            }
            structure if structure.is_spherical() => {
                Covariance::Spherical(variances.iter().sum::<f64>() / d as f64)
            }
            _ => Covariance::Diagonal(variances),
        };
        MultivariateGaussian {
            mean: scales.iter().map(|s| s.mean).collect(),
            covariance,
        }
    }

    fn shrink_together(stats: &mut [MultivariateStats]) {
        shrink_together(stats);
    }

    fn spread(&self, scales: &[Scale]) -> f64 {
        let varying: Vec<usize> = (0..self.order()).filter(|c| !scales[*c].constant).collect();
        let d = varying.len();
        let root = |i: usize| scales[varying[i]].variance.sqrt();
        match &self.covariance {
            Covariance::Full(matrix) => {
                let mut scaled = submatrix(matrix, self.order(), &varying, &varying);
                let roots: Vec<f64> = (0..d).map(root).collect();
                divide_by_scales(&mut scaled, &roots);
                cholesky(&scaled, d).map_or(0.0, |factor| {
                    let pivots = (0..d).map(|c| factor[c * d + c].powi(2));
                    pivots.fold(1.0, f64::min)
                })
            }
            _ => {
                let shares =
                    (0..d).map(|i| self.covariance(varying[i], varying[i]) / root(i).powi(2));
                shares.fold(1.0, f64::min)
            }
        }
    }

    fn map_all(
        shape: &MultivariateShape,
        stats: &[&MultivariateStats],
        prior: &MultivariatePrior,
        fallback: &Self,
    ) -> Vec<Self> {
        estimates_of_all(shape.structure, stats, prior, fallback, None)
    }

    fn map_all_from(
        shape: &MultivariateShape,
        stats: &[&MultivariateStats],
        prior: &MultivariatePrior,
        fallback: &Self,
        before: &[&Self],
    ) -> Vec<Self> {
        estimates_of_all(shape.structure, stats, prior, fallback, Some(before))
    }

    fn log_prior_all<'a>(
        shape: &MultivariateShape,
        distributions: impl Iterator<Item = &'a Self>,
        prior: &MultivariatePrior,
    ) -> f64 {
        let (mut covariances, mut means, mut number) = (0.0, 0.0, 0.0);
        for distribution in distributions {
            let (covariance, mean) = prior.log_density(distribution);
            (covariances, means, number) = (covariances + covariance, means + mean, number + 1.0);
        }
        // The prior of a covariance that all share is counted once.
        if shape.structure.is_shared() && number > 0.0 {
            covariances /= number;
        }
        covariances + means
    }

    fn parameters_of_all(shape: &MultivariateShape, components: usize) -> usize {
        components * shape.columns + shape.structure.parameters(shape.columns, components)
    }
}

impl Unconstrained for MultivariateGaussian {
    fn coordinates(&self, shape: &MultivariateShape, unit: &Self) -> Option<Vec<f64>> {
        self.free_numbers(shape.structure, unit)
    }

    fn at_coordinates(
        &self,
        shape: &MultivariateShape,
        unit: &Self,
        coordinates: &[f64],
    ) -> Option<Self> {
        self.moved(shape.structure, unit, coordinates)
    }
}

impl Validate for MultivariateGaussian {
    fn is_valid(&self, shape: &MultivariateShape) -> bool {
        let d = shape.columns;
        let structured = match (&self.covariance, shape.structure) {
            (Covariance::Full(matrix), structure) if structure.is_correlated() => {
                matrix.len() == d * d && is_symmetric(matrix, d) && cholesky(matrix, d).is_ok()
            }
            (Covariance::Spherical(v), Structure::Identity) => *v == 1.0,
            (Covariance::Spherical(v), structure) if structure.is_spherical() => {
                v.is_normal() && *v > 0.0
            }
            (Covariance::Diagonal(variances), structure)
                if !structure.is_correlated() && !structure.is_spherical() =>
            {
                variances.len() == d && variances.iter().all(|v| v.is_normal() && *v > 0.0)
            }
            _ => false,
        };
        structured && self.mean.len() == d && self.mean.iter().all(|m| m.is_finite())
    }

    fn describes(shape: &MultivariateShape, stats: &MultivariateStats) -> bool {
        let d = shape.columns;
        match stats {
            MultivariateStats::Full {
                weight,
                mean,
                scatter,
            } => {
                shape.structure.is_correlated()
                    && *weight >= 0.0
                    && mean.len() == d
                    && scatter.len() == d * d
                    && (0..d).all(|c| scatter[c * (d + 1)] >= 0.0)
            }
            MultivariateStats::Columns { columns, spherical } => {
                !shape.structure.is_correlated()
                    && columns.len() == d
                    && columns.iter().all(|stats| Gaussian::describes(&(), stats))
                    && *spherical == shape.structure.is_spherical()
            }
        }
    }

    fn accepts(shape: &MultivariateShape, prior: &MultivariatePrior) -> bool {
        let d = shape.columns;
        let diagonal = match prior.scatter.len() {
            0 => true,
            length if length == d => prior.scatter.iter().all(|x| *x >= 0.0),
            length => length == d * d && (0..d).all(|c| prior.scatter[c * (d + 1)] >= 0.0),
        };
        let numbers = [prior.rows, prior.center_rows, prior.ridge];
        let numbers = numbers.iter().all(|x| *x >= 0.0);
        let center = prior.center.is_empty() || prior.center.len() == d;
        diagonal && numbers && center && (0.0..=1.0).contains(&prior.unit_share)
    }
}

/// Whether a matrix is symmetric up to rounding.
fn is_symmetric(matrix: &[f64], order: usize) -> bool {
    let root: Vec<f64> = (0..order).map(|c| matrix[c * (order + 1)].sqrt()).collect();
    (0..order).all(|j| {
        (0..j).all(|i| {
            let difference = matrix[j * order + i] - matrix[i * order + j];
            difference.abs() <= 1e-9 * (root[i] * root[j])
        })
    })
}

#[cfg(test)]
impl crate::family::laws::Examples for MultivariateGaussian {
    fn examples() -> Vec<Self> {
        vec![
            MultivariateGaussian {
                mean: vec![1.0, -2.0, 0.5],
                covariance: Covariance::Full(vec![2.0, 0.6, -0.3, 0.6, 1.0, 0.2, -0.3, 0.2, 0.5]),
            },
            MultivariateGaussian {
                mean: vec![1e8, 3.0],
                covariance: Covariance::Full(vec![4.0, 1.0, 1.0, 0.5]),
            },
            MultivariateGaussian {
                mean: vec![0.0, 10.0],
                covariance: Covariance::Diagonal(vec![1.0, 0.01]),
            },
            MultivariateGaussian {
                mean: vec![5.0, 5.0],
                covariance: Covariance::Spherical(0.3),
            },
            MultivariateGaussian {
                mean: vec![2.0],
                covariance: Covariance::Full(vec![3.0]),
            },
        ]
    }
}
