//! The rows of a table that are drawn. If there are too many, the table is divided into as many
//! parts of equal weight as rows may be drawn, and one row is drawn at random from each part
//! (stratified sampling), so that periodic rows do not bias the sample.

use crate::Result;
use crate::data::Source;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A sample of rows: all of them, or one from each of many parts of equal weight.
pub(super) struct Sample {
    rng: ChaCha8Rng,
    /// The weight of one part and the number of all rows, if not all are drawn.
    thinned: Option<(f64, u64)>,
    /// The weight of the rows so far.
    passed: f64,
    /// The number of the next part, and the point in it that is drawn, in parts.
    part: f64,
    next: f64,
}

impl Sample {
    pub fn new(source: &dyn Source, most_rows: usize, seed: u64) -> Result<Sample> {
        let (mut rows, mut weight) = (0, 0.0);
        for chunk in source.scan()? {
            let chunk = chunk?;
            rows += chunk.rows_with_weight().count() as u64;
            weight += chunk.total_weight();
        }
        let most = most_rows.max(1);
        let mut sample = Sample {
            rng: ChaCha8Rng::seed_from_u64(seed),
            thinned: (rows > most as u64).then(|| (weight / most as f64, rows)),
            passed: 0.0,
            part: 0.0,
            next: 0.0,
        };
        sample.next = sample.rng.random::<f64>();
        Ok(sample)
    }

    /// The number of all rows, if not all are drawn.
    pub fn thinned(&self) -> Option<u64> {
        self.thinned.map(|(_, rows)| rows)
    }

    /// How often the next row counts, if it is drawn; a row of large weight may be drawn
    /// several times.
    pub fn count(&mut self, weight: f64) -> Option<f64> {
        let Some((width, _)) = self.thinned else {
            return Some(weight);
        };
        self.passed += weight;
        let mut count = 0.0;
        while self.next * width < self.passed {
            count += 1.0;
            self.part += 1.0;
            self.next = self.part + self.rng.random::<f64>();
        }
        (count > 0.0).then_some(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, Field, Kind, Schema, Table};

    fn drawn(weights: Vec<f64>, most: usize) -> Vec<f64> {
        let schema = Schema::new(vec![Field::new("x", Kind::Real)]);
        let column = Column::from_numbers(weights.iter().map(|_| Some(0.0)));
        let table = Table::new(schema, vec![column], Some(weights.clone())).unwrap();
        let mut sample = Sample::new(&table, most, 7).unwrap();
        let counts = weights.iter().filter(|weight| **weight > 0.0);
        counts
            .map(|weight| sample.count(*weight).unwrap_or(0.0))
            .collect()
    }

    #[test]
    fn few_rows_are_all_drawn_and_many_are_sampled_evenly() {
        assert_eq!(drawn(vec![1.0, 2.0, 0.0], 5), [1.0, 2.0]);
        let counts = drawn(vec![1.0; 1000], 130);
        assert_eq!(counts.iter().sum::<f64>(), 130.0);
        for (part, rows) in counts.chunks(100).enumerate() {
            let count: f64 = rows.iter().sum();
            assert!((12.0..=14.0).contains(&count), "{count} in part {part}");
        }
    }

    #[test]
    fn weight_two_is_the_row_twice() {
        let weighed = drawn((0..600).map(|row| f64::from(row % 3)).collect(), 50);
        let once = drawn(vec![1.0; 600], 50);
        let rows = once
            .chunks(3)
            .flat_map(|three| [three[0], three[1] + three[2]]);
        assert_eq!(weighed, rows.collect::<Vec<f64>>());
    }
}
