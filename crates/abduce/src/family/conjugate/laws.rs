//! The laws that every conjugate pair keeps.

use super::*;
use crate::family::{
    Beta, BilateralPareto, Covariance, Dirichlet, Gamma, Gaussian, Multi, MultivariateGaussian,
    NormalGamma, NormalInverseWishart, NormalWishart, Wishart,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

fn weighted<C: Conjugate>(pair: &C, rows: &[Vec<f64>], weight: f64) -> C::Stats {
    let mut stats = pair.zero();
    pair.observe(&rows.concat(), &vec![weight; rows.len()], &mut stats);
    stats
}

fn observed<C: Conjugate>(pair: &C, rows: &[Vec<f64>]) -> C::Stats {
    weighted(pair, rows, 1.0)
}

fn draw_row<C: Conjugate>(pair: &C, parameters: &[f64], rng: &mut ChaCha8Rng) -> Vec<f64> {
    pair.row(parameters).unwrap().draw_row(rng)
}

/// Every number that a value serialises to.
fn values(of: &impl serde::Serialize) -> Vec<f64> {
    fn walk(value: &serde_json::Value, into: &mut Vec<f64>) {
        match value {
            serde_json::Value::Number(number) => into.extend(number.as_f64()),
            serde_json::Value::Array(items) => items.iter().for_each(|item| walk(item, into)),
            serde_json::Value::Object(fields) => fields.values().for_each(|item| walk(item, into)),
            _ => {}
        }
    }
    let mut into = Vec::new();
    walk(&serde_json::to_value(of).unwrap(), &mut into);
    into
}

fn same(a: &impl serde::Serialize, b: &impl serde::Serialize, tolerance: f64) -> bool {
    let (a, b) = (values(a), values(b));
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| close(*a, *b, tolerance))
}

fn laws_hold<C: Conjugate>(
    pair: &C,
    prior: &C::Prior,
    log_predictive: impl Fn(&C::Predictive, &[f64]) -> f64,
) {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let truth = prior.draw_parameters(&mut rng);
    let rows: Vec<Vec<f64>> = (0..12).map(|_| draw_row(pair, &truth, &mut rng)).collect();
    let all = observed(pair, &rows);
    let posterior = pair.posterior(prior, &all).unwrap();
    one_by_one_is_all_at_once_is_merged(pair, prior, &rows, &posterior);
    forgetting_is_never_having_seen(pair, prior, &rows);
    bayes_rule_holds_everywhere(pair, prior, &all, &posterior, &mut rng);
    evidence_is_a_chain_of_predictions(pair, prior, &rows);
    evidence_is_the_mean_likelihood_under_the_prior(pair, prior, &rows[..2]);
    the_predictive_is_the_evidence_of_one_row(pair, &posterior, &rows, log_predictive);
    the_mode_beats_draws(&posterior, &mut rng);
    marginals_are_those_of_draws(&posterior, &mut rng);
    ranks_of_the_truth_are_uniform(pair, prior);
}

fn one_by_one_is_all_at_once_is_merged<C: Conjugate>(
    pair: &C,
    prior: &C::Prior,
    rows: &[Vec<f64>],
    posterior: &C::Prior,
) {
    let step = |belief: C::Prior, row: &Vec<f64>| {
        pair.posterior(&belief, &observed(pair, std::slice::from_ref(row)))
            .unwrap()
    };
    let sequential = rows.iter().fold(prior.clone(), step);
    assert!(
        same(&sequential, posterior, 1e-9),
        "{sequential:?} {posterior:?}"
    );
    let mut merged = observed(pair, &rows[..5]);
    merged.merge(&observed(pair, &rows[5..]));
    let merged = pair.posterior(prior, &merged).unwrap();
    assert!(same(&merged, posterior, 1e-9), "{merged:?} {posterior:?}");
    let twice: Vec<Vec<f64>> = rows.iter().chain(rows).cloned().collect();
    let twice = pair.posterior(prior, &observed(pair, &twice)).unwrap();
    let weighted = pair.posterior(prior, &weighted(pair, rows, 2.0)).unwrap();
    assert!(same(&weighted, &twice, 1e-9), "{weighted:?} {twice:?}");
}

