//! Many points at once: about the centre c of a node, a Gaussian on each of its
//! points is a Hermite series (Greengard & Strain 1991),
//!
//!   Σ w exp(−|x − q|²/2) = e^(−|t|²/2) Σ_α M_α He_α(t),  t = q − c,  M_α = Σ w (x − c)^α / α!,
//!
//! cut at total degree p. On the line between c and a point a Gaussian is one of a
//! single variable, and |He_p(y)| ≤ 1.09 √p! e^(y²/4) (Cramér), so Taylor's remainder is at most
//! 1.09 ρᵖ / √p! · e^(−s²/4) for every unit of weight, with ρ the node's radius and s
//! its least distance from q.

use super::tree::Tree;
use crate::kernel::pairs::{GROUP, Step, add_moments};
use rayon::prelude::*;

/// Cramér's constant.
const CRAMER: f64 = 1.0865;

/// Wider nodes are of no use: their series would need too many terms.
const WIDEST: f64 = 1.8;

/// Fewer points are summed as fast one by one.
const FEWEST_BLOCKS: usize = 2;

/// Degrees below this are kept, by number of columns; there are none for more.
const DEGREES: [usize; 3] = [20, 16, 10];

/// The largest degree of all.
const MOST: usize = 20;

/// The moments of the nodes of a tree.
#[derive(Clone, Debug)]
pub(super) struct Expansions {
    columns: usize,
    degrees: usize,
    /// The exponents of every term, by ascending total degree.
    exponents: Vec<[u8; 3]>,
    /// How many terms are below each degree.
    terms_below: Vec<usize>,
    /// For every node the place of its moments, if it has any.
    places: Vec<Option<u32>>,
    /// For every such node its centre, its radius, the error of the whole series
    /// without its decay, and its moments.
    stored: Vec<f64>,
    /// 1/√n.
    inverse_roots: Vec<f64>,
}

impl Expansions {
    /// The moments of all nodes worth it; `None` in more than three columns.
    pub fn new(tree: &Tree) -> Option<Expansions> {
        let columns = tree.columns();
        let degrees = *DEGREES.get(columns.checked_sub(1)?)?;
        let (exponents, terms_below) = exponents(columns, degrees);
        let mut places = vec![None; tree.nodes.len()];
        let mut chosen = Vec::new();
        for (node, place) in places.iter_mut().enumerate() {
            let blocks = tree.blocks_of(node).len();
            if blocks >= FEWEST_BLOCKS && tree.centre(node).1 <= WIDEST {
                *place = Some(chosen.len() as u32);
                chosen.push(node);
            }
        }
        let steps = recurrence(&exponents);
        let stored = chosen
            .par_iter()
            .flat_map_iter(|node| stored_of(tree, *node, degrees, &steps))
            .collect();
        Some(Expansions {
            columns,
            degrees,
            exponents,
            terms_below,
            places,
            stored,
            inverse_roots: (0..=degrees).map(|n| 1.0 / (n as f64).sqrt()).collect(),
        })
    }

    /// The series of a node cut as early as an error of `allowed` per unit of
    /// weight permits, where `decay` is e^(−s²/4).
    #[inline]
    pub fn series(&self, node: usize, decay: f64, allowed: f64) -> Option<Series<'_>> {
        let place = self.places[node]? as usize;
        let (centre, moments) = self.stored(place);
        let (least_error, centre) = centre.split_last()?;
        let (radius, centre) = centre.split_last()?;
        // Told at once, as it is for most nodes.
        if decay * least_error > allowed {
            return None;
        }
        let mut error = CRAMER * decay;
        for degree in 1..=self.degrees {
            error *= radius * self.inverse_roots[degree];
            if error <= allowed {
                let terms = self.terms_below[degree];
                return Some(Series {
                    degree,
                    error,
                    centre,
                    moments: &moments[..terms],
                    exponents: &self.exponents[..terms],
                });
            }
        }
        None
    }

    /// Centre, radius and least error of a node, and its moments.
    fn stored(&self, place: usize) -> (&[f64], &[f64]) {
        let size = self.columns + 2 + self.exponents.len();
        self.stored[place * size..(place + 1) * size].split_at(self.columns + 2)
    }
}

/// The series of a node, cut at a degree.
pub(super) struct Series<'a> {
    degree: usize,
    /// Taylor's remainder per unit of weight.
    pub error: f64,
    centre: &'a [f64],
    moments: &'a [f64],
    exponents: &'a [[u8; 3]],
}

impl Series<'_> {
    /// |t|² and Σ_α M_α He_α(t) for t from the node's centre to the query.
    pub fn at(&self, query: &[f64]) -> (f64, f64) {
        let mut hermite = [[1.0; MOST]; 3];
        let mut square = 0.0;
        for ((own, x), centre) in hermite.iter_mut().zip(query).zip(self.centre) {
            let t = x - centre;
            square += t * t;
            own[1] = t;
            for n in 2..self.degree {
                own[n] = t * own[n - 1] - (n - 1) as f64 * own[n - 2];
            }
        }
        let [a, b, c] = &hermite;
        let terms = self.moments.iter().zip(self.exponents);
        let sum = match self.centre.len() {
            1 => terms.map(|(m, e)| m * a[e[0] as usize]).sum(),
            2 => terms
                .map(|(m, e)| m * a[e[0] as usize] * b[e[1] as usize])
                .sum(),
            _ => terms
                .map(|(m, e)| m * a[e[0] as usize] * b[e[1] as usize] * c[e[2] as usize])
                .sum(),
        };
        (square, sum)
    }
}

/// All exponents of so many columns below a total degree, and how many there
/// are below each.
fn exponents(columns: usize, degrees: usize) -> (Vec<[u8; 3]>, Vec<usize>) {
    let mut all = Vec::new();
    let mut below = vec![0];
    for degree in 0..degrees as u8 {
        for a in (0..=degree).rev() {
            for b in (0..=degree - a).rev() {
                let exponents = [a, b, degree - a - b];
                if exponents[columns..].iter().all(|e| *e == 0) {
                    all.push(exponents);
                }
            }
        }
        below.push(all.len());
    }
    (all, below)
}

/// How each monomial but the first follows from an earlier one.
fn recurrence(exponents: &[[u8; 3]]) -> Vec<Step> {
    let step = |own: &[u8; 3]| {
        let column = own.iter().position(|e| *e > 0)?;
        let mut earlier = *own;
        earlier[column] -= 1;
        Some(Step {
            before: exponents.iter().position(|e| *e == earlier)?,
            column,
            inverse: 1.0 / f64::from(own[column]),
        })
    };
    exponents.iter().skip(1).filter_map(step).collect()
}

fn stored_of(tree: &Tree, node: usize, degrees: usize, steps: &[Step]) -> Vec<f64> {
    let (centre, radius) = tree.centre(node);
    let mut monomials = vec![[0.0; GROUP]; steps.len() + 1];
    let mut sums = monomials.clone();
    for block in tree.blocks_of(node) {
        let (points, weights) = (tree.block(block), tree.weights_of(block));
        add_moments(points, weights, &centre, steps, &mut monomials, &mut sums);
    }
    let sums: Vec<f64> = sums.iter().map(|lanes| lanes.iter().sum()).collect();
    let shrink = |error: f64, degree: usize| error * radius / (degree as f64).sqrt();
    let least_error = (1..=degrees).fold(CRAMER, shrink);
    [&centre[..], &[radius, least_error], &sums].concat()
}
