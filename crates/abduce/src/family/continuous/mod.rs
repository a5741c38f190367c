//! Families of one real number.

pub(crate) mod beta;
pub(crate) mod beta_stats;
pub(crate) mod exponential;
pub(crate) mod gamma;
pub(crate) mod gaussian;
pub(crate) mod histogram;
pub(crate) mod kernel_density;
pub(crate) mod log_normal;
pub(crate) mod point_stats;
pub(crate) mod student_t;
pub(crate) mod uniform;
pub(crate) mod von_mises;
pub(crate) mod von_mises_stats;
