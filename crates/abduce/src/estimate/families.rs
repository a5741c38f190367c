//! The list of families that can be estimated. A new one is a line in it and
//! its function.

use super::conjugate::{Maximum, Model, no_bias, report};
use super::report::{Estimate, Numbers};
use super::rows::must;
use super::{Request, sampled};
use crate::bayes::{
    BernoulliProbability, BinomialProbability, ExponentialRate, GammaRate, GaussianBoth,
    GaussianMean, GaussianPrecision, LogNormalBoth, NegativeBinomialProbability, PoissonRate,
    UniformEnds, clopper_pearson, hoeffding,
};
use crate::data::{Kind, Source};
use crate::family::{
    Bernoulli, Beta, Binomial, Exponential, Family, Gamma, Gaussian, GaussianStats, Geometric,
    LogNormal, NegativeBinomial, Points, Poisson, Scalar, Stats, StudentT, Uniform, VonMises,
    ZeroInflatedPoisson,
};
use crate::{Error, Result};

/// A family that can be estimated.
pub(super) struct Entry {
    pub name: &'static str,
    /// How its columns are read; `None` where two levels or numbers will do.
    pub kind: Option<Kind>,
    /// The parameters that may be known.
    pub known: &'static [&'static str],
    pub estimate: fn(&dyn Source, &Request) -> Result<Estimate>,
}

const REAL: Option<Kind> = Some(Kind::Real);

const FAMILIES: &[Entry] = &[
    Entry {
        name: "bernoulli",
        kind: None,
        known: &[],
        estimate: bernoulli,
    },
    Entry {
        name: "binomial",
        kind: REAL,
        known: &["trials"],
        estimate: binomial,
    },
    Entry {
        name: "geometric",
        kind: REAL,
        known: &[],
        estimate: geometric,
    },
    Entry {
        name: "negative-binomial",
        kind: REAL,
        known: &["size"],
        estimate: negative_binomial,
    },
    Entry {
        name: "poisson",
        kind: REAL,
        known: &[],
        estimate: poisson,
    },
    Entry {
        name: "zero-inflated-poisson",
        kind: REAL,
        known: &[],
        estimate: zero_inflated_poisson,
    },
    Entry {
        name: "exponential",
        kind: REAL,
        known: &[],
        estimate: exponential,
    },
    Entry {
        name: "gamma",
        kind: REAL,
        known: &["shape"],
        estimate: gamma,
    },
    Entry {
        name: "beta",
        kind: REAL,
        known: &[],
        estimate: beta,
    },
    Entry {
        name: "gaussian",
        kind: REAL,
        known: &["mean", "variance"],
        estimate: gaussian,
    },
    Entry {
        name: "log-normal",
        kind: REAL,
        known: &[],
        estimate: log_normal,
    },
    Entry {
        name: "student-t",
        kind: REAL,
        known: &[],
        estimate: student_t,
    },
    Entry {
        name: "von-mises",
        kind: REAL,
        known: &[],
        estimate: von_mises,
    },
    Entry {
        name: "uniform",
        kind: REAL,
        known: &[],
        estimate: uniform,
    },
];

/// The names of the families that can be estimated.
pub fn families() -> Vec<&'static str> {
    FAMILIES.iter().map(|own| own.name).collect()
}

pub(super) fn find(name: &str) -> Result<&'static Entry> {
    let same = match name {
        "normal" => "gaussian",
        "student" | "t" => "student-t",
        "lognormal" => "log-normal",
        other => other,
    };
    FAMILIES.iter().find(|own| own.name == same).ok_or_else(|| {
        Error::parameter(format!("\"{name}\" is not a family that can be estimated"))
            .with_hint(format!("the families are {}", families().join(", ")))
    })
}

const COUNT: &str = "a whole number from 0 up";
const POSITIVE: &str = "a positive number";

fn is_count(x: f64) -> bool {
    Poisson::supports(x)
}

fn count(row: &[f64]) -> Option<String> {
    must(is_count(row[0]), row[0], COUNT)
}

