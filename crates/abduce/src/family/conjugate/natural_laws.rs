//! The laws of conjugate priors over the natural parameters.

use super::multivariate::MultivariateBoth;
use super::*;
use crate::family::{
    Bernoulli, Beta, Categorical, Covariance, Dirichlet, Exponential, ExponentialFamily, Gamma,
    Gaussian, GaussianPrior, GaussianStats, LogNormal, MultivariateGaussian, MultivariatePrior,
    MultivariateShape, NormalGamma, Poisson, Pseudocounts, Structure,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// ln p(θ | D) is the log-likelihood plus the log-prior plus ln |dη/dθ|, up to a constant, so
/// that the estimate is the mode over the natural parameters η.
fn the_prior_of_estimates_is_conjugate<F: ConjugateFamily>(
    shape: F::Shape,
    prior: F::Prior,
    (cells, rows): (&[f64], usize),
    log_stretch: impl Fn(&F) -> f64,
) {
    let (pair, belief) = F::conjugate(&shape, &prior).unwrap();
    let mut stats = pair.zero();
    pair.observe(cells, &vec![1.0; rows], &mut stats);
    let posterior = pair.posterior(&belief, &stats).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let rest = |_| {
        let parameters = posterior.draw_parameters(&mut rng);
        let row = pair.row(&parameters).unwrap();
        let objective = row.log_likelihood(&stats) + row.log_prior(&prior);
        posterior.log_density_of(&parameters) - objective - log_stretch(&row)
    };
    let rest: Vec<f64> = (0..20).map(rest).collect();
    let is_constant = rest
        .iter()
        .all(|difference| (difference - rest[0]).abs() < 1e-8);
    assert!(is_constant, "{rest:?}");
}

#[test]
fn bernoulli() {
    let prior = Pseudocounts::Each(vec![0.5, 2.0]);
    let rows = (&[1.0, 0.0, 1.0][..], 3);
    the_prior_of_estimates_is_conjugate::<Bernoulli>((), prior, rows, |distribution| {
        -distribution.probability.ln() - (-distribution.probability).ln_1p()
    });
}

#[test]
fn categorical() {
    let rows = (&[1.0, 0.0, 2.0, 1.0][..], 4);
    the_prior_of_estimates_is_conjugate::<Categorical>(3, 0.5.into(), rows, |distribution| {
        -distribution
            .probabilities
            .iter()
            .map(|p| p.ln())
            .sum::<f64>()
    });
}

#[test]
fn poisson() {
    let rows = (&[3.0, 0.0, 7.0][..], 3);
    the_prior_of_estimates_is_conjugate::<Poisson>((), (3.0, 2.0), rows, |distribution| {
        -distribution.rate.ln()
    });
}

#[test]
fn exponential() {
    let rows = (&[3.0, 0.2, 7.0][..], 3);
    the_prior_of_estimates_is_conjugate::<Exponential>((), (3.0, 2.0), rows, |_| 0.0);
}

#[test]
fn gaussian() {
    let prior = GaussianPrior {
        scatter: 3.0,
        ridge: 0.0,
    };
    let rows = (&[3.0, 0.2, 7.0][..], 3);
    let log_stretch = |distribution: &Gaussian| -distribution.variance.ln();
    the_prior_of_estimates_is_conjugate::<Gaussian>((), prior, rows, log_stretch);
}

#[test]
fn log_normal() {
    let prior = GaussianStats {
        weight: 2.0,
        mean: 0.5,
        scatter: 3.0,
    };
    let rows = (&[3.0, 0.2, 7.0][..], 3);
    let log_stretch = |distribution: &LogNormal| -distribution.log_variance.ln();
    the_prior_of_estimates_is_conjugate::<LogNormal>((), prior, rows, log_stretch);
}

#[test]
fn multivariate_gaussian() {
    let shape = |structure| MultivariateShape {
        columns: 2,
        structure,
    };
    let prior = MultivariatePrior {
        scatter: vec![2.0, 3.0],
        rows: 4.0,
        center: vec![1.0, -1.0],
        center_rows: 0.5,
        ..MultivariatePrior::default()
    };
    let cells = [3.0, 0.2, 7.0, -1.0, 2.0, 1.0, 0.0, 0.5];
    let log_stretch = |distribution: &MultivariateGaussian| {
        let Covariance::Full(m) = &distribution.covariance else {
            panic!("{distribution:?}");
        };
        // dη is |Σ|⁻¹ dμ dΛ, and dΛ is |Σ|⁻³ dΣ.
        -4.0 * (m[0] * m[3] - m[1] * m[2]).ln()
    };
    let rows = (&cells[..], 4);
    let full = shape(Structure::Full);
    the_prior_of_estimates_is_conjugate(full, prior.clone(), rows, log_stretch);
    assert!(MultivariateGaussian::conjugate(&shape(Structure::Diagonal), &prior).is_none());
    let pair: MultivariateBoth = MultivariateBoth::new(2);
    assert_eq!(pair.parameters().len(), 6);
}

/// E η and E A(η) are means over drawn parameters.
fn expectations_are_means_over_draws<C: NaturalExpectation>(pair: C, belief: C::Prior)
where
    C::Row: ExponentialFamily,
{
    const DRAWS: usize = 20_000;
    let (natural, log_partition) = pair.expected_natural_parameters(&belief);
    let expected: Vec<f64> = natural.into_iter().chain([log_partition]).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let draw = |_| {
        let row = pair.row(&belief.draw_parameters(&mut rng)).unwrap();
        let natural = row.natural();
        let log_partition = row.log_partition(&natural);
        natural.into_iter().chain([log_partition]).collect()
    };
    let draws: Vec<Vec<f64>> = (0..DRAWS).map(draw).collect();
    for (place, expected) in expected.iter().enumerate() {
        let n = DRAWS as f64;
        let mean = draws.iter().map(|draw| draw[place]).sum::<f64>() / n;
        let squares = draws.iter().map(|draw| (draw[place] - mean).powi(2));
        let error = (squares.sum::<f64>() / n / n).sqrt();
        assert!(
            (mean - expected).abs() < 5.0 * error,
            "{place}: {mean} ± {error}, not {expected}"
        );
    }
}

#[test]
fn expected_natural_parameters() {
    expectations_are_means_over_draws(BernoulliProbability, Beta { a: 2.0, b: 3.5 });
    let concentration = vec![2.0, 1.5, 4.0];
    let levels = CategoricalProbabilities { levels: 3 };
    expectations_are_means_over_draws(levels, Dirichlet { concentration });
    let rate = Gamma {
        shape: 3.0,
        rate: 0.5,
    };
    expectations_are_means_over_draws(PoissonRate, rate.clone());
    expectations_are_means_over_draws(ExponentialRate, rate);
    let both = NormalGamma::new(2.0, 1.5, 3.0, 2.0).unwrap();
    expectations_are_means_over_draws(GaussianBoth, both.clone());
    expectations_are_means_over_draws(LogNormalBoth, both);
}
