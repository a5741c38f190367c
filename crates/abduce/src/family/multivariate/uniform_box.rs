//! The uniform distribution over a box of several columns, independent of each other: the noise of
//! a mixture. Over whole numbers, both ends and all whole numbers between them are equally
//! probable. The estimate is the smallest box that contains every row.

use crate::data::Rows;
use crate::family::scalar::NARROW;
use crate::family::{
    Components, Distribution, Domain, Family, Fill, PointStats, PriorStrength, Scale, Stats,
    Unconstrained, Validate, nothing_seen,
};
use crate::{Error, Result};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// One side of a box.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// The smallest number.
    pub low: f64,
    /// The largest number.
    pub high: f64,
    /// Whether only whole numbers are possible.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
}

/// A uniform distribution over a box.
///
/// ```
/// use abduce::data::{Cells, Rows};
/// use abduce::family::{Family, Side, UniformBox};
/// let side = |low, high| Side { low, high, whole: false };
/// let noise = UniformBox { sides: vec![side(0.0, 2.0), side(-1.0, 3.0)] };
/// let columns = [Cells::real(&[1.0, 5.0]), Cells::real(&[0.0, 0.0])];
/// let mut log_density = [0.0; 2];
/// noise.add_log_density(&Rows::new(&columns), &mut log_density);
/// assert_eq!(log_density, [-(8f64.ln()), f64::NEG_INFINITY]);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UniformBox {
    /// One side for each column.
    pub sides: Vec<Side>,
}

/// The numbers of each column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BoxStats {
    /// One for each column.
    pub columns: Vec<PointStats>,
}

impl Side {
    /// −ln of the length, or of the number of whole numbers.
    fn log_density(&self) -> f64 {
        -(self.high - self.low + f64::from(u8::from(self.whole))).ln()
    }

    fn contains(&self, x: f64) -> bool {
        (self.low..=self.high).contains(&x) && (!self.whole || x.fract() == 0.0)
    }

    fn is_valid(&self) -> bool {
        let length = self.high - self.low;
        if self.whole {
            length >= 0.0 && self.low.fract() == 0.0 && self.high.fract() == 0.0
        } else {
            length > 0.0 && length.is_finite()
        }
    }

    fn middle(&self) -> f64 {
        let middle = 0.5 * self.low + 0.5 * self.high;
        if self.whole { middle.floor() } else { middle }
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        let share: f64 = rng.random();
        if self.whole {
            (self.low + (share * (self.high - self.low + 1.0)).floor()).min(self.high)
        } else {
            (self.low + share * (self.high - self.low)).min(self.high)
        }
    }

    fn around(scale: &Scale, whole: bool) -> Side {
        let reach = (3.0 * scale.variance).sqrt();
        let (low, high) = (scale.mean - reach, scale.mean + reach);
        if whole {
            Side {
                low: low.floor(),
                high: high.ceil(),
                whole,
            }
        } else {
            Side { low, high, whole }
        }
    }

    /// The estimate from numbers; for equal numbers a side that is narrow compared with `wide`, or
    /// an error without it.
    fn estimate(points: &PointStats, whole: bool, wide: Option<&Side>) -> Result<Side> {
        let (Some(low), Some(high)) = (points.values.first(), points.values.last()) else {
            return Err(nothing_seen());
        };
        let (low, high) = (*low, *high);
        match (whole || low < high, wide) {
            (true, _) => Ok(Side { low, high, whole }),
            (false, Some(wide)) => {
                let reach = 0.5 * NARROW.sqrt() * (wide.high - wide.low);
                let (low, high) = (low - reach, high + reach);
                Ok(Side { low, high, whole })
            }
            (false, None) => Err(Error::numeric("the numbers are all the same")),
        }
    }
}

impl UniformBox {
    /// Adds each row's log-density as if the box had no ends: noise is recognised by how
    /// improbable a row is under the other components.
    pub(crate) fn add_log_density_everywhere(&self, rows: &Rows, out: &mut [f64]) {
        self.add(rows, out, |_, _| true);
    }

    /// The side of one column.
    pub(crate) fn side(&self, column: usize) -> Distribution {
        let sides = vec![self.sides[column]];
        Distribution::UniformBox(UniformBox { sides })
    }

    fn add(&self, rows: &Rows, out: &mut [f64], within: impl Fn(&Side, f64) -> bool) {
        for (side, cells) in self.sides.iter().zip(rows.columns) {
            let log_density = side.log_density();
            for (row, (sum, x)) in out.iter_mut().zip(cells.reals()).enumerate() {
                if cells.is_seen(row) {
                    *sum += if within(side, *x) {
                        log_density
                    } else {
                        f64::NEG_INFINITY
                    };
                }
            }
        }
    }

    fn estimate(stats: &BoxStats, shape: &[bool], wide: Option<&UniformBox>) -> Result<Self> {
        let columns = stats.columns.iter().zip(shape).enumerate();
        let sides = columns.map(|(c, (points, whole))| {
            Side::estimate(points, *whole, wide.map(|wide| &wide.sides[c]))
        });
        Ok(UniformBox {
            sides: sides.collect::<Result<_>>()?,
        })
    }
}

impl Stats for BoxStats {
    fn weight(&self) -> f64 {
        self.columns.iter().map(Stats::weight).fold(0.0, f64::max)
    }

