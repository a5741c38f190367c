//! Selection of the number of components and the covariance: comparisons with R's mclust,
//! spurious maxima, and laws of the criteria.

use crate::common::{golden, golden_columns, real_table, with_threads};
use abduce::Control;
use abduce::data::Table;
use abduce::model::mixture::{
    CovarianceKind, Criterion, Fit, FitOptions, Grid, NormalPrior, Selection, Specification, fit,
    select,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

fn reals(columns: Vec<Vec<f64>>) -> Table {
    real_table(columns.into_iter().map(|x| x.into_iter().map(Some)), None)
}

fn table(name: &str) -> Table {
    reals(golden_columns(name))
}

fn choose(
    table: &Table,
    components: impl IntoIterator<Item = usize>,
    covariances: &[CovarianceKind],
    criterion: Criterion,
    restarts: usize,
) -> (Fit, Selection) {
    let grid = Grid {
        components: components.into_iter().collect(),
        covariances: covariances.to_vec(),
        criterion,
        folds: 5,
    };
    let options = FitOptions {
        restarts,
        ..FitOptions::default()
    };
    let specification = Specification::mixture(1, CovarianceKind::Full);
    select(&specification, &grid, table, &options, Control::default()).unwrap()
}

/// The log-likelihoods of a converged fit with diagonal components, and of mclust.
fn diagonal(name: &str, prior: Option<NormalPrior>, restarts: usize) -> (f64, f64) {
    let golden = golden("mclust_geysers");
    let components = golden[name]["components"].as_u64().unwrap() as usize;
    let specification = Specification {
        normal_prior: prior,
        ..Specification::mixture(components, "VVI".parse().unwrap())
    };
    let mut options = FitOptions {
        restarts,
        ..FitOptions::default()
    };
    options.em.tolerance = 1e-12;
    let fit = fit(&specification, &table(name), &options, Control::default()).unwrap();
    let expected = golden[name]["log_likelihood"].as_f64().unwrap();
    (fit.log_likelihood, expected)
}

#[test]
fn the_likelihood_under_the_mclust_prior_agrees_with_mclust() {
    let (obtained, expected) = diagonal("geyser", Some(NormalPrior::default()), 10);
    assert!((obtained - expected).abs() < 1e-4, "{obtained} {expected}");
}

#[test]
fn the_likelihood_of_four_groups_of_quakes_is_at_least_that_of_mclust() {
    let (obtained, expected) = diagonal("quakes", None, 30);
    assert!(obtained > expected - 1e-3, "{obtained} {expected}");
}

#[test]
fn bic_selects_three_tied_components_for_old_faithful() {
    let (fit, selection) = choose(
        &table("faithful"),
        1..=9,
        &CovarianceKind::ALL,
        Criterion::Bic,
        30,
    );
    let chosen = &selection.tried[selection.chosen];
    assert_eq!(
        (chosen.covariance, chosen.components),
        (CovarianceKind::Tied, 3)
    );
    assert!(fit.bic <= 2314.316, "{}", fit.bic);
    assert_eq!(selection.tried.len(), 126);
    assert!(chosen.spurious.is_none());
}

/// Fits a grid and compares it with mclust's: the number of fits with a worse BIC, the number
/// compared, and the selection.
fn compare_with_mclust(name: &str, covariances: &[CovarianceKind]) -> (usize, usize, Selection) {
    let golden = golden("mclust");
    let (_, selection) = choose(&table(name), 1..=9, covariances, Criterion::Bic, 10);
    let (mut worse, mut all) = (0, 0);
    for candidate in &selection.tried {
        let table = &golden["tables"][name];
        let code = candidate.covariance.code();
        let row = match (name, code) {
            ("galaxies", "EII") => &table["E"],
            ("galaxies", "VII") => &table["V"],
            _ => &table[code],
        };
        if let Some(bic) = row[candidate.components - 1].as_f64() {
            all += 1;
            worse += usize::from(candidate.bic.unwrap() > bic + 0.01);
        }
    }
    (worse, all, selection)
}

#[test]
fn bic_tables_of_iris_galaxies_and_crabs_are_at_least_as_good_as_mclust() {
    // In up to three of more than 110 fits, as with nine components on 150 rows, the start of
    // mclust leads to a better maximum than ten starts here.
    let (worse, all, selection) = compare_with_mclust("iris", &CovarianceKind::ALL);
    assert!(worse <= 3 && all > 110, "{worse} of {all}");
    let chosen = &selection.tried[selection.chosen];
    assert_eq!(
        (chosen.covariance, chosen.components),
        (CovarianceKind::Vev, 2)
    );
    assert!((chosen.bic.unwrap() - 561.7285).abs() < 0.01);
    let single = [CovarianceKind::Eii, CovarianceKind::Spherical];
    let (worse, all, _) = compare_with_mclust("galaxies", &single);
    assert_eq!((worse, all), (0, 18));
    let (worse, all, _) = compare_with_mclust("crabs", &CovarianceKind::ALL);
    assert!(worse <= 3 && all > 110, "{worse} of {all}");
}

#[test]
fn spurious_components_on_identical_rows_are_reported_and_not_chosen() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut x: Vec<f64> = (0..150).map(|_| rng.sample(StandardNormal)).collect();
    x[..20].fill(0.25);
    let (fit, selection) = choose(
        &reals(vec![x]),
        1..=3,
        &[CovarianceKind::Spherical],
        Criterion::Bic,
        // The third start, at random rows, finds another maximum.
        2,
    );
    let wins =
        |candidate: &abduce::model::mixture::Candidate| candidate.bic < selection.tried[0].bic;
    let spurious = selection.tried[1..]
        .iter()
        .filter(|candidate| wins(candidate));
    assert!(spurious.clone().count() > 0, "{selection:?}");
    assert!(
        spurious
            .clone()
            .all(|candidate| candidate.spurious.is_some())
    );
    assert_eq!(selection.chosen, 0);
    let warned = fit
        .warnings
        .iter()
        .any(|warning| warning.contains("not chosen"));
    assert!(warned, "{:?}", fit.warnings);
}

