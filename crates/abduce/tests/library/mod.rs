//! Tests of the library as a whole: the order of its modules, its messages, its example in the
//! book, limits on memory, and cross-validation of every kind of model.

mod allocation;
mod book;
mod cross_validation;
mod messages;
mod module_order;
mod posterior_of;
