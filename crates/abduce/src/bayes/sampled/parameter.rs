//! A sampled parameter: its range, its prior, and the unbounded coordinate u in which its
//! posterior is roughly bell-shaped. A power of the parameter decays exponentially in u, towards
//! every end.

use super::super::Curve;
use super::super::integral::{Total, total};
use super::modes::peaks;
use super::support::support;
use crate::Result;
use crate::family::turned;
use std::f64::consts::{LN_2, PI, TAU};

/// The range of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// Any number.
    Anywhere {
        /// Where the search starts.
        around: f64,
        /// The scale of the search.
        unit: f64,
    },
    /// Above a number.
    Above(f64),
    /// Between 0 and 1.
    Share,
    /// A direction in radians, of period 2π.
    Angle {
        /// The direction opposite of which the circle is cut.
        around: f64,
        /// The position of a concentration among the parameters, and the factor that makes it
        /// that of this direction: the larger, the narrower the direction.
        held: Option<(usize, f64)>,
    },
}

/// A parameter with its range and its prior.
#[derive(Debug)]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// Its range.
    pub domain: Domain,
    /// The prior, independent of the others'.
    pub prior: Curve,
}

/// How a coordinate becomes a parameter, ascending.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Chart {
    /// x = around + unit · sinh u.
    Line { around: f64, unit: f64 },
    /// x = low + eᵘ.
    Above(f64),
    /// x = high − e⁻ᵘ.
    Below(f64),
    /// u is the logarithm of (x − low)/(high − x).
    Between(f64, f64),
}

impl Chart {
    /// The parameter at a coordinate, and the logarithm of the derivative.
    pub(super) fn place(self, u: f64) -> (f64, f64) {
        let bend = (-u.abs()).exp();
        match self {
            Chart::Line { around, unit } => {
                let slope = unit.ln() + u.abs() + (bend * bend).ln_1p() - LN_2;
                (around + unit * u.sinh(), slope)
            }
            Chart::Above(low) => (low + u.exp(), u),
            Chart::Below(high) => (high - (-u).exp(), -u),
            Chart::Between(low, high) => {
                let width = high - low;
                let from_end = width * (bend / (1.0 + bend));
                let x = if u > 0.0 {
                    high - from_end
                } else {
                    low + from_end
                };
                (x, width.ln() - u.abs() - 2.0 * bend.ln_1p())
            }
        }
    }

    /// The coordinate of a parameter; at or beyond an end, of a number slightly inside.
    pub(super) fn coordinate(self, x: f64) -> f64 {
        match self {
            Chart::Line { around, unit } => ((x - around) / unit).asinh(),
            Chart::Above(0.0) if x > 0.0 => x.max(1e-300).ln(),
            Chart::Above(low) => (x - low).max(1e-2).ln(),
            Chart::Below(high) => -(high - x).max(1e-2).ln(),
            Chart::Between(low, high) => {
                let least = 1e-6 * (high - low);
                let (down, up) = ((x - low).max(least), (high - x).max(least));
                down.ln() - up.ln()
            }
        }
    }

    /// The ends of the parameter.
    pub(super) fn ends(self) -> (f64, f64) {
        match self {
            Chart::Line { .. } => (f64::NEG_INFINITY, f64::INFINITY),
            Chart::Above(low) => (low, f64::INFINITY),
            Chart::Below(high) => (f64::NEG_INFINITY, high),
            Chart::Between(low, high) => (low, high),
        }
    }

    /// The range of coordinates in which different ones are different parameters.
    pub(super) fn limits(self) -> (f64, f64) {
        match self {
            Chart::Line { .. } => (-300.0, 300.0),
            Chart::Above(_) | Chart::Below(_) => (-700.0, 700.0),
            Chart::Between(low, high) => {
                let digits = |end: f64| {
                    if end == 0.0 {
                        700.0
                    } else {
                        ((high - low) / (8.0 * f64::EPSILON * end.abs()))
                            .ln()
                            .max(2.0)
                    }
                };
                (-digits(low), digits(high))
            }
        }
    }
}

