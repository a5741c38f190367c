//! Model-based hierarchical clustering: beginning with every row alone, the two groups
//! are merged whose union lowers the classification likelihood of Gaussians with
//! covariances of their own the least (Banfield & Raftery, *Biometrics* 49, 1993;
//! Fraley, *SIAM J. Sci. Comput.* 20, 1998),
//!
//!   c(g) = n_g ln |(W_g + αI) / n_g|,
//!
//! on rows whitened by their covariance, where α gives small groups a volume. One
//! tree serves every number of groups.

use super::whiten::whitened;
use rayon::prelude::*;

/// The rows' worth of the whole table's covariance in every group.
const ALPHA: f64 = 0.1;

/// Operations that a tree may take.
const WORK: f64 = 5e7;

/// The most rows of a tree.
const ROWS: usize = 1_000;

/// How many rows of so many columns a tree may have.
pub(super) fn most_rows(columns: usize) -> usize {
    let d = columns as f64 + 1.0;
    let rows = (WORK / (d * d * d / 3.0 + 10.0)).sqrt();
    (rows as usize).clamp(50, ROWS)
}

/// A group of rows.
#[derive(Clone)]
struct Group {
    weight: f64,
    mean: Vec<f64>,
    /// The scatter about the mean, the whole matrix.
    scatter: Vec<f64>,
    cost: f64,
}

impl Group {
    fn union(&self, other: &Group) -> Group {
        let d = self.mean.len();
        let share = other.weight / (self.weight + other.weight);
        let toward = |(own, other): (&f64, &f64)| own + share * (other - own);
        let mut scatter = vec![0.0; d * d];
        self.scatter_with(other, &mut scatter);
        let cost = cost(self.weight + other.weight, &mut scatter.clone(), d);
        Group {
            weight: self.weight + other.weight,
            mean: self.mean.iter().zip(&other.mean).map(toward).collect(),
            scatter,
            cost,
        }
    }

    /// The scatter of both together, by Chan's rule.
    fn scatter_with(&self, other: &Group, out: &mut [f64]) {
        let d = self.mean.len();
        let between = self.weight * other.weight / (self.weight + other.weight);
        for j in 0..d {
            let along = between * (other.mean[j] - self.mean[j]);
            for i in 0..d {
                let t = j * d + i;
                let apart = along * (other.mean[i] - self.mean[i]);
                out[t] = self.scatter[t] + other.scatter[t] + apart;
            }
        }
    }

    /// How much more two groups cost as one.
    fn rise(&self, other: &Group, matrix: &mut [f64]) -> f64 {
        self.scatter_with(other, matrix);
        let together = cost(self.weight + other.weight, matrix, self.mean.len());
        together - self.cost - other.cost
    }
}

/// n ln |(W + αI) / n|; the matrix is worked on in place, as millions of them are asked.
fn cost(weight: f64, matrix: &mut [f64], d: usize) -> f64 {
    (0..d).for_each(|c| matrix[c * (d + 1)] += ALPHA);
    let mut log = 0.0;
    for j in 0..d {
        let pivot = matrix[j * (d + 1)];
        log += pivot.ln();
        for l in j + 1..d {
            let factor = matrix[j * d + l] / pivot;
            for i in l..d {
                matrix[l * d + i] -= factor * matrix[j * d + i];
            }
        }
    }
    weight * (log - d as f64 * weight.ln())
}

/// The group, of `k`, of every row of positive weight; rows are `width` numbers each.
pub(super) fn groups(cells: &[f64], width: usize, weights: &[f64], k: usize) -> Vec<usize> {
    let merges = tree(cells, width, weights);
    let rows = weights.len();
    let mut parent: Vec<usize> = (0..rows).collect();
    for (into, from) in merges.iter().take(rows.saturating_sub(k)) {
        parent[*from] = *into;
    }
    let root = |mut row: usize| {
        while parent[row] != row {
            row = parent[row];
        }
        row
    };
    let roots: Vec<usize> = (0..rows).map(root).collect();
    let mut numbers = roots.clone();
    numbers.sort_unstable();
    numbers.dedup();
    let number = |root: &usize| numbers.binary_search(root).unwrap_or(0);
    roots.iter().map(number).collect()
}

