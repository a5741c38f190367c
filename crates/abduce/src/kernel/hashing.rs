//! Random numbers that depend only on a seed and a row, so that neither the order of rows nor
//! the number of threads changes them.

/// The last step of SplitMix64 (Steele, Lea & Flood 2014).
#[inline]
pub(crate) fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A uniform random number in [0, 1) for a row.
pub(crate) fn uniform(seed: u64, row: u64) -> f64 {
    (mix(mix(seed).wrapping_add(row)) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}
