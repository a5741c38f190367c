//! The list of families that can be estimated. A new one is a line in it and
//! its function.

use super::report::Estimate;
use super::{Request, counts, levels, numbers, together};
use crate::data::{Kind, Source};
use crate::{Error, Result};

/// A family that can be estimated.
pub(super) struct Entry {
    pub name: &'static str,
    /// How its columns are read; `None` where two levels or numbers will do.
    pub kind: Option<Kind>,
    /// The parameters that may be known.
    pub known: &'static [&'static str],
    /// Whether it is over several columns.
    pub several: bool,
    pub estimate: fn(&dyn Source, &Request) -> Result<Estimate>,
}

const REAL: Option<Kind> = Some(Kind::Real);

const FAMILIES: &[Entry] = &[
    Entry {
        name: "bernoulli",
        kind: None,
        known: &[],
        several: false,
        estimate: counts::bernoulli,
    },
    Entry {
        name: "binomial",
        kind: REAL,
        known: &["trials"],
        several: false,
        estimate: counts::binomial,
    },
    Entry {
        name: "categorical",
        kind: Some(Kind::Categorical),
        known: &[],
        several: false,
        estimate: levels::categorical,
    },
    Entry {
        name: "multinomial",
        kind: REAL,
        known: &[],
        several: true,
        estimate: levels::multinomial,
    },
    Entry {
        name: "geometric",
        kind: REAL,
        known: &[],
        several: false,
        estimate: counts::geometric,
    },
    Entry {
        name: "negative-binomial",
        kind: REAL,
        known: &["size"],
        several: false,
        estimate: counts::negative_binomial,
    },
    Entry {
        name: "poisson",
        kind: REAL,
        known: &[],
        several: false,
        estimate: counts::poisson,
    },
    Entry {
        name: "zero-inflated-poisson",
        kind: REAL,
        known: &[],
        several: false,
        estimate: counts::zero_inflated_poisson,
    },
    Entry {
        name: "exponential",
        kind: REAL,
        known: &[],
        several: false,
        estimate: numbers::exponential,
    },
    Entry {
        name: "gamma",
        kind: REAL,
        known: &["shape"],
        several: false,
        estimate: numbers::gamma,
    },
    Entry {
        name: "beta",
        kind: REAL,
        known: &[],
        several: false,
        estimate: numbers::beta,
    },
    Entry {
        name: "gaussian",
        kind: REAL,
        known: &["mean", "variance"],
        several: false,
        estimate: numbers::gaussian,
    },
    Entry {
        name: "log-normal",
        kind: REAL,
        known: &[],
        several: false,
        estimate: numbers::log_normal,
    },
    Entry {
        name: "student-t",
        kind: REAL,
        known: &[],
        several: false,
        estimate: numbers::student_t,
    },
    Entry {
        name: "von-mises",
        kind: REAL,
        known: &[],
        several: false,
        estimate: numbers::von_mises,
    },
    Entry {
        name: "uniform",
        kind: REAL,
        known: &[],
        several: false,
        estimate: numbers::uniform,
    },
    Entry {
        name: "point-mass",
        kind: REAL,
        known: &[],
        several: false,
        estimate: together::point_mass,
    },
    Entry {
        name: "multivariate-gaussian",
        kind: REAL,
        known: &[],
        several: true,
        estimate: together::multivariate_gaussian,
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
