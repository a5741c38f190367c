//! A distribution of one number restricted to intervals,
//!
//!   p(x | x ∈ S) = p(x) / P(S) for x in S,
//!
//! with probabilities taken from the tail in which they keep their digits.

use super::sets::Interval;
use crate::family::Univariate;
use crate::kernel::roots::increasing_root;

/// A distribution of one number restricted to intervals.
#[derive(Clone, Debug)]
pub(super) struct Restricted<'a> {
    of: &'a dyn Univariate,
    intervals: Vec<Interval>,
    masses: Vec<f64>,
    mass: f64,
}

/// The probability of some intervals.
pub(super) fn probability(of: &dyn Univariate, intervals: &[Interval]) -> f64 {
    intervals.iter().map(|interval| mass(of, interval)).sum()
}

fn mass(of: &dyn Univariate, interval: &Interval) -> f64 {
    if !of.is_discrete() {
        return between(of, interval.low, interval.high);
    }
    let (first, last) = interval.whole_numbers();
    if first == last {
        of.density(first)
    } else {
        between(of, first - 1.0, last)
    }
}

/// P(low < X ≤ high).
fn between(of: &dyn Univariate, low: f64, high: f64) -> f64 {
    let at_most = |x: f64| {
        if x.is_finite() {
            of.cdf(x)
        } else {
            f64::from(u8::from(x > 0.0))
        }
    };
    let above = |x: f64| {
        if x.is_finite() {
            of.survival(x)
        } else {
            f64::from(u8::from(x < 0.0))
        }
    };
    let below = at_most(low);
    let mass = if below > 0.5 {
        above(low) - above(high)
    } else {
        at_most(high) - below
    };
    mass.max(0.0)
}

