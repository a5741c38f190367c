//! The components of a mixture, estimated together: weak priors, starts, and estimates that share
//! parameters.

use crate::family::{Family, Stats};

/// The mean and the variance of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Their mean.
    pub mean: f64,
    /// Their variance; positive for a constant column too, so that there is
    /// always a unit.
    pub variance: f64,
    /// Whether all its numbers are the same.
    pub constant: bool,
}

/// The strength of weak priors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriorStrength {
    /// The variance floor: prior scatter as a share of the column's variance.
    pub variance_floor: f64,
    /// Added to every estimated variance, in the squared units of the columns.
    pub ridge: f64,
    /// The share of the identity matrix in every estimated covariance of columns taken together.
    pub unit_share: f64,
    /// Pseudocount added to each level; for rates, the number of pseudo-rows at the mean.
    pub smoothing: f64,
    /// The total weight of the rows.
    pub rows: f64,
    /// The weight of one row: the mean weight, but at most 1. Then integer weights equal repeated
    /// rows, and small weights may be multiplied by any factor up to 1.
    pub row_weight: f64,
}

impl PriorStrength {
    /// The prior scatter, as a share of a column's variance: the floor once, and a hundredth of
    /// it for every row, so that the condition of a covariance is bounded for any number of rows.
    pub fn scatter(&self) -> f64 {
        self.variance_floor * (self.row_weight + 0.01 * self.rows)
    }
}

/// How the components of a mixture are estimated together.
pub trait Components: Family {
    /// A weak prior in the units of the columns.
    fn weak_prior(scales: &[Scale], strength: &PriorStrength) -> Self::Prior;

    /// The distribution of columns that have no values.
    fn fallback(shape: &Self::Shape, scales: &[Scale]) -> Self;

    /// Pulls the statistics of several components towards what they have in
    /// common, so that each can start EM: none without spread, none that gives
    /// unseen values probability 0.
    fn shrink_together(stats: &mut [Self::Stats]);

    /// The smallest variance in any direction, as a share of the table's;
    /// constant columns do not count.
    fn spread(&self, _scales: &[Scale]) -> f64 {
        1.0
    }

    /// The estimate of one component from its own rows; `None` if they do not determine
    /// it.
    fn map_one(
        _shape: &Self::Shape,
        stats: &Self::Stats,
        prior: &Self::Prior,
        _fallback: &Self,
    ) -> Option<Self> {
        Self::map(stats, prior).ok()
    }

    /// The estimates of several components. Where a component's rows do not determine
    /// one, it is the estimate from all rows together, or else `fallback`.
    fn map_all(
        shape: &Self::Shape,
        stats: &[&Self::Stats],
        prior: &Self::Prior,
        fallback: &Self,
    ) -> Vec<Self> {
        let one = |component: &Self::Stats| {
            Self::map_one(shape, component, prior, fallback)
                .or_else(|| Self::map_one(shape, &merged(stats.iter().copied()), prior, fallback))
                .unwrap_or_else(|| fallback.clone())
        };
        stats.iter().copied().map(one).collect()
    }

    /// The same estimates, searched for from the estimates `before`.
    fn map_all_from(
        shape: &Self::Shape,
        stats: &[&Self::Stats],
        prior: &Self::Prior,
        fallback: &Self,
        _before: &[&Self],
    ) -> Vec<Self> {
        Self::map_all(shape, stats, prior, fallback)
    }

    /// The log-prior of the parameters of several components.
    fn log_prior_all<'a>(
        _shape: &Self::Shape,
        distributions: impl Iterator<Item = &'a Self>,
        prior: &Self::Prior,
    ) -> f64
    where
        Self: 'a,
    {
        distributions.map(|d| d.log_prior(prior)).sum()
    }

    /// The number of free parameters of several components.
    fn parameters_of_all(shape: &Self::Shape, components: usize) -> usize {
        components * Self::parameters(shape)
    }
}

/// The statistics of all components together; there must be one.
pub(crate) fn merged<'a, S: Stats + 'a>(stats: impl IntoIterator<Item = &'a S>) -> S {
    let mut stats = stats.into_iter();
    let first = stats.next().cloned();
    let mut all = first.unwrap_or_else(|| unreachable!("a mixture has components"));
    stats.for_each(|stats| all.merge(stats));
    all
}
