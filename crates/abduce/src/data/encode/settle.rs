//! What kind a column is. Numbers are real, counts or 0/1; words are levels, or text
//! when they hardly repeat. What the user says about a column is not questioned.
//!
//! A column of counts has whole numbers from 0 up, at least three different ones, a
//! mean of at most 10, a variance of at most four times the mean, and at least one
//! zero in a hundred cells. Each of these is a share or a moment, so that two halves
//! of a table seldom differ in it, as they do in their smallest number.

use crate::data::encode::alike::Look;
use crate::data::encode::infer::Summary;
use crate::data::encode::too_large;
use crate::data::encode::truth::{folded, folded_among_others, no_then_yes};
use crate::data::options::{KindOverride, Missing, drop_option, kind_option};
use crate::data::read::number;
use crate::data::table::schema::{Asked, Field, Kind};
use crate::{Error, Result};

/// Columns of words with more levels than this are text or identifiers, when most
/// cells have a level of their own.
const FEW_LEVELS: usize = 50;

/// A count has at least one zero in so many cells.
const CELLS_PER_ZERO: u64 = 100;

/// The largest mean of a count.
const COUNT_MEAN: f64 = 10.0;

/// The largest variance of a count, in means.
const COUNT_DISPERSION: f64 = 4.0;

/// Fewer rows than this say nothing about levels that do not repeat.
const FEW_ROWS: u64 = 10;

/// More dates than this are rather points in time than levels.
const FEW_DATES: usize = 12;

impl Summary {
    /// The column's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Makes the column's inferred kind more general.
    pub fn raise(&mut self, kind: Kind) {
        self.raised = Some(kind);
    }

    /// What other columns may learn from this one; `None` where its kind is not
    /// inferred.
    pub fn shape(&self) -> Option<Look> {
        if self.wish.kind.is_some() || self.wish.target || self.seen == 0 {
            return None;
        }
        if self.numbers < self.seen {
            return Some(Look::Other);
        }
        let like_a_count = self.whole && self.least >= 0.0 && self.levels.count() > 1;
        if !like_a_count {
            return Some(Look::Number);
        }
        Some(Look::Whole {
            kind: self.number_kind(),
            least: self.least,
            most: self.largest,
        })
    }

    /// The column of the schema, or `None` when it is left out, and what is to
    /// be said about it.
    pub fn finish(
        self,
        missing: &Missing,
        text: bool,
        notes: &mut Vec<String>,
    ) -> Result<Option<Field>> {
        let name = &self.name;
        if let Some(asked) = &self.wish.kind {
            return self.asked_field(asked, text, notes);
        }
        if self.wish.target {
            let levels = self.sorted_levels()?;
            notes.extend(self.target_note(&levels));
            return Ok(Some(Field::with_levels(name, Kind::Categorical, levels)));
        }
        if self.seen == 0 {
            notes.push(format!("no cell of column {name} is filled"));
            return Ok(Some(Field::new(name, Kind::Real)));
        }
        let all_numbers = self.numbers == self.seen;
        if self.consecutive && self.whole && all_numbers && self.seen == self.cells {
            notes.push(format!(
                "{name} has no name and numbers the rows; it is left out"
            ));
            return Ok(None);
        }
        if all_numbers {
            let field = self.numeric()?;
            return Ok(Some(self.in_unit(field, notes)));
        }
        if self.are_truths() {
            return Ok(Some(self.truth_field()?));
        }
        notes.extend(self.stray_word(missing));
        self.decimal_comma(notes);
        self.word_field(text, notes)
    }

    /// The column with the kind that the user asked for.
    fn asked_field(
        &self,
        asked: &KindOverride,
        text: bool,
        notes: &mut Vec<String>,
    ) -> Result<Option<Field>> {
        let name = &self.name;
        let levels = match asked.kind {
            Kind::Real | Kind::Count => {
                let field = Field::new(name, asked.kind).asked(Asked::Kind);
                return Ok(Some(self.in_unit(field, notes)));
            }
            Kind::Text if text => return Ok(Some(Field::new(name, Kind::Text))),
            Kind::Text => {
                notes.push(format!(
                    "column {name} is text, which this does not use; it is left out"
                ));
                return Ok(None);
            }
            _ if !asked.levels.is_empty() => asked.levels.clone(),
            Kind::Binary => self.two_levels()?,
            // Asked for by name, every spelling is a level of its own.
            _ => self.all_levels()?,
        };
        let said = if asked.levels.is_empty() {
            Asked::Kind
        } else {
            Asked::Levels
        };
        Ok(Some(
            Field::with_levels(name, asked.kind, levels).asked(said),
        ))
    }

