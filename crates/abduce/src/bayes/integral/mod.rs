//! Integrals of functions that may be unbounded at some points and decay slowly towards their
//! ends, such as x^−0.99 above 0.
//!
//! Around a point where f may be unbounded, it is integrated over the logarithm of the distance
//! d, in which a power is an exponential; next to the point, and beyond 10⁷⁰, by the power that
//! it follows there: if d·f(d) grows as dˢ, then ∫₀ᵈ f = d·f(d)/s, which exists for s > 0 only.

use crate::kernel::quadrature::{Integral, gauss_legendre, integrate};

/// The integral of a function that is nowhere negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Total {
    /// A number, by its logarithm.
    Finite(f64),
    /// Infinite.
    Infinite,
    /// Not determined.
    Unsettled,
}

impl Total {
    /// Whether it is finite; `None` if that could not be determined.
    pub(crate) fn is_finite(self) -> Option<bool> {
        match self {
            Total::Finite(_) => Some(true),
            Total::Infinite => Some(false),
            Total::Unsettled => None,
        }
    }
}

/// The relative error allowed for one panel of integrals.
const TOLERANCE: f64 = 1e-11;

/// The relative error beyond which an integral counts as not determined.
const ROUGH: f64 = 1e-4;

/// Further out, a power may be 0 by rounding.
const FURTHEST: f64 = 1e70;

/// The behaviour of a function next to an end of its range or a point where it may be unbounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct End {
    /// The point, which may be infinite.
    pub(super) place: f64,
    /// s, if d·f grows as dˢ; for an infinite end, as d⁻ˢ. Infinite where f is 0.
    pub(super) rate: f64,
    /// The same, measured further away.
    before: f64,
    /// Whether the two are nearly the same.
    is_power: bool,
    /// Whether the integral up to the point diverges.
    is_endless: bool,
    /// The logarithm of d·f where the range next to the point begins.
    log_height: f64,
}

impl End {
    /// The behaviour of a function, given by its logarithm, between `from` and a point, up to a
    /// distance of `reach`.
    fn of(log_f: &dyn Fn(f64) -> f64, place: f64, from: f64, reach: f64) -> End {
        // Close to a point other than 0, distances have few digits.
        let (ratio, noise) = match place {
            0.0 => (1e50, 1e-9),
            place if place.is_finite() => (400.0, 1e-4),
            _ => (1e-15, 1e-9),
        };
        let ratio = if place.is_finite() {
            f64::min(ratio, (reach / (from - place).abs()).sqrt())
        } else {
            ratio
        };
        let at = |steps: i32| {
            let x = if place.is_finite() {
                place + (from - place) * f64::powi(ratio, steps)
            } else {
                from * f64::powi(ratio, steps)
            };
            let distance = if place.is_finite() { x - place } else { x };
            (log_f(x) + distance.abs().ln(), distance.abs().ln())
        };
        let heights = [0, 1, 2].map(at);
        let slope = |i: usize| {
            let ((near, d), (far, e)) = (heights[i], heights[i + 1]);
            (far - near) / (e - d) * if place.is_finite() { 1.0 } else { -1.0 }
        };
        let log_height = heights[0].0;
        if log_height > f64::NEG_INFINITY {
            End {
                place,
                rate: slope(0),
                before: slope(1),
                is_power: (slope(1) - slope(0)).abs() <= 0.02 * slope(0) + noise,
                is_endless: log_height == f64::INFINITY || slope(0) <= noise,
                log_height,
            }
        } else {
            End {
                place,
                rate: f64::INFINITY,
                before: f64::INFINITY,
                is_power: true,
                is_endless: false,
                log_height: f64::NEG_INFINITY,
            }
        }
    }

    /// Whether the function is unbounded towards its point.
    pub(super) fn is_unbounded(&self) -> bool {
        // A steep but bounded function is less steep closer by.
        let fall = 1.0 - self.rate;
        self.place.is_finite() && fall > 1e-4 && (1.0 - self.before) < 1.5 * fall
    }

