//! Families of one column of numbers that are estimated from their statistics alone: a [`Scalar`]
//! is thereby a [`Family`].
//!
//! Their priors are pseudo-rows: expected statistics that are added to those of the rows. The
//! log-prior is the log-likelihood of the pseudo-rows, so that the estimate is the mode of a
//! stated objective.

use crate::Result;
use crate::data::Rows;
use crate::family::{
    Components, Domain, Family, Fill, PriorStrength, Scale, Stats, Univariate, Validate, merged,
};
use rand::Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The variance that replaces one of 0, as a share of the column's.
pub(super) const NARROW: f64 = 1e-6;

/// A family of one column of numbers, estimated from its statistics alone.
pub trait Scalar: Univariate + Clone + Serialize + DeserializeOwned {
    /// The name users read.
    const NAME: &'static str;
    /// The number of free parameters.
    const PARAMETERS: usize;
    /// Whether a density has units, as one over real numbers does.
    const HAS_UNITS: bool;
    /// The sufficient statistics of rows; the default is no row.
    type Stats: Stats + Default;

    /// Whether a number can be a value.
    fn supports(x: f64) -> bool;

    /// Adds values with their weights to the statistics.
    fn observe_values(cells: &mut dyn Iterator<Item = (f64, f64)>, stats: &mut Self::Stats);

    /// The maximum-likelihood estimate.
    ///
    /// # Errors
    /// If the statistics do not determine it, as when there are no rows.
    fn estimate(stats: &Self::Stats) -> Result<Self>;

    /// The estimate where all numbers are equal and would have no width: a distribution about
    /// them with a millionth of the variance of `wide`. None for families that always have an
    /// estimate.
    fn narrow(_stats: &Self::Stats, _wide: &Self) -> Option<Self> {
        None
    }

    /// The log-likelihood of the rows that the statistics summarise.
    fn log_likelihood_of(&self, stats: &Self::Stats) -> f64;

    /// A distribution about as wide as a column.
    fn wide(scale: &Scale) -> Self;

    /// The expected statistics of so many rows, or those of rows with about the same likelihood.
    fn expected(&self, rows: f64) -> Self::Stats;

    /// Whether the parameters are in their range.
    fn in_range(&self) -> bool;

    /// Whether statistics are in their range.
    fn are_valid(stats: &Self::Stats) -> bool;
}

impl<S: Scalar> Family for S {
    const NAME: &'static str = <S as Scalar>::NAME;
    type Stats = <S as Scalar>::Stats;
    type Shape = ();
    /// The statistics of pseudo-rows.
    type Prior = <S as Scalar>::Stats;

    fn zero(_: &()) -> Self::Stats {
        Self::Stats::default()
    }

    fn shape(&self) {}

    fn observe(rows: &Rows, weights: &[f64], stats: &mut Self::Stats) {
        let cells = rows.only();
        let all = cells.reals().iter().zip(weights).enumerate();
        let mut seen = all
            .filter(|(i, (_, weight))| cells.is_seen(*i) && **weight > 0.0)
            .map(|(_, (x, weight))| (*x, *weight));
        Self::observe_values(&mut seen, stats);
    }

    fn add_log_density(&self, rows: &Rows, out: &mut [f64]) {
        let cells = rows.only();
        for (i, (l, x)) in out.iter_mut().zip(cells.reals()).enumerate() {
            if cells.is_seen(i) {
                *l += self.log_density(*x);
            }
        }
    }

    fn map(stats: &Self::Stats, prior: &Self::Prior) -> Result<Self> {
        if prior.weight() <= 0.0 {
            return Self::estimate(stats);
        }
        let mut all = stats.clone();
        all.merge(prior);
        Self::estimate(&all)
    }

    fn log_prior(&self, prior: &Self::Prior) -> f64 {
        if prior.weight() > 0.0 {
            self.log_likelihood_of(prior)
        } else {
            0.0
        }
    }

    fn log_likelihood(&self, stats: &Self::Stats) -> f64 {
        self.log_likelihood_of(stats)
    }

    fn parameters(_: &()) -> usize {
        Self::PARAMETERS
    }

    fn fill(&self, how: Fill, row: &[Option<f64>], rng: &mut dyn Rng, out: &mut [f64]) {
        out[0] = row[0].unwrap_or_else(|| match how {
            Fill::Mean => self
                .mean()
                .filter(|mean| mean.is_finite())
                .unwrap_or_else(|| self.quantile(0.5)),
            Fill::Mode => self.mode(),
            Fill::Draw => self.draw(rng),
        });
    }
}

impl<S: Scalar> Domain for S {
    const HAS_UNITS: bool = <S as Scalar>::HAS_UNITS;

    fn shape_of_column(_: usize) -> Option<()> {
        Some(())
    }

    fn supports(x: f64) -> bool {
        <S as Scalar>::supports(x)
    }
}

impl<S: Scalar> Components for S {
    /// Where equal numbers have no estimate, a narrow distribution about them: the estimate from
    /// all rows would treat them as any other numbers.
    fn map_one(_: &(), stats: &Self::Stats, prior: &Self::Prior, fallback: &Self) -> Option<Self> {
        let narrow = || Self::narrow(stats, fallback).filter(Self::in_range);
        let seen = stats.weight() > 0.0;
        (Self::map(stats, prior).ok()).or_else(|| seen.then(narrow).flatten())
    }

    fn weak_prior(scales: &[Scale], strength: &PriorStrength) -> Self::Prior {
        // Counts are smoothed as levels are; the prior of other numbers only keeps their variance
        // positive, as a Gaussian's does.
        let wide = Self::wide(&scales[0]);
        let smoothing = if wide.is_discrete() {
            strength.smoothing
        } else {
            0.0
        };
        let rows = smoothing + strength.scatter();
        if rows > 0.0 {
            wide.expected(rows)
        } else {
            Self::Stats::default()
        }
    }

    fn fallback(_: &(), scales: &[Scale]) -> Self {
        Self::wide(&scales[0])
    }

    fn shrink_together(stats: &mut [Self::Stats]) {
        const ROWS: f64 = 2.0;
        let mut all = merged(&*stats);
        if all.weight() <= 0.0 {
            return;
        }
        all.scale(ROWS / all.weight());
        stats.iter_mut().for_each(|component| component.merge(&all));
    }
}

impl<S: Scalar> Validate for S {
    fn is_valid(&self, _: &()) -> bool {
        self.in_range()
    }

    fn describes(_: &(), stats: &Self::Stats) -> bool {
        Self::are_valid(stats)
    }

    fn accepts(_: &(), prior: &Self::Prior) -> bool {
        Self::are_valid(prior)
    }
}
