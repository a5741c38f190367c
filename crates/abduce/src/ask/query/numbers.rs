//! The distribution of a column of numbers as a mixture of distributions: moments, mode,
//! probabilities of counts.

use super::restricted::Restricted;
use crate::family::{PointMass, Univariate, highest_between};

/// The probability that may be left out at either end of a list of counts.
const TAIL: f64 = 1e-12;

/// The most counts whose probabilities are listed.
pub(super) const MAX_COUNTS: f64 = 1e6;

/// Distributions of one number with their weights.
pub(super) struct MixedNumbers<'a>(pub Vec<(f64, Part<'a>)>);

/// One of the distributions.
pub(super) enum Part<'a> {
    /// A distribution of the model.
    Whole(&'a dyn Univariate),
    /// One restricted to intervals.
    Restricted(Restricted<'a>),
    /// A single number.
    Value(PointMass),
}

impl Part<'_> {
    fn distribution(&self) -> &dyn Univariate {
        match self {
            Part::Whole(distribution) => *distribution,
            Part::Restricted(restricted) => restricted,
            Part::Value(value) => value,
        }
    }
}

impl MixedNumbers<'_> {
    fn parts(&self) -> impl Iterator<Item = (f64, &dyn Univariate)> {
        let parts = self.0.iter();
        parts.map(|(weight, part)| (*weight, part.distribution()))
    }

    pub fn are_discrete(&self) -> bool {
        self.parts().all(|(_, part)| part.is_discrete())
    }

    pub fn density(&self, x: f64) -> f64 {
        let densities = self.parts().map(|(weight, part)| weight * part.density(x));
        densities.sum()
    }

    /// The mean and the variance, where there are any.
    pub fn moments(&self) -> Option<(f64, f64)> {
        let moments = self.parts().map(|(weight, part)| {
            let moments = (part.mean()?, part.variance()?);
            Some((weight, moments))
        });
        let moments: Vec<(f64, (f64, f64))> = moments.collect::<Option<_>>()?;
        let means = moments.iter().map(|(weight, (mean, _))| weight * mean);
        let mean: f64 = means.sum();
        let squares = moments
            .iter()
            .map(|(weight, (centre, variance))| weight * (variance + (centre - mean).powi(2)));
        Some((mean, squares.sum()))
    }

    /// The mean, where there is one.
    pub fn mean(&self) -> Option<f64> {
        let means = self
            .parts()
            .map(|(weight, part)| Some(weight * part.mean()?));
        means.sum()
    }

    /// All counts that are not next to impossible, with their probabilities; `None` if there
    /// are too many.
    pub fn counts(&self) -> Option<Vec<(f64, f64)>> {
        let none = (f64::INFINITY, f64::NEG_INFINITY);
        let (least, most) = self.parts().fold(none, |(least, most), (_, part)| {
            (
                least.min(part.quantile(TAIL)),
                most.max(part.quantile(1.0 - TAIL)),
            )
        });
        let number = most - least + 1.0;
        if !(0.0..=MAX_COUNTS).contains(&number) {
            return None;
        }
        let counts = (0..number as usize).map(|step| least + step as f64);
        Some(counts.map(|x| (x, self.density(x))).collect())
    }

    /// The number with the highest density: every peak of a mixture of unimodal parts that is
    /// of use lies between their modes.
    pub fn mode(&self) -> Option<f64> {
        let modes: Vec<f64> = self.parts().map(|(_, part)| part.mode()).collect();
        let least = modes.iter().copied().reduce(f64::min)?;
        let most = modes.iter().copied().reduce(f64::max)?;
        let mut candidates: Vec<f64> = match (modes.len(), self.are_discrete()) {
            (1, _) => modes,
            (_, true) => {
                let count = (most - least).min(MAX_COUNTS) as usize;
                (0..=count)
                    .map(|step| least.round() + step as f64)
                    .collect()
            }
            (_, false) => {
                let width = self.width();
                let climbed = modes.iter().map(|mode| {
                    let (low, high) = ((mode - width).max(least), (mode + width).min(most));
                    highest_between(low, high, |x| self.density(x))
                });
                climbed.chain(modes.iter().copied()).collect()
            }
        };
        // The first of equals, so that the answer does not depend on the order of the parts.
        candidates.sort_by(f64::total_cmp);
        let higher = |a: &f64, b: &f64| self.density(*a).total_cmp(&self.density(*b));
        candidates.into_iter().rev().max_by(higher)
    }

    /// The least standard deviation of the parts.
    fn width(&self) -> f64 {
        let variances = self.parts().filter_map(|(_, part)| part.variance());
        let least = variances
            .filter(|variance| variance.is_finite())
            .reduce(f64::min);
        least.map_or(1.0, f64::sqrt)
    }
}
