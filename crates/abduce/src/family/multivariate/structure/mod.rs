//! Structures of covariances: what components share. In
//!
//!   Σ_j = λ_j D_j A_j D_jᵀ,  |A_j| = 1,
//!
//! volume λ, shape A and orientation D are each Equal for all components or
//! Variable, or are the Identity's: the fourteen models of Celeux & Govaert
//! (*Pattern Recognition* 28, 1995) under the names that R's mclust gives them.

mod axes;
mod diagonal;
mod ellipsoidal;
#[cfg(test)]
mod tests;

pub(super) use diagonal::{Apart, variances};
pub(super) use ellipsoidal::{Whole, matrices};

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The structure of the covariances of components.
///
/// ```
/// use abduce::family::Structure;
/// assert_eq!("VVV".parse::<Structure>()?, Structure::Full);
/// assert_eq!("tied".parse::<Structure>()?.code(), "EEE");
/// // Three components of four columns: three volumes, one shape, three orientations.
/// assert_eq!(Structure::Vev.parameters(4, 3), 3 + 3 + 3 * 6);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Structure {
    /// VVV: every component has a matrix.
    #[default]
    Full,
    /// EEE: all components share one matrix.
    Tied,
    /// VVI: every component has variances.
    Diagonal,
    /// VII: every component has a single variance.
    Spherical,
    /// The identity matrix: only means and weights are learned.
    Identity,
    /// One variance for all columns and components.
    Eii,
    /// Variances of columns that all components share.
    Eei,
    /// Variances in proportions that all components share.
    Vei,
    /// Variances with a product that all components share.
    Evi,
    /// Multiples of one matrix.
    Vee,
    /// One volume and different shapes along the same axes.
    Eve,
    /// Different volumes and shapes along the same axes.
    Vve,
    /// One volume and shape, different axes.
    Eev,
    /// Different volumes of one shape, different axes.
    Vev,
    /// Different shapes and axes, one volume.
    Evv,
}

impl Structure {
    /// The fourteen structures that are learned, from few parameters to many, as
    /// mclust lists them.
    pub const ALL: [Structure; 14] = [
        Structure::Eii,
        Structure::Spherical,
        Structure::Eei,
        Structure::Vei,
        Structure::Evi,
        Structure::Diagonal,
        Structure::Tied,
        Structure::Vee,
        Structure::Eve,
        Structure::Vve,
        Structure::Eev,
        Structure::Vev,
        Structure::Evv,
        Structure::Full,
    ];

