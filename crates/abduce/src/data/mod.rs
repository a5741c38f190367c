//! Tables: columns with kinds and holes, the schema that remembers how they
//! were encoded, and sources that can be scanned again and again in chunks,
//! from memory or from files larger than memory.

mod chunk;
mod column;
mod schema;
mod source;

pub use chunk::{CHUNK_ROWS, Chunk};
pub use column::{Bits, Cells, Column, Rows, Values};
pub use schema::{Field, Kind, Schema};
pub use source::{Source, Table, reduce};
