//! Posterior predictive distributions: the parameters are integrated out instead of set to their
//! estimates. A Gaussian becomes a Student t, a Poisson a negative binomial, and the words of a
//! document a Dirichlet–multinomial. The smoothed probabilities of levels are predictive already.
//! Other families keep their estimates.
//!
//! The prior of a Gaussian is a weak normal-gamma with the mean and the variance of the column,
//! weighing 0.01 and 3 rows (the choice of Fraley & Raftery 2007, but not divided by the number of
//! components).

use crate::family::{
    Conjugate, ConjugateFamily, Distribution, GaussianBoth, LeafFamily, NormalGamma, Poisson,
    Scale, Statistics, Stats as _, Words,
};
use crate::leaf::{Leaf, TableSummary};
use crate::model::mixture::{FittedMixture, Parameters};

/// The weights of the prior mean and of the prior variance, in rows.
const MEAN_ROWS: f64 = 0.01;
const VARIANCE_ROWS: f64 = 3.0;

impl FittedMixture {
    /// The parameters for answers: the estimates, or posterior predictive distributions.
    pub(crate) fn answering_parameters(&self) -> &Parameters {
        if !self.predictive {
            return &self.parameters;
        }
        self.predictive_parameters
            .get_or_init(|| Box::new(self.predictive_distributions()))
    }

    /// The parameters with posterior predictive distributions in place of estimates.
    fn predictive_distributions(&self) -> Parameters {
        let mut parameters = self.parameters.clone();
        for (number, leaf) in self.leaves.iter().enumerate() {
            if leaf.fixed {
                continue;
            }
            let statistics = &self.statistics.leaves[number];
            for (j, distribution) in parameters.leaves[number].iter_mut().enumerate() {
                let predictive = self.predictive_distribution(leaf, statistics, j, distribution);
                if let Some(predictive) = predictive {
                    *distribution = predictive;
                }
            }
        }
        parameters
    }

    /// The mean and the variance of the column of a Gaussian. Model files of early versions do not
    /// have the moments of all rows; there, those of the components are merged.
    fn column_scale(&self, leaf: &Leaf, all: &[Statistics]) -> Scale {
        if !self.summary.columns.is_empty() {
            return self.summary.scale(leaf.columns[0]);
        }
        let mut summary = TableSummary::empty(1);
        for component in all {
            if let Statistics::Gaussian(stats) = component {
                summary.columns[0].merge(stats);
            }
        }
        summary.scale(0)
    }

    /// The posterior predictive distribution of a component; `None` if its estimate is kept.
    fn predictive_distribution(
        &self,
        leaf: &Leaf,
        all: &[Statistics],
        j: usize,
        estimate: &Distribution,
    ) -> Option<Distribution> {
        match (&leaf.family, &all[j], estimate) {
            (LeafFamily::Gaussian { .. }, Statistics::Gaussian(stats), _) => {
                let scale = self.column_scale(leaf, all);
                let prior = NormalGamma {
                    mean: scale.mean,
                    strength: MEAN_ROWS,
                    shape: 0.5 * VARIANCE_ROWS,
                    rate: 0.5 * scale.variance,
                };
                let posterior = GaussianBoth.posterior(&prior, stats).ok()?;
                GaussianBoth
                    .predictive(&posterior)
                    .ok()
                    .map(Distribution::StudentT)
            }
            (LeafFamily::Poisson { prior, .. }, Statistics::Poisson(stats), _) => {
                let (pair, prior) = Poisson::conjugate(&(), prior)?;
                let posterior = pair.posterior(&prior, stats).ok()?;
                let predictive = pair.predictive(&posterior).ok()?;
                Some(Distribution::NegativeBinomial(predictive))
            }
            (
                LeafFamily::Words { shape, prior, .. },
                Statistics::Words(counted),
                Distribution::Words(words),
            ) if !shape.complement => {
                let count_in_all = |term: usize| {
                    let counts = all.iter().filter_map(|stats| match stats {
                        Statistics::Words(stats) => Some(stats.counts[term]),
                        _ => None,
                    });
                    counts.sum::<f64>()
                };
                let known =
                    (0..shape.terms).filter(|term| shape.columns || count_in_all(*term) > 0.0);
                let sums = known.map(|term| counted.counts[term] + prior.of(term));
                Some(Distribution::Words(Words {
                    concentration: Some(sums.sum()).filter(|sum| *sum > 0.0),
                    ..words.clone()
                }))
            }
            _ => None,
        }
    }
}
