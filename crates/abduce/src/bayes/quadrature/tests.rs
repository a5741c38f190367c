//! Posteriors by quadrature compared with exact results.

use super::*;
use crate::bayes::Expression;
use crate::family::{BernoulliProbability, Beta, Gamma, GaussianMean, PoissonRate};
use crate::kernel::quadrature::integrate;

fn expression(text: &str) -> Curve {
    Curve::Expression(Expression::parse(text, &["x"]).unwrap())
}

fn trial(prior: Curve) -> Result<QuadraturePosterior<BernoulliProbability>> {
    let pair = BernoulliProbability;
    let mut seen = pair.zero();
    pair.observe(&[1.0], &[6.0], &mut seen);
    pair.observe(&[0.0], &[4.0], &mut seen);
    QuadraturePosterior::new(pair, prior, &seen)
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + b.abs())
}

#[test]
fn a_conjugate_prior_gives_the_conjugate_posterior() {
    let posterior = trial(expression("beta(3,2)")).unwrap();
    let exact = Beta { a: 9.0, b: 6.0 };
    for p in [0.001, 0.1, 0.5, 0.9, 0.9999] {
        let x = exact.quantile(p);
        assert!(close(posterior.cdf(x), p, 1e-9));
        assert!(close(posterior.quantile(p), x, 1e-8));
        assert!(close(posterior.log_density(x), exact.log_density(x), 1e-9));
    }
    assert!(close(posterior.mean().unwrap(), 0.6, 1e-10));
    assert!(close(
        posterior.variance().unwrap(),
        exact.variance().unwrap(),
        1e-10
    ));
    assert!(close(posterior.mode(), exact.mode(), 1e-7));
    let pair = BernoulliProbability;
    let evidence = pair
        .log_evidence(&Beta { a: 3.0, b: 2.0 }, &posterior.stats)
        .unwrap()
        .unwrap();
    assert!(close(posterior.log_evidence().unwrap(), evidence, 1e-9));
}

#[test]
fn a_prior_need_not_integrate_to_one() {
    let small = trial(expression("0.2 if x <= 0.5 else 0.8")).unwrap();
    let large = trial(expression("20 if x <= 0.5 else 80")).unwrap();
    assert!(close(small.cdf(0.4), large.cdf(0.4), 1e-12));
    assert!(close(
        small.log_evidence().unwrap(),
        large.log_evidence().unwrap(),
        1e-9
    ));
}

#[test]
fn a_prior_of_any_height_has_its_evidence() {
    let low = trial(expression("exp(20*x)")).unwrap();
    let high = trial(expression("exp(20*x + 2000)")).unwrap();
    let evidence = low.log_evidence().unwrap();
    assert!(close(evidence, high.log_evidence().unwrap(), 1e-9));
    assert!(evidence < 0.0);
}

#[test]
fn a_table_is_interpolated_linearly() {
    let table = Curve::table(vec![(1.0, 0.0), (0.0, 2.0)]).unwrap();
    let posterior = trial(table).unwrap();
    let same = trial(expression("1 - x")).unwrap();
    assert!(close(posterior.mean().unwrap(), same.mean().unwrap(), 1e-9));
    assert!(Curve::table(vec![(0.0, 1.0)]).is_err());
    assert!(Curve::table(vec![(0.0, 1.0), (0.0, 2.0)]).is_err());
    assert!(Curve::table(vec![(0.0, -1.0), (1.0, 2.0)]).is_err());
}

#[test]
fn a_spike_of_a_million_rows_is_found() {
    let pair = PoissonRate;
    let mut seen = pair.zero();
    pair.observe(&[3.0], &[6e5], &mut seen);
    pair.observe(&[7.0], &[4e5], &mut seen);
    let posterior = QuadraturePosterior::new(pair, expression("exp(-x)"), &seen).unwrap();
    let exact = Gamma {
        shape: 4.6e6 + 1.0,
        rate: 1e6 + 1.0,
    };
    assert!(close(posterior.mean().unwrap(), 4.6, 1e-6));
    assert!(close(
        posterior.quantile(0.025),
        exact.quantile(0.025),
        1e-9
    ));
}

