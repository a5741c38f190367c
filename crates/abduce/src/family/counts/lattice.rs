//! Sums of probabilities over runs of counts of any length.
//!
//! A few hundred counts at either end of a run are added one by one. Between
//! them the masses are smooth from count to count, and their sum is an integral:
//! Σ f(k) = ∫ f − [f′]/24 + 7[f‴]/5760 − …, from half a count before the first to
//! half a count after the last (Euler and Maclaurin, midpoint form).

use crate::kernel::quadrature::integrate;

/// The smallest count above x; `None` where no count is below or at x.
pub(crate) fn next_count(x: f64) -> Option<f64> {
    (x >= 0.0).then(|| x.floor() + 1.0)
}

/// Σ exp(log_mass(k)) over the whole numbers from `low` to `high`, which may be
/// infinite. `widths` are mean and deviation, where they are known: where most
/// of the mass is.
pub(crate) fn sum_of_masses(
    log_mass: impl Fn(f64) -> f64,
    low: f64,
    high: f64,
    widths: Option<(f64, f64)>,
) -> f64 {
    const EACH: f64 = 400.0;
    let one_by_one = |from: f64, to: f64| -> f64 {
        let counts = (0..=(to - from) as u64).map(|i| from + i as f64);
        counts.map(|k| log_mass(k).exp()).sum()
    };
    if high - low <= 2.0 * EACH {
        return one_by_one(low, high);
    }
    let mut sum = one_by_one(low, low + EACH - 1.0);
    let from = low + EACH - 0.5;
    let to = if high.is_finite() {
        sum += one_by_one(high - EACH + 1.0, high);
        high - EACH + 0.5
    } else {
        high
    };
    // The scale on which masses change grows with the distance from the ends.
    let mut breaks = Vec::new();
    let furthest = if high.is_finite() { high - low } else { 1e30 };
    let mut distance = 10.0 * EACH;
    while distance < furthest {
        breaks.extend([low + distance, high - distance]);
        distance *= 30.0;
    }
    if let Some((mean, deviation)) = widths {
        let steps = [0.0, 1.0, 3.0, 8.0, 25.0].map(|by| by * deviation);
        breaks.extend(steps.into_iter().flat_map(|by| [mean - by, mean + by]));
    }
    breaks.retain(|x| x.is_finite());
    let mass = |k: f64| log_mass(k).exp();
    // From differences: the first is f′ + f‴/24.
    let correction = |k: f64| {
        if k.is_infinite() {
            return 0.0;
        }
        let [a, b, c, d] = [-1.5, -0.5, 0.5, 1.5].map(|by| mass(k + by));
        (c - b) / 24.0 - 17.0 / 5760.0 * ((d - a) - 3.0 * (c - b))
    };
    let middle = integrate(mass, from, to, &breaks, 1e-13).value;
    sum + middle - (correction(to) - correction(from))
}

/// −Σ p ln p of masses in the shape of a wide bell about a count, far from the
/// ends of their range. For such a shape a sum over every h-th count, times h, is
/// the sum over all of them to the last digit (Poisson's summation: what is missing
/// falls as exp(−2π²σ²/h²)).
pub(crate) fn entropy_of_bell(log_mass: impl Fn(f64) -> f64, middle: f64, deviation: f64) -> f64 {
    const STEPS: i32 = 640;
    let step = (deviation / 16.0).floor().max(1.0);
    let each = (-STEPS..=STEPS).map(|i| log_mass(middle + f64::from(i) * step));
    let sum: f64 = each
        .map(|log| log.exp() * -log)
        .filter(|x| x.is_finite())
        .sum();
    step * sum
}

#[cfg(test)]
mod tests {
    use crate::family::{Beta, BetaBinomial, BetaNegativeBinomial, Univariate};

    #[test]
    fn sums_over_long_runs_are_those_of_every_count() {
        for (a, b) in [(2.0, 3.0), (0.3, 0.4), (40.0, 9e3), (1e6, 2e6)] {
            let distribution = BetaBinomial {
                trials: 20_000,
                probability: Beta { a, b },
            };
            let mut sum = 0.0;
            for x in 0..20_000 {
                let x = f64::from(x);
                sum += distribution.density(x);
                if [3.0, 600.0, 950.0, 6_600.0, 10_000.0, 19_990.0].contains(&x) {
                    let error = (distribution.cdf(x) - sum).abs();
                    assert!(error <= 1e-11 * sum, "{distribution:?} {x}: {error}");
                    let rest = distribution.cdf(x) + distribution.survival(x);
                    assert!((rest - 1.0).abs() < 1e-12, "{distribution:?} {x}");
                }
            }
        }
    }

    #[test]
    fn flat_counts_of_any_number_of_trials_are_flat() {
        for trials in [1_000, 1_000_000, 1_000_000_000_000_000] {
            let distribution = BetaBinomial {
                trials,
                probability: Beta { a: 1.0, b: 1.0 },
            };
            let n = trials as f64;
            for share in [1e-3, 0.2, 0.5, 0.999] {
                let x = (share * n).floor();
                let exact = (x + 1.0) / (n + 1.0);
                assert!(
                    (distribution.cdf(x) - exact).abs() < 1e-10 * exact,
                    "{trials} {share}"
                );
            }
        }
    }

    #[test]
    fn both_tails_of_a_waiting_time_are_those_of_every_count() {
        let distribution = BetaNegativeBinomial {
            size: 2.5,
            probability: Beta { a: 1.5, b: 4.0 },
        };
        let mut sum = 0.0;
        for x in 0..20_000 {
            let x = f64::from(x);
            sum += distribution.density(x);
            if [0.0, 5.0, 900.0, 3_000.0, 19_999.0].contains(&x) {
                assert!((distribution.cdf(x) - sum).abs() <= 1e-11 * sum, "{x}");
                assert!(
                    (distribution.cdf(x) + distribution.survival(x) - 1.0).abs() < 1e-11,
                    "{x}"
                );
            }
        }
        // Of size 1 the tail is known: B(a, b + x + 1)/B(a, b).
        let geometric = BetaNegativeBinomial {
            size: 1.0,
            probability: Beta { a: 1.5, b: 4.0 },
        };
        let nearly = BetaNegativeBinomial {
            size: 1.0 + 1e-13,
            ..geometric.clone()
        };
        for x in [10.0, 1e4, 1e12] {
            let (exact, summed) = (geometric.survival(x), nearly.survival(x));
            assert!(
                (summed / exact - 1.0).abs() < 1e-10,
                "{x}: {summed} {exact}"
            );
        }
    }
}
