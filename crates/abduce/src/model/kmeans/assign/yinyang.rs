//! Yinyang: a lower bound for each group of eight centres that stand together, so
//! that a centre which moves far troubles only its own group (Ding et al., "Yinyang
//! k-means", 2015). A group is computed for all rows that need it at once.

use super::{Kept, Places, above, below, is_clear};
use crate::kernel::kmeans::{LANES, scores, squared};
use crate::model::kmeans::points::Points;

/// What is known of a row that is looked up.
#[derive(Clone, Copy)]
struct Found {
    label: u32,
    score: f64,
}

impl Places<'_> {
    /// Returns whether a label has changed.
    pub(super) fn yinyang(&self, points: &Points, kept: &mut Kept, begun: bool) -> bool {
        let groups = self.packed.groups();
        if !begun {
            kept.upper = vec![f64::INFINITY; points.rows];
            kept.lower = vec![0.0; points.rows * groups];
        }
        let unclear = match (&self.moves, begun) {
            (Some(_), true) => self.unclear_by_groups(points, kept),
            _ => points.whole.clone(),
        };
        let nothing = Found {
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
                let at = *row as usize;
                let own = kept.labels[at] as usize / LANES == group;
                let slack = self.slack(points.norms[at]);
                let near = !is_clear(kept.upper[at], kept.lower[at * groups + group], slack);
                // The own group is always computed: the label must hold against it
                // to the last bit.
                if own || near {
                    which.push(number);
                    rows.push(*row);
                }
            }
            lanes.resize(rows.len(), [0.0; LANES]);
            scores(&self.packed, group, &points.cells, &rows, &mut lanes);
            for ((number, row), lanes) in which.iter().zip(&rows).zip(&lanes) {
                let at = *row as usize;
                let (norm, found) = (points.norms[at], &mut found[*number]);
                let slack = self.slack(norm);
                let (least, second) = two_least(lanes);
                let label = (group * LANES + least) as u32;
                let (score, bound) = (lanes[least], &mut kept.lower[at * groups + group]);
                if score < found.score {
                    // The centre found before is now one of the others of its group.
                    if found.label != u32::MAX {
                        let earlier = found.label as usize / LANES;
                        let left = below(found.score, norm, slack);
                        let bound = &mut kept.lower[at * groups + earlier];
                        *bound = bound.min(left);
                    }
                    kept.lower[at * groups + group] = below(lanes[second], norm, slack);
                    *found = Found { label, score };
                } else {
                    *bound = below(score, norm, slack);
                }
            }
        }
        let mut changed = false;
        for (row, found) in unclear.iter().zip(&found) {
            let at = *row as usize;
            let norm = points.norms[at];
            changed |= kept.labels[at] != found.label;
            kept.labels[at] = found.label;
            kept.upper[at] = above(found.score, norm, self.slack(norm));
        }
        changed
    }

    /// Moves the bounds along with the centres; the rows whose label they do not
    /// settle.
    fn unclear_by_groups(&self, points: &Points, kept: &mut Kept) -> Vec<u32> {
        let groups = self.packed.groups();
        let Some(moves) = &self.moves else {
            return points.whole.clone();
        };
        let mut unclear = Vec::new();
        for &row in &points.whole {
            let at = row as usize;
            let label = kept.labels[at];
            let slack = self.slack(points.norms[at]);
            let mut least = f64::INFINITY;
            let bounds = &mut kept.lower[at * groups..(at + 1) * groups];
            for (bound, moved) in bounds.iter_mut().zip(&moves.groups) {
                *bound -= moved;
                least = least.min(*bound);
            }
            let mut upper = kept.upper[at] + moves.each[label as usize];
            if !is_clear(upper, least, slack) {
                upper = (squared(points.row(at), self.centre(label)) + slack).sqrt();
                if !is_clear(upper, least, slack) {
                    unclear.push(row);
                }
            }
            kept.upper[at] = upper;
        }
        unclear
    }
}

/// The places of the least and the second least, the first of equals.
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
