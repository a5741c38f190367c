//! Ellipses of Gaussians: the points at Mahalanobis distance r from the mean enclose the mass
//! 1 − exp(−r²/2) of a bivariate Gaussian.

/// The mean and covariance of a group in the columns in which it is Gaussian.
///
/// ```
/// use abduce_plot::Gaussian;
/// let round = Gaussian { mean: vec![Some(1.0), Some(2.0)], covariance: vec![4.0, 0.0, 0.0, 4.0] };
/// let half = round.ellipse(0, 1, 0.5).unwrap();
/// let radius = 2.0 * (2.0 * 2f64.ln()).sqrt();
/// assert!(half.iter().all(|(x, y)| ((x - 1.0).hypot(y - 2.0) - radius).abs() < 1e-12));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gaussian {
    /// The mean of each column; `None` if the group is not Gaussian in it.
    pub mean: Vec<Option<f64>>,
    /// The covariance matrix, column by column; empty if the group has only a centre.
    pub covariance: Vec<f64>,
}

/// The number of points of an ellipse.
const POINTS: usize = 72;

impl Gaussian {
    /// The ellipse of two columns that encloses a mass, as points on it; `None` if the group is
    /// not Gaussian in both.
    pub fn ellipse(&self, x: usize, y: usize, mass: f64) -> Option<Vec<(f64, f64)>> {
        let columns = self.mean.len();
        let mean = ((*self.mean.get(x)?)?, (*self.mean.get(y)?)?);
        let covariance = |i: usize, j: usize| self.covariance.get(j * columns + i).copied();
        let (xx, xy, yy) = (covariance(x, x)?, covariance(x, y)?, covariance(y, y)?);
        // The Cholesky factor of the covariance; rounding may make a variance negative.
        let a = xx.max(0.0).sqrt();
        let b = if a > 0.0 { xy / a } else { 0.0 };
        let c = (yy - b * b).max(0.0).sqrt();
        let radius = (-2.0 * (1.0 - mass).ln()).sqrt();
        let point = |k: usize| {
            let angle = std::f64::consts::TAU * k as f64 / POINTS as f64;
            let (u, v) = (radius * angle.cos(), radius * angle.sin());
            (mean.0 + a * u, mean.1 + b * u + c * v)
        };
        let points: Vec<(f64, f64)> = (0..POINTS).map(point).collect();
        let finite = |(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
        points.iter().all(finite).then_some(points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::StandardNormal;

    fn holds(ring: &[(f64, f64)], (x, y): (f64, f64)) -> bool {
        let mut inside = false;
        for (a, b) in ring.iter().zip(ring.iter().cycle().skip(1)) {
            let crosses = (a.1 > y) != (b.1 > y);
            if crosses && x < a.0 + (b.0 - a.0) * (y - a.1) / (b.1 - a.1) {
                inside = !inside;
            }
        }
        inside
    }

    #[test]
    fn an_ellipse_encloses_its_mass() {
        let gaussian = Gaussian {
            mean: vec![None, Some(3.0), Some(-1.0)],
            covariance: vec![1.0, 0.0, 0.0, 0.0, 4.0, -2.5, 0.0, -2.5, 2.0],
        };
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let points: Vec<(f64, f64)> = (0..20_000)
            .map(|_| {
                let (u, v): (f64, f64) = (rng.sample(StandardNormal), rng.sample(StandardNormal));
                let rest = (2.0f64 - 1.25 * 1.25).sqrt();
                (3.0 + 2.0 * u, -1.0 - 1.25 * u + rest * v)
            })
            .collect();
        for mass in [0.5, 0.9] {
            let ring = gaussian.ellipse(1, 2, mass).unwrap();
            let inside = points.iter().filter(|point| holds(&ring, **point)).count();
            let share = inside as f64 / points.len() as f64;
            assert!((share - mass).abs() < 0.012, "{share} of {mass}");
        }
        assert_eq!(gaussian.ellipse(0, 1, 0.5), None);
        assert_eq!(gaussian.ellipse(1, 7, 0.5), None);
    }

    #[test]
    fn a_column_without_variance_makes_a_line() {
        let flat = Gaussian {
            mean: vec![Some(1.0), Some(2.0)],
            covariance: vec![0.0, 0.0, 0.0, 1.0],
        };
        let ring = flat.ellipse(0, 1, 0.9).unwrap();
        assert!(ring.iter().all(|(x, y)| *x == 1.0 && y.is_finite()));
    }
}
