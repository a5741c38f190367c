//! Densities of a table: one for all rows or, with a target, one for each class,
//!
//!   p(x, z) = π_z f_z(x),
//!
//! with f a kernel density, a histogram or a k-nearest-neighbour density of the
//! numbers. A row with a missing value cannot be a point of a density: its label counts for π,
//! its cells for nothing. It can be asked about.

mod check;
mod diagnose;
mod fill;
mod fit;
mod fitted;
mod joint;
mod specification;

pub use diagnose::took_another_rule;
pub use fit::{Fit, fit, fit_unscored};
pub use fitted::{Details, HistogramDensity, Kde, Knn, Recipe};
pub use specification::{Estimator, Specification};

use crate::Result;
use crate::data::Schema;
use crate::density::{ConditionalDensity, Histogram, KernelDensity, NearestNeighbours, Tolerance};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// A density of any kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "estimator", rename_all = "lowercase")]
pub enum Density {
    /// A kernel density.
    Kde(KernelDensity),
    /// A histogram.
    Histogram(Histogram),
    /// A k-nearest-neighbour density.
    Knn(NearestNeighbours),
}

/// Densities fitted to a table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DensityModel {
    /// The columns of the table.
    pub schema: Schema,
    /// The column that holds the label, if there is one: its levels are the
    /// classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<usize>,
    /// The columns that the densities are over.
    pub columns: Vec<usize>,
    /// Columns that were constant in the fitted rows, and their values. They have no part
    /// in densities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constants: Vec<(usize, f64)>,
    /// The share of each class; a single 1 without a target.
    pub weights: Vec<f64>,
    /// The density of each class; none where a class had no rows.
    pub densities: Vec<Option<Density>>,
    #[serde(skip)]
    patterns: Patterns,
}

/// Kernel densities prepared for the patterns of hidden cells met so far. They
/// follow from the densities, so a copy starts anew.
#[derive(Debug, Default)]
struct Patterns(Mutex<HashMap<Pattern, Arc<ConditionalDensity>>>);

/// A class and the columns seen.
type Pattern = (usize, Vec<usize>);

impl Clone for Patterns {
    fn clone(&self) -> Self {
        Patterns::default()
    }
}

impl Patterns {
    /// The density of a class for exactly these columns seen.
    fn of(
        &self,
        class: usize,
        density: &KernelDensity,
        seen: &[usize],
    ) -> Result<Arc<ConditionalDensity>> {
        // Where every row has a pattern of its own, none is worth keeping.
        const MOST: usize = 64;
        let key = (class, seen.to_vec());
        let there = |patterns: &Self| Some(patterns.0.lock().ok()?.get(&key)?.clone());
        if let Some(prepared) = there(self) {
            return Ok(prepared);
        }
        let prepared = Arc::new(density.given(seen)?);
        if let Ok(mut patterns) = self.0.lock() {
            if patterns.len() >= MOST {
                patterns.clear();
            }
            patterns.insert(key, prepared.clone());
        }
        Ok(prepared)
    }
}

impl DensityModel {
    /// The same densities, whose sums over kernels may be off by a tolerance.
    pub fn with_tolerance(self, tolerance: Tolerance) -> DensityModel {
        let of_one = |density: Density| match density {
            Density::Kde(own) => Density::Kde(own.with_tolerance(tolerance)),
            other => other,
        };
        let densities = self.densities.into_iter();
        DensityModel {
            densities: densities.map(|own| own.map(of_one)).collect(),
            patterns: Patterns::default(),
            ..self
        }
    }

    /// The names of the classes; without a target, all rows are one.
    pub fn names(&self) -> Vec<String> {
        match self.target {
            Some(target) => self.schema.fields[target].levels.clone(),
            None => vec!["1".into()],
        }
    }
}
