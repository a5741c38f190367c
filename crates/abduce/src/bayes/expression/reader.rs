//! Reads expressions by recursive descent, one function per precedence.

use super::{Binary, Node, Order, Unary};
use crate::family::{Named, densities};
use crate::{Error, Result};

/// The text, and how far it is read.
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    variables: &'a [&'a str],
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, variables: &'a [&'a str]) -> Reader<'a> {
        Reader {
            text,
            at: 0,
            depth: 0,
            variables,
        }
    }

    pub(super) fn whole(&mut self) -> Result<Node> {
        // A sum of thousands of terms is a tree of that depth.
        const LONGEST: usize = 10_000;
        if self.text.len() > LONGEST {
            return Err(
                Error::parameter("the expression is too long").with_hint("give a table instead")
            );
        }
        let root = self.choice()?;
        if self.rest().is_empty() {
            Ok(root)
        } else {
            Err(self.error("an operator or the end"))
        }
    }

    /// Goes one level deeper, up to a maximum depth.
    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Result<Node>) -> Result<Node> {
        const DEEPEST: usize = 200;
        if self.depth >= DEEPEST {
            return Err(Error::parameter("the expression is nested too deeply"));
        }
        self.depth += 1;
        let node = read(self);
        self.depth -= 1;
        node
    }

    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        &self.text[self.at..]
    }

    fn error(&mut self, wanted: &str) -> Error {
        let found = match self.rest().chars().next() {
            Some(c) => format!("\"{c}\""),
            None => "the end".into(),
        };
        let place = self.text[..self.at].chars().count() + 1;
        Error::parameter(format!(
            "\"{}\" cannot be read: {wanted} should stand at place {place}, and {found} does",
            self.text
        ))
    }

    /// Takes a symbol if it is next.
    fn symbol(&mut self, symbol: &str) -> bool {
        let there = self.rest().starts_with(symbol);
        self.at += if there { symbol.len() } else { 0 };
        there
    }

    /// The name that is next, without taking it.
    fn name(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let inside = |c: char| c.is_alphanumeric() || c == '_';
        rest.chars()
            .next()
            .filter(|c| c.is_alphabetic() || *c == '_')?;
        let end = rest.find(|c| !inside(c)).unwrap_or(rest.len());
        Some(&rest[..end])
    }

    /// Takes a word if it is next.
    fn word(&mut self, word: &str) -> bool {
        let there = self.name() == Some(word);
        self.at += if there { word.len() } else { 0 };
        there
    }

    fn choice(&mut self) -> Result<Node> {
        let then = self.or()?;
        if !self.word("if") {
            return Ok(then);
        }
        let condition = self.or()?;
        if !self.word("else") {
            return Err(self.error("else"));
        }
        let otherwise = self.deeper(Self::choice)?;
        Ok(Node::Choice(Box::new([then, condition, otherwise])))
    }

    fn or(&mut self) -> Result<Node> {
        let mut left = self.and()?;
        while self.word("or") {
            left = binary(Binary::Or, left, self.and()?);
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Node> {
        let mut left = self.not()?;
        while self.word("and") {
            left = binary(Binary::And, left, self.not()?);
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<Node> {
        if self.word("not") {
            Ok(Node::Unary(Unary::Not, Box::new(self.deeper(Self::not)?)))
        } else {
            self.comparison()
        }
    }

    fn comparison(&mut self) -> Result<Node> {
        const ORDERS: &[(&str, Order)] = &[
            ("<=", Order::AtMost),
            (">=", Order::AtLeast),
            ("==", Order::Equal),
            ("!=", Order::Unequal),
            ("≤", Order::AtMost),
            ("≥", Order::AtLeast),
            ("<", Order::Less),
            (">", Order::Greater),
        ];
        let (mut sides, mut orders) = (vec![self.sum()?], Vec::new());
        while let Some((_, order)) = ORDERS.iter().find(|(symbol, _)| self.symbol(symbol)) {
            orders.push(*order);
            sides.push(self.sum()?);
        }
        match (orders.is_empty(), sides.pop()) {
            (true, Some(only)) => Ok(only),
            (_, last) => {
                sides.extend(last);
                Ok(Node::Compare(sides, orders))
            }
        }
    }

    fn sum(&mut self) -> Result<Node> {
        let mut left = self.product()?;
        loop {
            left = if self.symbol("+") {
                binary(Binary::Add, left, self.product()?)
            } else if self.symbol("-") {
                binary(Binary::Subtract, left, self.product()?)
            } else {
                return Ok(left);
            };
        }
    }

    fn product(&mut self) -> Result<Node> {
        let mut left = self.signed()?;
        loop {
            let power = self.rest().starts_with("**");
            left = if !power && self.symbol("*") {
                binary(Binary::Multiply, left, self.signed()?)
            } else if self.symbol("/") {
                binary(Binary::Divide, left, self.signed()?)
            } else {
                return Ok(left);
            };
        }
    }

    fn signed(&mut self) -> Result<Node> {
        if self.symbol("-") {
            return Ok(Node::Unary(
                Unary::Minus,
                Box::new(self.deeper(Self::signed)?),
            ));
        }
        self.symbol("+");
        self.power()
    }

    fn power(&mut self) -> Result<Node> {
        let base = self.atom()?;
        if self.symbol("**") || self.symbol("^") {
            Ok(binary(Binary::Power, base, self.deeper(Self::signed)?))
        } else {
            Ok(base)
        }
    }

    fn atom(&mut self) -> Result<Node> {
        if self.symbol("(") {
            let inner = self.deeper(Self::choice)?;
            return self.closed(inner);
        }
        match self.name() {
            Some(name) => self.named(name),
            None => self.number(),
        }
    }

    fn closed<T>(&mut self, inner: T) -> Result<T> {
        if self.symbol(")") {
            Ok(inner)
        } else {
            Err(self.error("\")\""))
        }
    }

    fn number(&mut self) -> Result<Node> {
        let rest = self.rest();
        let mut end = 0;
        let mut before = ' ';
        for c in rest.chars() {
            let sign_of_power = matches!(c, '+' | '-') && matches!(before, 'e' | 'E');
            let begun = end > 0;
            if !(c.is_ascii_digit()
                || c == '.'
                || (begun && matches!(c, 'e' | 'E'))
                || sign_of_power)
            {
                break;
            }
            before = c;
            end += c.len_utf8();
        }
        match rest[..end].parse() {
            Ok(number) => {
                self.at += end;
                Ok(Node::Number(number))
            }
            Err(_) => Err(self.error("a number, a name or \"(\"")),
        }
    }

    fn named(&mut self, name: &'a str) -> Result<Node> {
        if self.variables.contains(&name) {
            self.at += name.len();
            return Ok(Node::Variable);
        }
        let constant = match name {
            "pi" | "π" => Some(std::f64::consts::PI),
            "e" => Some(std::f64::consts::E),
            "inf" => Some(f64::INFINITY),
            _ => None,
        };
        if let Some(constant) = constant {
            self.at += name.len();
            return Ok(Node::Number(constant));
        }
        let function = match name {
            "exp" => Some(Unary::Exp),
            "log" | "ln" => Some(Unary::Ln),
            "sqrt" => Some(Unary::Sqrt),
            "abs" => Some(Unary::Abs),
            "sin" => Some(Unary::Sin),
            "cos" => Some(Unary::Cos),
            _ => None,
        };
        let pair = match name {
            "min" => Some(Binary::Min),
            "max" => Some(Binary::Max),
            "pow" => Some(Binary::Power),
            _ => None,
        };
        let density = Named::find(name).filter(|own| own.is_density);
        if function.is_none() && pair.is_none() && density.is_none() {
            let known: Vec<String> = densities().map(|own| own.name.replace('-', "_")).collect();
            return Err(Error::parameter(format!(
                "\"{}\" cannot be read: \"{name}\" is not known",
                self.text
            ))
            .with_hint(format!(
                "the variable is {}; functions are exp, log, sqrt, abs, sin, cos, min, max, pow; \
                 densities are {}",
                self.variables.join(" or "),
                known.join(", ")
            )));
        }
        self.at += name.len();
        let mut arguments = self.arguments()?;
        let count = arguments.len();
        let wrong = |wanted: usize| {
            Error::parameter(format!(
                "{name} takes {wanted} numbers, and {count} are given"
            ))
        };
        match (function, pair, density) {
            (Some(function), ..) if count == 1 => {
                Ok(Node::Unary(function, Box::new(arguments.remove(0))))
            }
            (Some(_), ..) => Err(wrong(1)),
            (_, Some(pair), _) if count == 2 => {
                let right = arguments.remove(1);
                Ok(binary(pair, arguments.remove(0), right))
            }
            (_, Some(_), _) => Err(wrong(2)),
            (_, _, Some(density)) if count == density.numbers.len() => {
                // Parameters that do not depend on the variable are checked now.
                if arguments.iter().all(Node::is_constant) {
                    let numbers: Vec<f64> = arguments.iter().map(|own| own.value(0.0)).collect();
                    (density.build)(&numbers)?;
                }
                Ok(Node::Density(density, arguments))
            }
            (_, _, other) => Err(wrong(other.map_or(0, |own| own.numbers.len()))),
        }
    }

    fn arguments(&mut self) -> Result<Vec<Node>> {
        if !self.symbol("(") {
            return Err(self.error("\"(\""));
        }
        let mut arguments = vec![self.deeper(Self::choice)?];
        while self.symbol(",") {
            arguments.push(self.deeper(Self::choice)?);
        }
        self.closed(arguments)
    }
}

fn binary(operation: Binary, left: Node, right: Node) -> Node {
    Node::Binary(operation, Box::new(left), Box::new(right))
}
