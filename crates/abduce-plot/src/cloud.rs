//! The data of a plot: rows as points of several columns, their groups, and the densities of a
//! model.

use super::{Axis, Gaussian, Grid, Scale};
use crate::{Error, Result};

/// Rows of numbers with their groups.
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
    /// The group of each row, from 0; empty if there are no groups.
    pub group: Vec<usize>,
    /// The uncertainty of each row's group: 1 minus its probability; empty if it is unknown.
    pub uncertainty: Vec<f64>,
    /// The weight of each row; empty if all have weight 1.
    pub weights: Vec<f64>,
    /// The Gaussian of each group; empty if groups are not Gaussian.
    pub gaussians: Vec<Gaussian>,
}

/// A column of the plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The cell of each row.
    pub values: Vec<Option<f64>>,
    /// Whether the column has whole numbers only, so that densities are probabilities.
    pub whole: bool,
    /// Whether points are jittered by up to 0.3, so that equal whole numbers do not hide each
    /// other.
    pub jittered: bool,
    /// The scale of the axis.
    pub scale: Scale,
    /// The marginal density of the column.
    pub marginal: Option<Marginal>,
}

/// The density of one column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marginal {
    /// The points at which it is given, in increasing order.
    pub at: Vec<f64>,
    /// The density at these points.
    pub density: Vec<f64>,
    /// The contribution of each group.
    pub groups: Vec<Vec<f64>>,
}

/// The density of two columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// The variable on the horizontal axis.
    pub x: usize,
    /// The variable on the vertical axis.
    pub y: usize,
    /// The density, up to a factor.
    pub density: Grid,
}

impl Variable {
    /// A column with a linear axis.
    pub fn new(name: impl Into<String>, values: Vec<Option<f64>>) -> Variable {
        Variable {
            name: name.into(),
            values,
            ..Variable::default()
        }
    }

    /// Whether the column has few distinct values, all of them whole numbers.
    pub fn is_of_few_whole_numbers(&self) -> bool {
        const MAX_DIFFERENT: usize = 64;
        let mut different = std::collections::HashSet::new();
        let mut rows = 0;
        for x in self.numbers() {
            different.insert(x.to_bits());
            rows += 1;
            if x.fract() != 0.0 || different.len() > MAX_DIFFERENT {
                return false;
            }
        }
        rows > 2 * different.len()
    }

    /// The jitter of a row; an irrational `step` makes it uniform over rows.
    fn jitter(&self, row: usize, step: f64) -> f64 {
        const MAX_JITTER: f64 = 0.3;
        if self.jittered {
            MAX_JITTER * (2.0 * ((row + 1) as f64 * step).fract() - 1.0)
        } else {
            0.0
        }
    }

    /// The jittered value of a row on the horizontal or the vertical axis.
    pub(super) fn drawn_at(&self, row: usize, upward: bool) -> Option<f64> {
        // The steps of the R₂ sequence, with which points are uniform in the plane.
        let step = if upward {
            0.569_840_290_998
        } else {
            0.754_877_666_247
        };
        self.values[row].map(|x| x + self.jitter(row, step))
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
        let first = self.variables.first();
        first.map_or(0, |variable| variable.values.len())
    }

    /// The weight of a row.
    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.get(row).copied().unwrap_or(1.0)
    }

    /// The group of a row; 0 if there are no groups.
    pub(super) fn group_of(&self, row: usize) -> usize {
        self.group.get(row).copied().unwrap_or(0)
    }

    /// Checks that the parts match.
    ///
    /// # Errors
    /// If lengths differ, a group has no name, or there is no column.
    pub fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::new(what));
        if self.variables.is_empty() {
            return wrong("a plot needs a column of numbers".into());
        }
        let rows = self.rows();
        let columns = self.variables.iter();
        let columns = columns.map(|variable| (variable.name.as_str(), variable.values.len()));
        let optional = [
            ("group", self.group.len()),
            ("uncertainty", self.uncertainty.len()),
            ("weights", self.weights.len()),
        ];
        let optional = optional.into_iter().filter(|(_, length)| *length > 0);
        let mut lengths = columns.chain(optional);
        if let Some((name, length)) = lengths.find(|(_, length)| *length != rows) {
            return wrong(format!("{name} has {length} values for {rows} rows"));
        }
        if let Some(group) = self.group.iter().find(|group| **group >= self.groups.len()) {
            return wrong(format!("group {group} of a plot has no name"));
        }
        for variable in &self.variables {
            let Some(marginal) = &variable.marginal else {
                continue;
            };
            let mut lengths = marginal.groups.iter().map(Vec::len);
            let points = marginal.at.len();
            if marginal.density.len() != points || lengths.any(|length| length != points) {
                let name = &variable.name;
                return wrong(format!("the density of {name} is not given at all points"));
            }
        }
        Ok(())
    }

    /// The axis of a variable, which contains all rows, and ellipses and the bulk of densities
    /// as far as these are at most 20 % beyond the rows.
    pub(super) fn axis(&self, variable: usize) -> Axis {
        let column = &self.variables[variable];
        let mut extra: Vec<f64> = column.marginal.iter().flat_map(|m| m.bulk()).collect();
        for gaussian in &self.gaussians {
            let ring = gaussian.ellipse(variable, variable, super::classification::OUTER);
            extra.extend(ring.into_iter().flatten().map(|(x, _)| x));
        }
        let rows = Axis::covering(column.numbers(), column.scale);
        if column.numbers().next().is_some() {
            let (low, high) = (rows.at(-0.2), rows.at(1.2));
            extra.iter_mut().for_each(|x| *x = x.clamp(low, high));
        }
        Axis::covering(column.numbers().chain(extra), column.scale)
    }
}

impl Marginal {
    /// The points at which the density is not negligible.
    fn bulk(&self) -> impl Iterator<Item = f64> + '_ {
        let finite = self.density.iter().copied().filter(|d| d.is_finite());
        let peak = finite.fold(0.0, f64::max);
        let points = self.at.iter().zip(&self.density);
        points
            .filter(move |(_, d)| **d > peak / 50.0)
            .map(|(x, _)| *x)
    }
}
