//! Outliers, which are the initial rows of a noise component: the rows with the largest distance
//! to their eighth nearest neighbour (Byers & Raftery 1998).

use super::{Points, distance};

/// The distance to this neighbour, counted from 1, measures how far out a row is.
const NEIGHBOUR_NUMBER: usize = 8;

/// The maximum number of rows among which neighbours are searched.
const MAX_NEIGHBOURS: usize = 1000;

impl Points {
    /// Sets the weight of the farthest outliers to 0, up to a share of the total weight; returns
    /// the points and the weight removed.
    pub fn without_outliers(&self, share: f64) -> (Points, f64) {
        let weighted = self.weights.iter().enumerate().filter(|(_, w)| **w > 0.0);
        let weighted: Vec<usize> = weighted.map(|(row, _)| row).collect();
        let candidates = MAX_NEIGHBOURS.min(weighted.len());
        let candidates: Vec<usize> = (0..candidates)
            .map(|i| weighted[i * weighted.len() / candidates])
            .collect();
        let neighbour_distance = |row: usize| {
            let others = candidates.iter().filter(|other| **other != row);
            let mut all: Vec<f64> = others
                .map(|other| distance(self.point(row), self.point(*other)))
                .collect();
            let place = NEIGHBOUR_NUMBER.min(all.len()).saturating_sub(1);
            if all.is_empty() {
                return 0.0;
            }
            *all.select_nth_unstable_by(place, f64::total_cmp).1
        };
        let mut distances: Vec<(f64, usize)> = weighted
            .iter()
            .map(|row| (neighbour_distance(*row), *row))
            .collect();
        distances.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut weights = self.weights.clone();
        let most = share * self.weights.iter().sum::<f64>();
        let mut noise = 0.0;
        for (_, row) in distances {
            if noise + weights[row] > most {
                break;
            }
            noise += weights[row];
            weights[row] = 0.0;
        }
        let near = Points {
            width: self.width,
            all_numeric: self.all_numeric,
            cells: self.cells.clone(),
            weights,
        };
        // A weight of 0 would stay 0 in all iterations of EM.
        (near, noise.max(0.5 * most))
    }
}
