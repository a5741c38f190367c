//! Hamerly's algorithm: one upper bound of the distance to the own centre and one lower
//! bound of the distances to all others (Hamerly, "Making k-means even faster", 2010).

use super::{Assigner, ChunkState, TILE, is_clear, lower_bound, upper_bound};
use crate::kernel::kmeans::{Nearest, nearest_within, squared};
use crate::model::kmeans::points::Points;

/// Decides in which passes the upper bounds are replaced by exact distances: the less often, the
/// fewer rows that settled the last times.
pub(super) struct Tightening {
    /// The number of passes until the next attempt.
    wait: u32,
    /// The number of passes to wait after an attempt that settled too few rows.
    patience: u32,
}

/// The maximum number of passes between two attempts.
const MAX_WAIT: u32 = 8;

impl Default for Tightening {
    fn default() -> Self {
        // Centres move far in the first passes.
        Tightening {
            wait: 2,
            patience: 2,
        }
    }
}

impl Tightening {
    /// Whether this pass makes an attempt.
    fn is_due(&mut self) -> bool {
        let due = self.wait == 0;
        self.wait = self.wait.saturating_sub(1);
        due
    }

    /// Records whether an attempt settled enough rows.
    fn record(&mut self, worth: bool) {
        self.wait = if worth { 0 } else { self.patience };
        self.patience = if worth {
            1
        } else {
            (2 * self.patience).min(MAX_WAIT)
        };
    }
}

impl Assigner<'_> {
    /// Assigns rows for the first time.
    pub(super) fn start_hamerly(&self, points: &Points, state: &mut ChunkState) -> bool {
        state.upper = vec![0.0; points.rows];
        state.lower = vec![0.0; points.rows];
        self.compute_all_distances(points, &points.complete_rows, state)
    }

    /// Assigns rows, and returns whether a label has changed.
    pub(super) fn assign_by_hamerly(&self, points: &Points, state: &mut ChunkState) -> bool {
        let Some(moves) = &self.moves else {
            return self.compute_all_distances(points, &points.complete_rows, state);
        };
        let mut unclear = Vec::new();
        let (mut tried, mut settled) = (0, 0);
        let tighten = state.tightening.is_due();
        for &row in &points.complete_rows {
            let at = row as usize;
            let label = state.labels[at];
            let slack = self.slack(points.norms[at]);
            let moved = if label as usize == moves.mover {
                moves.largest_of_others
            } else {
                moves.largest
            };
            let mut upper = state.upper[at] + moves.each[label as usize];
            let lower = state.lower[at] - moved;
            let separation = moves.separation[label as usize];
            let mut clear = is_clear(upper, lower.max(separation - upper), slack);
            if !clear && tighten {
                let square = squared(points.row(at), self.centre(label));
                upper = (square + slack).sqrt();
                clear = is_clear(upper, lower.max(separation - upper), slack);
                tried += 1;
                settled += usize::from(clear);
            }
            if clear {
                (state.upper[at], state.lower[at]) = (upper, lower);
            } else {
                unclear.push(row);
            }
        }
        if tighten {
            // Computing all distances of a row takes about eight times as long.
            state.tightening.record(settled * 8 >= tried);
        }
        self.compute_all_distances(points, &unclear, state)
    }

    /// Computes all distances of some rows, and returns whether a label has changed.
    fn compute_all_distances(&self, points: &Points, rows: &[u32], state: &mut ChunkState) -> bool {
        let mut changed = false;
        for rows in rows.chunks(TILE) {
            let mut found = [Nearest::NONE; TILE];
            let nearest = &mut found[..rows.len()];
            nearest_within(&self.packed, &points.cells, &points.norms, rows, nearest);
            for (row, found) in rows.iter().zip(found) {
                let row = *row as usize;
                let norm = points.norms[row];
                let slack = self.slack(norm);
                changed |= state.labels[row] != found.label;
                state.labels[row] = found.label;
                state.upper[row] = upper_bound(found.score, norm, slack);
                state.lower[row] = lower_bound(found.second, norm, slack);
            }
        }
        changed
    }
}
