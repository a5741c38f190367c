//! Changing a fitted mixture without its rows: new rows are added, models are merged, rows are
//! forgotten. This works because the statistics can be added and subtracted, and are all that
//! the estimates depend on.
//!
//! If all labels and correlated cells are seen, the result equals a fit of all rows. Otherwise
//! the responsibilities of earlier rows stay as they were when these rows were added: adding
//! rows is one step of incremental EM (Neal & Hinton 1998). The report then contains its lower
//! bound of the log-likelihood, which never decreases,
//!
//!   E log p(x, z | θ) + H(z).

pub(crate) mod change;
mod combine;
pub(crate) mod convert;
mod forget;
pub(crate) mod marks;
mod merge_schemas;
mod precision;
mod schema_conversion;

use crate::data::{Labelled, Recoded, Schema, SetByUser, Source};
use crate::leaf::TableSummary;
use crate::model::LogLikelihoodOf;
use crate::model::mixture::fit::finish::finish;
use crate::model::mixture::step::task::Task;
use crate::model::mixture::{Fit, FitOptions, FittedMixture, MixtureStatistics, Specification};
use crate::{Control, Error, Result};
use combine::Combination;
use merge_schemas::{union_of, with_constant};

impl FittedMixture {
    /// Whether the statistics follow from the rows alone, without expectations of hidden labels
    /// or cells.
    pub fn is_exact(&self) -> bool {
        // Unlabelled rows may have been fitted with weight 0.
        let labelled = self.summary.total - self.summary.unlabelled;
        let unlabelled = self.statistics.total - labelled;
        let known_labels = unlabelled <= 1e-9 * self.summary.total || self.components() == 1;
        self.summary.total > 0.0 && known_labels && self.summary.incomplete <= 0.0
    }

    /// Adds new rows, with their new levels, terms and classes. `unlabelled` is the weight of
    /// rows without a label.
    ///
    /// ```
    /// use abduce::data::{Column, Field, Kind, Schema, Table};
    /// use abduce::Control;
    /// use abduce::model::mixture::{FitOptions, Specification, fit};
    /// let table = |labels: &[&str], x: &[f64]| {
    ///     let levels: Vec<&str> = labels.to_vec();
    ///     let fields = vec![
    ///         Field::with_levels("kind", Kind::Categorical, levels),
    ///         Field::new("x", Kind::Real),
    ///     ];
    ///     let codes = Column::from_codes((0..x.len()).map(|i| Some((i % labels.len()) as u32)));
    ///     let x = Column::from_numbers(x.iter().map(|x| Some(*x)));
    ///     Table::new(Schema::new(fields), vec![codes, x], None)
    /// };
    /// let (specification, options) = (Specification::naive_bayes("kind"), FitOptions::default());
    /// let first = table(&["a", "b"], &[1.0, 5.0, 1.5, 5.5])?;
    /// let model = fit(&specification, &first, &options, Control::default())?.mixture;
    /// let more = table(&["c"], &[9.0, 9.5])?;
    /// let grown = model.update(&more, &specification, &options, 1.0, Control::default())?;
    /// assert_eq!(grown.mixture.names(), ["a", "b", "c"]);
    /// assert_eq!(grown.mixture.statistics.weights, [2.0, 2.0, 2.0]);
    /// # Ok::<(), abduce::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the rows do not match the columns of the model.
    pub fn update(
        &self,
        rows: &dyn Source,
        specification: &Specification,
        options: &FitOptions,
        unlabelled: f64,
        control: Control,
    ) -> Result<Fit> {
        let labelled = self.labelled_rows(rows, unlabelled)?;
        let rows = labelled.as_ref().map_or(rows, |rows| rows as &dyn Source);
        let mut fields = Vec::with_capacity(self.schema.fields.len());
        for (column, before) in self.schema.fields.iter().enumerate() {
            let mut new_fields = rows.schema().fields.iter();
            let new = new_fields.find(|field| field.name == before.name);
            let field = match (new, self.constant(column)) {
                (Some(new), Some(x)) => with_constant(new, x),
                (Some(new), None) if self.is_modelled(column) => before.union(new)?,
                (Some(new), None) => new.clone(),
                (None, _) => before.clone(),
            };
            fields.push(field.set_by_user(before.set_by_user));
        }
        let schema = Schema {
            fields,
            weight: self.schema.weight.clone(),
        };
        let rows = Recoded::new(rows, schema.clone())?;
        let combination = Combination {
            parts: &[self],
            schema,
            specification,
            options,
            unlabelled,
            control,
        };
        combination.fit(Some(&rows))
    }

