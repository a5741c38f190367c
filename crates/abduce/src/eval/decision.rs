//! What to say of a row when mistakes do not cost alike: the class b of least
//! expected cost, Σ_a p_a c(a, b), with c(a, b) the cost of saying b where a is true.

use crate::{Error, Result};

/// What it costs to say one class where another is true.
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
    /// By true class and class said.
    costs: Vec<f64>,
}

impl Costs {
    /// Every mistake costs 1: the most probable class is the best.
    pub fn zero_one(classes: usize) -> Costs {
        let cost = |place: usize| f64::from(u8::from(place / classes != place % classes));
        Costs {
            classes,
            costs: (0..classes * classes).map(cost).collect(),
        }
    }

    /// Says what it costs to say `said` where `truth` is true; a gain is
    /// negative.
    ///
    /// # Errors
    /// If the cost is not finite, or there is no such class.
    pub fn set(&mut self, truth: usize, said: usize, cost: f64) -> Result<()> {
        if truth >= self.classes || said >= self.classes {
            return Err(Error::parameter("there is no such class"));
        }
        if !cost.is_finite() {
            return Err(Error::parameter(format!("{cost} is not a cost")));
        }
        self.costs[truth * self.classes + said] = cost;
        Ok(())
    }

    /// The expected cost of saying a class, given the probabilities of all.
    pub fn expected(&self, probabilities: &[f64], said: usize) -> f64 {
        let costs = self.costs.chunks_exact(self.classes);
        let costs = costs.zip(probabilities).map(|(own, p)| p * own[said]);
        costs.sum()
    }

    /// The class of least expected cost, the first of equals.
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
    fn where_every_mistake_costs_one_the_most_probable_class_is_said() {
        let costs = Costs::zero_one(3);
        for p in [[0.2, 0.5, 0.3], [0.25, 0.25, 0.5], [0.5, 0.5, 0.0]] {
            assert_eq!(costs.best(&p), crate::family::most_probable(&p));
        }
    }

    #[test]
    fn costs_in_another_currency_change_no_decision() {
        let (mut costs, mut dear) = (Costs::zero_one(3), Costs::zero_one(3));
        for (truth, said, cost) in [(0, 1, 4.0), (0, 2, 2.5), (1, 0, 0.5), (2, 2, -1.0)] {
            costs.set(truth, said, cost).unwrap();
        }
        for truth in 0..3 {
            for said in 0..3 {
                let cost = costs.costs[truth * 3 + said];
                dear.set(truth, said, 64.0 * cost).unwrap();
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
