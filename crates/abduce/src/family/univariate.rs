//! Distributions of one number, fitted or not: density, distribution function,
//! quantiles, moments, entropy, divergence, intervals and draws.
//!
//! What a distribution does not give in closed form is found from its quantiles:
//! E f(x) = ∫₀¹ f(Q(u)) du, a sum over the lattice for counts.

use crate::kernel::minimum::golden_section;
use crate::kernel::quadrature::integrate;
use crate::kernel::roots::increasing_root;
use rand::{Rng, RngExt};
use std::cell::Cell;
use std::fmt::Debug;

/// A distribution of one number. Counts lie on the whole numbers and
/// their density is a probability.
///
/// ```
/// use abduce::family::{Gamma, Univariate};
/// let waiting = Gamma { shape: 2.0, rate: 0.5 };
/// assert_eq!(waiting.mean(), Some(4.0));
/// assert!((waiting.cdf(waiting.quantile(0.3)) - 0.3).abs() < 1e-12);
/// ```
pub trait Univariate: Debug + Send + Sync {
    /// The natural logarithm of the density, −∞ outside of the support.
    fn log_density(&self, x: f64) -> f64;

    /// The density, or the probability of a count.
    fn density(&self, x: f64) -> f64 {
        self.log_density(x).exp()
    }

    /// P(X ≤ x).
    fn cdf(&self, x: f64) -> f64;

    /// P(X > x), which keeps its digits where the distribution function is
    /// close to 1.
    fn survival(&self, x: f64) -> f64 {
        1.0 - self.cdf(x)
    }

    /// The smallest and the largest number there can be; by default any count from 0 up, or
    /// any real number.
    fn support(&self) -> (f64, f64) {
        let low = if self.is_discrete() {
            0.0
        } else {
            f64::NEG_INFINITY
        };
        (low, f64::INFINITY)
    }

    /// Whether it lies on the whole numbers.
    fn is_discrete(&self) -> bool {
        false
    }

    /// The smallest x with P(X ≤ x) ≥ p, for p from 0 to 1.
    fn quantile(&self, p: f64) -> f64 {
        inverse_of_cdf(self, p)
    }

    /// The mean, which may be infinite, if there is one.
    fn mean(&self) -> Option<f64>;

    /// The variance, which may be infinite, if there is one.
    fn variance(&self) -> Option<f64>;

    /// The most probable number: the smallest of counts or peaks that are equally
    /// probable, the middle of a flat top; where the density grows without limit
    /// towards an end of the support, that end.
    fn mode(&self) -> f64;

    /// The entropy −E ln p(x), in nats; for a density it depends on the units.
    fn entropy(&self) -> f64 {
        self.expectation(&|x| -self.log_density(x))
    }

    /// The divergence KL(self ‖ other) = E ln p(x)/q(x) ≥ 0 in nats; infinite
    /// where `other` rules out what this does not.
    fn kl(&self, other: &Self) -> f64
    where
        Self: Sized,
    {
        divergence(self, other)
    }

    /// One draw.
    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        self.quantile(rng.random())
    }

    /// E f(x), numerically.
    fn expectation(&self, f: &dyn Fn(f64) -> f64) -> f64 {
        if self.is_discrete() {
            sum_over_lattice(self, f)
        } else {
            integrate(|u| f(self.quantile(u)), 0.0, 1.0, &BREAKS, 1e-11).value
        }
    }

    /// The interval that leaves out the same probability on either side.
    fn equal_tailed(&self, level: f64) -> (f64, f64) {
        let tail = 0.5 * (1.0 - level);
        (self.quantile(tail), self.quantile(1.0 - tail))
    }

    /// The shortest interval that holds this probability: the one of highest
    /// density where there is one mode.
    fn highest_density(&self, level: f64) -> (f64, f64) {
        if self.is_discrete() {
            shortest_run(self, level)
        } else {
            shortest_interval(self, level)
        }
    }
}

/// The first cuts of integrals over quantiles, which make the tails visible.
const BREAKS: [f64; 8] = [1e-12, 1e-6, 0.01, 0.25, 0.75, 0.99, 1.0 - 1e-6, 1.0 - 1e-12];