#[test]
fn the_posterior_of_distant_rows_and_prior_lies_between_them() {
    let pair = GaussianMean { variance: 1.0 };
    let mut seen = pair.zero();
    pair.observe(&[30.0], &[1.0], &mut seen);
    let posterior = QuadraturePosterior::new(pair, expression("normal(0, 1)"), &seen).unwrap();
    assert!(
        close(posterior.mean().unwrap(), 15.0, 1e-8),
        "{:?}",
        posterior.mean()
    );
    assert!(close(posterior.quantile(0.5), 15.0, 1e-8));
}

#[test]
fn improper_priors_have_no_evidence_and_improper_posteriors_are_refused() {
    let posterior = trial(expression("1/(x*(1-x))")).unwrap();
    assert_eq!(posterior.log_evidence(), None);
    assert!(close(posterior.mean().unwrap(), 0.6, 1e-8));
    let pair = GaussianMean { variance: 1.0 };
    let flat = QuadraturePosterior::new(pair, expression("1"), &pair.zero());
    assert!(flat.is_err());
    // Ten failures under 1/x: as improper as Haldane's prior.
    let mut failures = BernoulliProbability.zero();
    BernoulliProbability.observe(&[0.0], &[10.0], &mut failures);
    let hopeless = QuadraturePosterior::new(BernoulliProbability, expression("1/x"), &failures);
    assert!(hopeless.is_err());
    let rare = QuadraturePosterior::new(BernoulliProbability, expression("x^-0.5"), &failures);
    assert!(rare.is_ok());
    assert!(trial(expression("x - 0.5")).is_err());
    assert!(trial(expression("0")).is_err());
}

#[test]
fn the_predictive_equals_the_conjugate_one() {
    let pair = PoissonRate;
    let mut seen = pair.zero();
    pair.observe(&[4.0], &[3.0], &mut seen);
    let posterior = QuadraturePosterior::new(pair, expression("gamma(2,1)"), &seen).unwrap();
    let exact = pair
        .predictive(&Gamma {
            shape: 14.0,
            rate: 4.0,
        })
        .unwrap();
    let obtained = posterior.predictive().unwrap();
    for x in [0.0, 2.0, 5.0, 12.0] {
        assert!(
            close(obtained.log_density(x), exact.log_density(x), 1e-7),
            "{x}"
        );
    }
}

#[test]
fn a_prior_narrower_than_the_likelihood_is_found() {
    let posterior = trial(expression("normal(0.3, 1e-10)")).unwrap();
    assert!(close(posterior.mean().unwrap(), 0.3, 1e-6));
    let pair = GaussianMean { variance: 1e12 };
    let mut seen = pair.zero();
    pair.observe(&[0.0], &[1.0], &mut seen);
    let posterior = QuadraturePosterior::new(pair, expression("normal(5e6, 1e10)"), &seen).unwrap();
    let exact = 5e6 / 1.01;
    assert!(
        close(posterior.mean().unwrap(), exact, 1e-6),
        "{:?}",
        posterior.mean()
    );
}

#[test]
fn moments_that_do_not_exist_are_not_reported() {
    let pair = GaussianMean { variance: 1.0 };
    let nothing = |prior: &str| QuadraturePosterior::new(pair, expression(prior), &pair.zero());
    let cauchy = nothing("student_t(0,1,1)").unwrap();
    assert_eq!((cauchy.mean(), cauchy.variance()), (None, None));
    let heavy = nothing("student_t(3,1,2)").unwrap();
    assert!(
        close(heavy.mean().unwrap(), 3.0, 1e-6),
        "{:?}",
        heavy.mean()
    );
    assert_eq!(heavy.variance(), Some(f64::INFINITY));
    let one_sided = nothing("1/(1 + x^2) if x > 0 else exp(-x^2)").unwrap();
    assert_eq!(
        (one_sided.mean(), one_sided.variance()),
        (Some(f64::INFINITY), None)
    );
    // A row brings them back.
    let mut seen = pair.zero();
    pair.observe(&[0.0], &[1.0], &mut seen);
    let posterior = QuadraturePosterior::new(pair, expression("student_t(0,1,1)"), &seen).unwrap();
    assert!(posterior.mean().unwrap().abs() < 1e-9 && posterior.variance().unwrap() < 1.0);
}

