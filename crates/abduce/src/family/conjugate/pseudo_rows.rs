//! The priors that estimates use, as distributions over the parameters.
//!
//! A [`Family::Prior`] is written in pseudo-rows: statistics added to those of the rows, so
//! that a weak prior keeps all its digits and 0 is flat. It is a density ∝
//! exp(⟨χ, η⟩ − ν A(η)) over the natural parameters η (Diaconis & Ylvisaker 1979), and
//! [`Family::map`] is the mode of the posterior over η. The same prior over the usual
//! parameters is the conjugate distribution that is named here: pseudo-counts α are a
//! Dirichlet(α), a rows of sum b of a Poisson are a Gamma(b, a).

use super::multivariate::MultivariateBoth;
use super::{
    BernoulliProbability, CategoricalProbabilities, Conjugate, ExponentialRate, GaussianBoth,
    LogNormalBoth, PoissonRate,
};
use crate::family::{
    Bernoulli, Beta, Categorical, Dirichlet, Exponential, ExponentialFamily, Family, Gamma,
    Gaussian, GaussianPrior, GaussianStats, LogNormal, MultivariateGaussian, MultivariatePrior,
    MultivariateShape, NormalGamma, NormalInverseWishart, Poisson, Pseudocounts, Structure,
};

/// A family whose parameters have a conjugate prior.
///
/// ```
/// use abduce::family::{Conjugate, ConjugateFamily, Gamma, Poisson};
/// // 2 rows of sum 3, before any row was seen.
/// let (pair, prior) = Poisson::conjugate(&(), &(3.0, 2.0)).unwrap();
/// assert_eq!(prior, Gamma { shape: 3.0, rate: 2.0 });
/// let mut stats = pair.zero();
/// pair.observe(&[4.0, 0.0], &[1.0; 2], &mut stats);
/// assert_eq!(pair.posterior(&prior, &stats)?, Gamma { shape: 7.0, rate: 4.0 });
/// # Ok::<(), abduce::Error>(())
/// ```
pub trait ConjugateFamily: Family {
    /// The family with its conjugate prior.
    type Pair: Conjugate<Row = Self, Stats = Self::Stats>;

    /// The pair over this shape, with the prior as a distribution over the parameters;
    /// `None` where the shape has no conjugate prior. What is added to estimates
    /// afterwards, as a ridge, is no part of the prior.
    fn conjugate(
        shape: &Self::Shape,
        prior: &Self::Prior,
    ) -> Option<(Self::Pair, <Self::Pair as Conjugate>::Prior)>;
}

/// What variational Bayes needs of the distribution of the parameters.
pub trait NaturalExpectation: Conjugate
where
    Self::Row: ExponentialFamily,
{
    /// E η and E A(η), the expectations of the natural parameters and of the
    /// log-partition, so that E ln p(x) = ⟨E η, u(x)⟩ − E A(η) + ln h(x).
    fn expected_natural_parameters(&self, belief: &Self::Prior) -> (Vec<f64>, f64);
}

impl ConjugateFamily for Bernoulli {
    type Pair = BernoulliProbability;

    fn conjugate(_: &(), prior: &Pseudocounts) -> Option<(BernoulliProbability, Beta)> {
        let (a, b) = (prior.of(1), prior.of(0));
        Some((BernoulliProbability, Beta { a, b }))
    }
}

impl ConjugateFamily for Categorical {
    type Pair = CategoricalProbabilities;

    fn conjugate(
        levels: &usize,
        prior: &Pseudocounts,
    ) -> Option<(CategoricalProbabilities, Dirichlet)> {
        let concentration = (0..*levels).map(|level| prior.of(level)).collect();
        let pair = CategoricalProbabilities { levels: *levels };
        Some((pair, Dirichlet { concentration }))
    }
}

impl ConjugateFamily for Poisson {
    type Pair = PoissonRate;

    fn conjugate(_: &(), (sum, rows): &(f64, f64)) -> Option<(PoissonRate, Gamma)> {
        let (shape, rate) = (*sum, *rows);
        Some((PoissonRate, Gamma { shape, rate }))
    }
}

impl ConjugateFamily for Exponential {
    type Pair = ExponentialRate;

    fn conjugate(_: &(), (rows, sum): &(f64, f64)) -> Option<(ExponentialRate, Gamma)> {
        let (shape, rate) = (rows + 1.0, *sum);
        Some((ExponentialRate, Gamma { shape, rate }))
    }
}

/// Rows of this weight, mean and scatter as a distribution over mean and precision.
fn normal_gamma(rows: &GaussianStats) -> NormalGamma {
    NormalGamma {
        mean: rows.mean,
        strength: rows.weight,
        shape: 0.5 * (rows.weight + 3.0),
        rate: 0.5 * rows.scatter,
    }
}

impl ConjugateFamily for Gaussian {
    type Pair = GaussianBoth;

    fn conjugate(_: &(), prior: &GaussianPrior) -> Option<(GaussianBoth, NormalGamma)> {
        let rows = GaussianStats {
            scatter: prior.scatter,
            ..GaussianStats::default()
        };
        Some((GaussianBoth, normal_gamma(&rows)))
    }
}

impl ConjugateFamily for LogNormal {
    type Pair = LogNormalBoth;

    fn conjugate(_: &(), rows: &GaussianStats) -> Option<(LogNormalBoth, NormalGamma)> {
        Some((LogNormalBoth, normal_gamma(rows)))
    }
}

/// Of an unrestricted covariance.
impl ConjugateFamily for MultivariateGaussian {
    type Pair = MultivariateBoth;

    fn conjugate(
        shape: &MultivariateShape,
        prior: &MultivariatePrior,
    ) -> Option<(MultivariateBoth, NormalInverseWishart)> {
        let d = shape.columns;
        let scale = match prior.scatter.len() {
            length if length == d * d => prior.scatter.clone(),
            _ => {
                let mut scale = vec![0.0; d * d];
                (prior.scatter.iter().enumerate()).for_each(|(c, s)| scale[c * (d + 1)] = *s);
                scale
            }
        };
        let mut mean = prior.center.clone();
        mean.resize(d, 0.0);
        // The normal density of the mean has a factor |Σ|^(−1/2) of its own.
        let of_mean = f64::from(u8::from(prior.center_rows > 0.0));
        let degrees = d as f64 + 2.0 + prior.rows + of_mean;
        let prior = NormalInverseWishart::unchecked(mean, prior.center_rows, degrees, scale);
        (shape.structure == Structure::Full).then(|| (MultivariateBoth::new(d), prior))
    }
}
