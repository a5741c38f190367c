//! The list of families that can be estimated. To add one, add its entry and its function.

use super::report::Estimate;
use super::{Request, counts, levels, numbers, together};
use crate::data::{Kind, Source};
use crate::{Error, Result};

/// A family that can be estimated.
pub(super) struct Entry {
    pub name: &'static str,
    /// The priors it takes besides those named without numbers, as users type them.
    pub priors: &'static str,
    /// The kind as which its columns are read; `None` if it takes both numbers and two levels.
    pub kind: Option<Kind>,
    /// The parameters that may be known.
    pub known: &'static [&'static str],
    /// Whether it takes several columns.
    pub several: bool,
    /// The error message for a number outside the family's domain.
    pub domain: fn(f64) -> Option<String>,
    pub estimate: fn(&dyn Source, &Request) -> Result<Estimate>,
}

const REAL: Option<Kind> = Some(Kind::Real);

const FAMILIES: &[Entry] = &[
    Entry {
        name: "bernoulli",
        priors: "beta(a,b)",
        kind: None,
        known: &[],
        several: false,
        domain: counts::zero_or_one,
        estimate: counts::bernoulli,
    },
    Entry {
        name: "binomial",
        priors: "beta(a,b)",
        kind: REAL,
        known: &["trials"],
        several: true,
        domain: counts::count,
        estimate: counts::binomial,
    },
    Entry {
        name: "categorical",
        priors: "dirichlet(a), or a number for each level, in numeric or alphabetical order",
        kind: Some(Kind::Categorical),
        known: &[],
        several: false,
        domain: numbers::anything,
        estimate: levels::categorical,
    },
    Entry {
        name: "multinomial",
        priors: "dirichlet(a), or a number for each column in their order",
        kind: REAL,
        known: &[],
        several: true,
        domain: counts::count,
        estimate: levels::multinomial,
    },
    Entry {
        name: "geometric",
        priors: "beta(a,b)",
        kind: REAL,
        known: &[],
        several: false,
        domain: counts::count,
        estimate: counts::geometric,
    },
    Entry {
        name: "negative-binomial",
        priors: "size=…; probability=…; beta(a,b), size known",
        kind: REAL,
        known: &["size"],
        several: false,
        domain: counts::count,
        estimate: counts::negative_binomial,
    },
    Entry {
        name: "poisson",
        priors: "gamma(shape,rate)",
        kind: REAL,
        known: &[],
        several: false,
        domain: counts::count,
        estimate: counts::poisson,
    },
    Entry {
        name: "zero-inflated-poisson",
        priors: "inflation=…; rate=…",
        kind: REAL,
        known: &[],
        several: false,
        domain: counts::count,
        estimate: counts::zero_inflated_poisson,
    },
    Entry {
        name: "exponential",
        priors: "gamma(shape,rate)",
        kind: REAL,
        known: &[],
        several: false,
        domain: numbers::not_negative,
        estimate: numbers::exponential,
    },
    Entry {
        name: "gamma",
        priors: "shape=…; rate=…; gamma(shape,rate), shape known",
        kind: REAL,
        known: &["shape"],
        several: false,
        domain: numbers::positive,
        estimate: numbers::gamma,
    },
    Entry {
        name: "beta",
        priors: "a=…; b=…",
        kind: REAL,
        known: &[],
        several: false,
        domain: numbers::share,
        estimate: numbers::beta,
    },
    Entry {
        name: "gaussian",
        priors: "normal-gamma(mean,strength,shape,rate); normal(mean,variance), variance known; gamma(shape,rate), mean known",
        kind: REAL,
        known: &["mean", "variance"],
        several: false,
        domain: numbers::anything,
        estimate: numbers::gaussian,
    },
    Entry {
        name: "log-normal",
        priors: "normal-gamma(mean,strength,shape,rate)",
        kind: REAL,
        known: &[],
        several: false,
        domain: numbers::positive,
        estimate: numbers::log_normal,
    },
    Entry {
        name: "student-t",
        priors: "location=…; scale=…; degrees=…",
        kind: REAL,
        known: &[],
        several: false,
        domain: numbers::anything,
        estimate: numbers::student_t,
    },
    Entry {
        name: "von-mises",
        priors: "direction=…; concentration=…",
        kind: REAL,
        known: &[],
        several: false,
        domain: numbers::anything,
        estimate: numbers::von_mises,
    },
    Entry {
        name: "uniform",
        priors: "bilateral-pareto(low,high,shape)",
        kind: REAL,
        known: &[],
        several: false,
        domain: numbers::anything,
        estimate: numbers::uniform,
    },
    Entry {
        name: "point-mass",
        priors: "",
        kind: REAL,
        known: &[],
        several: false,
        domain: numbers::anything,
        estimate: together::point_mass,
    },
    Entry {
        name: "multivariate-gaussian",
        priors: "normal-inverse-wishart(mean,strength,degrees,scale), one mean and scale for all columns",
        kind: REAL,
        known: &[],
        several: true,
        domain: numbers::anything,
        estimate: together::multivariate_gaussian,
    },
];

/// A line for each family: the priors it takes, and the parameters that may be known.
pub fn described_families() -> String {
    let lines = FAMILIES.iter().map(|family| {
        let known = match family.known {
            [] => String::new(),
            names => format!(" [known: {}]", names.join(", ")),
        };
        format!("  {:<22} {}{known}", family.name, family.priors)
            .trim_end()
            .to_string()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The names of the families that can be estimated.
pub fn families() -> Vec<&'static str> {
    FAMILIES.iter().map(|family| family.name).collect()
}

pub(super) fn find(name: &str) -> Result<&'static Entry> {
    let same = match name {
        "normal" => "gaussian",
        "student" | "t" => "student-t",
        "lognormal" => "log-normal",
        other => other,
    };
    FAMILIES
        .iter()
        .find(|family| family.name == same)
        .ok_or_else(|| {
            Error::parameter(format!("\"{name}\" is not a family that can be estimated"))
                .with_hint(format!("the families are {}", families().join(", ")))
        })
}
