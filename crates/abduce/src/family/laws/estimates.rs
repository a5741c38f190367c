//! The laws of estimates: nothing is more probable, and equal rows are no exception.

use super::*;

pub(super) fn beat_perturbations<F: Examples>(family: &F, seed: u64) {
    if !F::BY_LIKELIHOOD {
        return;
    }
    let data = draw(family, 300, false, seed);
    let stats = observed(family, &data.cells(), &weights(300));
    let weak = |variance_floor: f64, smoothing: f64| {
        let strength = PriorStrength {
            variance_floor,
            ridge: 0.0,
            unit_share: 0.0,
            smoothing,
            rows: 300.0,
            row_weight: 1.0,
        };
        F::weak_prior(&scales(&data), &strength)
    };
    for prior in [F::Prior::default(), weak(1e-6, 1.0), weak(0.1, 7.5)] {
        let best = F::map(&stats, &prior).unwrap();
        let objective = |f: &F| f.log_likelihood(&stats) + f.log_prior(&prior);
        let most = objective(&best);
        assert!(
            most >= objective(family) - 1e-9,
            "the estimate beats the truth: {family:?}"
        );
        // Estimates from other rows are perturbations of this one.
        for other in 0..20 {
            let data = draw(family, 300, false, 1000 + seed * 20 + other);
            let stats = observed(family, &data.cells(), &[1.0; 300]);
            let other = F::map(&stats, &prior).unwrap();
            let rounding = 1e-12 * most.abs();
            assert!(
                most >= objective(&other) - 1e-9 - rounding,
                "{best:?} {other:?} {prior:?}"
            );
        }
    }
}

/// A class of equal rows must not be described by what all rows say.
pub(super) fn of_equal_rows_make_them_likelier_than_those_of_all<F: Examples>(
    family: &F,
    seed: u64,
) {
    const ROWS: usize = 60;
    let data = draw(family, ROWS, false, 9 + seed);
    // A third of the rows are copies of the first: a class of its own.
    let place = |row: usize| if row < ROWS / 3 { 0 } else { row as u32 };
    let rows: Vec<u32> = (0..ROWS).map(place).collect();
    let data = Drawn {
        columns: data
            .columns
            .iter()
            .map(|column| column.take(&rows))
            .collect(),
        rows: ROWS,
    };
    let equal = observed(family, &data.part(0, ROWS / 3), &[1.0; ROWS]);
    let others = observed(family, &data.part(ROWS / 3, 2 * ROWS / 3), &[1.0; ROWS]);
    let all = observed(family, &data.cells(), &[1.0; ROWS]);
    let (shape, scales) = (family.shape(), scales(&data));
    let fallback = F::fallback(&shape, &scales);
    // A Poisson distribution of rate 0 has only one value.
    let all_equal = data.cells().iter().all(|cells| {
        let (reals, codes) = (cells.reals(), cells.codes());
        reals.iter().all(|x| *x == reals[0]) && codes.iter().all(|code| *code == codes[0])
    });
    // Over levels, smoothing moves estimates from fewer rows closer to uniform; it is 0 there.
    let most = f64::from(u8::from(F::HAS_UNITS));
    for (variance_floor, smoothing) in [(1e-6, most), (1e-6, 0.0), (0.0, 0.0)] {
        let strength = PriorStrength {
            variance_floor,
            ridge: 0.0,
            unit_share: 0.0,
            smoothing,
            rows: ROWS as f64,
            row_weight: 1.0,
        };
        let prior = F::weak_prior(&scales, &strength);
        let at = |stats: &[F::Stats]| {
            let estimate =
                &F::map_all(&shape, &stats.iter().collect::<Vec<_>>(), &prior, &fallback)[0];
            assert!(estimate.is_valid(&shape), "{estimate:?}");
            log_densities(estimate, &data.part(0, 1))[0]
        };
        let (separate, pooled) = (
            at(&[equal.clone(), others.clone()]),
            at(std::slice::from_ref(&all)),
        );
        assert!(
            separate > pooled || (separate == pooled && all_equal),
            "{separate} {pooled} {strength:?}: {family:?}"
        );
    }
}
