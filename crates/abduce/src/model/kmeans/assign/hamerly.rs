//! Hamerly's way: one upper bound on the distance to the own centre and one lower
//! bound on the distance to all others (Hamerly, "Making k-means even faster", 2010).

use super::{Kept, Places, TILE, above, below, is_clear};
use crate::kernel::kmeans::{Nearest, nearest_within, squared};
use crate::model::kmeans::points::Points;

/// When exact distances to own centres are worth computing: they are tried once in a
/// while, less and less often while they settle few rows.
pub(super) struct Tightening {
    /// Passes until the next try.
    wait: u32,
    /// Passes to wait after a try that was not worth it.
    patience: u32,
}

/// The most passes between two tries.
const LONGEST_WAIT: u32 = 8;

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
    fn is_due(&mut self) -> bool {
        let due = self.wait == 0;
        self.wait = self.wait.saturating_sub(1);
        due
    }

    fn was_worth(&mut self, worth: bool) {
        self.wait = if worth { 0 } else { self.patience };
        self.patience = if worth {
            1
        } else {
            (2 * self.patience).min(LONGEST_WAIT)
        };
    }
}

impl Places<'_> {
    pub(super) fn begin_hamerly(&self, points: &Points, kept: &mut Kept) -> bool {
        kept.upper = vec![0.0; points.rows];
        kept.lower = vec![0.0; points.rows];
        self.look_up(points, &points.whole, kept)
    }

    /// Returns whether a label has changed.
    pub(super) fn hamerly(&self, points: &Points, kept: &mut Kept) -> bool {
        let Some(moves) = &self.moves else {
            return self.look_up(points, &points.whole, kept);
        };
        let mut unclear = Vec::new();
        let (mut tried, mut settled) = (0, 0);
        let tighten = kept.tightening.is_due();
        for &row in &points.whole {
            let at = row as usize;
            let label = kept.labels[at];
            let slack = self.slack(points.norms[at]);
            let moved = if label as usize == moves.mover {
                moves.others
            } else {
                moves.most
            };
            let mut upper = kept.upper[at] + moves.each[label as usize];
            let lower = kept.lower[at] - moved;
            let apart = moves.apart[label as usize];
            let mut clear = is_clear(upper, lower.max(apart - upper), slack);
            if !clear && tighten {
                let square = squared(points.row(at), self.centre(label));
                upper = (square + slack).sqrt();
                clear = is_clear(upper, lower.max(apart - upper), slack);
                tried += 1;
                settled += usize::from(clear);
            }
            if clear {
                (kept.upper[at], kept.lower[at]) = (upper, lower);
            } else {
                unclear.push(row);
            }
        }
        if tighten {
            // A look-up costs some eight times as much.
            kept.tightening.was_worth(settled * 8 >= tried);
        }
        self.look_up(points, &unclear, kept)
    }

    /// Computes all distances of some rows.
    fn look_up(&self, points: &Points, rows: &[u32], kept: &mut Kept) -> bool {
        let mut changed = false;
        for rows in rows.chunks(TILE) {
            let mut found = [Nearest::NONE; TILE];
            let own = &mut found[..rows.len()];
            nearest_within(&self.packed, &points.cells, &points.norms, rows, own);
            for (row, found) in rows.iter().zip(found) {
                let row = *row as usize;
                let norm = points.norms[row];
                let slack = self.slack(norm);
                changed |= kept.labels[row] != found.label;
                kept.labels[row] = found.label;
                kept.upper[row] = above(found.score, norm, slack);
                kept.lower[row] = below(found.second, norm, slack);
            }
        }
        changed
    }
}
