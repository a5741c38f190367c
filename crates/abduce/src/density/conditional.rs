//! A kernel density conditional on the values of some columns. With s the given and h the
//! other columns and the Cholesky factor of the bandwidth in this order,
//!
//!   L = | L_s   0  |,   z = L_s⁻¹(x_s − xᵢ_s),   x_h = xᵢ_h + L_hs z + L_h v,
//!       | L_hs  L_h |
//!
//! point i has the weight wᵢ K_s(|z|), and v is spherical with density ∝ K(√(|z|² + |v|²)):
//! its mean is 0, and it is drawn by rejection sampling.

use super::bandwidth::Bandwidth;
use super::kernel::Kernel;
use super::kernel_density::KernelDensity;
use crate::kernel::linear::{Square, cholesky, submatrix};
use crate::{Error, Result};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Gamma, StandardNormal};

/// A kernel density prepared for queries that give the values of certain columns.
#[derive(Clone, Debug)]
pub struct ConditionalDensity {
    kernel: Kernel,
    seen: Vec<usize>,
    hidden: Vec<usize>,
    /// The density of the given columns, if there are any.
    marginal: Option<KernelDensity>,
    /// L, column by column.
    factor: Square,
}

impl KernelDensity {
    /// The density for queries in which exactly the `seen` columns are given.
    ///
    /// # Errors
    /// If a column does not exist.
    ///
    /// ```
    /// use abduce::density::{Kernel, KernelDensity, Points, Selection};
    /// let columns = [vec![0.0, 0.1, 9.0, 9.1], vec![5.0, 5.0, 7.0, 7.0]];
    /// let points = Points::from_columns(&columns, None)?;
    /// let density = KernelDensity::fit(points, Kernel::Epanechnikov, &Selection::default())?;
    /// let given = density.given(&[0])?;
    /// let shares = given.shares(density.points().weights(), &[9.0]).unwrap();
    /// assert!(shares[2] > 10.0 * shares[0]);
    /// assert_eq!(given.mean(density.points().row(2), &[9.0]), [7.0]);
    /// # Ok::<(), abduce::Error>(())
    /// ```
    pub fn given(&self, seen: &[usize]) -> Result<ConditionalDensity> {
        let d = self.points().columns();
        if seen.iter().any(|column| *column >= d) {
            return Err(Error::parameter("there is no such column in the density"));
        }
        let hidden: Vec<usize> = (0..d).filter(|column| !seen.contains(column)).collect();
        let order: Vec<usize> = seen.iter().chain(&hidden).copied().collect();
        let factor = match self.bandwidth() {
            Bandwidth::Matrix(matrix) => cholesky(&submatrix(matrix, d, &order, &order), d)
                .map_err(|_| Error::numeric("the bandwidth is not positive in every direction"))?,
            // Not by the matrix, as squared widths could overflow.
            diagonal => {
                let widths = diagonal.widths(d);
                let mut factor = vec![0.0; d * d];
                order
                    .iter()
                    .enumerate()
                    .for_each(|(i, c)| factor[i * d + i] = widths[*c]);
                factor
            }
        };
        let marginal = if seen.is_empty() {
            None
        } else {
            Some(self.marginal(seen)?)
        };
        Ok(ConditionalDensity {
            kernel: self.kernel(),
            seen: seen.to_vec(),
            hidden,
            marginal,
            factor,
        })
    }
}

impl ConditionalDensity {
    /// The columns that are not given.
    pub fn hidden(&self) -> &[usize] {
        &self.hidden
    }

    /// The log-density of the given columns at many points.
    ///
    /// # Errors
    /// If a point has another number of columns.
    pub fn log_densities<Q: AsRef<[f64]> + Sync>(&self, queries: &[Q]) -> Result<Vec<f64>> {
        match &self.marginal {
            Some(marginal) => marginal.log_densities(queries),
            None => Ok(vec![0.0; queries.len()]),
        }
    }

