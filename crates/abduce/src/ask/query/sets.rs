//! The values of a column that a condition accepts: levels, or intervals of numbers.

use super::ast::{Condition, Operator, Word};
use crate::data::{Field, Kind, number};
use crate::{Error, Result};

/// The values of a column that a condition accepts. Numbers are in the unit of the model.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Set {
    /// For each level whether it is accepted.
    Levels(Vec<bool>),
    /// Intervals in ascending order, none of which overlap.
    Numbers(Vec<Interval>),
}

/// The numbers between two ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    pub low: f64,
    pub high: f64,
    /// Whether the ends belong to it.
    pub has_low: bool,
    pub has_high: bool,
}

impl Interval {
    fn point(x: f64) -> Interval {
        Interval::between((x, true), (x, true))
    }

    fn between((low, has_low): (f64, bool), (high, has_high): (f64, bool)) -> Interval {
        Interval {
            low,
            high,
            has_low,
            has_high,
        }
    }

    fn below(x: f64, has_high: bool) -> Interval {
        Interval::between((f64::NEG_INFINITY, false), (x, has_high))
    }

    fn above(x: f64, has_low: bool) -> Interval {
        Interval::between((x, has_low), (f64::INFINITY, false))
    }

    pub fn contains(&self, x: f64) -> bool {
        (self.low < x || (self.has_low && x == self.low))
            && (x < self.high || (self.has_high && x == self.high))
    }

    fn is_empty(&self) -> bool {
        self.low > self.high || (self.low == self.high && !(self.has_low && self.has_high))
    }

    fn intersection(&self, other: &Interval) -> Interval {
        let low = self.low.max(other.low);
        let high = self.high.min(other.high);
        let has = |ends: [(f64, bool); 2], end: f64| {
            ends.iter().all(|(other, has)| *has || *other != end)
        };
        Interval {
            low,
            high,
            has_low: has([(self.low, self.has_low), (other.low, other.has_low)], low),
            has_high: has(
                [(self.high, self.has_high), (other.high, other.has_high)],
                high,
            ),
        }
    }

    /// The first and the last whole number in it; infinite if there is none.
    pub fn whole_numbers(&self) -> (f64, f64) {
        let low = self.low.ceil();
        let high = self.high.floor();
        let first = if low == self.low && !self.has_low {
            low + 1.0
        } else {
            low
        };
        let last = if high == self.high && !self.has_high {
            high - 1.0
        } else {
            high
        };
        (first, last)
    }
}

impl Set {
    /// The values of a column that a condition accepts.
    ///
    /// # Errors
    /// If a value is none of the column, or the order of its levels is asked about and they
    /// have none.
    pub fn new(field: &Field, condition: &Condition) -> Result<Set> {
        match field.kind {
            Kind::Text => {
                Err(Error::parameter("questions about texts are not supported")
                    .at_column(&field.name))
            }
            kind if kind.is_coded() => Ok(Set::Levels(levels(field, condition)?)),
            _ => Ok(Set::Numbers(intervals(field, condition)?)),
        }
    }

    /// The code or number of a set that holds only one.
    pub fn single(&self) -> Option<f64> {
        match self {
            Set::Levels(accepted) => {
                let mut codes = accepted
                    .iter()
                    .enumerate()
                    .filter(|(_, is_accepted)| **is_accepted);
                let (code, _) = codes.next()?;
                codes.next().is_none().then_some(code as f64)
            }
            Set::Numbers(intervals) => match intervals.as_slice() {
                [interval] if interval.low == interval.high => Some(interval.low),
                _ => None,
            },
        }
    }

    /// Whether it holds a number by itself, which has no probability under a density.
    pub fn has_points(&self) -> bool {
        match self {
            Set::Levels(_) => false,
            Set::Numbers(intervals) => intervals
                .iter()
                .any(|interval| interval.low == interval.high),
        }
    }

    /// Whether it contains a code or a number.
    pub fn contains(&self, x: f64) -> bool {
        match self {
            Set::Levels(accepted) => accepted.get(x as usize).copied().unwrap_or(false),
            Set::Numbers(intervals) => intervals.iter().any(|interval| interval.contains(x)),
        }
    }

