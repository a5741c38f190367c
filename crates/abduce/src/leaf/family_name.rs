//! The families that users may name for columns, and which kinds they fit.

use crate::data::{Field, Kind, SetByUser, family_option, kind_option};
use crate::family::{
    Bernoulli, Categorical, Family, Gaussian, LeafFamily, Poisson, Presence, Words,
};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The name of [`Words`] estimated from the documents of all other components.
pub(crate) const COMPLEMENT: &str = "complement";

/// A family that a user may name for a column.
///
/// ```
/// use abduce::leaf::FamilyName;
/// let name: FamilyName = "gamma".parse()?;
/// assert_eq!(name.name(), "gamma");
/// assert!("gama".parse::<FamilyName>().is_err());
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FamilyName(pub(crate) &'static str);

impl FamilyName {
    /// The name.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// The leaf of a column, if the family fits its kind.
    pub(crate) fn leaf(self, field: &Field) -> Option<LeafFamily> {
        let size = match field.kind {
            Kind::Text => field.terms(),
            _ => field.levels.len(),
        };
        let name = match (field.kind, self.0) {
            (Kind::Text, Bernoulli::NAME) => Presence::NAME,
            (Kind::Text, COMPLEMENT) => Words::NAME,
            (_, name) => name,
        };
        let mut leaf = LeafFamily::of_column(name, size)?;
        let named = field.set_by_user == SetByUser::Levels;
        match &mut leaf {
            LeafFamily::Words { shape, .. } => {
                shape.complement = self.0 == COMPLEMENT;
                shape.closed = named;
            }
            LeafFamily::Presence { shape, .. } => shape.closed = named,
            _ => {}
        }
        let fits = match leaf {
            _ if leaf.is_text() => field.kind == Kind::Text && size > 0,
            LeafFamily::Bernoulli { .. } => field.kind == Kind::Binary,
            // A column without levels has no values.
            _ if leaf.levels().is_some() => field.kind.is_coded() && size > 0,
            _ => matches!(field.kind, Kind::Real | Kind::Count),
        };
        fits.then_some(leaf)
    }

    /// Checks that a column can have this family.
    ///
    /// # Errors
    /// If its kind does not fit, with the options that make it fit or name a family that does.
    pub(crate) fn check(self, field: &Field) -> Result<()> {
        let unseen = field.kind.is_coded() && field.levels.is_empty();
        if unseen || self.leaf(field).is_some() {
            return Ok(());
        }
        let usual = family_option(&field.name, FamilyName::usual(field.kind).name());
        Err(Error::parameter(format!(
            "the family {} does not fit the kind {}",
            self.0,
            field.kind.name()
        ))
        .at_column(&field.name)
        .with_hint(match self.fitting_kind(field) {
            Some(kind) => {
                let kind = kind_option(&field.name, kind.name());
                format!("pass {kind} to change the kind, or {usual}")
            }
            None => format!("pass {usual} or leave the family out"),
        }))
    }

    /// A kind that this family fits and that the cells of a column can be read as.
    fn fitting_kind(self, field: &Field) -> Option<Kind> {
        let numbers = !field.kind.is_coded() || field.level_numbers().is_some();
        let possible = |kind: &Kind| match kind {
            Kind::Real => numbers && field.kind != Kind::Text,
            Kind::Categorical => field.kind != Kind::Text,
            Kind::Binary => field.levels.len() == 2,
            _ => false,
        };
        let kinds = [Kind::Real, Kind::Categorical, Kind::Binary].into_iter();
        kinds.filter(possible).find(|kind| {
            let levels = match kind {
                Kind::Real => Vec::new(),
                _ => vec!["0".to_string(), "1".to_string()],
            };
            let other = Field::with_levels(&field.name, *kind, levels);
            self.leaf(&other).is_some()
        })
    }

    /// The family of a column for which the user chooses none.
    pub(crate) fn usual(kind: Kind) -> FamilyName {
        FamilyName(match kind {
            Kind::Real => Gaussian::NAME,
            Kind::Text => Words::NAME,
            Kind::Count => Poisson::NAME,
            Kind::Binary => Bernoulli::NAME,
            Kind::Categorical | Kind::Ordinal => Categorical::NAME,
        })
    }
}

impl<'de> Deserialize<'de> for FamilyName {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}

impl FromStr for FamilyName {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let mut names = LeafFamily::column_families();
        names.push(COMPLEMENT);
        let known = names.iter().find(|known| **known == name);
        known.map(|known| FamilyName(known)).ok_or_else(|| {
            Error::parameter(format!("\"{name}\" is not a family a column can have"))
                .with_hint(format!("the families are {}", names.join(", ")))
        })
    }
}
