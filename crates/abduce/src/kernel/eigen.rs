//! Eigenvalues and eigenvectors of small symmetric matrices, A = V diag(w) Vᵀ, by Jacobi
//! rotations (Golub & Van Loan, §8.5). Small eigenvalues of well-scaled matrices have a small
//! relative error.

use super::linear::Square;

/// The most sweeps; convergence is quadratic, so that far fewer are needed.
const SWEEPS: usize = 60;

/// Eigenvalues, largest first, and their eigenvectors.
#[derive(Clone, Debug)]
pub(crate) struct Eigen {
    pub values: Vec<f64>,
    /// The eigenvectors, as columns.
    pub vectors: Square,
}

/// The eigenvalues and eigenvectors of a symmetric matrix, column-major.
pub(crate) fn eigen(matrix: &[f64], order: usize) -> Eigen {
    let mut rest = matrix.to_vec();
    let mut vectors = identity(order);
    for _ in 0..SWEEPS {
        let mut rotated = false;
        for p in 0..order {
            for q in p + 1..order {
                let off = rest[q * order + p];
                let (a, b) = (rest[p * order + p], rest[q * order + q]);
                if off.abs() <= f64::EPSILON * (a.abs() * b.abs()).sqrt() || off == 0.0 {
                    continue;
                }
                rotated = true;
                let (cosine, sine) = rotation(a, off, b);
                rotate_both_sides(&mut rest, order, p, q, cosine, sine);
                rest[q * order + p] = 0.0;
                rest[p * order + q] = 0.0;
                rotate_columns(&mut vectors, order, p, q, cosine, sine);
            }
        }
        if !rotated {
            break;
        }
    }
    let mut places: Vec<usize> = (0..order).collect();
    let value = |i: usize| rest[i * order + i];
    places.sort_by(|a, b| value(*b).total_cmp(&value(*a)));
    Eigen {
        values: places.iter().map(|i| value(*i)).collect(),
        vectors: places
            .iter()
            .flat_map(|i| vectors[i * order..(i + 1) * order].to_vec())
            .collect(),
    }
}

/// The identity matrix.
pub(crate) fn identity(order: usize) -> Square {
    let mut matrix = vec![0.0; order * order];
    (0..order).for_each(|i| matrix[i * order + i] = 1.0);
    matrix
}

/// Cosine and sine of the smaller rotation that makes ((a, c), (c, b)) diagonal.
pub(crate) fn rotation(a: f64, c: f64, b: f64) -> (f64, f64) {
    let slope = (b - a) / (2.0 * c);
    let tangent = slope.signum() / (slope.abs() + slope.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    (cosine, tangent * cosine)
}

/// Replaces columns p and q by cos·p − sin·q and sin·p + cos·q.
pub(crate) fn rotate_columns(
    matrix: &mut [f64],
    order: usize,
    p: usize,
    q: usize,
    cosine: f64,
    sine: f64,
) {
    let (before, after) = matrix.split_at_mut(q * order);
    let first = &mut before[p * order..(p + 1) * order];
    for (x, y) in first.iter_mut().zip(&mut after[..order]) {
        (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
    }
}

/// Rotates columns and rows p and q of a symmetric matrix.
pub(crate) fn rotate_both_sides(
    matrix: &mut [f64],
    order: usize,
    p: usize,
    q: usize,
    cosine: f64,
    sine: f64,
) {
    rotate_columns(matrix, order, p, q, cosine, sine);
    for column in matrix.chunks_exact_mut(order) {
        let (x, y) = (column[p], column[q]);
        column[p] = cosine * x - sine * y;
        column[q] = sine * x + cosine * y;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symmetric(order: usize) -> Square {
        let entry = |i: usize, j: usize| ((i * 7 + j * 7 + i * j) as f64 * 0.37).sin();
        (0..order * order)
            .map(|t| entry(t % order, t / order) + f64::from(u8::from(t % order == t / order)))
            .collect()
    }

    #[test]
    fn vectors_are_orthonormal_and_reconstruct_the_matrix() {
        for order in [1, 2, 3, 8, 25] {
            let matrix = symmetric(order);
            let Eigen { values, vectors } = eigen(&matrix, order);
            assert!(values.is_sorted_by(|a, b| a >= b));
            for i in 0..order {
                for j in 0..order {
                    let dot: f64 = (0..order)
                        .map(|l| vectors[i * order + l] * vectors[j * order + l])
                        .sum();
                    assert!((dot - f64::from(u8::from(i == j))).abs() < 1e-13);
                    let entry: f64 = (0..order)
                        .map(|l| values[l] * vectors[l * order + i] * vectors[l * order + j])
                        .sum();
                    assert!((entry - matrix[j * order + i]).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn small_eigenvalues_have_a_small_relative_error() {
        // diag(s) C diag(s) with s from 1 to 1e-8.
        let matrix = [1.0, 0.5e-8, 0.5e-8, 1e-16];
        let values = eigen(&matrix, 2).values;
        assert!((values[1] / 0.75e-16 - 1.0).abs() < 1e-12);
        assert_eq!(eigen(&[0.0; 9], 3).values, [0.0; 3]);
    }
}
