//! How wide the bumps are. Rules scale with the data: with σ the standard
//! deviation of a column, n the weight of the points and d the columns,
//!
//!   Scott      h = σ n^(−1/(d+4)),
//!   Silverman  h = σ (n (d+2)/4)^(−1/(d+4)),
//!
//! the improved rule of Sheather and Jones (Botev, Grotowski & Kroese 2010) in
//! one column, and the likelihood of every point under the others (Duin 1976). The first
//! three are for a Gaussian; other kernels are widened or narrowed until they vary
//! as much.

use super::cross_validation::cross_validated;
use super::kernel::Kernel;
use super::points::Points;
use super::sheather_jones::improved_sheather_jones;
use crate::Control;
use crate::kernel::linear::cholesky;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The width of the kernel on every point, in the units of the columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bandwidth {
    /// The same in every column.
    Shared(f64),
    /// One for each column.
    Columns(Vec<f64>),
    /// A symmetric positive definite matrix, column by column: the square of the
    /// width in every direction, as a covariance is.
    Matrix(Vec<f64>),
}

/// How a bandwidth is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// Scott's rule, as SciPy has it.
    #[default]
    Scott,
    /// Silverman's rule, as SciPy has it.
    Silverman,
    /// The improved Sheather–Jones rule, for one column. Where it finds no
    /// solution, as for a few points, Scott's rule is taken.
    Isj,
    /// The widths that make every row likeliest under the others; Scott's rule where
    /// so many rows are equal that these would have no width.
    Cv,
    /// This width in every column.
    Number(f64),
}

impl FromStr for Rule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "scott" => Ok(Rule::Scott),
            "silverman" => Ok(Rule::Silverman),
            "isj" => Ok(Rule::Isj),
            "cv" => Ok(Rule::Cv),
            _ => match text.parse::<f64>() {
                Ok(width) if width > 0.0 && width.is_finite() => Ok(Rule::Number(width)),
                _ => Err(Error::parameter(format!("\"{text}\" is not a bandwidth"))
                    .with_hint("say scott, silverman, isj, cv or a positive number")),
            },
        }
    }
}

/// Whether kernels are stretched along the columns only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BandwidthShape {
    /// A width for each column.
    #[default]
    Diagonal,
    /// As the columns vary together.
    Full,
}

/// How many points weighted ones are worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SampleSize {
    /// Their weight Σw: weight 2 is the point twice.
    #[default]
    Weight,
    /// (Σw)² / Σw², for weights that say how much points matter, not how many
    /// they are; SciPy's choice.
    Kish,
}

/// How the bandwidth of a density is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Selection {
    /// The rule.
    pub rule: Rule,
    /// Whether kernels are stretched along the columns only.
    #[serde(default)]
    pub shape: BandwidthShape,
    /// How many points weighted ones are worth.
    #[serde(default)]
    pub size: SampleSize,
}

impl Selection {
    /// The bandwidth for these points. `spreads` stands for the standard deviation
    /// of columns in which these points do not vary; by default a millionth of
    /// their value, so that a single point has a density too.
    ///
    /// # Errors
    /// If the rule does not apply to so many columns.
    ///
    /// ```
    /// use abduce::density::{Kernel, Points, Selection};
    /// let points = Points::from_columns(&[vec![-1.0, 0.0, 1.0]], None)?;
    /// let chosen = Selection::default().bandwidth(&points, Kernel::Gaussian, None)?;
    /// assert!((chosen.widths(1)[0] - 3f64.powf(-0.2)).abs() < 1e-12);
    /// # Ok::<(), abduce::Error>(())
    /// ```
    pub fn bandwidth(
        &self,
        points: &Points,
        kernel: Kernel,
        spreads: Option<&[f64]>,
    ) -> Result<Bandwidth> {
        Ok(self.chosen(points, kernel, spreads, Control::default())?.0)
    }