fn forgetting_is_never_having_seen<C: Conjugate>(pair: &C, prior: &C::Prior, rows: &[Vec<f64>]) {
    let mut left = observed(pair, rows);
    left.forget(&observed(pair, &rows[..4])).unwrap();
    let left = pair.posterior(prior, &left).unwrap();
    let never = pair.posterior(prior, &observed(pair, &rows[4..])).unwrap();
    assert!(same(&left, &never, 1e-7), "{left:?} {never:?}");
}

fn bayes_rule_holds_everywhere<C: Conjugate>(
    pair: &C,
    prior: &C::Prior,
    stats: &C::Stats,
    posterior: &C::Prior,
    rng: &mut ChaCha8Rng,
) {
    let evidence = pair.log_evidence(prior, stats).unwrap().unwrap();
    for _ in 0..20 {
        let parameters = posterior.draw_parameters(rng);
        let rule = pair.log_likelihood(&parameters, stats) + prior.log_density_of(&parameters);
        let joint = posterior.log_density_of(&parameters) + evidence;
        assert!(close(rule, joint, 1e-8), "{parameters:?} {rule} {joint}");
    }
}

fn evidence_is_a_chain_of_predictions<C: Conjugate>(pair: &C, prior: &C::Prior, rows: &[Vec<f64>]) {
    let whole = pair
        .log_evidence(prior, &observed(pair, rows))
        .unwrap()
        .unwrap();
    let (mut belief, mut sum) = (prior.clone(), 0.0);
    for row in rows {
        sum += pair.log_predictive(&belief, row).unwrap();
        belief = pair
            .posterior(&belief, &observed(pair, std::slice::from_ref(row)))
            .unwrap();
    }
    assert!(close(whole, sum, 1e-8), "{whole} {sum}");
}

/// A mean over draws and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|x| (x - mean) * (x - mean));
    (mean, (squares.sum::<f64>() / n / n).sqrt())
}

fn evidence_is_the_mean_likelihood_under_the_prior<C: Conjugate>(
    pair: &C,
    prior: &C::Prior,
    rows: &[Vec<f64>],
) {
    let stats = observed(pair, rows);
    let evidence = pair.log_evidence(prior, &stats).unwrap().unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let ratio = |_| {
        let parameters = prior.draw_parameters(&mut rng);
        (pair.log_likelihood(&parameters, &stats) - evidence).exp()
    };
    let (mean, error) = mean_and_error(&(0..4000).map(ratio).collect::<Vec<f64>>());
    assert!((mean - 1.0).abs() < 5.0 * error, "{mean} ± {error}");
}

/// The density of a row under drawn parameters, divided by the predictive density at rows
/// drawn from that: its mean is 1 only if both integrate to 1.
fn the_predictive_integrates_to_one<C: Conjugate>(
    pair: &C,
    belief: &C::Prior,
    draw: impl Fn(&C::Predictive, &mut ChaCha8Rng) -> Vec<f64>,
    log_predictive: impl Fn(&C::Predictive, &[f64]) -> f64,
) {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let predictive = pair.predictive(belief).unwrap();
    let ratio = |_| {
        let row = draw(&predictive, &mut rng);
        let parameters = belief.draw_parameters(&mut rng);
        let log_density = log_predictive(&predictive, &row);
        let row = observed(pair, &[row]);
        (pair.log_likelihood(&parameters, &row) - log_density).exp()
    };
    let (mean, error) = mean_and_error(&(0..4000).map(ratio).collect::<Vec<f64>>());
    assert!((mean - 1.0).abs() <= 5.0 * error, "{mean} ± {error}");
}

fn the_predictive_is_the_evidence_of_one_row<C: Conjugate>(
    pair: &C,
    posterior: &C::Prior,
    rows: &[Vec<f64>],
    log_predictive: impl Fn(&C::Predictive, &[f64]) -> f64,
) {
    let predictive = pair.predictive(posterior).unwrap();
    for row in rows {
        let expected = pair.log_predictive(posterior, row).unwrap();
        let obtained = log_predictive(&predictive, row);
        assert!(
            close(expected, obtained, 1e-8),
            "{row:?} {expected} {obtained}"
        );
    }
}

fn the_mode_beats_draws<P: Prior>(posterior: &P, rng: &mut ChaCha8Rng) {
    if let Some(mode) = posterior.modes() {
        let most = posterior.log_density_of(&mode);
        for _ in 0..50 {
            assert!(posterior.log_density_of(&posterior.draw_parameters(rng)) <= most + 1e-9);
        }
    }
}

