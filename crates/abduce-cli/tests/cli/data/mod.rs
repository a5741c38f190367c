//! Tables: kinds of columns, formats, bad input, pipes.

mod bad_input;
mod kinds;
mod pipes;
mod sources;
mod unusual_input;
