//! The settings of a mixture: method, covariance, tails, priors and fixed parts. Default settings
//! have no line, except the covariance.

use crate::render::Lines;
use crate::render::text_table::{counted, readable};
use abduce::estimate::Numbers;
use abduce::family::{Distribution, LeafFamily, MultivariateStudentT};
use abduce::leaf::Unseen;
use abduce::learn::{Acceleration, EStep, EmOptions};
use abduce::model::mixture::{ClassPrior, FitOptions, FittedMixture, Held, Specification};

/// The lines of a mixture.
pub fn lines(
    mixture: &FittedMixture,
    specification: &Specification,
    options: &FitOptions,
) -> Lines {
    let class_prior = match &specification.class_prior {
        ClassPrior::Learned => String::new(),
        ClassPrior::Uniform => "uniform".into(),
        ClassPrior::Given(given) => {
            let shares = given.iter().map(|(name, share)| format!("{name} {share}"));
            shares.collect::<Vec<_>>().join(", ")
        }
    };
    let prior = specification.normal_prior;
    let ridge = match specification.ridge {
        0.0 => String::new(),
        ridge => format!("{} added to every variance", readable(ridge)),
    };
    let unit_share = match specification.unit_share {
        0.0 => String::new(),
        share => format!(
            "covariances are shrunk towards the identity by {}",
            readable(share)
        ),
    };
    let unseen = match specification.unseen {
        Unseen::Impossible => String::new(),
        Unseen::Missing => "treated as missing values".into(),
    };
    let mut lines = vec![
        ("method", method(&options.em)),
        ("covariance", covariance(mixture)),
        ("tails", tails(mixture)),
        (
            "start",
            options.start_by.as_ref().map_or(String::new(), |column| {
                format!("the levels of \"{column}\"")
            }),
        ),
        (
            "prior",
            prior.map_or(String::new(), |prior| prior.to_string()),
        ),
        ("ridge", ridge),
        ("unit share", unit_share),
        ("class prior", class_prior),
        ("unseen levels", unseen),
        ("fixed", fixed(specification)),
        ("tied", specification.tied.join(", ")),
    ];
    lines.retain(|(_, value)| !value.is_empty());
    lines.extend([
        ("smoothing", smoothing(specification)),
        ("class smoothing", readable(specification.weight_smoothing)),
        ("variance floor", readable(specification.variance_floor)),
    ]);
    lines
}

/// How levels are smoothed.
fn smoothing(specification: &Specification) -> String {
    let all = match specification.m_estimate {
        None => readable(specification.smoothing),
        Some(estimate) => {
            let proportions = if estimate.pooled {
                "in the proportions of the table"
            } else {
                "spread evenly"
            };
            format!(
                "m-estimate of {} rows {proportions}",
                readable(estimate.rows)
            )
        }
    };
    let each = specification
        .dirichlet
        .iter()
        .map(|(column, pseudocounts)| {
            let pseudocounts: Vec<String> =
                pseudocounts.iter().map(|count| readable(*count)).collect();
            format!("; {column} {}", pseudocounts.join(", "))
        });
    [all].into_iter().chain(each).collect()
}

fn method(options: &EmOptions) -> String {
    let mut parts = Vec::new();
    match (&options.online, options.step) {
        (Some(online), _) => parts.push(format!(
            "online, batches of {}, at most {} over the rows",
            counted(online.batch as u64, "row"),
            match online.passes {
                1 => "1 pass".into(),
                many => format!("{many} passes"),
            }
        )),
        (None, EStep::Soft) => {}
        (None, EStep::Hard) => parts.push("hard".into()),
        (None, EStep::Sampled) => parts.push(format!(
            "stochastic, {}",
            counted(options.rounds as u64, "round")
        )),
    }
    match options.acceleration {
        Acceleration::Auto => {}
        Acceleration::None => parts.push("no accelerated steps".into()),
        Acceleration::Squarem => parts.push("squarem".into()),
    }
    parts.join("; ")
}

fn fixed(specification: &Specification) -> String {
    let weights = specification.weights.as_ref().map(|weights| {
        let shares: Vec<String> = weights.iter().map(|share| share.to_string()).collect();
        format!("weights={}", shares.join(","))
    });
    let held = specification.held.iter().map(held_text);
    held.chain(weights).collect::<Vec<_>>().join("; ")
}

/// The fixed distribution of a column, with its parameters if there are few.
fn held_text(held: &Held) -> String {
    const MAX_SHOWN: usize = 4;
    let numbers = Numbers::of(&held.distribution).0;
    let parameters = if numbers.len() <= MAX_SHOWN {
        let numbers = numbers
            .iter()
            .map(|(name, x)| format!("{name} {}", readable(*x)));
        format!("({})", numbers.collect::<Vec<_>>().join(", "))
    } else {
        String::new()
    };
    let name = held.distribution.name();
    format!("{}:{}={name}{parameters}", held.component + 1, held.column)
}

/// The covariance of a model with mclust's code; empty if it has none.
pub fn covariance(mixture: &FittedMixture) -> String {
    let structure = mixture.leaves.iter().find_map(|leaf| match &leaf.family {
        LeafFamily::Multivariate { shape, .. } => Some(shape.structure),
        LeafFamily::MultivariateStudentT { shape, .. } => Some(shape.structure),
        _ => None,
    });
    structure.map_or(String::new(), |structure| {
        let (name, code) = (structure.name(), structure.code());
        if name == code {
            name.to_string()
        } else {
            format!("{name} ({code})")
        }
    })
}

/// The tails of a model with their degrees of freedom; empty if they are Gaussian.
pub fn tails(mixture: &FittedMixture) -> String {
    let distributions = mixture.parameters.leaves.iter().flatten();
    let learned = mixture.leaves.iter().any(|leaf| {
        matches!(&leaf.family, LeafFamily::MultivariateStudentT { shape, .. } if shape.degrees.is_none())
    });
    let most = MultivariateStudentT::MAX_LEARNED;
    let degrees = distributions.filter_map(|distribution| match distribution {
        Distribution::MultivariateStudentT(t) if learned && t.degrees >= most => {
            Some(format!("{} or more", readable(t.degrees)))
        }
        Distribution::MultivariateStudentT(t) => Some(readable(t.degrees)),
        _ => None,
    });
    let mut degrees: Vec<String> = degrees.collect();
    degrees.dedup();
    if degrees.is_empty() {
        return String::new();
    }
    let mut text = format!("student-t, degrees of freedom {}", degrees.join(", "));
    // Tied and fixed columns keep a univariate Gaussian.
    let alone = mixture.leaves.iter().filter(|leaf| {
        let gaussian = matches!(leaf.family, LeafFamily::Gaussian { .. });
        gaussian && (leaf.tied || !leaf.held.is_empty())
    });
    let alone = alone.flat_map(|leaf| &leaf.columns);
    let alone: Vec<&str> = alone
        .map(|column| mixture.schema.fields[*column].name.as_str())
        .collect();
    if !alone.is_empty() {
        text.push_str(&format!("; a Gaussian in {}", alone.join(", ")));
    }
    text
}
