//! The columns of a table: names, kinds and levels. A model keeps the schema of the data it
//! was fitted to, so that new data are encoded with the same codes.

use crate::data::encode::truth::Spellings;
use crate::data::read::TOO_LARGE;
use crate::data::table::names::{listed, nearest};
use crate::text::Encoder;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The kind of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A measurement: any finite number.
    Real,
    /// How many: 0, 1, 2, …
    Count,
    /// One of two: no or yes, false or true, 0 or 1.
    Binary,
    /// One of several unordered levels.
    Categorical,
    /// One of several levels in order.
    Ordinal,
    /// Free text, counted by its terms.
    Text,
}

impl Kind {
    /// Every kind, in the order in which they are documented.
    pub const ALL: [Kind; 6] = [
        Kind::Real,
        Kind::Count,
        Kind::Binary,
        Kind::Categorical,
        Kind::Ordinal,
        Kind::Text,
    ];

    /// The kind's name in options and messages.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Real => "real",
            Kind::Count => "count",
            Kind::Binary => "binary",
            Kind::Categorical => "categorical",
            Kind::Ordinal => "ordinal",
            Kind::Text => "text",
        }
    }

    /// Whether cells are codes of levels rather than numbers.
    pub fn is_coded(self) -> bool {
        matches!(self, Kind::Binary | Kind::Categorical | Kind::Ordinal)
    }
}

impl std::str::FromStr for Kind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Kind> {
        Kind::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| {
                Error::parameter(format!("\"{name}\" is not a kind"))
                    .with_hint("the kinds are real, count, binary, categorical, ordinal and text")
            })
    }
}

/// What the user has specified about a column. The rest is inferred from its cells and may differ
/// for other rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SetByUser {
    /// Nothing.
    #[default]
    Nothing,
    /// Its kind.
    Kind,
    /// Its kind and all its levels.
    Levels,
}

impl SetByUser {
    fn is_nothing(&self) -> bool {
        *self == SetByUser::Nothing
    }
}

/// One column's name, kind and, for the coded kinds, levels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// The column's name.
    pub name: String,
    /// What its cells are.
    pub kind: Kind,
    /// The levels of a coded kind, code 0 first; empty for numbers and text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<String>,
    /// How text is split into terms, and the vocabulary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Arc<Encoder>>,
    /// What the user has specified about it.
    #[serde(
        default,
        rename = "asked",
        skip_serializing_if = "SetByUser::is_nothing"
    )]
    pub set_by_user: SetByUser,
    /// The power of two that numbers are divided by as they are read, and the unit of all
    /// results for the column; 1 unless squares of the numbers overflow double precision.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub unit: f64,
    /// Whether every cell of a real column was a whole number, so that drawn and imputed
    /// cells are rounded to whole numbers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
}

fn one() -> f64 {
    1.0
}

fn is_one(unit: &f64) -> bool {
    *unit == 1.0
}

