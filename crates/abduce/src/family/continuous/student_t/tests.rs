//! The maximum-likelihood estimate finds the best of several maxima.

use super::StudentT;
use crate::family::{PointStats, Scalar, Univariate};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn points(rows: &[f64]) -> PointStats {
    PointStats::new(rows.iter().map(|x| (*x, 1.0)))
}

#[test]
fn a_maximum_beside_a_scale_that_vanishes_is_found() {
    // Below 2/7 degrees of freedom the likelihood about 0 has no limit. The
    // maximum is SciPy's, by Nelder and Mead on its log-density.
    let rows = [0.3, -2.5, -2.5, 1.1, 0.0, 0.0, 0.2, 90.0, 90.0];
    let fitted = StudentT::estimate(&PointStats::new(rows.map(|x| (x, 1.0)))).unwrap();
    assert!((fitted.degrees - 0.339_627).abs() < 1e-5, "{fitted:?}");
    assert!((fitted.scale - 0.234_500).abs() < 1e-5, "{fitted:?}");
    assert!((fitted.location - 0.106_834).abs() < 1e-5, "{fitted:?}");
}

#[test]
fn outliers_on_either_side_do_not_hide_the_better_maximum() {
    // From four degrees of freedom the likelihood rises to that of a Gaussian,
    // -69.425; beyond a valley it is higher. The maximum is SciPy's, by Nelder and
    // Mead on its log-density.
    let middle = (0..12).map(|i| f64::from(i) / 5.5 - 1.0);
    let far = [9.2, 9.8, 10.1, 10.6, 11.0, -10.9, -10.1, -9.6, -9.3];
    let points = PointStats::new(middle.chain(far).map(|x| (x, 1.0)));
    let fitted = StudentT::estimate(&points).unwrap();
    assert!((fitted.degrees - 0.597_830).abs() < 1e-5, "{fitted:?}");
    assert!((fitted.scale - 0.927_934).abs() < 1e-5, "{fitted:?}");
    let likelihood = fitted.log_likelihood_of(&points);
    assert!((likelihood + 67.677_904).abs() < 1e-5, "{likelihood}");
}

#[test]
fn a_tight_cluster_away_from_the_median_is_found() {
    let rows = [
        0.931, 0.278, 0.537, 0.444, -0.287, 5.908, 6.077, 5.912, 5.894,
    ];
    let points = points(&rows);
    let fitted = StudentT::estimate(&points).unwrap();
    // From the median the search ends at -21.981. The reference is the best of
    // SciPy's Nelder-Mead searches from every number, seven scales and four ν.
    let likelihood = fitted.log_likelihood_of(&points);
    assert!(
        (likelihood + 21.892).abs() < 5e-4,
        "{likelihood} {fitted:?}"
    );
    assert!((fitted.degrees - 0.183).abs() < 5e-4, "{fitted:?}");
}

/// The best maximum of the likelihood on a grid of locations, scales and degrees
/// of freedom, each grid maximum improved by a pattern search. Searches that end
/// at the border of the grid, where the likelihood has no maximum, do not count.
fn brute_force(points: &PointStats) -> f64 {
    let (low, high) = (points.values[0], *points.values.last().unwrap());
    let middle = |i: usize| 0.5 * (points.values[i] + points.values[i + 1]);
    let between = (0..points.values.len() - 1).map(middle);
    let centres: Vec<f64> = points.values.iter().copied().chain(between).collect();
    let log_scales = (0..14).map(|i| ((high - low) * 0.5f64.powi(i)).ln());
    let log_scales: Vec<f64> = log_scales.collect();
    let log_degrees: Vec<f64> = (0..12).map(|i| 0.1f64.ln() + 0.5 * f64::from(i)).collect();
    let at = |x: [f64; 3]| {
        let fitted = StudentT {
            location: x[0],
            scale: x[1].exp(),
            degrees: x[2].exp(),
        };
        fitted.log_likelihood_of(points)
    };
    let mut starts = Vec::new();
    for centre in &centres {
        for degrees in &log_degrees {
            let scales = log_scales.iter().map(|scale| [*centre, *scale, *degrees]);
            starts.extend(scales.max_by(|a, b| at(*a).total_cmp(&at(*b))));
        }
    }
    starts.sort_by(|a, b| at(*b).total_cmp(&at(*a)));
    let mut best = f64::NEG_INFINITY;
    for start in starts.into_iter().take(30) {
        let (mut x, mut value, mut size) = (start, at(start), 0.2);
        while size > 1e-6 {
            let steps = [x[1].exp(), 1.0, 1.0].map(|unit| unit * size);
            let moves = (0..3).flat_map(|k| [(k, 1.0), (k, -1.0)]);
            let tried = moves.map(|(k, sign)| {
                let mut next = x;
                next[k] += sign * steps[k];
                next
            });
            let next = tried.max_by(|a, b| at(*a).total_cmp(&at(*b))).unwrap();
            if at(next) > value {
                (x, value) = (next, at(next));
            } else {
                size *= 0.5;
            }
        }
        let inside = x[1] > (high - low).ln() - 12.0 && (0.101..1e3).contains(&x[2].exp());
        if inside && value > best {
            best = value;
        }
    }
    best
}

#[test]
fn no_maximum_of_small_samples_is_better_than_the_estimate() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let narrow = StudentT::new(6.0, 0.1, 3.0).unwrap();
    let wide = StudentT::new(0.0, 1.0, 2.0).unwrap();
    for sample in 0..40 {
        let n = 6 + sample % 9;
        let of_narrow = if sample % 3 == 0 {
            0
        } else {
            n * (sample % 4) / 5
        };
        let rows = (0..n).map(|i| {
            if i < of_narrow {
                narrow.draw(&mut rng)
            } else {
                wide.draw(&mut rng)
            }
        });
        let points = points(&rows.collect::<Vec<_>>());
        let fitted = StudentT::estimate(&points).unwrap();
        let (found, best) = (fitted.log_likelihood_of(&points), brute_force(&points));
        assert!(
            found > best - 1e-7,
            "sample {sample}: {found} < {best} with {fitted:?} from {points:?}"
        );
    }
}

#[test]
fn a_tight_cluster_among_many_numbers_is_found() {
    // As above, with every number spread over 300 others.
    let rows = [
        0.931, 0.278, 0.537, 0.444, -0.287, 5.908, 6.077, 5.912, 5.894,
    ];
    let near = |x: f64| (0..300).map(move |i| x + 0.004 * (f64::from(i) / 299.0 - 0.5));
    let many = PointStats::new(rows.into_iter().flat_map(near).map(|x| (x, 1.0)));
    let fitted = StudentT::estimate(&many).unwrap();
    assert!((fitted.location - 5.9).abs() < 0.05, "{fitted:?}");
    let maxima = StudentT::all_maxima_of_clusters(&many, 1e-6);
    let best = maxima
        .iter()
        .map(|maximum| maximum.log_likelihood_of(&many));
    let best = best.fold(f64::NEG_INFINITY, f64::max);
    let found = fitted.log_likelihood_of(&many);
    assert!(found > best - 1e-6 * best.abs(), "{found} {best}");
}
