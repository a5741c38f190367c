//! Dense symmetric matrices, column-major with both halves stored: Cholesky factor and inverse.
//! Large matrices are processed in blocks, so that nearly all of the time is spent in matrix
//! products (Golub & Van Loan, §4.2.9). Blocks of columns are independent of each other and
//! computed in parallel, each in a fixed order: the bits are the same for any number of threads.

use super::product::{Matrix, add_product};
use rayon::prelude::*;

/// A square matrix of order `order`, column-major.
pub(crate) type Square = Vec<f64>;

/// The largest order of a matrix that fits the cache and is processed as one block.
const CACHED: usize = 160;

/// The number of columns in a block of an inverse.
const BLOCK: usize = 64;

/// The number of columns whose contribution to later columns is subtracted in one product.
const PANEL: usize = 128;

/// The number of columns of a panel that are factored without products.
const STRIP: usize = 16;

/// The lower factor `L` of `A = L Lᵀ`, zero above the diagonal, or the index
/// of the first pivot that is not positive.
pub(crate) fn cholesky(matrix: &[f64], order: usize) -> Result<Square, usize> {
    let mut factor = matrix.to_vec();
    let (panel, strip) = if order <= CACHED {
        (CACHED, CACHED)
    } else {
        (PANEL, STRIP)
    };
    for start in (0..order).step_by(panel) {
        let end = order.min(start + panel);
        let (done, rest) = factor.split_at_mut(end * order);
        let done = &mut done[start * order..];
        factor_panel(matrix, order, start, strip, done)?;
        subtract_panel(done, order, end, rest);
    }
    Ok(factor)
}

