//! The maximum-likelihood estimate of a Student t distribution.
//!
//! For a given ν, location and scale are moments in which every number weighs (ν + 1)/(ν + z²),
//! iterated until they converge (Kent, Tyler & Vardi 1994). What remains is a likelihood of ν.
//! With outliers it has several maxima, so all of its range is searched: every root of its
//! derivative between two points of a grid is a candidate, and so are the maxima about clusters
//! of numbers below one degree of freedom ([`centres`](super::centres)). The best is kept.

use super::StudentT;
use crate::family::scalar::NARROW;
use crate::family::{PointStats, Scalar, Scale, Stats, Unconstrained, nothing_seen};
use crate::kernel::roots::increasing_root;
use crate::kernel::special::digamma;
use crate::{Error, Result};

/// The grid of degrees of freedom. Below the least the likelihood of rounded numbers grows
/// without limit; the most is a Gaussian to double precision.
const DEGREES: [f64; 14] = [
    0.1,
    0.2,
    0.4,
    0.7,
    1.0,
    2.0,
    4.0,
    8.0,
    16.0,
    32.0,
    128.0,
    1e3,
    1e5,
    StudentT::MAX_DEGREES,
];
/// The point of the grid where the search starts.
const FIRST: usize = 6;

impl StudentT {
    /// The maximum-likelihood location and scale for these degrees of freedom, searched for from
    /// these; none where the scale falls below `least` and on to 0.
    fn settled(self, points: &PointStats, least: f64) -> Option<StudentT> {
        let nu = self.degrees;
        let mut current = self;
        let mut moved = f64::INFINITY;
        for _ in 0..3000 {
            // The weights of the numbers, and their moments about the last location.
            let (mut weight, mut first, mut second) = (0.0, 0.0, 0.0);
            for (x, w) in points.iter() {
                let z = current.standard(x);
                let pull = w * (nu + 1.0) / (nu + z * z);
                weight += pull;
                first += pull * z;
                second += pull * z * z;
            }
            let shift = first / weight;
            // Dividing by the sum of the weights converges faster.
            let stretch = (second / weight - shift * shift).sqrt();
            current.location += current.scale * shift;
            current.scale *= stretch;
            moved = shift.abs() + (stretch - 1.0).abs();
            if moved < 1e-13 || !(current.in_range() && current.scale > least) {
                break;
            }
        }
        (moved < 1e-9 && current.in_range() && current.scale > least).then_some(current)
    }

    /// Location and scale for other degrees of freedom, searched for from these.
    pub(super) fn at(&self, degrees: f64, points: &PointStats, least: f64) -> Option<StudentT> {
        let next = StudentT {
            degrees,
            ..self.clone()
        };
        next.settled(points, least)
    }

    /// The estimates at all points of the grid, from the first outwards, so that every search
    /// starts close to its end.
    fn profile(&self, points: &PointStats, least: f64) -> Vec<Option<StudentT>> {
        let mut settled = vec![None; DEGREES.len()];
        let downwards = (0..=FIRST).rev();
        for places in [
            downwards.collect::<Vec<_>>(),
            (FIRST..DEGREES.len()).collect(),
        ] {
            let mut near = self.clone();
            for place in places {
                settled[place] = near.at(DEGREES[place], points, least);
                near = settled[place].clone().unwrap_or(near);
            }
        }
        settled
    }

    /// The best degrees of freedom, with location and scale searched for from these; none where
    /// the scale vanishes.
    fn likeliest(&self, points: &PointStats, least: f64) -> Option<StudentT> {
        let slope = |maximum: &Option<StudentT>| slope_or_vanished(maximum, points);
        let profile = self.profile(points, least);
        let slopes: Vec<f64> = profile.iter().map(slope).collect();
        let last = DEGREES.len() - 1;
        let mut candidates = Vec::new();
        if slopes[0] > 0.0 {
            candidates.extend(profile[0].clone());
        }
        if slopes[last] <= 0.0 {
            candidates.extend(profile[last].clone());
        }
        for (i, near) in profile.iter().enumerate().skip(1) {
            let Some(near) = near
                .as_ref()
                .filter(|_| slopes[i - 1] < 0.0 && slopes[i] > 0.0)
            else {
                continue;
            };
            candidates.extend(near.maximum_between(DEGREES[i - 1], DEGREES[i], points, least));
        }
        candidates.extend(StudentT::maxima_of_clusters(points, least));
        let likelihood = |student: &StudentT| student.log_likelihood_of(points);
        let better = |a: &StudentT, b: &StudentT| likelihood(a).total_cmp(&likelihood(b));
        candidates.into_iter().max_by(better)
    }

    /// The maximum of the profile likelihood between two degrees of freedom where its derivative
    /// changes sign; location and scale are searched for from these.
    pub(super) fn maximum_between(
        &self,
        low: f64,
        high: f64,
        points: &PointStats,
        least: f64,
    ) -> Option<StudentT> {
        let at = |log: f64| self.at(log.exp(), points, least);
        let slope = |log: f64| slope_or_vanished(&at(log), points);
        let root = at(increasing_root(low.ln(), high.ln(), slope));
        // There is no maximum at the edge of the range in which the scale vanishes.
        root.filter(|root| root.slope(points).abs() <= 1e-6)
    }

