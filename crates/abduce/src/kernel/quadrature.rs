//! Integrals of functions of one variable: adaptive Gauss–Kronrod quadrature.
//!
//! Each panel is integrated by the 10-point Gauss and the 21-point Kronrod rule
//! on the same nodes; their difference estimates the error (Piessens et al., *QUADPACK*, 1983).
//! The panel with the largest error is halved until the total error is small enough, which
//! locates steps and kinks by bisection. An infinite range is mapped to [0, 1) by
//! x = from ± scale · u / (1 − u).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// An integral with an error estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Integral {
    /// ∫ f.
    pub(crate) value: f64,
    /// An estimate of the error, usually far too large.
    pub(crate) error: f64,
}

/// The most panels: enough to locate twenty steps to a part in 1e12 each.
const MAX_PANELS: usize = 1000;

/// The number of equal panels that every piece between two breaks starts with, so that a
/// narrow peak is not missed.
const FIRST_PANELS: usize = 4;

/// The smallest tolerance: error estimates are at least 50 units of rounding.
const FINEST_TOLERANCE: f64 = 2e-14;

/// ∫ f from `low` to `high`, either of which may be infinite, until the estimated error is
/// below `tolerance` · ∫|f| or a thousand panels are used.
///
/// `breaks` are points where f may jump or bend, or between which its mass lies; those outside
/// of the range are ignored. An infinite range is scaled by their spread, so that peaks far
/// from 0 or very narrow ones need them. Non-finite values of f count as 0, which suits
/// integrable singularities. The result is never NaN, and saturates at the largest number.
pub(crate) fn integrate(
    mut f: impl FnMut(f64) -> f64,
    low: f64,
    high: f64,
    breaks: &[f64],
    tolerance: f64,
) -> Integral {
    if low > high {
        let Integral { value, error } = integrate(f, high, low, breaks, tolerance);
        return Integral {
            value: -value,
            error,
        };
    }
    let tolerance = tolerance.max(FINEST_TOLERANCE);
    let mut panels: BinaryHeap<Panel> = pieces(low, high, breaks)
        .into_iter()
        .flat_map(|(chart, from, to)| {
            let cut = move |i: usize| {
                let share = i as f64 / FIRST_PANELS as f64;
                (1.0 - share) * from + share * to
            };
            (0..FIRST_PANELS).map(move |i| (chart, cut(i), cut(i + 1)))
        })
        .map(|(chart, from, to)| Panel::new(&mut f, chart, from, to))
        .collect();
    // Panels too narrow to be halved, at a jump between neighbouring numbers.
    let mut indivisible = Vec::new();
    while panels.len() + indivisible.len() < MAX_PANELS {
        let all = || panels.iter().chain(&indivisible);
        let error = sum(all().map(|panel| panel.error));
        let magnitude = sum(all().map(|panel| panel.magnitude));
        if error <= tolerance * magnitude {
            break;
        }
        let Some(worst) = panels.pop() else { break };
        let middle = 0.5 * worst.from + 0.5 * worst.to;
        let rounding = 4.0 * f64::EPSILON * worst.from.abs().max(worst.to.abs());
        if worst.to - worst.from <= rounding {
            indivisible.push(worst);
            continue;
        }
        panels.push(Panel::new(&mut f, worst.chart, worst.from, middle));
        panels.push(Panel::new(&mut f, worst.chart, middle, worst.to));
    }
    let all = || panels.iter().chain(&indivisible);
    Integral {
        value: sum(all().map(|panel| panel.value)),
        error: sum(all().map(|panel| panel.error)),
    }
}

/// ∫ f over a finite range by the Kronrod rule on equal panels, for smooth integrands.
pub(crate) fn integrate_smooth(f: impl Fn(f64) -> f64, low: f64, high: f64, panels: usize) -> f64 {
    let half = 0.5 * (high - low) / panels as f64;
    let mut total = 0.0;
    for i in 0..panels {
        let centre = low + half * (2 * i + 1) as f64;
        let mut mean = CENTRE_WEIGHT * f(centre);
        for (node, weight, _) in RULE {
            mean += weight * (f(centre - half * node) + f(centre + half * node));
        }
        total += mean;
    }
    total * half
}

/// The nodes in (0, 1) with their Kronrod and Gauss weights.
const RULE: [(f64, f64, f64); 10] = [
    (0.995_657_163_025_808_1, 0.011_694_638_867_371_874, 0.0),
    (
        0.973_906_528_517_171_7,
        0.032_558_162_307_964_725,
        0.066_671_344_308_688_14,
    ),
    (0.930_157_491_355_708_2, 0.054_755_896_574_351_995, 0.0),
    (
        0.865_063_366_688_984_5,
        0.075_039_674_810_919_96,
        0.149_451_349_150_580_6,
    ),
    (0.780_817_726_586_416_9, 0.093_125_454_583_697_6, 0.0),
    (
        0.679_409_568_299_024_4,
        0.109_387_158_802_297_64,
        0.219_086_362_515_982_05,
    ),
    (0.562_757_134_668_604_7, 0.123_491_976_262_065_85, 0.0),
    (
        0.433_395_394_129_247_2,
        0.134_709_217_311_473_34,
        0.269_266_719_309_996_35,
    ),
    (0.294_392_862_701_460_2, 0.142_775_938_577_060_09, 0.0),
    (
        0.148_874_338_981_631_22,
        0.147_739_104_901_338_49,
        0.295_524_224_714_752_87,
    ),
];

