//! Samples of two mixtures of Gaussians, fitted again; and the likelihood after switching the
//! labels of the components, which does not change.

use super::{Group, Line};
use crate::io::random::chunk_rng;
use abduce::Control;
use abduce::Result;
use abduce::ask::Joint;
use abduce::data::{CHUNK_ROWS, Field, Kind, Schema, Table};
use abduce::family::{Distribution, Gaussian, LeafFamily};
use abduce::leaf::Leaf;
use abduce::model::mixture::{
    CovarianceKind, Fit, FitOptions, FittedMixture, Parameters, Specification, fit,
};

pub const GROUP: Group = Group {
    name: "Mixtures of Gaussians, 10,000 rows drawn and fitted",
    run,
};

const ROWS: usize = 10_000;

/// The number of standard errors that an estimate may differ from the truth.
const MAX_STANDARD_ERRORS: f64 = 4.0;

fn run() -> Result<Vec<Line>> {
    let mut lines = recover(&[0.4, 0.6], &[2.0, 5.0], &[0.6, 0.6])?;
    lines.extend(recover(
        &[0.4, 0.2, 0.4],
        &[2.0, 5.0, 10.0],
        &[0.6, 0.8, 0.5],
    )?);
    Ok(lines)
}

/// Draws rows of a mixture and compares the fitted parameters with the true ones.
fn recover(weights: &[f64], means: &[f64], deviations: &[f64]) -> Result<Vec<Line>> {
    let table = draw(weights, means, deviations)?;
    let k = weights.len();
    let fit = learn(&table, k, 0)?;
    let mut lines = Vec::new();
    for (j, (weight, mean, sd)) in components(&fit.mixture).into_iter().enumerate() {
        let rows = weights[j] * ROWS as f64;
        let tolerance = |error: f64| (MAX_STANDARD_ERRORS * error * 1e4).ceil() / 1e4;
        let name = |what: &str| format!("{k} components, {what} {}", j + 1);
        let error = (weights[j] * (1.0 - weights[j]) / ROWS as f64).sqrt();
        lines.push(Line::close_to(
            &name("λ"),
            weights[j],
            tolerance(error),
            weight,
        ));
        let error = deviations[j] / rows.sqrt();
        lines.push(Line::close_to(&name("μ"), means[j], tolerance(error), mean));
        let error = deviations[j] / (2.0 * rows).sqrt();
        lines.push(Line::close_to(
            &name("σ"),
            deviations[j],
            tolerance(error),
            sd,
        ));
    }
    let other = learn(&table, k, 1)?;
    let name = format!("{k} components, log-likelihood from another start");
    lines.push(Line::new(
        &name,
        format!("{:.3}", fit.log_likelihood),
        format!("{:.3}", other.log_likelihood),
        (fit.log_likelihood - other.log_likelihood).abs() <= 1e-6 * fit.log_likelihood.abs(),
    ));
    let mut switched = fit.mixture.clone();
    switched.parameters.weights.reverse();
    switched
        .parameters
        .leaves
        .iter_mut()
        .for_each(|leaf| leaf.reverse());
    let name = format!("{k} components, log-likelihood with labels switched");
    let expected = total_log_likelihood(&fit.mixture, &table)?;
    let obtained = total_log_likelihood(&switched, &table)?;
    lines.push(Line::number(&name, expected, obtained, 6));
    Ok(lines)
}

fn learn(table: &Table, k: usize, seed: u64) -> Result<Fit> {
    let options = FitOptions {
        restarts: 3,
        seed,
        ..FitOptions::default()
    };
    let specification = Specification::mixture(k, CovarianceKind::Full);
    fit(&specification, table, &options, Control::default())
}

/// Weight, mean and standard deviation of the components, sorted by mean.
fn components(mixture: &FittedMixture) -> Vec<(f64, f64, f64)> {
    let mut components: Vec<(f64, f64, f64)> = (mixture.parameters.weights.iter())
        .zip(&mixture.parameters.leaves[0])
        .filter_map(|(weight, distribution)| match distribution {
            Distribution::Gaussian(g) => Some((*weight, g.mean, g.variance.sqrt())),
            Distribution::Multivariate(g) => Some((*weight, g.mean[0], g.covariance(0, 0).sqrt())),
            _ => None,
        })
        .collect();
    components.sort_by(|a, b| a.1.total_cmp(&b.1));
    components
}

fn draw(weights: &[f64], means: &[f64], deviations: &[f64]) -> Result<Table> {
    let family = LeafFamily::Gaussian {
        shape: (),
        prior: Default::default(),
        fallback: None,
    };
    let gaussians = means.iter().zip(deviations).map(|(mean, sd)| {
        Distribution::Gaussian(Gaussian {
            mean: *mean,
            variance: sd * sd,
        })
    });
    let leaf = Leaf::new(vec![0], family);
    let parameters = Parameters {
        unseen: Vec::new(),
        weights: weights.to_vec(),
        leaves: vec![gaussians.collect()],
    };
    let schema = Schema::new(vec![Field::new("x", Kind::Real)]);
    let truth = FittedMixture::given(schema, None, vec![leaf], parameters);
    let chunks = (0..ROWS)
        .step_by(CHUNK_ROWS)
        .enumerate()
        .map(|(number, start)| {
            let rows = CHUNK_ROWS.min(ROWS - start);
            truth.sample(&[None], rows, &mut chunk_rng(0, 0, number))
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(Table::from_chunks(truth.schema.clone(), chunks))
}

fn total_log_likelihood(mixture: &FittedMixture, table: &Table) -> Result<f64> {
    let mut total = 0.0;
    for chunk in table.chunks() {
        total += mixture.log_density(chunk)?.iter().sum::<f64>();
    }
    Ok(total)
}
