//! A bivariate Gaussian whose second coordinate is missing in half of the rows. EM adds the
//! conditional variance of the missing values. Hard EM imputes conditional means only, which
//! makes σ₂ too small and |ρ| too large.

use super::{Group, Line, open};
use abduce::Control;
use abduce::data::ReadOptions;
use abduce::family::Distribution;
use abduce::learn::{EStep, EmOptions};
use abduce::model::mixture::{CovarianceKind, Fit, FitOptions, Specification, fit};
use abduce::{Error, Result};

pub const GROUP: Group = Group {
    name: "Bivariate Gaussian, n = 40, second coordinate missing on 20 rows",
    run,
};

/// The maximum of the observed-data log-likelihood, and σ₂ and ρ there, from
/// golden/missing.json.
const LOG_LIKELIHOOD: f64 = -79.271_982_2;
const SIGMA: f64 = 1.477_460_1;
const RHO: f64 = 0.714_834_7;

fn run() -> Result<Vec<Line>> {
    let em = learn(EStep::Soft)?;
    let (sigma, rho) = sigma_and_rho(&em)?;
    let (hard_sigma, hard_rho) = sigma_and_rho(&learn(EStep::Hard)?)?;
    // At the maximum, another iteration changes nothing.
    let change = em.trace.windows(2).last().map_or(f64::NAN, |w| w[1] - w[0]);
    Ok(vec![
        Line::number(
            "log-likelihood of the observed values, EM",
            LOG_LIKELIHOOD,
            em.log_likelihood,
            6,
        ),
        Line::below("its change in the last iteration", 1e-9, change.abs()),
        Line::number("σ₂, EM", SIGMA, sigma, 4),
        Line::number("ρ, EM", RHO, rho, 4),
        Line::below("σ₂, hard EM: less than EM's", sigma, hard_sigma),
        Line::below("−|ρ|, hard EM: less than EM's", -rho.abs(), -hard_rho.abs()),
    ])
}

fn learn(step: EStep) -> Result<Fit> {
    let opened = open(
        include_str!("../../data/bivariate.csv"),
        &ReadOptions::default(),
    )?;
    let options = FitOptions {
        em: EmOptions {
            step,
            tolerance: 1e-13,
            ..EmOptions::default()
        },
        restarts: 1,
        ..FitOptions::default()
    };
    let specification = Specification {
        variance_floor: 0.0,
        ..Specification::mixture(1, CovarianceKind::Full)
    };
    fit(
        &specification,
        &*opened.source,
        &options,
        Control::default(),
    )
}

/// σ₂ and ρ.
fn sigma_and_rho(fit: &Fit) -> Result<(f64, f64)> {
    match &fit.mixture.parameters.leaves[0][0] {
        Distribution::Multivariate(g) => {
            let sigma = |c: usize| g.covariance(c, c).sqrt();
            Ok((sigma(1), g.covariance(0, 1) / (sigma(0) * sigma(1))))
        }
        other => Err(Error::numeric(format!("a {} was fitted", other.name()))),
    }
}