    /// The bandwidth, and whether it is the rule's own: not where Scott's rule stands
    /// in for one that has no solution, as likelihood where many rows are equal. It is worth
    /// nothing once the caller has stopped the search.
    pub(crate) fn chosen(
        &self,
        points: &Points,
        kernel: Kernel,
        spreads: Option<&[f64]>,
        control: Control,
    ) -> Result<(Bandwidth, bool)> {
        let d = points.columns();
        if self.rule == Rule::Isj && d > 1 {
            return Err(Error::parameter(format!(
                "the bandwidth isj is for one column, not for {d}"
            ))
            .with_hint("choose cv, scott or silverman"));
        }
        if let Rule::Number(width) = self.rule {
            if self.shape == BandwidthShape::Full {
                return Err(Error::parameter(
                    "a bandwidth given as a number is the same in every column",
                )
                .with_hint("choose a rule for a full bandwidth matrix"));
            }
            return Ok((Bandwidth::Shared(width), true));
        }
        let size = match self.size {
            SampleSize::Weight => points.weight(),
            SampleSize::Kish => {
                let total = points.weight();
                let shares = points.weights().iter().map(|w| (w / total).powi(2));
                1.0 / shares.sum::<f64>()
            }
        };
        let scott = self.scaled_by_the_data(points, kernel, spreads, size);
        Ok(match self.rule {
            Rule::Isj => {
                let own = points.deviations()[0] > 0.0;
                let found = improved_sheather_jones(points, size).filter(|_| own);
                let width = found.map(|width| vec![width / kernel_deviation(kernel, 1)]);
                width.map_or((scott, false), |width| (Bandwidth::Columns(width), true))
            }
            Rule::Cv => cross_validated(points, kernel, scott, self.size, control),
            _ => (scott, true),
        })
    }

    fn scaled_by_the_data(
        &self,
        points: &Points,
        kernel: Kernel,
        spreads: Option<&[f64]>,
        size: f64,
    ) -> Bandwidth {
        let d = points.columns() as f64;
        let n = size.max(1.0);
        let counted = match self.rule {
            Rule::Silverman => n * (d + 2.0) / 4.0,
            _ => n,
        };
        let factor = counted.powf(-1.0 / (d + 4.0)) / kernel_deviation(kernel, points.columns());
        // The unbiased variance, which a point or less does not have.
        let unbiased = if n >= 2.0 { n / (n - 1.0) } else { 1.0 };
        let units = points.units();
        let spreads = spreads.unwrap_or(&units);
        let own = points.deviations();
        let widths = own.iter().zip(spreads).map(|(own, fallback)| match own {
            own if *own > 0.0 => factor * unbiased.sqrt() * own,
            _ => factor * fallback,
        });
        let widths: Vec<f64> = widths.collect();
        if self.shape == BandwidthShape::Full {
            let mut matrix = points.covariance();
            matrix
                .iter_mut()
                .for_each(|x| *x *= factor * factor * unbiased);
            if let Some(matrix) = definite(matrix, &widths) {
                return Bandwidth::Matrix(matrix);
            }
        }
        Bandwidth::Columns(widths)
    }
}

/// The matrix with its diagonal set to the squared widths, and drawn towards that diagonal
/// until it is safely positive definite; points on a line or fewer than
/// columns leave it singular.
fn definite(mut matrix: Vec<f64>, widths: &[f64]) -> Option<Vec<f64>> {
    let d = widths.len();
    for (c, width) in widths.iter().enumerate() {
        matrix[c * d + c] = width * width;
    }
    [0.0, 1e-6, 1e-4, 1e-2].into_iter().find_map(|shrinkage| {
        let mut shrunk = matrix.clone();
        for (place, x) in shrunk.iter_mut().enumerate() {
            if place % d != place / d {
                *x *= 1.0 - shrinkage;
            }
        }
        let factor = cholesky(&shrunk, d).ok()?;
        let safe = (0..d).all(|c| factor[c * d + c] > 1e-5 * widths[c]);
        safe.then_some(shrunk)
    })
}

/// The standard deviation of a kernel of width 1 in each of its columns.
pub(super) fn kernel_deviation(kernel: Kernel, columns: usize) -> f64 {
    kernel.mean_square(columns).sqrt()
}

impl Bandwidth {
    /// So many times as wide.
    pub fn times(&self, factor: f64) -> Bandwidth {
        let all = |widths: &[f64], factor: f64| widths.iter().map(|x| x * factor).collect();
        match self {
            Bandwidth::Shared(width) => Bandwidth::Shared(width * factor),
            Bandwidth::Columns(widths) => Bandwidth::Columns(all(widths, factor)),
            Bandwidth::Matrix(matrix) => Bandwidth::Matrix(all(matrix, factor * factor)),
        }
    }