    /// mclust's code.
    pub fn code(self) -> &'static str {
        match self {
            Structure::Full => "VVV",
            Structure::Tied => "EEE",
            Structure::Diagonal => "VVI",
            Structure::Spherical => "VII",
            Structure::Identity => "identity",
            Structure::Eii => "EII",
            Structure::Eei => "EEI",
            Structure::Vei => "VEI",
            Structure::Evi => "EVI",
            Structure::Vee => "VEE",
            Structure::Eve => "EVE",
            Structure::Vve => "VVE",
            Structure::Eev => "EEV",
            Structure::Vev => "VEV",
            Structure::Evv => "EVV",
        }
    }

    /// The name that users read: a common one where there is one.
    pub fn name(self) -> &'static str {
        match self {
            Structure::Full => "full",
            Structure::Tied => "tied",
            Structure::Diagonal => "diagonal",
            Structure::Spherical => "spherical",
            other => other.code(),
        }
    }

    /// Whether the covariance of a component depends on its rows alone.
    pub fn is_independent(self) -> bool {
        matches!(
            self,
            Structure::Full | Structure::Diagonal | Structure::Spherical | Structure::Identity
        )
    }

    /// Whether the estimates are found by a search that starts at the previous covariances.
    pub(crate) fn is_searched(self) -> bool {
        matches!(self, Structure::Eve | Structure::Vve)
    }

    /// Whether columns are correlated within a component.
    pub fn is_correlated(self) -> bool {
        !matches!(
            self,
            Structure::Diagonal | Structure::Eei | Structure::Vei | Structure::Evi
        ) && !self.is_spherical()
    }

    /// Whether all columns have the same variance.
    pub fn is_spherical(self) -> bool {
        matches!(
            self,
            Structure::Spherical | Structure::Eii | Structure::Identity
        )
    }

    /// Whether all components have the same covariance, whose prior counts once.
    pub fn is_shared(self) -> bool {
        matches!(self, Structure::Tied | Structure::Eii | Structure::Eei)
    }

    /// The simplest structure that is the same model for this number of columns and components: one
    /// column has neither shape nor orientation, and one component shares nothing.
    ///
    /// ```
    /// use abduce::family::Structure;
    /// assert_eq!(Structure::Evv.simplest(1, 3), Structure::Eii);
    /// assert_eq!(Structure::Full.simplest(1, 3), Structure::Spherical);
    /// assert_eq!(Structure::Full.simplest(2, 1), Structure::Tied);
    /// assert_eq!(Structure::Full.simplest(2, 3), Structure::Full);
    /// ```
    pub fn simplest(self, columns: usize, components: usize) -> Structure {
        let is_alone = components <= 1;
        match self {
            Structure::Identity => Structure::Identity,
            structure if columns <= 1 => {
                if is_alone || structure.code().starts_with('E') {
                    Structure::Eii
                } else {
                    Structure::Spherical
                }
            }
            structure if is_alone && structure.is_spherical() => Structure::Eii,
            structure if is_alone && !structure.is_correlated() => Structure::Eei,
            _ if is_alone => Structure::Tied,
            structure => structure,
        }
    }

    /// The number of free parameters of the covariances of `components` over
    /// `columns`.
    pub fn parameters(self, columns: usize, components: usize) -> usize {
        let (d, k) = (columns, components);
        let turns = d * d.saturating_sub(1) / 2;
        let shape = d.saturating_sub(1);
        match self {
            Structure::Identity => 0,
            Structure::Eii => 1,
            Structure::Spherical => k,
            Structure::Eei => d,
            Structure::Vei => k + shape,
            Structure::Evi => 1 + k * shape,
            Structure::Diagonal => k * d,
            Structure::Tied => d + turns,
            Structure::Vee => k + shape + turns,
            Structure::Eve => 1 + k * shape + turns,
            Structure::Vve => k * d + turns,
            Structure::Eev => d + k * turns,
            Structure::Vev => k + shape + k * turns,
            Structure::Evv => 1 + k * (shape + turns),
            Structure::Full => k * (d + turns),
        }
    }
}

impl FromStr for Structure {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let mut all = Structure::ALL.into_iter().chain([Structure::Identity]);
        let meant = |structure: &Structure| {
            name.eq_ignore_ascii_case(structure.code())
                || name.eq_ignore_ascii_case(structure.name())
        };
        all.find(meant).ok_or_else(|| {
            Error::parameter(format!("\"{name}\" is not a covariance")).with_hint(
                "the covariances are full, tied, diagonal, spherical, identity and mclust's \
                 EII VII EEI VEI EVI VVI EEE VEE EVE VVE EEV VEV EVV VVV",
            )
        })
    }
}

/// The maximum number of rounds of estimates that depend on each other.
const ROUNDS: usize = 500;

/// The relative change at which such rounds have converged.
const SETTLED: f64 = 1e-13;

/// Repeats a round, which returns a logarithm to minimise, until it converges.
fn until_settled(rounds: usize, mut round: impl FnMut() -> Result<f64>) -> Result<()> {
    let mut last = f64::INFINITY;
    for _ in 0..rounds {
        let now = round()?;
        if (last - now).abs() <= SETTLED * (1.0 + now.abs()) {
            break;
        }
        last = now;
    }
    Ok(())
}

/// The variance of a column, or an error if it is not positive and finite.
fn positive(variance: f64, column: usize) -> Result<f64> {
    if variance > 0.0 && variance.is_finite() {
        return Ok(variance);
    }
    Err(Error::numeric(format!(
        "the variance of column {} is not positive",
        column + 1
    )))
}