/// The divergence of two distributions of any kind, numerically.
pub fn divergence(p: &(impl Univariate + ?Sized), q: &(impl Univariate + ?Sized)) -> f64 {
    if p.is_discrete() != q.is_discrete() {
        return f64::INFINITY;
    }
    let (low, high) = p.support();
    let ruled_out = Cell::new(false);
    let gain = |x: f64| {
        let other = q.log_density(x);
        // Supports are not compared: an angle may be cut open elsewhere. Their ends are not used
        // either, as a quantile may be rounded to one.
        let inside = p.is_discrete() || (low < x && x < high);
        if other == f64::NEG_INFINITY && inside && p.log_density(x) > other {
            ruled_out.set(true);
        }
        p.log_density(x) - other
    };
    let levels = (0..=64).map(|i| (f64::from(i) / 64.0).clamp(1e-12, 1.0 - 1e-12));
    levels.for_each(|level| {
        gain(p.quantile(level));
    });
    if ruled_out.get() || tail_diverges(p, &gain) {
        return f64::INFINITY;
    }
    let expected = p.expectation(&gain);
    if expected.is_nan() || ruled_out.get() {
        f64::INFINITY
    } else {
        expected.max(0.0)
    }
}

/// Whether E f(x) = ∫ f(Q(u)) du is infinite because of a tail: whether u f(Q(u))
/// does not fall with u, the probability beyond.
fn tail_diverges<D: Univariate + ?Sized>(of: &D, f: &dyn Fn(f64) -> f64) -> bool {
    let (low, high) = of.support();
    let lower = |u: f64| of.quantile(u);
    let upper = |u: f64| {
        let from = of.quantile(0.75);
        let beyond = |x: f64| u.ln() - of.survival(x).ln();
        increasing_root(from, high.min(f64::MAX), beyond)
    };
    let whole = |x: f64| if of.is_discrete() { x.floor() } else { x };
    let diverges = |place: &dyn Fn(f64) -> f64| {
        // As far out as numbers go.
        let pairs = [[1e-60, 1e-120], [1e-20, 1e-40], [1e-6, 1e-12_f64]];
        let logs = pairs.map(|pair| {
            pair.map(|u| {
                let x = whole(place(u));
                let inside = low < x && x < high && x.abs() < f64::MAX;
                if inside { u.ln() + f(x).ln() } else { f64::NAN }
            })
        });
        let known = logs
            .iter()
            .find(|pair| pair.iter().all(|log| log.is_finite()));
        known.is_some_and(|[near, far]| *far >= near - 1e-3)
    };
    // A finite number of counts has no tails.
    let ends = [low, high].map(|end| !of.is_discrete() || end.is_infinite());
    (ends[0] && diverges(&lower)) || (ends[1] && diverges(&upper))
}

/// The maximum of a function with one peak between two numbers, by golden sections.
pub(crate) fn highest_between(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    golden_section(low, high, 120, |x| -f(x))
}

/// The most probable of some numbers, the smallest of equals.
pub(super) fn best_of<D: Univariate + ?Sized>(
    of: &D,
    candidates: impl IntoIterator<Item = f64>,
) -> f64 {
    let better = |best: (f64, f64), next: (f64, f64)| {
        let wins = next.1 > best.1 || (next.1 == best.1 && next.0 < best.0);
        if wins { next } else { best }
    };
    let all = candidates.into_iter().map(|x| (x, of.log_density(x)));
    all.reduce(better).map_or(f64::NAN, |(x, _)| x)
}

fn inverse_of_cdf<D: Univariate + ?Sized>(of: &D, p: f64) -> f64 {
    let (low, high) = of.support();
    if p <= 0.0 {
        return low;
    }
    if p >= 1.0 {
        return high;
    }
    let (low, high) = bracket(of, &|x| reached(of, p, x), low, high);
    quantile_between(of, p, low, high)
}

/// Whether P(X ≤ x) ≥ p, from the smaller of the two tails, which has more digits.
fn reached<D: Univariate + ?Sized>(of: &D, p: f64, x: f64) -> bool {
    if p <= 0.5 {
        of.cdf(x) >= p
    } else {
        of.survival(x) <= 1.0 - p
    }
}

