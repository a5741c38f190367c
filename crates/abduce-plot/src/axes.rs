//! Axes: a range that contains the data, and ticks at round numbers with labels. Steps are 1, 2
//! or 5 times a power of ten (Heckbert 1990, "Nice numbers for graph labels"); logarithmic axes
//! have ticks at powers of ten, and at 2 and 5 times these if they are few. All arithmetic works
//! up to ±1e308.

/// The scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equal lengths.
    #[default]
    Linear,
    /// Equal ratios are equal lengths; only positive numbers can be drawn.
    Logarithmic,
}

/// The range and the scale of an axis.
///
/// ```
/// use abduce_plot::{Axis, Scale};
/// let axis = Axis::covering([43.0, 96.0], Scale::Linear);
/// let ticks: Vec<String> = axis.ticks(6).into_iter().map(|(_, label)| label).collect();
/// assert_eq!(ticks, ["50", "60", "70", "80", "90"]);
/// assert!(axis.fraction(43.0) > Some(0.0) && axis.fraction(96.0) < Some(1.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    low: f64,
    high: f64,
    scale: Scale,
}

/// The fraction of the range that is added at either end.
const MARGIN: f64 = 0.04;

impl Axis {
    /// An axis that contains all finite numbers (on a logarithmic axis, all positive ones), with
    /// a small margin.
    pub fn covering(numbers: impl IntoIterator<Item = f64>, scale: Scale) -> Axis {
        let mut ends: Option<(f64, f64)> = None;
        let has_place = |x: &f64| x.is_finite() && (scale == Scale::Linear || *x > 0.0);
        for x in numbers.into_iter().filter(has_place) {
            let (low, high) = ends.unwrap_or((x, x));
            ends = Some((low.min(x), high.max(x)));
        }
        let (low, high) = ends.unwrap_or(match scale {
            Scale::Linear => (0.0, 1.0),
            Scale::Logarithmic => (1.0, 10.0),
        });
        let clamped = |x: f64| x.clamp(-f64::MAX, f64::MAX);
        let (low, high) = match scale {
            Scale::Linear if low == high => around(low),
            Scale::Linear => {
                let margin = 2.0 * MARGIN * (high / 2.0 - low / 2.0);
                (clamped(low - margin), clamped(high + margin))
            }
            Scale::Logarithmic => {
                let margin = MARGIN * log_ratio(high, low);
                let factor = if low == high { 2.0 } else { margin.exp() };
                let least = f64::MIN_POSITIVE.min(low);
                ((low / factor).max(least), clamped(high * factor))
            }
        };
        Axis { low, high, scale }
    }

    /// An axis from one number to another.
    pub fn between(low: f64, high: f64) -> Axis {
        let (low, high) = if !low.is_finite() || !high.is_finite() {
            (0.0, 1.0)
        } else if low < high {
            (low, high)
        } else {
            around(low)
        };
        Axis {
            low,
            high,
            scale: Scale::Linear,
        }
    }

    /// The least number.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The greatest number.
    pub fn high(&self) -> f64 {
        self.high
    }

    /// The scale.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// The position of a number, from 0 at the low end to 1 at the high end, or beyond; `None`
    /// if it cannot be drawn.
    pub fn fraction(&self, x: f64) -> Option<f64> {
        let fraction = match self.scale {
            Scale::Linear if (self.high - self.low).is_finite() => {
                (x - self.low) / (self.high - self.low)
            }
            // Halves, because the difference overflows.
            Scale::Linear => (x / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0),
            Scale::Logarithmic if x > 0.0 => {
                log_ratio(x, self.low) / log_ratio(self.high, self.low)
            }
            Scale::Logarithmic => return None,
        };
        fraction.is_finite().then_some(fraction)
    }

    /// The number at a position.
    pub fn at(&self, fraction: f64) -> f64 {
        match self.scale {
            Scale::Linear if (self.high - self.low).is_finite() => {
                self.low + (self.high - self.low) * fraction
            }
            Scale::Linear => self.low * (1.0 - fraction) + self.high * fraction,
            Scale::Logarithmic => {
                (self.low.ln() * (1.0 - fraction) + self.high.ln() * fraction).exp()
            }
        }
    }

