//! Special functions, each accurate to a small relative error in both tails.

mod bessel;
mod beta;
mod gamma;
mod incomplete_beta;
mod incomplete_gamma;
mod normal;

pub(crate) use bessel::{
    bessel_ratio, inverse_bessel_ratio, ln_bessel_i0, ln_scaled_i0, ratio_and_rest, von_mises_cdf,
    von_mises_variance,
};
pub(crate) use beta::{ln_beta, ln_choose};
pub(crate) use gamma::{
    LN_TAU, digamma, digamma_rise, inverse_digamma, ln_factorial, ln_gamma, ln_gamma_defect,
    ln_less_digamma, ln_multigamma, ln_ratio_defect, ln_rising, trigamma,
};
pub(crate) use incomplete_beta::{
    beta_i, beta_i_complement, inverse_beta_i, inverse_beta_i_complement, ln_beta_mass,
};
pub(crate) use incomplete_gamma::{
    gamma_p, gamma_q, inverse_gamma_p, inverse_gamma_q, ln_poisson_mass, poisson_deviance,
};
pub(crate) use normal::{normal_cdf, normal_quantile, normal_survival};

#[cfg(test)]
mod tests;
