//! The bandwidth by leave-one-out likelihood (Duin 1976): the factor s on a
//! bandwidth that maximises Σ wᵢ ln f₋ᵢ(xᵢ), with f₋ᵢ the density of all rows but one
//! at xᵢ.
//!
//! Equal rows make that grow without bound as s falls. Bumps of a deviation of δ/2 or
//! more do not show the steps δ that numbers were rounded to; narrower ones are not
//! tried, and where likelihood still asks for the narrowest, it is not listened to.

use super::bandwidth::{Bandwidth, SampleSize, kernel_deviation};
use super::kernel::Kernel;
use super::kernel_density::KernelDensity;
use super::points::Points;
use super::sum::Tolerance;
use crate::Control;
use crate::kernel::minimum::golden_section;

/// The bandwidth, so many times as wide, that makes rows likeliest under all other
/// rows, and true; or the bandwidth itself, and false, where equal rows leave none.
///
/// The search is along one line: steps from wide to narrow, as long as narrower is
/// better, then about the best by golden section.
pub(super) fn cross_validated(
    points: &Points,
    kernel: Kernel,
    start: Bandwidth,
    size: SampleSize,
    control: Control,
) -> (Bandwidth, bool) {
    const ROWS: usize = 2_000;
    const WIDEST: f64 = 4.0;
    // How far apart steps are, how many are made at least and at most, and how many
    // values are asked for about the best.
    const STEP: f64 = 0.5;
    const LEAST_STEPS: usize = 11;
    const MOST_STEPS: usize = 40;
    const VALUES: usize = 10;
    // A row of weight 2 is two rows, of which one is left out; a weight that says how
    // much a row matters is left out whole.
    let (points, row) = match size {
        SampleSize::Weight => (points.merged(), 1.0),
        SampleSize::Kish => (points.clone(), f64::INFINITY),
    };
    // Evenly spaced rows say as much as all; they are left out one by one.
    let step = points.len().div_ceil(ROWS);
    let rows: Vec<usize> = (0..points.len()).step_by(step).collect();
    // A likelihood this near tells which of two widths is better.
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
        // A width too small for arithmetic is too small.
        density.map_or(f64::INFINITY, |density| {
            let densities = density.with_tolerance(tolerance).without(&rows, row);
            let weighed = rows.iter().zip(densities);
            -weighed
                .map(|(row, l)| points.weights()[*row] * l)
                .sum::<f64>()
        })
    };
    let bottom = narrowest(&points, kernel, &start);
    let mut at = WIDEST.ln().max(bottom);
    let mut best = (loss(at), at);
    for step in 1..MOST_STEPS {
        let is_past = step >= LEAST_STEPS && at < best.1 - 1.5 * STEP;
        if is_past || at <= bottom {
            break;
        }
        at = (at - STEP).max(bottom);
        let own = loss(at);
        if own < best.0 {
            best = (own, at);
        }
    }
    if best.0 == f64::INFINITY || best.1 == at {
        return (start, best.0 == f64::INFINITY);
    }
    let found = golden_section((best.1 - STEP).max(at), best.1 + STEP, VALUES, loss);
    let found = if loss(found) < best.0 { found } else { best.1 };
    (start.times(found.exp()), true)
}

/// The logarithm of the least factor on a bandwidth at which the bumps hide the
/// steps that some column was rounded to; rows that differ there are not equal.
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

    fn chosen(x: &[f64], weights: Option<&[f64]>, size: SampleSize) -> (f64, bool) {
        let points = Points::from_columns(&[x], weights).unwrap();
        let selection = Selection {
            rule: Rule::Cv,
            size,
            ..Selection::default()
        };
        let control = Control::default();
        let chosen = selection.chosen(&points, Kernel::Gaussian, None, control);
        let (bandwidth, own) = chosen.unwrap();
        (bandwidth.widths(1)[0], own)
    }

    #[test]
    fn whole_weights_are_repetitions_also_among_more_rows_than_are_looked_at() {
        for n in [40, 1500] {
            let x = scores(n, 1e9);
            let weights: Vec<f64> = (0..n).map(|i| (1 + i % 3) as f64).collect();
            let repeated = (0..3).flat_map(|copy| {
                let there = (0..n).filter(move |i| copy <= i % 3);
                there.map(|i| x[i]).collect::<Vec<f64>>()
            });
            let repeated: Vec<f64> = repeated.collect();
            let size = SampleSize::Weight;
            let (weighted, _) = chosen(&x, Some(&weights), size);
            let (repeated, _) = chosen(&repeated, None, size);
            assert!((weighted / repeated - 1.0).abs() < 1e-12, "{n}");
        }
    }

    #[test]
    fn weights_that_say_how_much_rows_matter_have_no_unit() {
        let x = scores(60, 1e9);
        let weights: Vec<f64> = (0..60).map(|i| 0.5 + (i % 4) as f64).collect();
        let more: Vec<f64> = weights.iter().map(|w| 8.0 * w).collect();
        let width = |weights: &[f64]| chosen(&x, Some(weights), SampleSize::Kish).0;
        assert!((width(&weights) / width(&more) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn rounding_numbers_does_not_make_bumps_vanish() {
        let size = SampleSize::Weight;
        let (smooth, _) = chosen(&scores(1000, 1e9), None, size);
        for steps in [1000.0, 100.0, 10.0, 4.0] {
            let (width, _) = chosen(&scores(1000, steps), None, size);
            assert!(
                (0.6..1.6).contains(&(width / smooth)),
                "{steps}: {width} {smooth}"
            );
        }
    }

    #[test]
    fn copies_of_every_row_leave_likelihood_no_say() {
        let x = scores(200, 1e9);
        let size = SampleSize::Weight;
        let (width, own) = chosen(&x, Some(&[3.0; 200]), size);
        assert!(!own);
        let points = Points::from_columns(&[x], Some(&[3.0; 200])).unwrap();
        let scott = Selection::default().bandwidth(&points, Kernel::Gaussian, None);
        assert_eq!(width, scott.unwrap().widths(1)[0]);
    }

    #[test]
    fn groups_far_apart_have_bumps_as_narrow_as_they_are() {
        let one = scores(250, 1e9);
        let (alone, _) = chosen(&one, None, SampleSize::Weight);
        let two = one.iter().copied().chain(one.iter().map(|x| x + 1e5));
        let (width, own) = chosen(&two.collect::<Vec<f64>>(), None, SampleSize::Weight);
        assert!(
            own && (0.5..2.0).contains(&(width / alone)),
            "{width} {alone}"
        );
    }
}
