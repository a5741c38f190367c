//! Unknown parameters of a Gaussian over several columns: its mean with a
//! Gaussian prior, its precision matrix with a Wishart prior (a prior on the
//! precision, not on the covariance), or both with a normal-Wishart prior, or
//! mean and covariance with a normal-inverse-Wishart prior.
//!
//! With S the scatter about x̄ and T = S + κn/(κ + n) (x̄ − m)(x̄ − m)ᵀ: κ, ν grow
//! by n, m moves to (κm + n x̄)/(κ + n), and W⁻¹ or Ψ grows by T. The next row
//! is Student t with ν − d + 1 degrees of freedom.

use super::{Conjugate, Prior, numbers, proper, unknown_prior};
use crate::family::{
    Covariance, Gamma, Gaussian, InverseGamma, InverseWishart, Multi, MultivariateGaussian,
    MultivariateStats, MultivariateT, NormalInverseWishart, NormalWishart, Stats, StudentT,
    Univariate, Wishart,
};
use crate::kernel::definite::{Definite, times};
use crate::kernel::special::LN_TAU;
use crate::{Error, Result};
use rand::Rng;

type Marginals = Vec<(usize, Box<dyn Univariate>)>;

fn scaled(matrix: &[f64], factor: f64) -> Vec<f64> {
    matrix.iter().map(|entry| factor * entry).collect()
}

fn added(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

fn identity(order: usize, scale: f64) -> Vec<f64> {
    let mut matrix = vec![0.0; order * order];
    (0..order).for_each(|i| matrix[i * order + i] = scale);
    matrix
}

fn definite(matrix: &[f64], order: usize) -> Result<Definite> {
    Definite::new(matrix, order).ok_or_else(|| {
        Error::numeric("the matrix is not positive definite")
            .with_hint("see more rows than columns, or give a proper prior")
    })
}

fn inverse(matrix: &[f64], order: usize) -> Result<Vec<f64>> {
    Ok(definite(matrix, order)?.inverse())
}

/// Weight, mean and scatter.
fn parts(stats: &MultivariateStats) -> (f64, &[f64], &[f64]) {
    match stats {
        MultivariateStats::Full {
            weight,
            mean,
            scatter,
        } => (*weight, mean, scatter),
        MultivariateStats::Columns { .. } => (0.0, &[], &[]),
    }
}

fn nothing(order: usize) -> MultivariateStats {
    MultivariateStats::Full {
        weight: 0.0,
        mean: vec![0.0; order],
        scatter: vec![0.0; order * order],
    }
}

fn see(row: &[f64], weight: f64, stats: &mut MultivariateStats) {
    let order = row.len();
    stats.merge(&MultivariateStats::Full {
        weight,
        mean: row.to_vec(),
        scatter: vec![0.0; order * order],
    });
}

/// The scatter about a point, with a weight for the shift of the mean.
fn scatter_about(stats: &MultivariateStats, point: &[f64], share: f64) -> Vec<f64> {
    let (weight, mean, scatter) = parts(stats);
    let order = mean.len();
    let mut about = scatter.to_vec();
    if weight > 0.0 {
        for j in 0..order {
            for i in 0..order {
                about[j * order + i] += share * (mean[i] - point[i]) * (mean[j] - point[j]);
            }
        }
    }
    about
}

/// Σ ln N(x; mean, precision⁻¹).
fn log_likelihood(mean: &[f64], precision: &[f64], stats: &MultivariateStats) -> f64 {
    let (weight, ..) = parts(stats);
    let order = mean.len();
    let Some(own) = Definite::new(precision, order) else {
        return f64::NEG_INFINITY;
    };
    let about = scatter_about(stats, mean, weight);
    let trace: f64 = precision.iter().zip(&about).map(|(a, b)| a * b).sum();
    -0.5 * (weight * (order as f64 * LN_TAU - own.log_determinant()) + trace)
}

fn draw(mean: &[f64], covariance: Vec<f64>, rng: &mut dyn Rng) -> Vec<f64> {
    let covariance = Covariance::Full(covariance);
    MultivariateGaussian {
        mean: mean.to_vec(),
        covariance,
    }
    .draw(rng)
}

fn mean_names(order: usize) -> Vec<String> {
    (1..=order).map(|i| format!("mean[{i}]")).collect()
}

fn matrix_names(what: &str, order: usize) -> Vec<String> {
    let name = |j: usize| (1..=order).map(move |i| format!("{what}[{i},{}]", j + 1));
    (0..order).flat_map(name).collect()
}

fn boxed<D: Univariate + 'static>(index: usize, own: D) -> (usize, Box<dyn Univariate>) {
    (index, Box::new(own))
}

