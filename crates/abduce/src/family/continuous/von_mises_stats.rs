//! The statistics of angles: the sum of their unit vectors, and separately the difference between
//! its length and the sum of theirs.

use crate::Result;
use crate::family::{Stats, never_seen};
use serde::{Deserialize, Serialize};

/// Sums over the angles seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct VonMisesStats {
    /// The total weight.
    pub weight: f64,
    /// The weighted sum of cosines.
    pub cosines: f64,
    /// The weighted sum of sines.
    pub sines: f64,
    /// The difference between the weight and the length of the sum: Σ 1 − cos(x − μ) about its
    /// direction μ.
    pub shortfall: f64,
}

/// Statistics as in files; the first versions had no shortfall.
#[derive(Deserialize)]
struct Stored {
    weight: f64,
    cosines: f64,
    sines: f64,
    shortfall: Option<f64>,
}

impl From<Stored> for VonMisesStats {
    fn from(stored: Stored) -> VonMisesStats {
        let Stored {
            weight,
            cosines,
            sines,
            ..
        } = stored;
        let old = || (weight - cosines.hypot(sines)).max(0.0);
        VonMisesStats {
            weight,
            cosines,
            sines,
            shortfall: stored.shortfall.unwrap_or_else(old),
        }
    }
}

impl VonMisesStats {
    /// The statistics of angles with their weights.
    pub fn new(cells: impl IntoIterator<Item = (f64, f64)>) -> VonMisesStats {
        let cells: Vec<(f64, f64)> = cells.into_iter().collect();
        let sum = |f: &dyn Fn(f64) -> f64| cells.iter().map(|(x, weight)| weight * f(*x)).sum();
        let mut stats = VonMisesStats {
            weight: sum(&|_| 1.0),
            cosines: sum(&f64::cos),
            sines: sum(&f64::sin),
            shortfall: 0.0,
        };
        let direction = stats.direction();
        stats.shortfall = sum(&|x| one_less_cosine(x - direction));
        stats
    }

    /// The direction of the summed unit vectors.
    pub fn direction(&self) -> f64 {
        self.sines.atan2(self.cosines)
    }

    /// The length of the summed unit vectors.
    pub fn length(&self) -> f64 {
        self.cosines.hypot(self.sines)
    }

    /// The difference between the lengths of two vectors and that of their sum.
    fn lost_length(&self, other: &Self) -> f64 {
        let (length, other_length) = (self.length(), other.length());
        let both = (self.cosines + other.cosines).hypot(self.sines + other.sines);
        let turn = one_less_cosine(self.direction() - other.direction());
        if length + other_length > 0.0 {
            2.0 * length * other_length * turn / (length + other_length + both)
        } else {
            0.0
        }
    }
}

/// 1 − cos x, by the half angle, which keeps its digits near 0.
pub(crate) fn one_less_cosine(x: f64) -> f64 {
    let half = (0.5 * x).sin();
    2.0 * half * half
}

impl Stats for VonMisesStats {
    fn weight(&self) -> f64 {
        self.weight
    }

    fn merge(&mut self, other: &Self) {
        *self = VonMisesStats {
            weight: self.weight + other.weight,
            cosines: self.cosines + other.cosines,
            sines: self.sines + other.sines,
            shortfall: self.shortfall + other.shortfall + self.lost_length(other),
        };
    }

    fn scale(&mut self, factor: f64) {
        self.weight *= factor;
        self.cosines *= factor;
        self.sines *= factor;
        self.shortfall *= factor;
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        let weight = self.weight - other.weight;
        let rounding = 1e-9 * self.weight;
        if weight < -rounding {
            return Err(never_seen());
        }
        let mut left = VonMisesStats::default();
        if weight > rounding {
            left.weight = weight;
            left.cosines = self.cosines - other.cosines;
            left.sines = self.sines - other.sines;
            let gone = other.shortfall + left.lost_length(other);
            left.shortfall = (self.shortfall - gone).max(0.0);
        }
        *self = left;
        Ok(())
    }
}