    /// The integral up to the place, from where its range begins, after division by
    /// e^`log_scale`.
    fn mass(&self, log_scale: f64) -> f64 {
        if self.log_height > f64::NEG_INFINITY {
            (self.log_height - log_scale).exp() / self.rate
        } else {
            0.0
        }
    }
}

/// How a piece of a range is integrated.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Plain,
    /// Over the logarithm of the distance from a place.
    Log(f64),
    /// By the power that the function follows.
    Next(End),
}

/// A piece of a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) low: f64,
    pub(super) high: f64,
    kind: Kind,
}

impl Piece {
    /// The point next to the piece, and the behaviour of the function there.
    pub(super) fn end(&self) -> Option<&End> {
        match &self.kind {
            Kind::Next(end) => Some(end),
            _ => None,
        }
    }

    /// ∫ f over a part of the piece; next to a place f has been divided by
    /// e^`log_scale`.
    pub(super) fn between(
        &self,
        f: &dyn Fn(f64) -> f64,
        log_scale: f64,
        (low, high): (f64, f64),
    ) -> Integral {
        match self.kind {
            Kind::Plain => integrate(f, low, high, &[], TOLERANCE),
            Kind::Log(place) => {
                let side = if low >= place { 1.0 } else { -1.0 };
                let ends = [low, high].map(|x| (x - place).abs().ln());
                let over_log = |t: f64| f(place + side * t.exp()) * t.exp();
                let (from, to) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
                integrate(over_log, from, to, &[], TOLERANCE)
            }
            Kind::Next(end) => {
                let from = self.begin(&end);
                // The share of the mass between x and the point.
                let share = |x: f64| match (x == end.place, end.place.is_finite()) {
                    (true, _) => 0.0,
                    (_, true) => ((x - end.place) / (from - end.place)).powf(end.rate),
                    (_, false) => (x / from).powf(-end.rate),
                };
                let value = end.mass(log_scale) * (share(low) - share(high)).abs();
                let error = if end.is_power { 0.0 } else { value };
                Integral { value, error }
            }
        }
    }

    /// ∫ f g over the piece, where f is e^(`log_f` − `log_scale`).
    pub(super) fn times(
        &self,
        log_f: &dyn Fn(f64) -> f64,
        g: &dyn Fn(f64) -> f64,
        log_scale: f64,
    ) -> f64 {
        let Kind::Next(end) = self.kind else {
            let product = |x: f64| match (log_f(x) - log_scale).exp() {
                f if f > 0.0 => f * g(x),
                _ => 0.0,
            };
            let whole = (self.low, self.high);
            return self.between(&product, log_scale, whole).value;
        };
        let from = self.begin(&end);
        if end.place.is_finite() {
            return end.mass(log_scale) * g(from);
        }
        // Far out the product follows another power than f does.
        let log = |x: f64| log_f(x) + g(x).abs().ln();
        End::of(&log, end.place, from, f64::INFINITY).mass(log_scale) * g(from).signum()
    }

    /// Where the range next to a point begins.
    fn begin(&self, end: &End) -> f64 {
        if end.place == self.low {
            self.high
        } else {
            self.low
        }
    }

    /// Nodes and weights whose sum approximates the integral of a function; the function is `f`.
    pub(super) fn nodes(&self, f: &dyn Fn(f64) -> f64, log_scale: f64) -> Vec<(f64, f64)> {
        let spread = |from: f64, to: f64, at: &dyn Fn(f64) -> (f64, f64)| {
            let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
            let node = |(t, weight): (f64, f64)| {
                let (x, slope) = at(middle + half * t);
                (x, half * weight * slope * f(x))
            };
            gauss_legendre(16).into_iter().map(node).collect()
        };
        match self.kind {
            Kind::Plain => spread(self.low, self.high, &|x| (x, 1.0)),
            Kind::Log(place) => {
                let side = if self.low >= place { 1.0 } else { -1.0 };
                let ends = [self.low, self.high].map(|x| (x - place).abs().ln());
                let at = |t: f64| (place + side * t.exp(), t.exp());
                spread(ends[0].min(ends[1]), ends[0].max(ends[1]), &at)
            }
            Kind::Next(end) => {
                vec![(self.begin(&end), end.mass(log_scale))]
            }
        }
    }
}

