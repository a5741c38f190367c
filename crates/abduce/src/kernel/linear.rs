//! Dense symmetric matrices, column-major with both halves stored: Cholesky factor and inverse.
//! Large matrices are processed in blocks that fit the cache (Golub & Van Loan, §4.2.9).

use super::product::{Matrix, add_product};

/// A square matrix of order `order`, column-major.
pub(crate) type Square = Vec<f64>;

/// The number of columns in a block: all columns of a matrix that fits the cache.
fn block(order: usize) -> usize {
    const CACHED: usize = 160;
    const BLOCK: usize = 64;
    if order <= CACHED { CACHED } else { BLOCK }
}

/// The lower factor `L` of `A = L Lᵀ`, zero above the diagonal, or the index
/// of the first pivot that is not positive.
pub(crate) fn cholesky(matrix: &[f64], order: usize) -> Result<Square, usize> {
    let mut factor = matrix.to_vec();
    for start in (0..order).step_by(block(order)) {
        let end = order.min(start + block(order));
        let (done, rest) = factor.split_at_mut(start * order);
        if start > 0 {
            // Subtracts the contribution of the earlier columns.
            let minus: Vec<f64> = (0..start)
                .flat_map(|l| done[l * order + start..l * order + end].iter().map(|x| -x))
                .collect();
            add_product(
                &mut rest[start..(end - start) * order],
                order,
                Matrix::new(&done[start..], order - start, start, order),
                Matrix::new(&minus, end - start, start, end - start).transposed(),
            );
        }
        for j in start..end {
            let (block, rest) = rest.split_at_mut((j - start) * order);
            let column = &mut rest[..order];
            for earlier in block.chunks_exact(order) {
                let multiplier = earlier[j];
                let below = column[j..].iter_mut().zip(&earlier[j..]);
                below.for_each(|(x, entry)| *x -= multiplier * entry);
            }
            let pivot = column[j];
            // A pivot below the rounding error of the diagonal is noise.
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
    }
    Ok(factor)
}

/// The inverse of a lower triangular matrix, itself lower triangular.
pub(crate) fn invert_lower(factor: &[f64], order: usize) -> Square {
    let mut inverse = vec![0.0; order * order];
    for first in (0..order).step_by(block(order)) {
        let last = order.min(first + block(order));
        let columns = &mut inverse[first * order..last * order];
        for j in first..last {
            columns[(j - first) * order + j] = 1.0;
        }
        for start in (first..order).step_by(block(order)) {
            let end = order.min(start + block(order));
            for (j, column) in (first..).zip(columns.chunks_exact_mut(order)) {
                for l in start.max(j)..end {
                    let factor = &factor[l * order..(l + 1) * order];
                    column[l] /= factor[l];
                    let solved = column[l];
                    let below = column[l + 1..end].iter_mut().zip(&factor[l + 1..end]);
                    below.for_each(|(x, entry)| *x -= entry * solved);
                }
            }
            if end == order {
                break;
            }
            let minus: Vec<f64> = columns
                .chunks_exact(order)
                .flat_map(|column| column[start..end].iter().map(|x| -x))
                .collect();
            add_product(
                &mut columns[end..],
                order,
                Matrix::new(
                    &factor[start * order + end..],
                    order - end,
                    end - start,
                    order,
                ),
                Matrix::new(&minus, end - start, last - first, end - start),
            );
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
        for order in [1, 2, 5, 17, 160, 161, 230] {
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
