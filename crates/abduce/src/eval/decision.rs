//! Decisions with unequal costs of mistakes: the class b of least expected cost
//! Σ_a p_a c(a, b), with c(a, b) the cost of deciding b if a is true.

use crate::{Error, Result};

/// The cost of deciding one class if another is true.
///
/// ```
/// use abduce::eval::Costs;
/// let mut costs = Costs::zero_one(2);
/// assert_eq!(costs.best(&[0.3, 0.7]), 1);
/// costs.set(0, 1, 5.0)?;
/// assert_eq!(costs.best(&[0.3, 0.7]), 0);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    classes: usize,
    /// By true class and decision.
    costs: Vec<f64>,
}

impl Costs {
    /// Every mistake costs 1, so that the most probable class is the best.
    pub fn zero_one(classes: usize) -> Costs {
        let cost = |place: usize| f64::from(u8::from(place / classes != place % classes));
        Costs {
            classes,
            costs: (0..classes * classes).map(cost).collect(),
        }
    }

    /// Sets the cost of `decision` if `truth` is true; a gain is a negative cost.
    ///
    /// # Errors
    /// If the cost is not finite, or there is no such class.
    pub fn set(&mut self, truth: usize, decision: usize, cost: f64) -> Result<()> {
        if truth >= self.classes || decision >= self.classes {
            return Err(Error::parameter("there is no such class"));
        }
        if !cost.is_finite() {
            return Err(Error::parameter(format!("{cost} is not a cost")));
        }
        self.costs[truth * self.classes + decision] = cost;
        Ok(())
    }

    /// The expected cost of a decision, given the probabilities of all classes.
    pub fn expected(&self, probabilities: &[f64], decision: usize) -> f64 {
        let costs = self.costs.chunks_exact(self.classes);
        let expected = costs.zip(probabilities).map(|(row, p)| p * row[decision]);
        expected.sum()
    }

    /// The class of least expected cost, the first of ties.
    pub fn best(&self, probabilities: &[f64]) -> usize {
        let mut best = (0, f64::INFINITY);
        for class in 0..self.classes {
            let cost = self.expected(probabilities, class);
            if cost < best.1 {
                best = (class, cost);
            }
        }
        best.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_equal_costs_the_most_probable_class_is_best() {
        let costs = Costs::zero_one(3);
        for p in [[0.2, 0.5, 0.3], [0.25, 0.25, 0.5], [0.5, 0.5, 0.0]] {
            assert_eq!(costs.best(&p), crate::family::most_probable(&p));
        }
    }

    #[test]
    fn scaling_all_costs_changes_no_decision() {
        let (mut costs, mut dear) = (Costs::zero_one(3), Costs::zero_one(3));
        for (truth, decision, cost) in [(0, 1, 4.0), (0, 2, 2.5), (1, 0, 0.5), (2, 2, -1.0)] {
            costs.set(truth, decision, cost).unwrap();
        }
        for truth in 0..3 {
            for decision in 0..3 {
                let cost = costs.costs[truth * 3 + decision];
                dear.set(truth, decision, 64.0 * cost).unwrap();
            }
        }
        for i in 0..50 {
            let (a, b) = (f64::from(i % 8) / 16.0, f64::from(i % 7) / 16.0);
            let p = [a, b, 1.0 - a - b];
            assert_eq!(costs.best(&p), dear.best(&p));
        }
        assert!(costs.set(0, 1, f64::NAN).is_err() && costs.set(3, 0, 1.0).is_err());
    }
}