/// The Kronrod weight of the node 0, which is not a Gauss node.
const CENTRE_WEIGHT: f64 = 0.149_445_554_002_916_9;

/// The map from the coordinates of a panel to arguments of f.
#[derive(Clone, Copy)]
enum Chart {
    /// The identity.
    Plain,
    /// From [0, 1) to the range from `from` to infinity with the sign of `scale`.
    Infinite { from: f64, scale: f64 },
}

impl Chart {
    /// f(x) |dx/du| if it is finite, else 0.
    fn apply(self, f: &mut impl FnMut(f64) -> f64, u: f64) -> f64 {
        let value = match self {
            Chart::Plain => f(u),
            Chart::Infinite { from, scale } => {
                let rest = 1.0 - u;
                f(from + scale * (u / rest)) * (scale.abs() / (rest * rest))
            }
        };
        if value.is_finite() { value } else { 0.0 }
    }
}

/// The pieces between breaks, each as a range of its chart.
fn pieces(low: f64, high: f64, breaks: &[f64]) -> Vec<(Chart, f64, f64)> {
    let inside = breaks.iter().copied().filter(|&x| low < x && x < high);
    let mut cuts: Vec<f64> = inside
        .chain([low, high])
        .filter(|x| x.is_finite())
        .collect();
    if cuts.is_empty() {
        cuts.push(0.0);
    }
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    let (first, last) = (cuts[0], cuts[cuts.len() - 1]);
    let scale = if last > first { last - first } else { 1.0 };
    let mut pieces: Vec<_> = cuts
        .windows(2)
        .map(|pair| (Chart::Plain, pair[0], pair[1]))
        .collect();
    for (end, from, scale) in [(low, first, -scale), (high, last, scale)] {
        if end.is_infinite() {
            pieces.push((Chart::Infinite { from, scale }, 0.0, 1.0));
        }
    }
    pieces
}

/// A part of the range with its integral, the integral of |f| and the error estimate.
struct Panel {
    chart: Chart,
    from: f64,
    to: f64,
    value: f64,
    magnitude: f64,
    error: f64,
}

impl Panel {
    fn new(f: &mut impl FnMut(f64) -> f64, chart: Chart, from: f64, to: f64) -> Self {
        let centre = 0.5 * from + 0.5 * to;
        let half = 0.5 * to - 0.5 * from;
        let middle = chart.apply(f, centre);
        let mut values = [(0.0, 0.0); RULE.len()];
        for ((left, right), (node, ..)) in values.iter_mut().zip(RULE) {
            *left = chart.apply(f, centre - half * node);
            *right = chart.apply(f, centre + half * node);
        }
        // Means of finite numbers do not overflow, as integrals might.
        let mean_of = |g: &dyn Fn(f64) -> f64| {
            let pairs = values.iter().zip(RULE);
            let outer = pairs.map(|(&(l, r), (_, w, _))| 0.5 * w * g(l) + 0.5 * w * g(r));
            0.5 * CENTRE_WEIGHT * g(middle) + outer.sum::<f64>()
        };
        let mean = mean_of(&|y| y);
        let gauss: f64 = values
            .iter()
            .zip(RULE)
            .map(|(&(l, r), (.., w))| 0.5 * w * l + 0.5 * w * r)
            .sum();
        let size = mean_of(&f64::abs);
        let spread = mean_of(&|y| (y - mean).abs());
        let difference = (mean - gauss).abs();
        let mut error = difference;
        if spread > 0.0 && difference > 0.0 {
            error = spread * (200.0 * difference / spread).powf(1.5).min(1.0);
        }
        error = error.max(50.0 * f64::EPSILON * size);
        let width = saturated(2.0 * half);
        Panel {
            chart,
            from,
            to,
            value: saturated(mean * width),
            magnitude: saturated(size * width),
            error: saturated(error * width),
        }
    }
}

/// Saturates at the largest number, so that no difference of infinities arises.
fn saturated(x: f64) -> f64 {
    x.clamp(-f64::MAX, f64::MAX)
}

fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    terms.fold(0.0, |total, term| saturated(total + term))
}

impl Ord for Panel {
    /// By error; of ties the leftmost is greater, so that the order is deterministic.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_error = self.error.total_cmp(&other.error);
        by_error.then(other.from.total_cmp(&self.from))
    }
}

