//! The Bayesian bootstrap (Rubin 1981): the rows of a source with random weights. A row of
//! weight w gets a Gamma(w) weight, which has the distribution of a sum of w Exp(1) weights;
//! all weights are then scaled to their old total.

use crate::Result;
use crate::data::table::chunk::Chunk;
use crate::data::table::schema::Schema;
use crate::data::table::source::{Maker, Source};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, Gamma};

/// A source whose rows have random weights, the same in every scan.
pub(crate) struct BayesianBootstrap<'a> {
    source: &'a dyn Source,
    seed: u64,
    scale: f64,
}

impl<'a> BayesianBootstrap<'a> {
    /// Draws the weights of the rows of a source.
    ///
    /// # Errors
    /// If the source cannot be read.
    pub fn of(source: &'a dyn Source, seed: u64) -> Result<BayesianBootstrap<'a>> {
        let (mut before, mut after) = (0.0, 0.0);
        for (number, chunk) in source.scan()?.enumerate() {
            let chunk = chunk?;
            before += chunk.total_weight();
            after += drawn_weights(&chunk, seed, number).iter().sum::<f64>();
        }
        let scale = if after > 0.0 { before / after } else { 1.0 };
        Ok(BayesianBootstrap {
            source,
            seed,
            scale,
        })
    }

    /// A chunk of the source with its new weights.
    fn reweighted(&self, number: usize, chunk: &Chunk) -> Chunk {
        let mut weights = drawn_weights(chunk, self.seed, number);
        weights.iter_mut().for_each(|weight| *weight *= self.scale);
        Chunk::new(chunk.rows(), chunk.columns().to_vec(), Some(weights))
    }
}

/// A Gamma weight for each row of a chunk; rows of weight 0 keep it.
fn drawn_weights(chunk: &Chunk, seed: u64, number: usize) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(number as u64);
    let mut draw =
        |weight: f64| Gamma::new(weight, 1.0).map_or(0.0, |gamma| gamma.sample(&mut rng));
    match chunk.weights() {
        None => (0..chunk.rows()).map(|_| draw(1.0)).collect(),
        Some(weights) => weights.iter().map(|weight| draw(*weight)).collect(),
    }
}

impl Source for BayesianBootstrap<'_> {
    fn schema(&self) -> &Schema {
        self.source.schema()
    }

    fn rows(&self) -> u64 {
        self.source.rows()
    }

    fn scan(&self) -> Result<Box<dyn Iterator<Item = Result<Chunk>> + Send + '_>> {
        let chunks = self.source.scan()?.enumerate();
        let reweighted = |(number, chunk): (usize, Result<Chunk>)| {
            chunk.map(|chunk| self.reweighted(number, &chunk))
        };
        Ok(Box::new(chunks.map(reweighted)))
    }

    fn maker(&self) -> Option<Maker<'_>> {
        let make = self.source.maker()?;
        Some(Box::new(move |number| {
            Ok(self.reweighted(number, &make(number)?))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, Field, Kind, Table};

    #[test]
    fn weights_keep_their_total_and_zero_and_repeat() {
        let rows = 5000;
        let fields = vec![Field::new("x", Kind::Real)];
        let x = Column::from_numbers((0..rows).map(|row| Some(f64::from(row))));
        let weights = (0..rows).map(|row| f64::from(row % 3)).collect();
        let table = Table::new(Schema::new(fields), vec![x], Some(weights)).unwrap();
        let drawn = BayesianBootstrap::of(&table, 7).unwrap();
        let scan = || -> Vec<f64> {
            let chunks = drawn.scan().unwrap().map(Result::unwrap);
            chunks.flat_map(|c| c.weights().unwrap().to_vec()).collect()
        };
        let weights = scan();
        assert_eq!(weights, scan());
        let total: f64 = weights.iter().sum();
        assert!((total - 4999.0).abs() < 1e-6, "{total}");
        assert!(weights.iter().step_by(3).all(|weight| *weight == 0.0));
        // A row of weight 2 has the mean and the variance of two rows of weight 1.
        let twos: Vec<f64> = weights.iter().copied().skip(2).step_by(3).collect();
        let mean = twos.iter().sum::<f64>() / twos.len() as f64;
        let squares: f64 = twos.iter().map(|x| (x - mean).powi(2)).sum();
        let variance = squares / twos.len() as f64;
        assert!(
            (mean - 2.0).abs() < 0.1 && (variance - 2.0).abs() < 0.35,
            "{mean} {variance}"
        );
    }
}