#[test]
fn every_criterion_finds_three_distant_clusters() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let columns: Vec<Vec<f64>> = (0..2)
        .map(|c| {
            let cell = |i: usize| {
                let noise: f64 = rng.sample(StandardNormal);
                10.0 * ((i + c) % 3) as f64 + noise
            };
            (0..300).map(cell).collect()
        })
        .collect();
    let table = reals(columns);
    let covariances = [CovarianceKind::Eii, CovarianceKind::Full];
    for criterion in [Criterion::Bic, Criterion::Icl, Criterion::Cv] {
        let (fit, selection) = choose(&table, 1..=4, &covariances, criterion, 3);
        // Held-out likelihoods of three and four components differ only by chance.
        let largest = if criterion == Criterion::Cv { 4 } else { 3 };
        let chosen = fit.mixture.components();
        assert!((3..=largest).contains(&chosen), "{criterion:?}: {chosen}");
        for candidate in &selection.tried {
            // ICL adds the entropy of the assignments to BIC.
            assert!(candidate.icl.unwrap() >= candidate.bic.unwrap() - 1e-9);
            assert_eq!(candidate.cv.is_some(), criterion == Criterion::Cv);
        }
    }
}

#[test]
fn the_same_choice_is_made_on_any_number_of_threads() {
    let table = table("galaxies");
    let covariances = [CovarianceKind::Eii, CovarianceKind::Spherical];
    let on = |threads: usize| {
        with_threads(threads, || {
            choose(&table, 1..=6, &covariances, Criterion::Bic, 4).1
        })
    };
    assert_eq!(on(1), on(2));
    assert_eq!(on(1), on(7));
    let held_out = |threads: usize| {
        with_threads(threads, || {
            choose(&table, 1..=3, &covariances, Criterion::Cv, 2).1
        })
    };
    assert_eq!(held_out(1), held_out(3));
}

#[test]
fn a_grid_of_a_small_table_has_the_fits_of_each_pair_alone() {
    let table = table("iris");
    let covariances = [CovarianceKind::Diagonal, CovarianceKind::Full];
    let (_, selection) = choose(&table, 2..=3, &covariances, Criterion::Bic, 7);
    for candidate in &selection.tried {
        let alone = choose(
            &table,
            [candidate.components],
            &[candidate.covariance],
            Criterion::Bic,
            7,
        );
        assert_eq!(alone.1.tried, std::slice::from_ref(candidate));
    }
}

/// Four round groups in five columns.
fn four_groups(rows: usize) -> Table {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let mut normal = || -> f64 { rng.sample(StandardNormal) };
    let centres: Vec<f64> = (0..20).map(|_| 4.0 * normal()).collect();
    let cell = |row: usize, column: usize, noise: f64| centres[row % 4 * 5 + column] + noise;
    let columns = (0..5).map(|column| (0..rows).map(|row| cell(row, column, normal())).collect());
    reals(columns.collect())
}

const SEVERAL: [CovarianceKind; 4] = [
    CovarianceKind::Eii,
    CovarianceKind::Diagonal,
    CovarianceKind::Tied,
    CovarianceKind::Full,
];

