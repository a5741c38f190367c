//! Steps longer than EM's. From three points of EM, with r = θ₁ − θ₀ and
//! v = θ₂ − 2θ₁ + θ₀ in free coordinates,
//!
//!   θ' = θ₀ + 2s r + s² v,  s = |r| / |v|
//!
//! (SQUAREM: Varadhan & Roland, *Scandinavian Journal of Statistics* 35, 2008). Where EM
//! is slow it goes on along nearly the same line, and s is about how many of its
//! steps are left. Coordinates that EM moves at a pace of their own have an s of their
//! own: the others would hold them back, or they these. θ' is kept only if its objective, which its own E-step tells, is at
//! least the lower bound of the one of θ₂: so nothing is lost but that E-step.

use super::latent::{Accelerated, Coordinates};
use serde::{Deserialize, Serialize};

/// Whether EM's steps are made longer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Acceleration {
    /// Where EM has proved slow.
    #[default]
    Auto,
    /// Never.
    None,
    /// From the beginning.
    Squarem,
}

/// EM is slow when it has made so many steps and each gains such a share of what the
/// one before gained.
const PATIENCE: usize = 10;
const SLOW: f64 = 0.8;

/// The longest first step; others are longer by this factor where that was too short.
const FIRST: f64 = 4.0;

/// A coordinate with a pace of its own that moves by less has arrived.
const STILL: f64 = 1e-9;

/// Long steps given up in a row before EM is left to itself for some steps.
const GIVEN_UP: usize = 3;

/// How far steps go.
pub(super) struct Strides {
    acceleration: Acceleration,
    /// Whether long steps are being made.
    running: bool,
    /// The longest step.
    longest: f64,
    /// The last one, in steps of EM, and what it would have been.
    stride: f64,
    wanted: f64,
    /// The objective before it.
    mark: Option<f64>,
    /// How many were given up in a row.
    given_up: usize,
    /// EM's steps before long ones are tried again, and how many that were the last time.
    rest: usize,
    last_rest: usize,
    /// EM's steps, and what the last two of them gained.
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

    /// Sees what a step of EM gained.
    pub fn watch(&mut self, gain: f64) {
        self.steps += 1;
        self.rest = self.rest.saturating_sub(1);
        self.gains = [self.gains[1], gain];
        let slow = self.gains[0] > 0.0 && gain > SLOW * self.gains[0];
        if self.acceleration == Acceleration::Auto && self.steps >= PATIENCE && slow {
            self.running = true;
        }
    }

    /// Where a long step from two of EM leads; `None` where EM is to go on by itself.
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
        // A step of 1 is EM's own.
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

    /// Sees whether the long step was kept.
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

    /// What there is still to gain after a step of EM gained `last`, from the gain since
    /// before the last long step that was tried and from how long that should have
    /// been; `None` where none was, and EM's steps say how near the end is.
    pub fn left(&self, objective: f64, last: f64) -> Option<f64> {
        let tried = self.running && self.rest == 0;
        let gain = objective - self.mark.unwrap_or(f64::NEG_INFINITY);
        // Steps that shrink by 1 − 1/s each sum up to s of the last one, and what
        // they gain to half of that.
        tried.then(|| gain.max(0.5 * self.wanted * last))
    }
}

/// How far the coordinates of one pace are to go, in steps of EM: 1 where they hardly
/// move, or turn back.
fn stride(lines: &[(f64, f64, f64)], at: &Coordinates, pace: usize) -> f64 {
    let (mut first, mut bend) = (0.0, 0.0);
    let these = lines.iter().zip(&at.importance).zip(&at.pace);
    for (((_, r, v), importance), _) in these.filter(|(_, own)| **own == pace) {
        first += importance * r * r;
        bend += importance * v * v;
    }
    let stride = (first / bend).sqrt();
    // What has no units and moves by less than this is where it is to be.
    let moves = pace == 0 || first > STILL * STILL;
    if moves && stride > 1.0 { stride } else { 1.0 }
}
