//! Centres packed in groups of eight: the first coordinates of a group, then the second ones,
//! and so on, so that one vector register holds a coordinate of the whole group.

use super::single::Single;

/// The centres of a group.
pub(crate) const LANES: usize = 8;

/// Centres prepared for [`nearest`](super::nearest).
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    count: usize,
    width: usize,
    /// The negated coordinates, group by group.
    pub(super) negated: Vec<[f64; LANES]>,
    /// ½|c|²; infinite for the padding of the last group, so that it is never nearest.
    pub(super) half_norms: Vec<[f64; LANES]>,
    /// The largest |c|².
    pub largest_norm: f64,
    /// The centres in single precision, if it can be used.
    pub(super) single: Option<Single>,
}

impl Packed {
    /// Packs `centres`, given as rows of `width` numbers.
    pub fn new(centres: &[f64], width: usize) -> Packed {
        let count = centres.len() / width.max(1);
        let groups = count.div_ceil(LANES);
        let mut packed = Packed {
            count,
            width,
            negated: vec![[0.0; LANES]; groups * width],
            half_norms: vec![[f64::INFINITY; LANES]; groups],
            largest_norm: 0.0,
            single: None,
        };
        for (j, centre) in centres.chunks_exact(width.max(1)).enumerate() {
            let (group, lane) = (j / LANES, j % LANES);
            let cells = &mut packed.negated[group * width..(group + 1) * width];
            let cells = cells.iter_mut().zip(centre);
            cells.for_each(|(cell, x)| cell[lane] = -x);
            let norm: f64 = centre.iter().map(|x| x * x).sum();
            packed.half_norms[group][lane] = 0.5 * norm;
            packed.largest_norm = packed.largest_norm.max(norm);
        }
        packed.single = Single::new(centres, width, packed.largest_norm);
        packed
    }

    /// The number of centres.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The number of groups.
    pub fn groups(&self) -> usize {
        self.half_norms.len()
    }

    /// The number of coordinates of a centre.
    pub fn width(&self) -> usize {
        self.width
    }
}