macro_rules! by_multi {
    () => {
        fn log_density_of(&self, parameters: &[f64]) -> f64 {
            self.log_density(parameters)
        }

        fn means(&self) -> Option<Vec<f64>> {
            self.mean()
        }

        fn modes(&self) -> Option<Vec<f64>> {
            self.mode()
        }

        fn draw_parameters(&self, rng: &mut dyn Rng) -> Vec<f64> {
            self.draw(rng)
        }
    };
}

impl Prior for MultivariateGaussian {
    const NAME: &'static str = "normal";

    fn is_proper(&self) -> bool {
        self.log_density(&self.mean).is_finite()
    }

    by_multi!();

    fn marginals(&self) -> Marginals {
        let own = |i: usize| Gaussian {
            mean: self.mean[i],
            variance: self.covariance(i, i),
        };
        (0..self.mean.len()).map(|i| boxed(i, own(i))).collect()
    }
}

impl Prior for Wishart {
    const NAME: &'static str = "wishart";

    fn is_proper(&self) -> bool {
        Wishart::new(self.degrees, self.scale.clone()).is_ok()
    }

    by_multi!();

    /// Of the diagonal: a precision given the other columns.
    fn marginals(&self) -> Marginals {
        let order = self.scale.len().isqrt();
        precisions(self.degrees, &self.scale, order, 0)
    }
}

fn precisions(degrees: f64, scale: &[f64], order: usize, first: usize) -> Marginals {
    let own = |i: usize| Gamma {
        shape: 0.5 * degrees,
        rate: 0.5 / scale[i * order + i],
    };
    (0..order)
        .map(|i| boxed(first + i * order + i, own(i)))
        .collect()
}

fn student_means(mean: &[f64], spread: &[f64], strength: f64, degrees: f64) -> Marginals {
    let order = mean.len();
    let own = |i: usize| StudentT {
        location: mean[i],
        scale: (spread[i * order + i] / (strength * degrees)).sqrt(),
        degrees,
    };
    (0..order).map(|i| boxed(i, own(i))).collect()
}

impl Prior for NormalWishart {
    const NAME: &'static str = "normal-wishart";

    fn is_proper(&self) -> bool {
        let scale = self.scale.clone();
        NormalWishart::new(self.mean.clone(), self.strength, self.degrees, scale).is_ok()
    }

    by_multi!();

    fn marginals(&self) -> Marginals {
        let order = self.mean.len();
        let Ok(spread) = inverse(&self.scale, order) else {
            return Vec::new();
        };
        let degrees = self.degrees - order as f64 + 1.0;
        let mut all = student_means(&self.mean, &spread, self.strength, degrees);
        all.extend(precisions(self.degrees, &self.scale, order, order));
        all
    }
}

impl Prior for NormalInverseWishart {
    const NAME: &'static str = "normal-inverse-wishart";

    fn is_proper(&self) -> bool {
        let scale = self.scale.clone();
        NormalInverseWishart::new(self.mean.clone(), self.strength, self.degrees, scale).is_ok()
    }

    by_multi!();

    fn marginals(&self) -> Marginals {
        let order = self.mean.len();
        let degrees = self.degrees - order as f64 + 1.0;
        let mut all = student_means(&self.mean, &self.scale, self.strength, degrees);
        let variance = |i: usize| InverseGamma {
            shape: 0.5 * degrees,
            scale: 0.5 * self.scale[i * order + i],
        };
        all.extend((0..order).map(|i| boxed(order + i * order + i, variance(i))));
        all
    }
}