impl<'a> Restricted<'a> {
    /// The restriction to intervals; `None` if they have no probability.
    pub fn new(of: &'a dyn Univariate, intervals: &[Interval]) -> Option<Restricted<'a>> {
        let masses: Vec<f64> = intervals
            .iter()
            .map(|interval| mass(of, interval))
            .collect();
        let mass = masses.iter().sum();
        (mass > 0.0).then(|| Restricted {
            of,
            intervals: intervals.to_vec(),
            masses,
            mass,
        })
    }

    fn holds(&self, x: f64) -> bool {
        self.intervals.iter().any(|interval| interval.contains(x))
    }

    /// The probability of the numbers of the intervals that `part` leaves of each.
    fn share(&self, part: impl Fn(&Interval) -> Interval) -> f64 {
        let parts = self.intervals.iter().map(part);
        let masses = parts.filter(|interval| interval.low <= interval.high);
        masses.map(|interval| mass(self.of, &interval)).sum::<f64>() / self.mass
    }

    /// The number in an interval below which it has the probability `wanted`.
    fn quantile_within(&self, interval: &Interval, whole: f64, wanted: f64) -> f64 {
        if self.of.is_discrete() {
            return self.count_within(interval, wanted);
        }
        let (least, most) = self.of.support();
        let (low, high) = (interval.low.max(least), interval.high.min(most));
        let excess = |x: f64| {
            if wanted < 0.5 * whole {
                between(self.of, low, x) - wanted
            } else {
                (whole - wanted) - between(self.of, x, high)
            }
        };
        increasing_root(low, high, excess)
    }

    /// The smallest count in an interval that the probability `wanted` is reached at.
    fn count_within(&self, interval: &Interval, wanted: f64) -> f64 {
        const MAX_STEPS: usize = 1_000_000;
        let (first, last) = interval.whole_numbers();
        let (least, most) = self.of.support();
        let (first, last) = (first.max(least), last.min(most));
        let below = between(self.of, f64::NEG_INFINITY, first - 1.0);
        if below + wanted < 0.999 {
            return self.of.quantile(below + wanted).clamp(first, last);
        }
        // Near 1 the distribution function has too few digits.
        let (mut x, mut reached) = (first, self.of.density(first));
        for _ in 0..MAX_STEPS {
            if reached >= wanted || x >= last {
                break;
            }
            x += 1.0;
            reached += self.of.density(x);
        }
        x
    }
}

impl Univariate for Restricted<'_> {
    fn log_density(&self, x: f64) -> f64 {
        if self.holds(x) {
            self.of.log_density(x) - self.mass.ln()
        } else {
            f64::NEG_INFINITY
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        self.share(|interval| Interval {
            high: interval.high.min(x),
            has_high: interval.has_high || interval.high > x,
            ..*interval
        })
    }

    fn survival(&self, x: f64) -> f64 {
        self.share(|interval| Interval {
            low: interval.low.max(x),
            has_low: interval.has_low && interval.low > x,
            ..*interval
        })
    }

    fn support(&self) -> (f64, f64) {
        let (least, most) = self.of.support();
        let low = self
            .intervals
            .first()
            .map_or(least, |interval| interval.low);
        let high = self.intervals.last().map_or(most, |interval| interval.high);
        (least.max(low), most.min(high))
    }

    fn is_discrete(&self) -> bool {
        self.of.is_discrete()
    }

    fn quantile(&self, p: f64) -> f64 {
        let mut wanted = p * self.mass;
        let mut intervals = self.intervals.iter().zip(&self.masses).peekable();
        while let Some((interval, whole)) = intervals.next() {
            if wanted <= *whole || intervals.peek().is_none() {
                return self.quantile_within(interval, *whole, wanted.min(*whole));
            }
            wanted -= whole;
        }
        f64::NAN
    }

    fn mean(&self) -> Option<f64> {
        let (low, high) = self.support();
        let is_bounded = low.is_finite() && high.is_finite();
        let exists = is_bounded || self.of.mean().is_some_and(f64::is_finite);
        exists.then(|| self.expectation(&|x| x))
    }

    fn variance(&self) -> Option<f64> {
        let (low, high) = self.support();
        let is_bounded = low.is_finite() && high.is_finite();
        let exists = is_bounded || self.of.variance().is_some_and(f64::is_finite);
        let mean = self.mean().filter(|_| exists)?;
        Some(self.expectation(&|x| (x - mean).powi(2)))
    }

    fn mode(&self) -> f64 {
        let ends = self.intervals.iter().flat_map(|interval| {
            let (first, last) = if self.is_discrete() {
                interval.whole_numbers()
            } else {
                (interval.low, interval.high)
            };
            [first, last]
        });
        let mode = Some(self.of.mode()).filter(|x| self.holds(*x));
        let candidates = ends.chain(mode).filter(|x| x.is_finite());
        let candidates = candidates.map(|x| (x, self.of.log_density(x)));
        let better = |best: (f64, f64), next: (f64, f64)| {
            let is_better = next.1 > best.1 || (next.1 == best.1 && next.0 < best.0);
            if is_better { next } else { best }
        };
        candidates.reduce(better).map_or(f64::NAN, |(x, _)| x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::{Gaussian, Poisson};

    fn interval(low: f64, high: f64) -> Interval {
        Interval {
            low,
            high,
            has_low: true,
            has_high: high.is_finite(),
        }
    }

    #[test]
    fn a_gaussian_beyond_a_bound_has_the_moments_of_the_inverse_mills_ratio() {
        let gaussian = Gaussian {
            mean: 0.0,
            variance: 1.0,
        };
        for bound in [-2.0, 0.0, 1.0, 4.0, 12.0] {
            let restricted = Restricted::new(&gaussian, &[interval(bound, f64::INFINITY)]).unwrap();
            let ratio = gaussian.density(bound) / gaussian.survival(bound);
            let mean = restricted.mean().unwrap();
            assert!((mean / ratio - 1.0).abs() < 1e-7, "{bound}: {mean} {ratio}");
            let variance = 1.0 + bound * ratio - ratio * ratio;
            let found = restricted.variance().unwrap();
            assert!(
                (found - variance).abs() < 1e-6,
                "{bound}: {found} {variance}"
            );
            assert!((restricted.cdf(restricted.quantile(0.3)) - 0.3).abs() < 1e-9);
            assert_eq!(restricted.mode(), bound.max(0.0));
        }
    }

    #[test]
    fn a_count_within_bounds_is_its_share_of_the_sum() {
        let poisson = Poisson { rate: 3.0 };
        let restricted =
            Restricted::new(&poisson, &[interval(2.0, 4.0), interval(9.0, 9.0)]).unwrap();
        let counts = [2.0, 3.0, 4.0, 9.0];
        let total: f64 = counts.iter().map(|x| poisson.density(*x)).sum();
        let mean: f64 = counts.iter().map(|x| x * poisson.density(*x)).sum::<f64>() / total;
        assert!((restricted.mean().unwrap() - mean).abs() < 1e-9);
        assert!((restricted.density(3.0) - poisson.density(3.0) / total).abs() < 1e-12);
        assert_eq!(restricted.density(5.0), 0.0);
        assert!(
            (restricted.cdf(3.0) - (restricted.density(2.0) + restricted.density(3.0))).abs()
                < 1e-12
        );
        assert!(Restricted::new(&poisson, &[interval(-5.0, -1.0)]).is_none());
        let far = Restricted::new(&poisson, &[interval(40.0, f64::INFINITY)]).unwrap();
        assert!((40.0..41.0).contains(&far.mean().unwrap()));
        assert_eq!(far.quantile(0.5), 40.0);
    }
}
