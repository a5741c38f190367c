//! Mini-batch k-means (Sculley, "Web-scale k-means clustering", 2010): after every batch, each
//! centre is the running mean of all rows assigned to it so far. The batches are the chunks in
//! their order, so that a stream is read once per pass and the same seed gives the same clusters.
//! It works poorly if the rows are sorted by cluster.

use super::assign::Assigner;
use super::frame::Frame;
use super::iterate::Rows;
use super::specification::{Algorithm, Options};
use super::statistics::Statistics;
use crate::Result;
use crate::{Control, Progress};

/// The maximum number of passes, and the relative decrease of the inertia per pass at which they
/// end.
const MAX_PASSES: usize = 100;
const MIN_TOLERANCE: f64 = 1e-4;

/// The centres after some passes of mini-batches, and the number of passes; fewer if the caller
/// interrupts them.
pub(super) fn mini_batches(
    rows: &Rows,
    mut centres: Vec<f64>,
    options: &Options,
    control: Control,
) -> Result<(Vec<f64>, usize)> {
    let width = rows.frame.columns.len();
    let mut counts = vec![0.0; centres.len()];
    let mut before = f64::INFINITY;
    let passes = options.max_iterations.min(MAX_PASSES);
    for pass in 1..=passes {
        let mut inertia = 0.0;
        for (number, chunk) in rows.source.scan()?.enumerate() {
            if control.is_interrupted() {
                return Ok((centres, pass - 1));
            }
            let points = rows.points(number, &chunk?);
            let assigner = Assigner::new(&centres, width, None, Algorithm::Lloyd);
            let mut labels = vec![0; points.rows];
            assigner.label(&points, &mut labels);
            let batch = Statistics::of(&points, &labels, assigner.packed.count());
            inertia += batch.inertia(&centres);
            update_running_means(&mut centres, &batch, &mut counts, rows.frame);
        }
        control.report(Progress::Round {
            number: pass,
            of: passes,
            inertia,
        });
        if before - inertia <= options.tolerance.max(MIN_TOLERANCE) * inertia {
            return Ok((centres, pass));
        }
        before = inertia;
    }
    Ok((centres, passes))
}

/// Adds a batch to the running means; `counts` are the weights of the cells in each.
fn update_running_means(
    centres: &mut [f64],
    batch: &Statistics,
    counts: &mut [f64],
    frame: &Frame,
) {
    for (at, (centre, count)) in centres.iter_mut().zip(counts).enumerate() {
        let seen = batch.seen_of(at / batch.width, at % batch.width);
        if seen > 0.0 {
            *count += seen;
            *centre += (batch.means[at] - *centre) * seen / *count;
        }
    }
    if frame.unit {
        for centre in centres.chunks_exact_mut(batch.width) {
            let length = centre.iter().map(|x| x * x).sum::<f64>().sqrt();
            if length > 0.0 {
                centre.iter_mut().for_each(|x| *x /= length);
            }
        }
    }
}
