//! Conjunctions over categorical attributes: each attribute must have a given value or may
//! have any (`?`), as in ⟨sunny, ?, strong⟩; ∅ accepts no instance. There are
//! 1 + ∏(values + 1) conjunctions.
//!
//! A missing value is uniformly distributed over the attribute's values, so that a hypothesis
//! accepts an instance with missing values with probability p_h(x) = ∏ P(constraint met).

use super::count::Count;
use super::space::Space;
use crate::data::{Field, listed};
use crate::{Error, Result};

/// A hypothesis: constraints on the attributes of an instance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Conjunction {
    /// ∅: accepts no instance.
    Nothing,
    /// The code of the required value of each attribute; `None` if any value is allowed.
    Constraints(Vec<Option<u32>>),
}

impl Conjunction {
    /// Whether this accepts every instance that the other accepts.
    ///
    /// ```
    /// use abduce::concept::Conjunction::{Constraints, Nothing};
    /// let sunny = Constraints(vec![Some(0), None]);
    /// let sunny_and_warm = Constraints(vec![Some(0), Some(1)]);
    /// assert!(sunny.is_as_general_as(&sunny_and_warm));
    /// assert!(!sunny_and_warm.is_as_general_as(&sunny));
    /// assert!(sunny.is_as_general_as(&Nothing));
    /// ```
    pub fn is_as_general_as(&self, other: &Conjunction) -> bool {
        match (self, other) {
            (_, Conjunction::Nothing) => true,
            (Conjunction::Nothing, _) => false,
            (Conjunction::Constraints(ours), Conjunction::Constraints(others)) => (ours.iter())
                .zip(others)
                .all(|(ours, other)| ours.is_none() || ours == other),
        }
    }
}

/// All conjunctions over some attributes.
///
/// ```
/// use abduce::concept::{Conjunctions, Space};
/// use abduce::data::{Field, Kind};
/// let days = Conjunctions::new(vec![
///     Field::with_levels("sky", Kind::Categorical, ["sunny", "cloudy", "rainy"]),
///     Field::with_levels("wind", Kind::Categorical, ["strong", "weak"]),
/// ])?;
/// assert_eq!(days.size().to_string(), "13");
/// let windy = days.conjunction(&["?", "strong"])?;
/// assert_eq!(days.describe(&windy), "<?, strong>");
/// assert_eq!(days.conjunction(&["wind=strong"])?, windy);
/// assert_eq!(days.probability(&windy, &[Some(0), Some(1)]), 0.0);
/// assert_eq!(days.probability(&windy, &[Some(0), None]), 0.5);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Conjunctions {
    attributes: Vec<Field>,
}

impl Conjunctions {
    /// All conjunctions over these attributes.
    ///
    /// # Errors
    /// If there is no attribute, or one does not have levels.
    pub fn new(attributes: Vec<Field>) -> Result<Conjunctions> {
        if attributes.is_empty() {
            return Err(Error::data("there are no attributes to learn from"));
        }
        if let Some(field) = attributes.iter().find(|field| !field.kind.is_coded()) {
            return Err(Error::data(format!(
                "a {} column cannot be an attribute of a conjunction",
                field.kind.name()
            ))
            .at_column(&field.name));
        }
        Ok(Conjunctions { attributes })
    }

    /// The attributes and their values.
    pub fn attributes(&self) -> &[Field] {
        &self.attributes
    }

    /// The number of values of an attribute.
    pub fn values(&self, attribute: usize) -> u32 {
        self.attributes[attribute].levels.len() as u32
    }

    /// The number of hypotheses.
    pub fn size(&self) -> Count {
        let choices = self.attributes.iter().map(|field| field.levels.len() + 1);
        let product = choices.fold(Count::from(1), |count, n| count.times(n as u128));
        product.plus(Count::from(1))
    }

    /// The hypothesis that accepts every instance.
    pub fn anything(&self) -> Conjunction {
        Conjunction::Constraints(vec![None; self.attributes.len()])
    }

    /// The probability that a cell meets a constraint.
    pub(super) fn probability_met(
        &self,
        attribute: usize,
        constraint: Option<u32>,
        cell: Option<u32>,
    ) -> f64 {
        match (constraint, cell) {
            (None, _) => 1.0,
            (Some(value), Some(cell)) => f64::from(u8::from(value == cell)),
            (Some(_), None) => 1.0 / f64::from(self.values(attribute)),
        }
    }

    /// A hypothesis as text, as in `<sunny, ?>`.
    pub fn describe(&self, hypothesis: &Conjunction) -> String {
        let Conjunction::Constraints(constraints) = hypothesis else {
            return "∅".into();
        };
        let shown = self.attributes.iter().zip(constraints);
        let shown: Vec<&str> = shown
            .map(|(field, constraint)| match constraint {
                Some(code) => field.levels.get(*code as usize).map_or("", String::as_str),
                None => "?",
            })
            .collect();
        format!("<{}>", shown.join(", "))
    }

