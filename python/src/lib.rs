//! The Rust side of the Python package: tables out of arrays and frames, fits that
//! can be watched and stopped, models that answer. Estimators are written in Python
//! over these few things.

mod aligned;
mod asking;
mod cells;
mod checks;
mod defaults;
mod dense;
mod discriminant;
mod families;
mod fitting;
mod frame;
mod labels;
mod levels;
mod memory;
mod model;
mod pools;
mod questions;
mod sparse;
mod starts;
mod table;
mod trouble;
mod words;

/// What the estimators stand on.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use super::checks::{impossible_rows, unseen_categories};
    #[pymodule_export]
    use super::defaults::defaults;
    #[pymodule_export]
    use super::discriminant::{ClassGaussians, class_gaussians};
    #[pymodule_export]
    use super::families::{
        Distribution, Hypotheses, distributions, estimate_family, families, kind_of_family,
    };
    #[pymodule_export]
    use super::fitting::{covariances, fit_density, fit_kmeans, fit_mixture, select_mixture};
    #[pymodule_export]
    use super::frame::table_of_frame;
    #[pymodule_export]
    use super::labels::classes_of;
    #[pymodule_export]
    use super::levels::range_of_levels;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::questions::{changed_constants, of_component, query, tail_probabilities};
    #[pymodule_export]
    use super::sparse::table_of_sparse;
    #[pymodule_export]
    use super::starts::{gaussian_start, without_labels};
    #[pymodule_export]
    use super::table::{Table, table_of_array, variances};
}
