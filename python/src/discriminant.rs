//! The Gaussians of classes: means, covariances, directions and axes.

use crate::errors::{exception, value_error};
use crate::model::Model;
use abduce::model::mixture;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

type Matrix<'py> = Bound<'py, PyArray2<f64>>;
type Vector<'py> = Bound<'py, PyArray1<f64>>;

/// Rows of numbers as a matrix.
fn matrix<'py>(py: Python<'py>, rows: &[Vec<f64>], width: usize) -> PyResult<Matrix<'py>> {
    PyArray1::from_vec(py, rows.concat()).reshape([rows.len(), width])
}

fn square(py: Python<'_>, cells: Vec<f64>, order: usize) -> PyResult<Matrix<'_>> {
    PyArray1::from_vec(py, cells).reshape([order, order])
}

/// The Gaussians of classes.
#[pyclass(frozen, module = "abduce._core")]
pub struct ClassGaussians {
    gaussians: mixture::ClassGaussians,
}

/// The Gaussians of the classes of a model.
#[pyfunction]
pub fn class_gaussians(model: &Model) -> PyResult<ClassGaussians> {
    let Some(mixture) = model.model.body.get::<mixture::FittedMixture>() else {
        return Err(value_error(
            "only a model of Gaussian classes has discriminants",
        ));
    };
    let gaussians = mixture.class_gaussians().map_err(exception)?;
    Ok(ClassGaussians { gaussians })
}

#[pymethods]
impl ClassGaussians {
    /// The means, one row per class.
    fn means<'py>(&self, py: Python<'py>) -> PyResult<Matrix<'py>> {
        matrix(py, &self.gaussians.means, self.gaussians.columns)
    }

    /// The covariance of each class.
    fn covariances<'py>(&self, py: Python<'py>) -> PyResult<Vec<Matrix<'py>>> {
        let covariances = self.gaussians.covariances.iter().cloned();
        covariances
            .map(|covariance| square(py, covariance, self.gaussians.columns))
            .collect()
    }

    /// The covariances of the classes averaged by their probabilities.
    fn average_covariance<'py>(&self, py: Python<'py>) -> PyResult<Matrix<'py>> {
        square(
            py,
            self.gaussians.weighted_covariance(&self.gaussians.weights),
            self.gaussians.columns,
        )
    }

    /// The covariance within classes.
    fn within<'py>(&self, py: Python<'py>) -> PyResult<Matrix<'py>> {
        square(py, self.gaussians.within(), self.gaussians.columns)
    }

    /// Directions (columns), their shares of the variance between classes, coefficients and intercepts.
    #[allow(clippy::type_complexity)]
    fn directions<'py>(
        &self,
        py: Python<'py>,
        tolerance: f64,
    ) -> PyResult<(Matrix<'py>, Vector<'py>, Matrix<'py>, Vector<'py>)> {
        let d = self.gaussians.columns;
        let found = py.detach(|| self.gaussians.directions(tolerance));
        let across: Vec<Vec<f64>> = (0..d)
            .map(|c| {
                found
                    .scalings
                    .iter()
                    .map(|direction| direction[c])
                    .collect()
            })
            .collect();
        Ok((
            matrix(py, &across, found.scalings.len())?,
            PyArray1::from_vec(py, found.ratios),
            matrix(py, &found.coefficients, d)?,
            PyArray1::from_vec(py, found.intercepts),
        ))
    }

    /// Of each class, the variances along its principal axes and the axes (columns).
    #[allow(clippy::type_complexity)]
    fn axes<'py>(&self, py: Python<'py>) -> PyResult<Vec<(Vector<'py>, Matrix<'py>)>> {
        let d = self.gaussians.columns;
        let found = py.detach(|| self.gaussians.axes());
        let each = found.into_iter().map(|(variances, axes)| {
            let across = (0..d * d).map(|t| axes[(t % d) * d + t / d]).collect();
            Ok((PyArray1::from_vec(py, variances), square(py, across, d)?))
        });
        each.collect()
    }
}
