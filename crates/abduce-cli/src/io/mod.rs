//! Input and output: where results go, text made safe to print, signals, progress, and the
//! failures that end a command.

pub mod cells;
pub mod escape;
pub mod failure;
pub mod interrupt;
pub mod output;
pub mod progress;
pub mod random;
pub mod row_counts;
