//! The laws that every distribution of one number keeps, and every exponential
//! family among them, tried on examples.

use super::*;
use crate::kernel::quadrature::integrate;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs())) || a == b
}

/// E f(x) from the density alone, without quantiles.
fn expectation(of: &dyn Univariate, f: impl Fn(f64) -> f64) -> f64 {
    let (low, high) = of.support();
    if of.is_discrete() {
        let high = high.min(of.quantile(1.0 - 1e-13) + 200.0);
        return (low as u64..=high as u64)
            .map(|x| x as f64)
            .filter(|x| of.density(*x) > 0.0)
            .map(|x| of.density(x) * f(x))
            .sum();
    }
    let tails = [1e-12, 1e-8, 1e-4, 0.01];
    let uppers = tails.iter().rev().map(|p| 1.0 - p);
    let levels = tails.iter().copied().chain([0.1, 0.5, 0.9]).chain(uppers);
    let breaks: Vec<f64> = levels.map(|p| of.quantile(p)).collect();
    let term = |x: f64| {
        let density = of.density(x);
        // A density without limit at an end of its support is not asked there.
        if density > 0.0 && density.is_finite() {
            density * f(x)
        } else {
            0.0
        }
    };
    integrate(term, low, high, &breaks, 1e-11).value
}

fn laws_hold<D: Univariate>(of: &D, others: &[D]) {
    quantiles_invert_the_distribution_function(of);
    densities_integrate_to_the_distribution_function(of);
    moments_are_those_of_the_density(of);
    the_mode_beats_its_neighbours(of);
    entropy_and_divergence_are_expectations(of, others);
    draws_follow_the_distribution_function(of);
    intervals_hold_their_probability(of);
}

fn quantiles_invert_the_distribution_function<D: Univariate>(of: &D) {
    let (low, high) = of.support();
    assert_eq!((of.quantile(0.0), of.quantile(1.0)), (low, high), "{of:?}");
    let mut last = low;
    for p in [1e-10, 1e-4, 0.02, 0.25, 0.5, 0.5001, 0.8, 0.97, 0.9999] {
        let x = of.quantile(p);
        assert!(x >= last && (low..=high).contains(&x), "{of:?} {p}");
        last = x;
        assert!(close(of.cdf(x) + of.survival(x), 1.0, 1e-13), "{of:?} {x}");
        if of.is_discrete() {
            assert!(of.cdf(x) >= p * (1.0 - 1e-12), "{of:?} {p}");
            assert!(x <= low || of.cdf(x - 1.0) < p, "{of:?} {p}");
        } else {
            let error = (of.cdf(x) - p).abs();
            let rounding = 4.0 * f64::EPSILON * (1.0 + x.abs() * of.density(x));
            assert!(error <= 1e-9 * p + rounding, "{of:?} {p}: {error}");
        }
    }
}

fn densities_integrate_to_the_distribution_function<D: Univariate>(of: &D) {
    assert!(close(expectation(of, |_| 1.0), 1.0, 1e-8), "{of:?}");
    for p in [0.05, 0.4, 0.9] {
        let x = of.quantile(p);
        let below = if of.is_discrete() {
            expectation(of, |y| f64::from(u8::from(y <= x)))
        } else {
            let cuts = [1e-9, 1e-4, 0.01, 0.5 * p].map(|p| of.quantile(p));
            let low = of.support().0;
            // A density without limit at the end is not asked there.
            let density = |y: f64| Some(of.density(y)).filter(|d| d.is_finite());
            integrate(|y| density(y).unwrap_or(0.0), low, x, &cuts, 1e-11).value
        };
        assert!(close(below, of.cdf(x), 1e-7), "{of:?} {x}: {below}");
    }
    assert_eq!(of.log_density(f64::INFINITY), f64::NEG_INFINITY);
    if of.is_discrete() {
        assert_eq!(of.density(0.5), 0.0, "{of:?}");
    }
}

fn moments_are_those_of_the_density<D: Univariate>(of: &D) {
    let finite = |x: Option<f64>| x.filter(|x| x.is_finite());
    if let Some(mean) = finite(of.mean()) {
        let obtained = expectation(of, |x| x);
        assert!(close(mean, obtained, 1e-6), "{of:?} {mean} {obtained}");
        if let Some(variance) = finite(of.variance()) {
            let obtained = expectation(of, |x| (x - mean) * (x - mean));
            let error = (variance - obtained).abs();
            assert!(error <= 1e-5 * variance, "{of:?} {variance} {obtained}");
        }
    }
}

fn the_mode_beats_its_neighbours<D: Univariate>(of: &D) {
    let most = of.log_density(of.mode());
    for i in 0..200 {
        let x = of.quantile((f64::from(i) + 0.5) / 200.0);
        assert!(of.log_density(x) <= most + 1e-9, "{of:?} {x}");
    }
}

