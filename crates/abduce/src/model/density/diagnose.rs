//! Warnings of a density fit: rows left out, constant columns, rules without a solution.

use super::points::ClassPoints;
use super::{DensityModel, Estimator};
use crate::density::Rule;
use crate::model::some_of;

/// Reported if the bandwidth rule has no solution.
const SCOTT_INSTEAD: &str = "bandwidth by Scott's rule";
/// Reported if the rule for the bins has no solution.
const FREEDMAN_DIACONIS_INSTEAD: &str = "bins by the Freedman-Diaconis rule";

/// Whether the warnings of a fit report that another rule than the requested one was used.
pub fn took_another_rule(warnings: &[String]) -> bool {
    let instead = [SCOTT_INSTEAD, FREEDMAN_DIACONIS_INSTEAD];
    let reports = |warning: &String| instead.iter().any(|text| warning.contains(text));
    warnings.iter().any(reports)
}

/// Columns and classes, by number, that need a warning.
#[derive(Default)]
pub(super) struct Findings {
    /// Constant columns.
    pub constant_columns: Vec<usize>,
    /// Classes of one row, or of equal rows only.
    pub constant_classes: Vec<usize>,
    /// Classes whose bandwidth is not from the requested rule.
    pub other_bandwidths: Vec<usize>,
    /// Columns whose bins are not from the requested rule.
    pub other_bins: Vec<usize>,
    /// Classes of fewer rows than `neighbours`.
    pub few_neighbours: Vec<usize>,
}

impl Findings {
    /// The warnings for the user.
    pub fn warnings(
        &self,
        model: &DensityModel,
        estimator: &Estimator,
        points: &ClassPoints,
    ) -> Vec<String> {
        let mut warnings = rows_left_out(points);
        warnings.extend(sparse_histogram(model, estimator, points));
        if points.unlabelled > 0 {
            let rows = counted(points.unlabelled);
            warnings.push(format!("{rows} no label: left out"));
        }
        let empty: Vec<usize> = (0..points.weights.len())
            .filter(|class| points.weights[*class].is_empty())
            .collect();
        let mut list = |what: &str, names: &[String]| {
            if !names.is_empty() {
                warnings.push(format!("{what}: {}", some_of(names)));
            }
        };
        let classes = |numbers: &[usize]| model.quoted_classes(numbers);
        let columns = |numbers: &[usize]| {
            let columns = numbers.iter().map(|number| &model.columns[*number]);
            model.quoted_columns(columns)
        };
        list("no complete row, and so never predicted", &classes(&empty));
        let constants = model.constants.iter().map(|(column, _)| column);
        let constants = model.quoted_columns(constants);
        list("constant, and left out of densities", &constants);
        list(
            "constant; a millionth of the value is used as the standard deviation",
            &columns(&self.constant_columns),
        );
        list(
            "only one row or equal rows, and so no variance",
            &classes(&self.constant_classes),
        );
        let why = match estimator {
            Estimator::Kde { selection, .. } if selection.rule == Rule::Cv => {
                "so many rows are equal that the leave-one-out likelihood has no maximum"
            }
            _ => {
                "the improved Sheather-Jones rule has no solution above the rounding of the \
                 numbers"
            }
        };
        let bandwidths = classes(&self.other_bandwidths);
        list(&format!("{why}; {SCOTT_INSTEAD}"), &bandwidths);
        let why = "so many numbers are equal that Knuth's rule has no maximum";
        let bins = columns(&self.other_bins);
        list(&format!("{why}; {FREEDMAN_DIACONIS_INSTEAD}"), &bins);
        list(
            "fewer rows than `neighbours`, so that all of them are counted",
            &classes(&self.few_neighbours),
        );
        warnings
    }
}

fn rows_left_out(points: &ClassPoints) -> Vec<String> {
    if points.incomplete == 0 {
        return Vec::new();
    }
    let rows = counted(points.incomplete);
    vec![format!(
        "{rows} a missing value: left out, as densities are estimated from complete rows"
    )]
}

/// A warning about a joint histogram of so many columns that nearly all cells are empty.
fn sparse_histogram(
    model: &DensityModel,
    estimator: &Estimator,
    points: &ClassPoints,
) -> Option<String> {
    let columns = model.columns.len();
    let is_histogram = matches!(estimator, Estimator::Histogram { .. });
    // With only four bins to a column there are more cells than rows.
    let is_sparse = 2.0 * points.rows() as f64 <= 4f64.powi(columns as i32);
    (is_histogram && columns > 2 && is_sparse).then(|| {
        format!(
            "a joint histogram of {columns} columns is empty nearly everywhere; fit naive-bayes \
             with a histogram for each column, a kernel density, or fewer columns"
        )
    })
}

/// "1 row has" or "n rows have".
fn counted(rows: u64) -> String {
    match rows {
        1 => "1 row has".to_string(),
        _ => format!("{rows} rows have"),
    }
}

impl DensityModel {
    /// Classes for a message; without a target all rows are one class.
    pub(super) fn quoted_classes(&self, classes: &[usize]) -> Vec<String> {
        let names = self.names();
        let name = |class: &usize| match self.target {
            Some(_) => format!("class \"{}\"", names[*class]),
            None => "all rows".to_string(),
        };
        classes.iter().map(name).collect()
    }

    /// Columns of the schema for a message.
    fn quoted_columns<'a>(&self, columns: impl Iterator<Item = &'a usize>) -> Vec<String> {
        let name = |column: &usize| format!("column \"{}\"", self.schema.fields[*column].name);
        columns.map(name).collect()
    }
}
