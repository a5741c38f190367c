//! Centres in groups of eight, a group's first coordinates side by side, then its
//! second ones: one vector register holds one coordinate of a whole group.

use super::single::Single;

/// Centres of a group.
pub(crate) const LANES: usize = 8;

/// Centres ready for [`nearest`](super::nearest).
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    count: usize,
    width: usize,
    /// Coordinates with their signs turned, group after group.
    pub(super) negated: Vec<[f64; LANES]>,
    /// ½|c|²; infinite where the last group has no centre, so that it is never
    /// nearest.
    pub(super) half_norms: Vec<[f64; LANES]>,
    /// The largest |c|².
    pub largest_norm: f64,
    /// The same in single precision.
    pub(super) single: Option<Single>,
}

impl Packed {
    /// Packs `centres`, one row of `width` numbers after the other.
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
            let own = &mut packed.negated[group * width..(group + 1) * width];
            own.iter_mut().zip(centre).for_each(|(at, x)| at[lane] = -x);
            let norm: f64 = centre.iter().map(|x| x * x).sum();
            packed.half_norms[group][lane] = 0.5 * norm;
            packed.largest_norm = packed.largest_norm.max(norm);
        }
        packed.single = Single::new(centres, width, packed.largest_norm);
        packed
    }

    /// How many centres there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many groups of eight they are in.
    pub fn groups(&self) -> usize {
        self.half_norms.len()
    }

    /// How many coordinates each has.
    pub fn width(&self) -> usize {
        self.width
    }
}
