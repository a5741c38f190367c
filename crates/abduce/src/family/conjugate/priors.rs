//! The distributions that are conjugate priors.

use super::prior::{Marginals, Parameters, Prior, marginal, positive};
use crate::family::{
    Beta, BilateralPareto, Dirichlet, Gamma, Gaussian, InverseGamma, Multi, MultivariateGaussian,
    MultivariateT, NormalGamma, NormalInverseWishart, NormalWishart, PointMass, StudentT, Wishart,
};

impl Prior for Beta {
    const NAME: &'static str = "beta";
    const RANGE: (f64, f64) = (0.0, 1.0);

    fn is_proper(&self) -> bool {
        positive(self.a) && positive(self.b)
    }

    fn distribution(&self) -> Parameters<'_> {
        Parameters::One(self)
    }

    fn marginals(&self) -> Marginals {
        vec![marginal(0, self.clone())]
    }
}

impl Prior for Gamma {
    const NAME: &'static str = "gamma";
    const RANGE: (f64, f64) = (0.0, f64::INFINITY);

    fn is_proper(&self) -> bool {
        positive(self.shape) && positive(self.rate)
    }

    fn distribution(&self) -> Parameters<'_> {
        Parameters::One(self)
    }

    fn marginals(&self) -> Marginals {
        vec![marginal(0, self.clone())]
    }
}

impl Prior for Gaussian {
    const NAME: &'static str = "normal";

    fn is_proper(&self) -> bool {
        self.mean.is_finite() && positive(self.variance)
    }

    fn distribution(&self) -> Parameters<'_> {
        Parameters::One(self)
    }

    fn marginals(&self) -> Marginals {
        vec![marginal(0, self.clone())]
    }
}

impl Prior for NormalGamma {
    const NAME: &'static str = "normal-gamma";

    fn is_proper(&self) -> bool {
        let all = [self.strength, self.shape, self.rate];
        self.mean.is_finite() && all.into_iter().all(positive)
    }

    fn distribution(&self) -> Parameters<'_> {
        Parameters::Several(self)
    }

    fn marginals(&self) -> Marginals {
        let square = self.rate / (self.shape * self.strength);
        let mean = StudentT {
            location: self.mean,
            scale: square.sqrt(),
            degrees: 2.0 * self.shape,
        };
        let precision = Gamma {
            shape: self.shape,
            rate: self.rate,
        };
        vec![marginal(0, mean), marginal(1, precision)]
    }
}

impl Prior for Dirichlet {
    const NAME: &'static str = "dirichlet";

    fn is_proper(&self) -> bool {
        !self.concentration.is_empty() && self.concentration.iter().copied().all(positive)
    }

    fn distribution(&self) -> Parameters<'_> {
        Parameters::Several(self)
    }

    fn marginals(&self) -> Marginals {
        if self.concentration.len() == 1 {
            return vec![marginal(0, PointMass { value: 1.0 })];
        }
        let total: f64 = self.concentration.iter().sum();
        let share = |(place, a): (usize, &f64)| {
            marginal(
                place,
                Beta {
                    a: *a,
                    b: total - a,
                },
            )
        };
        self.concentration.iter().enumerate().map(share).collect()
    }
}

impl Prior for BilateralPareto {
    const NAME: &'static str = "bilateral-pareto";

    fn is_proper(&self) -> bool {
        let width = self.high - self.low;
        self.shape > 0.0 && positive(width)
    }

    fn distribution(&self) -> Parameters<'_> {
        Parameters::Several(self)
    }

    fn marginals(&self) -> Marginals {
        let (low, high) = self.ends();
        vec![marginal(0, low), marginal(1, high)]
    }
}

impl Prior for MultivariateGaussian {
    const NAME: &'static str = "normal";

    fn is_proper(&self) -> bool {
        Multi::log_density(self, &self.mean).is_finite()
    }

    fn distribution(&self) -> Parameters<'_> {
        Parameters::Several(self)
    }

    fn marginals(&self) -> Marginals {
        let mean = |i: usize| Gaussian {
            mean: self.mean[i],
            variance: self.covariance(i, i),
        };
        (0..self.mean.len()).map(|i| marginal(i, mean(i))).collect()
    }
}

impl Prior for Wishart {
    const NAME: &'static str = "wishart";

    fn is_proper(&self) -> bool {
        Wishart::new(self.degrees, self.scale.clone()).is_ok()
    }

    fn distribution(&self) -> Parameters<'_> {
        Parameters::Several(self)
    }

    /// Of the diagonal: a precision given the other columns.
    fn marginals(&self) -> Marginals {
        let order = self.scale.len().isqrt();
        let precision = |i: usize| Gamma {
            shape: 0.5 * self.degrees,
            rate: 0.5 / self.scale[i * order + i],
        };
        let diagonal = (0..order).map(|i| marginal(i * order + i, precision(i)));
        diagonal.collect()
    }
}

/// Student's t of each mean, followed by what is known of the matrix, whose places start
/// behind those of the means.
fn means_and_matrix(means: &MultivariateT, matrix: Marginals) -> Marginals {
    let order = means.location.len();
    let mean = |i: usize| StudentT {
        location: means.location[i],
        scale: means.scale[i * order + i].sqrt(),
        degrees: means.degrees,
    };
    let behind = matrix
        .into_iter()
        .map(|(place, marginal)| (order + place, marginal));
    (0..order)
        .map(|i| marginal(i, mean(i)))
        .chain(behind)
        .collect()
}

impl Prior for NormalWishart {
    const NAME: &'static str = "normal-wishart";

    fn is_proper(&self) -> bool {
        let scale = self.scale.clone();
        NormalWishart::new(self.mean.clone(), self.strength, self.degrees, scale).is_ok()
    }

    fn distribution(&self) -> Parameters<'_> {
        Parameters::Several(self)
    }

    fn marginals(&self) -> Marginals {
        means_and_matrix(&self.marginal_mean(), self.precision().marginals())
    }
}

impl Prior for NormalInverseWishart {
    const NAME: &'static str = "normal-inverse-wishart";

    fn is_proper(&self) -> bool {
        let scale = self.scale.clone();
        NormalInverseWishart::new(self.mean.clone(), self.strength, self.degrees, scale).is_ok()
    }

    fn distribution(&self) -> Parameters<'_> {
        Parameters::Several(self)
    }

    fn marginals(&self) -> Marginals {
        let order = self.order();
        let variance = |i: usize| InverseGamma {
            shape: 0.5 * (self.degrees - order as f64 + 1.0),
            scale: 0.5 * self.scale[i * order + i],
        };
        let diagonal = (0..order).map(|i| marginal(i * order + i, variance(i)));
        means_and_matrix(&self.marginal_mean(), diagonal.collect())
    }
}
