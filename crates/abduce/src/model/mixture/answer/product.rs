//! The distribution of some columns of a mixture given values of others: a mixture over its
//! components, in which columns of different leaves are independent.

use super::joint::marginal;
use crate::ask::{Joint, Marginal, ProductMixture, impossible, repeated};
use crate::family::{Covariance, Distribution};
use crate::model::mixture::FittedMixture;
use crate::{Error, Result};

impl FittedMixture {
    /// The joint distribution of columns given others as a mixture of products; `None` if two of
    /// the columns depend on each other within a component.
    pub(super) fn conditional_product(
        &self,
        given: &[Option<f64>],
        columns: &[usize],
    ) -> Result<Option<ProductMixture>> {
        let mut hidden = given.to_vec();
        columns.iter().for_each(|column| hidden[*column] = None);
        if self.are_dependent(columns) {
            return Ok(None);
        }
        let evidence = repeated(&self.schema, &hidden, 1);
        if self.log_density(&evidence)?[0] == f64::NEG_INFINITY {
            return Err(impossible());
        }
        let posterior = self.responsibilities(&evidence, self.target)?;
        let mut log_weights = (self.log_joint()?)(&evidence)?;
        if let Some(label) = self.target.and_then(|target| hidden[target]) {
            let others = log_weights.iter_mut().enumerate();
            let others = others.filter(|(component, _)| *component != label as usize);
            others.for_each(|(_, weight)| *weight = f64::NEG_INFINITY);
        }
        let marginals = columns
            .iter()
            .map(|column| self.marginals(&hidden, *column));
        Ok(Some(ProductMixture {
            weights: posterior.row(0).to_vec(),
            log_weights,
            columns: marginals.collect::<Result<_>>()?,
            are_components: true,
        }))
    }

    /// Whether two of the columns depend on each other within a component.
    fn are_dependent(&self, columns: &[usize]) -> bool {
        let mut leaves = self.leaves.iter().zip(&self.answering_parameters().leaves);
        leaves.any(|(leaf, distributions)| {
            let of_leaf = columns
                .iter()
                .filter(|column| leaf.columns.contains(column));
            of_leaf.count() > 1 && !distributions.iter().all(has_independent_columns)
        })
    }

    /// The distribution of a column in each component.
    fn marginals(&self, given: &[Option<f64>], column: usize) -> Result<Vec<Marginal>> {
        if self.target == Some(column) {
            let labels = 0..self.components();
            return Ok(labels.map(|label| Marginal::Value(label as f64)).collect());
        }
        let mut leaves = self.leaves.iter().zip(&self.answering_parameters().leaves);
        let found = leaves.find(|(leaf, _)| leaf.columns.contains(&column));
        let (leaf, distributions) = found.ok_or_else(|| {
            let name = &self.schema.fields[column].name;
            Error::parameter("the model has no distribution of this column").at_column(name)
        })?;
        let of_component = |distribution: &Distribution| match (
            leaf.fixed,
            distribution,
            distribution.probabilities(),
        ) {
            (true, Distribution::Gaussian(constant), _) => Marginal::Value(constant.mean),
            (_, _, Some(levels)) => Marginal::Levels(levels),
            _ => Marginal::Numbers(marginal(leaf, distribution, given, column)),
        };
        Ok(distributions.iter().map(of_component).collect())
    }
}

/// Whether the columns of a distribution are independent.
fn has_independent_columns(distribution: &Distribution) -> bool {
    match distribution {
        Distribution::UniformBox(_) => true,
        Distribution::Multivariate(gaussian) => match &gaussian.covariance {
            Covariance::Full(matrix) => {
                let order = gaussian.mean.len();
                let entries = matrix.iter().enumerate();
                let off_diagonal = entries.filter(|(place, _)| place / order != place % order);
                off_diagonal.into_iter().all(|(_, entry)| *entry == 0.0)
            }
            _ => true,
        },
        _ => false,
    }
}
