//! Forgetting: rows are subtracted from the statistics, and the levels, terms and classes that
//! no longer have rows are removed, so that the model equals one that was never fitted to them.

use super::convert::levels;
use super::precision::{Precision, merged_moments, precision, worst_precision};
use super::schema_conversion::SchemaConversion;
use super::{
    Fit, FitOptions, FittedMixture, MixtureStatistics, Specification, TableSummary,
    fit_of_statistics,
};
use crate::Control;
use crate::data::{Field, Kind, Labelled, NO_CODE, Recoded, Schema, SetByUser, Source};
use crate::family::{GaussianStats, Statistics, Stats as _, never_seen};
use crate::model::mixture::ClassPrior;
use crate::model::mixture::fit::fitting::refuse_no_leaves;
use crate::model::mixture::fit::interrupted;
use crate::model::mixture::fit::survey::Survey;
use crate::model::mixture::step::task::Task;
use crate::text::{Encoder, Encoding};
use crate::{Error, Result};

/// The relative rounding error of a difference of sums of weights.
const ROUNDING: f64 = 1e-12;

/// The relative rounding error of a difference of scatters.
const SCATTER_ROUNDING: f64 = 16.0 * f64::EPSILON;

impl FittedMixture {
    /// Removes rows that the model was fitted to. The result is the fit of the other rows.
    ///
    /// # Errors
    /// If the statistics show that the rows were not fitted; if they have no label or some of
    /// their correlated cells are missing, since their expected statistics are not stored; and
    /// if no row would be left.
    pub fn forget(
        &self,
        rows: &dyn Source,
        specification: &Specification,
        options: &FitOptions,
        control: Control,
    ) -> Result<Fit> {
        let Some(target) = self.target else {
            return Err(
                Error::parameter("only models with a target can forget rows")
                    .with_hint("fit the model to the remaining rows"),
            );
        };
        self.refuse_unseen_levels(rows)?;
        let rows = Recoded::new(rows, self.schema.clone())?;
        if Labelled::of(&rows, target, true)?.is_some() {
            return Err(hidden_values());
        }
        let mut marks = self.marks.clone();
        let removed = marks.as_mut().map(|marks| marks.forget(&rows));
        let removed = removed.transpose()?;
        let survey = self.survey_of_complete(&rows, control)?;
        let (statistics, summary) = self.subtract(&survey, removed)?;
        let warnings = self.check_precision(&statistics, &summary)?;
        let (schema, codes) = self.without_empty_levels(&statistics, &summary, specification);
        let conversion = SchemaConversion::without(self, codes);
        let components = conversion.components(self.target).iter().flatten().count();
        let mut leaves = specification.leaves(&schema)?;
        if let Some(changed) =
            summary.split_constant_columns(&leaves, specification.min_added_variance(&summary))
        {
            leaves = changed;
            refuse_no_leaves(&leaves)?;
        }
        let labelled =
            conversion.statistics(&statistics, self.target, components, &leaves, &summary)?;
        let survey = Survey { labelled, summary };
        specification.set_priors(&schema, &survey, components, &mut leaves)?;
        let Survey { labelled, summary } = survey;
        let task = Task {
            leaves: &leaves,
            target: self.target,
            components,
            weights: specification.weight_prior(&schema, self.target, components)?,
            unlabelled: 1.0,
            log_units: summary.log_units(&leaves),
            has_given_start: false,
            predictive: specification.predictive,
            seed: options.seed,
            control,
        };
        let entropy = self.entropy();
        let mut fit = fit_of_statistics(&task, &schema, summary, options, labelled, entropy);
        fit.mixture.marks = marks;
        fit.warnings.extend(warnings);
        Ok(fit)
    }

    /// The survey of rows to forget, or an error if they have hidden values.
    fn survey_of_complete(&self, rows: &dyn Source, control: Control) -> Result<Survey> {
        let survey = Survey::of(rows, &self.leaves, self.target, control)?;
        let survey = survey.ok_or_else(interrupted)?;
        if survey.summary.unlabelled > 0.0 || survey.summary.incomplete > 0.0 {
            return Err(hidden_values());
        }
        Ok(survey)
    }

