//! The coordinates in which distances are computed. Rows are centred at the mean of the table,
//! because |x|² − 2x·c + |c|² loses all precision far from the origin. Columns may be divided by
//! their standard deviations. Mahalanobis distance is Euclidean after y = L⁻¹(x − μ) with Σ = LLᵀ;
//! cosine distance is half the squared distance of rows of length 1.

use super::points::Points;
use super::specification::{Distance, Specification};
use super::survey::Survey;
use crate::data::{Schema, Source, reduce};
use crate::kernel::linear::{cholesky, invert_lower};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The smallest factor of a column, if another is read in a much larger unit. With a smaller one,
/// squares would underflow and not distinguish rows in which the other column is missing.
const MIN_SCALE: f64 = 1e-150;

/// The factors that convert columns to the largest unit in which any of them is read.
pub(super) fn unit_scales(schema: &Schema, columns: &[usize]) -> Vec<f64> {
    let unit_of = |column: &usize| schema.fields[*column].unit;
    let largest = columns.iter().map(unit_of).fold(0.0, f64::max);
    let columns = columns.iter();
    columns
        .map(|column| (unit_of(column) / largest).max(MIN_SCALE))
        .collect()
}

/// The coordinates of rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// The columns, by position in the schema.
    pub columns: Vec<usize>,
    /// The power of two by which numbers are multiplied first.
    pub power: f64,
    /// The numbers that are subtracted then.
    pub shift: Vec<f64>,
    /// The factors that are applied then.
    pub scale: Vec<f64>,
    /// Whether rows are scaled to length 1.
    pub unit: bool,
    /// L⁻¹, lower triangular and column by column, if rows are whitened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub whitening: Vec<f64>,
}

impl Frame {
    /// The coordinates for a specification.
    pub(super) fn new(
        specification: &Specification,
        columns: Vec<usize>,
        survey: &Survey,
        source: &dyn Source,
    ) -> Result<Frame> {
        let unit = specification.distance == Distance::Cosine;
        let units = unit_scales(source.schema(), &columns);
        let scale = |c: usize| match (specification.standardize, survey.deviation(c)) {
            (true, deviation) if deviation > 0.0 => 1.0 / deviation,
            // The distance does not depend on units.
            _ if specification.distance == Distance::Mahalanobis => 1.0,
            _ => units[c],
        };
        let mut frame = Frame {
            shift: if unit {
                // Angles are measured at the origin.
                vec![0.0; columns.len()]
            } else {
                survey.columns.iter().map(|column| column.mean).collect()
            },
            scale: (0..columns.len()).map(scale).collect(),
            power: survey.power,
            columns,
            unit,
            whitening: Vec::new(),
        };
        if specification.distance == Distance::Mahalanobis {
            let covariance = match &specification.covariance {
                Some(covariance) => frame.scaled_covariance(covariance, source)?,
                None => frame.covariance(source)?,
            };
            let order = frame.columns.len();
            let factor = cholesky(&covariance, order).map_err(|column| {
                let name = &source.schema().fields[frame.columns[column]].name;
                Error::numeric("the covariance is singular here")
                    .at_column(name)
                    .with_hint(
                        "leave out a constant column, or one that follows from others, with `drop`",
                    )
            })?;
            frame.whitening = invert_lower(&factor, order);
        }
        Ok(frame)
    }

    /// A given covariance in the units of the frame.
    fn scaled_covariance(&self, covariance: &[Vec<f64>], source: &dyn Source) -> Result<Vec<f64>> {
        let order = self.columns.len();
        if covariance.len() != order || covariance.iter().any(|row| row.len() != order) {
            return Err(Error::parameter(format!(
                "the covariance must be {order} by {order}, one row for each numeric column"
            )));
        }
        let columns = self.columns.iter().zip(&self.scale);
        let unit = |(column, scale): (&usize, &f64)| {
            scale * self.power / source.schema().fields[*column].unit
        };
        let units: Vec<f64> = columns.map(unit).collect();
        let cell = |i: usize, j: usize| covariance[i][j] * units[i] * units[j];
        Ok((0..order * order)
            .map(|at| cell(at % order, at / order))
            .collect())
    }

    /// The covariance of the complete rows, column by column.
    fn covariance(&self, source: &dyn Source) -> Result<Vec<f64>> {
        let order = self.columns.len();
        type Sums = (f64, Vec<f64>, Vec<f64>, usize);
        let sums = reduce(
            source,
            |_, chunk| {
                let points = Points::of(chunk, self);
                let mut sums: Sums = (0.0, vec![0.0; order], vec![0.0; order * order], 0);
                for row in &points.complete_rows {
                    let (x, weight) = (points.row(*row as usize), points.weights[*row as usize]);
                    sums.0 += weight;
                    sums.3 += usize::from(weight > 0.0);
                    for (j, y) in x.iter().enumerate() {
                        sums.1[j] += weight * y;
                        let column = &mut sums.2[j * order..(j + 1) * order];
                        column
                            .iter_mut()
                            .zip(x)
                            .for_each(|(sum, x)| *sum += weight * x * y);
                    }
                }
                Ok(sums)
            },
            |all: &mut Sums, more| {
                all.0 += more.0;
                all.3 += more.3;
                all.1
                    .iter_mut()
                    .zip(more.1)
                    .for_each(|(sum, more)| *sum += more);
                all.2
                    .iter_mut()
                    .zip(more.2)
                    .for_each(|(sum, more)| *sum += more);
            },
        )?;
        let (weight, sums, mut squares, rows) =
            sums.ok_or_else(|| Error::data("the table has no rows"))?;
        if weight <= 0.0 {
            return Err(Error::data("no row is complete, so there is no covariance")
                .with_hint("impute the missing values first, or use another distance"));
        }
        if rows <= order {
            return Err(Error::data(format!(
                "the covariance of {order} columns needs at least {} complete rows, and there are {rows}",
                order + 1
            ))
            .with_hint("leave out columns with `drop`, or use `distance=euclidean` with `standardize`"));
        }
        for (at, square) in squares.iter_mut().enumerate() {
            *square = (*square - sums[at % order] * sums[at / order] / weight) / weight;
        }
        Ok(squares)
    }