    /// A column of words: text, levels, or left out where hardly any repeats.
    fn word_field(&self, text: bool, notes: &mut Vec<String>) -> Result<Option<Field>> {
        let name = &self.name;
        let distinct = self.levels.count();
        let rare = distinct > FEW_LEVELS && 2 * distinct as u64 > self.seen;
        // A few sentences that hardly repeat are text too.
        let sentences = 2 * self.sentences > self.seen && 2 * distinct as u64 > self.seen;
        if text && sentences {
            return Ok(Some(Field::new(name, Kind::Text)));
        }
        if !self.levels.is_full() && !rare {
            let levels = self.sorted_levels()?;
            notes.extend(self.own_levels_note(&levels));
            return Ok(Some(Field::with_levels(name, Kind::Categorical, levels)));
        }
        // A name or an identifier is one word, and tells rows apart at most.
        if text && 2 * self.phrases > self.seen {
            return Ok(Some(Field::new(name, Kind::Text)));
        }
        let many = if self.levels.is_full() {
            "more than "
        } else {
            ""
        };
        notes.push(format!(
            "column {name} has {many}{distinct} different cells in {} rows; it is left out \
             unless you pass {}{}",
            self.seen,
            kind_option(name, Kind::Categorical.name()),
            if text {
                format!(" or {}", kind_option(name, Kind::Text.name()))
            } else {
                String::new()
            }
        ));
        Ok(None)
    }

    /// Whether all cells are words for no and yes, of one pair and perhaps in several
    /// spellings.
    fn are_truths(&self) -> bool {
        let few = self.levels.count() <= 2 * FEW_LEVELS;
        let levels = || self.levels.sorted();
        few && (self.truths == self.seen
            || no_then_yes(&levels()).is_some()
            || folded(&levels()).is_some())
    }

    fn truth_field(&self) -> Result<Field> {
        let name = &self.name;
        if self.truths == self.seen {
            let levels = ["false", "true"];
            return Ok(Field::with_levels(name, Kind::Binary, levels));
        }
        let levels = self.sorted_levels()?;
        Ok(match no_then_yes(&levels) {
            Some(levels) => Field::with_levels(name, Kind::Binary, levels),
            None => Field::with_levels(name, Kind::Categorical, levels),
        })
    }

    /// What is to be said about the labels.
    fn target_note(&self, levels: &[String]) -> Option<String> {
        let name = &self.name;
        let count = levels.len();
        match levels {
            [] => return Some(format!("no cell of the target {name} is filled")),
            [only] => return Some(format!("the target {name} has one level only, {only}")),
            _ => {}
        }
        if 10 * count as u64 >= 9 * self.seen || count > FEW_LEVELS && 2 * count as u64 > self.seen
        {
            return Some(format!(
                "the target {name} has {count} levels in {} rows: hardly any label repeats",
                self.seen
            ));
        }
        (count > FEW_LEVELS && self.numbers == self.seen).then(|| {
            format!(
                "the target {name} has {count} different numbers, and each of them is a class; \
                 group them into a few classes, or leave out --target to describe {name} \
                 together with the other columns"
            )
        })
    }

    /// What is to be said about a few words among numbers.
    fn stray_word(&self, missing: &Missing) -> Option<String> {
        let others = self.seen - self.numbers;
        let (word, place) = self.first_word.as_ref()?;
        (self.numbers > others).then(|| {
            format!(
                "column {} holds {} numbers and {others} other {} (first: \"{word}\", {place}), \
                 so its cells are read as levels; pass {} if it means missing",
                self.name,
                self.numbers,
                if others == 1 { "cell" } else { "cells" },
                missing.with(word)
            )
        })
    }

    /// What is to be said about levels that are dates or identifiers.
    fn own_levels_note(&self, levels: &[String]) -> Option<String> {
        let what = if levels.len() > FEW_DATES && levels.iter().all(|level| is_date(level)) {
            "dates are read as levels without order".to_string()
        } else if self.seen >= FEW_ROWS && 10 * levels.len() as u64 >= 9 * self.seen {
            format!(
                "{} different levels in {} rows identify rows rather than describe them",
                levels.len(),
                self.seen
            )
        } else {
            return None;
        };
        let drop = drop_option(&self.name);
        Some(format!(
            "column {}: {what}; pass {drop} to leave it out",
            self.name
        ))
    }

    fn decimal_comma(&self, notes: &mut Vec<String>) {
        if let Some((word, place)) = &self.first_word
            && word.contains(',')
            && number(&word.replacen(',', ".", 1)).is_some()
        {
            notes.push(format!(
                "column {}: \"{word}\" ({place}) looks like a number with a comma; numbers are \
                 written with a point",
                self.name
            ));
        }
    }

    /// The column in the unit that its numbers ask for.
    fn in_unit(&self, field: Field, notes: &mut Vec<String>) -> Field {
        let whole = self.whole && self.seen > 0 && field.kind == Kind::Real;
        let field = Field { whole, ..field };
        if !self.wish.units || field.kind != Kind::Real {
            return field;
        }
        let field = field.in_unit_of(self.largest);
        if field.unit != 1.0 {
            notes.push(format!(
                "column {} holds numbers as large as {:e}; what is said of it is in units of {:e}",
                self.name, self.largest, field.unit
            ));
        }
        field
    }

