//! Tables: kinds of columns, formats, bad input, pipes.

mod bad_input;
mod hostile;
mod kinds;
mod pipes;
mod sources;