    /// The statistics and moments without those of a survey. `removed` is the number of rows that
    /// are removed entirely, if it is known from marks.
    fn subtract(
        &self,
        survey: &Survey,
        removed: Option<u64>,
    ) -> Result<(MixtureStatistics, TableSummary)> {
        let mut statistics = self.statistics.clone();
        statistics.forget(
            &survey.labelled,
            removed.map(|removed| removed < self.summary.rows),
        )?;
        let mut summary = self.summary.clone();
        summary.forget(&survey.summary, removed)?;
        if self.summary.unlabelled <= 0.0 && self.summary.incomplete <= 0.0 {
            let leaves = self.leaves.iter().zip(&statistics.leaves);
            for (leaf, components) in leaves.filter(|(leaf, _)| !leaf.fixed) {
                for (column, moments) in leaf.columns.iter().zip(merged_moments(components)) {
                    summary.columns[*column] = rounded(moments, &self.summary.columns[*column]);
                }
            }
        }
        Ok((statistics, summary))
    }

    /// An error if the variance of a column has lost all precision, and warnings if that of
    /// others has lost much of it.
    fn check_precision(
        &self,
        remaining: &MixtureStatistics,
        summary: &TableSummary,
    ) -> Result<Vec<String>> {
        let mut warnings = Vec::new();
        for (number, leaf) in self.leaves.iter().enumerate() {
            let moments = leaf.columns.iter().map(|column| &summary.columns[*column]);
            let mean_squares = moments.map(|moments| {
                if moments.weight > 0.0 {
                    moments.scatter / moments.weight + moments.mean * moments.mean
                } else {
                    0.0
                }
            });
            let mean_squares: Vec<f64> = mean_squares.collect();
            let of_components = worst_precision(&self.statistics, remaining, number, &mean_squares);
            for (column, of_components) in leaf.columns.iter().zip(of_components) {
                let (before, after) = (&self.summary.columns[*column], &summary.columns[*column]);
                let name = &self.schema.fields[*column].name;
                match precision(before, after, 0.0).max(of_components) {
                    Precision::Full => {}
                    Precision::Reduced => warnings.push(format!(
                        "column \"{name}\": the forgotten rows are so far from the others that \
                         the variance of the others loses numerical precision; fit these again"
                    )),
                    Precision::Lost => {
                        let message = "forgetting these rows loses too much numerical precision";
                        return Err(Error::numeric(message)
                            .at_column(name)
                            .with_hint("fit the model to the remaining rows"));
                    }
                }
            }
        }
        Ok(warnings)
    }

    /// An error for the first row with a level or term that the model does not have.
    fn refuse_unseen_levels(&self, rows: &dyn Source) -> Result<()> {
        for (column, field) in rows.schema().fields.iter().enumerate() {
            let Ok(known) = self.schema.position(&field.name) else {
                continue;
            };
            let known = &self.schema.fields[known];
            if let (Some(known), Some(text)) = (known.text.as_deref(), field.text.as_deref())
                && known.may_grow()
            {
                refuse_unseen_terms(rows, column, field, &text.encoding, &known.encoding)?;
                continue;
            }
            let is_unseen = |level: &String| known.code(level).is_none();
            let unseen: Vec<bool> = field.levels.iter().map(is_unseen).collect();
            if !known.kind.is_coded() || !unseen.contains(&true) {
                continue;
            }
            let mut before = 0;
            for chunk in rows.scan()? {
                let chunk = chunk?;
                let cells = chunk.column(column).cells(0, chunk.rows());
                let mut codes = cells.codes().iter().enumerate();
                let found =
                    codes.find(|(row, code)| cells.is_seen(*row) && unseen[**code as usize]);
                if let Some((row, code)) = found {
                    let level = &field.levels[*code as usize];
                    return Err(never_seen_value(level, field, before + row as u64 + 1));
                }
                before += chunk.rows() as u64;
            }
        }
        Ok(())
    }

