//! The means and covariances of the components of a mixture in some columns.

use crate::ask::Moments;
use crate::family::Distribution;
use crate::model::mixture::FittedMixture;

impl FittedMixture {
    pub(super) fn component_moments(&self, columns: &[usize]) -> Vec<Moments> {
        let components = 0..self.components();
        components
            .map(|j| self.moments_of_component(j, columns))
            .collect()
    }

    fn moments_of_component(&self, component: usize, columns: &[usize]) -> Moments {
        let count = columns.len();
        let mut moments = Moments {
            mean: vec![None; count],
            covariance: vec![0.0; count * count],
        };
        for (leaf, distributions) in self.leaves.iter().zip(&self.parameters.leaves) {
            let Some(distribution) = distributions.get(component) else {
                continue;
            };
            // The positions of each column in the leaf and among `columns`.
            let place = |column: &usize| {
                columns
                    .iter()
                    .position(|answering_parameters| answering_parameters == column)
            };
            let places = leaf.columns.iter().map(place).enumerate();
            let places: Vec<(usize, usize)> =
                places.filter_map(|(i, place)| Some((i, place?))).collect();
            // For a Student t, these are the location and the scale matrix, which describe the
            // rows without outliers.
            let gaussian = match distribution {
                Distribution::Gaussian(gaussian) => {
                    for (_, x) in &places {
                        moments.mean[*x] = Some(gaussian.mean);
                        moments.covariance[x * count + x] = gaussian.variance;
                    }
                    continue;
                }
                Distribution::Multivariate(gaussian) => gaussian,
                Distribution::MultivariateStudentT(t) => &t.gaussian,
                _ => continue,
            };
            for (i, x) in &places {
                moments.mean[*x] = Some(gaussian.mean[*i]);
                for (j, y) in &places {
                    moments.covariance[y * count + x] = gaussian.covariance(*i, *j);
                }
            }
        }
        moments
    }
}
