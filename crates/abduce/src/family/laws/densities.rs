//! The laws of densities: they integrate to one, draws look like their source, and
//! statistics know the likelihood of their rows.

use super::*;

/// Of a family with something hidden in every row, statistics know only what is
/// expected of rows.
pub(super) fn likelihood_from_statistics_is_the_sum_of_densities<F: Examples>(
    family: &F,
    seed: u64,
) {
    if F::LATENT {
        return;
    }
    let data = draw(family, 50, false, seed);
    let w = weights(50);
    let stats = observed(family, &data.cells(), &w);
    let sum: f64 = log_densities(family, &data.cells())
        .iter()
        .zip(&w)
        .map(|(l, w)| l * w)
        .sum();
    let obtained = family.log_likelihood(&stats);
    assert!(
        (sum - obtained).abs() < 1e-7 * (1.0 + sum.abs()),
        "{sum} {obtained}: {family:?}"
    );
}

pub(super) fn samples_have_the_fitted_parameters<F: Examples>(family: &F, seed: u64) {
    let data = draw(family, 20_000, false, 77 + seed);
    let fitted = fitted(family, &data.cells(), &[1.0; 20_000]);
    // Wilks: twice the gain over the truth is about chi-squared with as many
    // degrees of freedom as parameters; 60 is far beyond it for these.
    let likelihood = |of: &F| log_densities(of, &data.cells()).iter().sum::<f64>();
    let gain = 2.0 * (likelihood(&fitted) - likelihood(family));
    // A density of points has as many degrees of freedom as there are widths in
    // its range, and may be smoother than the truth.
    let allowed = if F::BY_LIKELIHOOD { 60.0 } else { 400.0 };
    assert!(gain < allowed, "samples of {family:?} look like {fitted:?}");
}

/// Importance sampling: under draws x of the family, the mean of g(x)/f(x) is
/// 1 for any density g inside f's support; g is an estimate from other draws.
pub(super) fn densities_integrate_to_one<F: Examples>(family: &F, seed: u64) {
    if let Some(probabilities) = family.probabilities() {
        let codes: Vec<u32> = (0..probabilities.len() as u32).collect();
        let total: f64 = log_densities(family, &[Cells::code(&codes)])
            .iter()
            .map(|l| l.exp())
            .sum();
        assert!((total - 1.0).abs() < 1e-12, "{family:?}");
        return;
    }
    if !F::BY_LIKELIHOOD {
        assert_eq!(width(family), 1);
        return integrates_on_a_mesh(family, seed);
    }
    let fit = draw(family, 200, false, 5 + seed);
    let other = fitted(family, &fit.cells(), &[1.0; 200]);
    let data = draw(family, 20_000, false, 6 + seed);
    let (f, g) = (
        log_densities(family, &data.cells()),
        log_densities(&other, &data.cells()),
    );
    let mean = f.iter().zip(&g).map(|(f, g)| (g - f).exp()).sum::<f64>() / 20_000.0;
    assert!(
        (mean - 1.0).abs() < 0.03,
        "the density integrates to {mean}: {family:?}"
    );
}

/// A density of points may have gaps that another's does not have: it is summed
/// over a mesh that reaches a range beyond its draws.
fn integrates_on_a_mesh<F: Examples>(family: &F, seed: u64) {
    let data = draw(family, 2_000, false, 6 + seed);
    let x = data.cells()[0].reals().to_vec();
    let least = x.iter().copied().fold(f64::INFINITY, f64::min);
    let most = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (range, steps) = (most - least, 30_000);
    let step = 3.0 * range / f64::from(steps);
    let node = |i: i32| least - range + step * (f64::from(i) + 0.5);
    let nodes: Vec<f64> = (0..steps).map(node).collect();
    let log_densities = log_densities(family, &[Cells::real(&nodes)]);
    let total: f64 = log_densities.iter().map(|l| l.exp() * step).sum();
    assert!(
        (total - 1.0).abs() < 1e-2,
        "the density integrates to {total}: {family:?}"
    );
}