impl PartialOrd for Panel {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Panel {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Panel {}

/// Nodes and weights of the Gauss–Legendre rule on −1 to 1, by Newton's method
/// on the Legendre polynomial from Tricomi's estimate of its roots.
pub(crate) fn gauss_legendre(count: usize) -> Vec<(f64, f64)> {
    let n = count as f64;
    let node = |i: usize| {
        let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (n + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..8 {
            let (mut before, mut now) = (1.0, x);
            for j in 2..=count {
                let j = j as f64;
                (before, now) = (now, ((2.0 * j - 1.0) * x * now - (j - 1.0) * before) / j);
            }
            slope = n * (x * now - before) / (x * x - 1.0);
            x -= now / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..count).map(node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{E, PI};

    fn assert_integral(obtained: Integral, expected: f64, tolerance: f64) {
        let error = (obtained.value - expected).abs();
        assert!(
            error <= tolerance * (1.0 + expected.abs()),
            "{obtained:?} is not {expected}"
        );
        assert!(
            error <= obtained.error + 1e-15 * expected.abs(),
            "{obtained:?} hides its error, {expected}"
        );
    }

    #[test]
    fn smooth_integrands_are_integrated_to_rounding() {
        assert_integral(integrate(f64::exp, 0.0, 1.0, &[], 1e-13), E - 1.0, 1e-15);
        assert_integral(integrate(f64::exp, 1.0, 0.0, &[], 1e-13), 1.0 - E, 1e-15);
        let waves = |x: f64| (50.0 * x).cos();
        assert_integral(
            integrate(waves, 0.0, 2.0, &[], 1e-13),
            100f64.sin() / 50.0,
            1e-14,
        );
        assert!((integrate_smooth(f64::sin, 0.0, PI, 3) - 2.0).abs() < 1e-15);
        assert_eq!(integrate(f64::exp, 2.0, 2.0, &[], 1e-12).value, 0.0);
    }

    #[test]
    fn infinite_ranges_are_integrated() {
        let bell = |x: f64| (-0.5 * x * x).exp();
        let whole = (2.0 * PI).sqrt();
        let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
        assert_integral(integrate(bell, low, high, &[], 1e-13), whole, 1e-14);
        assert_integral(integrate(bell, 0.0, high, &[], 1e-13), whole / 2.0, 1e-14);
        assert_integral(integrate(bell, low, 0.0, &[], 1e-13), whole / 2.0, 1e-14);
        let cauchy = |x: f64| 1.0 / (1.0 + x * x);
        assert_integral(integrate(cauchy, low, high, &[], 1e-13), PI, 1e-14);
    }

    #[test]
    fn breaks_locate_a_distant_peak() {
        let far = |x: f64| (-0.5 * ((x - 1e6) / 1e-3).powi(2)).exp();
        let whole = (2.0 * PI).sqrt() * 1e-3;
        let found = integrate(
            far,
            f64::NEG_INFINITY,
            f64::INFINITY,
            &[1e6 - 2e-3, 1e6 + 2e-3, f64::NAN],
            1e-12,
        );
        // Numbers near 1e6 are 1e-10 apart, a ten-millionth of the width.
        assert!((found.value / whole - 1.0).abs() < 1e-7, "{found:?}");
    }

    #[test]
    fn steps_at_unknown_places_are_found() {
        let step = |x: f64| f64::from(u8::from(x > 1.0 / PI));
        assert_integral(integrate(step, 0.0, 1.0, &[], 1e-11), 1.0 - 1.0 / PI, 1e-11);
        let stairs = |x: f64| (7.3 * x).floor();
        let expected = (0..7).map(f64::from).sum::<f64>() / 7.3 + 7.0 * (1.0 - 7.0 / 7.3);
        assert_integral(integrate(stairs, 0.0, 1.0, &[], 1e-11), expected, 1e-11);
        let tail = |x: f64| f64::from(u8::from(x > 3.7)) * (-x).exp();
        let found = integrate(tail, 0.0, f64::INFINITY, &[], 1e-11);
        assert_integral(found, (-3.7f64).exp(), 1e-12);
    }

    #[test]
    fn integrable_singularities_are_integrated() {
        assert_integral(integrate(f64::ln, 0.0, 1.0, &[], 1e-12), -1.0, 1e-12);
        let root = |x: f64| 1.0 / x.abs().sqrt();
        assert_integral(integrate(root, -1.0, 1.0, &[], 1e-9), 4.0, 1e-8);
    }

    #[test]
    fn finite_integrands_never_give_nan() {
        let huge = |x: f64| if x > 0.3 { f64::MAX } else { -f64::MAX };
        for (low, high) in [
            (-f64::MAX, f64::MAX),
            (0.0, 1.0),
            (f64::NEG_INFINITY, f64::INFINITY),
        ] {
            let found = integrate(huge, low, high, &[], 1e-9);
            assert!(
                found.value.is_finite() && found.error.is_finite(),
                "{found:?}"
            );
        }
    }
}