    /// The width along every column.
    pub fn widths(&self, columns: usize) -> Vec<f64> {
        match self {
            Bandwidth::Shared(width) => vec![*width; columns],
            Bandwidth::Columns(widths) => widths.clone(),
            Bandwidth::Matrix(matrix) => (0..columns)
                .map(|c| matrix[c * columns + c].sqrt())
                .collect(),
        }
    }

    /// The bandwidth on some of `columns` columns.
    pub(super) fn select(&self, columns: usize, kept: &[usize]) -> Bandwidth {
        match self {
            Bandwidth::Shared(width) => Bandwidth::Shared(*width),
            Bandwidth::Columns(widths) => {
                Bandwidth::Columns(kept.iter().map(|c| widths[*c]).collect())
            }
            Bandwidth::Matrix(matrix) => Bandwidth::Matrix(crate::kernel::linear::submatrix(
                matrix, columns, kept, kept,
            )),
        }
    }

    /// The number of free numbers.
    pub(crate) fn parameters(&self) -> usize {
        match self {
            Bandwidth::Shared(_) => 1,
            Bandwidth::Columns(widths) => widths.len(),
            Bandwidth::Matrix(matrix) => {
                let d = matrix.len().isqrt();
                d * (d + 1) / 2
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::KernelDensity;
    use super::*;

    fn normal_scores(n: usize) -> Vec<f64> {
        // Evenly spread ranks through a smooth, heavy-middled map.
        let rank = |i: usize| (i as f64 + 0.5) / n as f64;
        (0..n).map(|i| (rank(i) / (1.0 - rank(i))).ln()).collect()
    }

    #[test]
    fn a_change_of_units_changes_every_rule_by_the_same_factor() {
        let x = normal_scores(400);
        let scaled: Vec<f64> = x.iter().map(|x| 1e6 + 250.0 * x).collect();
        for rule in [Rule::Scott, Rule::Silverman, Rule::Isj, Rule::Cv] {
            let chosen = |x: &[f64]| {
                let points = Points::from_columns(&[x], None).unwrap();
                let selection = Selection {
                    rule,
                    ..Selection::default()
                };
                selection
                    .bandwidth(&points, Kernel::Gaussian, None)
                    .unwrap()
                    .widths(1)[0]
            };
            let ratio = chosen(&scaled) / chosen(&x);
            assert!((ratio / 250.0 - 1.0).abs() < 1e-6, "{rule:?}: {ratio}");
        }
    }

    #[test]
    fn weight_two_is_the_point_twice() {
        let x = normal_scores(60);
        let twice: Vec<f64> = x.iter().chain(&x).copied().collect();
        for rule in [Rule::Scott, Rule::Silverman, Rule::Isj, Rule::Cv] {
            let chosen = |points: &Points| {
                let selection = Selection {
                    rule,
                    ..Selection::default()
                };
                selection
                    .bandwidth(points, Kernel::Gaussian, None)
                    .unwrap()
                    .widths(1)[0]
            };
            let weighted = chosen(&Points::from_columns(&[&x], Some(&[2.0; 60])).unwrap());
            let repeated = chosen(&Points::from_columns(&[&twice], None).unwrap());
            assert!((weighted / repeated - 1.0).abs() < 1e-9, "{rule:?}");
        }
    }

    #[test]
    fn kernels_by_a_rule_vary_as_much_as_a_gaussian() {
        let points = Points::from_columns(&[normal_scores(50)], None).unwrap();
        let width = |kernel| {
            Selection::default()
                .bandwidth(&points, kernel, None)
                .unwrap()
                .widths(1)[0]
        };
        // The variance of 1 − u² on −1..1 is a fifth.
        let ratio = width(Kernel::Epanechnikov) / width(Kernel::Gaussian);
        assert!((ratio - 5f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn points_on_a_line_have_a_full_bandwidth_too() {
        let x = normal_scores(30);
        let points = Points::from_columns(&[x.clone(), x], None).unwrap();
        let selection = Selection {
            shape: BandwidthShape::Full,
            ..Selection::default()
        };
        let chosen = selection
            .bandwidth(&points, Kernel::Gaussian, None)
            .unwrap();
        let density = KernelDensity::with_bandwidth(points, Kernel::Gaussian, chosen).unwrap();
        assert!(density.log_density(&[0.1, 0.2]).unwrap().is_finite());
    }
}