impl Field {
    /// A column of numbers (real or count), or of text.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Field {
            name: name.into(),
            kind,
            levels: Vec::new(),
            text: None,
            set_by_user: SetByUser::Nothing,
            unit: 1.0,
            whole: false,
        }
    }

    /// The same column in a unit that suits numbers of absolute value up to `largest`.
    pub(crate) fn in_unit_of(self, largest: f64) -> Field {
        let unit = if largest == 0.0 || (1.0 / TOO_LARGE..=TOO_LARGE).contains(&largest) {
            1.0
        } else {
            // The reciprocal of a smaller unit would overflow.
            2f64.powi((largest.log2().floor() as i32).max(-1000))
        };
        Field { unit, ..self }
    }

    /// A column of text with its terms.
    pub fn with_text(name: impl Into<String>, encoder: Encoder) -> Self {
        Field {
            text: Some(Arc::new(encoder)),
            ..Field::new(name, Kind::Text)
        }
    }

    /// A coded column with its levels, code 0 first.
    pub fn with_levels<L: Into<String>>(
        name: impl Into<String>,
        kind: Kind,
        levels: impl IntoIterator<Item = L>,
    ) -> Self {
        Field {
            levels: levels.into_iter().map(Into::into).collect(),
            ..Field::new(name, kind)
        }
    }

    /// The same column with what the user has specified about it.
    pub fn set_by_user(self, set_by_user: SetByUser) -> Field {
        Field {
            set_by_user,
            ..self
        }
    }

    /// A drawn or imputed number rounded to one that the column could hold: a count to
    /// 0, 1, 2, …, in a column of whole numbers to a whole number.
    ///
    /// ```
    /// use abduce::data::{Field, Kind};
    /// let count = Field::new("visits", Kind::Count);
    /// assert_eq!(count.rounded(-0.7), 0.0);
    /// let mass = Field { whole: true, ..Field::new("mass", Kind::Real) };
    /// assert_eq!(mass.rounded(3750.4), 3750.0);
    /// assert_eq!(Field::new("length", Kind::Real).rounded(3.4), 3.4);
    /// ```
    pub fn rounded(&self, x: f64) -> f64 {
        match self.kind {
            Kind::Count => x.round().max(0.0),
            // Adding 0 turns −0 into 0.
            Kind::Real if self.whole => x.round() + 0.0,
            _ => x,
        }
    }

    /// Whether all cells are known to be whole numbers.
    pub(crate) fn is_whole(&self) -> bool {
        match self.kind {
            Kind::Count => true,
            Kind::Real => self.whole,
            Kind::Text => false,
            _ => self
                .level_numbers()
                .is_some_and(|levels| levels.iter().all(|x| x.fract() == 0.0)),
        }
    }

    /// The number of terms of a column of text.
    pub fn terms(&self) -> usize {
        self.text
            .as_ref()
            .map_or(0, |encoder| encoder.encoding.width())
    }

    /// The code of a level, if the column has it. If no and yes are among the levels, other
    /// spellings of them are the same levels: TRUE and 1 are true.
    pub fn code(&self, level: &str) -> Option<u32> {
        let exact = self.levels.iter().position(|other| other == level);
        let spelled_otherwise = || self.spellings()?.place(level);
        exact.or_else(spelled_otherwise).map(|code| code as u32)
    }

    /// Other spellings of no and yes in this column. In a column that was requested to be
    /// categorical each spelling is a level.
    pub(crate) fn spellings(&self) -> Option<Spellings> {
        let among = || Spellings::among(&self.levels).filter(|_| self.set_by_user.is_nothing());
        Spellings::of_pair(&self.levels).or_else(among)
    }

    /// The code of a level, or an error that lists all levels.
    ///
    /// # Errors
    /// If the column does not have it.
    pub fn find_code(&self, level: &str) -> Result<u32> {
        self.code(level).ok_or_else(|| {
            let near = nearest(level, &self.levels);
            let meant = near.map_or(String::new(), |near| format!("did you mean {near}? "));
            let levels = listed(self.levels.iter().map(String::as_str));
            Error::parameter(format!("there is no level \"{level}\""))
                .at_column(&self.name)
                .with_hint(format!("{meant}the levels are {levels}"))
        })
    }
}

/// The columns of a table, in order, and the name of the column of weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// The columns.
    pub fields: Vec<Field>,
    /// The name of the column of weights, which is not among `fields`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
}

impl Schema {
    /// A schema of unweighted columns.
    pub fn new(fields: Vec<Field>) -> Self {
        Schema {
            fields,
            weight: None,
        }
    }

    /// The position of a column, or an error that lists all columns.
    pub fn position(&self, name: &str) -> Result<usize> {
        self.fields
            .iter()
            .position(|field| field.name == name)
            .ok_or_else(|| {
                let names: Vec<&str> = self.fields.iter().map(|f| f.name.as_str()).collect();
                Error::parameter(format!("there is no column \"{name}\""))
                    .with_hint(format!("the columns are {}", names.join(", ")))
            })
    }
}
