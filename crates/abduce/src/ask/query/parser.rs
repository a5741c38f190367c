//! Reads questions:
//!
//! ```text
//! question  = ("P" | "E" | "MAP") "(" term {"," term} ["|" evidence {"," evidence}] ")"
//! term      = name [condition]
//! evidence  = name condition | "do(" name "=" value ")"
//! condition = ("=" | "!=" | "<" | "<=" | ">" | ">=") value
//!           | "in" "{" value {"," value} "}" | "between" value "and" value
//! ```
//!
//! Names and values may be in quotes. Without quotes, a value ends at a comma or a bar. A name is
//! the longest name of a column that fits, so that `length (cm)` needs no quotes.

use super::ast::{Condition, Evidence, Kind, Operator, Question, Term, Word};
use super::lexer::Lexer;
use crate::{Error, Result};

const FORM: &str = "ask P(column | other=value, …), E(column | …) or MAP(column, … | …)";

/// Reads a question about columns of these names.
///
/// # Errors
/// If it is not a question; the error has the position of the character.
pub(super) fn parse(text: &str, names: &[&str]) -> Result<Question> {
    let characters: Vec<char> = text.chars().collect();
    let mut lexer = Lexer::new(&characters);
    let kind = kind(&mut lexer)?;
    if !lexer.cut_last(')') {
        let end = text.trim_end().chars().count();
        let error = Error::parameter("the closing parenthesis is missing");
        return Err(error.at_position(end + 1));
    }
    let mut parser = Parser { lexer, names };
    let mut asked = vec![parser.term()?];
    while parser.lexer.take(",") {
        asked.push(parser.term()?);
    }
    let mut given = Vec::new();
    if parser.lexer.take("|") {
        parser.lexer.skip_spaces();
        while !parser.lexer.is_at_end() {
            given.push(parser.evidence()?);
            if !parser.lexer.take(",") {
                break;
            }
            parser.lexer.skip_spaces();
        }
    }
    parser.lexer.skip_spaces();
    if !parser.lexer.is_at_end() {
        let expected = if given.is_empty() {
            "expected a condition, a comma or a bar"
        } else {
            "expected a comma or the end of the question"
        };
        return Err(parser.lexer.error(expected));
    }
    Ok(Question { kind, asked, given })
}

fn kind(lexer: &mut Lexer<'_>) -> Result<Kind> {
    let kinds = [
        ("MAP", Kind::MostProbable),
        ("P", Kind::Probability),
        ("E", Kind::Mean),
    ];
    lexer.skip_spaces();
    let start = *lexer;
    let kind = kinds.into_iter().find(|(name, _)| lexer.take(name));
    match kind {
        Some((_, kind)) if lexer.take("(") => Ok(kind),
        _ => Err(start.error("this is not a question").with_hint(FORM)),
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    names: &'a [&'a str],
}

impl<'a> Parser<'a> {
    fn term(&mut self) -> Result<Term> {
        let column = self.name()?;
        let condition = self.condition()?;
        Ok(Term { column, condition })
    }

    fn evidence(&mut self) -> Result<Evidence> {
        if let Some((column, condition)) = self.intervention()? {
            return Ok(Evidence::Do { column, condition });
        }
        let column = self.name()?;
        match self.condition()? {
            Some(condition) => Ok(Evidence::Observed { column, condition }),
            None => Err(self
                .lexer
                .error(format!("expected a condition on \"{}\"", column.text))
                .with_hint("as in x=1, x>2, x in {1, 2} or x between 1 and 2")),
        }
    }

