//! What distributions over points of several numbers are held to one by one:
//! densities integrate to one, masses sum to one, extremes neither lose digits
//! nor panic.

use super::*;
use crate::kernel::definite::Definite;
use crate::kernel::quadrature::{integrate, integrate_smooth};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

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
    let wishart = Wishart::new(6.5, vec![0.5, 0.2, 0.2, 1.5]).unwrap();
    assert_one("wishart", over_matrices(9.0, &|x| wishart.log_density(x)));
    let inverse = InverseWishart::new(30.0, vec![30.0, 8.0, 8.0, 20.0]).unwrap();
    assert_one(
        "inverse wishart",
        over_matrices(2.5, &|x| inverse.log_density(x)),
    );
    let normal_gamma = NormalGamma::new(-1.0, 2.0, 6.0, 3.0).unwrap();
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
    let precision = Definite::new(&scale, 2).unwrap().inverse();
    let by_precision = NormalWishart::new(vec![1.0, -2.0], 3.0, 9.0, precision).unwrap();
    let (one, other) = (by_covariance.marginal_mean(), by_precision.marginal_mean());
    assert_eq!(one.degrees, other.degrees);
    for (a, b) in one.scale.iter().zip(&other.scale) {
        assert!((a - b).abs() < 1e-14);
    }
    // μ and Σ against μ and Σ⁻¹ differ by the volume |Σ|^(d+1).
    let point = [0.5, -1.0, 0.4, 0.1, 0.1, 0.3];
    let sigma = Definite::new(&point[2..], 2).unwrap();
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
fn impossible_parameters_are_refused_and_set_by_force_they_do_not_panic() {
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
            let log_density = broken.log_density(&point);
            // Over no numbers at all there is one point, and it is certain.
            assert!(
                point.is_empty() || !log_density.is_finite(),
                "{log_density}"
            );
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
