//! Tables: schema, columns, and sources of chunks of rows, in memory or on disk.

pub(crate) mod cells;
pub(crate) mod chunk;
pub(crate) mod column;
pub(crate) mod fold;
pub(crate) mod names;
pub(crate) mod schema;
pub(crate) mod source;
pub(crate) mod store;
pub(crate) mod streamed;
pub(crate) mod terms;