/// The mean of a Gaussian of known covariance.
#[derive(Clone, Debug, PartialEq)]
pub struct MultivariateMean {
    /// The known covariance, column after column.
    pub covariance: Vec<f64>,
}

impl MultivariateMean {
    fn order(&self) -> usize {
        self.covariance.len().isqrt()
    }
}

impl Conjugate for MultivariateMean {
    type Prior = MultivariateGaussian;
    type Stats = MultivariateStats;
    type Predictive = MultivariateGaussian;

    fn parameters(&self) -> Vec<String> {
        mean_names(self.order())
    }

    fn zero(&self) -> MultivariateStats {
        nothing(self.order())
    }

    fn observe(&self, row: &[f64], weight: f64, stats: &mut MultivariateStats) {
        see(row, weight, stats);
    }

    fn posterior(
        &self,
        prior: &MultivariateGaussian,
        stats: &MultivariateStats,
    ) -> Result<MultivariateGaussian> {
        let order = self.order();
        let (weight, mean, _) = parts(stats);
        let seen = scaled(&inverse(&self.covariance, order)?, weight);
        let own = match &prior.covariance {
            // Believing nothing is no precision at all.
            Covariance::Spherical(variance) => identity(order, 1.0 / variance),
            _ => inverse(&full(prior), order)?,
        };
        let covariance = inverse(&added(&own, &seen), order)?;
        let pull = added(&times(&own, &prior.mean), &times(&seen, mean));
        proper(MultivariateGaussian {
            mean: times(&covariance, &pull),
            covariance: Covariance::Full(covariance),
        })
    }

    fn predictive(&self, belief: &MultivariateGaussian) -> Result<MultivariateGaussian> {
        let belief = proper(belief.clone())?;
        let covariance = added(&full(&belief), &self.covariance);
        Ok(MultivariateGaussian {
            mean: belief.mean,
            covariance: Covariance::Full(covariance),
        })
    }

    fn log_likelihood(&self, mean: &[f64], stats: &MultivariateStats) -> f64 {
        let precision = inverse(&self.covariance, self.order());
        precision.map_or(f64::NAN, |precision| {
            log_likelihood(mean, &precision, stats)
        })
    }

    fn draw_row(&self, mean: &[f64], rng: &mut dyn Rng) -> Vec<f64> {
        draw(mean, self.covariance.clone(), rng)
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<MultivariateGaussian> {
        let belief = |mean: f64, variance: f64| MultivariateGaussian {
            mean: vec![mean; self.order()],
            covariance: Covariance::Spherical(variance),
        };
        match name {
            "normal" | "gaussian" => {
                let [mean, variance] = numbers(name, given)?;
                Gaussian::new(mean, variance).map(|_| belief(mean, variance))
            }
            "uniform" | "flat" | "jeffreys" => {
                numbers::<0>(name, given).map(|_| belief(0.0, f64::INFINITY))
            }
            _ => Err(unknown_prior(
                name,
                "normal(mean,variance), the same for all, and uniform",
            )),
        }
    }
}

fn full(gaussian: &MultivariateGaussian) -> Vec<f64> {
    let order = gaussian.mean.len();
    let entry = |k: usize| gaussian.covariance(k % order, k / order);
    (0..order * order).map(entry).collect()
}

/// The precision matrix of a Gaussian of known mean.
#[derive(Clone, Debug, PartialEq)]
pub struct MultivariatePrecision {
    /// The known mean.
    pub mean: Vec<f64>,
}

impl Conjugate for MultivariatePrecision {
    type Prior = Wishart;
    type Stats = MultivariateStats;
    type Predictive = MultivariateT;

    fn parameters(&self) -> Vec<String> {
        matrix_names("precision", self.mean.len())
    }

    fn zero(&self) -> MultivariateStats {
        nothing(self.mean.len())
    }

    fn observe(&self, row: &[f64], weight: f64, stats: &mut MultivariateStats) {
        see(row, weight, stats);
    }

