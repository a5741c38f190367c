//! Elkan's algorithm: a lower bound for every row and every centre (Elkan, "Using the triangle
//! inequality to accelerate k-means", 2003). If one bound is too small, the distances of the row
//! from all eight centres of the group are computed, which takes no longer than one.

use super::{Assigner, ChunkState, is_clear, lower_bound, upper_bound};
use crate::kernel::kmeans::{LANES, scores, squared};
use crate::model::kmeans::points::Points;

impl Assigner<'_> {
    /// Assigns rows, and returns whether a label has changed.
    pub(super) fn assign_by_elkan(
        &self,
        points: &Points,
        state: &mut ChunkState,
        has_started: bool,
    ) -> bool {
        let groups = self.packed.groups();
        let lanes = groups * LANES;
        if !has_started {
            state.upper = vec![f64::INFINITY; points.rows];
            state.lower = vec![0.0; points.rows * lanes];
        }
        let unclear = if has_started {
            self.update_centre_bounds(points, state)
        } else {
            points.complete_rows.clone()
        };
        let mut best = vec![(u32::MAX, f64::INFINITY); unclear.len()];
        let (mut which, mut rows, mut found) = (Vec::new(), Vec::new(), Vec::new());
        for group in 0..groups {
            which.clear();
            rows.clear();
            for (number, row) in unclear.iter().enumerate() {
                let at = *row as usize;
                let slack = self.slack(points.norms[at]);
                let bounds = &state.lower[at * lanes + group * LANES..][..LANES];
                let least = bounds.iter().copied().fold(f64::INFINITY, f64::min);
                let has_label = state.labels[at] as usize / LANES == group;
                if has_label || !is_clear(state.upper[at], least, slack) {
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
                let bounds = &mut state.lower[at * lanes + group * LANES..][..LANES];
                let best = &mut best[*number];
                for (lane, (bound, score)) in bounds.iter_mut().zip(found).enumerate() {
                    *bound = lower_bound(*score, norm, slack);
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
            changed |= state.labels[at] != label;
            state.labels[at] = label;
            state.upper[at] = upper_bound(score, norm, self.slack(norm));
        }
        changed
    }

    /// Updates the bounds after the moves of the centres, and returns the rows whose label may have
    /// changed.
    fn update_centre_bounds(&self, points: &Points, state: &mut ChunkState) -> Vec<u32> {
        let lanes = self.packed.groups() * LANES;
        let Some(moves) = &self.moves else {
            return points.complete_rows.clone();
        };
        let mut unclear = Vec::new();
        for &row in &points.complete_rows {
            let at = row as usize;
            let label = state.labels[at] as usize;
            let slack = self.slack(points.norms[at]);
            let bounds = &mut state.lower[at * lanes..(at + 1) * lanes];
            let mut least = f64::INFINITY;
            for (centre, (bound, moved)) in bounds.iter_mut().zip(&moves.each).enumerate() {
                *bound -= moved;
                if centre != label {
                    least = least.min(*bound);
                }
            }
            let mut upper = state.upper[at] + moves.each[label];
            if !is_clear(upper, least, slack) {
                let square = squared(points.row(at), self.centre(label as u32));
                upper = (square + slack).sqrt();
                if !is_clear(upper, least, slack) {
                    unclear.push(row);
                }
            }
            state.upper[at] = upper;
        }
        unclear
    }
}
