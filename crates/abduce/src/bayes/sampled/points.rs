//! Points that fill the unit cube evenly: Halton's sequence, shifted at random modulo 1 (Cranley
//! & Patterson 1976), so that every seed gives other points that are equally even.

use crate::{Error, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// One base for each dimension; the same base twice would repeat a dimension.
const BASES: [u64; 16] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53];

/// An even sequence of points.
pub(super) struct Points {
    shifts: Vec<f64>,
}

impl Points {
    /// # Errors
    /// If there are more dimensions than bases.
    pub(super) fn new(dimensions: usize, seed: u64) -> Result<Points> {
        if dimensions > BASES.len() {
            return Err(Error::parameter(format!(
                "at most {} parameters can be sampled together",
                BASES.len() - 1
            )));
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let shifts = (0..dimensions).map(|_| rng.random()).collect();
        Ok(Points { shifts })
    }

    /// A coordinate of a point, between 0 and 1.
    pub(super) fn coordinate(&self, point: usize, dimension: usize) -> f64 {
        let shifted = halton(point as u64, BASES[dimension]) + self.shifts[dimension];
        shifted.fract().clamp(1e-12, 1.0 - 1e-12)
    }
}

/// The digits of i in a base, mirrored about the point.
fn halton(mut i: u64, base: u64) -> f64 {
    let (mut share, mut sum) = (1.0, 0.0);
    while i > 0 {
        share /= base as f64;
        sum += share * (i % base) as f64;
        i /= base;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dimension_is_even_and_of_its_own() {
        let points = Points::new(16, 3).unwrap();
        let column = |k: usize| (0..4096).map(move |i| (i, k));
        let values = |k: usize| -> Vec<f64> {
            let column = column(k).map(|(i, k)| points.coordinate(i, k));
            column.collect()
        };
        for k in 0..16 {
            let mut sorted = values(k);
            let mean = sorted.iter().sum::<f64>() / 4096.0;
            assert!((mean - 0.5).abs() < 0.02, "{k}: {mean}");
            sorted.sort_by(f64::total_cmp);
            for (i, x) in sorted.iter().enumerate() {
                assert!((x - i as f64 / 4096.0).abs() < 0.03, "{k}: {x}");
            }
            for other in 0..k {
                let (a, b) = (values(k), values(other));
                let product: f64 = a.iter().zip(&b).map(|(a, b)| (a - 0.5) * (b - 0.5)).sum();
                let correlation = 12.0 * product / 4096.0;
                assert!(correlation.abs() < 0.1, "{k} {other}: {correlation}");
            }
        }
        assert!(Points::new(17, 3).is_err());
    }

    #[test]
    fn another_seed_is_another_set_of_points() {
        let at = |seed: u64| Points::new(2, seed).unwrap().coordinate(5, 1);
        assert_eq!(at(1), at(1));
        assert_ne!(at(1), at(2));
    }
}