    /// The schema without the levels, terms and classes that have lost their last row, and the
    /// new codes of the others, by column.
    fn without_empty_levels(
        &self,
        remaining: &MixtureStatistics,
        summary: &TableSummary,
        specification: &Specification,
    ) -> (Schema, Vec<Option<Vec<u32>>>) {
        let mut schema = self.schema.clone();
        let mut codes = vec![None; schema.fields.len()];
        for (column, field) in schema.fields.iter_mut().enumerate() {
            if self.has_given_levels(column, specification) || summary.total <= 0.0 {
                continue;
            }
            let before = self.counts_of_column(&self.statistics, column);
            let after = self.counts_of_column(remaining, column);
            let is_empty = |code: usize| {
                before.get(code).is_some_and(|count| *count > 0.0) && after[code] <= 0.0
            };
            let size = field.levels.len().max(field.terms());
            if !(0..size).any(is_empty) {
                continue;
            }
            let mut next = 0;
            let new_code = |code: usize| {
                if is_empty(code) {
                    return NO_CODE;
                }
                next += 1;
                next - 1
            };
            codes[column] = keep_levels(field, (0..size).map(new_code).collect());
        }
        (schema, codes)
    }

    /// Whether the levels or terms of a column are those that the user or a limit has chosen.
    fn has_given_levels(&self, column: usize, specification: &Specification) -> bool {
        let field = &self.schema.fields[column];
        let mut dirichlet = specification.dirichlet.iter();
        let class_prior = matches!(specification.class_prior, ClassPrior::Given(_));
        field.set_by_user == SetByUser::Levels
            || field.text.as_ref().is_some_and(|text| !text.may_grow())
            || dirichlet.any(|(name, _)| *name == field.name)
            || (class_prior && self.target == Some(column))
    }

    /// The weight of each level, term or class of a column.
    fn counts_of_column(&self, statistics: &MixtureStatistics, column: usize) -> Vec<f64> {
        if self.target == Some(column) {
            return statistics.weights.clone();
        }
        let leaf = self.leaf_of(column);
        leaf.map_or(Vec::new(), |leaf| counts(&statistics.leaves[leaf]))
    }
}

/// The error for rows whose statistics were expected.
fn hidden_values() -> Error {
    Error::data(
        "rows without a label, with missing values in correlated columns, or under a Student t \
         cannot be forgotten",
    )
    .with_hint("their expected statistics are not stored; fit the model to the remaining rows")
}

/// An error for the first text with a term that the model does not have.
fn refuse_unseen_terms(
    rows: &dyn Source,
    column: usize,
    field: &Field,
    encoding: &Encoding,
    known: &Encoding,
) -> Result<()> {
    let term = |code: u32| encoding.term(code).unwrap_or_default();
    let codes = 0..encoding.width() as u32;
    let unseen: Vec<bool> = codes.map(|code| known.code(term(code)).is_none()).collect();
    if !unseen.contains(&true) {
        return Ok(());
    }
    let mut before = 0;
    for chunk in rows.scan()? {
        let chunk = chunk?;
        let cells = chunk.column(column).cells(0, chunk.rows());
        let Some(documents) = cells.terms() else {
            continue;
        };
        for row in 0..chunk.rows() {
            let mut codes = documents.row(row).0.iter();
            if let Some(code) = codes.find(|code| unseen[**code as usize]) {
                return Err(never_seen_value(
                    term(*code),
                    field,
                    before + row as u64 + 1,
                ));
            }
        }
        before += chunk.rows() as u64;
    }
    Ok(())
}

/// The error for a level or term that the model does not have.
fn never_seen_value(what: &str, field: &Field, row: u64) -> Error {
    Error::data(format!("no fitted row has \"{what}\""))
        .at_column(&field.name)
        .at_row(row)
}

/// Keeps the levels or terms that have a new code, and returns the codes if any was removed.
fn keep_levels(field: &mut Field, codes: Vec<u32>) -> Option<Vec<u32>> {
    let is_kept = |code: &usize| codes[*code] != NO_CODE;
    if let Some(text) = field.text.as_deref() {
        // Hashed terms cannot be removed.
        let Encoding::Vocabulary(vocabulary) = &text.encoding else {
            return None;
        };
        let terms = vocabulary.terms().enumerate();
        let terms = terms
            .filter(|(code, _)| is_kept(code))
            .map(|(_, term)| term);
        let encoder = Encoder {
            analyzer: text.analyzer.clone(),
            encoding: Encoding::Vocabulary(terms.collect()),
            limits: text.limits,
        };
        *field = Field::with_text(&field.name, encoder);
        return Some(codes);
    }
    // A binary column keeps both levels.
    if field.kind == Kind::Binary {
        return None;
    }
    let levels = field.levels.iter().enumerate();
    let levels = levels
        .filter(|(code, _)| is_kept(code))
        .map(|(_, l)| l.clone());
    field.levels = levels.collect();
    Some(codes)
}

