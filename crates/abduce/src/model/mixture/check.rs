//! Whether a mixture read from a file can be used without surprises: every length and
//! position agrees with every other, every parameter is in its range. Errors name the
//! place in the file, as a path of keys.

use crate::data::{Field, Kind};
use crate::family::{Distribution, Family as _, Gaussian, Statistics, Validate as _};
use crate::leaf::{Leaf, TableSummary};
use crate::model::mixture::FittedMixture;
use crate::validate::{contradiction, countable, not_negative, probabilities, same_length};
use crate::{Error, Result};

impl FittedMixture {
    /// Checks that all parts fit together.
    ///
    /// # Errors
    /// If two do not, as in a damaged file.
    pub fn check(&self) -> Result<()> {
        self.check_weights()?;
        self.check_target()?;
        self.check_noise()?;
        self.check_lengths()?;
        let mut used = vec![false; self.schema.fields.len()];
        for (number, leaf) in self.leaves.iter().enumerate() {
            self.check_columns(number, leaf, &mut used)?;
            self.check_leaf(number, leaf)?;
        }
        self.check_unseen()?;
        self.check_summary()
    }

    fn check_weights(&self) -> Result<()> {
        let k = self.components();
        if k == 0 {
            return Err(contradiction(
                "body.parameters.weights",
                "there is no component",
            ));
        }
        probabilities("body.parameters.weights", &self.parameters.weights)?;
        if let Some(given) = &self.given_weights {
            probabilities("body.given_weights", given)?;
            same_length("body.given_weights", given.len(), k, PARAMETER_WEIGHTS)?;
        }
        not_negative("body.weight_smoothing", [&self.weight_smoothing])?;
        let statistics = &self.statistics;
        let place = "body.statistics.weights";
        same_length(place, statistics.weights.len(), k, PARAMETER_WEIGHTS)?;
        not_negative(place, &statistics.weights)?;
        not_negative("body.statistics.total", [&statistics.total])
    }

    fn check_target(&self) -> Result<()> {
        let Some(target) = self.target else {
            return Ok(());
        };
        match self.schema.fields.get(target) {
            Some(field) if field.kind.is_coded() => {
                let place = format!("body.schema.fields[{target}].levels");
                same_length(
                    &place,
                    field.levels.len(),
                    self.components(),
                    PARAMETER_WEIGHTS,
                )
            }
            Some(_) => Err(contradiction(
                "body.target",
                "the target column has no levels",
            )),
            None => Err(no_such_column("body.target", target)),
        }
    }

    /// Noise is a component, so all leaves describe it or none does.
    fn check_noise(&self) -> Result<()> {
        // A constant column has one distribution in all components.
        let lacks_noise = |leaf: &Leaf| leaf.noise.is_none() && !leaf.fixed;
        let Some(odd) = self.leaves.iter().position(lacks_noise) else {
            return Ok(());
        };
        let place = format!("body.leaves[{odd}].noise");
        if self.has_noise() {
            return Err(contradiction(
                &place,
                "missing, but other leaves have noise",
            ));
        }
        Ok(())
    }

    fn check_lengths(&self) -> Result<()> {
        let (leaves, k) = (self.leaves.len(), self.components());
        let parameters = &self.parameters.leaves;
        let statistics = &self.statistics.leaves;
        same_length(
            "body.parameters.leaves",
            parameters.len(),
            leaves,
            "body.leaves",
        )?;
        same_length(
            "body.statistics.leaves",
            statistics.len(),
            leaves,
            "body.leaves",
        )?;
        for number in 0..leaves {
            let place = format!("body.parameters.leaves[{number}]");
            same_length(&place, parameters[number].len(), k, PARAMETER_WEIGHTS)?;
            let place = format!("body.statistics.leaves[{number}]");
            same_length(&place, statistics[number].len(), k, PARAMETER_WEIGHTS)?;
        }
        Ok(())
    }

    fn check_columns(&self, number: usize, leaf: &Leaf, used: &mut [bool]) -> Result<()> {
        let place = format!("body.leaves[{number}]");
        if leaf.columns.len() != leaf.family.columns() || leaf.columns.is_empty() {
            let (columns, family) = (leaf.columns.len(), leaf.family.columns());
            let what = format!("{columns} columns for a family over {family}");
            return Err(contradiction(&format!("{place}.columns"), what));
        }
        for column in &leaf.columns {
            let place = format!("{place}.columns");
            let Some(field) = self.schema.fields.get(*column) else {
                return Err(no_such_column(&place, *column));
            };
            if used[*column] || self.target == Some(*column) {
                let twice = format!("column \"{}\" is modelled twice", field.name);
                return Err(contradiction(&place, twice));
            }
            used[*column] = true;
            if !leaf.suits(field) {
                let family = leaf.family.name();
                let unsuited = format!("column \"{}\" is not for the family {family}", field.name);
                return Err(contradiction(&place, unsuited));
            }
        }
        Ok(())
    }

