//! Whether a mixture read from a file can be asked without surprises: every
//! shape fits every other, every parameter is in its range.

use super::Mixture;
use crate::family::{Covariance, Distribution, LeafFamily};
use crate::{Error, Result};

impl Mixture {
    /// Looks for contradictions.
    ///
    /// # Errors
    /// If there is one.
    pub fn check(&self) -> Result<()> {
        let wrong = |what: String| {
            Err(Error::data(format!(
                "the model file contradicts itself: {what}"
            )))
        };
        let (k, columns) = (self.components(), self.schema.fields.len());
        if k == 0 {
            return wrong("there is no component".into());
        }
        if self
            .parameters
            .weights
            .iter()
            .any(|w| !(0.0..=1.0).contains(w))
        {
            return wrong("a weight is no probability".into());
        }
        if self.leaves.len() != self.parameters.leaves.len()
            || self.leaves.len() != self.statistics.leaves.len()
            || self.statistics.weights.len() != k
        {
            return wrong("leaves and parameters differ in number".into());
        }
        if self
            .target
            .is_some_and(|t| t >= columns || self.schema.fields[t].levels.len() != k)
        {
            return wrong("the target's levels are not the components".into());
        }
        for ((leaf, own), statistics) in self
            .leaves
            .iter()
            .zip(&self.parameters.leaves)
            .zip(&self.statistics.leaves)
        {
            if own.len() != k || statistics.len() != k {
                return wrong(format!(
                    "a leaf has {} distributions for {k} components",
                    own.len()
                ));
            }
            if leaf.columns.is_empty() || leaf.columns.iter().any(|c| *c >= columns) {
                return wrong("a leaf is over a column that is not there".into());
            }
            let coded = self.schema.fields[leaf.columns[0]].kind.is_coded();
            let levels = self.schema.fields[leaf.columns[0]].levels.len();
            for distribution in own {
                let fits = match (&leaf.family, distribution) {
                    (LeafFamily::Gaussian { .. }, Distribution::Gaussian(g)) => {
                        !coded && g.mean.is_finite() && g.variance > 0.0 && g.variance.is_finite()
                    }
                    (LeafFamily::Multivariate { shape, .. }, Distribution::Multivariate(g)) => {
                        let d = leaf.columns.len();
                        let sized = match &g.covariance {
                            Covariance::Full(matrix) => matrix.len() == d * d,
                            Covariance::Diagonal(variances) => variances.len() == d,
                            Covariance::Spherical(_) => true,
                        };
                        let numbers = leaf
                            .columns
                            .iter()
                            .all(|c| !self.schema.fields[*c].kind.is_coded());
                        numbers && sized && shape.columns == d && g.mean.len() == d
                    }
                    (LeafFamily::Categorical { .. }, Distribution::Categorical(c)) => {
                        coded
                            && c.probabilities.len() == levels.max(1)
                            && c.probabilities.iter().all(|p| (0.0..=1.0).contains(p))
                    }
                    (LeafFamily::Bernoulli { .. }, Distribution::Bernoulli(b)) => {
                        coded && levels <= 2 && (0.0..=1.0).contains(&b.probability)
                    }
                    (LeafFamily::Poisson { .. }, Distribution::Poisson(p)) => {
                        !coded && p.rate >= 0.0
                    }
                    (LeafFamily::Exponential { .. }, Distribution::Exponential(e)) => {
                        !coded && e.rate > 0.0
                    }
                    _ => false,
                };
                if !fits {
                    return wrong(format!(
                        "the {} of column \"{}\" is not one",
                        leaf.family.name(),
                        self.schema.fields[leaf.columns[0]].name
                    ));
                }
            }
        }
        Ok(())
    }
}