fn positive(row: &[f64]) -> Option<String> {
    must(row[0] > 0.0, row[0], POSITIVE)
}

fn anything(_: &[f64]) -> Option<String> {
    None
}

/// Intervals that hold whatever the probability is.
fn proportion(estimate: &mut Estimate, successes: f64, failures: f64) -> Result<()> {
    let level = estimate.level;
    let exact = clopper_pearson(successes, failures, level)?;
    let bound = hoeffding(successes, failures, 1.0, level)?;
    estimate.frequentist = vec![
        ("Clopper-Pearson".into(), exact),
        (
            "Hoeffding, of the share with one added to each side".into(),
            bound,
        ),
    ];
    Ok(())
}

fn bernoulli(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let field = &source.schema().fields[0];
    let coded = field.kind.is_coded();
    if coded && field.levels.len() > 2 {
        return Err(Error::data(format!(
            "{} levels are too many for a Bernoulli",
            field.levels.len()
        ))
        .at_column(&field.name)
        .with_hint("use the family categorical"));
    }
    // The probability is that of the second level, or of the only one.
    let names = match field.levels.as_slice() {
        [no, yes] => [no.clone(), yes.clone()],
        [only] => ["anything else".into(), only.clone()],
        _ => ["0".into(), "1".into()],
    };
    let shift = f64::from(u8::from(coded && field.levels.len() == 1));
    let mut seen = (0.0, 0.0);
    super::rows::each(source, bernoulli_domain, |row, weight| {
        match row[0] + shift == 0.0 {
            true => seen.1 += weight,
            false => seen.0 += weight,
        }
    })?;
    let maximum = |stats: &crate::family::BernoulliStats| {
        let fitted = Bernoulli::mle(stats)?;
        let mut own = Maximum::of(&fitted, fitted.log_likelihood(stats));
        own.ruled_out = [(fitted.probability, 1), (1.0 - fitted.probability, 0)]
            .into_iter()
            .filter(|(probability, _)| *probability == 0.0)
            .map(|(_, outcome)| names[outcome].clone())
            .collect();
        Ok(own)
    };
    let model = Model {
        family: "bernoulli",
        pair: BernoulliProbability,
        default: "jeffreys",
        wrong: &bernoulli_domain,
        maximum: &maximum,
        unbiased: &no_bias,
        predictive: "bernoulli",
        shift,
    };
    let mut estimate = report(model, source, request)?;
    proportion(&mut estimate, seen.0, seen.1)?;
    if coded && names != ["0", "1"] {
        estimate
            .notes
            .push(format!("the probability is that of \"{}\"", names[1]));
    }
    Ok(estimate)
}

fn bernoulli_domain(row: &[f64]) -> Option<String> {
    must(row[0] == 0.0 || row[0] == 1.0, row[0], "0 or 1")
}

fn binomial(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let trials = request.known("trials").ok_or_else(|| {
        Error::parameter("the number of trials of a binomial must be known")
            .with_hint("say it with --known trials=10")
    })?;
    if !(is_count(trials) && trials <= 1e15) {
        return Err(Error::parameter(format!(
            "{trials} is not a number of trials"
        )));
    }
    let trials = trials as u64;
    let domain = format!("a whole number from 0 to {trials}");
    let wrong = |row: &[f64]| must(Binomial::supports_in(trials, row[0]), row[0], &domain);
    let mut sums = (0.0, 0.0);
    let maximum = |stats: &crate::family::BinomialStats| {
        let total = stats.successes + stats.failures;
        if total <= 0.0 {
            return Err(crate::family::nothing_seen());
        }
        let fitted = Binomial {
            trials,
            probability: stats.successes / total,
        };
        let own = BinomialProbability { trials };
        let likelihood =
            crate::bayes::Conjugate::log_likelihood(&own, &[fitted.probability], stats);
        let mut own = Maximum::of(&fitted, likelihood);
        own.parameters = Numbers(vec![("probability".into(), fitted.probability)]);
        if [0.0, 1.0].contains(&fitted.probability) {
            let other = if fitted.probability == 0.0 {
                "a success"
            } else {
                "a failure"
            };
            own.ruled_out.push(other.into());
        }
        Ok(own)
    };
    super::rows::each(source, &wrong, |row, weight| {
        sums.0 += weight * row[0];
        sums.1 += weight * (trials as f64 - row[0]);
    })?;
    let model = Model {
        family: "binomial",
        pair: BinomialProbability { trials },
        default: "jeffreys",
        wrong: &wrong,
        maximum: &maximum,
        unbiased: &no_bias,
        predictive: "beta-binomial",
        shift: 0.0,
    };
    let mut estimate = report(model, source, request)?;
    proportion(&mut estimate, sums.0, sums.1)?;
    Ok(estimate)
}

