//! Hamerly's way: one upper bound on the distance to the own centre and one lower
//! bound on the distance to all others (Hamerly, "Making k-means even faster", 2010).

use super::{Kept, Places, TILE, above, below, is_clear};
use crate::kernel::kmeans::{Nearest, nearest_within, squared};
use crate::model::kmeans::points::Points;

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
        // Once in a while rows are tried all the same: times change.
        let tighten = !std::mem::take(&mut kept.loose);
        for &row in &points.whole {
            let at = row as usize;
            let label = kept.labels[at];
            let slack = self.slack(points.norms[at]);
            let moved = match label as usize == moves.mover {
                true => moves.others,
                false => moves.most,
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
        // A look-up costs some eight times as much.
        kept.loose = settled * 8 < tried;
        self.look_up(points, &unclear, kept)
    }

    /// Computes all distances of some rows.
    fn look_up(&self, points: &Points, rows: &[u32], kept: &mut Kept) -> bool {
        let mut changed = false;
        for rows in rows.chunks(TILE) {
            let mut found = [Nearest::NOWHERE; TILE];
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