/// The weight of each level or term in all components.
fn counts(components: &[Statistics]) -> Vec<f64> {
    let mut sums: Vec<f64> = Vec::new();
    for statistics in components {
        let counts = match statistics {
            Statistics::Words(words) | Statistics::Presence(words) => words.counts.clone(),
            statistics => levels(statistics).unwrap_or_default(),
        };
        sums.resize(sums.len().max(counts.len()), 0.0);
        let pairs = sums.iter_mut().zip(&counts);
        pairs.for_each(|(sum, count)| *sum += count);
    }
    sums
}

impl MixtureStatistics {
    /// Subtracts the statistics of rows. `some_left` is whether rows remain, if it is known from
    /// marks.
    fn forget(&mut self, other: &MixtureStatistics, some_left: Option<bool>) -> Result<()> {
        let has_marks = some_left.is_some();
        for (count, less) in self.weights.iter_mut().zip(&other.weights) {
            *count = difference(*count, *less)?;
        }
        for (leaf, less) in self.leaves.iter_mut().zip(&other.leaves) {
            for (statistics, less) in leaf.iter_mut().zip(less) {
                let weights = (statistics.weight(), less.weight());
                let result = statistics.forget(less);
                or_scale(result, has_marks, weights, |share| statistics.scale(share))?;
            }
        }
        self.total = difference(self.total, other.total)?;
        match (self.total > 0.0, some_left) {
            (true, _) => Ok(()),
            (false, Some(true)) => Err(Error::numeric(
                "the rows to forget weigh so much that the weight of the others loses all precision",
            )
            .with_hint("fit the model to the remaining rows")),
            (false, _) => Err(Error::data("no row would be left")),
        }
    }
}

impl TableSummary {
    /// Subtracts the moments of rows. `removed` is the number of rows removed entirely, if it is
    /// known from marks. Otherwise each row counts as one, but at least one row remains while there
    /// is weight.
    fn forget(&mut self, other: &TableSummary, removed: Option<u64>) -> Result<()> {
        let has_marks = removed.is_some();
        self.total = difference(self.total, other.total)?;
        let removed = removed.unwrap_or(other.rows);
        self.rows = self.rows.saturating_sub(removed).max(1);
        for (moments, less) in self.columns.iter_mut().zip(&other.columns) {
            let before = moments.clone();
            let result = moments.forget(less);
            let weights = (before.weight, less.weight);
            or_scale(result, has_marks, weights, |share| moments.scale(share))?;
            *moments = rounded(moments.clone(), &before);
        }
        self.drop_unneeded_central();
        Ok(())
    }
}

/// Moments with a scatter, and then a mean, of 0 where only a rounding error is left.
fn rounded(mut moments: GaussianStats, before: &GaussianStats) -> GaussianStats {
    if moments.scatter <= SCATTER_ROUNDING * before.scatter {
        moments.scatter = 0.0;
        let size = before.mean.abs() + (before.scatter / before.weight).sqrt();
        if moments.mean.abs() <= 4.0 * f64::EPSILON * size {
            moments.mean = 0.0;
        }
    }
    moments
}

/// Scales statistics by the remaining weight if the subtraction of rows that were certainly
/// fitted fails because of rounding.
fn or_scale(
    result: Result<()>,
    has_marks: bool,
    (weight, less): (f64, f64),
    scale: impl FnOnce(f64),
) -> Result<()> {
    match result {
        Err(_) if has_marks && less < weight => {
            scale((weight - less) / weight);
            Ok(())
        }
        result => result,
    }
}

/// A sum without one of its parts, up to rounding.
fn difference(sum: f64, part: f64) -> Result<f64> {
    let rest = sum - part;
    if rest < -ROUNDING * sum {
        return Err(never_seen());
    }
    let is_rounding = rest <= ROUNDING * sum && part > 0.0;
    Ok(if is_rounding { 0.0 } else { rest })
}
