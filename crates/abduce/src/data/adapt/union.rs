//! The union of a column in two tables: all levels and all terms of both. Sorted levels stay
//! sorted, so that the result is the column of both tables read as one.

use crate::data::encode::levels::sort_levels;
use crate::data::encode::truth::{Spellings, are_truths, folded_among_others};
use crate::data::options::kind_option;
use crate::data::read::number;
use crate::data::table::schema::{Field, Kind, SetByUser};
use crate::text::{Encoder, Encoding};
use crate::{Error, Result};
use std::collections::HashSet;

impl Field {
    /// This column with the levels or terms of the same column in another table added.
    ///
    /// ```
    /// use abduce::data::{Field, Kind};
    /// let here = Field::with_levels("answer", Kind::Binary, ["no", "yes"]);
    /// let there = Field::with_levels("answer", Kind::Categorical, ["maybe", "no"]);
    /// let both = here.union(&there)?;
    /// assert_eq!(both.kind, Kind::Categorical);
    /// assert_eq!(both.levels, ["maybe", "no", "yes"]);
    /// # Ok::<(), abduce::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the kinds have nothing in common, or texts are split into different terms.
    pub fn union(&self, other: &Field) -> Result<Field> {
        if self.unit != other.unit {
            return Err(Error::data(format!(
                "the column is in units of {:e} in one and {:e} in another",
                self.unit, other.unit
            ))
            .at_column(&self.name)
            .with_hint("fit all rows at once"));
        }
        let both = self.kinds_united(other)?;
        let whole = both.kind == Kind::Real && self.is_whole() && other.is_whole();
        Ok(Field { whole, ..both }.set_by_user(self.set_by_user.max(other.set_by_user)))
    }

    fn kinds_united(&self, other: &Field) -> Result<Field> {
        match (self.kind, other.kind) {
            (a, b) if a.is_coded() && b.is_coded() => Ok(self.with_levels_of(other)),
            (Kind::Text, Kind::Text) => self.with_terms_of(other),
            (a, b) if a == b => Ok(self.clone()),
            (Kind::Real | Kind::Count, Kind::Real | Kind::Count) => {
                Ok(Field::new(&self.name, Kind::Real))
            }
            (Kind::Real | Kind::Count, _) if other.may_be_numbers() => Ok(self.clone()),
            (_, Kind::Real | Kind::Count) if self.may_be_numbers() => {
                Ok(Field::new(&self.name, other.kind))
            }
            (a, b) => Err(Error::data(format!(
                "the column is {} in one and {} in another",
                a.name(),
                b.name()
            ))
            .at_column(&self.name)
            .with_hint(format!(
                "fit all parts with {}",
                kind_option(&self.name, self.common_kind(other).name())
            ))),
        }
    }

    /// A kind that the cells of both can have.
    fn common_kind(&self, other: &Field) -> Kind {
        let text = [self.kind, other.kind].contains(&Kind::Text);
        if text { Kind::Text } else { Kind::Categorical }
    }

    /// Whether the levels are numbers and the kind was inferred, not requested.
    fn may_be_numbers(&self) -> bool {
        let found = self.kind.is_coded() && self.set_by_user == SetByUser::Nothing;
        found && self.level_numbers().is_some()
    }

    /// The levels as numbers, where all of them are.
    pub(crate) fn level_numbers(&self) -> Option<Vec<f64>> {
        self.levels.iter().map(|level| number(level)).collect()
    }

    fn with_levels_of(&self, other: &Field) -> Field {
        let pair = are_truths(&self.levels);
        if !pair && are_truths(&other.levels) {
            // The only level is one of no and yes, in some spelling.
            let mut levels = self.levels.iter();
            if levels.all(|level| other.code(level).is_some()) {
                return other.clone();
            }
        }
        let known: HashSet<&String> = self.levels.iter().collect();
        let spellings = self.spellings();
        let is_spelling = |level: &&String| {
            let place = |spellings: &Spellings| spellings.place(level);
            spellings.as_ref().and_then(place).is_some()
        };
        let has = |level: &&String| known.contains(level) || is_spelling(level);
        let new = other.levels.iter().filter(|level| !has(level));
        let mut levels = self.levels.clone();
        levels.extend(new.cloned());
        if self.set_by_user == SetByUser::Nothing {
            levels = folded_among_others(&levels).unwrap_or(levels);
        }
        // A table with both levels of the pair knows their order.
        if levels.len() <= 2 && [self.kind, other.kind].contains(&Kind::Binary) {
            let binary = if self.kind == Kind::Binary {
                self
            } else {
                other
            };
            if binary.levels.len() == levels.len() {
                return binary.clone();
            }
        }
        let kind = match (self.kind, other.kind) {
            (a, b) if a == b && (a != Kind::Binary || levels.len() <= 2) => a,
            (Kind::Ordinal, _) | (_, Kind::Ordinal) => Kind::Ordinal,
            _ => Kind::Categorical,
        };
        let mut sorted = self.levels.clone();
        sort_levels(&mut sorted);
        if sorted == self.levels || kind == Kind::Categorical && self.kind == Kind::Binary {
            sort_levels(&mut levels);
        }
        Field::with_levels(&self.name, kind, levels)
    }

