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
