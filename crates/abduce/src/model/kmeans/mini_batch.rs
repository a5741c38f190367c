//! Mini-batches: after every chunk of rows, each centre moves towards the mean of its
//! rows by their share of all rows it has had (Sculley, "Web-scale k-means
//! clustering", 2010). The chunks are the batches, in their order, so that a stream
//! is read once a pass and the same seed gives the same clusters. Rows sorted by
//! cluster are a poor order for it.

use super::assign::Places;
use super::frame::Frame;
use super::iterate::Rows;
use super::specification::{Algorithm, Options};
use super::statistics::Statistics;
use crate::Result;
use crate::{Control, Progress};

/// The most passes, and the relative fall of the inertia from one to the next below
/// which more are of no use.
const PASSES: usize = 100;
const TOLERANCE: f64 = 1e-4;

/// Centres after some passes of mini-batches, and how many passes; the caller's
/// interrupt ends it early.
pub(super) fn mini_batches(
    rows: &Rows,
    mut centres: Vec<f64>,
    options: &Options,
    control: Control,
) -> Result<(Vec<f64>, usize)> {
    let width = rows.frame.columns.len();
    let mut had = vec![0.0; centres.len()];
    let mut before = f64::INFINITY;
    let passes = options.max_iterations.min(PASSES);
    for pass in 1..=passes {
        let mut inertia = 0.0;
        for (number, chunk) in rows.source.scan()?.enumerate() {
            if control.is_interrupted() {
                return Ok((centres, pass - 1));
            }
            let points = rows.points(number, &chunk?);
            let places = Places::new(&centres, width, None, Algorithm::Lloyd);
            let mut labels = vec![0; points.rows];
            places.label(&points, &mut labels);
            let batch = Statistics::of(&points, &labels, places.packed.count());
            inertia += batch.inertia(&centres);
            move_towards(&mut centres, &batch, &mut had, rows.frame);
        }
        control.report(Progress::Round {
            number: pass,
            of: passes,
            inertia,
        });
        if before - inertia <= options.tolerance.max(TOLERANCE) * inertia {
            return Ok((centres, pass));
        }
        before = inertia;
    }
    Ok((centres, passes))
}

fn move_towards(centres: &mut [f64], batch: &Statistics, had: &mut [f64], frame: &Frame) {
    for (at, (centre, had)) in centres.iter_mut().zip(had).enumerate() {
        let seen = batch.seen_of(at / batch.width, at % batch.width);
        if seen > 0.0 {
            *had += seen;
            *centre += (batch.means[at] - *centre) * seen / *had;
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