    fn merge(&mut self, other: &Self) {
        let columns = self.columns.iter_mut().zip(&other.columns);
        columns.for_each(|(column, other)| column.merge(other));
    }

    fn scale(&mut self, factor: f64) {
        self.columns
            .iter_mut()
            .for_each(|column| column.scale(factor));
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        let mut left = self.clone();
        let mut columns = left.columns.iter_mut().zip(&other.columns);
        columns.try_for_each(|(column, other)| column.forget(other))?;
        *self = left;
        Ok(())
    }
}

impl Family for UniformBox {
    const NAME: &'static str = "uniform-box";
    type Stats = BoxStats;
    /// For each column, whether only whole numbers are possible.
    type Shape = Vec<bool>;
    /// None: a pseudo-row would move the ends, however small its weight.
    type Prior = ();

    fn zero(shape: &Self::Shape) -> BoxStats {
        BoxStats {
            columns: vec![PointStats::default(); shape.len()],
        }
    }

    fn shape(&self) -> Self::Shape {
        self.sides.iter().map(|side| side.whole).collect()
    }

    fn observe(rows: &Rows, weights: &[f64], stats: &mut BoxStats) {
        for (cells, column) in rows.columns.iter().zip(&mut stats.columns) {
            column.observe(&Rows::new(std::slice::from_ref(cells)), weights);
        }
    }

    fn add_log_density(&self, rows: &Rows, out: &mut [f64]) {
        self.add(rows, out, Side::contains);
    }

    fn map(stats: &BoxStats, _: &()) -> Result<Self> {
        let whole = |column: &PointStats| column.values.iter().all(|x| x.fract() == 0.0);
        let shape: Vec<bool> = stats.columns.iter().map(whole).collect();
        UniformBox::estimate(stats, &shape, None)
    }

    fn log_prior(&self, _: &()) -> f64 {
        0.0
    }

    fn log_likelihood(&self, stats: &BoxStats) -> f64 {
        let columns = self.sides.iter().zip(&stats.columns);
        let of = |side: &Side, x: f64| {
            if side.contains(x) {
                side.log_density()
            } else {
                f64::NEG_INFINITY
            }
        };
        columns
            .map(|(side, column)| column.sum(|x| of(side, x)))
            .sum::<f64>()
    }

    fn parameters(shape: &Self::Shape) -> usize {
        2 * shape.len()
    }

    fn fill(&self, how: Fill, row: &[Option<f64>], rng: &mut dyn Rng, out: &mut [f64]) {
        for ((side, cell), out) in self.sides.iter().zip(row).zip(out) {
            *out = cell.unwrap_or_else(|| match how {
                Fill::Mean if side.whole => 0.5 * side.low + 0.5 * side.high,
                Fill::Mean | Fill::Mode => side.middle(),
                Fill::Draw => side.draw(rng),
            });
        }
    }
}

impl Domain for UniformBox {
    const HAS_UNITS: bool = true;

    fn shape_of_column(_: usize) -> Option<Self::Shape> {
        None
    }

    fn columns(shape: &Self::Shape) -> usize {
        shape.len()
    }
}

impl Components for UniformBox {
    fn map_one(shape: &Self::Shape, stats: &BoxStats, _: &(), fallback: &Self) -> Option<Self> {
        UniformBox::estimate(stats, shape, Some(fallback)).ok()
    }

    fn weak_prior(_: &[Scale], _: &PriorStrength) {}

    fn fallback(shape: &Self::Shape, scales: &[Scale]) -> Self {
        let sides = scales.iter().zip(shape);
        UniformBox {
            sides: sides
                .map(|(scale, whole)| Side::around(scale, *whole))
                .collect(),
        }
    }

    fn shrink_together(stats: &mut [BoxStats]) {
        let columns = stats.first().map_or(0, |component| component.columns.len());
        for c in 0..columns {
            let mut of_column: Vec<PointStats> = stats
                .iter()
                .map(|component| component.columns[c].clone())
                .collect();
            PointStats::shrink_together(&mut of_column);
            let pulled = stats.iter_mut().zip(of_column);
            pulled.for_each(|(component, column)| component.columns[c] = column);
        }
    }
}

impl Unconstrained for UniformBox {}

impl Validate for UniformBox {
    fn is_valid(&self, shape: &Self::Shape) -> bool {
        self.shape() == *shape && self.sides.iter().all(Side::is_valid)
    }

    fn describes(shape: &Self::Shape, stats: &BoxStats) -> bool {
        stats.columns.len() == shape.len() && stats.columns.iter().all(PointStats::is_valid)
    }

    fn accepts(_: &Self::Shape, _: &()) -> bool {
        true
    }
}

#[cfg(test)]
impl crate::family::laws::Examples for UniformBox {
    fn examples() -> Vec<Self> {
        let side = |low, high| Side {
            low,
            high,
            whole: false,
        };
        let whole = Side {
            low: 0.0,
            high: 9.0,
            whole: true,
        };
        vec![
            UniformBox {
                sides: vec![side(-1.0, 2.0), side(1e6, 1e6 + 3.0)],
            },
            UniformBox {
                sides: vec![side(0.0, 1e-3), whole],
            },
        ]
    }
}
