//! The combination of fitted mixtures with each other and with new rows.

use super::schema_conversion::SchemaConversion;
use super::{finite_or_zero, fit_of_statistics};
use crate::data::{Schema, Source};
use crate::leaf::{Leaf, TableSummary};
use crate::learn::{EmOptions, Latent, em};
use crate::model::mixture::fit::fitting::refuse_no_leaves;
use crate::model::mixture::fit::interrupted;
use crate::model::mixture::fit::survey::Survey;
use crate::model::mixture::step::task::Task;
use crate::model::mixture::{
    Fit, FitOptions, FittedMixture, Marks, MixtureStatistics, Specification,
};
use crate::{Control, Error, Progress, Result};

/// Models and a schema that contains the columns, levels and terms of all of them and of the
/// new rows.
pub(super) struct Combination<'a> {
    pub parts: &'a [&'a FittedMixture],
    pub schema: Schema,
    pub specification: &'a Specification,
    pub options: &'a FitOptions,
    /// The weight of rows without a label.
    pub unlabelled: f64,
    pub control: Control<'a>,
}

/// The statistics and moments of earlier and new rows.
struct Combined {
    leaves: Vec<Leaf>,
    /// The statistics of the models.
    before: MixtureStatistics,
    /// The survey of the new rows.
    new: Survey,
    /// The moments of all rows.
    summary: TableSummary,
}

