//! Rows far from most others, which a start takes for noise: those whose eighth nearest
//! neighbour is the farthest (Byers & Raftery 1998).

use super::{Points, distance};

/// Which neighbour tells how far out a row is.
const NEIGHBOUR: usize = 8;

/// The most rows among which neighbours are looked for.
const AMONG: usize = 1000;

impl Points {
    /// The same without the share of rows that lie farthest out, and their weight.
    pub fn without_far(&self, share: f64) -> (Points, f64) {
        let weighing = self.weights.iter().enumerate().filter(|(_, w)| **w > 0.0);
        let weighing: Vec<usize> = weighing.map(|(row, _)| row).collect();
        let among = AMONG.min(weighing.len());
        let among: Vec<usize> = (0..among)
            .map(|i| weighing[i * weighing.len() / among])
            .collect();
        let reach = |row: usize| {
            let others = among.iter().filter(|other| **other != row);
            let mut all: Vec<f64> = others
                .map(|other| distance(self.point(row), self.point(*other)))
                .collect();
            let place = NEIGHBOUR.min(all.len()).saturating_sub(1);
            match all.is_empty() {
                true => 0.0,
                false => *all.select_nth_unstable_by(place, f64::total_cmp).1,
            }
        };
        let mut reaches: Vec<(f64, usize)> =
            weighing.iter().map(|row| (reach(*row), *row)).collect();
        reaches.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut weights = self.weights.clone();
        let most = share * self.weights.iter().sum::<f64>();
        let mut noise = 0.0;
        for (_, row) in reaches {
            if noise + weights[row] > most {
                break;
            }
            noise += weights[row];
            weights[row] = 0.0;
        }
        let near = Points {
            width: self.width,
            numbers: self.numbers,
            cells: self.cells.clone(),
            weights,
        };
        // Noise of no weight would stay without any.
        (near, noise.max(0.5 * most))
    }
}
