//! Filling the hidden cells of rows that share a pattern: the regression on the
//! seen cells and the spread about it, worked out once for all of them.

use super::run::Lift;
use super::{Covariance, MultivariateGaussian};
use crate::family::Fill;
use crate::kernel::linear::cholesky;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

/// One Gaussian prepared for rows of one pattern.
pub(crate) struct Filler {
    mean: Vec<f64>,
    seen: Vec<usize>,
    hidden: Vec<usize>,
    /// Hidden × seen; empty where columns are independent.
    regression: Vec<f64>,
    /// A root of the hidden cells' covariance given the seen ones: a lower
    /// triangle, or the deviations of independent columns.
    root: Vec<f64>,
}

impl Filler {
    /// Prepares for rows of which the cells marked are seen.
    pub fn new(gaussian: &MultivariateGaussian, is_seen: &[bool]) -> Filler {
        let d = gaussian.order();
        let (seen, hidden): (Vec<usize>, Vec<usize>) = (0..d).partition(|c| is_seen[*c]);
        let deviations = || {
            hidden
                .iter()
                .map(|c| gaussian.covariance(*c, *c).sqrt())
                .collect()
        };
        let lift = match &gaussian.covariance {
            Covariance::Full(matrix) => Lift::new(matrix, d, &seen, &hidden),
            _ => None,
        };
        let (regression, root) = match lift {
            Some(lift) => match cholesky(&lift.conditional, hidden.len()) {
                Ok(factor) => (lift.regression, factor),
                Err(_) => (lift.regression, vec![0.0; hidden.len() * hidden.len()]),
            },
            None => (Vec::new(), deviations()),
        };
        let mean = gaussian.mean.clone();
        Filler {
            mean,
            seen,
            hidden,
            regression,
            root,
        }
    }

    /// Fills one row; `row` and `out` hold the Gaussian's columns.
    pub fn fill(&self, how: Fill, row: &[Option<f64>], rng: &mut dyn Rng, out: &mut [f64]) {
        let m = self.hidden.len();
        for (c, out) in out.iter_mut().enumerate() {
            *out = row[c].unwrap_or(self.mean[c]);
        }
        for (slopes, c) in self.regression.chunks_exact(m.max(1)).zip(&self.seen) {
            let shift = out[*c] - self.mean[*c];
            for (slope, h) in slopes.iter().zip(&self.hidden) {
                out[*h] += slope * shift;
            }
        }
        if how != Fill::Draw {
            return;
        }
        let triangle = m > 1 && self.root.len() == m * m;
        for j in 0..m {
            let draw: f64 = rng.sample(StandardNormal);
            if triangle {
                for i in j..m {
                    out[self.hidden[i]] += self.root[j * m + i] * draw;
                }
            } else {
                out[self.hidden[j]] += self.root[j] * draw;
            }
        }
    }
}