impl Domain {
    /// The chart of the range that the family allows.
    fn whole(self) -> Chart {
        match self {
            Domain::Anywhere { around, unit } => Chart::Line { around, unit },
            Domain::Above(low) => Chart::Above(low),
            Domain::Share => Chart::Between(0.0, 1.0),
            Domain::Angle { around, .. } => Chart::Between(around - PI, around + PI),
        }
    }
}

impl Parameter {
    /// The chart of the range that family and prior allow.
    ///
    /// # Errors
    /// If the prior is negative somewhere, or positive nowhere.
    pub(super) fn chart(&self) -> Result<Chart> {
        let whole = self.domain.whole();
        let (low, high) = support(self, whole)?;
        Ok(match (low.is_finite(), high.is_finite()) {
            (false, false) => whole,
            (true, false) => Chart::Above(low),
            (false, true) => Chart::Below(high),
            (true, true) => Chart::Between(low, high),
        })
    }

    /// The logarithm of the prior.
    ///
    /// # Errors
    /// If the prior is negative or not a number there.
    pub fn log_prior(&self, x: f64) -> Result<f64> {
        let mut names = self.names(x).into_iter();
        names.try_fold(f64::NEG_INFINITY, |most, name| {
            Ok(most.max(self.prior.log_value(name)?))
        })
    }

    /// Whether the prior is below 0 at x.
    pub(super) fn is_negative_at(&self, x: f64) -> bool {
        let mut names = self.names(x).into_iter();
        names.any(|name| self.prior.is_negative_at(name))
    }

    /// All values of a direction that differ by turns; a prior may be positive at one of them
    /// only, as `uniform(0,2*pi)` is.
    fn names(&self, x: f64) -> Vec<f64> {
        if self.is_angle() {
            [0.0, -TAU, TAU].map(|turn| turned(x) + turn).into()
        } else {
            vec![x]
        }
    }

    /// Where the prior may jump or bend, or has its middle.
    pub(super) fn breaks(&self) -> Vec<f64> {
        let breaks = self.prior.breaks();
        let (low, high) = self.domain.whole().ends();
        let turns: &[f64] = if self.is_angle() {
            &[0.0, -TAU, TAU, -2.0 * TAU, 2.0 * TAU]
        } else {
            &[0.0]
        };
        let all = breaks
            .iter()
            .flat_map(|x| turns.iter().map(move |by| x + by));
        let mut all: Vec<f64> = all.filter(|x| low < *x && *x < high).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    /// The integral of the prior over the range that family and prior allow.
    ///
    /// # Errors
    /// If the prior is negative somewhere, or positive nowhere.
    pub(crate) fn total(&self) -> Result<Total> {
        let log_prior = |x: f64| self.log_prior(x).unwrap_or(f64::NEG_INFINITY);
        let chart = self.chart()?;
        // Peaks that are no breaks are found by cuts ever closer to them.
        let about = |u: f64| {
            let steps = (0..6).map(|i| 3.0 * 0.2_f64.powi(i));
            steps.flat_map(move |by| [u - by, u, u + by])
        };
        let cuts = peaks(self, chart).into_iter().flat_map(about);
        let cuts: Vec<f64> = cuts.map(|u| chart.place(u).0).collect();
        Ok(total(&log_prior, chart.ends(), &self.breaks(), &cuts))
    }

    pub(super) fn is_angle(&self) -> bool {
        matches!(self.domain, Domain::Angle { .. })
    }

    /// The logarithm of the ratio of a coordinate's unit to the width that other parameters leave
    /// it.
    pub(super) fn log_stretch(&self, parameters: &[f64]) -> f64 {
        match self.domain {
            Domain::Angle {
                held: Some((by, strength)),
                ..
            } => parameters.get(by).map_or(0.0, |concentration| {
                0.5 * (strength * concentration.max(0.0)).ln_1p()
            }),
            _ => 0.0,
        }
    }
}