/// The merges in their order: the second group becomes part of the first.
fn tree(cells: &[f64], width: usize, weights: &[f64]) -> Vec<(usize, usize)> {
    let (cells, d) = whitened(cells, width, weights);
    // α is in rows: where these weigh less than 1, so does it.
    let mean = weights.iter().sum::<f64>() / weights.len().max(1) as f64;
    let unit = if mean > 0.0 { mean.min(1.0) } else { 1.0 };
    let weights: Vec<f64> = weights.iter().map(|weight| weight / unit).collect();
    let mut groups: Vec<Option<Group>> = weights
        .iter()
        .enumerate()
        .map(|(row, weight)| {
            let weight = weight.max(f64::MIN_POSITIVE);
            Some(Group {
                weight,
                scatter: vec![0.0; d * d],
                mean: cells[row * d..(row + 1) * d].to_vec(),
                cost: cost(weight, &mut vec![0.0; d * d], d),
            })
        })
        .collect();
    // The best partner of every group among those after it.
    let best_after = |groups: &[Option<Group>], i: usize| {
        let mut best = (f64::INFINITY, usize::MAX);
        let Some(own) = &groups[i] else { return best };
        let mut matrix = vec![0.0; d * d];
        for (j, other) in groups.iter().enumerate().skip(i + 1) {
            if let Some(other) = other {
                let rise = own.rise(other, &mut matrix);
                if rise < best.0 {
                    best = (rise, j);
                }
            }
        }
        best
    };
    let all = (0..groups.len()).into_par_iter();
    let mut best: Vec<(f64, usize)> = all.map(|i| best_after(&groups, i)).collect();
    let mut matrix = vec![0.0; d * d];
    let mut merges = Vec::with_capacity(groups.len());
    for _ in 1..groups.len() {
        let alive = (0..groups.len()).filter(|i| groups[*i].is_some() && best[*i].1 != usize::MAX);
        let Some(into) = alive.min_by(|a, b| best[*a].0.total_cmp(&best[*b].0)) else {
            break;
        };
        let from = best[into].1;
        let (Some(own), Some(other)) = (groups[into].take(), groups[from].take()) else {
            break;
        };
        groups[into] = Some(own.union(&other));
        merges.push((into, from));
        for i in 0..groups.len() {
            let Some(other) = &groups[i] else { continue };
            if i == into || best[i].1 == into || best[i].1 == from {
                best[i] = best_after(&groups, i);
            } else if let (true, Some(merged)) = (i < into, &groups[into]) {
                let rise = other.rise(merged, &mut matrix);
                if rise < best[i].0 {
                    best[i] = (rise, into);
                }
            }
        }
    }
    merges
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three long clusters side by side, whose nearest rows are of different ones.
    fn stripes() -> (Vec<f64>, Vec<usize>) {
        let (mut cells, mut truth) = (Vec::new(), Vec::new());
        for group in 0..3 {
            for i in 0..30 {
                let t = f64::from(i);
                let across = 4.0 * f64::from(group * (group + 3)) / 4.0;
                cells.extend([t, across + 0.3 * (2.7 * t + f64::from(group)).sin()]);
                truth.push(group as usize);
            }
        }
        (cells, truth)
    }

    #[test]
    fn long_clusters_are_found_that_distances_to_centres_would_cut() {
        let (cells, truth) = stripes();
        assert_eq!(groups(&cells, 2, &[1.0; 90], 3), truth);
    }

    #[test]
    fn units_and_order_of_columns_do_not_matter() {
        let (cells, _) = stripes();
        let other: Vec<f64> = cells
            .chunks_exact(2)
            .flat_map(|x| [1e-3 * x[1], 1e5 * x[0]])
            .collect();
        for k in [2, 4, 7] {
            assert_eq!(
                groups(&cells, 2, &[1.0; 90], k),
                groups(&other, 2, &[1.0; 90], k)
            );
        }
    }

    #[test]
    fn a_common_factor_of_small_weights_does_not_matter() {
        let (cells, _) = stripes();
        for k in [2, 4, 7] {
            let expected = groups(&cells, 2, &[0.5; 90], k);
            assert_eq!(groups(&cells, 2, &[0.5 * 2f64.powi(-30); 90], k), expected);
        }
    }

    #[test]
    fn equal_rows_and_few_rows_make_groups_too() {
        assert_eq!(groups(&[1.0; 8], 2, &[1.0; 4], 2).len(), 4);
        assert_eq!(groups(&[1.0, 2.0], 1, &[1.0; 2], 5), [0, 1]);
        assert!(groups(&[], 3, &[], 2).is_empty());
    }
}
