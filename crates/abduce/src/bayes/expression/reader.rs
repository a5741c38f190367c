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

    /// Reads a nested part, up to a maximum depth.
    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Result<Node>) -> Result<Node> {
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
            "\"{}\" cannot be read: expected {wanted} at character {place}, found {found}",
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
            return Err(self.error("\"else\""));
        }
        let otherwise = self.nested(Self::choice)?;
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
            Ok(Node::Unary(Unary::Not, Box::new(self.nested(Self::not)?)))
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
                Box::new(self.nested(Self::signed)?),
            ));
        }
        self.symbol("+");
        self.power()
    }

    fn power(&mut self) -> Result<Node> {
        let base = self.atom()?;
        if self.symbol("**") || self.symbol("^") {
            Ok(binary(Binary::Power, base, self.nested(Self::signed)?))
        } else {
            Ok(base)
        }
    }

    fn atom(&mut self) -> Result<Node> {
        if self.symbol("(") {
            let inner = self.nested(Self::choice)?;
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

    /// The variable, a constant, or a function with its arguments.
    fn named(&mut self, name: &'a str) -> Result<Node> {
        if self.variables.contains(&name) {
            self.at += name.len();
            return Ok(Node::Variable);
        }
        if let Some(constant) = constant(name) {
            self.at += name.len();
            return Ok(Node::Number(constant));
        }
        let function = Function::find(name).ok_or_else(|| self.unknown_name(name))?;
        self.at += name.len();
        let mut arguments = self.arguments()?;
        let (expected, given) = (function.arguments(), arguments.len());
        if given != expected {
            return Err(Error::parameter(format!(
                "{name} takes {expected} numbers, and {given} are given"
            )));
        }
        match function {
            Function::Unary(function) => Ok(Node::Unary(function, Box::new(arguments.remove(0)))),
            Function::Binary(function) => {
                let right = arguments.remove(1);
                Ok(binary(function, arguments.remove(0), right))
            }
            Function::Density(density) => {
                // Parameters that do not depend on the variable are checked now.
                if arguments.iter().all(Node::is_constant) {
                    let numbers: Vec<f64> = arguments
                        .iter()
                        .map(|argument| argument.value(0.0))
                        .collect();
                    (density.build)(&numbers)?;
                }
                Ok(Node::Density(density, arguments))
            }
        }
    }

    fn unknown_name(&self, name: &str) -> Error {
        let known: Vec<String> = densities()
            .map(|density| density.name.replace('-', "_"))
            .collect();
        Error::parameter(format!(
            "\"{}\" cannot be read: \"{name}\" is not known",
            self.text
        ))
        .with_hint(format!(
            "the variable is {}; functions are exp, log, sqrt, abs, sin, cos, min, max, pow; \
             densities are {}",
            self.variables.join(" or "),
            known.join(", ")
        ))
    }

    fn arguments(&mut self) -> Result<Vec<Node>> {
        if !self.symbol("(") {
            return Err(self.error("\"(\""));
        }
        let mut arguments = vec![self.nested(Self::choice)?];
        while self.symbol(",") {
            arguments.push(self.nested(Self::choice)?);
        }
        self.closed(arguments)
    }
}

fn binary(operation: Binary, left: Node, right: Node) -> Node {
    Node::Binary(operation, Box::new(left), Box::new(right))
}

/// A function that an expression can call.
enum Function {
    Unary(Unary),
    Binary(Binary),
    Density(&'static Named),
}

impl Function {
    fn find(name: &str) -> Option<Function> {
        match name {
            "exp" => Some(Function::Unary(Unary::Exp)),
            "log" | "ln" => Some(Function::Unary(Unary::Ln)),
            "sqrt" => Some(Function::Unary(Unary::Sqrt)),
            "abs" => Some(Function::Unary(Unary::Abs)),
            "sin" => Some(Function::Unary(Unary::Sin)),
            "cos" => Some(Function::Unary(Unary::Cos)),
            "min" => Some(Function::Binary(Binary::Min)),
            "max" => Some(Function::Binary(Binary::Max)),
            "pow" => Some(Function::Binary(Binary::Power)),
            _ => {
                let density = Named::find(name).filter(|named| named.is_density);
                density.map(Function::Density)
            }
        }
    }

    /// The number of arguments it takes.
    fn arguments(&self) -> usize {
        match self {
            Function::Unary(_) => 1,
            Function::Binary(_) => 2,
            Function::Density(density) => density.numbers.len(),
        }
    }
}

fn constant(name: &str) -> Option<f64> {
    match name {
        "pi" | "π" => Some(std::f64::consts::PI),
        "e" => Some(std::f64::consts::E),
        "inf" => Some(f64::INFINITY),
        _ => None,
    }
}
