//! The Rust part of the Python package: tables from arrays and frames, fits that report progress and
//! can be interrupted, and fitted models. The estimators are written in Python on top of it.

mod aligned;
mod cells;
mod checks;
mod defaults;
mod dense;
mod discriminant;
mod errors;
mod evidence;
mod families;
mod fitting;
mod frame;
mod labels;
mod levels;
mod memory;
mod messages;
mod model;
mod parts;
mod query;
mod sparse;
mod table;
mod threads;

/// The module that the estimators are built on.
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
    use super::query::{
        changed_constants, column_posterior, of_component, query, tail_probabilities,
    };
    #[pymodule_export]
    use super::sparse::table_of_sparse;
    #[pymodule_export]
    use super::table::{Table, table_of_array, variances};
}
