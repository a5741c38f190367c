//! Distributions of one number where they are hard: far tails, gaps, ties,
//! divergences and moments without limit.

use super::*;

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs())) || a == b
}

#[test]
fn a_point_mass_is_certain() {
    let certain = PointMass { value: 2.5 };
    assert_eq!((certain.cdf(2.4), certain.cdf(2.5)), (0.0, 1.0));
    assert_eq!(
        (certain.entropy(), certain.kl(&PointMass { value: 1.0 })),
        (0.0, f64::INFINITY)
    );
    assert_eq!(certain.expectation(&|x| x * x), 6.25);
}

#[test]
fn a_wide_lattice_is_summed_as_an_integral() {
    let poisson = Poisson { rate: 1e13 };
    let expected = 0.5 * (1.0 + (std::f64::consts::TAU * 1e13).ln());
    assert!(
        close(poisson.entropy(), expected, 1e-9),
        "{}",
        poisson.entropy()
    );
}

#[test]
fn wide_counts_that_pile_up_at_zero_are_summed_where_they_are() {
    // The entropy by mpmath.
    let counts = NegativeBinomial {
        size: 0.1,
        probability: 1e-6,
    };
    assert!(close(counts.entropy(), 8.596, 1e-3), "{}", counts.entropy());
    assert!(close(counts.expectation(&|_| 1.0), 1.0, 1e-9));
}

#[test]
fn runs_of_highest_density_hold_their_level_with_a_spike_at_zero() {
    let counts = ZeroInflatedPoisson {
        inflation: 0.3,
        rate: 1000.0,
    };
    let (low, high) = counts.highest_density(0.95);
    assert!(counts.cdf(high) - counts.cdf(low - 1.0) >= 0.95);
    let (low, _) = counts.highest_density(0.5);
    assert!(low > 900.0, "{low}");
}

#[test]
fn angles_cut_open_elsewhere_still_diverge_by_a_finite_amount() {
    let (p, q) = (
        VonMises {
            direction: 3.0,
            concentration: 1.0,
        },
        VonMises {
            direction: -3.0,
            concentration: 2.0,
        },
    );
    assert!(close(divergence(&p, &q), p.kl(&q), 1e-8));
}

#[test]
fn divergence_is_infinite_where_the_other_rules_out_what_can_be() {
    let wide = Uniform {
        low: 0.0,
        high: 2.0,
    };
    let narrow = Uniform {
        low: 0.0,
        high: 1.0,
    };
    assert_eq!(wide.kl(&narrow), f64::INFINITY);
    assert_eq!(
        divergence(
            &Poisson { rate: 1.0 },
            &Gaussian {
                mean: 0.0,
                variance: 1.0
            }
        ),
        f64::INFINITY
    );
    assert_eq!(
        Bernoulli { probability: 0.5 }.kl(&Bernoulli { probability: 1.0 }),
        f64::INFINITY
    );
}

#[test]
fn heavy_tails_diverge_from_light_ones_without_limit() {
    let t = |degrees: f64| StudentT {
        location: 0.3,
        scale: 2.0,
        degrees,
    };
    let gaussian = Gaussian {
        mean: 0.0,
        variance: 1.0,
    };
    for degrees in [0.5, 1.0, 2.0] {
        assert_eq!(
            divergence(&t(degrees), &gaussian),
            f64::INFINITY,
            "{degrees}"
        );
    }
    for degrees in [2.5, 7.0] {
        assert!(divergence(&t(degrees), &gaussian).is_finite(), "{degrees}");
    }
    assert!(divergence(&gaussian, &t(1.0)).is_finite());
    assert!(divergence(&t(1.0), &t(0.5)).is_finite());
    let waiting = Exponential { rate: 1.0 };
    let inverse = InverseGamma {
        shape: 2.0,
        scale: 1.0,
    };
    assert_eq!(divergence(&waiting, &inverse), f64::INFINITY);
    assert!(divergence(&inverse, &waiting).is_finite());
    let income = LogNormal {
        log_mean: 0.0,
        log_variance: 1.0,
    };
    let gamma = Gamma {
        shape: 2.0,
        rate: 1.0,
    };
    assert!(divergence(&income, &gamma).is_finite());
    assert_eq!(
        divergence(
            &Lomax {
                shape: 1.0,
                scale: 1.0
            },
            &gamma
        ),
        f64::INFINITY
    );
}

#[test]
fn a_gap_in_the_other_makes_divergence_infinite() {
    let part = |low: f64, high: f64| {
        let uniform = Uniform { low, high };
        (1.0, Box::new(uniform) as Box<dyn Univariate>)
    };
    let gap = Averaged::new([part(0.0, 0.5), part(0.501, 1.0)]).unwrap();
    let whole = Uniform {
        low: 0.0,
        high: 1.0,
    };
    assert_eq!(divergence(&whole, &gap), f64::INFINITY);
    assert!(divergence(&gap, &whole).is_finite());
}

#[test]
fn tails_of_students_reach_as_far_as_numbers_do() {
    let student = StudentT {
        location: 0.0,
        scale: 1.0,
        degrees: 0.5,
    };
    // t^(−ν) with its constant, far beyond where squares overflow.
    for x in [1e100, 1e200, 1e300] {
        let tail = student.survival(x);
        assert!(close(
            (student.survival(x / 1e80) / tail).ln(),
            0.5 * 80.0 * 10.0_f64.ln(),
            1e-10
        ));
        assert!(close(student.log_density(x), (0.5 * tail / x).ln(), 1e-10));
        assert!(
            close((student.quantile(tail) / -x).ln(), 0.0, 1e-9),
            "{}",
            student.quantile(tail)
        );
    }
    let near =
        student.survival(0.99e8 * 0.5_f64.sqrt()) / student.survival(1.01e8 * 0.5_f64.sqrt());
    assert!(close(near, (1.01_f64 / 0.99).sqrt(), 1e-10), "{near}");
}

#[test]
fn the_variance_of_a_log_normal_is_a_number_or_infinite() {
    let variance = |log_mean: f64, log_variance: f64| {
        LogNormal {
            log_mean,
            log_variance,
        }
        .variance()
        .unwrap()
    };
    assert!(close(variance(-1000.0, 800.0).ln(), -400.0, 1e-12));
    assert_eq!(variance(0.0, 800.0), f64::INFINITY);
    assert!(close(variance(0.0, 1e-12) / 1e-12, 1.0, 1e-11));
}

#[test]
fn of_equally_probable_counts_the_mode_is_the_smallest() {
    let distribution = BetaNegativeBinomial {
        size: 4.0,
        probability: Beta { a: 2.0, b: 3.0 },
    };
    assert!(close(
        distribution.density(1.0),
        distribution.density(2.0),
        1e-13
    ));
    assert_eq!(distribution.mode(), 1.0);
}

#[test]
fn the_mode_of_an_exponentiated_one_is_between_its_quantiles() {
    let exponentiated = Exponentiated {
        logarithm: Gaussian {
            mean: 1.0,
            variance: 4.0,
        },
    };
    assert!(
        close(exponentiated.mode(), (-3.0_f64).exp(), 1e-7),
        "{}",
        exponentiated.mode()
    );
    let heavy = Exponentiated {
        logarithm: StudentT {
            location: 1.0,
            scale: 0.1,
            degrees: 9.0,
        },
    };
    assert_eq!(heavy.mode(), 0.0);
}