/// Factors the columns of a panel that begins at column `start`; the contributions of the columns
/// before it have already been subtracted.
fn factor_panel(
    matrix: &[f64],
    order: usize,
    start: usize,
    strip: usize,
    panel: &mut [f64],
) -> Result<(), usize> {
    let width = panel.len() / order.max(1);
    for first in (0..width).step_by(strip) {
        let last = width.min(first + strip);
        let (done, rest) = panel.split_at_mut(first * order);
        let top = start + first;
        if first > 0 {
            let minus = negated(done, order, top, start + last);
            add_product(
                &mut rest[top..(last - first) * order],
                order,
                Matrix::new(&done[top..], order - top, first, order),
                Matrix::new(&minus, last - first, first, last - first).transposed(),
            );
        }
        for j in top..start + last {
            let (block, rest) = rest.split_at_mut((j - top) * order);
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
    Ok(())
}

/// Subtracts the contribution of a factored panel from the columns after it, which begin at
/// column `end`. Above the diagonal, only the rows within a block are changed.
fn subtract_panel(panel: &[f64], order: usize, end: usize, rest: &mut [f64]) {
    if end == order {
        return;
    }
    let width = panel.len() / order;
    let minus = negated(panel, order, end, order);
    let blocks = rest.par_chunks_mut(PANEL * order).enumerate();
    blocks.for_each(|(number, block)| {
        let top = end + number * PANEL;
        let columns = block.len() / order;
        add_product(
            &mut block[top..],
            order,
            Matrix::new(&panel[top..], order - top, width, order),
            Matrix::new(&minus[top - end..], columns, width, order - end).transposed(),
        );
    });
}

/// The rows from `top` to `bottom` of columns of length `order`, with the opposite sign.
fn negated(columns: &[f64], order: usize, top: usize, bottom: usize) -> Vec<f64> {
    let mut minus = Vec::with_capacity(columns.len() / order * (bottom - top));
    for column in columns.chunks_exact(order) {
        minus.extend(column[top..bottom].iter().map(|x| -x));
    }
    minus
}

/// The inverse of a lower triangular matrix, itself lower triangular.
pub(crate) fn invert_lower(factor: &[f64], order: usize) -> Square {
    let block = if order <= CACHED { CACHED } else { BLOCK };
    let mut inverse = vec![0.0; order * order];
    let blocks = inverse.par_chunks_mut((block * order).max(1)).enumerate();
    blocks.for_each(|(number, columns)| {
        invert_columns(factor, order, number * block, block, columns);
    });
    inverse
}

/// Solves for the columns of the inverse that begin at column `first`, one block of rows after
/// another.
fn invert_columns(factor: &[f64], order: usize, first: usize, block: usize, columns: &mut [f64]) {
    let width = columns.len() / order;
    for j in 0..width {
        columns[j * order + first + j] = 1.0;
    }
    for start in (first..order).step_by(block) {
        let end = order.min(start + block);
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
        let minus = negated(columns, order, start, end);
        add_product(
            &mut columns[end..],
            order,
            Matrix::new(
                &factor[start * order + end..],
                order - end,
                end - start,
                order,
            ),
            Matrix::new(&minus, end - start, width, end - start),
        );
    }
}

/// The sum of the logarithms of the diagonal: half the log-determinant of
/// `L Lᵀ`.
pub(crate) fn log_diagonal(factor: &[f64], order: usize) -> f64 {
    (0..order).map(|i| factor[i * order + i].ln()).sum()
}

/// `L⁻ᵀ L⁻¹` from the inverse factor: the inverse of `L Lᵀ`.
pub(crate) fn gram(inverse: &[f64], order: usize) -> Square {
    let mut out = vec![0.0; order * order];
    if order <= CACHED {
        let inverse = Matrix::new(inverse, order, order, order);
        add_product(&mut out, order.max(1), inverse.transposed(), inverse);
        return out;
    }
    // Half of the products of columns, and only the rows in which both columns can be nonzero: a
    // sixth of the multiplications of a general product.
    let blocks = out.par_chunks_mut(PANEL * order).enumerate();
    blocks.for_each(|(number, block)| {
        let first = number * PANEL;
        let columns = block.len() / order;
        let (last, rows) = (first + columns, order - first);
        add_product(
            block,
            order,
            Matrix::new(&inverse[first..], rows, last, order).transposed(),
            Matrix::new(&inverse[first * order + first..], rows, columns, order),
        );
    });
    mirror_upper(&mut out, order);
    out
}

/// Adds a product that is a symmetric matrix to `out`, of which only the upper half is computed if
/// the matrix is large; the rest of `out` is then undefined.
pub(crate) fn add_symmetric_product(out: &mut [f64], left: Matrix, right: Matrix) {
    let order = left.rows;
    if order <= CACHED {
        return add_product(out, order, left, right);
    }
    let blocks = out.par_chunks_mut(PANEL * order).enumerate();
    blocks.for_each(|(number, block)| {
        let first = number * PANEL;
        let columns = block.len() / order;
        let rows = first + columns;
        let left = Matrix { rows, ..left };
        let right = right.columns_from(first, columns);
        add_product(block, order, left, right);
    });
}

/// The diagonal of `L⁻ᵀ L⁻¹` from the inverse factor.
pub(crate) fn gram_diagonal(inverse: &[f64], order: usize) -> Vec<f64> {
    let columns = inverse.chunks_exact(order.max(1)).enumerate();
    let squares = columns.map(|(j, column)| column[j..].iter().map(|x| x * x).sum());
    squares.collect()
}

/// Copies the upper half of a square matrix to its lower half, in tiles that fit the cache.
pub(crate) fn mirror_upper(matrix: &mut [f64], order: usize) {
    const TILE: usize = 32;
    for left in (0..order).step_by(TILE) {
        for top in (0..=left).step_by(TILE) {
            for j in left..order.min(left + TILE) {
                for i in top..j.min(top + TILE) {
                    matrix[i * order + j] = matrix[j * order + i];
                }
            }
        }
    }
}

/// Divides the entries of a square matrix by the scales of their rows and columns.
pub(crate) fn divide_by_scales(matrix: &mut [f64], scales: &[f64]) {
    let columns = matrix.chunks_exact_mut(scales.len().max(1));
    for (column, of_column) in columns.zip(scales) {
        for (entry, of_row) in column.iter_mut().zip(scales) {
            *entry /= of_row * of_column;
        }
    }
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
    fn blocks_of_several_panels_agree_with_the_definition() {
        let order = 2 * PANEL + 45;
        let matrix = example(order);
        let inverse = invert_lower(&cholesky(&matrix, order).unwrap(), order);
        let precision = gram(&inverse, order);
        let unit = |i: usize, j: usize| {
            (0..order)
                .map(|l| precision[l * order + i] * matrix[j * order + l])
                .sum::<f64>()
        };
        for (i, j) in [(0, 0), (0, order - 1), (PANEL, 3), (200, 200), (300, 130)] {
            assert!((unit(i, j) - f64::from(u8::from(i == j))).abs() < 1e-12);
        }
        for i in 0..order {
            assert!((0..order).all(|j| precision[i * order + j] == precision[j * order + i]));
        }
        let mut product = vec![0.0; order * order];
        let inverse_matrix = Matrix::new(&inverse, order, order, order);
        add_symmetric_product(&mut product, inverse_matrix.transposed(), inverse_matrix);
        mirror_upper(&mut product, order);
        let pairs = product.iter().zip(&precision);
        assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-13));
        let diagonal = gram_diagonal(&inverse, order);
        for (c, square) in diagonal.iter().enumerate() {
            assert!((square / precision[c * (order + 1)] - 1.0).abs() < 1e-13);
        }
    }

    #[test]
    fn factors_of_large_matrices_have_the_same_bits_on_any_number_of_threads() {
        let order = 400;
        let matrix = example(order);
        let results = [1, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().unwrap().install(|| {
                let factor = cholesky(&matrix, order).unwrap();
                let inverse = invert_lower(&factor, order);
                (gram(&inverse, order), factor, inverse)
            })
        });
        assert!(results[0] == results[1]);
    }

    #[test]
    fn a_pivot_in_a_later_panel_that_is_not_positive_is_named() {
        let order = 2 * PANEL + 45;
        let mut matrix = example(order);
        for i in 0..order {
            // Column 200 is column 7 again.
            matrix[200 * order + i] = matrix[7 * order + i];
        }
        for j in 0..order {
            matrix[j * order + 200] = matrix[j * order + 7];
        }
        assert_eq!(cholesky(&matrix, order), Err(200));
    }

    #[test]
    fn a_singular_matrix_names_its_pivot() {
        assert_eq!(cholesky(&[1.0, 1.0, 1.0, 1.0], 2), Err(1));
        assert_eq!(cholesky(&[0.0], 1), Err(0));
        assert_eq!(cholesky(&[f64::NAN], 1), Err(0));
    }
}
