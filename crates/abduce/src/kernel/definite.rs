//! A symmetric positive definite matrix A = L Lᵀ, factored once: determinant, inverse,
//! quadratic forms and traces.

use super::linear::{Square, cholesky, gram, invert_lower, log_diagonal};
use super::product::{Matrix, add_product};

/// A positive definite matrix, stored as its Cholesky factor.
pub(crate) struct Definite {
    order: usize,
    factor: Square,
}

impl Definite {
    /// Factors a square matrix, column-major; `None` unless it has `order²`
    /// finite entries, is symmetric up to rounding and positive definite.
    pub(crate) fn new(matrix: &[f64], order: usize) -> Option<Self> {
        if matrix.len() != order * order {
            return None;
        }
        let entry = |i: usize, j: usize| matrix[j * order + i];
        let symmetric = (0..order).all(|i| {
            (0..i).all(|j| {
                let size = (entry(i, i) * entry(j, j)).abs().sqrt();
                (entry(i, j) - entry(j, i)).abs() <= 1e-9 * size
            })
        });
        if !symmetric {
            return None;
        }
        let factor = cholesky(matrix, order).ok()?;
        Some(Definite { order, factor })
    }

    /// L, zero above the diagonal.
    pub(crate) fn factor(&self) -> &[f64] {
        &self.factor
    }

    /// ln |A|.
    pub(crate) fn log_determinant(&self) -> f64 {
        2.0 * log_diagonal(&self.factor, self.order)
    }

    /// A⁻¹.
    pub(crate) fn inverse(&self) -> Square {
        gram(&invert_lower(&self.factor, self.order), self.order)
    }

    /// xᵀ A⁻¹ x, a sum of squares.
    pub(crate) fn distance(&self, x: &[f64]) -> f64 {
        square_norm(&self.whitened(x))
    }

    /// xᵀ A x, a sum of squares.
    pub(crate) fn quadratic(&self, x: &[f64]) -> f64 {
        let columns = self.factor.chunks_exact(self.order.max(1));
        let dots = columns.map(|column| column.iter().zip(x).map(|(l, x)| l * x).sum::<f64>());
        dots.map(|dot| dot * dot).sum()
    }

    /// tr(A⁻¹ B), a sum of squares.
    pub(crate) fn trace_of_quotient(&self, other: &Definite) -> f64 {
        let columns = other.factor.chunks_exact(self.order.max(1));
        columns.map(|column| self.distance(column)).sum()
    }

    /// L⁻¹ x.
    fn whitened(&self, x: &[f64]) -> Vec<f64> {
        let mut white = x.to_vec();
        for (j, column) in self.factor.chunks_exact(self.order.max(1)).enumerate() {
            white[j] /= column[j];
            let solved = white[j];
            for i in j + 1..self.order {
                white[i] -= column[i] * solved;
            }
        }
        white
    }
}

fn square_norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

/// M N for square matrices.
pub(crate) fn product(left: &[f64], right: &[f64], order: usize) -> Square {
    let mut out = vec![0.0; order * order];
    let left = Matrix::new(left, order, order, order);
    let right = Matrix::new(right, order, order, order);
    add_product(&mut out, order.max(1), left, right);
    out
}

/// M Mᵀ for a square matrix.
pub(crate) fn outer_square(root: &[f64], order: usize) -> Square {
    let mut out = vec![0.0; order * order];
    let root = Matrix::new(root, order, order, order);
    add_product(&mut out, order.max(1), root, root.transposed());
    // Rounding differs between the two halves, as they are summed in different orders.
    for i in 0..order {
        for j in 0..i {
            out[i * order + j] = out[j * order + i];
        }
    }
    out
}

/// Mᵀ for a square matrix.
pub(crate) fn transposed(matrix: &[f64], order: usize) -> Square {
    let entries = 0..order * order;
    entries
        .map(|t| matrix[(t % order) * order + t / order])
        .collect()
}

/// M x.
pub(crate) fn times(matrix: &[f64], x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; x.len()];
    for (column, x) in matrix.chunks_exact(x.len().max(1)).zip(x) {
        for (out, entry) in out.iter_mut().zip(column) {
            *out += entry * x;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_traces_are_those_of_the_matrix() {
        let matrix = [4.0, 1.0, 0.5, 1.0, 3.0, -0.2, 0.5, -0.2, 2.0];
        let a = Definite::new(&matrix, 3).unwrap();
        let x = [0.3, -1.0, 2.0];
        let inverse = a.inverse();
        let form = |m: &[f64]| times(m, &x).iter().zip(x).map(|(y, x)| y * x).sum::<f64>();
        assert!((a.quadratic(&x) - form(&matrix)).abs() < 1e-13);
        assert!((a.distance(&x) - form(&inverse)).abs() < 1e-13);
        let b = Definite::new(&[2.0, 0.1, 0.0, 0.1, 1.0, 0.3, 0.0, 0.3, 5.0], 3).unwrap();
        let quotient = product(&inverse, &outer_square(b.factor(), 3), 3);
        let trace = quotient[0] + quotient[4] + quotient[8];
        assert!((a.trace_of_quotient(&b) - trace).abs() < 1e-13);
        let determinant = 4.0 * (3.0 * 2.0 - 0.04) - (2.0 + 0.1) + 0.5 * (-0.2 - 1.5);
        assert!((a.log_determinant() - f64::ln(determinant)).abs() < 1e-13);
        assert_eq!(transposed(&transposed(&inverse, 3), 3), inverse);
    }

    #[test]
    fn matrices_that_are_not_symmetric_or_not_positive_definite_are_refused() {
        assert!(Definite::new(&[1.0, 0.5, 0.2, 1.0], 2).is_none());
        assert!(Definite::new(&[1.0, 2.0, 2.0, 1.0], 2).is_none());
        assert!(Definite::new(&[1.0, 0.0, 0.0], 2).is_none());
        assert!(Definite::new(&[1.0, f64::NAN, f64::NAN, 1.0], 2).is_none());
    }
}
