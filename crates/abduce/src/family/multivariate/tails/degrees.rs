//! The M-step of the multivariate t. Location and scale matrix are a Gaussian's; the
//! degrees of freedom ν = 2x of a component maximise
//!
//!   n (x ln x − x − ln Γ(x)) − x h,  h = Σ r (E u − 1 − E ln u),
//!
//! which is greatest where ln x − ψ(x) = h/n (Liu & Rubin 1995). The left side falls from ∞ to 0,
//! so there is exactly one such x. If tails are light, the u contain little information about ν,
//! and EM increases ν in ever smaller steps. An increase is therefore made nearly twice as large,
//! unless the objective would be lower than at the old ν, so that EM is faster and its objective
//! never falls.

use crate::family::multivariate::MultivariatePrior;
use crate::family::multivariate::estimate::estimates_of_all;
use crate::family::multivariate::tails::{
    MultivariateStudentT, MultivariateStudentTShape, MultivariateStudentTStats,
};
use crate::family::{MultivariateGaussian, MultivariateStats, merged};
use crate::kernel::roots::increasing_root;
use crate::kernel::special::{ln_gamma_defect, ln_less_digamma};

/// The degrees of freedom before any E-step.
pub(super) const START: f64 = 10.0;

/// E u − 1 − E ln u of a row before any E-step, where u is Gamma(ν/2, ν/2) with the degrees of
/// freedom of the start.
pub(super) fn start_heaviness() -> f64 {
    ln_less_digamma(0.5 * START)
}

impl MultivariateStudentTStats {
    /// The maximum-likelihood degrees of freedom, at most the largest that is learned; `None` if
    /// there are no rows.
    pub(super) fn degrees(&self) -> Option<f64> {
        if self.weight <= 0.0 {
            return None;
        }
        let mean = self.heaviness / self.weight;
        let (least, most) = (
            0.5 * MultivariateStudentT::MIN_DEGREES,
            0.5 * MultivariateStudentT::MAX_LEARNED,
        );
        let half = increasing_root(least, most, |x| mean - ln_less_digamma(x));
        Some(2.0 * half)
    }

    /// Degrees of freedom that are at least as good as those `before`.
    fn degrees_from(&self, before: f64) -> Option<f64> {
        const STRIDE: f64 = 1.9;
        let best = self.degrees()?;
        let far = (before * (best / before).powf(STRIDE)).min(MultivariateStudentT::MAX_LEARNED);
        let at = |degrees: f64| self.log_likelihood_of_scales(degrees);
        Some(match () {
            () if best > before && at(far) >= at(before) => far,
            () if at(best) >= at(before) => best,
            () => before,
        })
    }

    /// The expected log-likelihood of the u, up to terms without parameters.
    pub(super) fn log_likelihood_of_scales(&self, degrees: f64) -> f64 {
        let half = 0.5 * degrees;
        self.weight * ln_gamma_defect(half) - half * self.heaviness
    }
}

/// The estimates of components, some of which may have no rows.
pub(super) fn estimates(
    shape: &MultivariateStudentTShape,
    stats: &[&MultivariateStudentTStats],
    prior: &MultivariatePrior,
    fallback: &MultivariateStudentT,
    before: Option<&[&MultivariateStudentT]>,
) -> Vec<MultivariateStudentT> {
    let moments: Vec<MultivariateStats> = stats
        .iter()
        .map(|component| component.per_row(prior))
        .collect();
    let moments: Vec<&MultivariateStats> = moments.iter().collect();
    let gaussians_before: Option<Vec<&MultivariateGaussian>> =
        before.map(|before| before.iter().map(|component| &component.gaussian).collect());
    let gaussians = estimates_of_all(
        shape.structure,
        &moments,
        &prior.of_covariance(),
        &fallback.gaussian,
        gaussians_before.as_deref(),
    );
    let together = || merged(stats.iter().copied()).degrees();
    let degrees = |j: usize| {
        let estimate = match before {
            Some(before) => stats[j].degrees_from(before[j].degrees),
            None => stats[j].degrees(),
        };
        estimate.or_else(together).unwrap_or(fallback.degrees)
    };
    let components = gaussians.into_iter().enumerate();
    components
        .map(|(j, gaussian)| MultivariateStudentT {
            degrees: shape.degrees.unwrap_or_else(|| degrees(j)),
            gaussian,
        })
        .collect()
}