    fn with_terms_of(&self, other: &Field) -> Result<Field> {
        let (Some(text), Some(more)) = (&self.text, &other.text) else {
            return Ok(if self.text.is_some() {
                self.clone()
            } else {
                other.clone()
            });
        };
        let wrong = |message: &str| Err(Error::data(message).at_column(&self.name));
        if text.analyzer != more.analyzer {
            return wrong("the texts are split into different terms");
        }
        let (Encoding::Vocabulary(terms), Encoding::Vocabulary(others)) =
            (&text.encoding, &more.encoding)
        else {
            return if text.encoding == more.encoding {
                Ok(self.clone())
            } else {
                wrong("the terms are numbered differently")
            };
        };
        if !text.may_grow() || others.terms().all(|term| terms.code(term).is_some()) {
            return Ok(self.clone());
        }
        let all = terms.terms().chain(others.terms()).collect();
        Ok(Field::with_text(
            &self.name,
            Encoder {
                analyzer: text.analyzer.clone(),
                encoding: Encoding::Vocabulary(all),
                limits: text.limits,
            },
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coded(kind: Kind, levels: &[&str]) -> Field {
        Field::with_levels("x", kind, levels.iter().copied())
    }

    #[test]
    fn levels_stay_in_the_order_they_were_in() {
        let union = |a: &Field, b: &Field| a.union(b).unwrap();
        let numbers = union(
            &coded(Kind::Ordinal, &["1", "10"]),
            &coded(Kind::Ordinal, &["2"]),
        );
        assert_eq!(numbers.levels, ["1", "2", "10"]);
        let given = coded(Kind::Ordinal, &["small", "large"]);
        let more = union(&given, &coded(Kind::Categorical, &["huge", "small"]));
        assert_eq!(more.levels, ["small", "large", "huge"]);
        assert_eq!(more.kind, Kind::Ordinal);
        let pair = coded(Kind::Binary, &["no", "Yes"]);
        assert_eq!(union(&pair, &coded(Kind::Categorical, &["Yes"])), pair);
        assert_eq!(union(&coded(Kind::Categorical, &["Yes"]), &pair), pair);
        let three = union(&pair, &coded(Kind::Categorical, &["Zounds"]));
        assert_eq!(three.levels, ["Yes", "Zounds", "no"]);
    }

    #[test]
    fn spellings_of_no_and_yes_are_united() {
        let words = coded(Kind::Binary, &["false", "true"]);
        for other in [
            coded(Kind::Binary, &["0", "1"]),
            coded(Kind::Binary, &["FALSE", "TRUE"]),
            coded(Kind::Categorical, &["TRUE"]),
        ] {
            assert_eq!(words.union(&other).unwrap(), words);
        }
        let one = coded(Kind::Categorical, &["TRUE"]);
        assert_eq!(one.union(&words).unwrap(), words);
    }

    #[test]
    fn a_column_is_whole_where_it_is_so_in_both() {
        let whole = Field {
            whole: true,
            ..Field::new("x", Kind::Real)
        };
        let real = Field::new("x", Kind::Real);
        let count = Field::new("x", Kind::Count);
        assert!(whole.union(&whole).unwrap().whole);
        assert!(whole.union(&count).unwrap().whole && count.union(&whole).unwrap().whole);
        assert!(!whole.union(&real).unwrap().whole && !real.union(&whole).unwrap().whole);
        assert!(
            whole
                .union(&coded(Kind::Binary, &["0", "1"]))
                .unwrap()
                .whole
        );
    }

    #[test]
    fn kinds_agree_where_their_cells_can() {
        let bits = coded(Kind::Binary, &["0", "1"]);
        let count = Field::new("x", Kind::Count);
        let real = Field::new("x", Kind::Real);
        assert_eq!(bits.union(&count).unwrap().kind, Kind::Count);
        assert_eq!(real.union(&bits).unwrap().kind, Kind::Real);
        assert_eq!(real.union(&count).unwrap().kind, Kind::Real);
        let year = coded(Kind::Categorical, &["2007", "2008"]).set_by_user(SetByUser::Kind);
        assert!(year.union(&real).is_err() && count.union(&year).is_err());
        let error = coded(Kind::Categorical, &["a"]).union(&real).unwrap_err();
        assert!(error.to_string().contains("categorical in one and real"));
    }
}
