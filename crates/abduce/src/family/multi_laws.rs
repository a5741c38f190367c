//! Laws of distributions over points of several numbers, each tried on all of
//! them: densities integrate to one, draws have the moments, entropy and
//! divergence that are claimed, the mode beats what is near it, and exponential
//! families have the gradient and Hessian of their log-partition as moments.

use super::*;
use crate::kernel::quadrature::{integrate, integrate_smooth};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

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
fn check(name: &str, distribution: &impl Multi) {
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

#[test]
fn densities_integrate_to_one() {
    let (down, up) = (f64::NEG_INFINITY, f64::INFINITY);
    let inner = |f: &dyn Fn(f64) -> f64, low, high| integrate(f, low, high, &[], 1e-7).value;
    let assert_one = |name: &str, whole: f64| {
        assert!((whole - 1.0).abs() < 1e-6, "{name} integrates to {whole}");
    };
    let dirichlet = Dirichlet::new(vec![2.0, 3.5, 1.2]).unwrap();
    let over_simplex = inner(
        &|x| {
            inner(
                &|y| dirichlet.log_density(&[x, y, 1.0 - x - y]).exp(),
                0.0,
                1.0 - x,
            )
        },
        0.0,
        1.0,
    );
    assert_one("dirichlet", over_simplex);
    // Over the Cholesky factor (a, b, c) of a matrix of order 2: its volume is
    // 4 a² c.
    let over_matrices = |reach: f64, density: &dyn Fn(&[f64]) -> f64| {
        let at = |a: f64, b: f64, c: f64| {
            let matrix = [a * a, a * b, a * b, b * b + c * c];
            density(&matrix).exp() * 4.0 * a * a * c
        };
        let over_last = |a: f64, b: f64| integrate_smooth(|c| at(a, b, c), 0.0, reach, 3);
        let over_two = |a: f64| integrate_smooth(|b| over_last(a, b), -reach, reach, 6);
        integrate_smooth(over_two, 0.0, reach, 3)
    };
    let [wishart, _] = wisharts();
    assert_one("wishart", over_matrices(9.0, &|x| wishart.log_density(x)));
    let inverse = InverseWishart::new(30.0, vec![30.0, 8.0, 8.0, 20.0]).unwrap();
    assert_one(
        "inverse wishart",
        over_matrices(2.5, &|x| inverse.log_density(x)),
    );
    let [normal_gamma, _] = normal_gammas();
    let over_both = inner(
        &|lambda| {
            inner(
                &|mu| normal_gamma.log_density(&[mu, lambda]).exp(),
                down,
                up,
            )
        },
        0.0,
        up,
    );
    assert_one("normal gamma", over_both);
    let t = MultivariateT::new(2.5, vec![1.0, 2.0], vec![2.0, 0.5, 0.5, 1.0]).unwrap();
    let over_plane = inner(
        &|x| inner(&|y| t.log_density(&[x, y]).exp(), down, up),
        down,
        up,
    );
    assert_one("multivariate t", over_plane);
}

#[test]
fn masses_of_all_counts_sum_to_one_and_give_the_entropy() {
    fn check(name: &str, distribution: &impl Multi, trials: u64) {
        let (mut whole, mut loss) = (0.0, 0.0);
        let mut best = (f64::NEG_INFINITY, Vec::new());
        for i in 0..=trials {
            for j in 0..=trials - i {
                let x = vec![i as f64, j as f64, (trials - i - j) as f64];
                let log_mass = distribution.log_density(&x);
                whole += log_mass.exp();
                loss -= log_mass.exp() * log_mass.max(-1e300);
                if log_mass > best.0 {
                    best = (log_mass, x);
                }
            }
        }
        assert!((whole - 1.0).abs() < 1e-12, "{name} sums to {whole}");
        let entropy = distribution.entropy();
        assert!((entropy - loss).abs() < 1e-10, "{name}: {entropy} {loss}");
        let mode = distribution.mode().unwrap();
        let height = distribution.log_density(&mode);
        assert!(
            height > best.0 - 1e-12,
            "{name}: {mode:?} is below {best:?}"
        );
    }
    for probabilities in [
        vec![0.1, 0.3, 0.6],
        vec![0.0, 0.5, 0.5],
        vec![1.0, 0.0, 0.0],
    ] {
        for trials in [0, 1, 7, 20, 400] {
            let multinomial = Multinomial::new(trials, probabilities.clone()).unwrap();
            check("multinomial", &multinomial, trials);
        }
    }
    for concentration in [
        vec![2.0, 0.5, 3.0],
        vec![0.1, 0.2, 0.3],
        vec![30.0, 1.0, 7.5],
    ] {
        for trials in [0, 1, 7, 20] {
            let compound = DirichletMultinomial::new(trials, concentration.clone()).unwrap();
            check("dirichlet multinomial", &compound, trials);
        }
    }
}

#[test]
fn many_trials_have_the_entropy_of_a_gaussian() {
    // Corrections are of the order 1 / n.
    let counts = Multinomial::new(1_000_000_000_000, vec![0.2, 0.3, 0.5]).unwrap();
    let n = counts.trials as f64;
    let determinant = n * n * 0.2 * 0.3 * 0.5;
    let gaussian = (2.0 * std::f64::consts::PI).ln() + 1.0 + 0.5 * determinant.ln();
    assert!(
        (counts.entropy() - gaussian).abs() < 1e-11,
        "{} {gaussian}",
        counts.entropy()
    );
}

#[test]
fn the_marginal_of_a_mean_has_the_moments_of_the_whole() {
    let scale = vec![3.0, 1.0, 1.0, 2.0];
    let by_covariance =
        NormalInverseWishart::new(vec![1.0, -2.0], 3.0, 9.0, scale.clone()).unwrap();
    let precision = crate::kernel::definite::Definite::new(&scale, 2)
        .unwrap()
        .inverse();
    let by_precision = NormalWishart::new(vec![1.0, -2.0], 3.0, 9.0, precision).unwrap();
    let (one, other) = (by_covariance.marginal_mean(), by_precision.marginal_mean());
    assert_eq!(one.degrees, other.degrees);
    for (a, b) in one.scale.iter().zip(&other.scale) {
        assert!((a - b).abs() < 1e-14);
    }
    // μ and Σ against μ and Σ⁻¹ differ by the volume |Σ|^(d+1).
    let point = [0.5, -1.0, 0.4, 0.1, 0.1, 0.3];
    let sigma = crate::kernel::definite::Definite::new(&point[2..], 2).unwrap();
    let turned = [point[..2].to_vec(), sigma.inverse()].concat();
    let difference = by_covariance.log_density(&point) - by_precision.log_density(&turned);
    assert!((difference + 3.0 * sigma.log_determinant()).abs() < 1e-10);
}

#[test]
fn tiny_concentrations_draw_corners_and_no_nan() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let sharp = Dirichlet::new(vec![1e-6, 2e-6, 1e-6]).unwrap();
    for _ in 0..100 {
        let x = sharp.draw(&mut rng);
        assert!((x.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{x:?}");
    }
}

#[test]
fn impossible_parameters_are_refused_and_never_panic() {
    assert!(Dirichlet::new(vec![]).is_err());
    assert!(Multinomial::new(3, vec![0.5, 0.6]).is_err());
    assert!(Multinomial::new(3, vec![]).is_err());
    assert!(Wishart::new(3.0, vec![1.0, 2.0, 2.0]).is_err());
    assert!(Wishart::new(3.0, vec![1.0, 2.0, 2.0, 1.0]).is_err());
    assert!(NormalGamma::new(f64::NAN, 1.0, 1.0, 1.0).is_err());
    assert!(NormalWishart::new(vec![0.0], 1.0, 2.0, vec![-1.0]).is_err());
    assert!(MultivariateT::new(0.0, vec![0.0], vec![1.0]).is_err());
    // Fields can be set past the constructor.
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for scale in [vec![], vec![1.0; 3], vec![f64::NAN; 4]] {
        let wishart = Wishart {
            degrees: 3.0,
            scale: scale.clone(),
        };
        let inverse = InverseWishart {
            degrees: 8.0,
            scale: scale.clone(),
        };
        let t = MultivariateT {
            degrees: 3.0,
            location: vec![0.0, 1.0],
            scale,
        };
        for broken in [&wishart as &dyn Multi, &inverse, &t] {
            let _ = (
                broken.mean(),
                broken.variance(),
                broken.mode(),
                broken.entropy(),
            );
            let point = broken.draw(&mut rng);
            let _ = broken.log_density(&point);
        }
        let _ = (
            wishart.natural(),
            wishart.kl(&wishart),
            inverse.kl(&inverse),
        );
    }
    let nothing = DirichletMultinomial {
        trials: 3,
        concentration: vec![],
    };
    let _ = (nothing.mode(), nothing.entropy(), nothing.draw(&mut rng));
    let nan = Multinomial {
        trials: 3,
        probabilities: vec![f64::NAN, 0.5],
    };
    let _ = (nan.mode(), nan.entropy(), nan.draw(&mut rng));
}