    fn posterior(&self, prior: &Wishart, stats: &MultivariateStats) -> Result<Wishart> {
        let order = self.mean.len();
        let (weight, ..) = parts(stats);
        let about = scatter_about(stats, &self.mean, weight);
        let spread = added(&inverse(&prior.scale, order)?, &about);
        proper(Wishart {
            degrees: prior.degrees + weight,
            scale: inverse(&spread, order)?,
        })
    }

    fn predictive(&self, belief: &Wishart) -> Result<MultivariateT> {
        let order = self.mean.len();
        let belief = proper(belief.clone())?;
        let degrees = belief.degrees - order as f64 + 1.0;
        let scale = scaled(&inverse(&belief.scale, order)?, 1.0 / degrees);
        MultivariateT::new(degrees, self.mean.clone(), scale)
    }

    fn log_likelihood(&self, precision: &[f64], stats: &MultivariateStats) -> f64 {
        log_likelihood(&self.mean, precision, stats)
    }

    fn draw_row(&self, precision: &[f64], rng: &mut dyn Rng) -> Vec<f64> {
        match inverse(precision, self.mean.len()) {
            Ok(covariance) => draw(&self.mean, covariance, rng),
            Err(_) => vec![f64::NAN; self.mean.len()],
        }
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<Wishart> {
        match name {
            Wishart::NAME => {
                let [degrees, scale] = numbers(name, given)?;
                Wishart::new(degrees, identity(self.mean.len(), scale))
            }
            _ => Err(unknown_prior(
                name,
                "wishart(degrees,scale), scale times the identity",
            )),
        }
    }
}

/// Mean and precision matrix of a Gaussian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultivariateMeanPrecision {
    /// The number of columns.
    pub order: usize,
}

/// The updated mean, strength and spread of a belief in mean m, strength κ and
/// spread W⁻¹ or Ψ.
fn moved(
    mean: &[f64],
    strength: f64,
    spread: &[f64],
    stats: &MultivariateStats,
) -> (Vec<f64>, f64, Vec<f64>) {
    let (weight, seen, _) = parts(stats);
    let total = strength + weight;
    if weight <= 0.0 {
        return (mean.to_vec(), strength, spread.to_vec());
    }
    let about = scatter_about(stats, mean, strength * weight / total);
    let both = seen.iter().zip(mean);
    let centre = both
        .map(|(seen, own)| seen - (seen - own) * strength / total)
        .collect();
    (centre, total, added(spread, &about))
}

impl Conjugate for MultivariateMeanPrecision {
    type Prior = NormalWishart;
    type Stats = MultivariateStats;
    type Predictive = MultivariateT;

    fn parameters(&self) -> Vec<String> {
        let mut names = mean_names(self.order);
        names.extend(matrix_names("precision", self.order));
        names
    }

    fn zero(&self) -> MultivariateStats {
        nothing(self.order)
    }

    fn observe(&self, row: &[f64], weight: f64, stats: &mut MultivariateStats) {
        see(row, weight, stats);
    }

    fn posterior(&self, prior: &NormalWishart, stats: &MultivariateStats) -> Result<NormalWishart> {
        let spread = inverse(&prior.scale, self.order)?;
        let (mean, strength, spread) = moved(&prior.mean, prior.strength, &spread, stats);
        proper(NormalWishart {
            mean,
            strength,
            degrees: prior.degrees + stats.weight(),
            scale: inverse(&spread, self.order)?,
        })
    }

    fn predictive(&self, belief: &NormalWishart) -> Result<MultivariateT> {
        let belief = proper(belief.clone())?;
        let spread = inverse(&belief.scale, self.order)?;
        next(&belief.mean, belief.strength, belief.degrees, &spread)
    }

    fn log_likelihood(&self, parameters: &[f64], stats: &MultivariateStats) -> f64 {
        let (mean, precision) = parameters.split_at(self.order);
        log_likelihood(mean, precision, stats)
    }