    fn numeric(&self) -> Result<Field> {
        if let Some((text, place)) = &self.first_large {
            let error = too_large(text, &self.name);
            return Err(error.at_file(&place.file).at_line(place.line));
        }
        let kind = self.raised.unwrap_or_else(|| self.number_kind());
        Ok(match kind {
            Kind::Binary => Field::with_levels(&self.name, kind, ["0", "1"]),
            kind => Field::new(&self.name, kind),
        })
    }

    /// The kind of a column of numbers, by itself.
    fn number_kind(&self) -> Kind {
        if !self.whole {
            return Kind::Real;
        }
        if self.levels.are_zero_and_one() {
            return Kind::Binary;
        }
        let mean = self.sum / self.seen as f64;
        let variance = self.squares / self.seen as f64 - mean * mean;
        let counts = self.least >= 0.0
            && self.levels.count() >= 3
            && CELLS_PER_ZERO * self.zeros >= self.seen
            && mean <= COUNT_MEAN
            && variance <= COUNT_DISPERSION * mean;
        if counts { Kind::Count } else { Kind::Real }
    }

    fn all_levels(&self) -> Result<Vec<String>> {
        if self.levels.is_full() {
            return Err(self.too_many_levels());
        }
        Ok(self.levels.sorted())
    }

    /// All levels, with one spelling of each word for no or yes.
    fn sorted_levels(&self) -> Result<Vec<String>> {
        let levels = self.all_levels()?;
        let folded = folded(&levels).or_else(|| folded_among_others(&levels));
        Ok(folded.unwrap_or(levels))
    }

    fn too_many_levels(&self) -> Error {
        let message = format!("{} levels are too many", self.levels.count());
        let error = Error::data(message).at_column(&self.name);
        if self.wish.target {
            return error.with_hint("choose a --target whose labels repeat");
        }
        if self.numbers == self.seen {
            let hint = format!("pass {}", kind_option(&self.name, Kind::Real.name()));
            return error.about_kind(Kind::Real.name()).with_hint(hint);
        }
        error.with_hint(format!("pass {}", drop_option(&self.name)))
    }

    fn two_levels(&self) -> Result<Vec<String>> {
        let levels = self.sorted_levels()?;
        if let Some(ordered) = no_then_yes(&levels) {
            return Ok(ordered);
        }
        match levels.as_slice() {
            [_, _] => return Ok(levels),
            [] => return Ok(["0", "1"].map(String::from).into()),
            [only] if only == "0" || only == "1" => return Ok(["0", "1"].map(String::from).into()),
            _ => {}
        }
        let mut some = levels[..levels.len().min(5)].join(", ");
        if levels.len() > 5 {
            some.push_str(", …");
        }
        Err(Error::data(format!(
            "a binary column has two levels, this one {}: {some}",
            levels.len()
        ))
        .at_column(&self.name)
        .about_kind(Kind::Categorical.name())
        .with_hint(format!(
            "pass {}",
            kind_option(&self.name, Kind::Categorical.name())
        )))
    }
}

/// Whether a word is written as a date is, as in 2024-05-17, 17.5.2024 or 5/17/24, perhaps
/// with a time.
fn is_date(word: &str) -> bool {
    let day = word.split(['T', ' ']).next().unwrap_or_default();
    ['-', '/', '.'].iter().any(|separator| {
        let parts: Vec<&str> = day.split(*separator).collect();
        let digits = |part: &&str| {
            (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        parts.len() == 3 && parts.iter().all(digits)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::encode::infer::Wish;
    use crate::data::encode::levels::Levels;
    use crate::data::read::Key;

    /// What is said of a column of three different cells where two are the most.
    fn too_many(numbers: bool, target: bool) -> Error {
        let wish = Wish {
            kind: (!target).then(|| Kind::Categorical.into()),
            target,
            ..Wish::default()
        };
        let mut summary = Summary::new("c", wish);
        summary.levels = Levels::new(2);
        for word in ["u", "v", "w"] {
            summary.levels.add(Key::Word(word.into()));
        }
        summary.seen = 3;
        summary.numbers = if numbers { 3 } else { 0 };
        let missing = Missing::new(&[]);
        summary
            .finish(&missing, false, &mut Vec::new())
            .unwrap_err()
    }

    #[test]
    fn too_many_levels_have_a_cure() {
        let words = too_many(false, false);
        assert_eq!(words.hint(), Some("pass --drop \"c\""));
        assert_eq!(words.readable_as(), None);
        let numbers = too_many(true, false);
        assert_eq!(numbers.hint(), Some("pass --kind \"c=real\""));
        assert_eq!(numbers.readable_as(), Some("real"));
        // Without its target there would be nothing to learn.
        let target = too_many(true, true);
        assert_eq!(target.hint(), Some("choose a --target whose labels repeat"));
    }
}
