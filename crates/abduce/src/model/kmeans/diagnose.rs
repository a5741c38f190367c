//! Warnings of a k-means fit.

use super::survey::Survey;
use super::{Algorithm, Distance, Fit, Options, Specification};
use crate::data::Source;
use crate::model::some_of;

/// If standard deviations of columns differ by more, the widest column dominates distances.
const FACTOR: f64 = 100.0;

pub(super) fn diagnose(
    specification: &Specification,
    options: &Options,
    source: &dyn Source,
    survey: &Survey,
    fit: &Fit,
    left_out: Vec<String>,
    useless: &[(usize, &str)],
) -> Vec<String> {
    let mut warnings = Vec::new();
    for (column, why) in useless {
        let name = &source.schema().fields[*column].name;
        warnings.push(format!("column \"{name}\" {why} and is left out"));
    }
    if !left_out.is_empty() {
        warnings.push(format!(
            "left out, as k-means needs numeric columns: {}",
            some_of(&left_out)
        ));
    }
    let there = fit.model.centres.len();
    if there < specification.clusters {
        let what = match specification.distance {
            Distance::Cosine => "rows of different directions",
            _ => "different rows",
        };
        warnings.push(format!(
            "only {there} of {} clusters remain: there are no more {what}",
            specification.clusters
        ));
    }
    if !fit.converged && !fit.interrupted {
        warnings.push(format!(
            "not converged after {} iterations; raise `max_iter`{}",
            fit.iterations,
            // Medoids converge when no swap is left, whatever the tolerance.
            if specification.medoids {
                ""
            } else {
                " or `tol`"
            }
        ));
    }
    if !fit.monotone && options.algorithm != Algorithm::MiniBatch {
        warnings.push("the inertia rose by more than rounding explains".into());
    }
    let counted: f64 = fit.model.sizes.iter().sum();
    if !fit.interrupted && survey.weight - counted > 1e-9 * survey.weight {
        let what = match specification.distance {
            Distance::Cosine => "with no value but zeros",
            _ => "without any value",
        };
        warnings.push(format!(
            "rows {what} are ignored by the fit and put into the largest cluster: weight {}",
            survey.weight - counted
        ));
    }
    let own_units = specification.standardize || specification.distance == Distance::Mahalanobis;
    if !own_units {
        let fields = &source.schema().fields;
        let columns = fit.model.frame.columns.iter().enumerate();
        let spreads: Vec<(f64, &str)> = columns
            .map(|(c, column)| {
                let spread = survey.deviation(c) * fit.model.frame.scale[c];
                (spread, fields[*column].name.as_str())
            })
            .filter(|(spread, _)| *spread > 0.0)
            .collect();
        let widest = spreads.iter().max_by(|a, b| a.0.total_cmp(&b.0));
        let narrowest = spreads.iter().min_by(|a, b| a.0.total_cmp(&b.0));
        if let (Some(widest), Some(narrowest)) = (widest, narrowest)
            && widest.0 > FACTOR * narrowest.0
        {
            warnings.push(format!(
                "\"{}\" spreads more than {FACTOR} times as widely as \"{}\" and dominates the \
                 distances; `standardize` gives all columns the same spread",
                widest.1, narrowest.1
            ));
        }
    }
    warnings
}
