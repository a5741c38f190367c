//! All tests of the public interface, as one program: the library is linked once. Unit tests of private
//! functions stand beside them in `src`.

mod density;
mod em;
mod golden;
mod incremental;
mod kmeans;
mod library;
mod mixture;
mod query;
mod reading;
