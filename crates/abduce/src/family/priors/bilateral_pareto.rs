//! The bilateral Pareto distribution over the two ends of an interval (DeGroot 1970),
//!
//! p(l, h) = s(s + 1) rˢ/(h − l)^(s + 2) for l ≤ low and h ≥ high, where r = high − low,
//!
//! the conjugate prior of the ends of a uniform distribution.

use crate::family::{Multi, Univariate};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// A distribution over the two ends of a uniform distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BilateralPareto {
    /// The lower end lies here or below.
    pub low: f64,
    /// The upper end lies here or above.
    pub high: f64,
    /// The shape s; the larger, the closer the ends lie.
    pub shape: f64,
}

impl BilateralPareto {
    fn reach(&self) -> f64 {
        self.high - self.low
    }
}

impl BilateralPareto {
    /// The distribution of each end by itself.
    pub(crate) fn ends(&self) -> (ParetoEnd, ParetoEnd) {
        let end = |origin: f64, reach: f64| ParetoEnd {
            origin,
            reach,
            shape: self.shape,
        };
        (end(self.high, -self.reach()), end(self.low, self.reach()))
    }
}

impl Multi for BilateralPareto {
    fn dimension(&self) -> usize {
        2
    }

    fn log_density(&self, ends: &[f64]) -> f64 {
        let (s, inside) = (self.shape, ends[0] <= self.low && ends[1] >= self.high);
        if !inside {
            return f64::NEG_INFINITY;
        }
        s.ln() + (s + 1.0).ln() + s * self.reach().ln() - (s + 2.0) * (ends[1] - ends[0]).ln()
    }

    fn mean(&self) -> Option<Vec<f64>> {
        let (low, high) = self.ends();
        let finite = |end: ParetoEnd| end.mean().filter(|mean| mean.is_finite());
        Some(vec![finite(low)?, finite(high)?])
    }

    fn variance(&self) -> Option<Vec<f64>> {
        let (low, high) = self.ends();
        Some(vec![low.variance()?, high.variance()?])
    }

    fn mode(&self) -> Option<Vec<f64>> {
        Some(vec![self.low, self.high])
    }

    /// With E ln((h − l)/r) = 1/s + 1/(s + 1).
    fn entropy(&self) -> f64 {
        let s = self.shape;
        let stretch = 1.0 / s + 1.0 / (s + 1.0);
        2.0 * self.reach().ln() + (s + 2.0) * stretch - s.ln() - (s + 1.0).ln()
    }

    fn draw(&self, rng: &mut dyn Rng) -> Vec<f64> {
        let mut factor = |shape: f64| (1.0 - rng.random::<f64>()).powf(-1.0 / shape);
        let high = self.low + self.reach() * factor(self.shape);
        let low = high - (high - self.low) * factor(self.shape + 1.0);
        vec![low, high]
    }
}

/// One end: origin + reach · t, where t ≥ 1 is Pareto distributed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ParetoEnd {
    origin: f64,
    /// Negative for the lower end.
    reach: f64,
    shape: f64,
}

impl ParetoEnd {
    /// P(t > …) at a place.
    fn beyond(&self, x: f64) -> f64 {
        ((x - self.origin) / self.reach).max(1.0).powf(-self.shape)
    }
}

impl Univariate for ParetoEnd {
    fn log_density(&self, x: f64) -> f64 {
        let t = (x - self.origin) / self.reach;
        if t >= 1.0 && t.is_finite() {
            self.shape.ln() - self.reach.abs().ln() - (self.shape + 1.0) * t.ln()
        } else {
            f64::NEG_INFINITY
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        let beyond = self.beyond(x);
        if self.reach > 0.0 {
            1.0 - beyond
        } else {
            beyond
        }
    }

    fn support(&self) -> (f64, f64) {
        let edge = self.origin + self.reach;
        if self.reach > 0.0 {
            (edge, f64::INFINITY)
        } else {
            (f64::NEG_INFINITY, edge)
        }
    }

    fn quantile(&self, p: f64) -> f64 {
        let beyond = if self.reach > 0.0 { 1.0 - p } else { p };
        self.origin + self.reach * beyond.powf(-1.0 / self.shape)
    }

    fn mean(&self) -> Option<f64> {
        Some(if self.shape > 1.0 {
            self.origin + self.reach * self.shape / (self.shape - 1.0)
        } else {
            self.reach.signum() * f64::INFINITY
        })
    }

    fn variance(&self) -> Option<f64> {
        let s = self.shape;
        match s {
            s if s > 2.0 => Some(self.reach * self.reach * s / ((s - 1.0) * (s - 1.0) * (s - 2.0))),
            s if s > 1.0 => Some(f64::INFINITY),
            _ => None,
        }
    }

    fn mode(&self) -> f64 {
        self.origin + self.reach
    }
}