    /// Location and scale for these degrees of freedom, the scale kept at or above `least`.
    fn no_narrower(mut self, points: &PointStats, least: f64) -> StudentT {
        let nu = self.degrees;
        for _ in 0..500 {
            let pull = |x: f64| (nu + 1.0) / (nu + self.standard(x).powi(2));
            let weight = points.sum(pull);
            let shift = points.sum(|x| pull(x) * (x - self.location)) / weight;
            let location = self.location + shift;
            let scatter = points.sum(|x| pull(x) * (x - location) * (x - location));
            let scale = (scatter / weight).sqrt().max(least);
            let moved = (shift / scale).abs() + (scale / self.scale).ln().abs();
            (self.location, self.scale) = (location, scale);
            if moved < 1e-10 {
                break;
            }
        }
        self
    }

    /// Minus twice the derivative by ν of the mean log-likelihood.
    pub(super) fn slope(&self, points: &PointStats) -> f64 {
        let nu = self.degrees;
        // 1/ν is taken out of both parts, which would cancel where ν is large.
        let sum = points.sum(|x| {
            let t = self.standard(x).powi(2) / nu;
            t.ln_1p() - (t + t / nu) / (1.0 + t)
        });
        let shape = if nu > 1e3 {
            0.5 / (nu * nu) - 0.25 / nu.powi(4)
        } else {
            digamma(0.5 * (nu + 1.0)) - digamma(0.5 * nu) - 1.0 / nu
        };
        sum / points.weight() - shape
    }
}

/// The derivative [`StudentT::slope`]; positive where equal numbers draw the scale to 0, as more
/// degrees of freedom are needed there.
fn slope_or_vanished(maximum: &Option<StudentT>, points: &PointStats) -> f64 {
    maximum
        .as_ref()
        .map_or(f64::NEG_INFINITY, |maximum| maximum.slope(points))
}

impl Scalar for StudentT {
    const NAME: &'static str = "student-t";
    const PARAMETERS: usize = 3;
    const HAS_UNITS: bool = true;
    type Stats = PointStats;

    fn supports(x: f64) -> bool {
        x.is_finite()
    }

    fn observe_values(cells: &mut dyn Iterator<Item = (f64, f64)>, stats: &mut PointStats) {
        stats.merge(&PointStats::new(cells));
    }

    fn estimate(points: &PointStats) -> Result<Self> {
        if points.values.is_empty() {
            return Err(nothing_seen());
        }
        let weight = points.weight();
        if points
            .weights
            .iter()
            .any(|row_weight| *row_weight >= 0.5 * weight)
        {
            return Err(Error::numeric("half of the numbers or more are the same"));
        }
        // About their median, so that an offset loses no digits.
        let median = points.quantile(0.5);
        let shifted = PointStats {
            values: points.values.iter().map(|x| x - median).collect(),
            weights: points.weights.clone(),
        };
        let vanishes = || Error::numeric("the scale of the numbers vanishes");
        let spread = 0.5 * (points.quantile(0.75) - points.quantile(0.25));
        // The middle half of the numbers is never this much wider than the scale.
        let (scale, least) = if spread > 0.0 {
            (spread, 1e-6 * spread)
        } else {
            (points.variance().sqrt(), 1e-12 * points.variance().sqrt())
        };
        let start = StudentT {
            location: 0.0,
            scale,
            degrees: DEGREES[FIRST],
        };
        let mut best = start.likeliest(&shifted, least).ok_or_else(vanishes)?;
        best.location += median;
        if best.in_range() {
            Ok(best)
        } else {
            Err(vanishes())
        }
    }

    /// The best of a few degrees of freedom, with a scale that is not narrower.
    fn narrow(points: &PointStats, wide: &Self) -> Option<Self> {
        let least = NARROW.sqrt() * wide.scale;
        let tried = [0.5, 1.0, 2.0, 4.0, 16.0, 64.0].map(|degrees| {
            let start = StudentT {
                location: points.quantile(0.5),
                scale: points.variance().sqrt().max(least),
                degrees,
            };
            start.no_narrower(points, least)
        });
        let likelihood = |student: &StudentT| student.log_likelihood_of(points);
        let better = |a: &StudentT, b: &StudentT| likelihood(a).total_cmp(&likelihood(b));
        tried.into_iter().filter(StudentT::in_range).max_by(better)
    }

    fn log_likelihood_of(&self, points: &PointStats) -> f64 {
        let nu = self.degrees;
        let stretch = if nu < 1e4 {
            let unit = 1.0 / (self.scale * nu.sqrt());
            points.sum_of_ln_1p(|x| {
                let t = (x - self.location) * unit;
                t * t
            })
        } else {
            // 1 + z²/ν would lose digits that the factor ν + 1 makes visible.
            points.sum(|x| self.log_stretch(self.standard(x)))
        };
        points.weight() * self.log_peak() - 0.5 * (nu + 1.0) * stretch
    }

    fn wide(scale: &Scale) -> Self {
        StudentT {
            location: scale.mean,
            scale: scale.variance.sqrt(),
            degrees: 5.0,
        }
    }

    /// Rows at the quantiles.
    fn expected(&self, rows: f64) -> PointStats {
        PointStats::at_quantiles(self, rows)
    }

    fn in_range(&self) -> bool {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        self.location.is_finite() && positive(self.scale) && positive(self.degrees)
    }

    fn are_valid(stats: &PointStats) -> bool {
        stats.is_valid()
    }
}

impl Unconstrained for StudentT {}

#[cfg(test)]
impl crate::family::laws::Examples for StudentT {
    fn examples() -> Vec<Self> {
        [(0.0, 1.0, 3.0), (50.0, 0.1, 12.0), (-2.0, 4.0, 1.5)]
            .map(|(location, scale, degrees)| StudentT {
                location,
                scale,
                degrees,
            })
            .to_vec()
    }
}
