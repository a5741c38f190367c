//! The statistics of proportions: those of two gammas, of x and of 1 − x.

use crate::Result;
use crate::family::{GammaStats, Stats, times};
use serde::{Deserialize, Serialize};

/// Sums over the proportions seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct BetaStats {
    /// The proportions x.
    pub shares: GammaStats,
    /// Their complements 1 − x.
    pub rests: GammaStats,
}

/// Statistics as in files; the first versions had Σ ln x and Σ ln(1 − x) alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum Stored {
    Deficits {
        shares: GammaStats,
        rests: GammaStats,
    },
    Logarithms {
        weight: f64,
        log_sum: f64,
        log_complement_sum: f64,
    },
}

impl From<Stored> for BetaStats {
    fn from(stored: Stored) -> BetaStats {
        let (weight, logs) = match stored {
            Stored::Deficits { shares, rests } => return BetaStats { shares, rests },
            Stored::Logarithms {
                weight,
                log_sum,
                log_complement_sum,
            } => (weight, [log_sum, log_complement_sum]),
        };
        // Any mean above the geometric ones will do: the estimate and the
        // likelihood depend on the logarithms alone.
        let means = logs.map(|sum| times(1.0 / weight, sum).exp());
        let room = 0.5 * (1.0 - means[0] - means[1]).max(0.0);
        let [shares, rests] = [0, 1].map(|i| GammaStats {
            weight,
            sum: times(weight, means[i] + room),
            log_deficit: (times(weight, (means[i] + room).ln()) - logs[i]).max(0.0),
        });
        BetaStats { shares, rests }
    }
}

impl Stats for BetaStats {
    fn weight(&self) -> f64 {
        self.shares.weight
    }

    fn merge(&mut self, other: &Self) {
        self.shares.merge(&other.shares);
        self.rests.merge(&other.rests);
    }

    fn scale(&mut self, factor: f64) {
        self.shares.scale(factor);
        self.rests.scale(factor);
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        let mut left = self.clone();
        left.shares.forget(&other.shares)?;
        left.rests.forget(&other.rests)?;
        *self = left;
        Ok(())
    }
}