/// The quantile between two numbers, of which the lower has not reached p and
/// the higher has.
pub(super) fn quantile_between<D: Univariate + ?Sized>(
    of: &D,
    p: f64,
    mut low: f64,
    mut high: f64,
) -> f64 {
    if of.is_discrete() {
        // Below `low` the probability is less than p, at `high` it is not.
        while high - low > 1.0 {
            let middle = (0.5 * (low + high)).floor();
            let middle = if middle <= low || middle >= high {
                // Beyond 2⁵³ the whole numbers are further apart than 1.
                return high;
            } else {
                middle
            };
            if reached(of, p, middle) {
                high = middle
            } else {
                low = middle
            }
        }
        return high;
    }
    if p <= 0.5 {
        increasing_root(low, high, |x| of.cdf(x) - p)
    } else {
        increasing_root(low, high, |x| (1.0 - p) - of.survival(x))
    }
}

/// The quantile of a distribution whose distribution function is costly, from a guess with its
/// approximate density.
pub(super) fn quantile_near<D: Univariate + ?Sized>(
    of: &D,
    p: f64,
    guess: f64,
    density: f64,
) -> f64 {
    let (least, most) = of.support();
    let discrete = of.is_discrete();
    // Rising with x, and 0 at the quantile.
    let height = |x: f64| {
        if discrete {
            f64::from(u8::from(reached(of, p, x))) - 0.5
        } else if p <= 0.5 {
            of.cdf(x) - p
        } else {
            (1.0 - p) - of.survival(x)
        }
    };
    let guess = if discrete { guess.floor() } else { guess };
    let (mut x, mut y) = (guess, height(guess));
    if y == 0.0 {
        return x;
    }
    let newton = 1.5 * y.abs() / density;
    let mut step = if discrete {
        1.0
    } else if newton.is_normal() {
        newton
    } else {
        0.01 * guess.abs().max(f64::MIN_POSITIVE)
    };
    let way = -y.signum();
    loop {
        let next = x + way * step;
        if !(least..=most).contains(&next) || !next.is_finite() {
            // Below the least number there is no probability.
            let least = if discrete { least - 1.0 } else { least };
            let (least, most) = (least.max(f64::MIN), most.min(f64::MAX));
            return if way < 0.0 {
                quantile_between(of, p, least, x)
            } else {
                quantile_between(of, p, x, most)
            };
        }
        let at_next = height(next);
        if (at_next < 0.0) != (y < 0.0) {
            return quantile_between(of, p, x.min(next), x.max(next));
        }
        (x, y) = (next, at_next);
        step *= 2.0;
    }
}

/// Positions of at most so many of some weights, each as often as its share of the total:
/// systematic resampling.
pub(super) fn resampled(weights: &[f64], count: usize) -> Vec<usize> {
    let total: f64 = weights.iter().sum();
    let (mut sum, mut taken, mut positions) = (0.0, 0, Vec::with_capacity(count));
    for (position, weight) in weights.iter().enumerate() {
        sum += weight / total;
        while taken < count && (taken as f64 + 0.5) / (count as f64) < sum {
            positions.push(position);
            taken += 1;
        }
    }
    positions
}

/// Numbers of which the lower has not reached p and the higher has, or the ends
/// of the support.
fn bracket<D: Univariate + ?Sized>(
    of: &D,
    reached: &dyn Fn(f64) -> bool,
    least: f64,
    most: f64,
) -> (f64, f64) {
    let finite = |x: Option<f64>| x.filter(|x| x.is_finite());
    let discrete = of.is_discrete();
    let centre = finite(of.mean()).unwrap_or_else(|| of.mode());
    let centre = centre.max(least).min(most);
    let deviation = finite(of.variance()).map(f64::sqrt);
    let step = deviation.unwrap_or(1.0).max(f64::MIN_POSITIVE);
    let whole = |x: f64| if discrete { x.floor() } else { x };
    let step = if discrete { step.ceil().max(1.0) } else { step };
    let (mut low, mut high) = (whole(centre - step), whole(centre + step));
    let mut reach = step;
    while low >= least && reached(low) && low.is_finite() {
        high = low;
        reach *= 2.0;
        low = whole(low - reach);
    }
    if low < least {
        low = if discrete { least - 1.0 } else { least };
    }
    let mut reach = step;
    while high < most && !reached(high) && high.is_finite() {
        low = low.max(high);
        reach *= 2.0;
        high = whole(high + reach);
    }
    (low, high.min(most))
}

