//! Distributions of one number, written by users as `gamma(2, 0.5)`. The same list gives the
//! densities in expressions of a prior.

use crate::family::{
    Bernoulli, Beta, Binomial, Distribution, Exponential, Gamma, Gaussian, Geometric, InverseGamma,
    LogNormal, NegativeBinomial, Poisson, StudentT, Uniform, Univariate, VonMises,
    ZeroInflatedPoisson, is_count,
};
use crate::{Error, Result};
use std::sync::Arc;

/// A distribution that users can name.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) name: &'static str,
    /// The names of its parameters, in order.
    pub(crate) numbers: &'static [&'static str],
    /// Whether it has a density over the real numbers.
    pub(crate) is_density: bool,
    /// The distribution with these parameters.
    pub(crate) build: fn(&[f64]) -> Result<Arc<dyn Univariate>>,
    /// Whether a column of a model may have it.
    is_leaf: bool,
    /// The same distribution as a leaf of a model.
    leaf: fn(&[f64]) -> Result<Option<Distribution>>,
}

impl PartialEq for Named {
    fn eq(&self, other: &Named) -> bool {
        self.name == other.name
    }
}

impl Named {
    /// The entry of a name, in which a dash may be an underscore.
    pub(crate) fn find(name: &str) -> Option<&'static Named> {
        let name = match name {
            "normal" => "gaussian".into(),
            name => name.replace('_', "-"),
        };
        DISTRIBUTIONS.iter().find(|named| named.name == name)
    }

    /// How it is written, with the names of its parameters.
    fn signature(&self) -> String {
        format!("{}({})", self.name, self.numbers.join(","))
    }
}

/// A distribution by the name of its family and its parameters.
///
/// ```
/// use abduce::family::named;
/// assert_eq!(named("gamma", &[2.0, 0.5])?.mean(), Some(4.0));
/// assert!(named("gamma", &[2.0]).is_err());
/// # Ok::<(), abduce::Error>(())
/// ```
///
/// # Errors
/// If there is no such family, or its parameters are too few, too many or out of range.
pub fn named(name: &str, numbers: &[f64]) -> Result<Arc<dyn Univariate>> {
    (known(name, numbers, |_| true)?.build)(numbers)
}

/// The names of the distributions, and of the parameters of each.
///
/// ```
/// use abduce::family::names_of_numbers;
/// assert!(names_of_numbers().any(|(name, numbers)| name == "gamma" && numbers == ["shape", "rate"]));
/// ```
pub fn names_of_numbers() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    DISTRIBUTIONS
        .iter()
        .map(|named| (named.name, named.numbers))
}

impl Distribution {
    /// A distribution that a column of a model may have, by the name of its family and its
    /// parameters.
    ///
    /// ```
    /// use abduce::family::Distribution;
    /// assert_eq!(Distribution::named("poisson", &[2.5])?.name(), "poisson");
    /// # Ok::<(), abduce::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`named`].
    pub fn named(name: &str, numbers: &[f64]) -> Result<Distribution> {
        let known = known(name, numbers, |named| named.is_leaf)?;
        (known.leaf)(numbers)?
            .ok_or_else(|| Error::parameter(format!("no column of a model can be {}", known.name)))
    }
}

impl Distribution {
    /// The distribution of one number, if it is one.
    pub fn univariate(&self) -> Option<&dyn Univariate> {
        Some(match self {
            Distribution::Gaussian(distribution) => distribution,
            Distribution::Categorical(distribution) => distribution,
            Distribution::Bernoulli(distribution) => distribution,
            Distribution::Poisson(distribution) => distribution,
            Distribution::Exponential(distribution) => distribution,
            Distribution::Gamma(distribution) => distribution,
            Distribution::LogNormal(distribution) => distribution,
            Distribution::StudentT(distribution) => distribution,
            Distribution::Beta(distribution) => distribution,
            Distribution::VonMises(distribution) => distribution,
            Distribution::Uniform(distribution) => distribution,
            Distribution::Geometric(distribution) => distribution,
            Distribution::NegativeBinomial(distribution) => distribution,
            Distribution::ZeroInflatedPoisson(distribution) => distribution,
            _ => return None,
        })
    }
}

/// The entry with this name and number of parameters.
fn known(name: &str, numbers: &[f64], among: impl Fn(&Named) -> bool) -> Result<&'static Named> {
    let known = Named::find(name).filter(|named| among(named));
    if let Some(named) = known.filter(|named| named.numbers.len() == numbers.len()) {
        return Ok(named);
    }
    Err(Error::parameter(format!(
        "there is no distribution {name} of {} numbers",
        numbers.len()
    ))
    .with_hint(match known {
        Some(known) => format!("write {}", known.signature()),
        None => {
            let all = DISTRIBUTIONS.iter().filter(|named| among(named));
            let all: Vec<String> = all.map(Named::signature).collect();
            format!("the distributions are {}", all.join(", "))
        }
    }))
}

