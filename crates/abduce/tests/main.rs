//! All tests of the public interface, in one program so that the library is linked once. Unit tests
//! of private functions are in `src`.

mod common;
mod density;
mod em;
mod golden;
mod incremental;
mod kmeans;
mod library;
mod mixture;
mod query;
mod reading;
