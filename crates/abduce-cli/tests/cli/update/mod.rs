//! `update`, `merge` and `forget`.

mod basics;
mod edge_cases;
