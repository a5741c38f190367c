//! Random numbers that do not depend on the number of threads.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The random numbers of one chunk, the same for any number of threads.
pub fn chunk_rng(seed: u64, copy: u64, chunk: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((copy << 40) | chunk as u64);
    rng
}
