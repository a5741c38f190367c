//! k-means‖ (Bahmani et al., "Scalable k-means++", 2012): each of a few passes over all rows draws
//! many candidates, with probabilities proportional to the squared distance from the candidates so
//! far. Weighted by the rows nearest to them, the candidates are then reduced to k. A pass draws
//! without replacement: it takes the rows with the smallest −ln u / (w d²), for which the total
//! need not be known (Efraimidis & Spirakis 2006).

use super::assign::Assigner;
use super::iterate::Rows;
use super::points::Points;
use super::seeding::{Measure, draw_seeds};
use super::specification::{Algorithm, Init};
use crate::Result;
use crate::kernel::kmeans::seen_squared;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const PASSES: u64 = 5;

/// The key by which a row was drawn, and its cells.
type Drawn = (f64, Vec<f64>);

/// Draws `count` centres from all rows.
pub(super) fn seeds_from_all_rows(rows: &Rows, count: usize, seed: u64) -> Result<Vec<f64>> {
    let width = rows.frame.columns.len();
    let mut candidates: Vec<f64> = Vec::new();
    for pass in 0..PASSES {
        let wanted = if pass == 0 { 1 } else { 2 * count };
        for (_, cells) in draw_candidates(rows, &candidates, wanted, seed, pass)? {
            candidates.extend(cells.iter().map(|x| if x.is_nan() { 0.0 } else { *x }));
        }
    }
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    let weights = nearest_weights(rows, &candidates)?;
    let points = Points::from_coordinates(candidates, width, weights);
    Ok(draw_seeds(
        &points,
        count,
        Init::Greedy,
        Measure::Squared,
        seed,
    ))
}

/// Draws up to `wanted` rows, given the candidates so far.
fn draw_candidates(
    rows: &Rows,
    candidates: &[f64],
    wanted: usize,
    seed: u64,
    pass: u64,
) -> Result<Vec<Drawn>> {
    let width = rows.frame.columns.len();
    let assigner = Assigner::new(candidates, width, None, Algorithm::Lloyd);
    let keep_smallest = |drawn: &mut Vec<Drawn>| {
        drawn.sort_by(|a, b| a.0.total_cmp(&b.0));
        drawn.truncate(wanted);
    };
    let drawn = rows.fold(
        1,
        |partial: &mut Option<Vec<Drawn>>, number, points| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(pass << 40 | number as u64);
            let mut labels = vec![0; points.rows];
            if !candidates.is_empty() {
                assigner.label(points, &mut labels);
            }
            let mut keys: Vec<(f64, u32)> = Vec::new();
            for row in points.complete_rows.iter().chain(&points.incomplete_rows) {
                let x = points.row(*row as usize);
                let square = if candidates.is_empty() {
                    1.0
                } else {
                    let label = labels[*row as usize] as usize;
                    seen_squared(x, &candidates[label * width..][..width])
                };
                let weight = square * points.weights[*row as usize];
                let key = -(1.0 - rng.random::<f64>()).ln() / weight;
                if weight > 0.0 {
                    keys.push((key, *row));
                }
            }
            keys.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            keys.truncate(wanted);
            let drawn = keys
                .into_iter()
                .map(|(key, row)| (key, points.row(row as usize).to_vec()));
            partial.get_or_insert_with(Vec::new).extend(drawn);
            Ok(())
        },
        |all, more| {
            all.extend(more);
            keep_smallest(all);
        },
    )?;
    Ok(drawn.unwrap_or_default())
}

/// The weight of the rows nearest to each candidate.
fn nearest_weights(rows: &Rows, candidates: &[f64]) -> Result<Vec<f64>> {
    let width = rows.frame.columns.len();
    let assigner = Assigner::new(candidates, width, None, Algorithm::Lloyd);
    let weights = rows.fold(
        1,
        |partial: &mut Option<Vec<f64>>, _, points| {
            let mut labels = vec![0; points.rows];
            assigner.label(points, &mut labels);
            let weights = partial.get_or_insert_with(|| vec![0.0; assigner.packed.count()]);
            for (label, weight) in labels.iter().zip(&points.weights) {
                weights[*label as usize] += weight;
            }
            Ok(())
        },
        |all, more| {
            all.iter_mut()
                .zip(more)
                .for_each(|(sum, more)| *sum += more)
        },
    )?;
    Ok(weights.unwrap_or_default())
}
