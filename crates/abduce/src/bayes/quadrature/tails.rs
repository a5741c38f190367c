//! The tails of a posterior decide which moments it has; those of the prior, whether it has an
//! integral.

use super::super::integral::{Piece, total};
use super::QuadraturePosterior;
use crate::family::Conjugate;

impl<C: Conjugate> QuadraturePosterior<C> {
    /// Mean and variance: infinite where one tail is too heavy, none where both are.
    pub(super) fn find_moments(&mut self) {
        // A density that falls as x^(−1 − s) has moments below s only.
        let endless = |end: f64, power: f64| {
            let mut ends = self.pieces.iter().filter_map(Piece::end);
            let tail = ends.find(|tail| tail.place == end && end.is_infinite());
            tail.is_some_and(|tail| tail.rate <= power + 1e-6)
        };
        let (low, high) = self.support;
        let mean = match (endless(low, 1.0), endless(high, 1.0)) {
            // From the mode, as a mean far from 0 has few digits for its spread.
            (false, false) => Some(self.mode + self.mean_of(|x| x - self.mode)),
            (true, true) => None,
            (true, false) => Some(f64::NEG_INFINITY),
            (false, true) => Some(f64::INFINITY),
        };
        let infinite = endless(low, 2.0) || endless(high, 2.0);
        self.variance = match mean {
            Some(mean) if mean.is_finite() && infinite => Some(f64::INFINITY),
            Some(mean) if mean.is_finite() => Some(self.mean_of(|x| (x - mean) * (x - mean))),
            _ => None,
        };
        self.mean = mean;
    }

    /// The integral of the prior.
    pub(super) fn weigh_prior(&mut self) {
        let log_prior = |x: f64| self.prior.log_value(x).unwrap_or(f64::NEG_INFINITY);
        let breaks = self.prior.breaks();
        self.prior_total = total(&log_prior, self.support, &breaks, &self.cuts);
    }
}