    /// What both contain.
    pub fn intersection(&self, other: &Set) -> Set {
        match (self, other) {
            (Set::Levels(a), Set::Levels(b)) => {
                Set::Levels(a.iter().zip(b).map(|(a, b)| *a && *b).collect())
            }
            (Set::Numbers(a), Set::Numbers(b)) => {
                let pairs = a.iter().flat_map(|a| b.iter().map(|b| a.intersection(b)));
                Set::Numbers(pairs.filter(|interval| !interval.is_empty()).collect())
            }
            _ => self.clone(),
        }
    }
}

fn intervals(field: &Field, condition: &Condition) -> Result<Vec<Interval>> {
    let value = |word: &Word| number_of(field, word);
    Ok(match condition {
        Condition::Compare(operator, word) => {
            let x = value(word)?;
            match operator {
                Operator::Equal => vec![Interval::point(x)],
                Operator::NotEqual => vec![Interval::below(x, false), Interval::above(x, false)],
                Operator::Less => vec![Interval::below(x, false)],
                Operator::AtMost => vec![Interval::below(x, true)],
                Operator::Greater => vec![Interval::above(x, false)],
                Operator::AtLeast => vec![Interval::above(x, true)],
            }
        }
        Condition::In(words) => {
            let mut points = words.iter().map(value).collect::<Result<Vec<f64>>>()?;
            points.sort_by(f64::total_cmp);
            points.dedup();
            points.into_iter().map(Interval::point).collect()
        }
        Condition::Between(low, high) => {
            let ends = (value(low)?, value(high)?);
            if ends.0 > ends.1 {
                return Err(reversed(high));
            }
            vec![Interval::between((ends.0, true), (ends.1, true))]
        }
    })
}

fn reversed(high: &Word) -> Error {
    let error = Error::parameter("the upper end of between is below the lower end");
    error.at_position(high.position)
}

fn number_of(field: &Field, word: &Word) -> Result<f64> {
    let x = word.text.parse::<f64>().ok().filter(|x| x.is_finite());
    let x = x.ok_or_else(|| {
        let message = format!(
            "\"{}\" is not a number, but the column is numeric",
            word.text
        );
        Error::parameter(message)
            .at_column(&field.name)
            .at_position(word.position)
    })?;
    Ok(x / field.unit)
}

fn levels(field: &Field, condition: &Condition) -> Result<Vec<bool>> {
    let count = field.levels.len();
    let code = |word: &Word| {
        let code = field.find_code(&word.text);
        code.map(|code| code as usize)
            .map_err(|error| error.at_position(word.position))
    };
    let accepted = |accepts: &dyn Fn(usize) -> bool| (0..count).map(accepts).collect();
    Ok(match condition {
        Condition::Compare(Operator::Equal, word) => {
            let code = code(word)?;
            accepted(&|level| level == code)
        }
        Condition::Compare(Operator::NotEqual, word) => {
            let code = code(word)?;
            accepted(&|level| level != code)
        }
        Condition::In(words) => {
            let codes = words.iter().map(code).collect::<Result<Vec<usize>>>()?;
            accepted(&|level| codes.contains(&level))
        }
        Condition::Compare(operator, word) => {
            let (places, x) = places(field, word, &code)?;
            accepted(&|level| match operator {
                Operator::Less => places[level] < x,
                Operator::AtMost => places[level] <= x,
                Operator::Greater => places[level] > x,
                _ => places[level] >= x,
            })
        }
        Condition::Between(low, high) => {
            let (places, from) = self::places(field, low, &code)?;
            let (_, to) = self::places(field, high, &code)?;
            if from > to {
                return Err(reversed(high));
            }
            accepted(&|level| (from..=to).contains(&places[level]))
        }
    })
}