#[test]
fn a_prior_that_is_negative_between_the_places_scanned_is_refused() {
    assert!(trial(expression("(x - 0.61234)^2 - 1e-5")).is_err());
    assert!(trial(expression("(x - 0.61234)^2")).is_ok());
}

#[test]
fn shapes_beyond_numbers_are_refused() {
    assert!(Expression::parse("beta(1e308, 1e308)", &["x"]).is_err());
    assert!(Beta::new(1e308, 1e308).is_err());
    let sharp = trial(expression("beta(1e12, 1e12)")).unwrap();
    assert!(close(sharp.mean().unwrap(), 0.5, 1e-10));
}

fn measured(rows: &[f64], variance: f64, prior: &str) -> Result<QuadraturePosterior<GaussianMean>> {
    let pair = GaussianMean { variance };
    let mut seen = pair.zero();
    rows.iter()
        .for_each(|row| pair.observe(&[*row], &[1.0], &mut seen));
    QuadraturePosterior::new(pair, expression(prior), &seen)
}

#[test]
fn conflicting_rows_and_prior_give_the_conjugate_posterior() {
    // The conjugate posterior: precisions add up, means are weighed by them.
    for (row, variance, centre, width) in [
        (10_000.0, 0.01, 9_900.0, 0.01),
        (100.0, 0.01, 97.0, 0.01),
        (1_000.0, 0.01, 980.0, 0.01),
        (170.0, 0.25, 150.0, 1.0),
    ] {
        let prior = format!("1.0*normal({centre},{width})");
        let posterior = measured(&[row], variance, &prior).unwrap();
        let precision = 1.0 / variance + 1.0 / width;
        let mean = (row / variance + centre / width) / precision;
        let deviation = precision.powf(-0.5);
        assert!(
            (posterior.mode() - mean).abs() < 1e-5 * deviation.max(1e-3),
            "{prior}"
        );
        assert!(
            (posterior.mean().unwrap() - mean).abs() < 1e-6 * deviation,
            "{prior}"
        );
        let spread = posterior.variance().unwrap().sqrt();
        assert!(close(spread, deviation, 1e-6), "{prior}: {spread}");
    }
}

#[test]
fn the_highest_of_narrow_peaks_is_the_mode() {
    let posterior = trial(expression("normal(0.1,1e-8)+normal(0.612345,1e-8)")).unwrap();
    assert!(
        close(posterior.mode(), 0.612345, 1e-4),
        "{}",
        posterior.mode()
    );
    assert!(posterior.survival(0.5) > 0.99);
    let posterior = trial(expression("normal(0.3,1e-10)+normal(0.7,1e-10)")).unwrap();
    assert!(close(posterior.mode(), 0.7, 1e-4), "{}", posterior.mode());
    // Their heights under 6 successes and 4 failures.
    let height = |p: f64| p.powi(6) * (1.0 - p).powi(4);
    let share = height(0.7) / (height(0.7) + height(0.3));
    assert!(close(posterior.survival(0.5), share, 1e-6));
}

#[test]
fn a_pole_inside_is_improper_if_it_does_not_integrate() {
    for improper in [
        "1/(x-0.3) if x>0.3 else 0",
        "1 if x>0.2 else 1/(0.2-x)",
        "1/(x-0.45)^2",
    ] {
        assert!(trial(expression(improper)).is_err(), "{improper}");
    }
}