    /// `do(x=1)`, unless there is a column of that name.
    fn intervention(&mut self) -> Result<Option<(Word, Condition)>> {
        let mut after = self.lexer;
        let mut name = self.lexer;
        let known = name.take_known(self.names(), ends_name).is_some();
        if known || !after.take_keyword("do") || !after.take("(") {
            return Ok(None);
        }
        self.lexer = after;
        let column = self.name()?;
        let operator = self.lexer;
        if self.lexer.take_operator() != Some(Operator::Equal) {
            return Err(operator.error("expected = and a value, as in do(x=1)"));
        }
        let value = self.value(|lexer| lexer.sees(")") || lexer.sees(",") || lexer.sees("|"))?;
        if !self.lexer.take(")") {
            return Err(self.lexer.error("expected the closing parenthesis of do("));
        }
        Ok(Some((column, Condition::Compare(Operator::Equal, value))))
    }

    fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.names.iter().copied()
    }

    /// The name of a column. One that is not known ends where a condition may begin.
    fn name(&mut self) -> Result<Word> {
        let mut lexer = self.lexer;
        let name = match lexer.take_quoted()? {
            Some(name) => name,
            None => match lexer.take_known(self.names(), ends_name) {
                Some(name) => name,
                None => lexer.take_until(|lexer| ends_name(lexer) || lexer.sees(")")),
            },
        };
        self.lexer = lexer;
        if name.text.is_empty() {
            let error = Error::parameter("expected the name of a column");
            return Err(error.at_position(name.position));
        }
        Ok(name)
    }

    fn condition(&mut self) -> Result<Option<Condition>> {
        if let Some(operator) = self.lexer.take_operator() {
            return Ok(Some(Condition::Compare(operator, self.value(ends_value)?)));
        }
        if self.lexer.take_keyword("in") {
            return self.set().map(Some);
        }
        if !self.lexer.take_keyword("between") {
            return Ok(None);
        }
        let low = self.value(|lexer| ends_value(lexer) || lexer.sees_keyword("and"))?;
        if !self.lexer.take_keyword("and") {
            let error = self.lexer.error("expected and, as in x between 1 and 2");
            return Err(error);
        }
        Ok(Some(Condition::Between(low, self.value(ends_value)?)))
    }

    fn set(&mut self) -> Result<Condition> {
        if !self.lexer.take("{") {
            return Err(self.lexer.error("expected {, as in x in {1, 2}"));
        }
        let ends = |lexer: &Lexer| lexer.sees(",") || lexer.sees("}");
        let mut values = vec![self.value(ends)?];
        while self.lexer.take(",") {
            values.push(self.value(ends)?);
        }
        if !self.lexer.take("}") {
            return Err(self.lexer.error("expected a comma or }"));
        }
        Ok(Condition::In(values))
    }

    fn value(&mut self, ends: impl Fn(&Lexer) -> bool) -> Result<Word> {
        if let Some(value) = self.lexer.take_quoted()? {
            self.lexer.skip_spaces();
            if !self.lexer.is_at_end() && !ends(&self.lexer) {
                return Err(self.lexer.error("unexpected text behind a quoted value"));
            }
            return Ok(value);
        }
        let value = self.lexer.take_until(ends);
        if value.text.is_empty() {
            return Err(Error::parameter("expected a value").at_position(value.position));
        }
        Ok(value)
    }
}

/// Whether a name may end here: something other than a name follows.
fn ends_name(lexer: &Lexer) -> bool {
    ends_value(lexer)
        || lexer.is_at_end()
        || lexer.sees_operator()
        || ["in", "between"]
            .iter()
            .any(|word| lexer.sees_keyword(word))
}

