//! Distributions of one number by name and numbers, as users write them:
//! `gamma(2, 0.5)`.

use super::{
    Bernoulli, Beta, Binomial, Exponential, Gamma, Gaussian, Geometric, InverseGamma, LogNormal,
    NegativeBinomial, Poisson, StudentT, Uniform, Univariate, VonMises, ZeroInflatedPoisson,
    is_count,
};
use crate::{Error, Result};
use std::sync::Arc;

/// A distribution by its family's name and its numbers.
///
/// ```
/// use abduce::family::named;
/// assert_eq!(named("gamma", &[2.0, 0.5])?.mean(), Some(4.0));
/// assert!(named("gamma", &[2.0]).is_err());
/// # Ok::<(), abduce::Error>(())
/// ```
///
/// # Errors
/// If there is no such family, or its numbers are not as many or out of range.
pub fn named(name: &str, numbers: &[f64]) -> Result<Arc<dyn Univariate>> {
    fn own<D: Univariate + 'static>(distribution: Result<D>) -> Result<Arc<dyn Univariate>> {
        Ok(Arc::new(distribution?))
    }
    let within = |ok: bool, what: &str| match ok {
        true => Ok(()),
        false => Err(Error::parameter(format!("{name}: {what}"))),
    };
    let probability = |p: f64| within((0.0..=1.0).contains(&p), "a probability is from 0 to 1");
    let positive = |x: f64| within(x > 0.0 && x.is_finite(), "the number must be positive");
    match (name, numbers) {
        ("bernoulli", &[p]) => own(probability(p).map(|()| Bernoulli { probability: p })),
        ("binomial", &[n, p]) => {
            let whole = is_count(n) && n <= 1e15;
            within(whole, "the number of trials is a whole number")?;
            own(Binomial::new(n as u64, p))
        }
        ("geometric", &[p]) => own(Geometric::new(p)),
        ("negative-binomial", &[size, p]) => own(NegativeBinomial::new(size, p)),
        ("poisson", &[rate]) => {
            let ok = rate >= 0.0 && rate.is_finite();
            own(within(ok, "the rate must be 0 or more").map(|()| Poisson { rate }))
        }
        ("zero-inflated-poisson", &[inflation, rate]) => {
            own(ZeroInflatedPoisson::new(inflation, rate))
        }
        ("exponential", &[rate]) => own(positive(rate).map(|()| Exponential { rate })),
        ("gamma", &[shape, rate]) => own(Gamma::new(shape, rate)),
        ("inverse-gamma", &[shape, scale]) => {
            own(positive(shape.min(scale)).map(|()| InverseGamma { shape, scale }))
        }
        ("beta", &[a, b]) => own(Beta::new(a, b)),
        ("gaussian" | "normal", &[mean, variance]) => own(Gaussian::new(mean, variance)),
        ("log-normal", &[mean, variance]) => own(LogNormal::new(mean, variance)),
        ("student-t", &[location, scale, degrees]) => own(StudentT::new(location, scale, degrees)),
        ("von-mises", &[direction, concentration]) => own(VonMises::new(direction, concentration)),
        ("uniform", &[low, high]) => own(Uniform::new(low, high)),
        _ => {
            let known = SIGNATURES
                .iter()
                .find(|own| own.starts_with(&format!("{name}(")));
            Err(Error::parameter(format!(
                "there is no distribution {name} of {} numbers",
                numbers.len()
            ))
            .with_hint(match known {
                Some(known) => format!("write {known}"),
                None => format!("the distributions are {}", SIGNATURES.join(", ")),
            }))
        }
    }
}

const SIGNATURES: &[&str] = &[
    "bernoulli(probability)",
    "binomial(trials,probability)",
    "geometric(probability)",
    "negative-binomial(size,probability)",
    "poisson(rate)",
    "zero-inflated-poisson(inflation,rate)",
    "exponential(rate)",
    "gamma(shape,rate)",
    "inverse-gamma(shape,scale)",
    "beta(a,b)",
    "gaussian(mean,variance)",
    "log-normal(mean,variance)",
    "student-t(location,scale,degrees)",
    "von-mises(direction,concentration)",
    "uniform(low,high)",
];
