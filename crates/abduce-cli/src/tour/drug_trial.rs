//! A drug that helped 6 of 10 patients, with a prior that favours probabilities above one half:
//! its unnormalized density is 0.8 above and 0.2 below.

use super::{Group, Line};
use abduce::Result;
use abduce::bayes::{Curve, Expression, QuadraturePosterior, clopper_pearson};
use abduce::family::{Bernoulli, BernoulliProbability, Conjugate, Family, Univariate};

pub const GROUP: Group = Group {
    name: "A drug that helped 6 of 10",
    run,
};

fn run() -> Result<Vec<Line>> {
    let trial = posterior(6.0, 4.0)?;
    let no_trial = posterior(0.0, 0.0)?;
    let mle = Bernoulli::mle(&counts(6.0, 4.0))?.probability;
    let (low, high) = clopper_pearson(6.0, 4.0, 0.95)?;
    Ok(vec![
        Line::number(
            "P(it helps more than half)",
            0.913_618,
            trial.survival(0.5),
            6,
        ),
        Line::number(
            "P(it helps the next)",
            0.627_715,
            trial.mean().unwrap_or(f64::NAN),
            6,
        ),
        Line::number("maximum likelihood", 0.6, mle, 6),
        Line::number(
            "P(it helps the first)",
            0.65,
            no_trial.mean().unwrap_or(f64::NAN),
            6,
        ),
        Line::number("exact 95% interval, from", 0.262_378, low, 6),
        Line::number("exact 95% interval, to", 0.878_448, high, 6),
    ])
}

fn counts(helped: f64, not_helped: f64) -> abduce::family::BernoulliStats {
    let mut counts = BernoulliProbability.zero();
    BernoulliProbability.observe(&[1.0, 0.0], &[helped, not_helped], &mut counts);
    counts
}

fn posterior(helped: f64, not_helped: f64) -> Result<QuadraturePosterior<BernoulliProbability>> {
    let prior = Expression::parse("0.8 if x > 0.5 else 0.2", &["x"])?;
    let prior = Curve::Expression(prior);
    QuadraturePosterior::new(BernoulliProbability, prior, &counts(helped, not_helped))
}
