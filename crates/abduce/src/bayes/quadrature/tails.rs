//! What the tails decide: whether a posterior integrates, which moments it has, and
//! whether the prior has an integral to be divided by.

use super::{Conjugate, QuadraturePosterior};
use crate::kernel::quadrature::integrate;

/// Far out, and yet the fourth power of its square is a number: what falls as a
/// power must not be taken for 0.
const FAR: f64 = 1e35;

impl<C: Conjugate> QuadraturePosterior<C> {
    /// Mean and variance, where they exist: infinite where one tail has too much
    /// weight, none where both do.
    pub(super) fn find_moments(&mut self) {
        let endless = |sign: f64, power: f64| {
            let end = if sign > 0.0 {
                self.support.1
            } else {
                self.support.0
            };
            end.is_infinite() && self.tail_grows(sign, power)
        };
        let mean = match (endless(-1.0, 1.0), endless(1.0, 1.0)) {
            (false, false) => Some(self.mean_of(|x| x)),
            (true, true) => None,
            (true, false) => Some(f64::NEG_INFINITY),
            (false, true) => Some(f64::INFINITY),
        };
        let infinite = endless(-1.0, 2.0) || endless(1.0, 2.0);
        self.variance = match mean {
            Some(mean) if mean.is_finite() && infinite => Some(f64::INFINITY),
            Some(mean) if mean.is_finite() => Some(self.mean_of(|x| (x - mean) * (x - mean))),
            _ => None,
        };
        self.mean = mean;
    }

    /// Whether d·f·dᵖ does not fall towards an end at distance d, or far out.
    pub(super) fn tail_grows(&self, sign: f64, power: f64) -> bool {
        let end = if sign > 0.0 {
            self.support.1
        } else {
            self.support.0
        };
        let log = |x: f64| self.log_integrand(x) + power * end_distance(end, x).ln();
        grows(&log, end, sign, self.mode.abs().max(1.0))
    }

    /// Whether the integrand has a pole inside that does not integrate: at its
    /// highest place, where the prior jumps, or at 0.
    pub(super) fn has_pole(&self) -> bool {
        let inside = |x: &f64| self.support.0 < *x && *x < self.support.1;
        let log = |x: f64| self.log_integrand(x);
        let breaks = self.prior.breaks();
        let places = [0.0, self.mode].into_iter().chain(breaks).filter(inside);
        let mut sides = places.flat_map(|place| [(place, 1.0), (place, -1.0)]);
        sides.any(|(place, sign)| {
            let at = |distance: f64| log(place - sign * distance) + distance.ln();
            let (near, far) = match place == 0.0 {
                true => (at(1e-100), at(1e-200)),
                false => (at(1e-13 * place.abs()), at(1e-15 * place.abs())),
            };
            far > f64::NEG_INFINITY && far >= near - 1e-3
        })
    }

    /// The integral of the prior, and with it the evidence.
    pub(super) fn weigh_prior(&mut self) {
        let log_prior = |x: f64| self.prior.log_value(x).unwrap_or(f64::NEG_INFINITY);
        let (low, high) = self.support;
        let cuts = &self.cuts[1..self.cuts.len() - 1];
        // Divided by its height, so that it neither over- nor underflows.
        let places = self.cuts.windows(2).flat_map(|p| Self::inside(p[0], p[1]));
        let finite = places.map(log_prior).filter(|log| log.is_finite());
        let height = finite.fold(f64::NEG_INFINITY, f64::max);
        if height == f64::NEG_INFINITY {
            return;
        }
        let prior = integrate(|x| (log_prior(x) - height).exp(), low, high, cuts, 1e-10);
        let proper = prior.value.is_finite()
            && prior.value > 0.0
            && prior.error <= 1e-4 * prior.value
            && !grows(&log_prior, high, 1.0, 1.0)
            && !grows(&log_prior, low, -1.0, 1.0);
        let log_prior = height + prior.value.ln();
        self.log_evidence = proper.then(|| self.log_scale + self.mass.ln() - log_prior);
    }
}

/// How far a place is from an end, or from 0 where the end is infinite.
fn end_distance(end: f64, x: f64) -> f64 {
    match end.is_finite() {
        true => (end - x).abs(),
        false => x.abs(),
    }
}

/// Whether d·f does not fall towards an end at distance d, or far out in units of
/// `scale`; then f does not integrate there.
fn grows(log: &dyn Fn(f64) -> f64, end: f64, sign: f64, scale: f64) -> bool {
    let at = |distance: f64| {
        let place = match end.is_finite() {
            true => end - sign * distance,
            false => sign * distance * scale,
        };
        log(place) + distance.ln()
    };
    let (near, far) = match end {
        0.0 => (at(1e-100), at(1e-200)),
        end if end.is_finite() => (at(1e-9 * end.abs()), at(1e-13 * end.abs())),
        _ => (at(FAR), at(FAR * FAR)),
    };
    far > f64::NEG_INFINITY && far >= near - 1e-3
}
