//! The memory that matrices over many columns need, and their size in the model file, estimated
//! before a fit. A fit that needs too much memory is refused; a large one causes a warning that
//! names smaller alternatives.

use crate::data::Schema;
use crate::family::LeafFamily;
use crate::leaf::Leaf;
use crate::model::mixture::MixtureStatistics;
use crate::{Error, Result};

/// The most bytes that a fit may need for matrices.
const MAX_BYTES: f64 = 16e9;

/// The sizes in bytes of the covariances of all components, and of their part of the model file,
/// above which a fit causes a warning.
const LARGE_MATRICES: f64 = 100e6;
const LARGE_FILE: f64 = 200e6;

/// The number of matrices that exist at the same time during a fit: for each component, and in
/// addition to those. Measured for fits in one pass and for EM, and rounded up.
const COPIES_IN_ONE_PASS: (f64, f64) = (5.0, 3.0);
const COPIES_IN_EM: (f64, f64) = (12.0, 6.0);

/// The estimated size of the covariances of the leaf with the most columns.
pub(crate) struct Size {
    columns: usize,
    components: usize,
}

impl Size {
    /// The size of the largest matrices; `None` if no columns are correlated.
    pub fn of(leaves: &[Leaf], components: usize) -> Option<Size> {
        let structure = |family: &LeafFamily| match family {
            LeafFamily::Multivariate { shape, .. } => Some(shape.structure),
            LeafFamily::MultivariateStudentT { shape, .. } => Some(shape.structure),
            _ => None,
        };
        let correlated = |leaf: &&Leaf| {
            structure(&leaf.family).is_some_and(|structure| structure.is_correlated())
        };
        let columns = leaves
            .iter()
            .filter(correlated)
            .map(|leaf| leaf.columns.len());
        let columns = columns.max()?;
        Some(Size {
            columns,
            components,
        })
    }

    /// The bytes of the covariance of one component.
    fn matrix(&self) -> f64 {
        8.0 * (self.columns as f64).powi(2)
    }

    /// The bytes of the covariances of all components.
    fn matrices(&self) -> f64 {
        self.components as f64 * self.matrix()
    }

    /// The bytes that the fit needs for matrices.
    fn memory(&self, in_one_pass: bool) -> f64 {
        let (of_each, besides) = if in_one_pass {
            COPIES_IN_ONE_PASS
        } else {
            COPIES_IN_EM
        };
        of_each * self.matrices() + besides * self.matrix()
    }

    /// The bytes of the model file: half of each scatter in base64, and half of each covariance
    /// unless it follows from the scatter, as it does after a fit in one pass.
    fn file(&self, in_one_pass: bool) -> f64 {
        let halves = if in_one_pass { 1.0 } else { 2.0 };
        halves * 0.5 * self.matrices() * 4.0 / 3.0
    }

    fn subject(&self) -> String {
        match self.components {
            1 => format!("a covariance of {} columns", self.columns),
            k => format!("{k} covariances of {} columns", self.columns),
        }
    }

    /// Refuses a fit that needs too much memory.
    ///
    /// # Errors
    /// If the matrices need more than the maximum.
    pub fn check(&self, in_one_pass: bool) -> Result<()> {
        if self.memory(in_one_pass) <= MAX_BYTES {
            return Ok(());
        }
        let message = format!(
            "{} would need about {} of memory, and a fit may use {}",
            self.subject(),
            bytes(self.memory(in_one_pass)),
            bytes(MAX_BYTES)
        );
        Err(Error::parameter(message).with_hint(
            "pass `covariance=diagonal`, or leave out columns with `drop`; naive-bayes needs no \
             covariances",
        ))
    }

    /// A warning if the matrices are large. `statistics` are those of the fit.
    pub fn warning(
        &self,
        statistics: &MixtureStatistics,
        target: Option<usize>,
        schema: &Schema,
        in_one_pass: bool,
    ) -> Option<String> {
        let file = self.file(in_one_pass);
        if self.matrices() <= LARGE_MATRICES && file <= LARGE_FILE {
            return None;
        }
        let mut text = format!(
            "{} {} {} for each copy in memory, about {} during a fit, and about {} in a model file",
            self.subject(),
            if self.components == 1 {
                "takes"
            } else {
                "take"
            },
            bytes(self.matrices()),
            bytes(self.memory(in_one_pass)),
            bytes(file)
        );
        let few = |weight: &f64| *weight <= self.columns as f64;
        if let Some(j) = statistics.weights.iter().position(few) {
            let component = match target {
                Some(target) => format!("class \"{}\"", schema.fields[target].levels[j]),
                None => format!("component {}", j + 1),
            };
            text += &format!(
                "; {component} has no more rows than columns: `covariance=diagonal`, or \
                 covariances shrunk by `prior=mclust`, may predict better as well"
            );
        } else {
            text += "; `covariance=diagonal` needs far less memory and disk space";
        }
        Some(text)
    }
}

/// A number of bytes as text, in MB or GB.
fn bytes(number: f64) -> String {
    if number < 0.95e9 {
        format!("{:.0} MB", number / 1e6)
    } else {
        format!("{:.1} GB", number / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Field, Kind};
    use crate::model::mixture::{CovarianceKind, Specification};

    fn size(columns: usize, components: usize, covariance: CovarianceKind) -> Option<Size> {
        let fields = (0..columns).map(|c| Field::new(format!("x{c}"), Kind::Real));
        let schema = Schema::new(fields.collect());
        let specification = Specification::mixture(components, covariance);
        Size::of(&specification.leaves(&schema).unwrap(), components)
    }

    #[test]
    fn only_correlated_columns_have_a_size_and_only_large_ones_a_warning() {
        assert!(size(5000, 2, CovarianceKind::Diagonal).is_none());
        assert!(size(5000, 2, CovarianceKind::Spherical).is_none());
        let schema = Schema::new(Vec::new());
        let statistics = |weight: f64| MixtureStatistics {
            weights: vec![weight; 2],
            ..MixtureStatistics::zero(&[], 2)
        };
        let warning = |columns: usize, weight: f64| {
            let size = size(columns, 2, CovarianceKind::Full).unwrap();
            size.warning(&statistics(weight), None, &schema, true)
        };
        assert_eq!(warning(500, 10.0), None);
        let few = warning(3000, 10.0).unwrap();
        assert!(few.contains("144 MB") && few.contains("96 MB"), "{few}");
        assert!(few.contains("component 1 has no more rows") && few.contains("prior=mclust"));
        assert!(!warning(3000, 5000.0).unwrap().contains("prior=mclust"));
    }

    #[test]
    fn a_fit_that_needs_too_much_memory_is_refused_with_what_to_do() {
        assert!(
            size(3000, 5, CovarianceKind::Full)
                .unwrap()
                .check(true)
                .is_ok()
        );
        let error = size(20_000, 3, CovarianceKind::Tied).unwrap().check(true);
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("16.0 GB") && error.contains("covariance=diagonal"),
            "{error}"
        );
    }
}