fn entropy_and_divergence_are_expectations<D: Univariate>(of: &D, others: &[D]) {
    let entropy = expectation(of, |x| -of.log_density(x));
    assert!(close(of.entropy(), entropy, 1e-9), "{of:?} {entropy}");
    assert!(of.kl(of).abs() < 1e-9, "{of:?}");
    for other in others {
        let obtained = of.kl(other);
        let impossible = |p: f64| other.log_density(of.quantile(p)) == f64::NEG_INFINITY;
        if [0.001, 0.999].into_iter().any(impossible) {
            assert_eq!(obtained, f64::INFINITY, "{of:?} {other:?}");
            continue;
        }
        let gain = |x: f64| of.log_density(x) - other.log_density(x);
        let expected = expectation(of, gain);
        if expected.is_finite() {
            assert!(
                close(obtained, expected, 1e-8),
                "{of:?} {other:?} {expected} {obtained}"
            );
        }
    }
}

/// Kolmogorov's distance of 4,000 draws is below 2.5/√n nearly always.
fn draws_follow_the_distribution_function<D: Univariate>(of: &D) {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let (low, high) = of.support();
    let mut draws: Vec<f64> = (0..4000).map(|_| of.draw(&mut rng)).collect();
    draws.sort_by(f64::total_cmp);
    for (i, x) in draws.iter().enumerate() {
        assert!((low..=high).contains(x), "{of:?} {x}");
        assert!(of.log_density(*x) > f64::NEG_INFINITY, "{of:?} {x}");
        let share = (i as f64 + 0.5) / 4000.0;
        assert!(
            of.is_discrete() || (of.cdf(*x) - share).abs() < 2.5 / 4000.0_f64.sqrt(),
            "{of:?} {x}"
        );
    }
    if of.is_discrete() {
        for x in [draws[500], draws[2000], draws[3500]] {
            let share = draws.partition_point(|y| *y <= x) as f64 / 4000.0;
            assert!(
                (of.cdf(x) - share).abs() < 2.5 / 4000.0_f64.sqrt(),
                "{of:?} {x}"
            );
        }
    }
}

fn intervals_hold_their_probability<D: Univariate>(of: &D) {
    for level in [0.5, 0.95] {
        let (low, high) = of.equal_tailed(level);
        let (from, to) = of.highest_density(level);
        let before = if of.is_discrete() {
            of.cdf(from - 1.0)
        } else {
            of.cdf(from)
        };
        let held = of.cdf(to) - before;
        if of.is_discrete() {
            assert!(held >= level - 1e-12, "{of:?} {held}")
        } else {
            assert!(close(held, level, 1e-8), "{of:?} {held}")
        }
        assert!(
            to - from <= (high - low) * (1.0 + 1e-9) + f64::from(u8::from(of.is_discrete())),
            "{of:?}: {from} to {to} is no shorter than {low} to {high}"
        );
    }
}

fn exponential_laws_hold<D: ExponentialFamily + Univariate + Clone>(of: &D) {
    let natural = of.natural();
    let partition = of.log_partition(&natural);
    let back = of.from_natural(&natural).unwrap();
    for p in [0.05, 0.3, 0.5, 0.8] {
        let x = of.quantile(p);
        let product: f64 = of
            .sufficient(&[x])
            .iter()
            .zip(&natural)
            .map(|(u, eta)| u * eta)
            .sum();
        let formed = of.log_base(&[x]) + product - partition;
        assert!(close(formed, of.log_density(x), 1e-8), "{of:?} {x}");
        assert!(
            close(back.log_density(x), of.log_density(x), 1e-8),
            "{of:?} {x}"
        );
    }
    let shifted = |i: usize, by: f64| {
        let mut moved = natural.clone();
        moved[i] += by;
        moved
    };
    let expected = of.expected_sufficient();
    for i in 0..natural.len() {
        let step = 1e-5 * natural[i].abs().max(1e-3);
        let gradient = (of.log_partition(&shifted(i, step)) - of.log_partition(&shifted(i, -step)))
            / (2.0 * step);
        assert!(close(gradient, expected[i], 1e-5), "{of:?} {i}: {gradient}");
        let mean = |j: usize, by: f64| {
            let moved = of.from_natural(&shifted(j, by)).unwrap();
            moved.expected_sufficient()[i]
        };
        for j in 0..natural.len() {
            let step = 1e-5 * natural[j].abs().max(1e-3);
            let hessian = (mean(j, step) - mean(j, -step)) / (2.0 * step);
            let covariance = expectation(of, |x| {
                let u = of.sufficient(&[x]);
                (u[i] - expected[i]) * (u[j] - expected[j])
            });
            assert!(
                close(hessian, covariance, 1e-4),
                "{of:?} {hessian} {covariance}"
            );
        }
    }
}

macro_rules! laws {
    ($($name:ident: $examples:expr;)*) => {
        $(#[test]
        fn $name() {
            let examples = $examples;
            for of in &examples {
                laws_hold(of, &examples);
            }
        })*
    };
}

