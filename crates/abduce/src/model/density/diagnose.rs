//! What went otherwise than asked in a fit of densities: rows left out, densities
//! without spread, rules without a solution. Nothing here fails; it is told.

use super::fit::Gathered;
use super::{DensityModel, Estimator};
use crate::density::Rule;
use crate::model::some_of;

/// What is said where a rule for the bandwidth had no solution.
const SCOTT_INSTEAD: &str = "bandwidth by Scott's rule";
/// What is said where a rule for the bins had none.
const FREEDMAN_DIACONIS_INSTEAD: &str = "bins by the Freedman-Diaconis rule";

/// Whether another rule than the one asked for was taken somewhere, by the warnings of
/// a fit.
pub fn took_another_rule(warnings: &[String]) -> bool {
    let instead = [SCOTT_INSTEAD, FREEDMAN_DIACONIS_INSTEAD];
    let says = |warning: &String| instead.iter().any(|text| warning.contains(text));
    warnings.iter().any(says)
}

/// What there is to doubt: classes and columns by their number.
#[derive(Default)]
pub(super) struct Doubts {
    /// Columns that are constant.
    pub columns: Vec<usize>,
    /// Classes of one row, or of rows that are all equal.
    pub spreads: Vec<usize>,
    /// Classes whose bandwidth is not by the rule asked for.
    pub widths: Vec<usize>,
    /// Columns whose bins are not by the rule asked for.
    pub bins: Vec<usize>,
    /// Classes of fewer rows than neighbours were asked for.
    pub neighbours: Vec<usize>,
}

impl Doubts {
    /// What to tell the user.
    pub fn told(
        &self,
        model: &DensityModel,
        estimator: &Estimator,
        gathered: &Gathered,
    ) -> Vec<String> {
        let names = model.names();
        let classes = |classes: &[usize]| match model.target {
            None => "all rows".to_string(),
            Some(_) => some_of(&quoted("class", classes.iter().map(|class| &names[*class]))),
        };
        let columns = |columns: &[usize]| {
            let name = |column: &usize| &model.schema.fields[model.columns[*column]].name;
            some_of(&quoted("column", columns.iter().map(name)))
        };
        let empty: Vec<usize> = (0..names.len())
            .filter(|class| gathered.weights[*class].is_empty())
            .collect();
        let counted = |rows: u64| match rows {
            1 => "1 row has".to_string(),
            _ => format!("{rows} rows have"),
        };
        let mut warnings = Vec::new();
        let mut tell = |holds: bool, text: &dyn Fn() -> String| {
            if holds {
                warnings.push(text());
            }
        };
        tell(gathered.incomplete > 0, &|| {
            let rows = counted(gathered.incomplete);
            format!("{rows} a missing value and cannot be a point of a density: left out")
        });
        let histogram = matches!(estimator, Estimator::Histogram { .. });
        let dimensions = model.columns.len();
        // Even with four bins to a column there are more than rows.
        let sparse = 2.0 * gathered.rows() as f64 <= 4f64.powi(dimensions as i32);
        tell(histogram && dimensions > 2 && sparse, &|| {
            format!(
                "a joint histogram of {dimensions} columns is empty nearly everywhere; fit \
                 naive-bayes with a histogram for each column, a kernel density, or fewer \
                 columns"
            )
        });
        tell(gathered.unlabelled > 0, &|| {
            format!("{} no label: left out", counted(gathered.unlabelled))
        });
        tell(!empty.is_empty(), &|| {
            format!(
                "no complete row, and so never predicted: {}",
                classes(&empty)
            )
        });
        tell(!model.constants.is_empty(), &|| {
            let name = |(column, _): &(usize, f64)| &model.schema.fields[*column].name;
            let names = quoted("column", model.constants.iter().map(name));
            format!("constant, and left out of densities: {}", some_of(&names))
        });
        tell(!self.columns.is_empty(), &|| {
            format!(
                "constant, as if its numbers were a millionth of themselves apart: {}",
                columns(&self.columns)
            )
        });
        tell(!self.spreads.is_empty(), &|| {
            format!(
                "one row, or only equal ones, and so no spread of its own: {}",
                classes(&self.spreads)
            )
        });
        tell(!self.widths.is_empty(), &|| {
            let why = match estimator {
                Estimator::Kde { selection, .. } if selection.rule == Rule::Cv => {
                    "so many rows are equal that the narrowest bumps are always likeliest"
                }
                _ => {
                    "the improved Sheather-Jones rule has no solution, or only the rounding of \
                     the numbers"
                }
            };
            format!("{why}; {SCOTT_INSTEAD}: {}", classes(&self.widths))
        });
        tell(!self.bins.is_empty(), &|| {
            format!(
                "so many numbers are equal that more bins are always more probable; \
                 {FREEDMAN_DIACONIS_INSTEAD}: {}",
                columns(&self.bins)
            )
        });
        tell(!self.neighbours.is_empty(), &|| {
            format!(
                "fewer rows than neighbours asked for, all of which are counted: {}",
                classes(&self.neighbours)
            )
        });
        warnings
    }
}

/// Names with what they are the names of.
pub(super) fn quoted<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> Vec<String> {
    names.map(|name| format!("{what} \"{name}\"")).collect()
}
