//! A function of one variable that users write: `0.8 if x > 0.5 else 0.2`,
//! `exp(-abs(x))`, `0.3*beta(2,2) + 0.7*beta(20,5)`. Operators and precedence are
//! Python's; `^` is a power; the name of a distribution with its numbers is its
//! density at x.

mod reader;

use crate::Result;
use crate::family::Named;
use reader::Reader;

/// A function of one variable.
///
/// ```
/// use abduce::bayes::Expression;
/// let prior = Expression::parse("0.8 if x > 0.5 else 0.2", &["x"])?;
/// assert_eq!((prior.value(0.7), prior.value(0.3)), (0.8, 0.2));
/// assert_eq!(prior.breaks(), [0.5]);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    root: Node,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    Variable,
    Unary(Unary, Box<Node>),
    Binary(Binary, Box<Node>, Box<Node>),
    /// Operands and the operators between them, as in 0 < x <= 1.
    Compare(Vec<Node>, Vec<Order>),
    /// then, condition, otherwise.
    Choice(Box<[Node; 3]>),
    Density(&'static Named, Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Unary {
    Minus,
    Not,
    Exp,
    Ln,
    Sqrt,
    Abs,
    Sin,
    Cos,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    And,
    Or,
    Min,
    Max,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    Unequal,
}

impl Expression {
    /// Parses an expression; each of `variables` is a name of the variable.
    ///
    /// # Errors
    /// If it cannot be parsed; the message names the position.
    pub fn parse(text: &str, variables: &[&str]) -> Result<Expression> {
        let root = Reader::new(text, variables).whole()?;
        Ok(Expression { root })
    }

    /// The value at x; NaN where it is not defined.
    pub fn value(&self, x: f64) -> f64 {
        self.root.value(x)
    }

    /// The logarithm of the value at x, which keeps its range for products
    /// and densities.
    pub fn log_value(&self, x: f64) -> f64 {
        self.root.log_value(x)
    }

    /// The numbers that the variable is compared with, where the function may jump, and those at
    /// which a part of it is 0, where it may bend or be unbounded, as |x − ½|^−½ is; ascending.
    pub fn breaks(&self) -> Vec<f64> {
        let mut breaks = Vec::new();
        self.root.breaks(&mut breaks);
        breaks.retain(|x| x.is_finite());
        breaks.sort_by(f64::total_cmp);
        breaks.dedup();
        breaks
    }
}

fn truth(x: f64) -> bool {
    x != 0.0
}

fn number(truth: bool) -> f64 {
    f64::from(u8::from(truth))
}

impl Node {
    fn value(&self, x: f64) -> f64 {
        match self {
            Node::Number(number) => *number,
            Node::Variable => x,
            Node::Unary(operation, inner) => {
                let y = inner.value(x);
                match operation {
                    Unary::Minus => -y,
                    Unary::Not => number(!truth(y)),
                    Unary::Exp => y.exp(),
                    Unary::Ln => y.ln(),
                    Unary::Sqrt => y.sqrt(),
                    Unary::Abs => y.abs(),
                    Unary::Sin => y.sin(),
                    Unary::Cos => y.cos(),
                }
            }
            Node::Binary(operation, left, right) => {
                let (a, b) = (left.value(x), right.value(x));
                match operation {
                    Binary::Add => a + b,
                    Binary::Subtract => a - b,
                    Binary::Multiply => a * b,
                    Binary::Divide => a / b,
                    Binary::Power => a.powf(b),
                    Binary::And => number(truth(a) && truth(b)),
                    Binary::Or => number(truth(a) || truth(b)),
                    Binary::Min => a.min(b),
                    Binary::Max => a.max(b),
                }
            }
            Node::Compare(sides, orders) => {
                let pairs = sides.windows(2).zip(orders);
                let holds = |(pair, order): (&[Node], &Order)| {
                    let (a, b) = (pair[0].value(x), pair[1].value(x));
                    match order {
                        Order::Less => a < b,
                        Order::AtMost => a <= b,
                        Order::Greater => a > b,
                        Order::AtLeast => a >= b,
                        Order::Equal => a == b,
                        Order::Unequal => a != b,
                    }
                };
                number(pairs.into_iter().all(holds))
            }
            Node::Choice(parts) => {
                if truth(parts[1].value(x)) {
                    parts[0].value(x)
                } else {
                    parts[2].value(x)
                }
            }
            Node::Density(..) => self.log_value(x).exp(),
        }
    }