    /// Parses a hypothesis, given by a value or `?` for every attribute, by
    /// `attribute=value` for some of them, or by `∅` alone.
    ///
    /// # Errors
    /// If there is no such attribute or value.
    pub fn conjunction(&self, parts: &[impl AsRef<str>]) -> Result<Conjunction> {
        let parts: Vec<&str> = parts.iter().map(|part| part.as_ref().trim()).collect();
        if parts == ["∅"] {
            return Ok(Conjunction::Nothing);
        }
        let named: Option<Vec<(usize, &str)>> = parts.iter().map(|part| self.named(part)).collect();
        let mut constraints = vec![None; self.attributes.len()];
        let given = match named {
            Some(named) => named,
            None if parts.len() == constraints.len() => parts.into_iter().enumerate().collect(),
            None => {
                let names = self.attributes.iter().map(|field| field.name.as_str());
                let is_unknown = |part: &&&str| part.contains('=') && self.named(part).is_none();
                let cut = parts
                    .iter()
                    .find(is_unknown)
                    .and_then(|p| p.split_once('='));
                return Err(Error::parameter(match cut {
                    Some((name, _)) => format!("there is no attribute \"{}\"", name.trim()),
                    None => format!(
                        "a hypothesis needs a value or ? for each of {} attributes, not {}",
                        constraints.len(),
                        parts.len()
                    ),
                })
                .with_hint(format!(
                    "the attributes are {}; some can be named, as in {}=…",
                    listed(names),
                    self.attributes[0].name
                )));
            }
        };
        for (attribute, value) in given {
            constraints[attribute] = match value {
                "?" => None,
                value => Some(self.attributes[attribute].find_code(value)?),
            };
        }
        Ok(Conjunction::Constraints(constraints))
    }

    /// Splits `attribute=value`, either of which may contain `=`.
    fn named<'t>(&self, part: &'t str) -> Option<(usize, &'t str)> {
        let mut cuts = part.match_indices('=');
        cuts.find_map(|(at, _)| {
            let name = part[..at].trim();
            let attribute = self.attributes.iter().position(|f| f.name == name)?;
            Some((attribute, part[at + 1..].trim()))
        })
    }
}

impl Space for Conjunctions {
    type Hypothesis = Conjunction;
    /// The code of every attribute's value, `None` if it is missing. A code beyond the
    /// attribute's values meets no constraint.
    type Instance = [Option<u32>];

    fn hypotheses(&self) -> impl Iterator<Item = Conjunction> {
        let mut next = Some(vec![None; self.attributes.len()]);
        let constraints = std::iter::from_fn(move || {
            let now = next.take()?;
            let mut after = now.clone();
            // Increments the last attribute (?, 0, 1, …), with carry.
            for attribute in (0..after.len()).rev() {
                let value = after[attribute].map_or(0, |value| value + 1);
                if value < self.values(attribute) {
                    after[attribute] = Some(value);
                    next = Some(after);
                    break;
                }
                after[attribute] = None;
            }
            Some(Conjunction::Constraints(now))
        });
        constraints.chain([Conjunction::Nothing])
    }

    fn probability(&self, hypothesis: &Conjunction, instance: &[Option<u32>]) -> f64 {
        let Conjunction::Constraints(constraints) = hypothesis else {
            return 0.0;
        };
        let pairs = constraints.iter().zip(instance).enumerate();
        pairs
            .map(|(attribute, (constraint, cell))| {
                self.probability_met(attribute, *constraint, *cell)
            })
            .product()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Kind;
    use std::collections::HashSet;

    fn space(levels: &[u32]) -> Conjunctions {
        let fields = levels.iter().enumerate().map(|(a, n)| {
            let levels = (0..*n).map(|value| format!("v{value}"));
            Field::with_levels(format!("a{a}"), Kind::Categorical, levels)
        });
        Conjunctions::new(fields.collect()).unwrap()
    }

    #[test]
    fn every_hypothesis_is_enumerated_once() {
        for levels in [&[2, 3][..], &[1], &[0, 2], &[3, 1, 2]] {
            let space = space(levels);
            let all: Vec<Conjunction> = space.hypotheses().collect();
            let different: HashSet<&Conjunction> = all.iter().collect();
            assert_eq!(all.len(), different.len());
            assert_eq!(space.size().exact(), Some(all.len() as u128));
        }
        let mitchell = space(&[3, 2, 2, 2, 2, 2]);
        assert_eq!(mitchell.size().exact(), Some(973));
    }

    #[test]
    fn more_general_hypotheses_accept_more() {
        let space = space(&[2, 2]);
        let all: Vec<Conjunction> = space.hypotheses().collect();
        let instances = [[0, 0], [0, 1], [1, 0], [1, 1]].map(|x| x.map(Some));
        for a in &all {
            for b in &all {
                let accepts = |h: &Conjunction, x: &[Option<u32>]| space.probability(h, x) == 1.0;
                let wider = instances.iter().all(|x| !accepts(b, x) || accepts(a, x));
                assert_eq!(a.is_as_general_as(b), wider, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn a_missing_value_is_the_mean_over_all_values() {
        let space = space(&[3, 2]);
        for h in space.hypotheses() {
            let full = |v: u32| space.probability(&h, &[Some(v), Some(1)]);
            let mean = (full(0) + full(1) + full(2)) / 3.0;
            assert!((space.probability(&h, &[None, Some(1)]) - mean).abs() < 1e-15);
        }
    }

    #[test]
    fn descriptions_are_parsed_back() {
        let space = space(&[2, 2, 1]);
        for h in space.hypotheses() {
            let text = space.describe(&h);
            let inner = text.trim_matches(['<', '>']);
            let parts: Vec<&str> = inner.split(',').collect();
            assert_eq!(space.conjunction(&parts).unwrap(), h, "{text}");
        }
        let named = space.conjunction(&["a1 = v0"]).unwrap();
        assert_eq!(space.describe(&named), "<?, v0, ?>");
        for (parts, word) in [
            (&["v0", "v1"][..], "3 attributes, not 2"),
            (&["v0", "v1", "w0"], "did you mean v0"),
            (&["a9=v0"], "no attribute \"a9\""),
        ] {
            let error = space.conjunction(parts).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
