//! The proposal distribution of importance sampling: a mixture of Student t distributions, first
//! placed on the modes of the density, then fitted to weighted draws by steps of EM, as in
//! population Monte Carlo (Cappé, Douc, Guillin, Marin & Robert 2008). Part of it stays wide, so
//! that weights are bounded.

use super::super::mode::{Mode, lower_times, moved};
use super::points::Points;
use crate::family::{Gamma, Univariate};
use crate::kernel::linear::{cholesky, invert_lower, log_diagonal};
use crate::kernel::special::{LN_TAU, ln_gamma, normal_quantile};
use rayon::prelude::*;
use std::f64::consts::LN_2;

/// Degrees of freedom: in these coordinates densities decay exponentially.
const FREEDOM: f64 = 5.0;

/// The weight of the wide part.
const WIDE: f64 = 0.1;

/// One Student t.
#[derive(Clone)]
struct Component {
    weight: f64,
    centre: Vec<f64>,
    /// The Cholesky factor of its scale, and the factor's inverse.
    factor: Vec<f64>,
    inverse: Vec<f64>,
}

impl Component {
    fn new(weight: f64, centre: Vec<f64>, factor: Vec<f64>) -> Component {
        let inverse = invert_lower(&factor, centre.len());
        Component {
            weight,
            centre,
            factor,
            inverse,
        }
    }

    /// The squared distance of a place, in units of the scale.
    fn square(&self, u: &[f64]) -> f64 {
        let off: Vec<f64> = u.iter().zip(&self.centre).map(|(u, c)| u - c).collect();
        let standardized = lower_times(&self.inverse, &off);
        standardized.iter().map(|z| z * z).sum()
    }

    fn log_density(&self, u: &[f64]) -> f64 {
        let order = u.len();
        let half = 0.5 * (FREEDOM + order as f64);
        ln_gamma(half)
            - ln_gamma(0.5 * FREEDOM)
            - 0.5 * order as f64 * (FREEDOM.ln() + LN_TAU - LN_2)
            - log_diagonal(&self.factor, order)
            - half * (self.square(u) / FREEDOM).ln_1p()
    }
}

impl Component {
    /// A draw, from a point with one more coordinate.
    fn draw(&self, points: &Points, i: usize) -> Vec<f64> {
        let order = self.centre.len();
        let mixing = Gamma {
            shape: 0.5 * FREEDOM,
            rate: 0.5 * FREEDOM,
        };
        let scale = mixing.quantile(points.coordinate(i, order)).sqrt().recip();
        let z = (0..order).map(|k| scale * normal_quantile(points.coordinate(i, k)));
        moved(&self.centre, &self.factor, &z.collect::<Vec<f64>>())
    }

    /// The component after a step of EM, with the sum of its responsibilities as its weight;
    /// `None` if it is responsible for no draw. `totals` are the log-densities of the draws under
    /// the whole mixture.
    fn fitted(&self, draws: &[(f64, Vec<f64>)], totals: &[f64]) -> Option<Component> {
        let order = self.centre.len();
        let mut sum = 0.0;
        let mut largest: f64 = 0.0;
        let mut scaled = 0.0;
        let mut centre = vec![0.0; order];
        // Each draw with its responsibility and its weight in a t.
        let parts: Vec<(f64, f64, &Vec<f64>)> = draws
            .iter()
            .zip(totals)
            .map(|((weight, u), total)| {
                let part = weight * (self.weight.ln() + self.log_density(u) - total).exp();
                let counts = (FREEDOM + order as f64) / (FREEDOM + self.square(u));
                (part, part * counts, u)
            })
            .collect();
        for (part, counts, u) in &parts {
            sum += part;
            largest = largest.max(*part);
            scaled += counts;
            let coordinates = centre.iter_mut().zip(u.iter());
            coordinates.for_each(|(c, u)| *c += counts * u);
        }
        let with_same_shape = || Component {
            weight: sum,
            ..self.clone()
        };
        // Few draws do not determine a shape.
        if sum < 10.0 * order as f64 * largest || scaled <= 0.0 {
            return (sum > 0.0).then(with_same_shape);
        }
        centre.iter_mut().for_each(|c| *c /= scaled);
        let mut square = vec![0.0; order * order];
        for (_, counts, u) in &parts {
            let off: Vec<f64> = u.iter().zip(&centre).map(|(u, c)| u - c).collect();
            for i in 0..order {
                for j in 0..order {
                    square[j * order + i] += counts / sum * off[i] * off[j];
                }
            }
        }
        match cholesky(&square, order) {
            Ok(factor) => Some(Component::new(sum, centre, factor)),
            Err(_) => Some(with_same_shape()),
        }
    }
}