    fn log_value(&self, x: f64) -> f64 {
        match self {
            Node::Unary(Unary::Exp, inner) => inner.value(x),
            Node::Binary(Binary::Multiply, left, right) => left.log_value(x) + right.log_value(x),
            Node::Binary(Binary::Divide, left, right) => left.log_value(x) - right.log_value(x),
            Node::Binary(Binary::Add, left, right) => {
                let (a, b) = (left.log_value(x), right.log_value(x));
                match a.max(b) {
                    most if most.is_finite() && !a.is_nan() && !b.is_nan() => {
                        most + (a.min(b) - most).exp().ln_1p()
                    }
                    _ => self.value(x).ln(),
                }
            }
            Node::Binary(Binary::Power, base, power) => {
                let (base, power) = (base.log_value(x), power.value(x));
                // Anything to the power 0 is 1, even 0.
                if power == 0.0 { 0.0 } else { power * base }
            }
            Node::Choice(parts) => {
                if truth(parts[1].value(x)) {
                    parts[0].log_value(x)
                } else {
                    parts[2].log_value(x)
                }
            }
            Node::Density(density, numbers) => {
                let numbers: Vec<f64> = numbers.iter().map(|number| number.value(x)).collect();
                (density.build)(&numbers)
                    .map_or(f64::NAN, |distribution| distribution.log_density(x))
            }
            other => other.value(x).ln(),
        }
    }

    fn breaks(&self, into: &mut Vec<f64>) {
        match self {
            Node::Number(_) | Node::Variable => {}
            Node::Unary(operation, inner) => {
                if matches!(operation, Unary::Abs | Unary::Ln | Unary::Sqrt) {
                    into.extend(inner.root());
                }
                inner.breaks(into);
            }
            Node::Binary(operation, left, right) => {
                match operation {
                    Binary::Divide => into.extend(right.root()),
                    Binary::Power => into.extend(left.root()),
                    _ => {}
                }
                [left, right].iter().for_each(|n| n.breaks(into));
            }
            Node::Compare(sides, _) => {
                for pair in sides.windows(2) {
                    match pair {
                        [Node::Variable, other] | [other, Node::Variable]
                            if other.is_constant() =>
                        {
                            into.push(other.value(0.0));
                        }
                        _ => {}
                    }
                }
            }
            Node::Choice(parts) => parts.iter().for_each(|n| n.breaks(into)),
            Node::Density(density, numbers) if density.name == "uniform" => {
                let ends = numbers.iter().filter(|n| n.is_constant());
                into.extend(ends.map(|n| n.value(0.0)));
            }
            // The middle of a density is evaluated however narrow it is.
            Node::Density(density, numbers) if numbers.iter().all(Node::is_constant) => {
                let numbers: Vec<f64> = numbers.iter().map(|number| number.value(0.0)).collect();
                if let Ok(distribution) = (density.build)(&numbers) {
                    let levels = [0.001, 0.1, 0.5, 0.9, 0.999];
                    into.extend(levels.iter().map(|p| distribution.quantile(*p)));
                    into.extend(<[f64; 2]>::from(distribution.support()));
                }
            }
            Node::Density(_, numbers) => numbers.iter().for_each(|n| n.breaks(into)),
        }
    }

    /// Where a straight line is 0.
    fn root(&self) -> Option<f64> {
        let (slope, height) = self.line()?;
        (slope != 0.0).then(|| 0.0 - height / slope)
    }