/// Numbers in the order of the levels, and that of a value: the levels themselves where they
/// are numbers, else their places in an ordinal column.
fn places(
    field: &Field,
    word: &Word,
    code: &dyn Fn(&Word) -> Result<usize>,
) -> Result<(Vec<f64>, f64)> {
    if let (Some(levels), Some(x)) = (field.level_numbers(), number(&word.text)) {
        return Ok((levels, x));
    }
    if field.kind != Kind::Ordinal {
        let message = format!("the levels of a {} column have no order", field.kind.name());
        return Err(Error::parameter(message)
            .at_column(&field.name)
            .at_position(word.position)
            .with_hint("use =, != or in {…}"));
    }
    let places = (0..field.levels.len()).map(|place| place as f64);
    Ok((places.collect(), code(word)? as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> Word {
        Word {
            text: text.into(),
            position: 1,
        }
    }

    fn compared(operator: Operator, text: &str) -> Condition {
        Condition::Compare(operator, word(text))
    }

    #[test]
    fn conditions_on_numbers_contain_what_they_say() {
        let x = Field::new("x", Kind::Real);
        for (operator, contains) in [
            (Operator::Equal, [false, true, false]),
            (Operator::NotEqual, [true, false, true]),
            (Operator::Less, [true, false, false]),
            (Operator::AtMost, [true, true, false]),
            (Operator::Greater, [false, false, true]),
            (Operator::AtLeast, [false, true, true]),
        ] {
            let set = Set::new(&x, &compared(operator, "2")).unwrap();
            let found = [1.0, 2.0, 3.0].map(|x| set.contains(x));
            assert_eq!(found, contains, "{operator:?}");
        }
        let points = Condition::In(vec![word("3"), word("1")]);
        let points = Set::new(&x, &points).unwrap();
        assert_eq!(
            [1.0, 2.0, 3.0].map(|x| points.contains(x)),
            [true, false, true]
        );
        let error = Set::new(&x, &compared(Operator::Less, "red")).unwrap_err();
        assert_eq!((error.column(), error.position()), (Some("x"), Some(1)));
    }

    #[test]
    fn an_intersection_contains_what_both_contain() {
        let x = Field::new("x", Kind::Real);
        let ends = ["1", "2", "3"];
        let operators = [
            Operator::Equal,
            Operator::NotEqual,
            Operator::Less,
            Operator::AtMost,
            Operator::Greater,
            Operator::AtLeast,
        ];
        let all = operators
            .iter()
            .flat_map(|o| ends.map(|end| compared(*o, end)));
        let sets: Vec<Set> = all
            .map(|condition| Set::new(&x, &condition).unwrap())
            .collect();
        for a in &sets {
            for b in &sets {
                let both = a.intersection(b);
                for x in [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5] {
                    assert_eq!(
                        both.contains(x),
                        a.contains(x) && b.contains(x),
                        "{a:?} {b:?} {x}"
                    );
                }
            }
        }
    }

    #[test]
    fn only_ordered_levels_are_compared() {
        let kind = Kind::Ordinal;
        let size = Field::with_levels("size", kind, ["small", "medium", "large"]);
        let above = Set::new(&size, &compared(Operator::Greater, "small")).unwrap();
        assert_eq!(above, Set::Levels(vec![false, true, true]));
        let grade = Field::with_levels("grade", Kind::Categorical, ["10", "9", "x"]);
        assert!(Set::new(&grade, &compared(Operator::Less, "10")).is_err());
        let grade = Field::with_levels("grade", Kind::Categorical, ["10", "9"]);
        let below = Set::new(&grade, &compared(Operator::Less, "9.5")).unwrap();
        assert_eq!(below, Set::Levels(vec![false, true]));
        let between = Condition::Between(word("medium"), word("small"));
        assert!(Set::new(&size, &between).is_err());
    }

    #[test]
    fn whole_numbers_within_an_interval() {
        assert_eq!(Interval::above(2.0, false).whole_numbers().0, 3.0);
        assert_eq!(Interval::above(2.0, true).whole_numbers().0, 2.0);
        assert_eq!(Interval::below(2.5, false).whole_numbers().1, 2.0);
        let (first, last) = Interval::between((1.2, true), (1.8, true)).whole_numbers();
        assert!(first > last);
    }
}
