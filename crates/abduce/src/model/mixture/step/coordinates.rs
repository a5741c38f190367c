//! A mixture's parameters as free numbers: the logarithms of the weights, and of every
//! leaf that has them the coordinates of its distributions. A leaf without any is left
//! where EM puts it.

use crate::family::{Distribution, logarithms, shares};
use crate::leaf::Leaf;
use crate::learn::Coordinates;
use crate::model::mixture::Parameters;

/// The coordinates; `None` where no leaf has any.
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
    for (leaf, own) in leaves.iter().zip(&parameters.leaves) {
        for (j, numbers) in free(leaf, own) {
            any = true;
            found.values.extend(numbers);
            let counted = found.values.len();
            found.importance.resize(counted, parameters.weights[j]);
            let apart = leaf.family.paced_apart();
            found.pace.resize(counted - apart, 0);
            found.pace.extend((0..apart).map(|own| paces + own + 1));
            paces += apart;
        }
    }
    any.then_some(found)
}

/// The parameters at coordinates.
pub(crate) fn at_coordinates(
    leaves: &[Leaf],
    weights_are_learned: bool,
    near: &Parameters,
    values: &[f64],
) -> Option<Parameters> {
    let mut moved = near.clone();
    let mut rest = values;
    if weights_are_learned {
        let (own, later) = rest.split_at_checked(near.weights.len())?;
        moved.weights = shares(&near.weights, own)?;
        rest = later;
    }
    for (leaf, distributions) in leaves.iter().zip(&mut moved.leaves) {
        for (j, numbers) in free(leaf, distributions) {
            let (own, later) = rest.split_at_checked(numbers.len())?;
            distributions[j] = leaf.family.at_coordinates(&distributions[j], own)?;
            rest = later;
        }
    }
    rest.is_empty().then_some(moved)
}

/// The components of a leaf that are learned, with their coordinates; none where its
/// family has none.
fn free(leaf: &Leaf, own: &[Distribution]) -> Vec<(usize, Vec<f64>)> {
    let learned = match leaf.fixed {
        true => Vec::new(),
        false => leaf.learned(own.len()),
    };
    let these: Vec<Distribution> = learned.iter().map(|j| own[*j].clone()).collect();
    let numbers = leaf.family.coordinates(&these).unwrap_or_default();
    learned.into_iter().zip(numbers).collect()
}