    /// Merges models that were fitted to different rows with the same specification.
    ///
    /// # Errors
    /// If they have different columns, or unnamed components, which cannot be matched.
    pub fn merge(
        parts: &[&FittedMixture],
        specification: &Specification,
        options: &FitOptions,
        unlabelled: f64,
    ) -> Result<Fit> {
        let [first, others @ ..] = parts else {
            return Err(Error::parameter("there is no model to merge"));
        };
        if first.target.is_none() && first.components() > 1 && !others.is_empty() {
            let message = "the clusters of different fits cannot be matched";
            return Err(Error::parameter(message)
                .with_hint("update one model with the rows of the other instead"));
        }
        for other in others {
            first.check_same_columns(other)?;
        }
        let fields = first.schema.fields.iter();
        let fields = fields.map(|field| union_of(parts, field));
        let combination = Combination {
            parts,
            schema: Schema {
                fields: fields.collect::<Result<_>>()?,
                weight: first.schema.weight.clone(),
            },
            specification,
            options,
            unlabelled,
            control: Control::default(),
        };
        combination.fit(None)
    }

    fn check_same_columns(&self, other: &FittedMixture) -> Result<()> {
        let missing_in = |a: &FittedMixture, b: &FittedMixture| {
            let mut fields = a.schema.fields.iter();
            let missing = fields.find(|field| b.schema.position(&field.name).is_err());
            missing.map(|field| field.name.clone())
        };
        match missing_in(self, other).or_else(|| missing_in(other, self)) {
            None => Ok(()),
            Some(column) => Err(Error::data("only some of the models have the column")
                .at_column(&column)
                .with_hint("fit all of them on the same columns")),
        }
    }

    /// The labelled rows, if the others have no weight; `None` if all rows are used.
    pub(crate) fn labelled_rows<'a>(
        &self,
        rows: &'a dyn Source,
        unlabelled: f64,
    ) -> Result<Option<Labelled<'a>>> {
        let target = self.target.map(|target| &self.schema.fields[target].name);
        let target = target.and_then(|name| rows.schema().position(name).ok());
        match target {
            Some(target) if !self.uses_unlabelled(unlabelled) => Labelled::of(rows, target, false),
            _ => Ok(None),
        }
    }

    /// Whether rows without a label are used if they have this weight.
    fn uses_unlabelled(&self, weight: f64) -> bool {
        // The probability of a hidden label needs densities.
        weight > 0.0 && self.is_generative()
    }

    /// Whether no row is used, because there is no column of labels, and rows without a label are
    /// not used at this weight.
    pub(crate) fn ignores_all_rows(&self, rows: &dyn Source, unlabelled: f64) -> bool {
        let target = self.target.map(|target| &self.schema.fields[target].name);
        target.is_some_and(|name| rows.schema().position(name).is_err())
            && !self.uses_unlabelled(unlabelled)
    }

    /// Whether a column is the target or in a leaf. Columns without any value are not.
    fn is_modelled(&self, column: usize) -> bool {
        self.target == Some(column) || self.leaf_of(column).is_some()
    }

    /// The numeric columns with at most one distinct value, whose kind new rows may change.
    pub fn unsettled(&self) -> Vec<String> {
        let fields = self.schema.fields.iter().enumerate();
        let unsettled = fields.filter(|(column, field)| {
            let is_numeric = !field.kind.is_coded() && field.text.is_none();
            is_numeric
                && field.set_by_user == SetByUser::Nothing
                && (!self.is_modelled(*column) || self.constant(*column).is_some())
        });
        unsettled.map(|(_, field)| field.name.clone()).collect()
    }

    /// The value of a constant column.
    fn constant(&self, column: usize) -> Option<f64> {
        let leaf = &self.leaves[self.leaf_of(column)?];
        leaf.fixed.then(|| self.summary.columns[column].mean)
    }

    /// The leaf that contains a column.
    fn leaf_of(&self, column: usize) -> Option<usize> {
        let mut leaves = self.leaves.iter();
        leaves.position(|leaf| leaf.columns.contains(&column))
    }

    /// H(z), the entropy term of the lower bound.
    fn entropy(&self) -> f64 {
        if self.is_exact() {
            return 0.0;
        }
        let complete = (self.statistics).complete_log_likelihood(&self.leaves, &self.parameters);
        finite_or_zero(self.statistics.log_likelihood - complete)
    }
}

/// The fit that follows from statistics. `entropy` is that of the hidden labels and cells.
fn fit_of_statistics(
    task: &Task,
    schema: &Schema,
    summary: TableSummary,
    options: &FitOptions,
    statistics: MixtureStatistics,
    entropy: f64,
) -> Fit {
    let mut found = task.fit_complete(statistics);
    found.statistics.log_likelihood += entropy;
    found.objective += entropy;
    found.trace = vec![found.statistics.log_likelihood];
    found.objectives = vec![found.objective];
    let mut fit = finish(task, schema, summary, options, found);
    if !fit.mixture.is_exact() {
        fit.log_likelihood_of = LogLikelihoodOf::Bound;
        // A single step of EM was made.
        fit.converged = false;
    }
    fit
}

fn finite_or_zero(x: f64) -> f64 {
    if x.is_finite() { x } else { 0.0 }
}
