//! Elkan's way: a lower bound for every row and every centre (Elkan, "Using the
//! triangle inequality to accelerate k-means", 2003). Bounds fail one by one, but
//! distances are computed eight at a time, which costs no more.

use super::{Kept, Places, above, below, is_clear};
use crate::kernel::kmeans::{LANES, scores, squared};
use crate::model::kmeans::points::Points;

impl Places<'_> {
    /// Returns whether a label has changed.
    pub(super) fn elkan(&self, points: &Points, kept: &mut Kept, begun: bool) -> bool {
        let groups = self.packed.groups();
        let lanes = groups * LANES;
        if !begun {
            kept.upper = vec![f64::INFINITY; points.rows];
            kept.lower = vec![0.0; points.rows * lanes];
        }
        let unclear = if begun {
            self.unclear_by_centres(points, kept)
        } else {
            points.whole.clone()
        };
        let mut best = vec![(u32::MAX, f64::INFINITY); unclear.len()];
        let (mut which, mut rows, mut found) = (Vec::new(), Vec::new(), Vec::new());
        for group in 0..groups {
            which.clear();
            rows.clear();
            for (number, row) in unclear.iter().enumerate() {
                let at = *row as usize;
                let slack = self.slack(points.norms[at]);
                let bounds = &kept.lower[at * lanes + group * LANES..][..LANES];
                let least = bounds.iter().copied().fold(f64::INFINITY, f64::min);
                let own = kept.labels[at] as usize / LANES == group;
                if own || !is_clear(kept.upper[at], least, slack) {
                    which.push(number);
                    rows.push(*row);
                }
            }
            found.resize(rows.len(), [0.0; LANES]);
            scores(&self.packed, group, &points.cells, &rows, &mut found);
            for ((number, row), found) in which.iter().zip(&rows).zip(&found) {
                let at = *row as usize;
                let norm = points.norms[at];
                let slack = self.slack(norm);
                let bounds = &mut kept.lower[at * lanes + group * LANES..][..LANES];
                let best = &mut best[*number];
                for (lane, (bound, score)) in bounds.iter_mut().zip(found).enumerate() {
                    *bound = below(*score, norm, slack);
                    if *score < best.1 {
                        *best = ((group * LANES + lane) as u32, *score);
                    }
                }
            }
        }
        let mut changed = false;
        for (row, (label, score)) in unclear.iter().zip(best) {
            let at = *row as usize;
            let norm = points.norms[at];
            changed |= kept.labels[at] != label;
            kept.labels[at] = label;
            kept.upper[at] = above(score, norm, self.slack(norm));
        }
        changed
    }

    fn unclear_by_centres(&self, points: &Points, kept: &mut Kept) -> Vec<u32> {
        let lanes = self.packed.groups() * LANES;
        let Some(moves) = &self.moves else {
            return points.whole.clone();
        };
        let mut unclear = Vec::new();
        for &row in &points.whole {
            let at = row as usize;
            let label = kept.labels[at] as usize;
            let slack = self.slack(points.norms[at]);
            let bounds = &mut kept.lower[at * lanes..(at + 1) * lanes];
            let mut least = f64::INFINITY;
            for (centre, (bound, moved)) in bounds.iter_mut().zip(&moves.each).enumerate() {
                *bound -= moved;
                if centre != label {
                    least = least.min(*bound);
                }
            }
            let mut upper = kept.upper[at] + moves.each[label];
            if !is_clear(upper, least, slack) {
                let square = squared(points.row(at), self.centre(label as u32));
                upper = (square + slack).sqrt();
                if !is_clear(upper, least, slack) {
                    unclear.push(row);
                }
            }
            kept.upper[at] = upper;
        }
        unclear
    }
}