    /// Slope and height at 0, if it is a straight line.
    fn line(&self) -> Option<(f64, f64)> {
        match self {
            Node::Variable => Some((1.0, 0.0)),
            node if node.is_constant() => Some((0.0, node.value(0.0))),
            Node::Unary(Unary::Minus, inner) => inner.line().map(|(a, b)| (-a, -b)),
            Node::Binary(operation, left, right) => {
                let ((a, b), (c, d)) = (left.line()?, right.line()?);
                match operation {
                    Binary::Add => Some((a + c, b + d)),
                    Binary::Subtract => Some((a - c, b - d)),
                    Binary::Multiply if a == 0.0 => Some((b * c, b * d)),
                    Binary::Multiply if c == 0.0 => Some((a * d, b * d)),
                    Binary::Divide if c == 0.0 => Some((a / d, b / d)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn is_constant(&self) -> bool {
        match self {
            Node::Number(_) => true,
            Node::Variable | Node::Density(..) => false,
            Node::Unary(_, inner) => inner.is_constant(),
            Node::Binary(_, left, right) => left.is_constant() && right.is_constant(),
            Node::Compare(sides, _) => sides.iter().all(Node::is_constant),
            Node::Choice(parts) => parts.iter().all(Node::is_constant),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::{Beta, Univariate};

    fn value(text: &str, x: f64) -> f64 {
        Expression::parse(text, &["x", "θ"]).unwrap().value(x)
    }

    #[test]
    fn operators_bind_as_in_python() {
        assert_eq!(value("1 + 2 * 3", 0.0), 7.0);
        assert_eq!(value("-2 ** 2", 0.0), -4.0);
        assert_eq!(value("2 ^ 3 ^ 2", 0.0), 512.0);
        assert_eq!(value("2 ** -1", 0.0), 0.5);
        assert_eq!(value("(1 + 2) * 3 - 4 / 2", 0.0), 7.0);
        assert_eq!(value("1 if x < 0 else 2 if x < 1 else 3", 0.5), 2.0);
        assert_eq!(value("not x > 1 and 0.2 < x <= 0.5 or x == 7", 0.5), 1.0);
        assert_eq!(value("1e-3 + 2.5E+2", 0.0), 250.001);
        assert_eq!(value("θ*exp(-θ)", 1.0), (-1.0_f64).exp());
        assert_eq!(value("min(x, 3) + max(x, 3) + pow(x, 2)", 5.0), 33.0);
    }

    #[test]
    fn names_of_distributions_are_their_densities() {
        let density = Beta { a: 2.0, b: 3.0 }.density(0.3);
        assert!((value("beta(2, 3)", 0.3) - density).abs() < 1e-15);
        assert!(
            (value("0.5*beta(2,3) + 0.5*uniform(0,1)", 0.3) - 0.5 * (density + 1.0)).abs() < 1e-15
        );
    }

    #[test]
    fn logarithms_keep_what_would_underflow() {
        let far = Expression::parse("exp(-x^2) * 3", &["x"]).unwrap();
        assert_eq!(far.value(100.0), 0.0);
        assert!((far.log_value(100.0) + 1e4 - 3.0_f64.ln()).abs() < 1e-9);
    }

    #[test]
    fn jumps_are_found() {
        let steps = Expression::parse("1 if 0.2 < x < 0.25*2 else 2 if x > 0.7 else 0", &["x"]);
        assert_eq!(steps.unwrap().breaks(), [0.2, 0.5, 0.7]);
        let poles = Expression::parse("abs(x-0.5)^-0.5 + 1/(3 - 2*x)^2 + ln(x/4 + 1)", &["x"]);
        assert_eq!(poles.unwrap().breaks(), [-4.0, 0.5, 1.5]);
    }

    #[test]
    fn parse_errors_name_the_position() {
        let error = |text: &str| Expression::parse(text, &["x"]).unwrap_err().to_string();
        assert!(error("1 +").contains("character 4"), "{}", error("1 +"));
        assert!(error("(1").contains("\")\""));
        assert!(error("1 2").contains("operator"));
        assert!(error("y + 1").contains("\"y\" is not known"));
        assert!(error("beta(1)").contains("takes 2 numbers"));
        assert!(error("beta(-1,2)").contains("positive"));
        assert!(error("poisson(2)").contains("\"poisson\" is not known"));
        assert!(error("1 if x > 0").contains("else"));
        assert!(error("").contains("the end"));
        assert!(error("π×2").contains('×'));
    }
}
