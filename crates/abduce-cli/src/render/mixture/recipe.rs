//! The settings of a mixture: the method, the covariance and tails of its numbers, the priors,
//! and the fixed parts. Default settings have no line, except the covariance.

use crate::render::Lines;
use crate::render::text_table::{counted, readable};
use abduce::estimate::Numbers;
use abduce::family::{Distribution, LeafFamily, MultivariateStudentT};
use abduce::leaf::Unseen;
use abduce::learn::{Acceleration, EStep, EmOptions};
use abduce::model::mixture::{ClassPrior, FitOptions, Held, Mixture, Specification};

/// The lines of a mixture.
pub fn of(mixture: &Mixture, specification: &Specification, options: &FitOptions) -> Lines {
    let class_prior = match &specification.class_prior {
        ClassPrior::Learned => String::new(),
        ClassPrior::Uniform => "uniform".into(),
        ClassPrior::Given(given) => {
            let own = given.iter().map(|(name, share)| format!("{name} {share}"));
            own.collect::<Vec<_>>().join(", ")
        }
    };
    let prior = specification.normal_prior;
    let ridge = match specification.ridge {
        0.0 => String::new(),
        ridge => format!("{} added to every variance", readable(ridge)),
    };
    let unit_share = match specification.unit_share {
        0.0 => String::new(),
        share => format!("{} of every covariance is the unit matrix", readable(share)),
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
            options
                .start_by
                .as_ref()
                .map_or(String::new(), |own| format!("the levels of \"{own}\"")),
        ),
        ("prior", prior.map_or(String::new(), |own| own.to_string())),
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
        Some(own) => {
            let proportions = if own.pooled {
                "in the proportions of the table"
            } else {
                "spread evenly"
            };
            format!("m-estimate of {} rows {proportions}", readable(own.rows))
        }
    };
    let each = specification
        .dirichlet
        .iter()
        .map(|(column, pseudocounts)| {
            let pseudocounts: Vec<String> = pseudocounts.iter().map(|own| readable(*own)).collect();
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
    let weights = specification.weights.as_ref().map(|own| {
        let own: Vec<String> = own.iter().map(|share| share.to_string()).collect();
        format!("weights={}", own.join(","))
    });
    let held = specification.held.iter().map(held);
    held.chain(weights).collect::<Vec<_>>().join("; ")
}

/// What a column is held to; of several columns, their parameters are shown below.
fn held(own: &Held) -> String {
    const SHORT: usize = 4;
    let numbers = Numbers::of(&own.distribution).0;
    let inside = match numbers.len() <= SHORT {
        true => {
            let numbers = numbers
                .iter()
                .map(|(name, x)| format!("{name} {}", readable(*x)));
            format!("({})", numbers.collect::<Vec<_>>().join(", "))
        }
        false => String::new(),
    };
    let name = own.distribution.name();
    format!("{}:{}={name}{inside}", own.component + 1, own.column)
}

/// The covariance of a model's numbers, with mclust's code; nothing where it has none.
pub fn covariance(mixture: &Mixture) -> String {
    let structure = mixture.leaves.iter().find_map(|leaf| match &leaf.family {
        LeafFamily::Multivariate { shape, .. } => Some(shape.structure),
        LeafFamily::MultivariateStudentT { shape, .. } => Some(shape.structure),
        _ => None,
    });
    structure.map_or(String::new(), |own| match own.name() == own.code() {
        true => own.name().to_string(),
        false => format!("{} ({})", own.name(), own.code()),
    })
}

/// The tails of a model's numbers, with their degrees of freedom; nothing where they are a
/// Gaussian's.
pub fn tails(mixture: &Mixture) -> String {
    let own = mixture.parameters.leaves.iter().flatten();
    let learned = mixture.leaves.iter().any(|leaf| {
        matches!(&leaf.family, LeafFamily::MultivariateStudentT { shape, .. } if shape.degrees.is_none())
    });
    let most = MultivariateStudentT::MOST_LEARNED;
    let degrees = own.filter_map(|own| match own {
        Distribution::MultivariateStudentT(own) if learned && own.degrees >= most => {
            Some(format!("{} or more", readable(own.degrees)))
        }
        Distribution::MultivariateStudentT(own) => Some(readable(own.degrees)),
        _ => None,
    });
    let mut degrees: Vec<String> = degrees.collect();
    degrees.dedup();
    if degrees.is_empty() {
        return String::new();
    }
    let mut text = format!("student-t, degrees of freedom {}", degrees.join(", "));
    // What is tied or held stands by itself.
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
