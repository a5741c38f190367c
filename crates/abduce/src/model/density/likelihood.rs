//! The log-likelihood of the rows that densities are fitted to.

use super::{Density, DensityModel};
use crate::Control;
use crate::density::Points;
use crate::model::some_of;

/// The number of rows of a class that are scored; the log-likelihood of more is estimated
/// from these.
const ROWS_SCORED: usize = 20_000;
/// The number of rows scored before an interrupt is looked for again.
const ROWS_AT_ONCE: usize = 1_000;

/// The log-likelihood of the rows of a class, from those that were scored.
struct Scored {
    log_likelihood: f64,
    rows: usize,
    /// Whether the others leave density 0 at some row.
    is_impossible: bool,
}

impl DensityModel {
    /// The log-likelihood of the fitted rows, each given all others; that of a histogram is of
    /// all rows given all. After an interrupt it is estimated from the rows scored so far.
    pub(super) fn log_likelihood_of_points(
        &self,
        warnings: &mut Vec<String>,
        control: Control,
    ) -> f64 {
        let mut sum = 0.0;
        let (mut scored_rows, mut all_rows) = (0, 0);
        let mut impossible = Vec::new();
        let classes = self.weights.iter().zip(&self.densities).enumerate();
        for (class, (class_weight, density)) in classes {
            let (points, scored) = match density {
                None => continue,
                Some(Density::Histogram(histogram)) => {
                    let weight = histogram.total() - histogram.smoothing;
                    sum += histogram.log_likelihood_of_points() + weight * class_weight.ln();
                    continue;
                }
                Some(Density::Kde(density)) => {
                    let leave_one_out = |rows: &[usize]| density.leave_one_out(rows);
                    let points = density.points();
                    (
                        points,
                        scored(points, *class_weight, leave_one_out, control),
                    )
                }
                Some(Density::Knn(density)) => {
                    let leave_one_out = |rows: &[usize]| density.leave_one_out(rows);
                    let points = density.points();
                    (
                        points,
                        scored(points, *class_weight, leave_one_out, control),
                    )
                }
            };
            sum += scored.log_likelihood;
            scored_rows += scored.rows;
            all_rows += points.len();
            impossible.extend(scored.is_impossible.then_some(class));
        }
        if scored_rows < all_rows {
            warnings.push(format!(
                "the log-likelihood is estimated from {scored_rows} of {all_rows} rows"
            ));
        }
        if !impossible.is_empty() {
            let classes = some_of(&self.quoted_classes(&impossible));
            warnings.push(format!(
                "the log-likelihood of each row given the others is -inf, as some row is too far \
                 from all others: {classes}"
            ));
        }
        sum
    }
}

/// Scores points by their leave-one-out densities, at least some of them.
fn scored(
    points: &Points,
    class_weight: f64,
    leave_one_out: impl Fn(&[usize]) -> Vec<f64>,
    control: Control,
) -> Scored {
    let step = points.len().div_ceil(ROWS_SCORED);
    let rows: Vec<usize> = (0..points.len()).step_by(step).collect();
    let mut densities = Vec::with_capacity(rows.len());
    for some in rows.chunks(ROWS_AT_ONCE) {
        if !densities.is_empty() && control.is_interrupted() {
            break;
        }
        densities.extend(leave_one_out(some));
    }
    let (mut log_likelihood, mut weight) = (0.0, 0.0);
    for (row, log_density) in rows.iter().zip(&densities) {
        log_likelihood += points.weights()[*row] * (log_density + class_weight.ln());
        weight += points.weights()[*row];
    }
    Scored {
        log_likelihood: log_likelihood * (points.weight() / weight),
        rows: densities.len(),
        is_impossible: densities.contains(&f64::NEG_INFINITY),
    }
}