/// Kolmogorov's distance of 2,000 draws is below 2/√n nearly always.
fn marginals_are_those_of_draws<P: Prior>(posterior: &P, rng: &mut ChaCha8Rng) {
    let draws: Vec<Vec<f64>> = (0..2000).map(|_| posterior.draw_parameters(rng)).collect();
    for (i, marginal) in posterior.marginals() {
        let mut values: Vec<f64> = draws.iter().map(|draw| draw[i]).collect();
        values.sort_by(f64::total_cmp);
        for place in [100, 500, 1000, 1500, 1900] {
            let share = (place as f64 + 0.5) / 2000.0;
            let error = (marginal.cdf(values[place]) - share).abs();
            assert!(error < 2.0 / 2000.0_f64.sqrt(), "{marginal:?} {error}");
        }
    }
}

/// Simulation-based calibration (Talts et al. 2018): the truth's place in its
/// own posterior is uniform. The mean and the variance of 400 places are
/// looked at, each within four deviations.
fn ranks_of_the_truth_are_uniform<C: Conjugate>(pair: &C, prior: &C::Prior) {
    const WORLDS: usize = 400;
    let mut rng = ChaCha8Rng::seed_from_u64(77);
    let mut places: Vec<Vec<f64>> = Vec::new();
    for _ in 0..WORLDS {
        let truth = prior.draw_parameters(&mut rng);
        let rows: Vec<Vec<f64>> = (0..6).map(|_| draw_row(pair, &truth, &mut rng)).collect();
        let posterior = pair.posterior(prior, &observed(pair, &rows)).unwrap();
        let marginals = posterior.marginals();
        let place = |(i, marginal): &(usize, Box<dyn Univariate>)| marginal.cdf(truth[*i]);
        places.push(marginals.iter().map(place).collect());
    }
    for i in 0..places[0].len() {
        let n = WORLDS as f64;
        let mean = places.iter().map(|ranks| ranks[i]).sum::<f64>() / n;
        let square = |ranks: &Vec<f64>| (ranks[i] - 0.5) * (ranks[i] - 0.5);
        let variance = places.iter().map(square).sum::<f64>() / n;
        assert!(
            (mean - 0.5).abs() < 4.0 * (1.0 / 12.0 / n).sqrt(),
            "mean {mean}"
        );
        assert!(
            (variance - 1.0 / 12.0).abs() < 4.0 * (1.0 / 180.0 / n).sqrt(),
            "{variance}"
        );
    }
}

fn of_one_number<C: Conjugate>(pair: C, prior: C::Prior)
where
    C::Predictive: Univariate,
{
    let log_density = |predictive: &C::Predictive, row: &[f64]| predictive.log_density(row[0]);
    laws_hold(&pair, &prior, log_density);
    let draw = |predictive: &C::Predictive, rng: &mut ChaCha8Rng| vec![predictive.draw(rng)];
    the_predictive_integrates_to_one(&pair, &prior, draw, log_density);
}

fn of_several_numbers<C: Conjugate>(pair: C, prior: C::Prior)
where
    C::Predictive: Multi,
{
    let log_density = |predictive: &C::Predictive, row: &[f64]| predictive.log_density(row);
    laws_hold(&pair, &prior, log_density);
    let draw = |predictive: &C::Predictive, rng: &mut ChaCha8Rng| predictive.draw(rng);
    the_predictive_integrates_to_one(&pair, &prior, draw, log_density);
}

#[test]
fn multinomial() {
    let pair = MultinomialProbabilities {
        levels: 3,
        trials: 8,
    };
    of_several_numbers(
        pair,
        Dirichlet {
            concentration: vec![2.0, 1.5, 4.0],
        },
    );
}

#[test]
fn multivariate_mean() {
    let pair = MultivariateMean {
        covariance: vec![2.0, 0.6, 0.6, 1.0],
    };
    let covariance = Covariance::Full(vec![4.0, -1.0, -1.0, 3.0]);
    of_several_numbers(
        pair,
        MultivariateGaussian {
            mean: vec![1.0, -2.0],
            covariance,
        },
    );
}

#[test]
fn multivariate_precision() {
    let pair = MultivariatePrecision {
        mean: vec![1.0, -2.0],
    };
    of_several_numbers(pair, Wishart::new(5.0, vec![0.5, 0.1, 0.1, 0.3]).unwrap());
}

