//! The parameters of a mixture as unconstrained coordinates: the logarithms of the weights, and
//! the coordinates of each leaf's distributions. Leaves whose family has no coordinates stay
//! where EM puts them.

use crate::family::{Distribution, logarithms, shares};
use crate::leaf::Leaf;
use crate::learn::Coordinates;
use crate::model::mixture::Parameters;

/// The unconstrained coordinates of parameters; `None` if no leaf has any.
pub(crate) fn coordinates(
    leaves: &[Leaf],
    weights_are_learned: bool,
    parameters: &Parameters,
) -> Option<Coordinates> {
    let mut found = Coordinates::default();
    if weights_are_learned {
        found.values = logarithms(&parameters.weights);
        found.importance = parameters.weights.clone();
        found.pace = vec![0; parameters.weights.len()];
    }
    let (mut any, mut paces) = (false, 0);
    for (leaf, distributions) in leaves.iter().zip(&parameters.leaves) {
        for (j, numbers) in learned_coordinates(leaf, distributions) {
            any = true;
            found.values.extend(numbers);
            let count = found.values.len();
            found.importance.resize(count, parameters.weights[j]);
            let apart = leaf.family.paced_apart();
            found.pace.resize(count - apart, 0);
            found.pace.extend((0..apart).map(|i| paces + i + 1));
            paces += apart;
        }
    }
    any.then_some(found)
}

/// The parameters at unconstrained coordinates; what has no coordinates is as in `near`. `None` if
/// a parameter would be out of range.
pub(crate) fn at_coordinates(
    leaves: &[Leaf],
    weights_are_learned: bool,
    near: &Parameters,
    values: &[f64],
) -> Option<Parameters> {
    let mut parameters = near.clone();
    let mut rest = values;
    if weights_are_learned {
        let (weights, later) = rest.split_at_checked(near.weights.len())?;
        parameters.weights = shares(&near.weights, weights)?;
        rest = later;
    }
    for (leaf, distributions) in leaves.iter().zip(&mut parameters.leaves) {
        for (j, numbers) in learned_coordinates(leaf, distributions) {
            let (values, later) = rest.split_at_checked(numbers.len())?;
            distributions[j] = leaf.family.at_coordinates(&distributions[j], values)?;
            rest = later;
        }
    }
    rest.is_empty().then_some(parameters)
}

/// The learned components of a leaf with their coordinates; empty if the family has none.
fn learned_coordinates(leaf: &Leaf, distributions: &[Distribution]) -> Vec<(usize, Vec<f64>)> {
    if leaf.fixed {
        return Vec::new();
    }
    let learned = leaf.learned(distributions.len());
    let distributions = learned.iter().map(|j| distributions[*j].clone());
    let distributions: Vec<Distribution> = distributions.collect();
    let coordinates = leaf.family.coordinates(&distributions).unwrap_or_default();
    learned.into_iter().zip(coordinates).collect()
}