#[test]
fn conjugate_priors_that_hardly_integrate_agree_with_their_rule() {
    // Beta(0.01, 1) and Beta(0.01, 0.05), not normalised.
    for (prior, a, b) in [("x^-0.99", 0.01, 1.0), ("x^-0.99*(1-x)^-0.95", 0.01, 0.05)] {
        let posterior = trial(expression(prior)).unwrap();
        let exact = Beta {
            a: a + 6.0,
            b: b + 4.0,
        };
        let evidence = BernoulliProbability.log_evidence(&Beta { a, b }, &posterior.stats);
        let evidence = evidence.unwrap().unwrap();
        let found = posterior.log_evidence().unwrap();
        assert!(close(found, evidence, 1e-6), "{prior}: {found} {evidence}");
        assert!(close(
            posterior.mean().unwrap(),
            exact.mean().unwrap(),
            1e-9
        ));
        assert!(close(
            posterior.quantile(0.025),
            exact.quantile(0.025),
            1e-8
        ));
    }
    // Half of its mass lies below 1e-300.
    let mut seen = PoissonRate.zero();
    PoissonRate.observe(&[0.0], &[3.0], &mut seen);
    PoissonRate.observe(&[2.0], &[1.0], &mut seen);
    let posterior =
        QuadraturePosterior::new(PoissonRate, expression("1.0*gamma(.001,.001)"), &seen);
    let posterior = posterior.unwrap();
    let belief = |shape: f64, rate: f64| Gamma { shape, rate };
    let evidence = PoissonRate.log_evidence(&belief(0.001, 0.001), &seen);
    let evidence = evidence.unwrap().unwrap();
    assert!(close(posterior.log_evidence().unwrap(), evidence, 1e-6));
    let exact = belief(2.001, 4.001);
    assert!(close(
        posterior.mean().unwrap(),
        exact.mean().unwrap(),
        1e-9
    ));
    assert!(close(
        posterior.quantile(0.975),
        exact.quantile(0.975),
        1e-8
    ));
}

#[test]
fn priors_are_proper_improper_or_undetermined() {
    let proper = |prior: &str| trial(expression(prior)).unwrap().is_prior_proper();
    assert_eq!(proper("abs(sin(1000*x))"), Some(true));
    assert_eq!(proper("x^-0.999"), Some(true));
    assert_eq!(proper("(1-x)^-0.99"), Some(true));
    assert_eq!(proper("1/x"), Some(false));
    assert_eq!(proper("1/(1-x)"), Some(false));
    assert_eq!(proper("1/(x*(1-ln(x))^2)"), None);
}

#[test]
fn a_pole_that_integrates_is_the_mode_wherever_it_is() {
    let posterior = trial(expression("abs(x-0.5)^-0.5")).unwrap();
    assert_eq!(posterior.mode(), 0.5);
    // ∫ |x − ½|^−½ = 2√2, and of the posterior by x = ½ ± t², which has no pole.
    let height = |x: f64| x.powi(6) * (1.0 - x).powi(4);
    let over = |sign: f64| move |t: f64| 2.0 * height(0.5 + sign * t * t);
    let root = 0.5_f64.sqrt();
    let half = |sign: f64| integrate(over(sign), 0.0, root, &[], 1e-12).value;
    let (below, above) = (half(-1.0), half(1.0));
    let evidence = ((below + above) / 8.0_f64.sqrt()).ln();
    assert!(close(posterior.log_evidence().unwrap(), evidence, 1e-8));
    assert!(close(
        posterior.survival(0.5),
        above / (below + above),
        1e-8
    ));
    let mut failures = BernoulliProbability.zero();
    BernoulliProbability.observe(&[0.0], &[10.0], &mut failures);
    for prior in ["x^-0.5", "x^-0.99", "1", "exp(-x)"] {
        let rare = QuadraturePosterior::new(BernoulliProbability, expression(prior), &failures);
        assert_eq!(rare.unwrap().mode(), 0.0, "{prior}");
    }
}