#[test]
fn multivariate_mean_and_precision() {
    let pair = MultivariateMeanPrecision::new(2);
    let prior = NormalWishart::new(vec![1.0, -2.0], 1.5, 6.0, vec![0.5, 0.1, 0.1, 0.3]);
    of_several_numbers(pair, prior.unwrap());
}

#[test]
fn multivariate_mean_and_covariance() {
    let pair = MultivariateBoth::new(2);
    let prior = NormalInverseWishart::new(vec![1.0, -2.0], 1.5, 7.0, vec![5.0, 1.0, 1.0, 3.0]);
    of_several_numbers(pair, prior.unwrap());
}

macro_rules! laws {
    ($($name:ident: $pair:expr, $prior:expr;)*) => {
        $(#[test]
        fn $name() {
            of_one_number($pair, $prior);
        })*
    };
}

laws! {
    bernoulli: BernoulliProbability, Beta { a: 2.0, b: 3.5 };
    binomial: BinomialProbability { trials: 7 }, Beta { a: 2.0, b: 3.5 };
    geometric: NegativeBinomialProbability { size: 1.0 }, Beta { a: 4.0, b: 3.0 };
    negative_binomial: NegativeBinomialProbability { size: 2.5 }, Beta { a: 5.0, b: 3.0 };
    categorical: CategoricalProbabilities { levels: 3 },
        Dirichlet { concentration: vec![2.0, 1.5, 4.0] };
    poisson: PoissonRate, Gamma { shape: 3.0, rate: 0.5 };
    exponential: ExponentialRate, Gamma { shape: 3.0, rate: 2.0 };
    gamma: GammaRate { shape: 2.5 }, Gamma { shape: 3.0, rate: 2.0 };
    uniform: UniformEnds, BilateralPareto { low: -1.0, high: 2.0, shape: 3.0 };
    gaussian_mean: GaussianMean { variance: 4.0 }, Gaussian { mean: 10.0, variance: 9.0 };
    gaussian_both: GaussianBoth, NormalGamma::new(2.0, 1.5, 3.0, 2.0).unwrap();
    log_normal: LogNormalBoth, NormalGamma::new(2.0, 1.5, 3.0, 2.0).unwrap();
    gaussian_precision: GaussianPrecision { mean: -3.0 }, Gamma { shape: 3.0, rate: 2.0 };
}

#[test]
fn improper_priors_have_a_posterior_but_no_evidence() {
    let haldane = BernoulliProbability.prior("haldane", &[]).unwrap();
    let mut seen = BernoulliProbability.zero();
    assert!(BernoulliProbability.posterior(&haldane, &seen).is_err());
    BernoulliProbability.observe(&[1.0], &[6.0], &mut seen);
    assert!(
        BernoulliProbability.posterior(&haldane, &seen).is_err(),
        "no failure yet"
    );
    BernoulliProbability.observe(&[0.0], &[4.0], &mut seen);
    let posterior = BernoulliProbability.posterior(&haldane, &seen).unwrap();
    assert_eq!(posterior, Beta { a: 6.0, b: 4.0 });
    assert_eq!(
        BernoulliProbability.log_evidence(&haldane, &seen).unwrap(),
        None
    );
    let flat = GaussianMean { variance: 2.0 };
    let everywhere = flat.prior("uniform", &[]).unwrap();
    let mut seen = flat.zero();
    flat.observe(&[5.0], &[2.0], &mut seen);
    let posterior = flat.posterior(&everywhere, &seen).unwrap();
    assert_eq!(
        posterior,
        Gaussian {
            mean: 5.0,
            variance: 1.0
        }
    );
}

#[test]
fn priors_are_known_by_name() {
    assert_eq!(
        BernoulliProbability.prior("beta", &[2.0, 3.0]).unwrap(),
        Beta { a: 2.0, b: 3.0 }
    );
    assert!(BernoulliProbability.prior("beta", &[2.0]).is_err());
    assert!(BernoulliProbability.prior("beta", &[2.0, -1.0]).is_err());
    assert!(BernoulliProbability.prior("gamma", &[2.0, 1.0]).is_err());
    assert_eq!(
        PoissonRate.prior("jeffreys", &[]).unwrap(),
        Gamma {
            shape: 0.5,
            rate: 0.0
        }
    );
}
