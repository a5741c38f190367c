//! Matrix products on strided slices: checked bounds around the kernels of the `gemm` crates, of
//! which the one for the [`level`] in use is called.

use super::simd::{Level, level};

/// A matrix inside a slice: element (i, j) is at `i * row + j * column`.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a> {
    pub data: &'a [f64],
    pub rows: usize,
    pub columns: usize,
    pub row: usize,
    pub column: usize,
}

impl<'a> Matrix<'a> {
    /// Columns of length `rows`, each starting `stride` after the last.
    pub fn new(data: &'a [f64], rows: usize, columns: usize, stride: usize) -> Self {
        Matrix {
            data,
            rows,
            columns,
            row: 1,
            column: stride,
        }
    }

    pub fn transposed(self) -> Self {
        Matrix {
            rows: self.columns,
            columns: self.rows,
            row: self.column,
            column: self.row,
            ..self
        }
    }

    /// The given number of columns, starting at column `first`.
    pub fn columns_from(self, first: usize, columns: usize) -> Self {
        assert!(first + columns <= self.columns);
        Matrix {
            data: &self.data[(first * self.column).min(self.data.len())..],
            columns,
            ..self
        }
    }

    /// Whether every element is inside the slice.
    fn fits(&self) -> bool {
        if self.rows == 0 || self.columns == 0 {
            return true;
        }
        let down = (self.rows - 1).checked_mul(self.row);
        let across = (self.columns - 1).checked_mul(self.column);
        let last = down.zip(across).and_then(|(i, j)| i.checked_add(j));
        last.is_some_and(|last| last < self.data.len())
    }
}

/// `out += a · b`, where `out` has columns of length `a.rows` that start
/// `stride` apart.
///
/// # Panics
/// If the shapes do not fit.
pub(crate) fn add_product(out: &mut [f64], stride: usize, a: Matrix, b: Matrix) {
    assert_eq!(a.columns, b.rows);
    assert!(a.fits() && b.fits());
    if a.rows == 0 || b.columns == 0 || a.columns == 0 {
        return;
    }
    let end = (b.columns - 1).checked_mul(stride);
    let end = end.and_then(|start| start.checked_add(a.rows));
    assert!(stride >= a.rows && end.is_some_and(|end| end <= out.len()));
    // SAFETY: by the assertions, every element that the kernel accesses is inside its slice;
    // `out` is borrowed mutably, so it does not overlap the operands. The kernel of a level needs
    // no more features than the processor has at this level.
    unsafe {
        match level() {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => multiply!(avx512f, V4, 8, out, stride, a, b),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => multiply!(fma, V3, 4, out, stride, a, b),
            #[cfg(target_arch = "aarch64")]
            Level::Baseline => multiply!(neon, Scalar, 2, out, stride, a, b),
            #[cfg(not(target_arch = "aarch64"))]
            Level::Baseline => multiply!(scalar, Scalar, 1, out, stride, a, b),
        }
    }
}

/// Calls the product with the kernels of a level, of so many lanes.
macro_rules! multiply {
    ($kernel:ident, $simd:ident, $lanes:literal, $out:ident, $stride:ident, $a:ident, $b:ident) => {{
        use gemm_common::simd::{MixedSimd, $simd};
        use gemm_f64::microkernel::$kernel::f64::{H_M, H_N, H_UKR, MR_DIV_N, NR, UKR};
        let Some(simd) = <$simd as MixedSimd<f64, f64, f64, f64>>::try_new() else {
            unreachable!("the processor has the features of the level");
        };
        gemm_common::gemm::gemm_basic_generic::<
            _,
            f64,
            $lanes,
            { MR_DIV_N * $lanes },
            NR,
            MR_DIV_N,
            H_M,
            H_N,
        >(
            simd,
            $a.rows,
            $b.columns,
            $a.columns,
            $out.as_mut_ptr(),
            $stride as isize,
            1,
            true,
            $a.data.as_ptr(),
            $a.column as isize,
            $a.row as isize,
            $b.data.as_ptr(),
            $b.column as isize,
            $b.row as isize,
            1.0,
            1.0,
            false,
            false,
            false,
            |a, b, c| a * b + c,
            &UKR,
            &H_UKR,
            false,
            gemm_common::Parallelism::None,
        )
    }};
}
use multiply;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_the_definition_for_all_strides() {
        let a: Vec<f64> = (0..12).map(f64::from).collect();
        let b: Vec<f64> = (0..20).map(|i| f64::from(i) - 7.0).collect();
        // a is 3×4, b transposed is 4×5.
        let mut out = vec![1.0; 5 * 4];
        add_product(
            &mut out,
            4,
            Matrix::new(&a, 3, 4, 3),
            Matrix::new(&b, 5, 4, 5).transposed(),
        );
        for i in 0..3 {
            for j in 0..5 {
                let expected = 1.0 + (0..4).map(|l| a[l * 3 + i] * b[l * 5 + j]).sum::<f64>();
                assert_eq!(out[j * 4 + i], expected);
            }
        }
        assert!(out.iter().skip(3).step_by(4).all(|&x| x == 1.0));
    }

    #[test]
    fn shapes_whose_size_overflows_do_not_fit() {
        let half = usize::MAX / 2 + 1;
        // The products wrap around to 0, which is inside of any slice.
        assert!(!Matrix::new(&[0.0; 4], 1, 3, half).fits());
        assert!(!Matrix::new(&[0.0; 4], 1, 3, half).transposed().fits());
        assert!(!Matrix::new(&[0.0; 4], 2, 2, usize::MAX).fits());
        assert!(Matrix::new(&[0.0; 4], 2, 2, 2).fits());
    }
}
