//! The Yinyang algorithm (Ding et al., "Yinyang k-means", 2015): a lower bound for each group of
//! eight near centres, so that a large move of a centre affects only the bound of its group. The
//! distances from a group are computed for all rows that need them together.

use super::{Assigner, ChunkState, is_clear, lower_bound, upper_bound};
use crate::kernel::kmeans::{LANES, scores, squared};
use crate::model::kmeans::points::Points;

/// The nearest centre found so far for a row.
#[derive(Clone, Copy)]
struct NearestFound {
    label: u32,
    score: f64,
}

impl Assigner<'_> {
    /// Assigns rows, and returns whether a label has changed.
    pub(super) fn assign_by_yinyang(
        &self,
        points: &Points,
        state: &mut ChunkState,
        has_started: bool,
    ) -> bool {
        let groups = self.packed.groups();
        if !has_started {
            state.upper = vec![f64::INFINITY; points.rows];
            state.lower = vec![0.0; points.rows * groups];
        }
        let unclear = match (&self.moves, has_started) {
            (Some(_), true) => self.update_group_bounds(points, state),
            _ => points.complete_rows.clone(),
        };
        let nothing = NearestFound {
            label: u32::MAX,
            score: f64::INFINITY,
        };
        let mut found = vec![nothing; unclear.len()];
        let (mut which, mut rows) = (Vec::new(), Vec::new());
        let mut lanes = Vec::new();
        for group in 0..groups {
            which.clear();
            rows.clear();
            for (number, row) in unclear.iter().enumerate() {
                if self.needs_group(points, state, *row as usize, group) {
                    which.push(number);
                    rows.push(*row);
                }
            }
            lanes.resize(rows.len(), [0.0; LANES]);
            scores(&self.packed, group, &points.cells, &rows, &mut lanes);
            for ((number, row), lanes) in which.iter().zip(&rows).zip(&lanes) {
                let found = &mut found[*number];
                self.update_nearest(points, state, *row as usize, group, lanes, found);
            }
        }
        let mut changed = false;
        for (row, found) in unclear.iter().zip(&found) {
            let at = *row as usize;
            let norm = points.norms[at];
            changed |= state.labels[at] != found.label;
            state.labels[at] = found.label;
            state.upper[at] = upper_bound(found.score, norm, self.slack(norm));
        }
        changed
    }

    /// Updates the nearest centre found so far for a row, and its bounds, by the scores of a group.
    fn update_nearest(
        &self,
        points: &Points,
        state: &mut ChunkState,
        row: usize,
        group: usize,
        lanes: &[f64; LANES],
        found: &mut NearestFound,
    ) {
        let norm = points.norms[row];
        let slack = self.slack(norm);
        let bounds = &mut state.lower[row * self.packed.groups()..][..self.packed.groups()];
        let (least, second) = two_least(lanes);
        let score = lanes[least];
        if score < found.score {
            // The centre found before is no longer the nearest: its distance bounds its group.
            if found.label != u32::MAX {
                let bound = &mut bounds[found.label as usize / LANES];
                *bound = bound.min(lower_bound(found.score, norm, slack));
            }
            bounds[group] = lower_bound(lanes[second], norm, slack);
            let label = (group * LANES + least) as u32;
            *found = NearestFound { label, score };
        } else {
            bounds[group] = lower_bound(score, norm, slack);
        }
    }

    /// Whether the distances of a row from a group must be computed.
    fn needs_group(&self, points: &Points, state: &ChunkState, row: usize, group: usize) -> bool {
        // Its own group is always computed, so that the label is exact.
        let is_own = state.labels[row] as usize / LANES == group;
        let bound = state.lower[row * self.packed.groups() + group];
        is_own || !is_clear(state.upper[row], bound, self.slack(points.norms[row]))
    }

    /// Updates the bounds after the moves of the centres, and returns the rows whose label may have
    /// changed.
    fn update_group_bounds(&self, points: &Points, state: &mut ChunkState) -> Vec<u32> {
        let groups = self.packed.groups();
        let Some(moves) = &self.moves else {
            return points.complete_rows.clone();
        };
        let mut unclear = Vec::new();
        for &row in &points.complete_rows {
            let at = row as usize;
            let label = state.labels[at];
            let slack = self.slack(points.norms[at]);
            let mut least = f64::INFINITY;
            let bounds = &mut state.lower[at * groups..(at + 1) * groups];
            for (bound, moved) in bounds.iter_mut().zip(&moves.groups) {
                *bound -= moved;
                least = least.min(*bound);
            }
            let mut upper = state.upper[at] + moves.each[label as usize];
            if !is_clear(upper, least, slack) {
                upper = (squared(points.row(at), self.centre(label)) + slack).sqrt();
                if !is_clear(upper, least, slack) {
                    unclear.push(row);
                }
            }
            state.upper[at] = upper;
        }
        unclear
    }
}

/// The positions of the smallest and the second smallest number, the first of equal ones.
fn two_least(lanes: &[f64; LANES]) -> (usize, usize) {
    let (mut least, mut second) = (0, 1);
    if lanes[1] < lanes[0] {
        (least, second) = (1, 0);
    }
    for lane in 2..LANES {
        if lanes[lane] < lanes[least] {
            (least, second) = (lane, least);
        } else if lanes[lane] < lanes[second] {
            second = lane;
        }
    }
    (least, second)
}
