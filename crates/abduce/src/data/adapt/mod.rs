//! Views of a source: a subset of its columns or rows, other codes, other weights.

pub(crate) mod bootstrap;
pub(crate) mod chosen;
pub(crate) mod folds;
pub(crate) mod labelled;
pub(crate) mod one_level;
pub(crate) mod part;
pub(crate) mod recoded;
pub(crate) mod union;
pub(crate) mod without;
