//! The library as a whole: the order of its modules, its README, limits on memory, and
//! cross-validation of every model.

mod allocation;
mod cross_validation;
mod messages;
mod module_order;
mod readme;
