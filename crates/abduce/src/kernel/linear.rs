//! Small dense symmetric matrices, stored whole and column-major: Cholesky
//! factor, its inverse, and what follows from them.

use super::product::{Matrix, add_product};

/// A square matrix of order `order`, column-major.
pub(crate) type Square = Vec<f64>;

/// The lower factor `L` of `A = L Lᵀ`, zero above the diagonal, or the index
/// of the first pivot that is not positive.
pub(crate) fn cholesky(matrix: &[f64], order: usize) -> Result<Square, usize> {
    let mut factor = matrix.to_vec();
    for j in 0..order {
        let (done, rest) = factor.split_at_mut(j * order);
        let column = &mut rest[..order];
        for earlier in done.chunks_exact(order) {
            let multiplier = earlier[j];
            for i in j..order {
                column[i] -= multiplier * earlier[i];
            }
        }
        let pivot = column[j];
        // Below rounding of the original diagonal, a pivot is noise.
        let noise = f64::EPSILON * matrix[j * order + j].abs();
        if pivot.is_nan() || pivot <= noise || pivot.is_infinite() {
            return Err(j);
        }
        let root = pivot.sqrt();
        column[..j].fill(0.0);
        column[j] = root;
        for entry in &mut column[j + 1..] {
            *entry /= root;
        }
    }
    Ok(factor)
}

/// The inverse of a lower triangular matrix, itself lower triangular.
pub(crate) fn invert_lower(factor: &[f64], order: usize) -> Square {
    let mut inverse = vec![0.0; order * order];
    for j in 0..order {
        let column = &mut inverse[j * order..(j + 1) * order];
        column[j] = 1.0 / factor[j * order + j];
        for l in j..order {
            if l > j {
                column[l] /= factor[l * order + l];
            }
            let solved = column[l];
            for i in l + 1..order {
                column[i] -= factor[l * order + i] * solved;
            }
        }
    }
    inverse
}

/// The sum of the logarithms of the diagonal: half the log-determinant of
/// `L Lᵀ`.
pub(crate) fn log_diagonal(factor: &[f64], order: usize) -> f64 {
    (0..order).map(|i| factor[i * order + i].ln()).sum()
}

/// `L⁻ᵀ L⁻¹` from the inverse factor: the inverse of `L Lᵀ`.
pub(crate) fn gram(inverse: &[f64], order: usize) -> Square {
    let mut out = vec![0.0; order * order];
    let inverse = Matrix::new(inverse, order, order, order);
    add_product(&mut out, order.max(1), inverse.transposed(), inverse);
    out
}

/// The given rows and columns of a square matrix.
pub(crate) fn submatrix(
    matrix: &[f64],
    order: usize,
    rows: &[usize],
    columns: &[usize],
) -> Vec<f64> {
    columns
        .iter()
        .flat_map(|&j| rows.iter().map(move |&i| matrix[j * order + i]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(order: usize) -> Square {
        let mut matrix = vec![0.0; order * order];
        for i in 0..order {
            for j in 0..order {
                let x = ((i * j) as f64 * 0.7).sin();
                matrix[j * order + i] += if i == j { order as f64 } else { x };
            }
        }
        matrix
    }

    #[test]
    fn factor_times_its_transpose_is_the_matrix_and_the_inverse_undoes_it() {
        for order in [1, 2, 5, 17] {
            let matrix = example(order);
            let factor = cholesky(&matrix, order).unwrap();
            let precision = gram(&invert_lower(&factor, order), order);
            for i in 0..order {
                for j in 0..order {
                    let product: f64 = (0..order)
                        .map(|l| factor[l * order + i] * factor[l * order + j])
                        .sum();
                    assert!((product - matrix[j * order + i]).abs() < 1e-12 * order as f64);
                    let unit: f64 = (0..order)
                        .map(|l| precision[l * order + i] * matrix[j * order + l])
                        .sum();
                    assert!((unit - f64::from(u8::from(i == j))).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn a_singular_matrix_names_its_pivot() {
        assert_eq!(cholesky(&[1.0, 1.0, 1.0, 1.0], 2), Err(1));
        assert_eq!(cholesky(&[0.0], 1), Err(0));
        assert_eq!(cholesky(&[f64::NAN], 1), Err(0));
    }
}