/// The lattice points that have all but 1e-18 of the probability on either side.
fn lattice<D: Univariate + ?Sized>(of: &D) -> (f64, f64) {
    let (least, most) = of.support();
    let low = of.quantile(1e-18).max(least);
    // Quantiles near 1 are lost to rounding; the tail is followed instead.
    let mut high = of.quantile(1.0 - 1e-12).min(most);
    let mut step = 1.0;
    while high < most && of.survival(high) > 1e-18 {
        high = (high + step).min(most);
        step *= 2.0;
    }
    (low, high)
}

fn sum_over_lattice<D: Univariate + ?Sized>(of: &D, f: &dyn Fn(f64) -> f64) -> f64 {
    const MAX_TERMS: f64 = 3e5;
    let (low, high) = lattice(of);
    let term = |x: f64| {
        let density = of.density(x);
        if density > 0.0 { density * f(x) } else { 0.0 }
    };
    let summed = (high - low).min(MAX_TERMS);
    let sum: f64 = (0..=summed as u64).map(|i| term(low + i as f64)).sum();
    let last = low + summed.floor();
    if last >= high {
        return sum;
    }
    // Beyond them the terms are smooth from point to point.
    let share = of.cdf(last);
    let inside = |u: &f64| *u > share;
    let breaks: Vec<f64> = BREAKS.iter().copied().filter(inside).collect();
    sum + integrate(|u| f(of.quantile(u)), share, 1.0, &breaks, 1e-11).value
}

/// The ends of the shortest interval have the same density, unless one of them
/// is an end of the support.
fn shortest_interval<D: Univariate + ?Sized>(of: &D, level: f64) -> (f64, f64) {
    const STARTS: u8 = 8;
    let at = |tail: f64| (of.quantile(tail), of.quantile((tail + level).min(1.0)));
    let tails = (0..=STARTS).map(|i| (1.0 - level) * f64::from(i) / f64::from(STARTS));
    let tails: Vec<f64> = tails.collect();
    let ends: Vec<(f64, f64)> = tails.iter().map(|tail| at(*tail)).collect();
    let width = |(low, high): (f64, f64)| high - low;
    let shorter = |best: usize, i: usize| {
        if width(ends[i]) < width(ends[best]) {
            i
        } else {
            best
        }
    };
    let best = (0..ends.len()).fold(0, shorter);
    let (before, after) = (best.saturating_sub(1), (best + 1).min(tails.len() - 1));
    // Below the best place the density rises faster at the lower end.
    let excess = |tail: f64| {
        let (low, high) = at(tail);
        of.log_density(low) - of.log_density(high)
    };
    let refined = at(increasing_root(tails[before], tails[after], excess));
    if width(refined) <= width(ends[best]) {
        refined
    } else {
        ends[best]
    }
}

fn shortest_run<D: Univariate + ?Sized>(of: &D, level: f64) -> (f64, f64) {
    const MAX_STARTS: f64 = 2000.0;
    let (least, _) = of.support();
    let (first, last) = (of.quantile(1e-15), of.quantile(1.0 - level));
    let step = ((last - first) / MAX_STARTS).ceil().max(1.0);
    let count = ((last - first) / step) as u64;
    let run = |low: f64| {
        let before = if low > least { of.cdf(low - 1.0) } else { 0.0 };
        (low, of.quantile((before + level).min(1.0)))
    };
    let shorter = |best: (f64, f64), next: (f64, f64)| {
        if next.1 - next.0 < best.1 - best.0 {
            next
        } else {
            best
        }
    };
    let starts = (0..=count).map(|i| first + i as f64 * step);
    starts.map(run).fold(of.equal_tailed(level), shorter)
}