/// The densities that an expression may name.
pub(crate) fn densities() -> impl Iterator<Item = &'static Named> {
    DISTRIBUTIONS.iter().filter(|named| named.is_density)
}

fn into_arc<D: Univariate + 'static>(distribution: Result<D>) -> Result<Arc<dyn Univariate>> {
    Ok(Arc::new(distribution?))
}

fn within<D>(ok: bool, what: &str, distribution: D) -> Result<D> {
    if ok {
        Ok(distribution)
    } else {
        Err(Error::parameter(what))
    }
}

fn is_positive(x: f64) -> bool {
    x > 0.0 && x.is_finite()
}

const COUNTS: bool = false;
const DENSITY: bool = true;
const LEAF: bool = true;
const ALONE: bool = false;

/// Expands the lines of the list: family, whether a column of a model may have it, name,
/// parameters, constructor.
macro_rules! distributions {
    (@leaf LEAF $build:expr) => { Some(Distribution::from($build?)) };
    (@leaf ALONE $build:expr) => { $build.ok().and(None) };
    ($($kind:ident $home:ident $name:literal ($($number:ident),*) => $build:expr;)*) => {
        static DISTRIBUTIONS: &[Named] = &[$(Named {
            name: $name,
            numbers: &[$(stringify!($number)),*],
            is_density: $kind,
            build: |numbers| match numbers {
                &[$($number),*] => into_arc($build),
                _ => Err(Error::parameter(concat!($name, " has other numbers"))),
            },
            is_leaf: $home,
            leaf: |numbers| Ok(match numbers {
                &[$($number),*] => distributions!(@leaf $home $build),
                _ => None,
            }),
        }),*];
    };
}

distributions! {
    COUNTS LEAF "bernoulli" (probability) => within(
        (0.0..=1.0).contains(&probability),
        "a probability is from 0 to 1",
        Bernoulli { probability },
    );
    COUNTS ALONE "binomial" (trials, probability) => within(
        is_count(trials) && trials <= 1e15,
        "the number of trials is a whole number up to 1e15",
        (),
    )
    .and_then(|()| Binomial::new(trials as u64, probability));
    COUNTS LEAF "geometric" (probability) => Geometric::new(probability);
    COUNTS LEAF "negative-binomial" (size, probability) => NegativeBinomial::new(size, probability);
    COUNTS LEAF "poisson" (rate) => within(
        rate >= 0.0 && rate.is_finite(),
        "the rate of a Poisson distribution must be 0 or more",
        Poisson { rate },
    );
    COUNTS LEAF "zero-inflated-poisson" (inflation, rate) => ZeroInflatedPoisson::new(inflation, rate);
    DENSITY LEAF "exponential" (rate) => within(
        is_positive(rate),
        "the rate of an exponential distribution must be positive",
        Exponential { rate },
    );
    DENSITY LEAF "gamma" (shape, rate) => Gamma::new(shape, rate);
    DENSITY ALONE "inverse-gamma" (shape, scale) => within(
        is_positive(shape) && is_positive(scale),
        "shape and scale of an inverse-gamma distribution must be positive",
        InverseGamma { shape, scale },
    );
    DENSITY LEAF "beta" (a, b) => Beta::new(a, b);
    DENSITY LEAF "gaussian" (mean, variance) => Gaussian::new(mean, variance);
    DENSITY LEAF "log-normal" (mean, variance) => LogNormal::new(mean, variance);
    DENSITY LEAF "student-t" (location, scale, degrees) => StudentT::new(location, scale, degrees);
    DENSITY LEAF "von-mises" (direction, concentration) => VonMises::new(direction, concentration);
    DENSITY LEAF "uniform" (low, high) => Uniform::new(low, high);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_as_they_may_be_written() {
        for name in ["student-t", "student_t"] {
            assert_eq!(named(name, &[0.0, 1.0, 5.0]).unwrap().mode(), 0.0);
        }
        assert_eq!(Named::find("normal"), Named::find("gaussian"));
        let hint = named("gamma", &[1.0]).unwrap_err().to_string();
        assert!(hint.contains("gamma(shape,rate)"), "{hint}");
        assert!(named("gamma", &[-1.0, 1.0]).is_err());
        assert!(
            named("gama", &[])
                .unwrap_err()
                .to_string()
                .contains("poisson(rate)")
        );
    }

    #[test]
    fn counts_are_discrete_and_densities_are_not() {
        for entry in DISTRIBUTIONS {
            let half = vec![0.5; entry.numbers.len()];
            let mut numbers = half.clone();
            numbers[0] = if entry.name == "binomial" { 3.0 } else { 0.25 };
            let distribution = (entry.build)(&numbers).unwrap();
            assert_eq!(
                distribution.is_discrete(),
                !entry.is_density,
                "{}",
                entry.name
            );
        }
    }
}
