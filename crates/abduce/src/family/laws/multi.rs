//! Laws of distributions over points of several numbers, each tried on all of
//! them: files round-trip, draws have the moments, entropy and divergence that
//! are claimed, the mode beats what is near it, and exponential families have
//! the gradient and Hessian of their log-partition as moments.

use super::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::fmt::Debug;

const DRAWS: usize = 40_000;

/// Mean of some numbers, and five times its standard error.
fn mean_and_margin(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut n, mut mean, mut scatter) = (0.0, 0.0, 0.0);
    for x in numbers {
        n += 1.0;
        let shift: f64 = x - mean;
        mean += shift / n;
        scatter += shift * (x - mean);
    }
    (mean, 5.0 * (scatter / n / n).sqrt() + 1e-12)
}

#[track_caller]
fn assert_mean(what: &str, numbers: impl Iterator<Item = f64>, expected: f64) {
    let (mean, margin) = mean_and_margin(numbers);
    assert!(
        (mean - expected).abs() <= margin,
        "{what}: {mean} of the draws, but {expected} is claimed; ± {margin}"
    );
}

fn draws(distribution: &impl Multi) -> Vec<Vec<f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    (0..DRAWS).map(|_| distribution.draw(&mut rng)).collect()
}

/// What holds for every distribution with finite fourth moments.
fn check<D: Multi + Debug + PartialEq + Serialize + DeserializeOwned>(
    name: &str,
    distribution: &D,
) {
    let text = serde_json::to_string(distribution).unwrap();
    assert_eq!(&serde_json::from_str::<D>(&text).unwrap(), distribution);
    let draws = draws(distribution);
    let dimension = distribution.dimension();
    let (mean, variance) = (
        distribution.mean().unwrap(),
        distribution.variance().unwrap(),
    );
    assert_eq!((mean.len(), variance.len()), (dimension, dimension));
    for i in 0..dimension {
        assert_mean(
            &format!("{name}, mean {i}"),
            draws.iter().map(|x| x[i]),
            mean[i],
        );
        let squares = draws.iter().map(|x| (x[i] - mean[i]).powi(2));
        assert_mean(&format!("{name}, variance {i}"), squares, variance[i]);
    }
    let losses = draws.iter().map(|x| -distribution.log_density(x));
    assert_mean(&format!("{name}, entropy"), losses, distribution.entropy());
    let mode = distribution.mode().unwrap();
    let highest = distribution.log_density(&mode);
    assert!(
        highest.is_finite(),
        "{name}: the mode is outside of the support"
    );
    for x in &draws[..1000] {
        // The supports are convex, so that points in between belong to them;
        // points between counts do not, and have the log-density −∞.
        for share in [1.0, 0.1, 1e-3] {
            let near: Vec<f64> = mode
                .iter()
                .zip(x)
                .map(|(m, x)| m + share * (x - m))
                .collect();
            assert!(
                distribution.log_density(&near) <= highest + 1e-9,
                "{name}: {near:?} beats the mode {mode:?}"
            );
        }
    }
    let short = &mode[..dimension - 1];
    assert_eq!(distribution.log_density(short), f64::NEG_INFINITY);
}

/// What holds where there is a divergence.
fn check_divergence<D: Divergence>(name: &str, distribution: &D, other: &D) {
    assert!(
        distribution.kl(distribution).abs() < 1e-10,
        "{name} differs from itself"
    );
    for (p, q) in [(distribution, other), (other, distribution)] {
        let drawn = draws(p);
        let gains = drawn.iter().map(|x| p.log_density(x) - q.log_density(x));
        assert_mean(&format!("{name}, divergence"), gains, p.kl(q));
    }
}

/// What holds for an exponential family.
fn check_exponential<D: Multi + ExponentialFamily>(name: &str, distribution: &D) {
    let draws = draws(distribution);
    let natural = distribution.natural();
    let log_partition = |natural: &[f64]| distribution.log_partition(natural);
    let level = log_partition(&natural);
    for x in &draws[..100] {
        let u = distribution.sufficient(x);
        let product: f64 = natural.iter().zip(&u).map(|(eta, u)| eta * u).sum();
        let expected = distribution.log_base(x) + product - level;
        let obtained = distribution.log_density(x);
        assert!(
            (obtained - expected).abs() < 1e-10 * (1.0 + expected.abs()),
            "{name}: {obtained} {expected}"
        );
    }
    let same = distribution.from_natural(&natural).unwrap();
    for (one, other) in same.natural().iter().zip(&natural) {
        assert!(
            (one - other).abs() < 1e-12 * (1.0 + other.abs()),
            "{name}: {one} {other}"
        );
    }
    let shifted = |shifts: &[(usize, f64)]| {
        let mut natural = natural.clone();
        shifts.iter().for_each(|(i, shift)| natural[*i] += shift);
        log_partition(&natural)
    };
    let sizes: Vec<f64> = natural.iter().map(|eta| 1e-4 * (0.1 + eta.abs())).collect();
    let statistics: Vec<Vec<f64>> = draws.iter().map(|x| distribution.sufficient(x)).collect();
    let expected = distribution.expected_sufficient();
    for i in 0..natural.len() {
        let h = sizes[i];
        let gradient = (shifted(&[(i, h)]) - shifted(&[(i, -h)])) / (2.0 * h);
        assert!(
            (gradient - expected[i]).abs() < 1e-5 * (1.0 + expected[i].abs()),
            "{name}, gradient {i}: {gradient} {}",
            expected[i]
        );
        assert_mean(
            &format!("{name}, u {i}"),
            statistics.iter().map(|u| u[i]),
            expected[i],
        );
        for j in 0..=i {
            let k = sizes[j];
            let corner = |a: f64, b: f64| shifted(&[(i, a * h), (j, b * k)]);
            let hessian = (corner(1.0, 1.0) - corner(1.0, -1.0) - corner(-1.0, 1.0)
                + corner(-1.0, -1.0))
                / (4.0 * h * k);
            let products = statistics
                .iter()
                .map(|u| (u[i] - expected[i]) * (u[j] - expected[j]));
            let (covariance, margin) = mean_and_margin(products);
            assert!(
                (hessian - covariance).abs() < margin + 1e-4 * (1.0 + hessian.abs()),
                "{name}, Hessian {i} {j}: {hessian} {covariance} ± {margin}"
            );
        }
    }
}

