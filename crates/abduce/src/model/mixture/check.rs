//! Whether a mixture read from a file can be asked without surprises: every
//! shape fits every other, every parameter is in its range.

use super::{Leaf, Mixture};
use crate::data::Kind;
use crate::family::{Distribution, Family as _, Statistics};
use crate::{Error, Result};

impl Mixture {
    /// Looks for contradictions.
    ///
    /// # Errors
    /// If there is one.
    pub fn check(&self) -> Result<()> {
        let wrong = |what: &str| Err(contradiction(what));
        let k = self.components();
        if k == 0 {
            return wrong("there is no component");
        }
        let weights = &self.parameters.weights;
        let sum: f64 = weights.iter().sum();
        if weights.iter().any(|w| !(0.0..=1.0).contains(w)) || (sum - 1.0).abs() > 1e-6 {
            return wrong("the weights are no probabilities");
        }
        if self.leaves.len() != self.parameters.leaves.len()
            || self.leaves.len() != self.statistics.leaves.len()
            || self.statistics.weights.len() != k
        {
            return wrong("leaves and parameters differ in number");
        }
        if let Some(target) = self.target {
            let field = self.schema.fields.get(target);
            if !field.is_some_and(|f| f.kind.is_coded() && f.levels.len() == k) {
                return wrong("the target's levels are not the components");
            }
        }
        let mut used = vec![false; self.schema.fields.len()];
        for (number, leaf) in self.leaves.iter().enumerate() {
            self.check_columns(leaf, &mut used)?;
            let own = &self.parameters.leaves[number];
            let statistics = &self.statistics.leaves[number];
            if own.len() != k || statistics.len() != k {
                return wrong("a leaf has not one distribution for each component");
            }
            let mut pairs = own.iter().zip(statistics).enumerate();
            let fits = |j: usize, d: &Distribution, s: &Statistics| match &leaf.noise {
                Some(noise) if j + 1 == k => d == noise && leaf.is_noise(noise),
                _ => leaf.family.describes(d, s),
            };
            if pairs.any(|(j, (d, s))| !fits(j, d, s))
                || leaf.held.iter().any(|(j, own)| !leaf.may_hold(*j, own, k))
            {
                let name = &self.schema.fields[leaf.columns[0]].name;
                let family = leaf.family.name();
                return wrong(&format!("the {family} of column \"{name}\" is not one"));
            }
        }
        Ok(())
    }

    fn check_columns(&self, leaf: &Leaf, used: &mut [bool]) -> Result<()> {
        if leaf.columns.len() != leaf.family.columns() || leaf.columns.is_empty() {
            return Err(contradiction(
                "a leaf has another number of columns than its family",
            ));
        }
        for column in &leaf.columns {
            let Some(field) = self.schema.fields.get(*column) else {
                return Err(contradiction("a leaf is over a column that is not there"));
            };
            let name = &field.name;
            if used[*column] || self.target == Some(*column) {
                return Err(contradiction(&format!(
                    "column \"{name}\" is modelled twice"
                )));
            }
            used[*column] = true;
            let fits = match leaf.family.levels() {
                Some(levels) => field.kind.is_coded() && field.levels.len() <= levels,
                None if leaf.family.is_text() && !leaf.family.is_over_counts() => {
                    field.kind == Kind::Text && leaf.family.terms() == Some(field.terms())
                }
                None => matches!(field.kind, Kind::Real | Kind::Count),
            };
            if !fits {
                let family = leaf.family.name();
                return Err(contradiction(&format!(
                    "column \"{name}\" is not for the family {family}"
                )));
            }
        }
        Ok(())
    }
}

impl Leaf {
    /// Whether a distribution can be noise over its columns.
    fn is_noise(&self, noise: &Distribution) -> bool {
        match noise {
            Distribution::UniformBox(own) => {
                own.sides.len() == self.columns.len() && own.is_valid(&own.shape())
            }
            own => self.family.describes(own, &self.family.zero()),
        }
    }

    /// Whether one of so many components can be held to a distribution.
    pub(super) fn may_hold(
        &self,
        component: usize,
        held: &Distribution,
        components: usize,
    ) -> bool {
        component < components - usize::from(self.noise.is_some())
            && self.family.describes(held, &self.family.zero())
    }
}

fn contradiction(what: &str) -> Error {
    Error::data(format!("the model file contradicts itself: {what}"))
}
