//! Learning: the one EM driver with its two dials (how hidden things are
//! filled in, and what is maximised), and what a caller can watch and stop.

mod control;
mod em;

pub use control::{Control, Progress};
pub use em::{EStep, EmOptions, EmResult, Latent, em};