#[test]
fn fits_that_cannot_win_are_stopped_and_the_chosen_one_is_finished() {
    let table = four_groups(1500);
    let (chosen, selection) = choose(&table, 2..=8, &SEVERAL, Criterion::Bic, 4);
    let best = &selection.tried[selection.chosen];
    assert_eq!((best.covariance, best.components), (CovarianceKind::Eii, 4));
    assert!(best.converged && chosen.converged && chosen.monotone);
    let alone = choose(&table, [4], &[CovarianceKind::Eii], Criterion::Bic, 4).0;
    assert!(
        (chosen.bic - alone.bic).abs() < 0.01,
        "{} {}",
        chosen.bic,
        alone.bic
    );
    assert_eq!(chosen.trace.len(), chosen.objectives.len());
    assert_eq!(chosen.trace.len(), chosen.bounds.len() + 1);
    assert_eq!(chosen.starts.len(), 4);
    let stopped = selection
        .tried
        .iter()
        .filter(|candidate| candidate.stopped_early);
    assert!(stopped.clone().count() >= 4, "{selection:?}");
    for candidate in stopped {
        assert!(!candidate.converged && candidate.bic > best.bic);
        let exact =
            -2.0 * candidate.log_likelihood.unwrap() + candidate.parameters as f64 * 1500f64.ln();
        assert!((candidate.bic.unwrap() - exact).abs() < 1e-6);
    }
    // Other criteria than BIC and AIC are not functions of the likelihood alone.
    let (_, selection) = choose(&table, 4..=6, &SEVERAL[..2], Criterion::Icl, 2);
    assert!(
        selection
            .tried
            .iter()
            .all(|candidate| !candidate.stopped_early)
    );
}

#[test]
fn a_grid_with_stopped_fits_is_the_same_on_any_number_of_threads() {
    let table = four_groups(1000);
    let on = |threads: usize| {
        with_threads(threads, || {
            let (fit, selection) = choose(&table, 3..=6, &SEVERAL, Criterion::Bic, 3);
            (fit.trace, selection)
        })
    };
    let one = on(1);
    assert!(one.1.tried.iter().any(|candidate| candidate.stopped_early));
    assert_eq!(one, on(2));
    assert_eq!(one, on(5));
}

#[test]
fn equivalent_covariance_structures_are_fitted_once() {
    let x: Vec<f64> = (0..90)
        .map(|i| 10.0 * f64::from(i % 3) + (1.0 + f64::from(i % 3)) * (f64::from(i) * 1.7).sin())
        .collect();
    let table = reals(vec![x]);
    let (_, selection) = choose(&table, 1..=3, &CovarianceKind::ALL, Criterion::Bic, 3);
    assert_eq!(selection.tried.len(), 9);
    let options = FitOptions {
        restarts: 3,
        ..FitOptions::default()
    };
    let alone = |covariance: CovarianceKind, components: usize| {
        let specification = Specification::mixture(components, covariance);
        fit(&specification, &table, &options, Control::default()).unwrap()
    };
    let sizes: Vec<usize> = selection
        .same
        .iter()
        .map(|candidate| candidate.same.len())
        .collect();
    assert_eq!(sizes, [2, 6, 3]);
    for same in &selection.same {
        let tried = selection.tried.iter();
        for candidate in tried.filter(|candidate| candidate.covariance == same.covariance) {
            for other in &same.same {
                let other = alone(*other, candidate.components);
                assert_eq!(other.parameters, candidate.parameters);
                let difference = (other.bic - candidate.bic.unwrap()).abs();
                assert!(difference < 1e-6, "{difference} {:?}", candidate.covariance);
            }
        }
    }
    // Equal and variable variance are one model for one component.
    assert_eq!(selection.tried[0].bic, selection.tried[3].bic);
}

#[test]
fn one_component_of_several_columns_is_spherical_diagonal_or_full() {
    let column = |c: f64| {
        (0..50)
            .map(|i| (f64::from(i) * (1.3 + c)).sin() * (1.0 + c))
            .collect()
    };
    let table = reals(vec![column(0.0), column(1.0)]);
    let (_, one) = choose(&table, [1], &CovarianceKind::ALL, Criterion::Bic, 1);
    let codes: Vec<&str> = one
        .tried
        .iter()
        .map(|candidate| candidate.covariance.code())
        .collect();
    assert_eq!(codes, ["EII", "EEI", "EEE"]);
    let (_, both) = choose(&table, [1, 2], &CovarianceKind::ALL, Criterion::Bic, 1);
    assert_eq!((both.tried.len(), both.same.len()), (28, 0));
    for candidate in both
        .tried
        .iter()
        .filter(|candidate| candidate.components == 1)
    {
        let same = candidate.covariance.simplest(2, 1);
        let same = one.tried.iter().find(|other| other.covariance == same);
        assert_eq!(candidate.bic, same.unwrap().bic);
    }
}
