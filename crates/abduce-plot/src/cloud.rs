//! What is drawn: rows as points of several columns, each row in a group, and what
//! a model says of the columns.

use super::{Axis, Gaussian, Grid, Scale};
use crate::{Error, Result};

/// Rows of numbers, each in its group.
///
/// ```
/// use abduce_plot::{Cloud, Frame, Variable, classification};
/// let cloud = Cloud {
///     variables: vec![
///         Variable::new("length", vec![Some(1.0), Some(2.0), None]),
///         Variable::new("width", vec![Some(0.1), Some(0.4), Some(0.3)]),
///     ],
///     groups: vec!["small".into(), "large".into()],
///     group: vec![0, 1, 1],
///     ..Cloud::default()
/// };
/// let svg = classification(&Frame::new("Two groups"), &cloud)?;
/// assert!(svg.starts_with("<svg") && svg.contains(">length</text>"));
/// # Ok::<(), abduce_plot::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cloud {
    /// The columns.
    pub variables: Vec<Variable>,
    /// The names of the groups.
    pub groups: Vec<String>,
    /// The group of each row, from 0; nothing where rows are in none.
    pub group: Vec<usize>,
    /// How uncertain the group of each row is: 1 less its probability. Nothing where
    /// that is not known.
    pub uncertainty: Vec<f64>,
    /// How often each row counts; nothing where all count once.
    pub weights: Vec<f64>,
    /// What each group is, where groups are Gaussian.
    pub gaussians: Vec<Gaussian>,
}

/// A column of the plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The cell of each row.
    pub values: Vec<Option<f64>>,
    /// Whether only whole numbers have a probability.
    pub whole: bool,
    /// Whether points are moved by up to 0.3 along it, so that equal whole numbers do not
    /// hide each other.
    pub jittered: bool,
    /// How its axis turns numbers into lengths.
    pub scale: Scale,
    /// The density of the column alone.
    pub marginal: Option<Marginal>,
}

/// The density of one column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marginal {
    /// Where it is known, rising.
    pub at: Vec<f64>,
    /// The density there.
    pub density: Vec<f64>,
    /// What each group adds to it.
    pub groups: Vec<Vec<f64>>,
}

/// The density of two columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// The column that goes to the right, by its place among the variables.
    pub x: usize,
    /// The column that goes up.
    pub y: usize,
    /// The density, up to a factor.
    pub density: Grid,
}

impl Variable {
    /// A column of rows.
    pub fn new(name: impl Into<String>, values: Vec<Option<f64>>) -> Variable {
        Variable {
            name: name.into(),
            values,
            ..Variable::default()
        }
    }

    /// Whether it has few different numbers, all of them whole and many of them equal.
    pub fn is_of_few_whole_numbers(&self) -> bool {
        const MOST: usize = 64;
        let mut different = std::collections::HashSet::new();
        let mut rows = 0;
        for x in self.numbers() {
            different.insert(x.to_bits());
            rows += 1;
            if x.fract() != 0.0 || different.len() > MOST {
                return false;
            }
        }
        rows > 2 * different.len()
    }

    /// How far the point of a row is moved; `step` is irrational, so that the moves of
    /// many rows are even.
    fn moved(&self, row: usize, step: f64) -> f64 {
        const MOST: f64 = 0.3;
        match self.jittered {
            true => MOST * (2.0 * ((row + 1) as f64 * step).fract() - 1.0),
            false => 0.0,
        }
    }

    /// Where the point of a row is along this variable as the one across, or upward.
    pub(super) fn drawn_at(&self, row: usize, upward: bool) -> Option<f64> {
        // Steps of the R₂ sequence, with which pairs of moves are even in the plane.
        let step = if upward {
            0.569_840_290_998
        } else {
            0.754_877_666_247
        };
        self.values[row].map(|x| x + self.moved(row, step))
    }

    /// The finite numbers of the rows.
    pub fn numbers(&self) -> impl Iterator<Item = f64> + '_ {
        self.values
            .iter()
            .flatten()
            .copied()
            .filter(|x| x.is_finite())
    }
}

impl Cloud {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.variables.first().map_or(0, |own| own.values.len())
    }

    /// How often a row counts.
    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.get(row).copied().unwrap_or(1.0)
    }

    /// The group of a row; the first where rows are in none.
    pub(super) fn group_of(&self, row: usize) -> usize {
        self.group.get(row).copied().unwrap_or(0)
    }

    /// Whether the parts fit together.
    ///
    /// # Errors
    /// If lengths differ, a group has no name, or there is nothing to draw.
    pub fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::new(what));
        if self.variables.is_empty() {
            return wrong("a plot needs a column of numbers".into());
        }
        let rows = self.rows();
        let lengths = self.variables.iter().map(|own| own.values.len());
        let per_row = [self.group.len(), self.uncertainty.len(), self.weights.len()];
        let per_row = per_row.into_iter().filter(|length| *length > 0);
        if let Some(other) = lengths.chain(per_row).find(|length| *length != rows) {
            return wrong(format!(
                "a plot of {rows} rows cannot have {other} of something"
            ));
        }
        if let Some(group) = self.group.iter().find(|group| **group >= self.groups.len()) {
            return wrong(format!("group {group} of a plot has no name"));
        }
        for variable in &self.variables {
            let Some(own) = &variable.marginal else {
                continue;
            };
            let mut lengths = own.groups.iter().map(Vec::len);
            let points = own.at.len();
            if own.density.len() != points || lengths.any(|length| length != points) {
                return wrong(format!("the density of {} has gaps", variable.name));
            }
        }
        Ok(())
    }

    /// The axis of a variable: all its rows have a place on it. Ellipses and the
    /// bulk of densities have theirs too, but a broad one must not make a
    /// point of the rows.
    pub(super) fn axis(&self, variable: usize) -> Axis {
        let own = &self.variables[variable];
        let mut wished: Vec<f64> = own.marginal.iter().flat_map(|m| m.bulk()).collect();
        for gaussian in &self.gaussians {
            let ring = gaussian.ellipse(variable, variable, super::classification::OUTER);
            wished.extend(ring.into_iter().flatten().map(|(x, _)| x));
        }
        let rows = Axis::covering(own.numbers(), own.scale);
        if own.numbers().next().is_some() {
            let (low, high) = (rows.at(-0.2), rows.at(1.2));
            wished.iter_mut().for_each(|x| *x = x.clamp(low, high));
        }
        Axis::covering(own.numbers().chain(wished), own.scale)
    }
}

impl Marginal {
    /// Where the density is worth showing.
    fn bulk(&self) -> impl Iterator<Item = f64> + '_ {
        let finite = self.density.iter().copied().filter(|d| d.is_finite());
        let peak = finite.fold(0.0, f64::max);
        let points = self.at.iter().zip(&self.density);
        points
            .filter(move |(_, d)| **d > peak / 50.0)
            .map(|(x, _)| *x)
    }
}
