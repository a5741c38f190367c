//! The two ends of a uniform distribution, with a bilateral Pareto prior
//! (DeGroot 1970): p(l, h) = s(s + 1) rˢ/(h − l)^(s + 2) for l ≤ low and
//! h ≥ high, where r = high − low. n rows move low and high out to the smallest
//! and largest of them, and s to s + n.

use super::{Conjugate, Prior, numbers, proper, unknown_prior};
use crate::family::{Stats, Uniform, Univariate, never_seen, times};
use crate::{Error, Result};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is believed of the two ends of a uniform distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BilateralPareto {
    /// The lower end lies here or below.
    pub low: f64,
    /// The upper end lies here or above.
    pub high: f64,
    /// The shape s; the larger, the closer the ends lie.
    pub shape: f64,
}

impl BilateralPareto {
    fn reach(&self) -> f64 {
        self.high - self.low
    }
}

impl Prior for BilateralPareto {
    const NAME: &'static str = "bilateral-pareto";

    fn is_proper(&self) -> bool {
        self.shape > 0.0 && self.reach() > 0.0 && self.reach().is_finite()
    }

    fn log_density_of(&self, ends: &[f64]) -> f64 {
        let s = self.shape;
        match ends[0] <= self.low && ends[1] >= self.high {
            true => {
                s.ln() + (s + 1.0).ln() + s * self.reach().ln()
                    - (s + 2.0) * (ends[1] - ends[0]).ln()
            }
            false => f64::NEG_INFINITY,
        }
    }

    fn means(&self) -> Option<Vec<f64>> {
        let mean = |end: &dyn Univariate| end.mean().filter(|mean| mean.is_finite());
        self.marginals()
            .iter()
            .map(|(_, end)| mean(end.as_ref()))
            .collect()
    }

    fn modes(&self) -> Option<Vec<f64>> {
        Some(vec![self.low, self.high])
    }

    fn draw_parameters(&self, rng: &mut dyn Rng) -> Vec<f64> {
        let mut factor = |shape: f64| (1.0 - rng.random::<f64>()).powf(-1.0 / shape);
        let high = self.low + self.reach() * factor(self.shape);
        let low = high - (high - self.low) * factor(self.shape + 1.0);
        vec![low, high]
    }

    fn marginals(&self) -> Vec<(usize, Box<dyn Univariate>)> {
        let end = |origin: f64, reach: f64| ParetoEnd {
            origin,
            reach,
            shape: self.shape,
        };
        vec![
            (0, Box::new(end(self.high, -self.reach()))),
            (1, Box::new(end(self.low, self.reach()))),
        ]
    }
}

/// One end: origin + reach · t, where t ≥ 1 is Pareto distributed.
#[derive(Clone, Debug, PartialEq)]
struct ParetoEnd {
    origin: f64,
    /// Negative for the lower end.
    reach: f64,
    shape: f64,
}

impl ParetoEnd {
    /// P(t > …) at a place.
    fn beyond(&self, x: f64) -> f64 {
        ((x - self.origin) / self.reach).max(1.0).powf(-self.shape)
    }
}

impl Univariate for ParetoEnd {
    fn log_density(&self, x: f64) -> f64 {
        let t = (x - self.origin) / self.reach;
        match t >= 1.0 && t.is_finite() {
            true => self.shape.ln() - self.reach.abs().ln() - (self.shape + 1.0) * t.ln(),
            false => f64::NEG_INFINITY,
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        let beyond = self.beyond(x);
        if self.reach > 0.0 {
            1.0 - beyond
        } else {
            beyond
        }
    }

    fn support(&self) -> (f64, f64) {
        let edge = self.origin + self.reach;
        match self.reach > 0.0 {
            true => (edge, f64::INFINITY),
            false => (f64::NEG_INFINITY, edge),
        }
    }

    fn quantile(&self, p: f64) -> f64 {
        let beyond = if self.reach > 0.0 { 1.0 - p } else { p };
        self.origin + self.reach * beyond.powf(-1.0 / self.shape)
    }

    fn mean(&self) -> Option<f64> {
        Some(match self.shape > 1.0 {
            true => self.origin + self.reach * self.shape / (self.shape - 1.0),
            false => self.reach.signum() * f64::INFINITY,
        })
    }

    fn variance(&self) -> Option<f64> {
        let s = self.shape;
        match s {
            s if s > 2.0 => Some(self.reach * self.reach * s / ((s - 1.0) * (s - 1.0) * (s - 2.0))),
            s if s > 1.0 => Some(f64::INFINITY),
            _ => None,
        }
    }

    fn mode(&self) -> f64 {
        self.origin + self.reach
    }
}

/// What is remembered of rows between unknown ends: every number with its
/// weight, so that an end that is forgotten gives way to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UniformStats {
    weight: f64,
    /// Weights by the places of their numbers in the order of all numbers.
    rows: BTreeMap<i64, f64>,
}

