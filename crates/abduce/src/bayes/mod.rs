//! Bayesian estimation of one family where the prior is not conjugate: any prior at all on
//! one parameter by quadrature, several parameters by importance sampling; intervals and
//! risk. Conjugate priors belong to the families: [`Conjugate`](crate::family::Conjugate).

mod curve;
mod expression;
mod integral;
mod interval;
mod mode;
mod quadrature;
mod risk;
mod sampled;

pub use curve::Curve;
pub use expression::Expression;
pub use interval::{clopper_pearson, hoeffding};
pub use quadrature::QuadraturePosterior;
pub use risk::{Risk, log_loss};
pub use sampled::{Domain, Parameter, SampledPosterior};
