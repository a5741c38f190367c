//! Bandwidths of kernel densities. The rules scale with the data: with σ the standard
//! deviation of a column, n the weight of the points and d the number of columns,
//!
//!   Scott      h = σ n^(−1/(d+4)),
//!   Silverman  h = σ (n (d+2)/4)^(−1/(d+4)),
//!
//! the improved Sheather–Jones rule for one column (Botev, Grotowski & Kroese 2010), and
//! leave-one-out likelihood (Duin 1976). The first three are for a Gaussian; other kernels
//! are scaled to the same standard deviation.

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
    /// A symmetric positive definite matrix, column by column, like a covariance: the
    /// squared width in every direction.
    Matrix(Vec<f64>),
}

/// How a bandwidth is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// Scott's rule, as in SciPy.
    #[default]
    Scott,
    /// Silverman's rule, as in SciPy.
    Silverman,
    /// The improved Sheather–Jones rule, for one column. Where it has no solution, as with
    /// few points, Scott's rule is used.
    Isj,
    /// Maximum leave-one-out likelihood. Scott's rule is used where so many rows are equal
    /// that the likelihood has no maximum.
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
                    .with_hint("use scott, silverman, isj, cv or a positive number")),
            },
        }
    }
}

/// The shape of a bandwidth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BandwidthShape {
    /// A width for each column.
    #[default]
    Diagonal,
    /// A matrix proportional to the covariance of the points.
    Full,
}

/// How the bandwidth of a density is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Selection {
    /// The rule.
    pub rule: Rule,
    /// The shape.
    #[serde(default)]
    pub shape: BandwidthShape,
}

impl Selection {
    /// The bandwidth for points. `scales` replaces the standard deviation of columns in
    /// which the points do not vary; by default it is a millionth of their value, so that a
    /// single point has a density too.
    ///
    /// # Errors
    /// If the rule does not apply to this number of columns.
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
        scales: Option<&[f64]>,
    ) -> Result<Bandwidth> {
        Ok(self.choose(points, kernel, scales, Control::default())?.0)
    }

    /// The bandwidth, and whether it is by the rule asked for: where that has no solution, it
    /// is by Scott's. The result of an interrupted search is meaningless.
    pub(crate) fn choose(
        &self,
        points: &Points,
        kernel: Kernel,
        scales: Option<&[f64]>,
        control: Control,
    ) -> Result<(Bandwidth, bool)> {
        let d = points.columns();
        if self.rule == Rule::Isj && d > 1 {
            return Err(Error::parameter(format!(
                "`bandwidth=isj` is for one column, and there are {d}"
            ))
            .with_hint("use `bandwidth=cv`, `bandwidth=scott` or `bandwidth=silverman`"));
        }
        if let Rule::Number(width) = self.rule {
            if self.shape == BandwidthShape::Full {
                return Err(
                    Error::parameter("a full bandwidth matrix needs a rule, not a number")
                        .with_hint(
                            "use `bandwidth=scott`, `bandwidth=silverman` or `bandwidth=cv`",
                        ),
                );
            }
            return Ok((Bandwidth::Shared(width), true));
        }
        let scott = self.scaled_by_the_data(points, kernel, scales);
        Ok(match self.rule {
            Rule::Isj => {
                let varies = points.deviations()[0] > 0.0;
                match improved_sheather_jones(points).filter(|_| varies) {
                    Some(width) => {
                        let width = width / kernel_deviation(kernel, 1);
                        (Bandwidth::Columns(vec![width]), true)
                    }
                    None => (scott, false),
                }
            }
            Rule::Cv => cross_validated(points, kernel, scott, control),
            _ => (scott, true),
        })
    }

    /// The bandwidth by Silverman's rule if that is the rule, otherwise by Scott's.
    fn scaled_by_the_data(
        &self,
        points: &Points,
        kernel: Kernel,
        scales: Option<&[f64]>,
    ) -> Bandwidth {
        let d = points.columns() as f64;
        let n = points.weight().max(1.0);
        let base = match self.rule {
            Rule::Silverman => n * (d + 2.0) / 4.0,
            _ => n,
        };
        let factor = base.powf(-1.0 / (d + 4.0)) / kernel_deviation(kernel, points.columns());
        // The unbiased variance is undefined for one point.
        let unbiased = if n >= 2.0 { n / (n - 1.0) } else { 1.0 };
        let default_scales = points.scales();
        let scales = scales.unwrap_or(&default_scales);
        let deviations = points.deviations().into_iter().zip(scales);
        let widths: Vec<f64> = deviations
            .map(|(deviation, scale)| match deviation {
                0.0 => factor * scale,
                _ => factor * unbiased.sqrt() * deviation,
            })
            .collect();
        if self.shape == BandwidthShape::Full {
            let mut matrix = points.covariance();
            matrix
                .iter_mut()
                .for_each(|x| *x *= factor * factor * unbiased);
            if let Some(matrix) = positive_definite(matrix, &widths) {
                return Bandwidth::Matrix(matrix);
            }
        }
        Bandwidth::Columns(widths)
    }
}

/// The matrix with the squared widths as its diagonal, shrunk towards it until it is
/// numerically positive definite. The covariance of points on a line, or of fewer points than
/// columns, is singular.
fn positive_definite(mut matrix: Vec<f64>, widths: &[f64]) -> Option<Vec<f64>> {
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
    /// The bandwidth with all widths multiplied by a factor.
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

    /// The bandwidth for the `kept` ones of `columns` columns.
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

    /// The number of free parameters.
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

    fn logistic_scores(n: usize) -> Vec<f64> {
        // Quantiles of a logistic distribution.
        let rank = |i: usize| (i as f64 + 0.5) / n as f64;
        (0..n).map(|i| (rank(i) / (1.0 - rank(i))).ln()).collect()
    }

    #[test]
    fn a_change_of_units_changes_every_rule_by_the_same_factor() {
        let x = logistic_scores(400);
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
        let x = logistic_scores(60);
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
    fn rules_give_every_kernel_the_same_standard_deviation() {
        let points = Points::from_columns(&[logistic_scores(50)], None).unwrap();
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
    fn points_on_a_line_have_a_full_bandwidth() {
        let x = logistic_scores(30);
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