    /// The probability that a row with these values belongs to each point; `None` if the
    /// values have density 0. `weights` are those of the points.
    pub fn shares(&self, weights: &[f64], seen: &[f64]) -> Option<Vec<f64>> {
        let logs: Vec<f64> = match &self.marginal {
            Some(marginal) => marginal.log_shares(seen),
            None => weights.iter().map(|weight| weight.ln()).collect(),
        };
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if top == f64::NEG_INFINITY {
            return None;
        }
        let shares: Vec<f64> = logs.iter().map(|log| (log - top).exp()).collect();
        let total: f64 = shares.iter().sum();
        Some(shares.into_iter().map(|share| share / total).collect())
    }

    /// The mean of the other columns under the kernel of one point, which is also their mode.
    pub fn mean(&self, point: &[f64], seen: &[f64]) -> Vec<f64> {
        let z = self.whitened(point, seen);
        self.hidden_values(point, &z, &[])
    }

    /// The variance of a hidden column under the kernel of one point, which is Gaussian.
    pub(crate) fn variance(&self, hidden: usize) -> f64 {
        let (d, row) = (self.order(), self.seen.len() + hidden);
        let entries = (self.seen.len()..=row).map(|j| self.factor[j * d + row]);
        entries.map(|entry| entry * entry).sum()
    }

    /// Draws the hidden columns under the kernel of one point.
    pub fn draw(&self, point: &[f64], seen: &[f64], rng: &mut dyn Rng) -> Vec<f64> {
        let z = self.whitened(point, seen);
        let square: f64 = z.iter().map(|z| z * z).sum();
        let k = self.hidden.len();
        let mut v: Vec<f64> = (0..k).map(|_| rng.sample(StandardNormal)).collect();
        if self.kernel != Kernel::Gaussian && k > 0 {
            let length = v.iter().map(|v| v * v).sum::<f64>().sqrt();
            let radius = self.radius(square, rng) / length.max(f64::MIN_POSITIVE);
            v.iter_mut().for_each(|v| *v *= radius);
        }
        self.hidden_values(point, &z, &v)
    }

    fn order(&self) -> usize {
        self.seen.len() + self.hidden.len()
    }

    /// z, by forward substitution.
    fn whitened(&self, point: &[f64], seen: &[f64]) -> Vec<f64> {
        let d = self.order();
        let mut z: Vec<f64> = Vec::with_capacity(seen.len());
        for (i, (column, x)) in self.seen.iter().zip(seen).enumerate() {
            let known: f64 = z
                .iter()
                .enumerate()
                .map(|(j, z)| self.factor[j * d + i] * z)
                .sum();
            z.push((x - point[*column] - known) / self.factor[i * d + i]);
        }
        z
    }

    /// The hidden columns for given z and v; an empty v is 0.
    fn hidden_values(&self, point: &[f64], z: &[f64], v: &[f64]) -> Vec<f64> {
        let d = self.order();
        let whitened = z.iter().chain(v);
        let hidden = self.hidden.iter().enumerate();
        hidden
            .map(|(number, column)| {
                let row = z.len() + number;
                let offset = whitened
                    .clone()
                    .enumerate()
                    .map(|(j, x)| self.factor[j * d + row] * x);
                point[*column] + offset.sum::<f64>()
            })
            .collect()
    }

    /// Draws |v|, whose density is ∝ K(√(|z|² + s²)) s^(k−1).
    fn radius(&self, square: f64, rng: &mut dyn Rng) -> f64 {
        // In many columns nearly all of a ball is near its surface, where kernels are small
        // and most tries are rejected.
        const TRIES: usize = 100_000;
        let k = self.hidden.len() as f64;
        if self.kernel == Kernel::Exponential {
            return exponential_radius(square.sqrt(), k, rng);
        }
        let value = |square: f64| match self.kernel {
            Kernel::Epanechnikov => 1.0 - square,
            Kernel::Triangular => 1.0 - square.sqrt(),
            Kernel::Cosine => (std::f64::consts::FRAC_PI_2 * square.sqrt()).cos(),
            _ => 1.0,
        };
        let reach = (1.0 - square).max(0.0).sqrt();
        let top = value(square);
        for _ in 0..TRIES {
            let radius = reach * rng.random::<f64>().powf(1.0 / k);
            if rng.random::<f64>() * top <= value((square + radius * radius).min(1.0)) {
                return radius;
            }
        }
        0.0
    }
}

