//! Parameters as unconstrained numbers, for steps longer than EM's. Positive parameters are
//! written as logarithms; a parameter that is 0 stays 0 and has the coordinate 0.

use crate::family::Family;

/// A family whose parameters can be written as unconstrained numbers; by default it has
/// none.
pub trait Unconstrained: Family {
    /// The parameters as unconstrained numbers without units, relative to `unit`, which is
    /// as wide as the table. `None` where there are no such numbers.
    fn coordinates(&self, _shape: &Self::Shape, _unit: &Self) -> Option<Vec<f64>> {
        None
    }

    /// This distribution moved to other coordinates; parameters without a coordinate, such
    /// as a probability of 0, stay. `None` where it would be out of range.
    fn at_coordinates(
        &self,
        _shape: &Self::Shape,
        _unit: &Self,
        _coordinates: &[f64],
    ) -> Option<Self> {
        None
    }

    /// How many coordinates, the last of each distribution, converge at a rate of their
    /// own under EM and so need a step length of their own.
    fn paced_apart(_shape: &Self::Shape) -> usize {
        0
    }
}

/// The logarithms.
pub(crate) fn logarithms(numbers: &[f64]) -> Vec<f64> {
    let log = |x: &f64| if *x > 0.0 { x.ln() } else { 0.0 };
    numbers.iter().map(log).collect()
}

/// The numbers that have these logarithms, and 0 where the numbers `near` are.
pub(crate) fn exponentials(near: &[f64], logarithms: &[f64]) -> Option<Vec<f64>> {
    let both = near.iter().zip(logarithms);
    let numbers = both.map(|(near, log)| if *near > 0.0 { log.exp() } else { 0.0 });
    let fit = near.len() == logarithms.len() && logarithms.iter().all(|log| log.is_finite());
    fit.then(|| numbers.collect())
}

/// The shares of a whole whose logarithms are these up to a constant, and 0 where the
/// shares `near` are.
pub(crate) fn shares(near: &[f64], logarithms: &[f64]) -> Option<Vec<f64>> {
    let present = near.iter().zip(logarithms).filter(|(near, _)| **near > 0.0);
    let top = present.fold(f64::NEG_INFINITY, |top, (_, log)| top.max(*log));
    let lower: Vec<f64> = logarithms.iter().map(|log| log - top).collect();
    let numbers = exponentials(near, &lower)?;
    let total: f64 = numbers.iter().sum();
    (total > 0.0).then(|| numbers.iter().map(|x| x / total).collect())
}
