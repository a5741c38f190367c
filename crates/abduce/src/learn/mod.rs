//! Learning: the EM loop, its options (the E-step, the length of steps, batches), and how a
//! caller can watch and stop it.

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