    fn check_leaf(&self, number: usize, leaf: &Leaf) -> Result<()> {
        let k = self.components();
        let name = &self.schema.fields[leaf.columns[0]].name;
        let family = leaf.family.name();
        let wrong = |place: String| {
            let what = format!("not a valid {family} of column \"{name}\"");
            Err(contradiction(&place, what))
        };
        if !leaf.family.is_consistent() {
            return wrong(format!("body.leaves[{number}]"));
        }
        let parameters = self.parameters.leaves[number].iter();
        let pairs = parameters.zip(&self.statistics.leaves[number]);
        let fits = |j: usize, d: &Distribution, s: &Statistics| match &leaf.noise {
            Some(noise) if j + 1 == k => d == noise && leaf.is_noise(noise),
            _ => leaf.family.describes(d, s),
        };
        for (j, (distribution, statistics)) in pairs.enumerate() {
            if !fits(j, distribution, statistics) {
                return wrong(format!(
                    "body.parameters.leaves[{number}][{j}] or body.statistics.leaves[{number}][{j}]"
                ));
            }
        }
        if leaf
            .held
            .iter()
            .any(|(j, distribution)| !leaf.can_be_fixed_to(*j, distribution, k))
        {
            return wrong(format!("body.leaves[{number}].held"));
        }
        Ok(())
    }

    fn check_unseen(&self) -> Result<()> {
        let place = "body.parameters.unseen";
        let unseen = &self.parameters.unseen;
        if unseen.is_empty() {
            return Ok(());
        }
        same_length(place, unseen.len(), self.leaves.len(), "body.leaves")?;
        for (number, probabilities) in unseen
            .iter()
            .enumerate()
            .filter(|(_, probabilities)| !probabilities.is_empty())
        {
            let place = format!("{place}[{number}]");
            same_length(
                &place,
                probabilities.len(),
                self.components(),
                PARAMETER_WEIGHTS,
            )?;
            if !probabilities.iter().all(|p| (0.0..=1.0).contains(p)) {
                return Err(contradiction(&place, "these are not probabilities"));
            }
        }
        Ok(())
    }

    /// Files of early versions have nothing here, and cannot be updated.
    fn check_summary(&self) -> Result<()> {
        let summary = &self.summary;
        if *summary == TableSummary::default() {
            return Ok(());
        }
        countable("body.seen.rows", summary.rows)?;
        let weights = [&summary.total, &summary.unlabelled, &summary.incomplete];
        not_negative("body.seen", weights)?;
        let fields = self.schema.fields.len();
        let place = "body.seen.columns";
        same_length(place, summary.columns.len(), fields, "body.schema.fields")?;
        if let Some(odd) =
            (summary.columns.iter()).position(|stats| !Gaussian::describes(&(), stats))
        {
            let place = format!("{place}[{odd}]");
            return Err(contradiction(&place, "a weight or a scatter is negative"));
        }
        if !summary.central.is_empty() {
            let place = "body.seen.central";
            same_length(place, summary.central.len(), fields, "body.schema.fields")?;
            not_negative(place, &summary.central)?;
        }
        Ok(())
    }
}

const PARAMETER_WEIGHTS: &str = "body.parameters.weights";

fn no_such_column(place: &str, column: usize) -> Error {
    contradiction(place, format!("there is no column {column}"))
}

impl Leaf {
    /// Whether a column can be one of this leaf's.
    fn suits(&self, field: &Field) -> bool {
        match self.family.levels() {
            // A binary column may have shown one of its two levels only.
            Some(2) if field.kind == Kind::Binary => (1..=2).contains(&field.levels.len()),
            Some(levels) => field.kind.is_coded() && field.levels.len() == levels,
            None if self.family.is_text() && !self.family.is_over_counts() => {
                field.kind == Kind::Text && self.family.terms() == Some(field.terms())
            }
            None => matches!(field.kind, Kind::Real | Kind::Count),
        }
    }

    /// Whether a distribution can be noise over its columns.
    fn is_noise(&self, noise: &Distribution) -> bool {
        match noise {
            Distribution::UniformBox(noise) => {
                noise.sides.len() == self.columns.len() && noise.is_valid(&noise.shape())
            }
            noise => self.family.describes(noise, &self.family.zero()),
        }
    }

    /// Whether a component, one of `components`, can be fixed to a distribution.
    pub(super) fn can_be_fixed_to(
        &self,
        component: usize,
        held: &Distribution,
        components: usize,
    ) -> bool {
        component < components - usize::from(self.noise.is_some())
            && self.family.describes(held, &self.family.zero())
    }
}
