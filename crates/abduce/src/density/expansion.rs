//! Sums of Gaussians over the points of a node as Hermite series about its centre c (Greengard & Strain 1991),
//!
//!   Σ w exp(−|x − q|²/2) = e^(−|t|²/2) Σ_α M_α He_α(t),  t = q − c,  M_α = Σ w (x − c)^α / α!,
//!
//! truncated at total degree p. On the line between c and a point, a Gaussian is a function
//! of one variable, and |He_p(y)| ≤ 1.09 √p! e^(y²/4) (Cramér), so the remainder of the Taylor
//! series is at most 1.09 ρᵖ / √p! · e^(−s²/4) per unit of weight, with ρ the radius of the
//! node and s its distance from q.

use super::tree::Tree;
use crate::kernel::pairs::{GROUP, Step, add_moments};
use rayon::prelude::*;

/// Cramér's constant.
const CRAMER: f64 = 1.0865;

/// The largest radius; series of wider nodes need too many terms.
const MAX_RADIUS: f64 = 1.8;

/// The least number of blocks; fewer are summed as fast point by point.
const MIN_BLOCKS: usize = 2;

/// The number of degrees for one, two and three columns; more columns have no series.
const DEGREES: [usize; 3] = [20, 16, 10];

/// The largest of these.
const MAX_DEGREES: usize = 20;

/// The moments of the nodes of a tree.
#[derive(Clone, Debug)]
pub(super) struct Expansions {
    columns: usize,
    degrees: usize,
    /// The exponents of every term, by ascending total degree.
    exponents: Vec<[u8; 3]>,
    /// The number of terms below each degree.
    terms_below: Vec<usize>,
    /// For every node the position of its moments, if it has any.
    positions: Vec<Option<u32>>,
    /// For every such node its centre, its radius, the error of the whole series without
    /// the factor e^(−s²/4), and its moments.
    stored: Vec<f64>,
    /// 1/√n.
    inverse_roots: Vec<f64>,
}

impl Expansions {
    /// The moments of all nodes that are narrow and large enough; `None` in more than three
    /// columns.
    pub fn new(tree: &Tree) -> Option<Expansions> {
        let columns = tree.columns();
        let degrees = *DEGREES.get(columns.checked_sub(1)?)?;
        let (exponents, terms_below) = exponents(columns, degrees);
        let mut positions = vec![None; tree.nodes.len()];
        let mut chosen = Vec::new();
        for (node, position) in positions.iter_mut().enumerate() {
            let blocks = tree.blocks_of(node).len();
            if blocks >= MIN_BLOCKS && tree.centre(node).1 <= MAX_RADIUS {
                *position = Some(chosen.len() as u32);
                chosen.push(node);
            }
        }
        let steps = recurrence(&exponents);
        let stored = chosen
            .par_iter()
            .flat_map_iter(|node| moments_of(tree, *node, degrees, &steps))
            .collect();
        Some(Expansions {
            columns,
            degrees,
            exponents,
            terms_below,
            positions,
            stored,
            inverse_roots: (0..=degrees).map(|n| 1.0 / (n as f64).sqrt()).collect(),
        })
    }

    /// The shortest series of a node whose error per unit of weight is at most `allowed`;
    /// `decay` is e^(−s²/4).
    #[inline]
    pub fn series(&self, node: usize, decay: f64, allowed: f64) -> Option<Series<'_>> {
        let position = self.positions[node]? as usize;
        let (centre, moments) = self.stored(position);
        let (least_error, centre) = centre.split_last()?;
        let (radius, centre) = centre.split_last()?;
        // Most nodes fail this first check.
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
    fn stored(&self, position: usize) -> (&[f64], &[f64]) {
        let size = self.columns + 2 + self.exponents.len();
        self.stored[position * size..(position + 1) * size].split_at(self.columns + 2)
    }
}

/// The series of a node, truncated at a degree.
pub(super) struct Series<'a> {
    degree: usize,
    /// An upper bound of the error per unit of weight.
    pub error: f64,
    centre: &'a [f64],
    moments: &'a [f64],
    exponents: &'a [[u8; 3]],
}

impl Series<'_> {
    /// |t|² and Σ_α M_α He_α(t) for t from the node's centre to the query.
    pub fn at(&self, query: &[f64]) -> (f64, f64) {
        let mut hermite = [[1.0; MAX_DEGREES]; 3];
        let mut square = 0.0;
        for ((values, x), centre) in hermite.iter_mut().zip(query).zip(self.centre) {
            let t = x - centre;
            square += t * t;
            values[1] = t;
            for n in 2..self.degree {
                values[n] = t * values[n - 1] - (n - 1) as f64 * values[n - 2];
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

/// The exponents of all terms below a total degree, and the number of terms below each
/// degree.
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

/// How to compute each monomial but the first from an earlier one.
fn recurrence(exponents: &[[u8; 3]]) -> Vec<Step> {
    let step = |term: &[u8; 3]| {
        let column = term.iter().position(|e| *e > 0)?;
        let mut earlier = *term;
        earlier[column] -= 1;
        Some(Step {
            before: exponents.iter().position(|e| *e == earlier)?,
            column,
            inverse: 1.0 / f64::from(term[column]),
        })
    };
    exponents.iter().skip(1).filter_map(step).collect()
}

fn moments_of(tree: &Tree, node: usize, degrees: usize, steps: &[Step]) -> Vec<f64> {
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