/// The pieces of a range that is cut at `cuts`, and ever more closely around `places` where the
/// function may be unbounded.
pub(super) fn pieces(
    log_f: &dyn Fn(f64) -> f64,
    support: (f64, f64),
    places: &[f64],
    cuts: &[f64],
) -> Vec<Piece> {
    let places = distinct_places(support, places);
    let (coarse, unit) = coarse_cuts(support, &places, cuts);
    fine_cuts(support, &places, &coarse, unit)
        .windows(2)
        .map(|pair| Piece {
            low: pair[0],
            high: pair[1],
            kind: kind(log_f, &places, &coarse, pair[0], pair[1]),
        })
        .collect()
}

/// Whether a number is far enough from a point for their distance to have digits.
fn apart(x: f64, place: f64) -> bool {
    place.is_infinite() || (x - place).abs() > 100.0 * nearest(place)
}

/// Whether a number is in a range, and apart from both of its ends.
fn inside(x: f64, (low, high): (f64, f64)) -> bool {
    low < x && x < high && apart(x, low) && apart(x, high)
}

/// The finite ends of the range, 0 and the places, without those outside the range or too close
/// to another.
fn distinct_places(support: (f64, f64), places: &[f64]) -> Vec<f64> {
    let ends = [support.0, support.1].into_iter().filter(|x| x.is_finite());
    let mut distinct: Vec<f64> = ends.collect();
    for x in [0.0].into_iter().chain(places.iter().copied()) {
        if inside(x, support) && distinct.iter().all(|place| apart(x, *place)) {
            distinct.push(x);
        }
    }
    distinct.sort_by(f64::total_cmp);
    distinct
}

/// The places and cuts in order, and the distance between the first and the last. One more cut is
/// added, at that distance, towards each infinite end.
fn coarse_cuts(support: (f64, f64), places: &[f64], cuts: &[f64]) -> (Vec<f64>, f64) {
    let (low, high) = support;
    let free = |x: &f64| inside(*x, support) && places.iter().all(|place| apart(*x, *place));
    let inner = cuts.iter().copied().filter(free);
    let mut coarse: Vec<f64> = inner.chain(places.iter().copied()).collect();
    if coarse.len() < 2 {
        let middle = coarse.first().copied().unwrap_or(0.0);
        let around = [middle - 1.0, middle + 1.0];
        coarse.extend(around.into_iter().filter(|x| inside(*x, support)));
    }
    coarse.sort_by(f64::total_cmp);
    coarse.dedup();
    let unit = coarse[coarse.len() - 1] - coarse[0];
    if low.is_infinite() {
        coarse.insert(0, coarse[0] - unit);
    }
    if high.is_infinite() {
        coarse.push(coarse[coarse.len() - 1] + unit);
    }
    (coarse, unit)
}

