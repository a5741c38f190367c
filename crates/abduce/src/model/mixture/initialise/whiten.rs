//! Whitening: rows are transformed so that every direction has variance 1. Clusters that differ
//! only along a direction of small variance are then found too.

use crate::kernel::eigen::eigen;

/// Directions whose variance is less than this share of the largest are left out.
const MIN_VARIANCE: f64 = 1e-10;

/// The rows, of `width` numbers each, in coordinates in which their covariance is the identity,
/// and the number of these coordinates.
pub(super) fn whitened(cells: &[f64], width: usize, weights: &[f64]) -> (Vec<f64>, usize) {
    let total: f64 = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let rows = || cells.chunks_exact(width.max(1)).zip(weights);
    let mut mean = vec![0.0; width];
    for (row, w) in rows() {
        mean.iter_mut()
            .zip(row)
            .for_each(|(m, x)| *m += w * x / total);
    }
    if width > weights.len() {
        return whitened_by_rows(cells, &mean, weights);
    }
    let mut covariance = vec![0.0; width * width];
    for (row, w) in rows() {
        for j in 0..width {
            let factor = w * (row[j] - mean[j]) / total;
            for i in 0..width {
                covariance[j * width + i] += factor * (row[i] - mean[i]);
            }
        }
    }
    // Correlations are used, so that columns in small units are not left out.
    let deviation = |c: usize| match covariance[c * (width + 1)].sqrt() {
        0.0 => 1.0,
        deviation => deviation,
    };
    let scale: Vec<f64> = (0..width).map(deviation).collect();
    for (t, entry) in covariance.iter_mut().enumerate() {
        *entry /= scale[t % width] * scale[t / width];
    }
    let axes = eigen(&covariance, width);
    let largest = axes.values.first().copied().unwrap_or(0.0);
    let kept: Vec<(&[f64], f64)> = axes
        .vectors
        .chunks_exact(width.max(1))
        .zip(&axes.values)
        .filter(|(_, value)| **value > MIN_VARIANCE * largest)
        .map(|(axis, value)| (axis, value.sqrt()))
        .collect();
    let project = |row: &[f64], axis: &[f64]| -> f64 {
        let parts = row.iter().zip(&mean).zip(&scale).zip(axis);
        parts.map(|(((x, m), s), a)| (x - m) / s * a).sum()
    };
    let white =
        rows().flat_map(|(row, _)| kept.iter().map(move |(axis, sd)| project(row, axis) / sd));
    (white.collect(), kept.len())
}

/// The same for fewer rows than columns, from a smaller matrix. Let the rows of B be
/// √(w/Σw)(x − m)/s. Then BᵀB is the matrix of correlations, and the smaller B Bᵀ has the same
/// positive eigenvalues. The whitened coordinate of a row along an eigenvector of BᵀB is its entry
/// in the corresponding eigenvector of B Bᵀ, times √(Σw/w).
fn whitened_by_rows(cells: &[f64], mean: &[f64], weights: &[f64]) -> (Vec<f64>, usize) {
    let (width, count) = (mean.len(), weights.len());
    let total: f64 = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let mut variance = vec![0.0; width];
    for (row, w) in cells.chunks_exact(width).zip(weights) {
        for ((variance, x), mean) in variance.iter_mut().zip(row).zip(mean) {
            *variance += w * (x - mean) * (x - mean) / total;
        }
    }
    let scale = |variance: &f64| {
        if *variance > 0.0 {
            variance.sqrt()
        } else {
            1.0
        }
    };
    let scale: Vec<f64> = variance.iter().map(scale).collect();
    let mut scaled = Vec::with_capacity(cells.len());
    for (row, w) in cells.chunks_exact(width).zip(weights) {
        let share = (w / total).sqrt();
        let columns = row.iter().zip(mean).zip(&scale);
        scaled.extend(columns.map(|((x, mean), scale)| share * (x - mean) / scale));
    }
    let row = |r: usize| &scaled[r * width..(r + 1) * width];
    let mut products = vec![0.0; count * count];
    for a in 0..count {
        for b in a..count {
            let product: f64 = row(a).iter().zip(row(b)).map(|(x, y)| x * y).sum();
            products[b * count + a] = product;
            products[a * count + b] = product;
        }
    }
    let axes = eigen(&products, count);
    let largest = axes.values.first().copied().unwrap_or(0.0);
    let kept = |value: &&f64| **value > MIN_VARIANCE * largest;
    let kept = axes.values.iter().take_while(kept).count();
    let coordinate = |r: usize, axis: usize| {
        if weights[r] > 0.0 {
            axes.vectors[axis * count + r] * (total / weights[r]).sqrt()
        } else {
            0.0
        }
    };
    let white = (0..count).flat_map(|r| (0..kept).map(move |axis| coordinate(r, axis)));
    (white.collect(), kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_in_few_rows_are_those_from_the_covariance() {
        let (rows, width) = (6, 9);
        let cells: Vec<f64> = (0..rows * width)
            .map(|t| ((t * t) as f64 * 0.37).sin())
            .collect();
        let weights = [1.0, 2.0, 1.0, 0.5, 1.0, 3.0];
        let (few, axes) = whitened(&cells, width, &weights);
        assert_eq!(axes, rows - 1);
        // With copies of half the weight there are more rows than columns.
        let twice = [cells.clone(), cells].concat();
        let halves: Vec<f64> = weights.iter().chain(&weights).map(|w| 0.5 * w).collect();
        let (many, same) = whitened(&twice, width, &halves);
        assert_eq!(same, axes);
        let distance = |white: &[f64], a: usize, b: usize| -> f64 {
            let row = |r: usize| &white[r * axes..(r + 1) * axes];
            row(a)
                .iter()
                .zip(row(b))
                .map(|(x, y)| (x - y).powi(2))
                .sum()
        };
        for a in 0..rows {
            for b in 0..a {
                let apart = distance(&few, a, b) - distance(&many, a, b);
                assert!(apart.abs() < 1e-9, "{a} {b}: {apart}");
            }
        }
    }
}