fn geometric(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let model = Model {
        family: "geometric",
        pair: NegativeBinomialProbability { size: 1.0 },
        default: "uniform",
        wrong: &count,
        maximum: &|stats| {
            let sums = crate::family::GeometricStats {
                weight: stats.weight,
                sum: stats.failures,
            };
            let fitted = Geometric::estimate(&sums)?;
            Ok(Maximum::of(&fitted, fitted.log_likelihood_of(&sums)))
        },
        unbiased: &no_bias,
        predictive: "beta-geometric",
        shift: 0.0,
    };
    let mut estimate = report(model, source, request)?;
    estimate
        .notes
        .push("counts are failures before the first success, from 0 up".into());
    Ok(estimate)
}

fn negative_binomial(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let Some(size) = request.known("size") else {
        let infinite = (0.0, f64::INFINITY);
        return sampled::report::<NegativeBinomial>(
            source,
            request,
            &[
                ("size", infinite, "log_normal(0,4)", true),
                ("probability", (0.0, 1.0), "uniform(0,1)", true),
            ],
            COUNT,
            |x| NegativeBinomial::new(x[0], x[1]),
            |_| vec![1.0, 0.5],
        );
    };
    if !(size > 0.0 && size.is_finite()) {
        return Err(Error::parameter(format!(
            "the size must be positive, not {size}"
        )));
    }
    let model = Model {
        family: "negative-binomial",
        pair: NegativeBinomialProbability { size },
        default: "uniform",
        wrong: &count,
        maximum: &|stats| {
            let successes = size * stats.weight;
            if successes <= 0.0 {
                return Err(crate::family::nothing_seen());
            }
            let fitted = NegativeBinomial::new(size, successes / (successes + stats.failures))?;
            let pair = NegativeBinomialProbability { size };
            let likelihood =
                crate::bayes::Conjugate::log_likelihood(&pair, &[fitted.probability], stats);
            Ok(Maximum::of(&fitted, likelihood))
        },
        unbiased: &no_bias,
        predictive: "beta-negative-binomial",
        shift: 0.0,
    };
    report(model, source, request)
}

fn poisson(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let model = Model {
        family: "poisson",
        pair: PoissonRate,
        default: "jeffreys",
        wrong: &count,
        maximum: &|stats| {
            let fitted = Poisson::mle(stats)?;
            let mut own = Maximum::of(&fitted, fitted.log_likelihood(stats));
            if fitted.rate == 0.0 {
                own.ruled_out.push("every count above 0".into());
            }
            Ok(own)
        },
        unbiased: &no_bias,
        predictive: "negative-binomial",
        shift: 0.0,
    };
    report(model, source, request)
}

fn zero_inflated_poisson(source: &dyn Source, request: &Request) -> Result<Estimate> {
    sampled::report::<ZeroInflatedPoisson>(
        source,
        request,
        &[
            ("inflation", (0.0, 1.0), "uniform(0,1)", true),
            ("rate", (0.0, f64::INFINITY), "x^-0.5", false),
        ],
        COUNT,
        |x| ZeroInflatedPoisson::new(x[0], x[1]),
        |_| vec![0.5, 1.0],
    )
}