impl Combination<'_> {
    /// The fit to the rows of all models and to new rows.
    pub fn fit(&self, rows: Option<&dyn Source>) -> Result<Fit> {
        self.check_parts()?;
        let first = self.parts[0];
        let target = first.target.map(|target| &first.schema.fields[target].name);
        let target = target.map(|name| self.schema.position(name)).transpose()?;
        let components = match target {
            Some(target) => self.schema.fields[target].levels.len(),
            None => first.components(),
        };
        let Combined {
            mut leaves,
            before,
            new,
            summary,
        } = self.combine_statistics(rows, target, components)?;
        let hidden = new.summary.unlabelled > 0.0 || new.summary.incomplete > 0.0;
        let mut labelled = before.clone();
        labelled.merge(&new.labelled);
        let survey = Survey { labelled, summary };
        (self.specification).set_priors(&self.schema, &survey, components, &mut leaves)?;
        let Survey { labelled, summary } = survey;
        let weights = (self.specification).weight_prior(&self.schema, target, components)?;
        let task = Task {
            leaves: &leaves,
            target,
            components,
            weights,
            unlabelled: self.unlabelled,
            log_units: summary.log_units(&leaves),
            has_given_start: false,
            predictive: self.specification.predictive,
            seed: self.options.seed,
            control: self.control,
        };
        let mut entropy: f64 = self.parts.iter().map(|part| part.entropy()).sum();
        let statistics = match rows.filter(|_| hidden) {
            None => labelled,
            Some(rows) => {
                let (expected, new_entropy) = self.expect(&task, rows, &before, &labelled)?;
                entropy += new_entropy;
                let mut all = before;
                all.merge(&expected);
                all
            }
        };
        let mut fit = fit_of_statistics(
            &task,
            &self.schema,
            summary,
            self.options,
            statistics,
            entropy,
        );
        fit.mixture.marks = self.marks(rows)?;
        Ok(fit)
    }

    /// Fails if a model lacks the statistics of its rows, or a new level lacks a given pseudocount.
    fn check_parts(&self) -> Result<()> {
        if self.parts.iter().any(|part| part.summary.rows == 0) {
            let message = "the model does not contain the statistics of its rows";
            return Err(Error::data(message)
                .with_hint("it was written by an older version of abduce; fit it again"));
        }
        let before = &self.parts[0].schema;
        for (name, _) in &self.specification.dirichlet {
            let field = &before.fields[before.position(name)?];
            let mut levels = self.schema.fields[self.schema.position(name)?]
                .levels
                .iter();
            if let Some(new) = levels.find(|level| field.code(level).is_none()) {
                let message =
                    format!("the level \"{new}\" is new, and has no pseudocount in `dirichlet`");
                return Err(Error::data(message).at_column(name).with_hint(
                    "fit all rows again, with a pseudocount for every level in `dirichlet`",
                ));
            }
        }
        Ok(())
    }

    /// Converts the statistics of the models to the common schema, and surveys the new rows.
    fn combine_statistics(
        &self,
        rows: Option<&dyn Source>,
        target: Option<usize>,
        components: usize,
    ) -> Result<Combined> {
        let mut conversions = Vec::with_capacity(self.parts.len());
        let mut summary_before = TableSummary::empty(self.schema.fields.len());
        for part in self.parts {
            let conversion = SchemaConversion::new(part, &self.schema)?;
            summary_before.merge(&conversion.summary(&part.summary, &part.statistics));
            conversions.push(conversion);
        }
        self.control.report(Progress::Survey);
        let summary_with = |new: &Survey| {
            let mut summary = summary_before.clone();
            summary.merge(&new.summary);
            summary
        };
        let mut leaves = self.specification.leaves(&self.schema)?;
        let mut new = self.survey(rows, &leaves, target, components)?;
        let mut summary = summary_with(&new);
        if let Some(changed) =
            summary.split_constant_columns(&leaves, self.specification.min_added_variance(&summary))
        {
            refuse_no_leaves(&changed)?;
            leaves = changed;
            new = self.survey(rows, &leaves, target, components)?;
            summary = summary_with(&new);
        }
        let mut before = MixtureStatistics::zero(&leaves, components);
        for (part, conversion) in self.parts.iter().zip(&conversions) {
            let statistics =
                conversion.statistics(&part.statistics, target, components, &leaves, &summary)?;
            before.merge(&statistics);
        }
        Ok(Combined {
            leaves,
            before,
            new,
            summary,
        })
    }

    fn survey(
        &self,
        rows: Option<&dyn Source>,
        leaves: &[Leaf],
        target: Option<usize>,
        components: usize,
    ) -> Result<Survey> {
        let labels = if target.is_some() { components } else { 0 };
        match rows {
            Some(rows) => Survey::of(rows, leaves, target, self.control)?.ok_or_else(interrupted),
            None => Ok(Survey::empty(leaves, labels, self.schema.fields.len())),
        }
    }

    /// The expected statistics of new rows under the parameters known so far, and the entropy
    /// of their hidden labels and cells. `labelled` are the statistics of the models and of the
    /// new labelled rows.
    fn expect(
        &self,
        task: &Task,
        rows: &dyn Source,
        before: &MixtureStatistics,
        labelled: &MixtureStatistics,
    ) -> Result<(MixtureStatistics, f64)> {
        let has_grown = self.parts.iter().any(|part| part.schema != self.schema);
        let start = if has_grown {
            // New levels and classes must have a positive probability.
            let mut start = labelled.clone();
            let leaves = task.leaves.iter().zip(&mut start.leaves);
            leaves.for_each(|(leaf, statistics)| leaf.family.shrink_together(statistics));
            task.maximize(&start, None)
        } else {
            task.maximize(before, None)
        };
        let options = EmOptions {
            max_iterations: 0,
            ..self.options.em.plain()
        };
        let found = em(task, rows, start, &options, self.control)?.ok_or_else(interrupted)?;
        let complete = (found.statistics).complete_log_likelihood(task.leaves, &found.parameters);
        let entropy = finite_or_zero(found.statistics.log_likelihood - complete);
        Ok((found.statistics, entropy))
    }

    /// The marks of all rows, if all parts have marks.
    fn marks(&self, rows: Option<&dyn Source>) -> Result<Option<Marks>> {
        let mut all = Marks::default();
        for part in self.parts {
            match &part.marks {
                Some(marks) => all.merge(marks),
                None => return Ok(None),
            }
        }
        if let Some(rows) = rows {
            match Marks::of(rows)? {
                Some(more) => all.merge(&more),
                None => return Ok(None),
            }
        }
        Ok(Some(all).filter(Marks::is_small_enough))
    }
}