    /// About as many ticks as wanted, at round numbers, with their labels.
    pub fn ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let wanted = wanted.max(2);
        if self.scale == Scale::Logarithmic {
            let powers = self.powers(wanted);
            if powers.len() >= 2 {
                return powers.into_iter().map(|x| (x, number(x, x))).collect();
            }
        }
        self.multiples(nice_step(self.high / 2.0 - self.low / 2.0, wanted))
    }

    /// The same as [`ticks`](Axis::ticks), at whole numbers only.
    pub fn whole_ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let step = nice_step(self.high / 2.0 - self.low / 2.0, wanted.max(2));
        self.multiples(step.max(1.0))
    }

    /// All multiples of a step on the axis.
    fn multiples(&self, step: f64) -> Vec<(f64, String)> {
        let (first, last) = ((self.low / step).ceil(), (self.high / step).floor());
        // Beyond 2⁵³ steps, neighbouring ticks are the same number.
        let countable = first.abs().max(last.abs()) < 9e15 && last - first < 1e3;
        let ends = [self.low, self.high];
        if !countable || step <= 0.0 {
            return ends.map(|x| (x, number(x, x * f64::EPSILON))).to_vec();
        }
        let count = (last - first) as i64 + 1;
        let tick = |k: i64| step * (first + k as f64) + 0.0;
        let ticks = (0..count.max(0)).map(tick);
        ticks.map(|x| (x, number(x, step))).collect()
    }

    /// Powers of ten on the axis, with 2 and 5 times these if they are few.
    fn powers(&self, wanted: usize) -> Vec<f64> {
        let (first, last) = (self.low.log10().floor(), self.high.log10().ceil());
        let every = (((last - first) / wanted as f64).ceil()).max(1.0);
        let count = ((last - first) / every) as i32;
        let power = |k: i32| {
            format!("1e{}", first + every * f64::from(k))
                .parse()
                .unwrap_or(0.0)
        };
        let inside = |x: &f64| (self.low..=self.high).contains(x);
        let all = (0..=count).map(power);
        let alone: Vec<f64> = all.clone().filter(inside).collect();
        if alone.len() >= 4 || every > 1.0 {
            return alone;
        }
        let times = |p: f64| [p, 2.0 * p, 5.0 * p];
        all.flat_map(times).filter(inside).collect()
    }
}

/// ln(x / y), accurate for close numbers and for ratios that overflow.
fn log_ratio(x: f64, y: f64) -> f64 {
    match x / y {
        ratio if ratio.is_normal() => ratio.ln(),
        _ => x.ln() - y.ln(),
    }
}

