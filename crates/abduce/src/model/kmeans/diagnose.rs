//! Warnings of a k-means fit.

use super::survey::Survey;
use super::{Algorithm, Distance, Fit, Options, Specification};
use crate::data::Source;
use crate::model::some_of;

/// If standard deviations of columns differ by more, the widest column dominates distances.
const MAX_SPREAD_RATIO: f64 = 100.0;

/// The warnings of a fit. `left_out` are columns that are not numeric, and `useless` numeric
/// columns that were left out, with the reason.
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
    let clusters = fit.model.centres.len();
    if clusters < specification.clusters {
        let what = match specification.distance {
            Distance::Cosine => "rows of different directions",
            _ => "different rows",
        };
        warnings.push(format!(
            "only {clusters} of {} clusters remain: there are no more {what}",
            specification.clusters
        ));
    }
    if fit.interrupted {
        warnings.push("the fit was interrupted; this is the best model so far".into());
    } else if !fit.converged {
        // The search for medoids has no tolerance.
        let or_tolerance = if specification.medoids {
            ""
        } else {
            " or `tol`"
        };
        warnings.push(format!(
            "not converged after {} iterations; raise `max_iter`{or_tolerance}",
            fit.iterations
        ));
    }
    if !fit.monotone && options.algorithm != Algorithm::MiniBatch {
        warnings.push("the inertia increased by more than rounding error".into());
    }
    warnings.extend(ignored_rows(specification, survey, fit));
    warnings.extend(dominating_column(specification, source, survey, fit));
    warnings
}

/// A warning if some rows have no value by which they could be assigned.
fn ignored_rows(specification: &Specification, survey: &Survey, fit: &Fit) -> Option<String> {
    let ignored = survey.weight - fit.model.sizes.iter().sum::<f64>();
    if fit.interrupted || ignored <= 1e-9 * survey.weight {
        return None;
    }
    let what = match specification.distance {
        Distance::Cosine => "with only zeros or missing values",
        _ => "without any value",
    };
    Some(format!(
        "rows {what} are ignored by the fit and assigned to the largest cluster: weight {ignored}"
    ))
}

/// A warning if one column varies much more than another, which then hardly matters.
fn dominating_column(
    specification: &Specification,
    source: &dyn Source,
    survey: &Survey,
    fit: &Fit,
) -> Option<String> {
    if specification.standardize || specification.distance == Distance::Mahalanobis {
        return None;
    }
    let fields = &source.schema().fields;
    let columns = fit.model.frame.columns.iter().enumerate();
    let spreads: Vec<(f64, &str)> = columns
        .map(|(c, column)| {
            let spread = survey.deviation(c) * fit.model.frame.scale[c];
            (spread, fields[*column].name.as_str())
        })
        .filter(|(spread, _)| *spread > 0.0)
        .collect();
    let widest = spreads.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let narrowest = spreads.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    (widest.0 > MAX_SPREAD_RATIO * narrowest.0).then(|| {
        format!(
            "\"{}\" spreads more than {MAX_SPREAD_RATIO} times as widely as \"{}\" and dominates the \
             distances; `standardize` gives all columns the same spread",
            widest.1, narrowest.1
        )
    })
}
