//! Answers in the order of the rows while several threads work: chunks are
//! taken in waves, so that no more than a wave is ever in memory.

use crate::failure::{Failure, Outcome};
use abduce::data::{Chunk, Source};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

/// Asks something of every chunk and passes the answers on in order. `ask` is
/// given the number of the chunk and the chunk.
pub fn in_order<T: Send>(
    source: &dyn Source,
    ask: impl Fn(usize, &Chunk) -> abduce::Result<T> + Sync,
    mut pass_on: impl FnMut(&Chunk, T) -> Outcome,
) -> Outcome {
    let wave = 2 * rayon::current_num_threads();
    let mut scan = source.scan()?;
    let mut first = 0;
    loop {
        let chunks = scan
            .by_ref()
            .take(wave)
            .collect::<abduce::Result<Vec<_>>>()?;
        if chunks.is_empty() {
            return Ok(());
        }
        let answers: Vec<abduce::Result<T>> = chunks
            .par_iter()
            .enumerate()
            .map(|(number, chunk)| ask(first + number, chunk))
            .collect();
        for (chunk, answer) in chunks.iter().zip(answers) {
            pass_on(chunk, answer.map_err(Failure::from)?)?;
        }
        first += chunks.len();
    }
}

/// The random numbers of one chunk, whichever thread draws them.
pub fn chunk_rng(seed: u64, copy: u64, chunk: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((copy << 40) | chunk as u64);
    rng
}