/// The coarse cuts, with more and more closely spaced ones towards the places, and more and more
/// widely spaced ones towards infinite ends.
fn fine_cuts((low, high): (f64, f64), places: &[f64], coarse: &[f64], unit: f64) -> Vec<f64> {
    let (least, most) = (coarse[0], coarse[coarse.len() - 1]);
    let furthest = FURTHEST.max(1e6 * least.abs().max(most.abs()));
    let mut all = coarse.to_vec();
    for (end, from, sign) in [(low, least, -1.0), (high, most, 1.0)] {
        if end.is_infinite() {
            let steps = [1e1, 1e3, 1e6, 1e12, 1e24].map(|by| from + sign * by * unit);
            all.extend(steps.into_iter().filter(|x| x.abs() < furthest));
            all.extend([sign * furthest, end]);
        }
    }
    for pair in coarse.windows(2) {
        for (place, other) in [(pair[0], pair[1]), (pair[1], pair[0])] {
            if places.contains(&place) {
                let reach = 0.5 * (other - place);
                let nearest = nearest(place).min(1e-4 * reach.abs());
                let steps = [1e-1, 1e-3, 1e-6, 1e-12, 1e-30, 1e-80].map(|by| by * reach);
                let steps = steps.into_iter().filter(|by| by.abs() > 4.0 * nearest);
                all.extend(steps.chain([nearest.copysign(reach)]).map(|by| place + by));
                // Two such points next to each other are separated in the middle.
                all.push(place + reach);
            }
        }
    }
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// How a piece is integrated.
fn kind(log_f: &dyn Fn(f64) -> f64, places: &[f64], coarse: &[f64], low: f64, high: f64) -> Kind {
    let is_end = |x: f64| x.is_infinite() || places.contains(&x);
    let reach = |place: f64| {
        let others = coarse.iter().filter(|x| **x != place);
        let distances = others.map(|x| 0.5 * (x - place).abs());
        distances.fold(f64::INFINITY, f64::min)
    };
    match (is_end(low), is_end(high)) {
        (true, false) => return Kind::Next(End::of(log_f, low, high, reach(low))),
        (false, true) => return Kind::Next(End::of(log_f, high, low, reach(high))),
        _ => {}
    }
    // The point from which the piece spans most orders of magnitude.
    let orders = |place: &f64| {
        let distances = [(low - place).abs(), (high - place).abs()];
        distances[0].max(distances[1]) / distances[0].min(distances[1])
    };
    let outside = |place: &&f64| **place < low || high < **place;
    let (least, most) = (&coarse[0], &coarse[coarse.len() - 1]);
    let candidates = places.iter().chain([least, most]).filter(outside);
    let best = candidates.max_by(|a, b| orders(a).total_cmp(&orders(b)));
    match best.filter(|place| orders(place) > 4.0) {
        Some(place) => Kind::Log(*place),
        None => Kind::Plain,
    }
}

/// The least distance from a point at which a function is evaluated: next to 0 all numbers are
/// distinct, elsewhere distances have few digits.
fn nearest(place: f64) -> f64 {
    if place == 0.0 {
        1e-200
    } else {
        2e4 * f64::EPSILON * place.abs()
    }
}

/// The sum of integrals over pieces, after division by e^`log_scale`, if it is determined.
pub(super) fn judged(
    pieces: &[Piece],
    integrals: impl Iterator<Item = Integral>,
    log_scale: f64,
) -> Total {
    if pieces
        .iter()
        .any(|piece| piece.end().is_some_and(|end| end.is_endless))
    {
        return Total::Infinite;
    }
    let (value, error) = integrals.fold((0.0, 0.0), |(value, error), integral| {
        (value + integral.value, error + integral.error)
    });
    if value > 0.0 && value.is_finite() && error <= ROUGH * value {
        Total::Finite(log_scale + value.ln())
    } else {
        Total::Unsettled
    }
}

/// ∫ f over a range, given by its logarithm, where f may jump, bend or be unbounded at
/// `breaks`, and has its mass between `cuts`.
pub(super) fn total(
    log_f: &dyn Fn(f64) -> f64,
    support: (f64, f64),
    breaks: &[f64],
    cuts: &[f64],
) -> Total {
    let pieces = pieces(log_f, support, breaks, cuts);
    let inner = pieces.iter().filter(|piece| piece.end().is_none());
    let places = inner.flat_map(|piece| piece.nodes(&|_| 1.0, 0.0));
    let heights = places.map(|(x, _)| log_f(x)).filter(|log| log.is_finite());
    // Divided by its height, so that it neither over- nor underflows.
    let log_scale = heights.fold(f64::NEG_INFINITY, f64::max);
    if log_scale == f64::NEG_INFINITY {
        return Total::Unsettled;
    }
    let f = |x: f64| (log_f(x) - log_scale).exp();
    let integral = |piece: &Piece| piece.between(&f, log_scale, (piece.low, piece.high));
    judged(&pieces, pieces.iter().map(integral), log_scale)
}

#[cfg(test)]
mod tests;
