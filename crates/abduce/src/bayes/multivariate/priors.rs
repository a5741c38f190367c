//! What is believed of means, precision matrices and covariances.

use super::{Marginals, boxed, inverse};
use crate::bayes::Prior;
use crate::family::{
    Gamma, Gaussian, InverseGamma, Multi, MultivariateGaussian, NormalInverseWishart,
    NormalWishart, StudentT, Wishart,
};
use rand::Rng;

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
