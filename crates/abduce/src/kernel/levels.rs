//! Sums of responsibilities over the rows with each level of a column, for all components.

use super::by_row::ByRow;
use super::simd::{Level, vectorised};
use super::vector::Vector;

/// Adds the responsibilities of each row to those of its code in `sums`, which has a row of
/// padded components for each code. Of missing cells, the code is `None`.
///
/// # Panics
/// If a code has no row in `sums`.
pub(crate) fn add_codes(
    level: Level,
    codes: impl Iterator<Item = Option<u32>>,
    rows: &ByRow,
    places: &mut Vec<(usize, usize)>,
    sums: &mut [f64],
) {
    let width = rows.width;
    let seen = codes.enumerate();
    places.clear();
    places.extend(seen.filter_map(|(row, code)| Some((row * width, code? as usize * width))));
    let inside = |(row, sum): &(usize, usize)| {
        row + width <= rows.numbers.len() && sum + width <= sums.len()
    };
    assert!(places.iter().all(inside));
    add_rows(level, places, &rows.numbers, width, sums);
}

vectorised! {
    fn add_rows(places: &[(usize, usize)], rows: &[f64], width: usize, sums: &mut [f64]) = add_rows_by
}

/// # Safety
/// The processor must have the features of `V`, and all places must be inside of the slices.
#[inline(always)]
unsafe fn add_rows_by<V: Vector>(
    places: &[(usize, usize)],
    rows: &[f64],
    width: usize,
    sums: &mut [f64],
) {
    for (row, sum) in places {
        for lane in (0..width).step_by(V::LANES) {
            // SAFETY: the caller ensures the places and features.
            unsafe {
                let at = sums.as_mut_ptr().add(sum + lane);
                V::load(at)
                    .add(V::load(rows.as_ptr().add(row + lane)))
                    .store(at);
            }
        }
    }
}
