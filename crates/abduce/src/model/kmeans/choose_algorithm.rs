//! The choice of the algorithm if the user has not chosen one; the measurements are in
//! `bench/NOTES.md`.

use super::specification::Algorithm;

/// The algorithm that was fastest for this number of columns. With few columns, computing all
/// distances of a row is hardly slower than updating several bounds; with many, every avoided
/// distance counts.
pub(super) fn fastest_algorithm(columns: usize) -> Algorithm {
    const MAX_HAMERLY_COLUMNS: usize = 192;
    if columns < MAX_HAMERLY_COLUMNS {
        Algorithm::Hamerly
    } else {
        Algorithm::Yinyang
    }
}

/// The algorithm, or one with fewer bounds if its bounds would need too much memory.
pub(super) fn limit_memory(algorithm: Algorithm, rows: u64, clusters: usize) -> Algorithm {
    const MAX_BOUNDS: u64 = 64 << 20;
    let groups = clusters.div_ceil(8) as u64;
    match algorithm {
        Algorithm::Elkan if rows * groups * 8 > MAX_BOUNDS => {
            limit_memory(Algorithm::Yinyang, rows, clusters)
        }
        Algorithm::Yinyang if rows * groups > MAX_BOUNDS => Algorithm::Hamerly,
        _ => algorithm,
    }
}