    fn draw_row(&self, parameters: &[f64], rng: &mut dyn Rng) -> Vec<f64> {
        let (mean, precision) = parameters.split_at(self.order);
        match inverse(precision, self.order) {
            Ok(covariance) => draw(mean, covariance, rng),
            Err(_) => vec![f64::NAN; self.order],
        }
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<NormalWishart> {
        match name {
            NormalWishart::NAME => {
                let [mean, strength, degrees, scale] = numbers(name, given)?;
                let scale = identity(self.order, scale);
                NormalWishart::new(vec![mean; self.order], strength, degrees, scale)
            }
            _ => Err(unknown_prior(
                name,
                "normal-wishart(mean,strength,degrees,scale)",
            )),
        }
    }
}

/// The Student t of the next row.
fn next(mean: &[f64], strength: f64, degrees: f64, spread: &[f64]) -> Result<MultivariateT> {
    let degrees = degrees - mean.len() as f64 + 1.0;
    let factor = (strength + 1.0) / (strength * degrees);
    MultivariateT::new(degrees, mean.to_vec(), scaled(spread, factor))
}

/// Mean and covariance of a Gaussian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultivariateBoth {
    /// The number of columns.
    pub order: usize,
}

impl Conjugate for MultivariateBoth {
    type Prior = NormalInverseWishart;
    type Stats = MultivariateStats;
    type Predictive = MultivariateT;

    fn parameters(&self) -> Vec<String> {
        let mut names = mean_names(self.order);
        names.extend(matrix_names("covariance", self.order));
        names
    }

    fn zero(&self) -> MultivariateStats {
        nothing(self.order)
    }

    fn observe(&self, row: &[f64], weight: f64, stats: &mut MultivariateStats) {
        see(row, weight, stats);
    }

    fn posterior(
        &self,
        prior: &NormalInverseWishart,
        stats: &MultivariateStats,
    ) -> Result<NormalInverseWishart> {
        let (mean, strength, scale) = moved(&prior.mean, prior.strength, &prior.scale, stats);
        proper(NormalInverseWishart {
            mean,
            strength,
            degrees: prior.degrees + stats.weight(),
            scale,
        })
    }

    fn predictive(&self, belief: &NormalInverseWishart) -> Result<MultivariateT> {
        let belief = proper(belief.clone())?;
        next(&belief.mean, belief.strength, belief.degrees, &belief.scale)
    }

    fn log_likelihood(&self, parameters: &[f64], stats: &MultivariateStats) -> f64 {
        let (mean, covariance) = parameters.split_at(self.order);
        let precision = inverse(covariance, self.order);
        precision.map_or(f64::NEG_INFINITY, |own| log_likelihood(mean, &own, stats))
    }

    fn draw_row(&self, parameters: &[f64], rng: &mut dyn Rng) -> Vec<f64> {
        let (mean, covariance) = parameters.split_at(self.order);
        draw(mean, covariance.to_vec(), rng)
    }

    /// Jeffreys' rule gives |Σ|^(−(d + 2)/2); the reference prior, of mean and
    /// covariance apart, |Σ|^(−(d + 1)/2).
    fn prior(&self, name: &str, given: &[f64]) -> Result<NormalInverseWishart> {
        let improper = |degrees: f64| {
            numbers::<0>(name, given).map(|_| NormalInverseWishart {
                mean: vec![0.0; self.order],
                strength: 0.0,
                degrees,
                scale: vec![0.0; self.order * self.order],
            })
        };
        match name {
            NormalInverseWishart::NAME => {
                let [mean, strength, degrees, scale] = numbers(name, given)?;
                let scale = identity(self.order, scale);
                NormalInverseWishart::new(vec![mean; self.order], strength, degrees, scale)
            }
            "jeffreys" => improper(0.0),
            "reference" => improper(-1.0),
            _ => Err(unknown_prior(
                name,
                "normal-inverse-wishart(mean,strength,degrees,scale), with the same mean for \
                 every column and scale times the identity, reference and jeffreys",
            )),
        }
    }
}

/// The covariance of a Gaussian of known mean, through its inverse-Wishart
/// belief: the other way to write [`MultivariatePrecision`].
///
/// # Errors
/// If the scale cannot be inverted.
pub fn covariance_belief(belief: &Wishart) -> Result<InverseWishart> {
    let order = belief.scale.len().isqrt();
    InverseWishart::new(belief.degrees, inverse(&belief.scale, order)?)
}