fn exponential(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let wrong = |row: &[f64]| must(row[0] >= 0.0, row[0], "a number from 0 up");
    let model = Model {
        family: "exponential",
        pair: ExponentialRate,
        default: "jeffreys",
        wrong: &wrong,
        maximum: &|stats| {
            let fitted = Exponential::mle(stats)?;
            Ok(Maximum::of(&fitted, fitted.log_likelihood(stats)))
        },
        unbiased: &|stats| {
            let rate = (stats.weight - 1.0) / stats.sum;
            (stats.weight > 1.0 && rate.is_finite()).then(|| Numbers(vec![("rate".into(), rate)]))
        },
        predictive: "lomax",
        shift: 0.0,
    };
    report(model, source, request)
}

fn gamma(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let infinite = (0.0, f64::INFINITY);
    let Some(shape) = request.known("shape") else {
        return sampled::report::<Gamma>(
            source,
            request,
            &[
                ("shape", infinite, "1/x", false),
                ("rate", infinite, "1/x", false),
            ],
            POSITIVE,
            |x| Gamma::new(x[0], x[1]),
            |_| vec![1.0, 1.0],
        );
    };
    if !(shape > 0.0 && shape.is_finite()) {
        return Err(Error::parameter(format!(
            "the shape must be positive, not {shape}"
        )));
    }
    let model = Model {
        family: "gamma",
        pair: GammaRate { shape },
        default: "jeffreys",
        wrong: &positive,
        maximum: &|stats| {
            let fitted = Gamma::new(shape, shape * stats.weight / stats.sum)
                .map_err(|_| crate::family::nothing_seen())?;
            Ok(Maximum::of(&fitted, fitted.log_likelihood_of(stats)))
        },
        unbiased: &no_bias,
        predictive: "beta-prime",
        shift: 0.0,
    };
    report(model, source, request)
}

fn beta(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let infinite = (0.0, f64::INFINITY);
    sampled::report::<Beta>(
        source,
        request,
        &[("a", infinite, "1/x", false), ("b", infinite, "1/x", false)],
        "a number between 0 and 1",
        |x| Beta::new(x[0], x[1]),
        |_| vec![1.0, 1.0],
    )
}

/// The variance divided by n − 1 instead of n.
fn unbiased_variance(stats: &GaussianStats) -> Option<Numbers> {
    let variance = stats.scatter / (stats.weight - 1.0);
    (stats.weight > 1.0).then(|| Numbers(vec![("variance".into(), variance)]))
}

fn gaussian_maximum(stats: &GaussianStats) -> Result<Maximum> {
    let fitted = Gaussian::mle(stats)?;
    Ok(Maximum::of(&fitted, fitted.log_likelihood(stats)))
}

fn gaussian(source: &dyn Source, request: &Request) -> Result<Estimate> {
    match (request.known("mean"), request.known("variance")) {
        (Some(_), Some(_)) => Err(Error::parameter(
            "mean and variance are both known: there is nothing to estimate",
        )),
        (None, None) => {
            let model = Model {
                family: "gaussian",
                pair: GaussianBoth,
                default: "reference",
                wrong: &anything,
                maximum: &gaussian_maximum,
                unbiased: &unbiased_variance,
                predictive: "student-t",
                shift: 0.0,
            };
            report(model, source, request)
        }
        (None, Some(variance)) => {
            if !(variance > 0.0 && variance.is_finite()) {
                return Err(Error::parameter(format!(
                    "the variance must be positive, not {variance}"
                )));
            }
            let model = Model {
                family: "gaussian",
                pair: GaussianMean { variance },
                default: "uniform",
                wrong: &anything,
                maximum: &|stats| {
                    if stats.weight <= 0.0 {
                        return Err(crate::family::nothing_seen());
                    }
                    let fitted = Gaussian {
                        mean: stats.mean,
                        variance,
                    };
                    Ok(Maximum::of(&fitted, fitted.log_likelihood(stats)))
                },
                unbiased: &no_bias,
                predictive: "gaussian",
                shift: 0.0,
            };
            report(model, source, request)
        }
        (Some(mean), None) => {
            if !mean.is_finite() {
                return Err(Error::parameter("the mean must be a number"));
            }
            let model = Model {
                family: "gaussian",
                pair: GaussianPrecision { mean },
                default: "jeffreys",
                wrong: &anything,
                maximum: &|stats| {
                    let shift = stats.mean - mean;
                    let variance = stats.scatter / stats.weight + shift * shift;
                    let fitted = Gaussian::new(mean, variance).map_err(|_| {
                        Error::numeric("the variance of the rows about the mean is not positive")
                    })?;
                    Ok(Maximum::of(&fitted, fitted.log_likelihood(stats)))
                },
                unbiased: &no_bias,
                predictive: "student-t",
                shift: 0.0,
            };
            report(model, source, request)
        }
    }
}