/// A mixture of Student t distributions.
#[derive(Clone)]
pub(super) struct Proposal {
    components: Vec<Component>,
    /// The components of the wide part, whose weights are fixed.
    wide: Vec<Component>,
}

impl Proposal {
    /// Two components at each mode: one of its width, and a wide one.
    pub(super) fn about(modes: &[Mode]) -> Proposal {
        let logs: Vec<f64> = modes.iter().map(Mode::log_mass).collect();
        let total = log_sum_exp(&logs);
        let even = 0.1 / logs.len() as f64;
        let shares = logs.iter().map(|log| 0.9 * (log - total).exp() + even);
        let (mut components, mut wide) = (Vec::new(), Vec::new());
        for (mode, share) in modes.iter().zip(shares) {
            let (location, factor) = (&mode.location, &mode.factor);
            let narrow = (1.0 - WIDE) * share;
            components.push(Component::new(narrow, location.clone(), factor.clone()));
            let factor = factor.iter().map(|x| 3.0 * x).collect();
            wide.push(Component::new(WIDE * share, location.clone(), factor));
        }
        Proposal { components, wide }
    }

    /// Puts more components next to each, which can then be fitted to densities that are not
    /// bell-shaped.
    pub(super) fn split_components(&mut self) {
        const STEPS: [f64; 4] = [-2.5, -1.0, 1.0, 2.5];
        let beside = |component: &Component| -> Vec<Component> {
            let order = component.centre.len();
            let weight = component.weight / (1 + STEPS.len() * order) as f64;
            let axes = (0..order).flat_map(|axis| STEPS.map(|by| (axis, by)));
            let offs = axes.map(|(axis, by)| {
                let mut off = vec![0.0; order];
                off[axis] = by;
                off
            });
            let all = std::iter::once(vec![0.0; order]).chain(offs);
            let centres = all.map(|off| moved(&component.centre, &component.factor, &off));
            centres
                .map(|centre| Component::new(weight, centre, component.factor.clone()))
                .collect()
        };
        self.components = self.components.iter().flat_map(beside).collect();
    }

    /// Takes draws from points that fill the unit cube evenly. Each component has a whole number
    /// of them, and its own run of points.
    pub(super) fn draw(&mut self, points: &Points, count: usize) -> Vec<Vec<f64>> {
        let (mut sum, mut from) = (0.0, 0);
        let mut draws = Vec::with_capacity(count);
        let last = self.components.len() + self.wide.len() - 1;
        let all = self.components.iter_mut().chain(&mut self.wide);
        for (i, component) in all.enumerate() {
            sum += component.weight;
            let to = if i == last {
                count
            } else {
                (sum * count as f64).round() as usize
            };
            let to = to.clamp(from, count);
            component.weight = (to - from) as f64 / count as f64;
            let drawn = (from..to)
                .into_par_iter()
                .map(|i| component.draw(points, i + 1));
            draws.extend(drawn.collect::<Vec<_>>());
            from = to;
        }
        draws
    }

    pub(super) fn log_density(&self, u: &[f64]) -> f64 {
        let logs: Vec<f64> = self
            .components
            .iter()
            .chain(&self.wide)
            .map(|component| component.weight.ln() + component.log_density(u))
            .collect();
        log_sum_exp(&logs)
    }

    /// Fits the narrow part to weighted draws by one step of EM.
    pub(super) fn adapt(&mut self, draws: &[(f64, Vec<f64>)]) {
        let totals: Vec<f64> = draws.iter().map(|(_, u)| self.log_density(u)).collect();
        let next: Vec<Component> = self
            .components
            .iter()
            .filter_map(|component| component.fitted(draws, &totals))
            .collect();
        let total: f64 = next.iter().map(|component| component.weight).sum();
        if total > 0.0 {
            self.components = next
                .into_iter()
                .filter(|component| component.weight > 1e-3 * total)
                .collect();
            let kept: f64 = self
                .components
                .iter()
                .map(|component| component.weight)
                .sum();
            let share = (1.0 - WIDE) / kept;
            self.components
                .iter_mut()
                .for_each(|component| component.weight *= share);
        }
    }
}

/// ln Σ eˣ.
fn log_sum_exp(logs: &[f64]) -> f64 {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + logs.iter().map(|log| (log - most).exp()).sum::<f64>().ln()
}
