//! abduce learns a generative model `p(x, z | θ)` of a table in which any cell
//! and any label may be missing, and answers questions about the hidden from
//! the seen.

#![deny(unsafe_code)]

pub mod ask;
pub mod bayes;
pub mod concept;
mod control;
pub mod data;
pub mod density;
mod error;
pub mod estimate;
pub mod eval;
pub mod family;
#[allow(unsafe_code)]
mod kernel;
pub mod leaf;
pub mod learn;
pub mod model;
pub mod plot;
pub mod prelude;
mod spelling;
pub mod store;
pub mod text;
mod validate;

pub use control::{Control, Progress};
pub use error::{Error, ErrorKind, Result};
pub use spelling::spell_options;
