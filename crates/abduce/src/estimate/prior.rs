//! Priors as users give them.

use crate::bayes::{Curve, Expression};
use crate::family::{Conjugate, Prior, densities};
use crate::{Error, Result};

/// A prior that a user gives.
#[derive(Clone, Debug, PartialEq)]
pub enum PriorChoice {
    /// A name with numbers, `beta(2,2)`; a name alone, `jeffreys`; or an
    /// expression of the parameter, `0.8 if x > 0.5 else 0.2`. For several
    /// parameters, `shape=gamma(2,1); rate=1/x`.
    Text(String),
    /// Points of a function that is linear between them.
    Table(Vec<(f64, f64)>),
}

/// `name(1, 2)` or `name`, if the text is nothing else.
pub(super) fn named(text: &str) -> Option<(String, Vec<f64>)> {
    let text = text.trim();
    let inside = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let name = |name: &str| -> Option<String> {
        let name = name.trim();
        let begins = name.chars().next().is_some_and(char::is_alphabetic);
        (begins && name.chars().all(inside)).then(|| name.replace('_', "-"))
    };
    let Some((before, rest)) = text.split_once('(') else {
        return Some((name(text)?, Vec::new()));
    };
    let numbers = rest.strip_suffix(')')?;
    let numbers: Option<Vec<f64>> = match numbers.trim() {
        "" => Some(Vec::new()),
        // Also as reports print it: a=2, b=2.
        numbers => numbers
            .split(',')
            .map(|x| x.rsplit('=').next()?.trim().parse().ok())
            .collect(),
    };
    Some((name(before)?, numbers?))
}

/// The meaning of a choice for a pair, with its text.
pub(super) enum Meaning<P> {
    Conjugate(P, String),
    Any(Curve, String),
}

/// A conjugate prior if the text names one, otherwise a curve.
pub(super) fn meaning<C: Conjugate>(
    pair: &C,
    choice: Option<&PriorChoice>,
    default: &str,
) -> Result<Meaning<C::Prior>> {
    let text = match choice {
        None => default,
        Some(PriorChoice::Table(points)) => {
            let curve = Curve::table(points.clone())?;
            return Ok(Meaning::Any(curve, "table".into()));
        }
        Some(PriorChoice::Text(text)) => text,
    };
    let conjugate = named(text).map(|(name, numbers)| pair.prior(&name, &numbers));
    let refused = match conjugate {
        Some(Ok(prior)) => return Ok(Meaning::Conjugate(prior, text.trim().to_string())),
        Some(Err(error)) => Some(error),
        None => None,
    };
    let names = pair.parameters();
    let curve = match (refused, names.as_slice()) {
        // A conjugate prior with wrong numbers is not tried as an expression.
        (Some(error), _) if named(text).is_some_and(|(name, _)| name == C::Prior::NAME) => {
            return Err(error);
        }
        (refused, [name]) => match expression(text, name) {
            Ok(curve) => curve,
            Err(error) => return Err(refused.unwrap_or(error)),
        },
        (Some(error), _) => return Err(error),
        (None, _) => {
            return Err(Error::parameter(format!(
                "\"{text}\" is not a prior of {}",
                names.join(" and ")
            ))
            .with_hint(format!(
                "write {}(…), or name the known parameter with `known`",
                C::Prior::NAME
            )));
        }
    };
    Ok(Meaning::Any(curve, text.trim().to_string()))
}

/// An expression of a parameter, which may be called x or by its name.
pub(super) fn expression(text: &str, name: &str) -> Result<Curve> {
    let variables = [name, "x", "theta", "θ"];
    // Names of densities may be written with a dash too.
    let dashed = densities()
        .map(|density| density.name)
        .filter(|name| name.contains('-'));
    let text = dashed.fold(text.to_string(), |text, name| {
        text.replace(name, &name.replace('-', "_"))
    });
    Ok(Curve::Expression(Expression::parse(&text, &variables)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::BernoulliProbability;

    #[test]
    fn names_with_numbers_are_told_from_expressions() {
        assert_eq!(named("beta(2, 3)"), Some(("beta".into(), vec![2.0, 3.0])));
        assert_eq!(named("beta(a=2, b=3)"), named("beta(2,3)"));
        assert_eq!(named(" jeffreys "), Some(("jeffreys".into(), vec![])));
        assert_eq!(named("normal_gamma(0,1,2,3)").unwrap().0, "normal-gamma");
        assert_eq!(named("0.8 if x > 0.5 else 0.2"), None);
        assert_eq!(named("beta(2,2) + 1"), None);
        assert_eq!(named("exp(-x)"), None);
    }

    #[test]
    fn a_wrong_conjugate_prior_is_not_taken_for_an_expression() {
        let meaning = |text: &str| {
            let choice = PriorChoice::Text(text.into());
            meaning(&BernoulliProbability, Some(&choice), "jeffreys")
        };
        assert!(matches!(meaning("beta(2,2)"), Ok(Meaning::Conjugate(..))));
        assert!(matches!(meaning("uniform"), Ok(Meaning::Conjugate(..))));
        assert!(matches!(meaning("uniform(0.2, 0.9)"), Ok(Meaning::Any(..))));
        assert!(matches!(
            meaning("probability*(1-probability)"),
            Ok(Meaning::Any(..))
        ));
        assert!(meaning("beta(2)").is_err());
        assert!(meaning("beta(-1,2)").is_err());
        assert!(meaning("bta(2,2)").is_err());
    }
}
