//! Confidence intervals of a probability that have their coverage for every true probability:
//! Clopper and Pearson's exact one, and Hoeffding's.

use crate::family::{Beta, Univariate};
use crate::{Error, Result};

/// The exact interval of Clopper & Pearson (1934): all probabilities under which at least so many
/// successes, and also at most so many, have a probability of (1 − level)/2 or more. Counts may be
/// sums of weights.
///
/// ```
/// let (low, high) = abduce::bayes::clopper_pearson(6.0, 4.0, 0.95)?;
/// assert!((low - 0.262378).abs() < 1e-6 && (high - 0.878448).abs() < 1e-6);
/// # Ok::<(), abduce::Error>(())
/// ```
///
/// # Errors
/// If a count is negative, or the level is not between 0 and 1.
pub fn clopper_pearson(successes: f64, failures: f64, level: f64) -> Result<(f64, f64)> {
    check(successes, failures, level)?;
    let tail = 0.5 * (1.0 - level);
    let quantile = |a: f64, b: f64, p: f64| Beta { a, b }.quantile(p);
    let low = if successes > 0.0 {
        quantile(successes, failures + 1.0, tail)
    } else {
        0.0
    };
    let high = if failures > 0.0 {
        quantile(successes + 1.0, failures, 1.0 - tail)
    } else {
        1.0
    };
    Ok((low, high))
}

/// Hoeffding's interval about the smoothed share (s + α)/(m + 2α), for any α: its bias is at most
/// α/(m + 2α), and the share differs from its mean by more than √(ln(2/δ)/2m) with probability δ
/// = 1 − level at most.
///
/// ```
/// let (low, high) = abduce::bayes::hoeffding(0.0, 100.0, 1.0, 0.95)?;
/// assert_eq!(low, 0.0);
/// assert!(high > 0.0 && high < 0.2);
/// # Ok::<(), abduce::Error>(())
/// ```
///
/// # Errors
/// If a count or α is negative, or the level is not between 0 and 1.
pub fn hoeffding(successes: f64, failures: f64, alpha: f64, level: f64) -> Result<(f64, f64)> {
    check(successes, failures, level)?;
    if !(alpha >= 0.0 && alpha.is_finite()) {
        return Err(Error::parameter("the smoothing must be 0 or more"));
    }
    let rows = successes + failures;
    let total = rows + 2.0 * alpha;
    if total <= 0.0 {
        return Ok((0.0, 1.0));
    }
    let stray = (0.5 * rows * (2.0 / (1.0 - level)).ln()).sqrt();
    let reach = (alpha + stray) / total;
    let share = (successes + alpha) / total;
    Ok(((share - reach).max(0.0), (share + reach).min(1.0)))
}

fn check(successes: f64, failures: f64, level: f64) -> Result<()> {
    let count = |x: f64| x >= 0.0 && x.is_finite();
    if !(count(successes) && count(failures)) {
        return Err(Error::parameter("counts must be 0 or more"));
    }
    if level > 0.0 && level < 1.0 {
        Ok(())
    } else {
        Err(Error::parameter("the level must be between 0 and 1"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::Binomial;

    /// The probability that the interval contains the true value, by enumeration.
    fn coverage(interval: impl Fn(f64, f64) -> (f64, f64), trials: u64, truth: f64) -> f64 {
        let outcomes = Binomial {
            trials,
            probability: truth,
        };
        let holds = |s: u64| {
            let (low, high) = interval(s as f64, (trials - s) as f64);
            (low..=high).contains(&truth)
        };
        let held = (0..=trials).filter(|s| holds(*s));
        held.map(|s| outcomes.density(s as f64)).sum()
    }

    #[test]
    fn intervals_have_at_least_their_coverage() {
        for truth in [0.0, 0.003, 0.1, 0.37, 0.5, 0.9, 1.0] {
            for trials in [1, 7, 40] {
                let exact = |s, f| clopper_pearson(s, f, 0.9).unwrap();
                assert!(coverage(exact, trials, truth) >= 0.9, "{truth} {trials}");
                for alpha in [0.0, 1.0] {
                    let bound = |s, f| hoeffding(s, f, alpha, 0.9).unwrap();
                    assert!(coverage(bound, trials, truth) >= 0.9, "{truth} {trials}");
                }
            }
        }
    }

    #[test]
    fn without_rows_the_interval_is_the_whole_range() {
        assert_eq!(clopper_pearson(0.0, 0.0, 0.95).unwrap(), (0.0, 1.0));
        assert_eq!(hoeffding(0.0, 0.0, 1.0, 0.95).unwrap(), (0.0, 1.0));
        assert!(clopper_pearson(1.0, 1.0, 1.0).is_err());
        assert!(clopper_pearson(-1.0, 1.0, 0.5).is_err());
    }
}