/// Draws s with density ∝ exp(−√(r² + s²)) s^(k−1) by rejection from a gamma distribution. By
/// the Cauchy–Schwarz inequality √(r² + s²) ≥ (r² + s s*) / √(r² + s*²) for any s*; here s* is
/// chosen so that both means are about equal.
fn exponential_radius(r: f64, k: f64, rng: &mut dyn Rng) -> f64 {
    const TRIES: usize = 100_000;
    // s*² = k √(r² + s*²), a quadratic equation in s*².
    let star = (0.5 * (k * k + (k.powi(4) + 4.0 * k * k * r * r).sqrt())).sqrt();
    let length = (r * r + star * star).sqrt();
    let rate = star / length;
    let Ok(gamma) = Gamma::new(k, 1.0 / rate) else {
        return star;
    };
    for _ in 0..TRIES {
        let s: f64 = gamma.sample(rng);
        let exponent = (r * r + s * star) / length - (r * r + s * s).sqrt();
        if rng.random::<f64>().ln() <= exponent {
            return s;
        }
    }
    star
}

#[cfg(test)]
mod tests {
    use super::super::{Bandwidth, Points};
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn draws_have_the_distribution_of_the_density() {
        // One point, two columns, the first given or not: the share of draws below a limit is
        // the integral of the density up to there.
        let points = Points::from_columns(&[vec![1.0], vec![2.0]], None).unwrap();
        let matrix = Bandwidth::Matrix(vec![1.5, 0.5, 0.5, 0.8]);
        for (kernel, name) in Kernel::ALL {
            let density =
                KernelDensity::with_bandwidth(points.clone(), kernel, matrix.clone()).unwrap();
            let mut rng = ChaCha8Rng::seed_from_u64(4);
            for seen in [vec![], vec![0]] {
                let given = density.given(&seen).unwrap();
                let place: Vec<f64> = seen.iter().map(|_| 1.6).collect();
                let draws: Vec<f64> = (0..20_000)
                    .map(|_| given.draw(&[1.0, 2.0], &place, &mut rng)[1 - seen.len()])
                    .collect();
                let (steps, reach) = (4000, 30.0);
                let width = 2.0 * reach / f64::from(steps);
                let nodes: Vec<f64> = (0..steps)
                    .map(|i| 2.0 - reach + (f64::from(i) + 0.5) * width)
                    .collect();
                let asked: Vec<Vec<f64>> = nodes
                    .iter()
                    .map(|y| place.iter().copied().chain([*y]).collect())
                    .collect();
                let joint = if seen.is_empty() {
                    density.marginal(&[1]).unwrap()
                } else {
                    density.clone()
                };
                let logs = joint.log_densities(&asked).unwrap();
                let total: f64 = logs.iter().map(|l| l.exp()).sum();
                for limit in [1.5, 2.0, 2.4, 2.9] {
                    let below = nodes.iter().zip(&logs).filter(|(y, _)| **y < limit);
                    let expected = below.map(|(_, l)| l.exp()).sum::<f64>() / total;
                    let obtained = draws.iter().filter(|y| **y < limit).count() as f64 / 2e4;
                    // Five standard errors and the width of the mesh.
                    assert!(
                        (obtained - expected).abs() < 0.025,
                        "{name} {seen:?} {limit}: {obtained} {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn rejection_sampling_ends_in_extreme_cases() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for k in [1.0, 2.0, 50.0] {
            for r in [0.0, 3.0, 1e4] {
                assert!(exponential_radius(r, k, &mut rng).is_finite());
            }
        }
        let columns: Vec<Vec<f64>> = (0..50).map(|c| vec![f64::from(c), 3.0]).collect();
        let points = Points::from_columns(&columns, None).unwrap();
        for (kernel, _) in Kernel::ALL {
            let density =
                KernelDensity::with_bandwidth(points.clone(), kernel, Bandwidth::Shared(1.0));
            let density = density.unwrap();
            let drawn = density
                .given(&[])
                .unwrap()
                .draw(points.row(0), &[], &mut rng);
            assert!(density.log_density(&drawn).unwrap().is_finite());
        }
    }
}
