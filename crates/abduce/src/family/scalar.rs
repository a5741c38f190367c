//! Families of one column whose only demand is to be estimated from their
//! statistics: a [`Scalar`] says what it remembers and how it is estimated, and
//! is thereby a [`Family`].
//!
//! A prior is a number of rows believed in before any was seen: their expected
//! statistics are added to the seen ones, and the log-prior is their
//! log-likelihood, so that the estimate is the mode of a stated objective.

use crate::Result;
use crate::data::Rows;
use crate::family::{
    Belief, Components, Domain, Family, Fill, Scale, Stats, Univariate, Validate, merged,
};
use rand::Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The share of a column's variance that stands for a variance of 0.
pub(super) const NARROW: f64 = 1e-6;

/// A family of one column of numbers, estimated from its statistics alone.
pub trait Scalar: Univariate + Clone + Serialize + DeserializeOwned {
    /// The name users read.
    const NAME: &'static str;
    /// The number of free parameters.
    const PARAMETERS: usize;
    /// Whether a density has units, as one over real numbers does.
    const HAS_UNITS: bool;
    /// What it remembers of rows; the default is no row.
    type Stats: Stats + Default;

    /// Whether a number can be a cell.
    fn supports(x: f64) -> bool;

    /// Adds the cells seen to the statistics.
    fn see(cells: &mut dyn Iterator<Item = (f64, f64)>, stats: &mut Self::Stats);

    /// The maximum-likelihood estimate.
    ///
    /// # Errors
    /// If the statistics do not determine it, as when nothing was seen.
    fn estimate(stats: &Self::Stats) -> Result<Self>;

    /// What stands for the estimate where numbers are equal and it would have no
    /// width: about these numbers, with a millionth times the variance of `wide`.
    /// Families that always have an estimate have none.
    fn narrow(_stats: &Self::Stats, _wide: &Self) -> Option<Self> {
        None
    }

    /// The log-likelihood of the rows that the statistics sum up.
    fn log_likelihood_of(&self, stats: &Self::Stats) -> f64;

    /// A distribution about as wide as a column.
    fn wide(scale: &Scale) -> Self;

    /// The statistics expected of so many rows, or of rows that say the same.
    fn expected(&self, rows: f64) -> Self::Stats;

    /// Whether the parameters are in their range.
    fn in_range(&self) -> bool;

    /// Whether statistics can be what was seen.
    fn are_sound(stats: &Self::Stats) -> bool;
}

impl<S: Scalar> Family for S {
    const NAME: &'static str = <S as Scalar>::NAME;
    type Stats = <S as Scalar>::Stats;
    type Shape = ();
    /// The statistics of the rows believed in.
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
        Self::see(&mut seen, stats);
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
    /// Where equal numbers have no estimate, a narrow distribution about them: the estimate
    /// from all rows would not tell them from any others.
    fn map_one(_: &(), stats: &Self::Stats, prior: &Self::Prior, vague: &Self) -> Option<Self> {
        let narrow = || Self::narrow(stats, vague).filter(Self::in_range);
        let seen = stats.weight() > 0.0;
        (Self::map(stats, prior).ok()).or_else(|| seen.then(narrow).flatten())
    }

    fn weak_prior(scales: &[Scale], belief: &Belief) -> Self::Prior {
        // Counts are smoothed as levels are; other numbers are only kept from
        // losing their spread, as a Gaussian's are.
        let wide = Self::wide(&scales[0]);
        let smoothing = if wide.is_discrete() {
            belief.smoothing
        } else {
            0.0
        };
        let rows = smoothing + belief.scatter();
        if rows > 0.0 {
            wide.expected(rows)
        } else {
            Self::Stats::default()
        }
    }

    fn vague(_: &(), scales: &[Scale]) -> Self {
        Self::wide(&scales[0])
    }

    fn pull_together(stats: &mut [Self::Stats]) {
        const ROWS: f64 = 2.0;
        let mut all = merged(&*stats);
        if all.weight() <= 0.0 {
            return;
        }
        all.scale(ROWS / all.weight());
        stats.iter_mut().for_each(|own| own.merge(&all));
    }
}

impl<S: Scalar> Validate for S {
    fn is_valid(&self, _: &()) -> bool {
        self.in_range()
    }

    fn describes(_: &(), stats: &Self::Stats) -> bool {
        Self::are_sound(stats)
    }

    fn accepts(_: &(), prior: &Self::Prior) -> bool {
        Self::are_sound(prior)
    }
}
