//! Filling the missing values of rows that share a pattern: the regression on the observed columns
//! and the spread about it, computed once for all of them. For a t distribution, the covariance is
//! divided by u ~ Gamma((ν+d)/2, (ν+δ)/2), with d observed values at the squared distance δ from
//! the mean.

use crate::family::multi::draw_ln_gamma;
use crate::family::multivariate::run::Regression;
use crate::family::multivariate::tails::Whitening;
use crate::family::multivariate::{Covariance, MultivariateGaussian, MultivariateStudentT};
use crate::family::{Distribution, Fill};
use crate::kernel::linear::cholesky;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

/// One Gaussian or t distribution prepared for rows of one pattern.
pub(crate) struct Filler {
    mean: Vec<f64>,
    seen: Vec<usize>,
    hidden: Vec<usize>,
    /// Missing × observed; empty where columns are independent.
    regression: Vec<f64>,
    /// A root of the covariance of the missing values given the observed ones: a lower triangle,
    /// or the deviations of independent columns.
    root: Vec<f64>,
    tails: Option<Tails>,
}

/// The degrees of freedom, and the whitening that gives the distance of the observed values.
struct Tails {
    degrees: f64,
    whitening: Whitening,
}

impl Tails {
    /// The largest factor of a drawn deviation, so that values stay finite.
    const FARTHEST: f64 = 1e100;

    /// A draw of 1/√u, given the distance of the observed values from their means.
    fn stretch(&self, shifts: &[f64], rng: &mut dyn Rng) -> f64 {
        let shape = 0.5 * (self.degrees + shifts.len() as f64);
        let rate = 0.5 * (self.degrees + self.whitening.distance(shifts));
        let log = draw_ln_gamma(shape, rng) - rate.ln();
        (-0.5 * log).exp().min(Self::FARTHEST)
    }
}

impl Filler {
    /// Prepares a multivariate distribution; `None` for other distributions.
    pub fn of(distribution: &Distribution, is_seen: &[bool]) -> Option<Filler> {
        match distribution {
            Distribution::Multivariate(gaussian) => Some(Filler::new(gaussian, is_seen)),
            Distribution::MultivariateStudentT(t) => Some(Filler::of_student_t(t, is_seen)),
            _ => None,
        }
    }

    /// Prepares a t distribution for rows in which the marked columns are observed.
    pub fn of_student_t(t: &MultivariateStudentT, is_seen: &[bool]) -> Filler {
        let mut filler = Filler::new(&t.gaussian, is_seen);
        filler.tails = Some(Tails {
            degrees: t.degrees,
            whitening: Whitening::new(&t.gaussian, &filler.seen),
        });
        filler
    }

    /// Prepares a Gaussian for rows in which the marked columns are observed.
    pub fn new(gaussian: &MultivariateGaussian, is_seen: &[bool]) -> Filler {
        let d = gaussian.order();
        let (seen, hidden): (Vec<usize>, Vec<usize>) = (0..d).partition(|c| is_seen[*c]);
        let deviations = || {
            hidden
                .iter()
                .map(|c| gaussian.covariance(*c, *c).sqrt())
                .collect()
        };
        let regression = match &gaussian.covariance {
            Covariance::Full(matrix) => Regression::new(matrix, d, &seen, &hidden),
            _ => None,
        };
        let (regression, root) = match regression {
            Some(found) => match cholesky(&found.conditional, hidden.len()) {
                Ok(factor) => (found.slopes, factor),
                Err(_) => (found.slopes, vec![0.0; hidden.len() * hidden.len()]),
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
            tails: None,
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
        let stretch = match &self.tails {
            Some(tails) => {
                let shift = |c: &usize| out[*c] - self.mean[*c];
                let shifts: Vec<f64> = self.seen.iter().map(shift).collect();
                tails.stretch(&shifts, rng)
            }
            None => 1.0,
        };
        let triangle = m > 1 && self.root.len() == m * m;
        for j in 0..m {
            let draw = stretch * rng.sample::<f64, _>(StandardNormal);
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
