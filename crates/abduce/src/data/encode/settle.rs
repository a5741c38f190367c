//! Infers the kind of a column from its summary. Numbers are real, counts or 0/1; words are
//! levels, or text if they hardly repeat. A kind requested by the user is taken as it is.
//!
//! A column of counts has whole numbers from 0 up, at least three different ones, a mean of
//! at most 10, a variance of at most four times the mean, and at least one zero in a hundred
//! cells. These are shares and moments, which seldom differ between two halves of a table.

use crate::data::encode::alike::InferredKind;
use crate::data::encode::infer::Summary;
use crate::data::encode::too_large;
use crate::data::encode::truth::{folded, folded_among_others, no_then_yes};
use crate::data::missing::Missing;
use crate::data::options::{KindOverride, drop_option, kind_option};
use crate::data::read::number;
use crate::data::table::schema::{Field, Kind, SetByUser};
use crate::{Error, Result};

/// Columns of words with more levels than this are text or identifiers, if most cells are
/// unique.
const FEW_LEVELS: usize = 50;

/// A column of counts has at least one zero in this many cells.
const CELLS_PER_ZERO: u64 = 100;

/// The largest mean of a column of counts.
const COUNT_MEAN: f64 = 10.0;

/// The largest variance of a column of counts, as a multiple of its mean.
const COUNT_DISPERSION: f64 = 4.0;

/// With fewer rows than this, levels that do not repeat are not noted.
const FEW_ROWS: u64 = 10;

