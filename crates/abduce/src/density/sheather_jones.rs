//! The improved Sheather–Jones bandwidth: the fixed point t = ξ γ⁵(t) of Botev,
//! Grotowski & Kroese, "Kernel density estimation via diffusion", Annals of
//! Statistics 38 (2010), with the roughness from the cosine transform of the
//! binned points. The mesh is theirs: 2¹⁴ nodes, extending half a range beyond the points.
//! For rounded numbers the smallest root may be the width of the rounding, not of the
//! density; such a root is rejected.

use super::grid::{Axis, binned, cosine_transform};
use super::points::Points;
use std::f64::consts::PI;

const MESH: usize = 1 << 14;

/// The bandwidth for a Gaussian kernel, or `None` if the fixed point has no root larger than
/// the rounding of the points.
pub(super) fn improved_sheather_jones(points: &Points) -> Option<f64> {
    let x = points.column(0);
    let least = x.iter().copied().fold(f64::INFINITY, f64::min);
    let most = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = most - least;
    if !(range > 0.0 && range.is_finite()) {
        return None;
    }
    let axis = Axis {
        start: least - 0.5 * range,
        end: most + 0.5 * range,
        points: MESH,
    };
    let total = points.weight();
    let mut shares = binned(points, &[axis]);
    shares.iter_mut().for_each(|share| *share /= total);
    let fixed_point = FixedPoint {
        points: total,
        squares: cosine_transform(&shares)[1..]
            .iter()
            .map(|a| a * a)
            .collect(),
    };
    let width = fixed_point.root()?.sqrt() * 2.0 * range;
    (width > 0.5 * rounding(x, total)).then_some(width)
}

/// The step to which numbers are rounded: the median distance between distinct numbers if
/// fewer than half of the numbers are distinct; otherwise 0.
fn rounding(mut x: Vec<f64>, total: f64) -> f64 {
    x.sort_unstable_by(f64::total_cmp);
    x.dedup();
    if 2.0 * x.len() as f64 > total {
        return 0.0;
    }
    let mut steps: Vec<f64> = x.windows(2).map(|pair| pair[1] - pair[0]).collect();
    steps.sort_unstable_by(f64::total_cmp);
    steps.get(steps.len() / 2).copied().unwrap_or(0.0)
}

struct FixedPoint {
    points: f64,
    /// The squared cosine coefficients from the first on.
    squares: Vec<f64>,
}

impl FixedPoint {
    /// ‖f⁽ˢ⁾‖² of the density smoothed for a time t.
    fn roughness(&self, s: i32, time: f64) -> f64 {
        let mut sum = 0.0;
        for (j, square) in self.squares.iter().enumerate() {
            let frequency = ((j + 1) as f64).powi(2);
            let decay = frequency * PI * PI * time;
            // Further terms underflow.
            if decay > 745.0 {
                break;
            }
            sum += frequency.powi(s) * square * (-decay).exp();
        }
        0.5 * PI.powi(2 * s) * sum
    }

    /// t − ξ γ⁵(t), whose root is sought.
    fn gap(&self, time: f64) -> f64 {
        const STEPS: i32 = 7;
        let mut roughness = self.roughness(STEPS, time);
        if roughness <= 0.0 {
            return -1.0;
        }
        for s in (2..STEPS).rev() {
            let odd: f64 = (1..=s).map(|i| f64::from(2 * i - 1)).product();
            let constant = (1.0 + 0.5f64.powf(f64::from(s) + 0.5)) / 3.0;
            let ratio = 2.0 * constant * odd / (2.0 * PI).sqrt() / (self.points * roughness);
            let time = ratio.powf(2.0 / (3.0 + 2.0 * f64::from(s)));
            roughness = self.roughness(s, time);
        }
        time - (2.0 * self.points * PI.sqrt() * roughness).powf(-0.4)
    }

    /// The smallest positive root, by bisection of a bracket that is doubled until it holds
    /// one.
    fn root(&self) -> Option<f64> {
        let first = 1e-11 + 0.01 * (self.points.clamp(50.0, 1050.0) - 50.0) / 1000.0;
        let mut end = first;
        let is_past = |time: f64| self.gap(time) > 0.0;
        while !is_past(end) {
            end *= 2.0;
            if end >= 1.0 {
                return None;
            }
        }
        let (mut below, mut above) = (0.0, end);
        for _ in 0..200 {
            let middle = 0.5 * (below + above);
            if is_past(middle) {
                above = middle;
            } else {
                below = middle;
            }
            if above - below <= 1e-13 * above {
                break;
            }
        }
        Some(0.5 * (below + above)).filter(|t| *t > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles of a logistic distribution, rounded to a step.
    fn rounded(rows: usize, step: f64) -> Points {
        let share = |i: usize| (i as f64 + 0.5) / rows as f64;
        let exact = |i: usize| (share(i) / (1.0 - share(i))).ln();
        let x: Vec<f64> = (0..rows)
            .map(|i| (exact(i) / step).round() * step)
            .collect();
        Points::from_columns(&[x], None).unwrap()
    }

    #[test]
    fn rounded_numbers_have_the_bandwidth_of_exact_ones() {
        let exact = improved_sheather_jones(&rounded(20_000, 1e-9)).unwrap();
        let little = improved_sheather_jones(&rounded(20_000, 0.02)).unwrap();
        assert!((little / exact - 1.0).abs() < 0.05, "{little} {exact}");
        // A bandwidth below the step would give a separate spike for each number.
        let comb = improved_sheather_jones(&rounded(20_000, 1.0));
        assert!(comb.is_none_or(|width| width > 0.5), "{comb:?} {exact}");
    }
}
