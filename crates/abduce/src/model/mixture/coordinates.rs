//! A mixture's parameters as free numbers: the logarithms of the weights, and of every
//! leaf that has them the coordinates of its distributions. A leaf without any is left
//! where EM puts it.

use super::{Leaf, Parameters};
use crate::family::{logarithms, shares};
use crate::learn::Coordinates;

/// The coordinates; `None` where no leaf has any.
pub(super) fn coordinates(
    leaves: &[Leaf],
    weights_are_learned: bool,
    parameters: &Parameters,
) -> Option<Coordinates> {
    let mut found = Coordinates::default();
    if weights_are_learned {
        found.values = logarithms(&parameters.weights);
        found.importance = parameters.weights.clone();
    }
    let mut any = false;
    for (leaf, own) in leaves.iter().zip(&parameters.leaves) {
        let free = (!leaf.fixed).then(|| leaf.family.coordinates(own));
        for (numbers, weight) in free.flatten().iter().flatten().zip(&parameters.weights) {
            any = true;
            found.values.extend(numbers);
            let counted = found.values.len();
            found.importance.resize(counted, *weight);
        }
    }
    any.then_some(found)
}

/// The parameters at coordinates.
pub(super) fn at_coordinates(
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
        let free = (!leaf.fixed).then(|| leaf.family.coordinates(distributions));
        let Some(free) = free.flatten() else {
            continue;
        };
        for (distribution, numbers) in distributions.iter_mut().zip(free) {
            let (own, later) = rest.split_at_checked(numbers.len())?;
            *distribution = leaf.family.at_coordinates(distribution, own)?;
            rest = later;
        }
    }
    rest.is_empty().then_some(moved)
}
