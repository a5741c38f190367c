//! Learning: the one EM loop with its dials (how hidden things are filled in, what is
//! maximised, how far a step goes, how many rows it looks at), and what a caller can
//! watch and stop.

mod em;
mod latent;
mod online;
mod pass;
mod squarem;
mod stochastic;

pub use em::{EmOptions, EmResult, Stop, em};
pub use latent::{Accelerated, Coordinates, EStep, Expected, Latent, Pass, Safeguards};
pub use online::Online;
pub(crate) use pass::expect_all;
pub use squarem::Acceleration;
