//! The bandwidth by leave-one-out likelihood (Duin 1976): the factor s on a
//! bandwidth that maximises Σ wᵢ ln f₋ᵢ(xᵢ), with f₋ᵢ the density of all points but i.

use super::bandwidth::Bandwidth;
use super::kernel::Kernel;
use super::kernel_density::KernelDensity;
use super::points::Points;
use super::sum::Tolerance;
use crate::Result;

/// The factor on a bandwidth that makes rows likeliest under all other rows.
/// The search is along one line: a grid, then its best gap by golden section.
pub(super) fn cross_validated(
    points: &Points,
    kernel: Kernel,
    start: Bandwidth,
) -> Result<Bandwidth> {
    const ROWS: usize = 2_000;
    const GRID: usize = 11;
    const STEPS: usize = 8;
    // A likelihood this near tells which of two widths is better.
    let tolerance = Tolerance {
        absolute: 0.0,
        relative: 1e-6,
    };
    let (low, high) = (f64::ln(0.03), f64::ln(4.0));
    // Evenly spaced rows say as much as all; they are left out one by one.
    let step = points.len().div_ceil(ROWS);
    let rows: Vec<usize> = (0..points.len()).step_by(step).collect();
    let gap = (high - low) / (GRID - 1) as f64;
    let likelihood = |log_factor: f64| -> Result<f64> {
        let bandwidth = start.times(log_factor.exp());
        let density = KernelDensity::with_bandwidth(points.clone(), kernel, bandwidth)?;
        let densities = density.with_tolerance(tolerance).leave_one_out(&rows);
        let weighted = rows
            .iter()
            .zip(densities)
            .map(|(row, l)| points.weights()[*row] * l);
        Ok(weighted.sum())
    };
    let mut best = (f64::NEG_INFINITY, 0.0);
    for number in 0..GRID {
        let at = low + gap * number as f64;
        let found = likelihood(at)?;
        if found > best.0 {
            best = (found, at);
        }
    }
    if best.0 == f64::NEG_INFINITY {
        return Ok(start);
    }
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    let (mut a, mut b) = (best.1 - gap, best.1 + gap);
    let (mut c, mut d) = (b - golden * (b - a), a + golden * (b - a));
    let (mut at_c, mut at_d) = (likelihood(c)?, likelihood(d)?);
    for _ in 0..STEPS {
        if at_c > at_d {
            (b, d, at_d) = (d, c, at_c);
            c = b - golden * (b - a);
            at_c = likelihood(c)?;
        } else {
            (a, c, at_c) = (c, d, at_d);
            d = a + golden * (b - a);
            at_d = likelihood(d)?;
        }
    }
    let found = if at_c > at_d { (at_c, c) } else { (at_d, d) };
    let (_, best) = if found.0 > best.0 { found } else { best };
    Ok(start.times(best.exp()))
}
