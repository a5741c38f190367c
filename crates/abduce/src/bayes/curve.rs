//! A prior of any shape over one parameter: an expression, a table of values or a distribution.
//! It need not integrate to 1.

use super::Expression;
use crate::family::Univariate;
use crate::{Error, Result};

/// A function of one parameter that is nowhere negative.
#[derive(Debug)]
pub enum Curve {
    /// An expression that a user wrote.
    Expression(Expression),
    /// Values at ascending places, linear between them, 0 outside.
    Table(Vec<(f64, f64)>),
    /// A density.
    Density(Box<dyn Univariate>),
}

impl Curve {
    /// A table of places and values.
    ///
    /// # Errors
    /// If there are fewer than two places, one occurs twice, or a value is negative or not finite.
    pub fn table(mut points: Vec<(f64, f64)>) -> Result<Curve> {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        if points.len() < 2 {
            return Err(Error::data("the table of a prior needs at least two rows"));
        }
        if let Some(pair) = points.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Error::data(format!(
                "the table of the prior has two values at {}",
                pair[0].0
            )));
        }
        let wrong = |(x, y): &&(f64, f64)| !(x.is_finite() && *y >= 0.0 && y.is_finite());
        if let Some((x, y)) = points.iter().find(wrong) {
            return Err(Error::data(format!(
                "a prior must be 0 or more everywhere, but the table gives {y} at {x}"
            )));
        }
        Ok(Curve::Table(points))
    }

    /// The logarithm of the value at x, −∞ where it is 0.
    ///
    /// # Errors
    /// If the value is negative or not a number.
    pub fn log_value(&self, x: f64) -> Result<f64> {
        match self {
            Curve::Density(density) => Ok(density.log_density(x)),
            Curve::Table(points) => {
                let after = points.partition_point(|(place, _)| *place < x);
                let value = match (after.checked_sub(1).map(|i| points[i]), points.get(after)) {
                    (_, Some((place, value))) if *place == x => *value,
                    (Some((a, f)), Some((b, g))) => f + (g - f) * (x - a) / (b - a),
                    _ => 0.0,
                };
                Ok(value.ln())
            }
            Curve::Expression(expression) => {
                let log = expression.log_value(x);
                if !log.is_nan() {
                    return Ok(log);
                }
                // A logarithm of a negative factor may still be a positive product.
                let value = expression.value(x);
                if value >= 0.0 {
                    return Ok(value.ln());
                }
                Err(Error::parameter(format!(
                    "a prior must be 0 or more everywhere, but this one is {value} at {x}"
                ))
                .with_hint("write it so that it is defined for every value of the parameter"))
            }
        }
    }

    /// Whether the value at x is negative, which no prior may be.
    pub(super) fn is_negative_at(&self, x: f64) -> bool {
        matches!(self, Curve::Expression(expression) if expression.value(x) < 0.0)
    }

    /// Where the function may jump or bend.
    pub fn breaks(&self) -> Vec<f64> {
        match self {
            Curve::Expression(expression) => expression.breaks(),
            Curve::Table(points) => points.iter().map(|(x, _)| *x).collect(),
            Curve::Density(density) => {
                let (low, high) = density.support();
                let levels = [0.001, 0.1, 0.5, 0.9, 0.999];
                let inside = levels.iter().map(|p| density.quantile(*p));
                let ends = [low, high].into_iter().filter(|x| x.is_finite());
                ends.chain(inside).collect()
            }
        }
    }
}