/// The place of a number in the order of all numbers; and the number of a place,
/// as the bits of negative ones are mirrored both ways.
fn place(x: f64) -> i64 {
    // Adding 0 makes one zero of two.
    mirrored((x + 0.0).to_bits() as i64)
}

fn at_place(place: i64) -> f64 {
    f64::from_bits(mirrored(place) as u64)
}

fn mirrored(bits: i64) -> i64 {
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

impl UniformStats {
    /// The smallest and the largest number.
    pub fn ends(&self) -> Option<(f64, f64)> {
        let (low, high) = (self.rows.first_key_value()?, self.rows.last_key_value()?);
        Some((at_place(*low.0), at_place(*high.0)))
    }
}

impl Stats for UniformStats {
    fn weight(&self) -> f64 {
        self.weight
    }

    fn merge(&mut self, other: &Self) {
        self.weight += other.weight;
        for (place, weight) in &other.rows {
            *self.rows.entry(*place).or_default() += weight;
        }
    }

    fn scale(&mut self, factor: f64) {
        self.weight *= factor;
        self.rows.values_mut().for_each(|own| *own *= factor);
        self.rows.retain(|_, own| *own > 0.0);
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        let mut left = self.clone();
        for (place, gone) in &other.rows {
            let own = left.rows.get_mut(place).ok_or_else(never_seen)?;
            let rounding = 1e-9 * *own;
            *own -= gone;
            if *own < -rounding {
                return Err(never_seen());
            }
            if *own <= rounding {
                left.rows.remove(place);
            }
        }
        left.weight = match left.rows.is_empty() {
            true => 0.0,
            false => self.weight - other.weight,
        };
        *self = left;
        Ok(())
    }
}

/// Both ends of a uniform distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UniformEnds;

impl Conjugate for UniformEnds {
    type Prior = BilateralPareto;
    type Stats = UniformStats;
    type Predictive = UniformPredictive;

    fn parameters(&self) -> Vec<String> {
        vec!["low".into(), "high".into()]
    }

    fn zero(&self) -> UniformStats {
        UniformStats::default()
    }

    fn observe(&self, row: &[f64], weight: f64, stats: &mut UniformStats) {
        if weight > 0.0 {
            stats.weight += weight;
            *stats.rows.entry(place(row[0])).or_default() += weight;
        }
    }

    fn posterior(&self, prior: &BilateralPareto, stats: &UniformStats) -> Result<BilateralPareto> {
        let nowhere = (f64::INFINITY, f64::NEG_INFINITY);
        let (least, most) = stats.ends().unwrap_or(nowhere);
        proper(BilateralPareto {
            low: prior.low.min(least),
            high: prior.high.max(most),
            shape: prior.shape + stats.weight,
        })
    }

    fn predictive(&self, belief: &BilateralPareto) -> Result<UniformPredictive> {
        let BilateralPareto { low, high, shape } = proper(belief.clone())?;
        Ok(UniformPredictive { low, high, shape })
    }

    fn log_likelihood(&self, ends: &[f64], stats: &UniformStats) -> f64 {
        let inside = |(low, high): (f64, f64)| ends[0] <= low && high <= ends[1];
        match stats.ends().is_none_or(inside) {
            true => -times(stats.weight, (ends[1] - ends[0]).ln()),
            false => f64::NEG_INFINITY,
        }
    }

    fn row(&self, ends: &[f64]) -> Option<Box<dyn Univariate>> {
        Some(Box::new(Uniform {
            low: ends[0],
            high: ends[1],
        }))
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<BilateralPareto> {
        let nowhere = |shape: f64| {
            let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
            numbers::<0>(name, given).map(|_| BilateralPareto { low, high, shape })
        };
        match name {
            BilateralPareto::NAME => {
                let [low, high, shape] = numbers(name, given)?;
                let belief = BilateralPareto { low, high, shape };
                match belief.is_proper() {
                    true => Ok(belief),
                    false => Err(Error::parameter(
                        "a bilateral Pareto prior needs a smaller and a larger number and a \
                         positive shape",
                    )),
                }
            }
            // Under 1/(h − l) the next row lies between the extremes of n with
            // probability (n − 1)/(n + 1), as it should.
            "reference" => nowhere(-1.0),
            "jeffreys" => nowhere(0.0),
            "uniform" | "flat" => nowhere(-2.0),
            _ => Err(unknown_prior(
                name,
                "bilateral-pareto(low,high,shape), reference, jeffreys and uniform",
            )),
        }
    }
}

/// What is predicted of a uniform row whose ends are uncertain: flat between low
/// and high, with tails of probability 1/(s + 2) on either side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UniformPredictive {
    /// Where the flat part begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// The shape of the tails.
    pub shape: f64,
}

impl UniformPredictive {
    fn reach(&self) -> f64 {
        self.high - self.low
    }

    /// The probability beyond a place at or above `high`.
    fn tail(&self, x: f64) -> f64 {
        ((x - self.low) / self.reach()).powf(-self.shape) / (self.shape + 2.0)
    }

    fn mirrored(&self, x: f64) -> f64 {
        self.low + (self.high - x)
    }
}

impl Univariate for UniformPredictive {
    fn log_density(&self, x: f64) -> f64 {
        if !x.is_finite() {
            return f64::NEG_INFINITY;
        }
        let s = self.shape;
        let stretched = x.max(self.high) - x.min(self.low);
        s.ln() - (s + 2.0).ln() + s * self.reach().ln() - (s + 1.0) * stretched.ln()
    }

    fn cdf(&self, x: f64) -> f64 {
        match x {
            x if x < self.low => self.tail(self.mirrored(x)),
            x if x > self.high => 1.0 - self.tail(x),
            x => (1.0 + self.shape * (x - self.low) / self.reach()) / (self.shape + 2.0),
        }
    }

    fn survival(&self, x: f64) -> f64 {
        self.cdf(self.mirrored(x))
    }

    fn quantile(&self, p: f64) -> f64 {
        let tail = 1.0 / (self.shape + 2.0);
        let far = |q: f64| self.low + self.reach() * (q / tail).powf(-1.0 / self.shape);
        match p {
            p if p < tail => self.mirrored(far(p)),
            p if 1.0 - p < tail => far(1.0 - p),
            p => self.low + self.reach() * (p * (self.shape + 2.0) - 1.0) / self.shape,
        }
    }

    fn mean(&self) -> Option<f64> {
        (self.shape > 1.0).then_some(0.5 * (self.low + self.high))
    }

    fn variance(&self) -> Option<f64> {
        let (s, square) = (self.shape, self.reach() * self.reach());
        match s {
            s if s > 2.0 => {
                let tails = 2.0 * (1.0 / (s - 2.0) - 1.0 / (s - 1.0) + 0.25 / s);
                Some(square * s / (s + 2.0) * (1.0 / 12.0 + tails))
            }
            s if s > 1.0 => Some(f64::INFINITY),
            _ => None,
        }
    }

    /// The middle; every number of the flat part would do.
    fn mode(&self) -> f64 {
        0.5 * (self.low + self.high)
    }
}
