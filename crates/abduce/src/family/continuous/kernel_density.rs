//! A kernel density as the family of one column, for naive Bayes with classes of any shape (John
//! & Langley 1995): f(x) = Σ w K((x − xᵢ)/h) / (h Σ w), h by Scott's rule from the points of the
//! component. The likelihood would choose h = 0.

use crate::Result;
use crate::data::Rows;
use crate::density::{Bandwidth, Kernel, KernelDensity, Points, Selection};
use crate::family::continuous::point_stats::PointStats;
use crate::family::{
    Components, Domain, Family, Fill, PriorStrength, Scale, Stats, Unconstrained, Validate,
    draw_index, most_probable, nothing_seen,
};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// The bandwidth of a component whose numbers are all the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelPrior {
    /// The bandwidth; by default a share of the number. With that of all rows by Scott's rule, no
    /// place is more likely than theirs.
    pub spread: Option<f64>,
}

impl Family for KernelDensity {
    const NAME: &'static str = "kde";
    type Stats = PointStats;
    type Shape = ();
    type Prior = KernelPrior;

    fn zero(_: &()) -> PointStats {
        PointStats::default()
    }

    fn shape(&self) {}

    fn observe(rows: &Rows, weights: &[f64], stats: &mut PointStats) {
        stats.observe(rows, weights);
    }

    fn add_log_density(&self, rows: &Rows, out: &mut [f64]) {
        let cells = rows.only();
        let seen: Vec<usize> = (0..rows.len).filter(|row| cells.is_seen(*row)).collect();
        let places: Vec<[f64; 1]> = seen.iter().map(|row| [cells.reals()[*row]]).collect();
        // A density of one column takes points of one number.
        let log_densities = self.log_densities(&places).unwrap_or_default();
        for (row, log_density) in seen.into_iter().zip(log_densities) {
            out[row] += log_density;
        }
    }

    fn map(stats: &PointStats, prior: &KernelPrior) -> Result<Self> {
        if stats.weight() <= 0.0 {
            return Err(nothing_seen());
        }
        let points = stats.points()?;
        let bandwidth = match prior.spread {
            Some(spread) if stats.values.len() == 1 => Bandwidth::Shared(spread),
            _ => Selection::default().bandwidth(&points, Kernel::Gaussian, None)?,
        };
        KernelDensity::with_bandwidth(points, Kernel::Gaussian, bandwidth)
    }

    fn log_prior(&self, _: &KernelPrior) -> f64 {
        0.0
    }

    fn log_likelihood(&self, stats: &PointStats) -> f64 {
        let places: Vec<[f64; 1]> = stats.values.iter().map(|x| [*x]).collect();
        let log_densities = self.log_densities(&places).unwrap_or_default();
        let pairs = stats.weights.iter().zip(log_densities);
        pairs
            .map(|(weight, log_density)| weight * log_density)
            .sum()
    }

    fn parameters(_: &()) -> usize {
        1
    }

    fn fill(&self, how: Fill, row: &[Option<f64>], rng: &mut dyn Rng, out: &mut [f64]) {
        let points = self.points();
        out[0] = row[0].unwrap_or_else(|| match how {
            Fill::Mean => points.means()[0],
            // The densest of its points, or of a sample of them.
            Fill::Mode => {
                let some = (0..points.len()).step_by(points.len().div_ceil(256));
                let places: Vec<&[f64]> = some.map(|point| points.row(point)).collect();
                let log_densities = self.log_densities(&places).unwrap_or_default();
                places[most_probable(&log_densities)][0]
            }
            Fill::Draw => {
                let point = points.row(draw_index(points.weights(), rng));
                let drawn = self.given(&[]).map(|given| given.draw(point, &[], rng)[0]);
                drawn.unwrap_or(point[0])
            }
        });
    }
}

impl Domain for KernelDensity {
    const HAS_UNITS: bool = true;

    fn shape_of_column(_: usize) -> Option<()> {
        Some(())
    }

    fn supports(x: f64) -> bool {
        x.abs() <= Points::LARGEST
    }
}

impl Components for KernelDensity {
    fn weak_prior(scales: &[Scale], strength: &PriorStrength) -> KernelPrior {
        let scott = (strength.rows / strength.row_weight).max(1.0).powf(-0.2);
        KernelPrior {
            spread: Some(scales[0].variance.sqrt() * scott),
        }
    }

    fn fallback(_: &(), scales: &[Scale]) -> Self {
        KernelDensity::on_one_point(scales[0].mean, scales[0].variance.sqrt())
    }

    fn shrink_together(stats: &mut [PointStats]) {
        PointStats::shrink_together(stats);
    }
}

impl Unconstrained for KernelDensity {}

impl Validate for KernelDensity {
    fn is_valid(&self, _: &()) -> bool {
        self.points().columns() == 1
    }

    fn describes(_: &(), stats: &PointStats) -> bool {
        stats.is_valid()
    }

    fn accepts(_: &(), prior: &KernelPrior) -> bool {
        prior.spread.is_none_or(|spread| spread >= 0.0)
    }
}

#[cfg(test)]
impl crate::family::laws::Examples for KernelDensity {
    const BY_LIKELIHOOD: bool = false;

    fn examples() -> Vec<Self> {
        let spread = |n: usize, f: f64| (0..n).map(move |i| (i as f64 * f).sin());
        let two: Vec<f64> = spread(60, 0.7)
            .chain(spread(30, 1.3).map(|x| 6.0 + x))
            .collect();
        let far: Vec<f64> = spread(40, 2.1).map(|x| 1e6 + 20.0 * x).collect();
        let fit = |x: Vec<f64>| {
            let points = Points::from_columns(&[x], None);
            points.and_then(|points| {
                KernelDensity::fit(points, Kernel::Gaussian, &Selection::default())
            })
        };
        [two, far].into_iter().filter_map(|x| fit(x).ok()).collect()
    }
}
