//! Steps longer than EM's. From three points of EM, with r = θ₁ − θ₀ and
//! v = θ₂ − 2θ₁ + θ₀ in free coordinates,
//!
//!   θ' = θ₀ + 2s r + s² v,  s = |r| / |v|
//!
//! (SQUAREM: Varadhan & Roland, *Scandinavian Journal of Statistics* 35, 2008). Where EM is slow
//! it continues along nearly the same line, and s is about the number of its steps that are left.
//! Coordinates that converge at a rate of their own have an s of their own. θ' is kept only if
//! its objective, computed by an E-step, is at least the lower bound of that of θ₂: a rejected θ'
//! costs that E-step and nothing else.

use super::latent::{Accelerated, Coordinates};
use serde::{Deserialize, Serialize};

/// Whether steps may be longer than EM's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Acceleration {
    /// Where EM has proved slow.
    #[default]
    Auto,
    /// Never.
    None,
    /// From the start.
    Squarem,
}

/// EM is slow when it has made this many steps and each gains more than this share of what the
/// one before gained.
const PATIENCE: usize = 10;
const SLOW: f64 = 0.8;

/// The maximum length of the first long step, and the factor by which the maximum grows where a
/// step reaches it.
const FIRST: f64 = 4.0;

/// Coordinates of a pace other than 0 that move by less have converged.
const STILL: f64 = 1e-9;

/// The number of rejected long steps in a row after which EM continues alone for some steps.
const GIVEN_UP: usize = 3;

/// How long steps are.
pub(super) struct Strides {
    acceleration: Acceleration,
    /// Whether long steps are being made.
    running: bool,
    /// The maximum length of a step.
    longest: f64,
    /// The length of the last one, in steps of EM, and without the maximum.
    stride: f64,
    wanted: f64,
    /// The objective before it.
    mark: Option<f64>,
    /// How many were rejected in a row.
    given_up: usize,
    /// The steps of EM before long ones are tried again, and how many there were the last time.
    rest: usize,
    last_rest: usize,
    /// The steps of EM so far, and the gains of the last two.
    steps: usize,
    gains: [f64; 2],
}

impl Strides {
    pub fn new(acceleration: Acceleration) -> Strides {
        Strides {
            acceleration,
            running: acceleration == Acceleration::Squarem,
            longest: FIRST,
            stride: 1.0,
            wanted: 1.0,
            mark: None,
            given_up: 0,
            rest: 0,
            last_rest: PATIENCE / 2,
            steps: 0,
            gains: [0.0; 2],
        }
    }

    /// Records the gain of a step of EM.
    pub fn watch(&mut self, gain: f64) {
        self.steps += 1;
        self.rest = self.rest.saturating_sub(1);
        self.gains = [self.gains[1], gain];
        let slow = self.gains[0] > 0.0 && gain > SLOW * self.gains[0];
        if self.acceleration == Acceleration::Auto && self.steps >= PATIENCE && slow {
            self.running = true;
        }
    }

    /// Where a long step from two steps of EM leads; `None` where EM is to continue alone.
    pub fn leap<M: Accelerated>(
        &mut self,
        model: &M,
        [start, middle, end]: [&M::Parameters; 3],
        objective: f64,
    ) -> Option<M::Parameters> {
        if !self.running || self.rest > 0 {
            return None;
        }
        self.mark = Some(objective);
        let [start, middle, last] = [
            model.coordinates(start)?,
            model.coordinates(middle)?,
            model.coordinates(end)?,
        ];
        let points = start.values.iter().zip(&middle.values).zip(&last.values);
        let lines: Vec<(f64, f64, f64)> = points
            .map(|((a, b), c)| (*a, b - a, c - 2.0 * b + a))
            .collect();
        let paces = last.pace.iter().max().map_or(0, |most| most + 1);
        let strides: Vec<f64> = (0..paces).map(|own| stride(&lines, &last, own)).collect();
        self.wanted = strides.iter().copied().fold(1.0, f64::max);
        // A step of length 1 is EM's.
        if self.wanted == 1.0 {
            return None;
        }
        self.stride = self.wanted.min(self.longest);
        let values: Vec<f64> = lines
            .iter()
            .zip(&last.pace)
            .map(|((at, r, v), pace)| {
                let s = strides[*pace].min(self.longest);
                at + 2.0 * s * r + s * s * v
            })
            .collect();
        let there = model.at_coordinates(end, &values);
        if there.is_none() {
            self.shorten();
        }
        there
    }

    /// Records whether the long step was kept.
    pub fn learn(&mut self, kept: bool) {
        if kept {
            self.given_up = 0;
            if self.stride >= self.longest {
                self.longest *= FIRST;
            }
            return;
        }
        self.shorten();
        self.given_up += 1;
        if self.given_up >= GIVEN_UP {
            self.given_up = 0;
            self.last_rest *= 2;
            self.rest = self.last_rest;
        }
    }

    fn shorten(&mut self) {
        self.longest = (self.stride / FIRST).max(1.5);
    }

    /// The gain that is still to be expected after a step of EM gained `last`: from the gain
    /// since before the last long step, and from the length that step should have had; `None`
    /// where no long step was tried.
    pub fn left(&self, objective: f64, last: f64) -> Option<f64> {
        let tried = self.running && self.rest == 0;
        let gain = objective - self.mark.unwrap_or(f64::NEG_INFINITY);
        // Steps that shrink by 1 − 1/s each add up to s times the last one, and their gains to
        // half of that.
        tried.then(|| gain.max(0.5 * self.wanted * last))
    }
}

/// The step length of the coordinates of one pace, in steps of EM: 1 where they hardly move, or
/// turn back.
fn stride(lines: &[(f64, f64, f64)], at: &Coordinates, pace: usize) -> f64 {
    let (mut first, mut bend) = (0.0, 0.0);
    let these = lines.iter().zip(&at.importance).zip(&at.pace);
    for (((_, r, v), importance), _) in these.filter(|(_, own)| **own == pace) {
        first += importance * r * r;
        bend += importance * v * v;
    }
    let stride = (first / bend).sqrt();
    // Coordinates have no units: one that moves by less than this has converged.
    let moves = pace == 0 || first > STILL * STILL;
    if moves && stride > 1.0 { stride } else { 1.0 }
}
