//! Options that several models share.

pub mod density;
pub mod em;
pub mod fixed;
pub mod labels;
pub mod leaves;
pub mod normal;
