//! Nonparametric densities of weighted points: kernel density estimates, histograms
//! and k-nearest-neighbour densities.
//!
//! ```
//! use abduce::density::{Kernel, KernelDensity, Points, Selection};
//! let points = Points::from_columns(&[vec![1.0, 1.5, 2.0, 7.0, 7.5]], None)?;
//! let density = KernelDensity::fit(points, Kernel::Gaussian, &Selection::default())?;
//! let at = density.log_densities(&[&[1.5], &[4.5]])?;
//! assert!(at[0] > at[1]);
//! # Ok::<(), abduce::Error>(())
//! ```

mod bandwidth;
mod conditional;
mod cross_validation;
mod edges;
mod expansion;
mod grid;
mod histogram;
mod kernel;
mod kernel_density;
mod nearest;
mod points;
mod search;
mod sheather_jones;
mod sum;
mod tree;

pub use bandwidth::{Bandwidth, BandwidthShape, Rule, Selection};
pub use conditional::ConditionalDensity;
pub use edges::{Bins, Edges};
pub use grid::{Axis, Grid};
pub use histogram::{Cell, Histogram};
pub use kernel::Kernel;
pub use kernel_density::KernelDensity;
pub use nearest::NearestNeighbours;
pub use points::Points;
pub use sum::Tolerance;
