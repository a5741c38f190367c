//! Variances of uncorrelated columns, v_jc = λ_j a_jc: the maximum of
//!
//!   −½ Σ_jc (n_jc ln v_jc + s_jc / v_jc),
//!
//! where n_jc and s_jc are weight and scatter of column c in component j. Columns may be observed
//! in different rows, so each has its weight.

use crate::Result;
use crate::family::multivariate::structure::{ROUNDS, Structure, positive, until_settled};
use crate::family::nothing_seen;
use crate::kernel::roots::increasing_root;

/// Weights and scatters of the columns of one component, including the prior's.
pub(crate) struct Apart {
    pub weights: Vec<f64>,
    pub scatters: Vec<f64>,
}

/// The variances of the components.
///
/// # Errors
/// If a column has no values, or no scatter.
pub(crate) fn variances(structure: Structure, all: &[Apart]) -> Result<Vec<Vec<f64>>> {
    let columns = all.first().map_or(0, |stats| stats.weights.len());
    let pooled = |c: usize| {
        let sum = |of: fn(&Apart) -> &Vec<f64>| all.iter().map(|stats| of(stats)[c]).sum::<f64>();
        (sum(|stats| &stats.scatters), sum(|stats| &stats.weights))
    };
    match structure {
        Structure::Identity => Ok(vec![vec![1.0; columns]; all.len()]),
        Structure::Eii => {
            let (scatter, weight) = (0..columns)
                .map(pooled)
                .fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
            Ok(vec![
                vec![quotient(scatter, weight, 0)?; columns];
                all.len()
            ])
        }
        Structure::Spherical => all
            .iter()
            .map(|stats| {
                let variance =
                    quotient(stats.scatters.iter().sum(), stats.weights.iter().sum(), 0)?;
                Ok(vec![variance; columns])
            })
            .collect(),
        Structure::Eei => {
            let each = (0..columns).map(|c| quotient(pooled(c).0, pooled(c).1, c));
            Ok(vec![each.collect::<Result<_>>()?; all.len()])
        }
        Structure::Vei => proportional(all, columns),
        Structure::Evi => of_one_volume(all),
        _ => all
            .iter()
            .map(|stats| {
                let columns = stats.scatters.iter().zip(&stats.weights).enumerate();
                columns.map(|(c, (s, n))| quotient(*s, *n, c)).collect()
            })
            .collect(),
    }
}

fn quotient(scatter: f64, weight: f64, column: usize) -> Result<f64> {
    if weight <= 0.0 {
        return Err(nothing_seen());
    }
    positive(scatter / weight, column)
}

/// v_jc = λ_j a_c: each of λ and a is maximised given the other, and this leads to the only
/// maximum, as the objective is concave in ln λ and ln a.
fn proportional(all: &[Apart], columns: usize) -> Result<Vec<Vec<f64>>> {
    let mut volumes = vec![1.0; all.len()];
    let mut shape = vec![1.0; columns];
    until_settled(ROUNDS, || {
        for (c, share) in shape.iter_mut().enumerate() {
            let scatters = all
                .iter()
                .zip(&volumes)
                .map(|(stats, v)| stats.scatters[c] / v);
            let weight = all.iter().map(|stats| stats.weights[c]).sum();
            *share = quotient(scatters.sum(), weight, c)?;
        }
        let mut objective = 0.0;
        for (stats, volume) in all.iter().zip(&mut volumes) {
            let scatter = stats.scatters.iter().zip(&shape).map(|(s, a)| s / a).sum();
            *volume = quotient(scatter, stats.weights.iter().sum(), 0)?;
            let logs = stats.weights.iter().zip(&shape);
            objective += logs.map(|(n, a)| n * (*volume * a).ln()).sum::<f64>();
        }
        Ok(objective)
    })?;
    let of = |volume: &f64| shape.iter().map(|a| volume * a).collect();
    Ok(volumes.iter().map(of).collect())
}

/// Σ_c ln v_jc the same for all components: v_jc = s_jc / (n_jc − μ_j) with multipliers that sum
/// to 0. Where all columns have the same weight, the volumes determine the multipliers.
fn of_one_volume(all: &[Apart]) -> Result<Vec<Vec<f64>>> {
    for stats in all {
        for (c, (scatter, weight)) in stats.scatters.iter().zip(&stats.weights).enumerate() {
            quotient(*scatter, *weight, c)?;
        }
    }
    let even = |stats: &Apart| stats.weights.iter().all(|n| *n == stats.weights[0]);
    let multipliers: Vec<f64> = if all.iter().all(even) {
        let volume = |stats: &Apart| {
            let logs = stats.scatters.iter().map(|s| s.ln()).sum::<f64>();
            (logs / stats.scatters.len() as f64).exp()
        };
        let volumes: Vec<f64> = all.iter().map(volume).collect();
        let total: f64 = all.iter().map(|stats| stats.weights[0]).sum();
        let sum: f64 = volumes.iter().sum();
        let pairs = all.iter().zip(&volumes);
        pairs
            .map(|(stats, v)| stats.weights[0] - total * v / sum)
            .collect()
    } else {
        let multiplier = |stats: &Apart, log_volume: f64| {
            let least = stats.weights.iter().copied().fold(f64::INFINITY, f64::min);
            let volume = |mu: f64| {
                let columns = stats.scatters.iter().zip(&stats.weights);
                columns.map(|(s, n)| (s / (n - mu)).ln()).sum::<f64>()
            };
            least - increasing_root(0.0, f64::INFINITY, |gap| log_volume - volume(least - gap))
        };
        let sum = |log_volume: f64| -> f64 {
            let each = all.iter().map(|stats| multiplier(stats, log_volume));
            each.sum()
        };
        let log_volume = increasing_root(f64::NEG_INFINITY, f64::INFINITY, sum);
        all.iter()
            .map(|stats| multiplier(stats, log_volume))
            .collect()
    };
    let of = |(stats, mu): (&Apart, &f64)| -> Result<Vec<f64>> {
        let columns = stats.scatters.iter().zip(&stats.weights).enumerate();
        columns
            .map(|(c, (s, n))| positive(s / (n - mu), c))
            .collect()
    };
    all.iter().zip(&multipliers).map(of).collect()
}
