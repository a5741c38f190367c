//! Questions that a fitted mixture answers.

pub(crate) mod decide;
pub(crate) mod discriminant;
pub(crate) mod explain;
pub(crate) mod joint;
pub(crate) mod predictive;
