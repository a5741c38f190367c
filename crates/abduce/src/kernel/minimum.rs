//! The minimum of a unimodal function of one variable by golden-section search (Kiefer 1953):
//! every evaluation shrinks the bracket by the factor 0.618.

/// The fraction of the bracket before its first inner point: 2 − φ.
const GOLDEN: f64 = 0.381_966_011_250_105_1;

/// A minimum of a function between `low` and `high`, after at most `values` evaluations, or
/// fewer once the bracket is as narrow as rounding allows. If there are several minima, the
/// result is one of them. Values may be +∞ or NaN.
pub(crate) fn golden_section(
    mut low: f64,
    mut high: f64,
    values: usize,
    mut f: impl FnMut(f64) -> f64,
) -> f64 {
    let before = |low: f64, high: f64| low + GOLDEN * (high - low);
    let after = |low: f64, high: f64| high - GOLDEN * (high - low);
    let (mut a, mut b) = (before(low, high), after(low, high));
    let (mut at_a, mut at_b) = (f(a), f(b));
    for _ in 2..values {
        if high - low <= 2.0 * f64::EPSILON * (low.abs() + high.abs()) {
            break;
        }
        if at_a <= at_b {
            (high, b, at_b) = (b, a, at_a);
            a = before(low, high);
            at_a = f(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = after(low, high);
            at_b = f(b);
        }
    }
    if at_a <= at_b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minimum_is_found_to_the_precision_of_the_values() {
        for least in [-3e5, -1.0, 0.0, 0.3, 7.0, 1e9] {
            let (low, high) = (least - 2.0 - f64::abs(least), least + 5.0);
            let found = golden_section(low, high, 100, |x| (x - least).abs());
            assert!(
                (found - least).abs() <= 1e-14 * (1.0 + least.abs()),
                "{found} {least}"
            );
        }
        // A smooth minimum is flat, so that only half of the digits are determined.
        let found = golden_section(0.0, 3.0, 100, |x: f64| x - x.ln());
        assert!((found - 1.0).abs() < 1e-7, "{found}");
    }

    #[test]
    fn the_number_of_evaluations_is_as_allowed() {
        let mut asked = Vec::new();
        golden_section(0.0, 1.0, 12, |x| {
            asked.push(x);
            (x - 0.2).abs()
        });
        assert_eq!(asked.len(), 12);
        assert!(asked.iter().all(|x| (0.0..=1.0).contains(x)));
    }

    #[test]
    fn an_end_may_be_the_minimum_and_values_need_not_be_finite() {
        assert!(golden_section(2.0, 5.0, 100, |x| x) < 2.0 + 1e-12);
        assert!(golden_section(2.0, 5.0, 100, |x| -x) > 5.0 - 1e-12);
        let wall = |x: f64| if x < 0.5 { f64::INFINITY } else { x };
        assert!((golden_section(0.0, 1.0, 100, wall) - 0.5).abs() < 1e-12);
        assert!((0.0..=1.0).contains(&golden_section(0.0, 1.0, 50, |_| f64::NAN)));
        assert_eq!(golden_section(4.0, 4.0, 50, |x| x), 4.0);
    }
}