fn log_normal(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let model = Model {
        family: "log-normal",
        pair: LogNormalBoth,
        default: "reference",
        wrong: &positive,
        maximum: &|stats| {
            let fitted = LogNormal::estimate(stats)?;
            Ok(Maximum::of(&fitted, fitted.log_likelihood_of(stats)))
        },
        unbiased: &|stats| {
            let variance = stats.scatter / (stats.weight - 1.0);
            (stats.weight > 1.0).then(|| Numbers(vec![("log_variance".into(), variance)]))
        },
        predictive: "log of student-t",
        shift: 0.0,
    };
    report(model, source, request)
}

fn student_t(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let infinite = (0.0, f64::INFINITY);
    sampled::report::<StudentT>(
        source,
        request,
        &[
            ("location", (f64::NEG_INFINITY, f64::INFINITY), "1", false),
            ("scale", infinite, "1/x", false),
            ("degrees", infinite, "gamma(2,0.1)", true),
        ],
        "a number",
        |x| StudentT::new(x[0], x[1], x[2]),
        |cells| {
            let points = Points::new(cells.iter().copied());
            let deviation = points.variance().sqrt();
            vec![
                points.mean(),
                if deviation > 0.0 { deviation } else { 1.0 },
                5.0,
            ]
        },
    )
}

fn von_mises(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    super::rows::each(source, anything, |row, _| {
        least = least.min(row[0]);
        most = most.max(row[0]);
    })?;
    let mut estimate = sampled::report::<VonMises>(
        source,
        request,
        &[
            (
                "direction",
                (f64::NEG_INFINITY, f64::INFINITY),
                "1 if -pi < x <= pi else 0",
                false,
            ),
            (
                "concentration",
                (0.0, f64::INFINITY),
                "log_normal(0,4)",
                true,
            ),
        ],
        "a number",
        |x| VonMises::new(x[0], x[1]),
        |_| vec![0.0, 1.0],
    )?;
    if most - least > std::f64::consts::TAU * (1.0 + 1e-9) {
        estimate.notes.push(
            "the angles span more than a turn; they are taken as radians (divide degrees by \
             57.29578)"
                .into(),
        );
    }
    Ok(estimate)
}

fn uniform(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let model = Model {
        family: "uniform",
        pair: UniformEnds,
        default: "reference",
        wrong: &anything,
        maximum: &|stats| {
            let fitted = Uniform::estimate(stats)?;
            Ok(Maximum::of(&fitted, fitted.log_likelihood_of(stats)))
        },
        unbiased: &|stats| {
            let n = stats.weight();
            let fitted = Uniform::estimate(stats).ok().filter(|_| n > 1.0)?;
            let reach = (fitted.high - fitted.low) / (n - 1.0);
            Some(Numbers(vec![
                ("low".into(), fitted.low - reach),
                ("high".into(), fitted.high + reach),
            ]))
        },
        predictive: "uniform of uncertain ends",
        shift: 0.0,
    };
    report(model, source, request)
}
