//! The bandwidth by leave-one-out likelihood (Duin 1976): the factor s on a
//! bandwidth that maximises Σ wᵢ ln f₋ᵢ(xᵢ), with f₋ᵢ the density of all rows but one
//! at xᵢ.
//!
//! With equal rows this grows without bound as s falls. Kernels with a standard deviation of
//! at least δ/2 smooth over a rounding of the numbers to steps of δ; narrower ones are not
//! tried, and if the narrowest one tried is the best, the likelihood has no maximum.

use super::bandwidth::{Bandwidth, kernel_deviation};
use super::kernel::Kernel;
use super::kernel_density::KernelDensity;
use super::points::Points;
use super::sum::Tolerance;
use crate::Control;
use crate::kernel::minimum::golden_section;

/// The multiple of a bandwidth of maximum leave-one-out likelihood, and true; or the bandwidth
/// itself, and false, if there is no maximum.
///
/// The search goes in steps from wide to narrow until the likelihood falls, then around the
/// best step by golden section.
pub(super) fn cross_validated(
    points: &Points,
    kernel: Kernel,
    start: Bandwidth,
    control: Control,
) -> (Bandwidth, bool) {
    const ROWS: usize = 2_000;
    const MAX_WIDTH: f64 = 4.0;
    // The length of a step, the least and the greatest number of steps, and the number of
    // evaluations around the best one.
    const STEP: f64 = 0.5;
    const MIN_STEPS: usize = 11;
    const MAX_STEPS: usize = 40;
    const VALUES: usize = 10;
    let points = points.merged();
    // Evenly spaced rows suffice; they are left out one by one.
    let step = points.len().div_ceil(ROWS);
    let rows: Vec<usize> = (0..points.len()).step_by(step).collect();
    // Accurate enough to compare two widths.
    let tolerance = Tolerance {
        absolute: 0.0,
        relative: 1e-6,
    };
    let loss = |log_factor: f64| {
        if control.is_interrupted() {
            return f64::INFINITY;
        }
        let bandwidth = start.times(log_factor.exp());
        let density = KernelDensity::with_bandwidth(points.clone(), kernel, bandwidth);
        // A width that is numerically too small is too small.
        density.map_or(f64::INFINITY, |density| {
            let densities = density.with_tolerance(tolerance).leave_one_out(&rows);
            let terms = rows.iter().zip(densities);
            -terms
                .map(|(row, l)| points.weights()[*row] * l)
                .sum::<f64>()
        })
    };
    let bottom = narrowest(&points, kernel, &start);
    let mut at = MAX_WIDTH.ln().max(bottom);
    let mut best = (loss(at), at);
    for step in 1..MAX_STEPS {
        let is_past = step >= MIN_STEPS && at < best.1 - 1.5 * STEP;
        if is_past || at <= bottom {
            break;
        }
        at = (at - STEP).max(bottom);
        let tried = loss(at);
        if tried < best.0 {
            best = (tried, at);
        }
    }
    if best.0 == f64::INFINITY || best.1 == at {
        return (start, best.0 == f64::INFINITY);
    }
    let found = golden_section((best.1 - STEP).max(at), best.1 + STEP, VALUES, loss);
    let found = if loss(found) < best.0 { found } else { best.1 };
    (start.times(found.exp()), true)
}

/// The logarithm of the smallest factor at which the kernels smooth over the rounding of at
/// least one column.
fn narrowest(points: &Points, kernel: Kernel, start: &Bandwidth) -> f64 {
    let d = points.columns();
    let widths = start.widths(d).into_iter().enumerate();
    let factors = widths.filter_map(|(c, width)| {
        let resolution = Points::resolution(points.rows().map(|row| row[c]))?;
        Some(0.5 * resolution / (width * kernel_deviation(kernel, d)))
    });
    factors.reduce(f64::min).unwrap_or(0.0).ln()
}

#[cfg(test)]
mod tests {
    use super::super::{Rule, Selection};
    use super::*;

    /// Logistic scores, rounded to so many steps of 1.
    fn scores(n: usize, steps: f64) -> Vec<f64> {
        let rank = |i: usize| (i as f64 + 0.5) / n as f64;
        let score = |i: usize| (rank(i) / (1.0 - rank(i))).ln();
        (0..n).map(|i| (score(i) * steps).round() / steps).collect()
    }

    fn chosen(x: &[f64], weights: Option<&[f64]>) -> (f64, bool) {
        let points = Points::from_columns(&[x], weights).unwrap();
        let selection = Selection {
            rule: Rule::Cv,
            ..Selection::default()
        };
        let control = Control::default();
        let chosen = selection.choose(&points, Kernel::Gaussian, None, control);
        let (bandwidth, found) = chosen.unwrap();
        (bandwidth.widths(1)[0], found)
    }

    #[test]
    fn whole_weights_are_repetitions_with_more_rows_than_are_left_out_too() {
        for n in [40, 1500] {
            let x = scores(n, 1e9);
            let weights: Vec<f64> = (0..n).map(|i| (1 + i % 3) as f64).collect();
            let repeated = (0..3).flat_map(|copy| {
                let there = (0..n).filter(move |i| copy <= i % 3);
                there.map(|i| x[i]).collect::<Vec<f64>>()
            });
            let repeated: Vec<f64> = repeated.collect();
            let (weighted, _) = chosen(&x, Some(&weights));
            let (repeated, _) = chosen(&repeated, None);
            assert!((weighted / repeated - 1.0).abs() < 1e-12, "{n}");
        }
    }

    #[test]
    fn rounding_numbers_hardly_changes_the_bandwidth() {
        let (smooth, _) = chosen(&scores(1000, 1e9), None);
        for steps in [1000.0, 100.0, 10.0, 4.0] {
            let (width, _) = chosen(&scores(1000, steps), None);
            assert!(
                (0.6..1.6).contains(&(width / smooth)),
                "{steps}: {width} {smooth}"
            );
        }
    }

    #[test]
    fn scotts_rule_is_used_if_every_row_has_copies() {
        let x = scores(200, 1e9);
        let (width, found) = chosen(&x, Some(&[3.0; 200]));
        assert!(!found);
        let points = Points::from_columns(&[x], Some(&[3.0; 200])).unwrap();
        let scott = Selection::default().bandwidth(&points, Kernel::Gaussian, None);
        assert_eq!(width, scott.unwrap().widths(1)[0]);
    }

    #[test]
    fn the_bandwidth_of_distant_groups_is_that_of_one_group() {
        let one = scores(250, 1e9);
        let (alone, _) = chosen(&one, None);
        let two = one.iter().copied().chain(one.iter().map(|x| x + 1e5));
        let (width, found) = chosen(&two.collect::<Vec<f64>>(), None);
        assert!(
            found && (0.5..2.0).contains(&(width / alone)),
            "{width} {alone}"
        );
    }
}
