//! The fully Bayesian answer: what the next row is given all that was seen, with
//! the parameters integrated out instead of set to their estimates. A Gaussian
//! becomes a Student t, a Poisson a negative binomial, the words of a document a
//! Dirichlet–multinomial; levels already have their predictive probabilities, which
//! smoothing is. Other families keep their estimates.
//!
//! The prior of a Gaussian is a weak normal-gamma about all rows of the column: 0.01
//! rows at their mean, and 3 for their variance (as Fraley & Raftery 2007 choose them, but
//! not divided by the number of components).

use crate::family::{
    Conjugate, ConjugateFamily, Distribution, GaussianBoth, LeafFamily, NormalGamma, Poisson,
    Scale, Statistics, Stats as _, Words,
};
use crate::leaf::{Leaf, Seen};
use crate::model::mixture::{FittedMixture, Parameters};

/// How many rows the prior of a mean is worth, and that of a variance.
const MEAN_ROWS: f64 = 0.01;
const VARIANCE_ROWS: f64 = 3.0;

impl FittedMixture {
    /// The parameters that questions are answered with: the estimates, or the
    /// distributions of the next row.
    pub(crate) fn asked(&self) -> &Parameters {
        match self.predictive {
            true => self.averaged.get_or_init(|| Box::new(self.average())),
            false => &self.parameters,
        }
    }

    fn average(&self) -> Parameters {
        let mut parameters = self.parameters.clone();
        for (number, leaf) in self.leaves.iter().enumerate() {
            if leaf.fixed {
                continue;
            }
            let own = &self.statistics.leaves[number];
            for (j, distribution) in parameters.leaves[number].iter_mut().enumerate() {
                if let Some(next) = self.next(leaf, own, j, distribution) {
                    *distribution = next;
                }
            }
        }
        parameters
    }

    /// Where the column of a Gaussian lies: as recorded of all rows or, in files of early
    /// versions, which have no such record, by the components together.
    fn column_scale(&self, leaf: &Leaf, all: &[Statistics]) -> Scale {
        if !self.seen.columns.is_empty() {
            return self.seen.scale(leaf.columns[0]);
        }
        let mut seen = Seen::nothing(1);
        for own in all {
            if let Statistics::Gaussian(own) = own {
                seen.columns[0].merge(own);
            }
        }
        seen.scale(0)
    }

    /// What a leaf says of the next row of a component.
    fn next(
        &self,
        leaf: &Leaf,
        all: &[Statistics],
        j: usize,
        estimate: &Distribution,
    ) -> Option<Distribution> {
        match (&leaf.family, &all[j], estimate) {
            (LeafFamily::Gaussian { .. }, Statistics::Gaussian(own), _) => {
                let scale = self.column_scale(leaf, all);
                let prior = NormalGamma {
                    mean: scale.mean,
                    strength: MEAN_ROWS,
                    shape: 0.5 * VARIANCE_ROWS,
                    rate: 0.5 * scale.variance,
                };
                let belief = GaussianBoth.posterior(&prior, own).ok()?;
                GaussianBoth
                    .predictive(&belief)
                    .ok()
                    .map(Distribution::StudentT)
            }
            (LeafFamily::Poisson { prior, .. }, Statistics::Poisson(own), _) => {
                let (pair, prior) = Poisson::conjugate(&(), prior)?;
                let belief = pair.posterior(&prior, own).ok()?;
                let next = pair.predictive(&belief).ok()?;
                Some(Distribution::NegativeBinomial(next))
            }
            (
                LeafFamily::Words { shape, prior, .. },
                Statistics::Words(counted),
                Distribution::Words(words),
            ) if !shape.complement => {
                let counts = |term: usize| {
                    let all = all.iter().filter_map(|own| match own {
                        Statistics::Words(own) => Some(own.counts[term]),
                        _ => None,
                    });
                    all.sum::<f64>()
                };
                let known = (0..shape.terms).filter(|term| shape.columns || counts(*term) > 0.0);
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
