//! The two ends of a uniform distribution, with a bilateral Pareto prior: n rows move low
//! and high out to the smallest and largest of them, and s to s + n.

use super::{Conjugate, Prior, numbers, observe_reals, proper, unknown_prior, without_numbers};
use crate::family::{BilateralPareto, PointStats, Stats, Uniform, UniformPredictive};
use crate::{Error, Result};

/// The ends of rows of which none was seen.
const NOWHERE: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);

/// Both ends of a uniform distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UniformEnds;

impl Conjugate for UniformEnds {
    type Row = Uniform;
    type Prior = BilateralPareto;
    type Stats = PointStats;
    type Predictive = UniformPredictive;

    fn parameters(&self) -> Vec<String> {
        vec!["low".into(), "high".into()]
    }

    fn zero(&self) -> PointStats {
        PointStats::default()
    }

    fn observe(&self, cells: &[f64], weights: &[f64], stats: &mut PointStats) {
        observe_reals::<Uniform>(cells, weights, stats);
    }

    fn row(&self, ends: &[f64]) -> Option<Uniform> {
        let (low, high) = (ends[0], ends[1]);
        Some(Uniform { low, high })
    }

    fn posterior(&self, prior: &BilateralPareto, stats: &PointStats) -> Result<BilateralPareto> {
        let (low, high) = stats.ends().unwrap_or(NOWHERE);
        proper(BilateralPareto {
            low: prior.low.min(low),
            high: prior.high.max(high),
            shape: prior.shape + stats.weight(),
        })
    }

    fn predictive(&self, belief: &BilateralPareto) -> Result<UniformPredictive> {
        let BilateralPareto { low, high, shape } = proper(belief.clone())?;
        Ok(UniformPredictive { low, high, shape })
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<BilateralPareto> {
        let improper = |shape: f64| {
            let (low, high) = NOWHERE;
            without_numbers(name, given, BilateralPareto { low, high, shape })
        };
        match name {
            BilateralPareto::NAME => {
                let [low, high, shape] = numbers(name, given)?;
                let belief = BilateralPareto { low, high, shape };
                let needs = "a bilateral Pareto prior needs a smaller and a larger number and a \
                             positive shape";
                let proper = belief.is_proper();
                proper
                    .then_some(belief)
                    .ok_or_else(|| Error::parameter(needs))
            }
            // Under 1/(h − l) the next row lies between the extremes of n with
            // probability (n − 1)/(n + 1), as it should.
            "reference" => improper(-1.0),
            "jeffreys" => improper(0.0),
            "uniform" | "flat" => improper(-2.0),
            _ => Err(unknown_prior(
                name,
                "bilateral-pareto(low,high,shape), reference, jeffreys and uniform",
            )),
        }
    }
}
