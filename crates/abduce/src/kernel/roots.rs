//! Roots of increasing functions of one variable.
//!
//! `increasing_root` uses values only and keeps a bracket: inverse quadratic interpolation if
//! the last three points allow it, else bisection (Chandrupatla, *Advances in Engineering
//! Software* 28, 1997). `increasing_newton` uses the slope too, and bisects if Newton's step
//! would leave the bracket.

/// The root of an increasing function, to the last bits of the argument.
///
/// If the function is positive everywhere, the result is `low`; if it is negative everywhere,
/// `high`. Ends may be infinite; the function is not evaluated there. A bracket over many orders of magnitude takes
/// no longer than a narrow one.
pub(crate) fn increasing_root(low: f64, high: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    let mut at_end = |x: f64| if x.is_finite() { f(x) } else { x };
    let (at_low, at_high) = (at_end(low), at_end(high));
    if at_low >= 0.0 {
        return low;
    }
    if at_high <= 0.0 {
        return high;
    }
    // The newest point and the other end of the bracket.
    let (mut x, mut y) = (low, at_low);
    let (mut opposite, mut at_opposite) = (high, at_high);
    let mut share = None;
    // Every two bisections halve the number of floats in the bracket, so 2 · 64 steps suffice.
    for step in 0..200 {
        let interpolated = share.map(|share| x + share * (opposite - x));
        // In a wide bracket, rounding may move the interpolated point to an end or beyond.
        let inside = interpolated.filter(|&next| x.min(opposite) < next && next < x.max(opposite));
        let next = inside.unwrap_or_else(|| middle(x, opposite, step));
        let value = f(next);
        let (before, at_before);
        if (value < 0.0) == (y < 0.0) {
            (before, at_before) = (x, y);
        } else {
            (before, at_before) = (opposite, at_opposite);
            (opposite, at_opposite) = (x, y);
        }
        (x, y) = (next, value);
        let best = if y.abs() < at_opposite.abs() {
            x
        } else {
            opposite
        };
        let rounding = f64::EPSILON * best.abs() + f64::from_bits(1);
        let least = rounding / (opposite - x).abs();
        if y == 0.0 {
            return x;
        }
        if least >= 0.5 {
            return best;
        }
        let xi = (x - opposite) / (before - opposite);
        let phi = (y - at_opposite) / (at_before - at_opposite);
        share = None;
        if phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi {
            let interpolated = y / (at_opposite - y) * at_before / (at_opposite - at_before)
                + (before - x) / (opposite - x) * y / (at_before - y) * at_opposite
                    / (at_before - at_opposite);
            if interpolated.is_finite() {
                share = Some(interpolated.clamp(least, 1.0 - least));
            }
        }
    }
    x
}

/// The root of an increasing function near `start`, in an interval whose half-width is doubled
/// from `reach` up to `most` until it contains the root.
pub(crate) fn increasing_root_near(
    start: f64,
    mut reach: f64,
    most: f64,
    mut f: impl FnMut(f64) -> f64,
) -> f64 {
    while reach < most && (f(start - reach) > 0.0 || f(start + reach) < 0.0) {
        reach *= 2.0;
    }
    increasing_root(start - reach, start + reach, f)
}

/// A number between two others: alternately the mean, and the middle in the order of all floats.
fn middle(a: f64, b: f64, turn: usize) -> f64 {
    let by_value = 0.5 * a + 0.5 * b;
    if turn.is_multiple_of(2) && by_value.is_finite() {
        return by_value;
    }
    // Positive floats have the order of their bits, negative ones the opposite order.
    let place = |x: f64| {
        let bits = (x.abs()).to_bits() as i64;
        if x < 0.0 { -bits } else { bits }
    };
    let between = ((i128::from(place(a)) + i128::from(place(b))) / 2) as i64;
    f64::from_bits(between.unsigned_abs()).copysign(if between < 0 { -1.0 } else { 1.0 })
}

/// The root of an increasing function by Newton's method from `start` between finite `low` and
/// `high`, until a step is below `precision`. `f` returns value and slope, which need not be
/// finite everywhere.
pub(crate) fn increasing_newton(
    mut low: f64,
    mut high: f64,
    start: f64,
    precision: f64,
    mut f: impl FnMut(f64) -> (f64, f64),
) -> f64 {
    let mut x = start.clamp(low, high);
    let mut last = high - low;
    for _ in 0..200 {
        let (value, slope) = f(x);
        if value == 0.0 {
            return x;
        }
        if value < 0.0 {
            low = x;
        } else {
            high = x;
        }
        let newton = x - value / slope;
        // If steps do not shrink, bisection is safer.
        let inside = low <= newton && newton <= high && (newton - x).abs() <= last;
        let next = if inside {
            newton
        } else {
            0.5 * low + 0.5 * high
        };
        last = (next - x).abs();
        x = next;
        if last <= precision || high - low <= precision {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_found_to_the_last_bits_at_any_scale() {
        for root in [-3e200f64, -1.0, -1e-9, 1e-300, 1e-20, 0.3, 7.0, 1e9, 4e250] {
            for (low, high) in [
                (f64::NEG_INFINITY, f64::INFINITY),
                (-f64::MAX, f64::MAX),
                (root - root.abs(), root + 3.0 * root.abs()),
            ] {
                let mut evaluations = 0;
                let found = increasing_root(low, high, |x| {
                    evaluations += 1;
                    (x - root) / root.abs()
                });
                assert!(
                    (found - root).abs() <= 4e-16 * root.abs(),
                    "{found:e} {root:e} in {low:e} {high:e}"
                );
                assert!(evaluations < 140, "{evaluations} for {root}");
            }
        }
    }

    #[test]
    fn a_distant_root_is_found() {
        for root in [-300.0, -1.0, 1e-12, 2.0, 500.0] {
            let found = increasing_root_near(0.0, 1.0, 700.0, |x| x - root);
            assert!((found - root).abs() <= 4e-16 * root.abs(), "{found} {root}");
        }
    }

    #[test]
    fn smooth_functions_take_few_evaluations() {
        let mut evaluations = 0;
        let found = increasing_root(0.0, 10.0, |x| {
            evaluations += 1;
            x.exp() - 20.0
        });
        assert!(
            (found - 20f64.ln()).abs() < 2e-15 && evaluations < 20,
            "{found} {evaluations}"
        );
    }

    #[test]
    fn a_jump_over_zero_is_a_root_and_no_change_of_sign_gives_an_end() {
        let step = increasing_root(0.0, 1.0, |x| if x < 0.7 { -1.0 } else { 1.0 });
        assert!((step - 0.7).abs() < 1e-15, "{step}");
        assert_eq!(increasing_root(1.0, 2.0, |x| x), 1.0);
        assert_eq!(increasing_root(1.0, 2.0, |x| x - 5.0), 2.0);
        assert!(increasing_root(0.0, 1.0, |_| f64::NAN).is_finite());
    }

    #[test]
    fn newton_converges_from_a_start_with_a_bad_first_step() {
        for start in [-40.0, -1.0, 0.0, 3.0, 40.0] {
            let found = increasing_newton(-50.0, 50.0, start, 1e-15, |x: f64| {
                (x.atan() - 1.0, 1.0 / (1.0 + x * x))
            });
            assert!((found - 1f64.tan()).abs() < 1e-14, "{found} from {start}");
        }
        let nan = increasing_newton(0.0, 1.0, 0.5, 1e-15, |_| (f64::NAN, f64::NAN));
        assert!((0.0..=1.0).contains(&nan));
    }
}