fn dirichlets() -> [Dirichlet; 2] {
    [
        Dirichlet::new(vec![2.0, 3.5, 1.2, 7.0]).unwrap(),
        Dirichlet::new(vec![1.5, 1.0, 4.0, 3.0]).unwrap(),
    ]
}

fn wisharts() -> [Wishart; 2] {
    [
        Wishart::new(6.5, vec![0.5, 0.2, 0.2, 1.5]).unwrap(),
        Wishart::new(5.0, vec![1.0, -0.3, -0.3, 0.8]).unwrap(),
    ]
}

fn normal_gammas() -> [NormalGamma; 2] {
    [
        NormalGamma::new(-1.0, 2.0, 6.0, 3.0).unwrap(),
        NormalGamma::new(0.5, 0.7, 5.5, 4.0).unwrap(),
    ]
}

#[test]
fn dirichlets_obey() {
    let [one, other] = dirichlets();
    check("dirichlet", &one);
    check_divergence("dirichlet", &one, &other);
    check_exponential("dirichlet", &one);
}

#[test]
fn multinomials_obey() {
    let one = Multinomial::new(12, vec![0.1, 0.25, 0.4, 0.25]).unwrap();
    let other = Multinomial::new(12, vec![0.3, 0.3, 0.3, 0.1]).unwrap();
    check("multinomial", &one);
    check_divergence("multinomial", &one, &other);
    check_exponential("multinomial", &one);
}

#[test]
fn dirichlet_multinomials_obey() {
    let one = DirichletMultinomial::new(9, vec![2.0, 0.5, 3.0]).unwrap();
    let other = DirichletMultinomial::new(9, vec![1.0, 1.0, 2.0]).unwrap();
    check("dirichlet multinomial", &one);
    check_divergence("dirichlet multinomial", &one, &other);
}

#[test]
fn wisharts_obey() {
    let [one, other] = wisharts();
    check("wishart", &one);
    check_divergence("wishart", &one, &other);
    check_exponential("wishart", &one);
}

#[test]
fn inverse_wisharts_obey() {
    let one = InverseWishart::new(14.0, vec![3.0, 1.0, 1.0, 2.0]).unwrap();
    let other = InverseWishart::new(11.5, vec![2.0, 0.0, 0.0, 2.5]).unwrap();
    check("inverse wishart", &one);
    check_divergence("inverse wishart", &one, &other);
}

#[test]
fn normal_gammas_obey() {
    let [one, other] = normal_gammas();
    check("normal gamma", &one);
    check_divergence("normal gamma", &one, &other);
    check_exponential("normal gamma", &one);
}

#[test]
fn normal_wisharts_obey() {
    let scale = vec![0.5, 0.2, 0.2, 1.5];
    let one = NormalWishart::new(vec![1.0, -2.0], 3.0, 9.0, scale.clone()).unwrap();
    let other = NormalWishart::new(vec![0.5, -1.5], 1.0, 8.0, scale).unwrap();
    check("normal wishart", &one);
    check_divergence("normal wishart", &one, &other);
}

#[test]
fn normal_inverse_wisharts_obey() {
    let scale = vec![3.0, 1.0, 1.0, 2.0];
    let one = NormalInverseWishart::new(vec![1.0, -2.0], 3.0, 14.0, scale.clone()).unwrap();
    let other = NormalInverseWishart::new(vec![0.5, -1.5], 1.0, 12.0, scale).unwrap();
    check("normal inverse wishart", &one);
    check_divergence("normal inverse wishart", &one, &other);
}

#[test]
fn multivariate_ts_obey() {
    let t = MultivariateT::new(9.0, vec![1.0, 2.0], vec![2.0, 0.5, 0.5, 1.0]).unwrap();
    check("multivariate t", &t);
}

#[test]
fn multivariate_gaussians_obey() {
    let one = MultivariateGaussian {
        mean: vec![1.0, -1.0, 0.0],
        covariance: Covariance::Full(vec![2.0, 0.5, 0.1, 0.5, 1.0, -0.3, 0.1, -0.3, 0.7]),
    };
    let other = MultivariateGaussian {
        mean: vec![0.5, -1.0, 0.5],
        covariance: Covariance::Diagonal(vec![1.0, 2.0, 0.5]),
    };
    check("multivariate gaussian", &one);
    check("diagonal gaussian", &other);
    check_divergence("multivariate gaussian", &one, &other);
}