laws! {
    gaussian: Gaussian::examples()[..2].to_vec();
    exponential: vec![Exponential { rate: 0.2 }, Exponential { rate: 30.0 }];
    gamma: Gamma::examples();
    beta: Beta::examples();
    log_normal: LogNormal::examples();
    student_t: vec![
        StudentT { location: 0.0, scale: 1.0, degrees: 3.0 },
        StudentT { location: 1.0, scale: 2.0, degrees: 30.0 },
        StudentT { location: 0.5, scale: 1.0, degrees: 5e6 },
    ];
    von_mises: VonMises::examples();
    uniform: Uniform::examples();
    lomax: vec![Lomax { shape: 6.0, scale: 2.0 }, Lomax { shape: 9.0, scale: 40.0 }];
    inverse_gamma: vec![
        InverseGamma { shape: 7.0, scale: 3.0 },
        InverseGamma { shape: 30.0, scale: 0.1 },
    ];
    bernoulli: vec![Bernoulli { probability: 0.3 }, Bernoulli { probability: 0.92 }];
    categorical: vec![
        Categorical { probabilities: vec![0.2, 0.5, 0.3] },
        Categorical { probabilities: vec![0.4, 0.1, 0.5] },
    ];
    binomial: vec![
        Binomial { trials: 12, probability: 0.3 },
        Binomial { trials: 12, probability: 0.75 },
        Binomial { trials: 1000, probability: 0.01 },
    ];
    beta_binomial: vec![
        BetaBinomial { trials: 9, probability: Beta { a: 2.0, b: 3.0 } },
        BetaBinomial { trials: 9, probability: Beta { a: 0.5, b: 0.5 } },
    ];
    beta_prime: vec![
        BetaPrime { a: 2.0, b: 6.0, scale: 3.0 },
        BetaPrime { a: 0.7, b: 9.0, scale: 0.2 },
    ];
    beta_negative_binomial: vec![
        BetaNegativeBinomial { size: 1.0, probability: Beta { a: 12.0, b: 3.0 } },
        BetaNegativeBinomial { size: 4.5, probability: Beta { a: 30.0, b: 20.0 } },
    ];
    exponentiated: vec![
        Exponentiated { logarithm: Gaussian { mean: 0.5, variance: 0.04 } },
    ];
    poisson: vec![Poisson { rate: 0.7 }, Poisson { rate: 12.5 }, Poisson { rate: 4000.0 }];
    geometric: Geometric::examples()[..2].to_vec();
    negative_binomial: NegativeBinomial::examples();
    zero_inflated_poisson: ZeroInflatedPoisson::examples();
}

macro_rules! exponential_laws {
    ($($name:ident: $examples:expr;)*) => {
        mod as_exponential_families {
            use super::*;
            $(#[test]
            fn $name() {
                $examples.iter().for_each(exponential_laws_hold);
            })*
        }
    };
}

exponential_laws! {
    gaussian: Gaussian::examples()[..2];
    exponential: [Exponential { rate: 0.2 }, Exponential { rate: 30.0 }];
    gamma: Gamma::examples();
    beta: Beta::examples();
    log_normal: LogNormal::examples();
    von_mises: VonMises::examples();
    bernoulli: [Bernoulli { probability: 0.3 }, Bernoulli { probability: 0.92 }];
    categorical: [Categorical { probabilities: vec![0.2, 0.5, 0.3] }];
    binomial: [Binomial { trials: 12, probability: 0.3 }];
    poisson: [Poisson { rate: 0.7 }, Poisson { rate: 12.5 }];
    geometric: Geometric::examples()[..2];
}

#[test]
fn averaged_angles_keep_the_laws_on_both_sides_of_the_cut() {
    let of = |angles: [f64; 3]| {
        let part = |direction| VonMises {
            direction,
            concentration: 20.0,
        };
        AveragedAngles::new(angles.map(|angle| (1.0, part(angle)))).unwrap()
    };
    let (away, across) = (of([0.2, 0.3, 0.6]), of([-3.0, 3.1, 3.0]));
    for averaged in [&away, &across] {
        quantiles_invert_the_distribution_function(averaged);
        densities_integrate_to_the_distribution_function(averaged);
        draws_follow_the_distribution_function(averaged);
        intervals_hold_their_probability(averaged);
        let (low, high) = averaged.equal_tailed(0.99);
        assert!(high - low < std::f64::consts::TAU);
        let mean = averaged.mean().unwrap();
        let sine = expectation(averaged, |x| (x - mean).sin());
        assert!(sine.abs() < 1e-9 && mean.abs() <= std::f64::consts::PI);
        let variance = expectation(averaged, |x| (x - mean) * (x - mean));
        assert!(close(averaged.variance().unwrap(), variance, 1e-8));
    }
}
