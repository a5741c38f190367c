//! The version space of conjunctions, represented by its boundaries (candidate elimination,
//! Mitchell 1982): S, the most specific hypotheses that fit all examples, and G, the most
//! general ones. A hypothesis fits all examples exactly if it lies between a member of S and a
//! member of G.
//!
//! An example with missing values excludes only hypotheses that misclassify it for all values
//! of the missing cells.

use super::conjunction::{Conjunction, Conjunctions};
use super::examples::{Decisive, Example, Examples};
use super::space::Space;
use crate::{Error, Result};

/// S and G; both are empty if no hypothesis fits all examples.
///
/// ```
/// use abduce::concept::{Boundaries, Conjunctions, Examples};
/// use abduce::data::{Field, Kind};
/// let days = Conjunctions::new(vec![
///     Field::with_levels("sky", Kind::Categorical, ["sunny", "rainy"]),
///     Field::with_levels("wind", Kind::Categorical, ["strong", "weak"]),
/// ])?;
/// let mut examples = Examples::default();
/// examples.add(&[Some(0), Some(0)], true, 1.0);
/// examples.add(&[Some(1), Some(1)], false, 1.0);
/// let fitting = Boundaries::new(&days, &examples)?;
/// assert_eq!(days.describe(&fitting.specific[0]), "<sunny, strong>");
/// assert_eq!(fitting.general.len(), 2);
/// assert!(fitting.contains(&days.conjunction(&["sunny", "?"])?));
/// assert!(!fitting.contains(&days.anything()));
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Boundaries {
    /// S: the most specific hypotheses.
    pub specific: Vec<Conjunction>,
    /// G: the most general hypotheses.
    pub general: Vec<Conjunction>,
}

impl Boundaries {
    /// The largest size of S or G. G can grow exponentially with the number of negative
    /// examples (Haussler 1988).
    pub const LIMIT: usize = 5000;

    /// Computes the boundaries.
    ///
    /// # Errors
    /// If one has more than about [`LIMIT`](Self::LIMIT) members, or the examples do not match
    /// the attributes of the space.
    pub fn new(space: &Conjunctions, examples: &Examples) -> Result<Boundaries> {
        examples.check(space)?;
        let decisive = Decisive::new(space, examples);
        let mut specific = specific(space, &decisive)?;
        let mut general = general(space, &decisive)?;
        if !decisive.positive {
            specific = vec![Conjunction::Nothing];
            if general.is_empty() {
                general = vec![Conjunction::Nothing];
            }
        }
        Ok(Boundaries { specific, general })
    }

    /// Whether no hypothesis fits all examples.
    pub fn is_empty(&self) -> bool {
        self.specific.is_empty()
    }

    /// Whether a hypothesis fits all examples.
    pub fn contains(&self, hypothesis: &Conjunction) -> bool {
        let above = |s: &Conjunction| hypothesis.is_as_general_as(s);
        let below = |g: &Conjunction| g.is_as_general_as(hypothesis);
        self.specific.iter().any(above) && self.general.iter().any(below)
    }

    fn too_many(name: &str) -> Error {
        Error::data(format!(
            "the {name} boundary has too many hypotheses to list"
        ))
        .with_hint("leave attributes out with `drop`")
    }
}

/// The conjunctions with a constraint on every attribute whose value all positive examples
/// share. If all of them lack the value, each possible value gives a conjunction.
fn specific(space: &Conjunctions, decisive: &Decisive) -> Result<Vec<Conjunction>> {
    if !decisive.positive {
        return Ok(Vec::new());
    }
    let mut found = vec![Vec::new()];
    for allowed in &decisive.allowed {
        let mut values: Vec<Option<u32>> = allowed.iter().copied().map(Some).collect();
        if values.is_empty() {
            values.push(None);
        }
        if found.len() * values.len() > Boundaries::LIMIT {
            return Err(Boundaries::too_many("specific"));
        }
        let longer = |start: &Vec<Option<u32>>| {
            let start = start.clone();
            let ends = values.iter();
            ends.map(move |value| [&start[..], &[*value]].concat())
                .collect::<Vec<_>>()
        };
        found = found.iter().flat_map(longer).collect();
    }
    let fits = |h: &Conjunction| !decisive.negatives.iter().any(|n| accepts(space, h, n));
    let found = found.into_iter().map(Conjunction::Constraints);
    Ok(found.filter(fits).collect())
}

/// The most general conjunctions: `?` everywhere, specialised minimally to reject each
/// negative example in turn.
fn general(space: &Conjunctions, decisive: &Decisive) -> Result<Vec<Conjunction>> {
    let mut general = vec![space.anything()];
    for negative in &decisive.negatives {
        let (wrong, mut right): (Vec<_>, Vec<_>) = general
            .into_iter()
            .partition(|g| accepts(space, g, negative));
        let mut narrowed: Vec<Conjunction> = (wrong.iter())
            .flat_map(|g| specializations(g, decisive))
            .filter(|g| !accepts(space, g, negative))
            .filter(|g| !right.iter().any(|other| other.is_as_general_as(g)))
            .take(4 * Boundaries::LIMIT)
            .collect();
        if narrowed.len() == 4 * Boundaries::LIMIT {
            return Err(Boundaries::too_many("general"));
        }
        keep_most_general(&mut narrowed);
        right.append(&mut narrowed);
        if right.len() > Boundaries::LIMIT {
            return Err(Boundaries::too_many("general"));
        }
        general = right;
    }
    // A fixed order, whatever the order of the examples.
    general.sort_by_key(|g| match g {
        Conjunction::Constraints(constraints) => {
            let named = constraints
                .iter()
                .map(|c| c.map_or(u32::MAX, |value| value));
            named.collect()
        }
        Conjunction::Nothing => Vec::new(),
    });
    Ok(general)
}

/// The conjunctions with one more constraint.
fn specializations(general: &Conjunction, decisive: &Decisive) -> Vec<Conjunction> {
    let Conjunction::Constraints(constraints) = general else {
        return Vec::new();
    };
    let free = (0..constraints.len()).filter(|attribute| constraints[*attribute].is_none());
    let named = free.flat_map(|attribute| {
        let values = decisive.allowed[attribute].iter();
        values.map(move |value| (attribute, *value))
    });
    named
        .map(|(attribute, value)| {
            let mut more = constraints.clone();
            more[attribute] = Some(value);
            Conjunction::Constraints(more)
        })
        .collect()
}

/// Removes the hypotheses that are more specific than another.
fn keep_most_general(hypotheses: &mut Vec<Conjunction>) {
    let mut kept: Vec<Conjunction> = Vec::new();
    for hypothesis in hypotheses.drain(..) {
        if kept.iter().any(|other| other.is_as_general_as(&hypothesis)) {
            continue;
        }
        kept.retain(|other| !hypothesis.is_as_general_as(other));
        kept.push(hypothesis);
    }
    *hypotheses = kept;
}

/// Whether a hypothesis accepts an example for all values of its missing cells.
fn accepts(space: &Conjunctions, hypothesis: &Conjunction, example: &Example) -> bool {
    space.probability(hypothesis, &example.instance) == 1.0
}