/// A range around a number, proportional to it.
fn around(x: f64) -> (f64, f64) {
    let margin = if x == 0.0 { 1.0 } else { x.abs() * 0.1 };
    let clamped = |x: f64| x.clamp(-f64::MAX, f64::MAX);
    match (clamped(x - margin), clamped(x + margin)) {
        (low, high) if low < high => (low, high),
        _ => (x - 1.0, x + 1.0),
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that divides a range, given by its half, into
/// at most this many parts.
pub(super) fn nice_step(half: f64, parts: usize) -> f64 {
    let rough = half / parts as f64 * 2.0;
    if rough.is_nan() || rough <= 0.0 {
        return 0.0;
    }
    let power = rough.log10().floor();
    // Parsed powers of ten are exact, computed ones are not.
    let steps = [1, 2, 5, 10, 20].map(|digit| format!("{digit}e{power}"));
    let steps = steps.iter().filter_map(|text| text.parse().ok());
    let enough = |step: &f64| *step >= rough * (1.0 - 1e-9);
    steps
        .filter(|step: &f64| step.is_finite())
        .find(enough)
        .unwrap_or(0.0)
}

/// A number with enough digits to distinguish it from its neighbours a step away.
pub(super) fn number(x: f64, step: f64) -> String {
    if x == 0.0 || x.abs() < step.abs() / 1e6 {
        return "0".into();
    }
    let place = |x: f64| x.abs().log10().floor();
    // Rounds a step slightly below a power of ten up to it.
    let last = place(step * 1.001);
    let plain = match x.abs() {
        size if size >= 1e6 || (size < 1e-4 && last < -4.0) => {
            let digits = (place(x) - last).clamp(0.0, 17.0) as usize;
            format!("{x:.digits$e}")
        }
        _ => {
            let digits = (-last).clamp(0.0, 20.0) as usize;
            format!("{x:.digits$}")
        }
    };
    plain.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGES: [(f64, f64); 14] = [
        (0.0, 1.0),
        (43.0, 96.0),
        (-3.0, 17.5),
        (2700.0, 6300.0),
        (1e300, 3e300),
        (-1.7e308, 1.7e308),
        (1e-300, 5e-300),
        (0.0, 5e-324),
        (1e8, 1e8 + 1.0),
        (5.0, 5.0),
        (0.0, 0.0),
        (-1e-300, -1e-300),
        (1e15, 1e15 + 2.0),
        (1e140, -1e140),
    ];

    fn read(label: &str) -> f64 {
        label.replace('−', "-").parse().unwrap()
    }

    #[test]
    fn every_number_is_on_the_axis() {
        for (a, b) in RANGES {
            for scale in [Scale::Linear, Scale::Logarithmic] {
                let axis = Axis::covering([a, b, f64::NAN, f64::INFINITY], scale);
                assert!(axis.low() < axis.high(), "{a} {b}");
                for x in [a, b]
                    .into_iter()
                    .filter(|x| scale == Scale::Linear || *x > 0.0)
                {
                    let fraction = axis.fraction(x).unwrap();
                    assert!((0.0..=1.0).contains(&fraction), "{x} at {fraction}");
                }
            }
        }
    }

    #[test]
    fn ticks_cover_the_data_and_have_their_numbers_as_labels() {
        for (a, b) in RANGES {
            let axis = Axis::covering([a, b], Scale::Linear);
            let ticks = axis.ticks(5);
            assert!((2..=8).contains(&ticks.len()), "{a} {b}: {ticks:?}");
            let step = ticks[1].0 / 2.0 - ticks[0].0 / 2.0;
            let spread = axis.high() / 2.0 - axis.low() / 2.0;
            let first = ticks[0].0 / 2.0 - axis.low() / 2.0;
            let last = axis.high() / 2.0 - ticks[ticks.len() - 1].0 / 2.0;
            assert!(
                first <= step * 1.001 && last <= step * 1.001,
                "{a} {b}: {ticks:?}"
            );
            for (x, label) in &ticks {
                assert!(axis.fraction(*x).is_some_and(|f| (0.0..=1.0).contains(&f)));
                let off = read(label) / 2.0 - x / 2.0;
                assert!(off.abs() <= spread * 1e-3, "{x} is not {label}");
            }
        }
    }

    #[test]
    fn a_change_of_units_only_changes_the_power_of_ten() {
        for factor in [1e-9, 1e-3, 1e3, 1e9] {
            let axis = Axis::covering([1.3, 8.7], Scale::Linear);
            let other = Axis::covering([1.3 * factor, 8.7 * factor], Scale::Linear);
            let (ticks, others) = (axis.ticks(5), other.ticks(5));
            assert_eq!(ticks.len(), others.len());
            for ((x, _), (y, _)) in ticks.iter().zip(&others) {
                assert!((x * factor - y).abs() <= 1e-12 * y.abs());
            }
        }
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten() {
        let axis = Axis::covering([0.02, 4e5], Scale::Logarithmic);
        let labels: Vec<String> = axis.ticks(8).into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels, ["0.1", "1", "10", "100", "1000", "10000", "100000"]);
        let narrow = Axis::covering([3.0, 60.0], Scale::Logarithmic).ticks(6);
        let narrow: Vec<f64> = narrow.into_iter().map(|(x, _)| x).collect();
        assert_eq!(narrow, [5.0, 10.0, 20.0, 50.0]);
        assert_eq!(axis.fraction(-1.0), None);
        let same = Axis::covering([7.0], Scale::Logarithmic);
        assert!(!same.ticks(4).is_empty() && same.fraction(7.0).is_some());
    }

    #[test]
    fn the_number_at_a_position_has_that_position() {
        for scale in [Scale::Linear, Scale::Logarithmic] {
            let axis = Axis::covering([2.0, 50.0], scale);
            for x in [2.0, 3.7, 50.0] {
                let back = axis.at(axis.fraction(x).unwrap());
                assert!((back - x).abs() < 1e-12 * x);
            }
        }
    }
}
