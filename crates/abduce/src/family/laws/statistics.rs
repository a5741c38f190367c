//! The laws of statistics: what was seen adds up, in any order and in any parts, and what
//! was not seen adds nothing.

use super::*;

pub(super) fn statistics_are_a_monoid<F: Examples>(family: &F, seed: u64) {
    let data = draw(family, 90, false, seed);
    let w = weights(90);
    let parts: Vec<F::Stats> = (0..3)
        .map(|i| observed(family, &data.part(30 * i, 30), &w[30 * i..30 * i + 30]))
        .collect();
    let merged = |order: [usize; 3]| {
        let mut sum = parts[order[0]].clone();
        sum.merge(&parts[order[1]]);
        sum.merge(&parts[order[2]]);
        sum
    };
    assert!(
        close(&merged([0, 1, 2]), &merged([2, 0, 1]), 1e-9),
        "merge commutes: {family:?}"
    );
    let mut tail = parts[1].clone();
    tail.merge(&parts[2]);
    let mut associated = parts[0].clone();
    associated.merge(&tail);
    assert!(
        close(&associated, &merged([0, 1, 2]), 1e-9),
        "merge is associative: {family:?}"
    );
    let mut with_zero = parts[0].clone();
    with_zero.merge(&F::zero(&family.shape()));
    assert_eq!(with_zero, parts[0], "zero is neutral: {family:?}");
    let mut from_zero = F::zero(&family.shape());
    from_zero.merge(&parts[0]);
    assert!(
        close(&from_zero, &parts[0], 1e-12),
        "zero is neutral: {family:?}"
    );
    let mut left = associated.clone();
    left.forget(&tail).unwrap();
    assert!(
        close(&left, &parts[0], 1e-6),
        "forgetting undoes merging: {family:?}"
    );
    assert!(
        parts[0].clone().forget(&associated).is_err(),
        "the unseen cannot be forgotten: {family:?}"
    );
}

pub(super) fn weights_are_repetitions<F: Examples>(family: &F, seed: u64) {
    let data = draw(family, 40, false, seed);
    let cells = data.cells();
    let mut twice = observed(family, &cells, &[1.0; 40]);
    twice.merge(&twice.clone());
    let weighted = observed(family, &cells, &[2.0; 40]);
    assert!(
        close(&twice, &weighted, 1e-10),
        "weight 2 is the row twice: {family:?}"
    );
    let mut scaled = observed(family, &cells, &[1.0; 40]);
    scaled.scale(2.0);
    assert!(
        close(&scaled, &weighted, 1e-10),
        "scaling by 2 is weight 2: {family:?}"
    );
    let half: Vec<f64> = (0..40).map(|i| f64::from(u8::from(i < 20))).collect();
    let absent = observed(family, &cells, &half);
    assert!(
        close(
            &absent,
            &observed(family, &data.part(0, 20), &[1.0; 20]),
            1e-10
        ),
        "weight 0 is the row absent: {family:?}"
    );
}

pub(super) fn chunking_is_irrelevant<F: Examples>(family: &F, seed: u64) {
    let data = draw(family, 600, false, seed);
    let w = weights(600);
    let whole = observed(family, &data.cells(), &w);
    let mut pieces = F::zero(&family.shape());
    for start in (0..600).step_by(7) {
        let len = 7.min(600 - start);
        F::observe(
            &Rows::new(&data.part(start, len)),
            &w[start..start + len],
            &mut pieces,
        );
    }
    assert!(
        close(&whole, &pieces, 1e-8),
        "chunks do not matter: {family:?}"
    );
}

pub(super) fn hidden_cells_say_nothing<F: Examples>(family: &F, seed: u64) {
    let d = width(family);
    let hidden: Vec<Column> = (0..d)
        .map(|_| column(vec![None; 5], coded(family)))
        .collect();
    let cells: Vec<Cells> = hidden.iter().map(|c| c.cells(0, 5)).collect();
    assert_eq!(
        log_densities(family, &cells),
        [0.0; 5],
        "a hidden row has log-density 0: {family:?}"
    );
    let zero = F::zero(&family.shape());
    assert_eq!(
        observed(family, &cells, &[1.0; 5]),
        zero,
        "a hidden row is not seen: {family:?}"
    );
    let mut expected = F::zero(&family.shape());
    family.expect(&Rows::new(&cells), &[1.0; 5], &mut expected);
    assert_eq!(expected, zero, "a hidden row teaches nothing: {family:?}");
    let data = draw(family, 200, true, seed);
    assert!(
        log_densities(family, &data.cells())
            .iter()
            .all(|l| l.is_finite()),
        "{family:?}"
    );
}
