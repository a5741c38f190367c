//! SQUAREM: steps longer than those of EM (Varadhan & Roland, *Scandinavian Journal of Statistics*
//! 35, 2008). From three successive points of EM, with r = θ₁ − θ₀ and v = θ₂ − 2θ₁ + θ₀ in
//! unconstrained coordinates,
//!
//!   θ' = θ₀ + 2s r + s² v,  s = |r| / |v|.
//!
//! If EM is slow, it continues along nearly the same line, and s is about the number of EM steps
//! that remain. Coordinates that converge at another rate have their own s. θ' is kept only if its
//! objective, computed by an E-step, is at least the lower bound of that of θ₂; a rejected θ' only
//! costs the E-step.

use super::latent::{Accelerated, Coordinates};
use serde::{Deserialize, Serialize};

/// Whether steps may be longer than those of EM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Acceleration {
    /// When EM turns out to be slow.
    #[default]
    Auto,
    /// Never.
    None,
    /// From the start.
    Squarem,
}

/// EM is slow if it has made at least this many steps and the last gain is larger than this share
/// of the gain before.
const MIN_STEPS: usize = 10;
const SLOW_RATE: f64 = 0.8;

/// The maximum length of the first long step, and the factor by which the maximum grows after a
/// step of maximum length.
const GROWTH: f64 = 4.0;

/// Coordinates of a pace other than 0 that move by less have converged.
const MIN_MOVE: f64 = 1e-9;

/// The number of rejected long steps in a row after which plain EM continues for some steps.
const MAX_REJECTED: usize = 3;

/// The state of acceleration: when long steps are made, and how long they are.
pub(super) struct LongSteps {
    acceleration: Acceleration,
    /// Whether long steps are being made.
    is_active: bool,
    /// The maximum length of a step, in EM steps.
    max_length: f64,
    /// The length of the last long step, and without the maximum.
    length: f64,
    unlimited_length: f64,
    /// The objective before the last long step was tried.
    objective_before: Option<f64>,
    /// The number of long steps rejected in a row.
    rejected: usize,
    /// The number of EM steps until long steps are tried again, and the length of the last such
    /// pause.
    pause: usize,
    last_pause: usize,
    /// The number of EM steps, and the gains of the last two.
    em_steps: usize,
    gains: [f64; 2],
}

impl LongSteps {
    pub fn new(acceleration: Acceleration) -> LongSteps {
        LongSteps {
            acceleration,
            is_active: acceleration == Acceleration::Squarem,
            max_length: GROWTH,
            length: 1.0,
            unlimited_length: 1.0,
            objective_before: None,
            rejected: 0,
            pause: 0,
            last_pause: MIN_STEPS / 2,
            em_steps: 0,
            gains: [0.0; 2],
        }
    }

    /// Records the gain of an EM step.
    pub fn record_gain(&mut self, gain: f64) {
        self.em_steps += 1;
        self.pause = self.pause.saturating_sub(1);
        self.gains = [self.gains[1], gain];
        let is_slow = self.gains[0] > 0.0 && gain > SLOW_RATE * self.gains[0];
        if self.acceleration == Acceleration::Auto && self.em_steps >= MIN_STEPS && is_slow {
            self.is_active = true;
        }
    }

    /// The parameters to which a long step leads, from the points of two EM steps; `None` if plain
    /// EM should continue.
    pub fn extrapolate<M: Accelerated>(
        &mut self,
        model: &M,
        [start, middle, end]: [&M::Parameters; 3],
        objective: f64,
    ) -> Option<M::Parameters> {
        if !self.is_active || self.pause > 0 {
            return None;
        }
        self.objective_before = Some(objective);
        let [start, middle, last] = [
            model.coordinates(start)?,
            model.coordinates(middle)?,
            model.coordinates(end)?,
        ];
        let points = start.values.iter().zip(&middle.values).zip(&last.values);
        let lines: Vec<(f64, f64, f64)> = points
            .map(|((a, b), c)| (*a, b - a, c - 2.0 * b + a))
            .collect();
        let paces = last.pace.iter().max().map_or(0, |largest| largest + 1);
        let lengths: Vec<f64> = (0..paces)
            .map(|pace| step_length(&lines, &last, pace))
            .collect();
        self.unlimited_length = lengths.iter().copied().fold(1.0, f64::max);
        // A step of length 1 is an EM step.
        if self.unlimited_length == 1.0 {
            return None;
        }
        self.length = self.unlimited_length.min(self.max_length);
        let values: Vec<f64> = lines
            .iter()
            .zip(&last.pace)
            .map(|((at, r, v), pace)| {
                let s = lengths[*pace].min(self.max_length);
                at + 2.0 * s * r + s * s * v
            })
            .collect();
        let extrapolated = model.at_coordinates(end, &values);
        if extrapolated.is_none() {
            self.shorten();
        }
        extrapolated
    }

    /// Records whether the long step was kept.
    pub fn record_outcome(&mut self, is_kept: bool) {
        if is_kept {
            self.rejected = 0;
            if self.length >= self.max_length {
                self.max_length *= GROWTH;
            }
            return;
        }
        self.shorten();
        self.rejected += 1;
        if self.rejected >= MAX_REJECTED {
            self.rejected = 0;
            self.last_pause *= 2;
            self.pause = self.last_pause;
        }
    }

    fn shorten(&mut self) {
        self.max_length = (self.length / GROWTH).max(1.5);
    }

    /// An estimate of the remaining gain after an EM step gained `last`: the larger of the gain
    /// since the last long step was tried, and an estimate from the length that step should have
    /// had. `None` if no long step was tried.
    pub fn remaining_gain(&self, objective: f64, last: f64) -> Option<f64> {
        let was_tried = self.is_active && self.pause == 0;
        let gain = objective - self.objective_before.unwrap_or(f64::NEG_INFINITY);
        // Steps that shrink by 1 − 1/s sum to s times the last one, and their gains to half of
        // that.
        was_tried.then(|| gain.max(0.5 * self.unlimited_length * last))
    }
}

/// The step length of the coordinates of one pace, in EM steps; 1 if they hardly move or turn back.
fn step_length(lines: &[(f64, f64, f64)], at: &Coordinates, pace: usize) -> f64 {
    let (mut first, mut bend) = (0.0, 0.0);
    let coordinates = lines.iter().zip(&at.importance).zip(&at.pace);
    for (((_, r, v), importance), _) in coordinates.filter(|(_, other)| **other == pace) {
        first += importance * r * r;
        bend += importance * v * v;
    }
    let length = (first / bend).sqrt();
    let moves = pace == 0 || first > MIN_MOVE * MIN_MOVE;
    if moves && length > 1.0 { length } else { 1.0 }
}
