//! The minimum of a function of one variable that first falls and then rises, by
//! golden section (Kiefer 1953): the bracket shrinks by 0.618 with every value asked.

/// The share of a bracket that lies before its first inner point: 2 − φ.
const GOLDEN: f64 = 0.381_966_011_250_105_1;

/// Where between `low` and `high` a function is least, after so many values of it, or
/// fewer once the bracket is as narrow as rounding. Where the function has several
/// minima, one of them; of equal values, the first counts.
///
/// Values need not be finite: +∞ is worse than any number, and NaN does no harm.
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
    fn a_minimum_is_found_as_exactly_as_its_values_tell() {
        for least in [-3e5, -1.0, 0.0, 0.3, 7.0, 1e9] {
            let (low, high) = (least - 2.0 - f64::abs(least), least + 5.0);
            let found = golden_section(low, high, 100, |x| (x - least).abs());
            assert!(
                (found - least).abs() <= 1e-14 * (1.0 + least.abs()),
                "{found} {least}"
            );
        }
        // A smooth minimum is flat: half the digits.
        let found = golden_section(0.0, 3.0, 100, |x: f64| x - x.ln());
        assert!((found - 1.0).abs() < 1e-7, "{found}");
    }

    #[test]
    fn no_value_is_asked_twice_and_no_more_than_allowed() {
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
