//! A uniform row whose ends follow a bilateral Pareto distribution.

use crate::family::Univariate;
use serde::{Deserialize, Serialize};

/// The distribution of a uniform row whose ends are uncertain: flat between low
/// and high, with tails of probability 1/(s + 2) on either side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UniformPredictive {
    /// Where the flat part begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// The shape of the tails.
    pub shape: f64,
}

impl UniformPredictive {
    fn reach(&self) -> f64 {
        self.high - self.low
    }

    /// The probability beyond a place at or above `high`.
    fn tail(&self, x: f64) -> f64 {
        ((x - self.low) / self.reach()).powf(-self.shape) / (self.shape + 2.0)
    }

    fn mirrored(&self, x: f64) -> f64 {
        self.low + (self.high - x)
    }
}

impl Univariate for UniformPredictive {
    fn log_density(&self, x: f64) -> f64 {
        if !x.is_finite() {
            return f64::NEG_INFINITY;
        }
        let s = self.shape;
        let stretched = x.max(self.high) - x.min(self.low);
        s.ln() - (s + 2.0).ln() + s * self.reach().ln() - (s + 1.0) * stretched.ln()
    }

    fn cdf(&self, x: f64) -> f64 {
        match x {
            x if x < self.low => self.tail(self.mirrored(x)),
            x if x > self.high => 1.0 - self.tail(x),
            x => (1.0 + self.shape * (x - self.low) / self.reach()) / (self.shape + 2.0),
        }
    }

    fn survival(&self, x: f64) -> f64 {
        self.cdf(self.mirrored(x))
    }

    fn quantile(&self, p: f64) -> f64 {
        let tail = 1.0 / (self.shape + 2.0);
        let far = |q: f64| self.low + self.reach() * (q / tail).powf(-1.0 / self.shape);
        match p {
            p if p < tail => self.mirrored(far(p)),
            p if 1.0 - p < tail => far(1.0 - p),
            p => self.low + self.reach() * (p * (self.shape + 2.0) - 1.0) / self.shape,
        }
    }

    fn mean(&self) -> Option<f64> {
        (self.shape > 1.0).then_some(0.5 * (self.low + self.high))
    }

    fn variance(&self) -> Option<f64> {
        let (s, square) = (self.shape, self.reach() * self.reach());
        match s {
            s if s > 2.0 => {
                let tails = 2.0 * (1.0 / (s - 2.0) - 1.0 / (s - 1.0) + 0.25 / s);
                Some(square * s / (s + 2.0) * (1.0 / 12.0 + tails))
            }
            s if s > 1.0 => Some(f64::INFINITY),
            _ => None,
        }
    }

    /// The middle; the flat part is equally dense everywhere.
    fn mode(&self) -> f64 {
        0.5 * (self.low + self.high)
    }
}