fn ends_value(lexer: &Lexer) -> bool {
    lexer.sees(",") || lexer.sees("|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NAMES: [&str; 6] = ["x", "y", "length (cm)", "a>4", "it's", "in"];

    fn parsed(text: &str) -> Question {
        parse(text, &NAMES).unwrap()
    }

    fn word(text: &str, position: usize) -> Word {
        let text = text.into();
        Word { text, position }
    }

    fn compared(operator: Operator, text: &str, position: usize) -> Condition {
        Condition::Compare(operator, word(text, position))
    }

    #[test]
    fn a_question_has_columns_conditions_and_evidence() {
        let question = parsed("P(x, y | a>4 = yes, length (cm) >= 2.5)");
        assert_eq!(question.kind, Kind::Probability);
        let columns: Vec<_> = question
            .asked
            .iter()
            .map(|term| term.column.clone())
            .collect();
        assert_eq!(columns, [word("x", 3), word("y", 6)]);
        let observed = |column, condition| Evidence::Observed { column, condition };
        let given = [
            observed(word("a>4", 10), compared(Operator::Equal, "yes", 16)),
            observed(
                word("length (cm)", 21),
                compared(Operator::AtLeast, "2.5", 36),
            ),
        ];
        assert_eq!(question.given, given);
        assert_eq!(parsed("E(x|)").given, []);
        assert_eq!(parsed(" MAP ( it's ) ").asked[0].column, word("it's", 8));
    }

    #[test]
    fn every_condition_has_its_form() {
        let condition = |text: &str| {
            let question = parsed(&format!("P(x{text})"));
            question.asked[0].condition.clone().unwrap()
        };
        for (sign, operator) in [
            ("=", Operator::Equal),
            ("==", Operator::Equal),
            ("!=", Operator::NotEqual),
            ("<", Operator::Less),
            ("<=", Operator::AtMost),
            (">", Operator::Greater),
            (">=", Operator::AtLeast),
            ("≥", Operator::AtLeast),
        ] {
            let position = 4 + sign.chars().count();
            assert_eq!(
                condition(&format!("{sign}7")),
                compared(operator, "7", position)
            );
        }
        assert_eq!(
            condition(" between 1 and 2"),
            Condition::Between(word("1", 13), word("2", 19))
        );
        assert_eq!(
            condition(" in {a b, 'c}'}"),
            Condition::In(vec![word("a b", 9), word("c}", 14)])
        );
        assert_eq!(
            condition("=5 o'clock"),
            compared(Operator::Equal, "5 o'clock", 5)
        );
        assert_eq!(
            condition(r#"="say ""x""""#),
            compared(Operator::Equal, r#"say "x""#, 5)
        );
    }

    #[test]
    fn a_column_may_be_named_like_a_keyword() {
        assert_eq!(parsed("P(in in {1})").asked[0].column, word("in", 3));
        assert_eq!(parsed("P(bin)").asked[0].column, word("bin", 3));
        assert_eq!(parsed("P(x | in=2)").given.len(), 1);
    }

    #[test]
    fn interventions_are_read() {
        let Evidence::Do { column, condition } = &parsed("P(y | do(x=1))").given[0] else {
            panic!("this is an intervention");
        };
        assert_eq!(*column, word("x", 10));
        assert_eq!(*condition, compared(Operator::Equal, "1", 12));
    }

    #[test]
    fn errors_are_at_the_character() {
        for (text, position) in [
            ("x", 1),
            ("  Q(x)", 3),
            ("P(x", 4),
            ("P()", 3),
            ("P(x,)", 5),
            ("P(x | y)", 8),
            ("P(x | | y=1)", 7),
            ("P(x | y=1 | y=2)", 11),
            ("P(x=)", 5),
            ("P(x between 1)", 14),
            ("P(x in 3)", 8),
            ("P(x in {1, 2)", 13),
            ("P('x)", 3),
            ("P(x='a' b)", 9),
            ("P(x | do(y>1))", 11),
            ("P(x | do(y=1)", 13),
        ] {
            let error = parse(text, &NAMES).unwrap_err();
            assert_eq!(error.position(), Some(position), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in any::<String>()) {
            let _ = parse(&text, &NAMES);
        }

        #[test]
        fn no_question_makes_the_parser_panic(
            kind in "P|E|MAP",
            parts in prop::collection::vec("x|y|,|\\||=|<|!=|in|\\{|\\}|between|and|do\\(|\\)|'|\"| |1|é", 0..24),
        ) {
            let text = format!("{kind}({})", parts.concat());
            if let Err(error) = parse(&text, &NAMES) {
                let position = error.position().unwrap();
                prop_assert!((1..=text.chars().count() + 1).contains(&position), "{}", text);
            }
        }
    }
}
