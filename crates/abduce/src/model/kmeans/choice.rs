//! Which way rows find their centres where the user has not said; `bench/NOTES.md` has
//! the measurements.

use super::specification::Algorithm;

/// The way that was fastest for so many columns. With few, all distances of a row cost
/// hardly more than the care of several bounds; with many, every distance saved counts.
pub(super) fn chosen(columns: usize) -> Algorithm {
    const MANY: usize = 192;
    if columns < MANY {
        Algorithm::Hamerly
    } else {
        Algorithm::Yinyang
    }
}

/// The same with fewer bounds, where so many would not fit into memory.
pub(super) fn within_memory(algorithm: Algorithm, rows: u64, clusters: usize) -> Algorithm {
    const BOUNDS: u64 = 64 << 20;
    let groups = clusters.div_ceil(8) as u64;
    match algorithm {
        Algorithm::Elkan if rows * groups * 8 > BOUNDS => {
            within_memory(Algorithm::Yinyang, rows, clusters)
        }
        Algorithm::Yinyang if rows * groups > BOUNDS => Algorithm::Hamerly,
        _ => algorithm,
    }
}
