//! Moments, entropy and divergence of the multivariate Gaussian.

use crate::family::multi::{difference, draw_normal};
use crate::family::multivariate::MultivariateGaussian;
use crate::family::{Divergence, Multi};
use crate::kernel::definite::{Definite, times};
use crate::kernel::special::LN_TAU;
use rand::Rng;

impl MultivariateGaussian {
    fn factored(&self) -> Option<Definite> {
        let d = self.order();
        let entries = (0..d * d).map(|t| self.covariance(t % d, t / d));
        Definite::new(&entries.collect::<Vec<_>>(), d)
    }
}

impl Multi for MultivariateGaussian {
    fn dimension(&self) -> usize {
        self.order()
    }

    fn log_density(&self, x: &[f64]) -> f64 {
        if x.len() != self.order() {
            return f64::NEG_INFINITY;
        }
        let Some(covariance) = self.factored() else {
            return f64::NAN;
        };
        let distance = covariance.distance(&difference(x, &self.mean));
        -0.5 * (self.order() as f64 * LN_TAU + covariance.log_determinant() + distance)
    }

    fn mean(&self) -> Option<Vec<f64>> {
        Some(self.mean.clone())
    }

    fn variance(&self) -> Option<Vec<f64>> {
        Some((0..self.order()).map(|i| self.covariance(i, i)).collect())
    }

    fn mode(&self) -> Option<Vec<f64>> {
        Some(self.mean.clone())
    }

    fn entropy(&self) -> f64 {
        let log_determinant = self.factored().map_or(f64::NAN, |c| c.log_determinant());
        0.5 * (self.order() as f64 * (1.0 + LN_TAU) + log_determinant)
    }

    fn draw(&self, rng: &mut dyn Rng) -> Vec<f64> {
        let Some(covariance) = self.factored() else {
            return vec![f64::NAN; self.order()];
        };
        let white: Vec<f64> = self.mean.iter().map(|_| draw_normal(rng)).collect();
        let shift = times(covariance.factor(), &white);
        self.mean.iter().zip(shift).map(|(m, s)| m + s).collect()
    }
}

impl Divergence for MultivariateGaussian {
    fn kl(&self, other: &Self) -> f64 {
        if self.order() != other.order() {
            return f64::INFINITY;
        }
        let (Some(covariance), Some(other_covariance)) = (self.factored(), other.factored()) else {
            return f64::NAN;
        };
        let distance = other_covariance.distance(&difference(&self.mean, &other.mean));
        let trace = other_covariance.trace_of_quotient(&covariance) - self.order() as f64;
        0.5 * (trace + distance + other_covariance.log_determinant() - covariance.log_determinant())
    }
}