    /// The function from a number of a column to its coordinate, before
    /// [`transform_row`](Frame::transform_row).
    pub(super) fn coordinate_of(&self, column: usize) -> impl Fn(f64) -> f64 + use<> {
        let (power, shift, scale) = (self.power, self.shift[column], self.scale[column]);
        move |x| (x * power - shift) * scale
    }

    /// Scales a row to length 1 or whitens it, as the frame requires, and returns the number of its
    /// seen cells. For cosine distance a missing value is 0, which adds nothing to a product.
    pub(super) fn transform_row(&self, x: &mut [f64]) -> usize {
        let mut seen = x.iter().filter(|x| !x.is_nan()).count();
        if self.unit {
            x.iter_mut().filter(|x| x.is_nan()).for_each(|x| *x = 0.0);
            let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            // A row of zeros has no direction.
            seen = if length > 0.0 { x.len() } else { 0 };
            if length > 0.0 {
                x.iter_mut().for_each(|x| *x /= length);
            }
        }
        if !self.whitening.is_empty() && seen > 0 {
            if seen < x.len() {
                self.fill_by_expectation(x);
            }
            self.whiten(x);
            seen = x.len();
        }
        seen
    }

    /// Replaces missing values by their expectation given the seen cells, which minimises |L⁻¹x|²:
    /// P_HH x_H = −P_HO x_O with the precision P = L⁻ᵀL⁻¹.
    fn fill_by_expectation(&self, x: &mut [f64]) {
        let order = x.len();
        let missing: Vec<usize> = (0..order).filter(|c| x[*c].is_nan()).collect();
        let precision = |i: usize, j: usize| -> f64 {
            let rows = i.max(j)..order;
            rows.map(|r| self.whitening[i * order + r] * self.whitening[j * order + r])
                .sum()
        };
        let precision_of_missing: Vec<f64> = (missing.iter())
            .flat_map(|j| missing.iter().map(move |i| precision(*i, *j)))
            .collect();
        let right_side: Vec<f64> = (missing.iter())
            .map(|i| {
                let seen = (0..order).filter(|j| !x[*j].is_nan());
                -seen.map(|j| precision(*i, j) * x[j]).sum::<f64>()
            })
            .collect();
        let count = missing.len();
        let Ok(factor) = cholesky(&precision_of_missing, count) else {
            missing.iter().for_each(|c| x[*c] = 0.0);
            return;
        };
        let inverse = invert_lower(&factor, count);
        let half: Vec<f64> = (0..count)
            .map(|i| {
                (0..=i)
                    .map(|j| inverse[j * count + i] * right_side[j])
                    .sum()
            })
            .collect();
        for (i, column) in missing.iter().enumerate() {
            x[*column] = (i..count).map(|j| inverse[i * count + j] * half[j]).sum();
        }
    }

    /// y = L⁻¹x in place: from the last coordinate to the first, as each needs only those before
    /// it.
    pub(super) fn whiten(&self, x: &mut [f64]) {
        let order = x.len();
        for i in (0..order).rev() {
            x[i] = (0..=i).map(|j| self.whitening[j * order + i] * x[j]).sum();
        }
    }

    /// x = Ly in place.
    fn undo_whitening(&self, y: &mut [f64]) {
        let order = y.len();
        for i in 0..order {
            let earlier: f64 = (0..i).map(|j| self.whitening[j * order + i] * y[j]).sum();
            y[i] = (y[i] - earlier) / self.whitening[i * order + i];
        }
    }

    /// The coordinates of a centre in the units of the table.
    pub(super) fn to_coordinates(&self, centre: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = centre.to_vec();
        for (c, x) in x.iter_mut().enumerate() {
            *x = self.coordinate_of(c)(*x);
        }
        self.transform_row(&mut x);
        x
    }

    /// A centre in the units of the table; a direction keeps its length 1.
    pub(super) fn to_table_units(&self, centre: &[f64]) -> Vec<f64> {
        let mut x = centre.to_vec();
        if !self.whitening.is_empty() {
            self.undo_whitening(&mut x);
        }
        if self.unit {
            // A direction divided by the power might overflow.
            let cells = x.iter().zip(&self.scale);
            return cells.map(|(x, scale)| x / scale).collect();
        }
        let cells = x.iter().zip(&self.scale).zip(&self.shift);
        cells
            .map(|((x, scale), shift)| (x / scale + shift) / self.power)
            .collect()
    }
}