/// More dates than this are points in time rather than levels.
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

    /// What columns with similar names take from this one; `None` if its kind is not inferred.
    pub fn shape(&self) -> Option<InferredKind> {
        if self.wish.kind.is_some() || self.wish.target || self.present == 0 {
            return None;
        }
        if self.numbers < self.present {
            return Some(InferredKind::Other);
        }
        let like_a_count = self.whole && self.least >= 0.0 && self.levels.count() > 1;
        if !like_a_count {
            return Some(InferredKind::Number);
        }
        Some(InferredKind::Whole {
            kind: self.number_kind(),
            least: self.least,
            most: self.largest,
        })
    }

    /// The field of the column, or `None` if it is left out; adds notes about it.
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
        if self.present == 0 {
            notes.push(format!("column {name} is empty"));
            return Ok(Some(Field::new(name, Kind::Real)));
        }
        let all_numbers = self.numbers == self.present;
        if self.consecutive && self.whole && all_numbers && self.present == self.cells {
            notes.push(format!(
                "{name} is unnamed and contains row numbers; it is left out"
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
                let field = Field::new(name, asked.kind).set_by_user(SetByUser::Kind);
                return Ok(Some(self.in_unit(field, notes)));
            }
            Kind::Text if text => return Ok(Some(Field::new(name, Kind::Text))),
            Kind::Text => {
                notes.push(format!(
                    "column {name} is text, which this model does not use; it is left out"
                ));
                return Ok(None);
            }
            _ if !asked.levels.is_empty() => asked.levels.clone(),
            Kind::Binary => self.two_levels()?,
            // In a requested categorical column every spelling is a level.
            _ => self.all_levels()?,
        };
        let requested = if asked.levels.is_empty() {
            SetByUser::Kind
        } else {
            SetByUser::Levels
        };
        Ok(Some(
            Field::with_levels(name, asked.kind, levels).set_by_user(requested),
        ))
    }

    /// A column of words: text, levels, or left out if hardly any word repeats.
    fn word_field(&self, text: bool, notes: &mut Vec<String>) -> Result<Option<Field>> {
        let name = &self.name;
        let distinct = self.levels.count();
        let rare = distinct > FEW_LEVELS && 2 * distinct as u64 > self.present;
        // Sentences that hardly repeat are text even if there are few.
        let sentences = 2 * self.sentences > self.present && 2 * distinct as u64 > self.present;
        if text && sentences {
            return Ok(Some(Field::new(name, Kind::Text)));
        }
        if !self.levels.is_full() && !rare {
            let levels = self.sorted_levels()?;
            notes.extend(self.unique_levels_note(&levels));
            return Ok(Some(Field::with_levels(name, Kind::Categorical, levels)));
        }
        // Single words that do not repeat are names or identifiers.
        if text && 2 * self.phrases > self.present {
            return Ok(Some(Field::new(name, Kind::Text)));
        }
        let more_than = if self.levels.is_full() {
            "more than "
        } else {
            ""
        };
        let mut options = kind_option(name, Kind::Categorical.name());
        if text {
            options.push_str(&format!(" or {}", kind_option(name, Kind::Text.name())));
        }
        notes.push(format!(
            "column {name} has {more_than}{distinct} different cells in {} rows; it is left out \
             unless you pass {options}",
            self.present
        ));
        Ok(None)
    }

    /// Whether all cells are spellings of one pair of words for no and yes.
    fn are_truths(&self) -> bool {
        let few = self.levels.count() <= 2 * FEW_LEVELS;
        let levels = || self.levels.sorted();
        few && (self.truths == self.present
            || no_then_yes(&levels()).is_some()
            || folded(&levels()).is_some())
    }

    fn truth_field(&self) -> Result<Field> {
        let name = &self.name;
        if self.truths == self.present {
            let levels = ["false", "true"];
            return Ok(Field::with_levels(name, Kind::Binary, levels));
        }
        let levels = self.sorted_levels()?;
        Ok(match no_then_yes(&levels) {
            Some(levels) => Field::with_levels(name, Kind::Binary, levels),
            None => Field::with_levels(name, Kind::Categorical, levels),
        })
    }

    /// A note about labels that are few or hardly repeat.
    fn target_note(&self, levels: &[String]) -> Option<String> {
        let name = &self.name;
        let count = levels.len();
        match levels {
            [] => return Some(format!("target column {name} is empty")),
            [only] => return Some(format!("the target {name} has one level only, {only}")),
            _ => {}
        }
        if 10 * count as u64 >= 9 * self.present
            || count > FEW_LEVELS && 2 * count as u64 > self.present
        {
            return Some(format!(
                "the target {name} has {count} levels in {} rows: hardly any label repeats",
                self.present
            ));
        }
        (count > FEW_LEVELS && self.numbers == self.present).then(|| {
            format!(
                "the target {name} has {count} different numbers, and each of them is a class; \
                 group them into a few classes, or leave out `target` to describe {name} \
                 together with the other columns"
            )
        })
    }

    /// A note about a few words among numbers.
    fn stray_word(&self, missing: &Missing) -> Option<String> {
        let others = self.present - self.numbers;
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

    /// A note about levels that are dates or identifiers.
    fn unique_levels_note(&self, levels: &[String]) -> Option<String> {
        let what = if levels.len() > FEW_DATES && levels.iter().all(|level| is_date(level)) {
            "dates are read as levels without order".to_string()
        } else if self.present >= FEW_ROWS && 10 * levels.len() as u64 >= 9 * self.present {
            format!(
                "{} different levels in {} rows identify rows rather than describe them",
                levels.len(),
                self.present
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

    /// The field in a unit that suits its largest number.
    fn in_unit(&self, field: Field, notes: &mut Vec<String>) -> Field {
        let whole = self.whole && self.present > 0 && field.kind == Kind::Real;
        let field = Field { whole, ..field };
        if !self.wish.units || field.kind != Kind::Real {
            return field;
        }
        let field = field.in_unit_of(self.largest);
        if field.unit != 1.0 {
            notes.push(format!(
                "column {} holds numbers as large as {:e}; results for it are in units of {:e}",
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

    /// The kind of a column of numbers, regardless of other columns.
    fn number_kind(&self) -> Kind {
        if !self.whole {
            return Kind::Real;
        }
        if self.levels.are_zero_and_one() {
            return Kind::Binary;
        }
        let mean = self.sum / self.present as f64;
        let variance = self.squares / self.present as f64 - mean * mean;
        let counts = self.least >= 0.0
            && self.levels.count() >= 3
            && CELLS_PER_ZERO * self.zeros >= self.present
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

    /// All levels, each word for no or yes in one spelling.
    fn sorted_levels(&self) -> Result<Vec<String>> {
        let levels = self.all_levels()?;
        let folded = folded(&levels).or_else(|| folded_among_others(&levels));
        Ok(folded.unwrap_or(levels))
    }

    fn too_many_levels(&self) -> Error {
        let message = format!("{} levels are too many", self.levels.count());
        let error = Error::data(message).at_column(&self.name);
        if self.wish.target {
            return error.with_hint("choose a `target` whose labels repeat");
        }
        if self.numbers == self.present {
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

/// Whether a word looks like a date, as in 2024-05-17, 17.5.2024 or 5/17/24, perhaps followed
/// by a time.
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

    /// The error of a column with three levels where two are allowed.
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
        summary.present = 3;
        summary.numbers = if numbers { 3 } else { 0 };
        let missing = Missing::new(&[]);
        summary
            .finish(&missing, false, &mut Vec::new())
            .unwrap_err()
    }

    #[test]
    fn the_error_of_too_many_levels_has_a_hint() {
        let words = too_many(false, false);
        assert_eq!(words.hint(), Some("pass `drop=\"c\"`"));
        assert_eq!(words.readable_as(), None);
        let numbers = too_many(true, false);
        assert_eq!(numbers.hint(), Some("pass `kind=\"c=real\"`"));
        assert_eq!(numbers.readable_as(), Some("real"));
        // Leaving out the target would not help.
        let target = too_many(true, true);
        assert_eq!(target.hint(), Some("choose a `target` whose labels repeat"));
    }
}
