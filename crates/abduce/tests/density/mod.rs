//! Density models of tables and of classes.

mod edge_cases;
mod models;

use abduce::data::{Cells, Rows};
use abduce::density::Bins;
use abduce::family::Distribution;
use abduce::model::density::Estimator;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(1)
}

fn histogram(smoothing: f64) -> Estimator {
    Estimator::Histogram {
        bins: Bins::Number(8),
        smoothing,
    }
}

/// The log-density of a number under a mixture of distributions.
fn mixture_log_density(parts: &[(f64, Distribution)], x: f64) -> f64 {
    let cells = [x];
    let columns = [Cells::real(&cells)];
    let rows = Rows::new(&columns);
    let density = |(weight, part): &(f64, Distribution)| {
        let mut out = [0.0];
        part.add_log_density(&rows, &mut out);
        weight * out[0].exp()
    };
    parts.iter().map(density).sum::<f64>().ln()
}
