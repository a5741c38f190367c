//! What became of each start of k-means: the inertia that it reached, and how it ended.

use super::iterate::Found;
use crate::model::mixture::Ended;
use serde::{Deserialize, Serialize};

/// What became of one start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// The inertia it reached, on a sample where rows are many; nothing where it came to
    /// none.
    pub inertia: Option<f64>,
    /// How many times its centres were moved.
    pub iterations: usize,
    /// How it ended.
    pub ended: Ended,
}

/// The relative difference of inertias that are taken for the same.
const SAME: f64 = 1e-6;

impl Start {
    /// What a start came to, whose inertia in the units of the table is given; `whole`
    /// where it saw all rows.
    pub(super) fn of(found: Option<&Found>, inertia: f64, whole: bool) -> Start {
        Start {
            inertia: inertia.is_finite().then_some(inertia),
            iterations: found.map_or(0, |found| found.iterations),
            ended: match found {
                Some(found) if !found.interrupted => match (whole, found.converged) {
                    (false, _) => Ended::Tried,
                    (true, true) => Ended::Converged,
                    (true, false) => Ended::Unconverged,
                },
                _ => Ended::Interrupted,
            },
        }
    }

    /// The least inertia of several starts, and how many reached it, to a millionth of it.
    ///
    /// ```
    /// use abduce::model::kmeans::Start;
    /// use abduce::model::mixture::Ended;
    /// let start = |inertia| Start { inertia: Some(inertia), iterations: 3, ended: Ended::Converged };
    /// let starts = [start(2.5), start(1.0), start(1.0)];
    /// assert_eq!(Start::best_of(&starts), Some((1.0, 2)));
    /// assert_eq!(Start::best_of(&[]), None);
    /// ```
    pub fn best_of(starts: &[Start]) -> Option<(f64, usize)> {
        let reached = || starts.iter().filter_map(|own| own.inertia);
        let best = reached().min_by(f64::total_cmp)?;
        let same = reached().filter(|own| own - best <= SAME * best);
        Some((best, same.count()))
    }
}
