//! Model-based hierarchical clustering (Banfield & Raftery, *Biometrics* 49, 1993; Fraley, *SIAM
//! J. Sci. Comput.* 20, 1998). Initially every row is a group. In each step the two groups are
//! merged whose union increases the total cost the least, where the cost
//!
//!   c(g) = n_g ln |(W_g + αI) / n_g|
//!
//! is −2 times the log-likelihood of a Gaussian for the group, up to a constant. Rows are whitened
//! first; α gives small groups a volume. The same merges give the groups for any k.

use super::whiten::whitened;
use rayon::prelude::*;

/// The weight, in rows, of the covariance of the whole table in every group.
const ALPHA: f64 = 0.1;

/// The maximum number of operations of a clustering.
const MAX_OPERATIONS: f64 = 5e7;

/// The maximum number of rows of a clustering.
const MAX_ROWS: usize = 1_000;

/// The maximum number of rows for this number of columns.
pub(super) fn max_rows(columns: usize) -> usize {
    let d = columns as f64 + 1.0;
    let rows = (MAX_OPERATIONS / (d * d * d / 3.0 + 10.0)).sqrt();
    (rows as usize).clamp(50, MAX_ROWS)
}

/// A group of rows.
#[derive(Clone)]
struct Group {
    weight: f64,
    mean: Vec<f64>,
    /// The scatter about the mean, as a full matrix.
    scatter: Vec<f64>,
    cost: f64,
}

impl Group {
    fn union(&self, other: &Group) -> Group {
        let d = self.mean.len();
        let share = other.weight / (self.weight + other.weight);
        let mean = |(a, b): (&f64, &f64)| a + share * (b - a);
        let mut scatter = vec![0.0; d * d];
        self.scatter_with(other, &mut scatter);
        let cost = cost(self.weight + other.weight, &mut scatter.clone(), d);
        Group {
            weight: self.weight + other.weight,
            mean: self.mean.iter().zip(&other.mean).map(mean).collect(),
            scatter,
            cost,
        }
    }

    /// The scatter of the union, by Chan's rule.
    fn scatter_with(&self, other: &Group, out: &mut [f64]) {
        let d = self.mean.len();
        let between = self.weight * other.weight / (self.weight + other.weight);
        for j in 0..d {
            let factor = between * (other.mean[j] - self.mean[j]);
            for i in 0..d {
                let t = j * d + i;
                let difference = factor * (other.mean[i] - self.mean[i]);
                out[t] = self.scatter[t] + other.scatter[t] + difference;
            }
        }
    }

    /// The increase of the total cost if two groups are merged; `matrix` is a buffer.
    fn merge_cost(&self, other: &Group, matrix: &mut [f64]) -> f64 {
        self.scatter_with(other, matrix);
        let union = cost(self.weight + other.weight, matrix, self.mean.len());
        union - self.cost - other.cost
    }
}

/// n ln |(W + αI) / n|. The matrix is overwritten: millions of copies would be slow.
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

/// Assigns every row to one of at most `k` groups, given the merges of [`merge_order`].
pub(super) fn groups_of(merges: &[(usize, usize)], rows: usize, k: usize) -> Vec<usize> {
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

/// The merges in their order: the second group becomes part of the first. Each row has `width`
/// numbers.
pub(super) fn merge_order(cells: &[f64], width: usize, weights: &[f64]) -> Vec<(usize, usize)> {
    let (cells, d) = whitened(cells, width, weights);
    let mut groups = single_row_groups(&cells, d, weights);
    let all = (0..groups.len()).into_par_iter();
    let mut best: Vec<(f64, usize)> = all.map(|i| best_partner(&groups, i, d)).collect();
    let mut matrix = vec![0.0; d * d];
    let mut merges = Vec::with_capacity(groups.len());
    for _ in 1..groups.len() {
        let remaining =
            (0..groups.len()).filter(|i| groups[*i].is_some() && best[*i].1 != usize::MAX);
        let Some(into) = remaining.min_by(|a, b| best[*a].0.total_cmp(&best[*b].0)) else {
            break;
        };
        let from = best[into].1;
        let (Some(first), Some(second)) = (groups[into].take(), groups[from].take()) else {
            break;
        };
        groups[into] = Some(first.union(&second));
        merges.push((into, from));
        for i in 0..groups.len() {
            let Some(group) = &groups[i] else { continue };
            if i == into || best[i].1 == into || best[i].1 == from {
                best[i] = best_partner(&groups, i, d);
            } else if let (true, Some(merged)) = (i < into, &groups[into]) {
                let cost = group.merge_cost(merged, &mut matrix);
                if cost < best[i].0 {
                    best[i] = (cost, into);
                }
            }
        }
    }
    merges
}

/// One group for each row, of `d` whitened coordinates.
fn single_row_groups(cells: &[f64], d: usize, weights: &[f64]) -> Vec<Option<Group>> {
    // α is in rows: if their mean weight is below 1, weights are rescaled.
    let mean = weights.iter().sum::<f64>() / weights.len().max(1) as f64;
    let unit = if mean > 0.0 { mean.min(1.0) } else { 1.0 };
    let groups = weights.iter().enumerate().map(|(row, weight)| {
        let weight = (weight / unit).max(f64::MIN_POSITIVE);
        Some(Group {
            weight,
            scatter: vec![0.0; d * d],
            mean: cells[row * d..(row + 1) * d].to_vec(),
            cost: cost(weight, &mut vec![0.0; d * d], d),
        })
    });
    groups.collect()
}

/// The cost and the number of the best group to merge with group `i`, among those after it.
fn best_partner(groups: &[Option<Group>], i: usize, d: usize) -> (f64, usize) {
    let mut best = (f64::INFINITY, usize::MAX);
    let Some(group) = &groups[i] else { return best };
    let mut matrix = vec![0.0; d * d];
    for (j, other) in groups.iter().enumerate().skip(i + 1) {
        if let Some(other) = other {
            let cost = group.merge_cost(other, &mut matrix);
            if cost < best.0 {
                best = (cost, j);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(cells: &[f64], width: usize, weights: &[f64], k: usize) -> Vec<usize> {
        groups_of(&merge_order(cells, width, weights), weights.len(), k)
    }

    /// Three long parallel clusters; the nearest rows belong to different clusters.
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
    fn long_clusters_are_not_cut() {
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
    fn equal_rows_and_fewer_rows_than_groups_are_allowed() {
        assert_eq!(groups(&[1.0; 8], 2, &[1.0; 4], 2).len(), 4);
        assert_eq!(groups(&[1.0, 2.0], 1, &[1.0; 2], 5), [0, 1]);
        assert!(groups(&[], 3, &[], 2).is_empty());
    }
}
