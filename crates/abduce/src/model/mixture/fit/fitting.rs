//! The steps of one fit: survey of the rows, priors, weight of unlabelled rows, EM, report.

use crate::data::{Labelled, Schema, Source};
use crate::family::{PriorStrength, Statistics};
use crate::leaf::{Leaf, TableSummary};
use crate::learn::{EStep, em};
use crate::model::mixture::fit::finish::finish;
use crate::model::mixture::fit::identical::separate_identical;
use crate::model::mixture::fit::interrupted;
use crate::model::mixture::fit::size::Size;
use crate::model::mixture::fit::survey::Survey;
use crate::model::mixture::fit::unlabelled::{Unlabelled, UnlabelledChoice, choose};
use crate::model::mixture::incremental::marks::Marks;
use crate::model::mixture::initialise::outcome::Starts;
use crate::model::mixture::initialise::restarts::best_of_starts;
use crate::model::mixture::initialise::sample::{sample_rows, sample_size};
use crate::model::mixture::initialise::shared::SharedGroups;
use crate::model::mixture::initialise::starting_point::StartingPoint;
use crate::model::mixture::specification::noise::add_noise;
use crate::model::mixture::specification::normal_prior::{leaf_statistics, statistics_of_leaves};
use crate::model::mixture::step::task::{EmFit, Task};
use crate::model::mixture::{Fit, FitOptions, MixtureStatistics, Specification};
use crate::model::{LogLikelihoodOf, classes_of};
use crate::{Control, Error, Progress, Result};

/// The arguments of a fit.
#[derive(Clone, Copy)]
pub(crate) struct Fitting<'a> {
    specification: &'a Specification,
    source: &'a dyn Source,
    start: StartingPoint<'a>,
    options: &'a FitOptions,
    control: Control<'a>,
    shared: Option<&'a SharedGroups>,
}

impl<'a> Fitting<'a> {
    pub fn new(
        specification: &'a Specification,
        source: &'a dyn Source,
        start: StartingPoint<'a>,
        options: &'a FitOptions,
        control: Control<'a>,
    ) -> Self {
        Fitting {
            specification,
            source,
            start,
            options,
            control,
            shared: None,
        }
    }

    /// The groups of rows from which fits with these numbers of components start; `None` if starts
    /// are tried on a sample of the rows, or depend on more than the number of components.
    pub fn shared_groups(&self, components: &[usize]) -> Result<Option<SharedGroups>> {
        if self.specification.target.is_some() || self.specification.noise {
            return Ok(None);
        }
        let mut leaves = self.specification.leaves(self.source.schema())?;
        let summary = self.survey(&mut leaves, None)?.summary;
        let size = sample_size(self.source, &leaves);
        if summary.rows > size as u64 {
            return Ok(None);
        }
        let mut components: Vec<usize> = components.to_vec();
        components.retain(|k| (1..=summary.rows as usize).contains(k));
        components.sort_unstable();
        components.dedup();
        let rows = sample_rows(self.source, summary.rows as usize, size, self.options.seed)?;
        let (leaves, options) = (&leaves, self.options);
        let control = self.control;
        let groups = SharedGroups::of(&rows, leaves, &summary, &components, options, control);
        Ok(groups)
    }

    /// Fits from groups of a grid. The second value is whether EM ended at a coarse tolerance.
    pub fn run_from_groups(self, shared: Option<&'a SharedGroups>) -> Result<(Fit, bool)> {
        Fitting { shared, ..self }.run_with_outcome()
    }

    pub fn run(self) -> Result<Fit> {
        self.run_with_outcome().map(|(fit, _)| fit)
    }

    fn run_with_outcome(self) -> Result<(Fit, bool)> {
        let schema = self.source.schema();
        let mut leaves = self.specification.leaves(schema)?;
        let target = self.specification.target.as_deref();
        let target = target.map(|name| schema.position(name)).transpose()?;
        if let Some(fit) = self.run_on_labelled_rows(&leaves, target)? {
            return Ok((fit, false));
        }
        let requested = requested_components(self.specification, schema, target)?;
        let size = Size::of(&leaves, requested);
        // Whether labels are missing, so that EM is needed, is not known yet: with a target, the
        // smaller size of a fit in one pass is checked.
        size.as_ref()
            .map_or(Ok(()), |size| size.check(target.is_some()))?;
        self.control.report(Progress::Survey);
        let survey = self.survey(&mut leaves, target)?;
        let mut components = requested;
        // More components than rows would be empty.
        if target.is_none() && self.is_automatic() && self.specification.learns_all_components() {
            components = components.min(survey.summary.rows as usize);
        }
        self.set_priors(&survey, components, &mut leaves)?;
        let mut task = self.task(&leaves, target, components, &survey.summary)?;
        if let Some(target) = target
            && survey.labelled.total <= 0.0
        {
            return Err(no_labels(schema, target));
        }
        let choice = self.weigh_unlabelled(&mut task, &survey.summary)?;
        if choice.as_ref().is_some_and(|choice| choice.weight == 0.0) {
            return Ok((self.run_without_unlabelled(choice)?, false));
        }
        let Survey { labelled, summary } = survey;
        let mut starts = Starts::default();
        let found = self.estimate(&task, labelled, &summary, &mut starts)?;
        let mut fit = finish(&task, schema, summary, self.options, found);
        self.examine_rows(&mut fit, &task)?;
        let in_one_pass = fit.bounds.is_empty() && fit.iterations == 1;
        let statistics = &fit.mixture.statistics;
        let large = size.and_then(|size| size.warning(statistics, target, schema, in_one_pass));
        fit.warnings.extend(large);
        if components < requested {
            let rows = if components == 1 { "row" } else { "rows" };
            let warning = format!(
                "{requested} components were requested for {components} {rows}: as many \
                 components as rows were fitted"
            );
            fit.warnings.insert(0, warning);
        }
        let objectives = starts.outcomes.iter().filter_map(|start| start.objective);
        fit.restarts = objectives.collect();
        fit.starts = starts.outcomes;
        fit.unlabelled = choice;
        Ok((fit, starts.is_coarse))
    }

    fn is_automatic(&self) -> bool {
        matches!(self.start, StartingPoint::Automatic)
    }

    /// The fit to the labelled rows alone, if the others have no weight; `None` if all rows are
    /// fitted.
    fn run_on_labelled_rows(&self, leaves: &[Leaf], target: Option<usize>) -> Result<Option<Fit>> {
        let generative = leaves.iter().all(|leaf| leaf.family.is_generative());
        // The probability of a hidden label needs densities.
        let use_unlabelled = generative && self.options.unlabelled != Unlabelled::Weight(0.0);
        let Some(target) = target.filter(|_| !use_unlabelled && self.is_automatic()) else {
            return Ok(None);
        };
        let Some(labelled) = Labelled::of(self.source, target, true)? else {
            return Ok(None);
        };
        let source = &labelled;
        let mut fit = Fitting { source, ..*self }.run()?;
        fit.rows = self.source.rows();
        fit.log_likelihood_of = LogLikelihoodOf::Weighted;
        Ok(Some(fit))
    }

    fn run_without_unlabelled(&self, choice: Option<UnlabelledChoice>) -> Result<Fit> {
        let options = &FitOptions {
            unlabelled: Unlabelled::Weight(0.0),
            ..self.options.clone()
        };
        let mut fit = Fitting { options, ..*self }.run()?;
        fit.unlabelled = choice;
        Ok(fit)
    }

    /// Surveys the rows; again if some columns turn out to be constant or without any value,
    /// which changes the leaves.
    fn survey(&self, leaves: &mut Vec<Leaf>, target: Option<usize>) -> Result<Survey> {
        let of = |leaves: &[Leaf]| {
            Survey::of(self.source, leaves, target, self.control)?.ok_or_else(interrupted)
        };
        let survey = of(leaves)?;
        let summary = &survey.summary;
        if summary.total <= 0.0 {
            return Err(Error::data("every row has weight 0"));
        }
        let Some(changed) =
            summary.split_constant_columns(leaves, self.specification.min_added_variance(summary))
        else {
            return Ok(survey);
        };
        refuse_no_leaves(&changed)?;
        *leaves = changed;
        of(leaves)
    }

    fn set_priors(&self, survey: &Survey, components: usize, leaves: &mut [Leaf]) -> Result<()> {
        let specification = self.specification;
        let (source, schema) = (self.source, self.source.schema());
        specification.set_smoothing(schema, survey, leaves)?;
        if specification.is_pooled() && survey.summary.unlabelled > 0.0 {
            self.pool_levels(leaves)?;
        }
        specification.apply_fixed_and_tied(schema, components, leaves)?;
        if specification.noise {
            add_noise(source, &survey.summary, leaves)?;
        }
        if let Some(prior) = &specification.normal_prior {
            let whole = |_: usize, leaf: &Leaf| leaf_statistics(source, leaf);
            prior.set_prior(&survey.summary, components, leaves, whole)?;
        }
        Ok(())
    }

    /// Smooths levels and words towards their shares of all rows: the survey counts them in
    /// labelled rows only.
    fn pool_levels(&self, leaves: &mut [Leaf]) -> Result<()> {
        let is_pooled = |leaf: &Leaf| leaf.family.levels().is_some() || leaf.family.is_text();
        let pooled: Vec<&Leaf> = leaves.iter().filter(|leaf| is_pooled(leaf)).collect();
        let all = statistics_of_leaves(self.source, &pooled, self.control)?;
        let pooled = leaves.iter_mut().filter(|leaf| is_pooled(leaf));
        for (leaf, all) in pooled.zip(all) {
            self.specification
                .set_pseudocounts(leaf, self.source.schema(), &[all])?;
        }
        Ok(())
    }

    fn task<'b>(
        &self,
        leaves: &'b [Leaf],
        target: Option<usize>,
        components: usize,
        summary: &TableSummary,
    ) -> Result<Task<'b>>
    where
        'a: 'b,
    {
        let schema = self.source.schema();
        let noise = usize::from(leaves.iter().any(|leaf| leaf.noise.is_some()));
        let weights = self
            .specification
            .weight_prior(schema, target, components)?;
        Ok(Task {
            leaves,
            target,
            components: components + noise,
            weights,
            unlabelled: 1.0,
            log_units: summary.log_units(leaves),
            has_given_start: matches!(self.start, StartingPoint::Parameters(_)),
            predictive: self.specification.predictive,
            seed: self.options.seed,
            control: self.control,
        })
    }

    /// Sets the weight of rows without a label; returns the choice if cross-validation made it.
    fn weigh_unlabelled(
        &self,
        task: &mut Task,
        summary: &TableSummary,
    ) -> Result<Option<UnlabelledChoice>> {
        let Some(target) = task.target else {
            return Ok(None);
        };
        if summary.unlabelled <= 0.0 || !self.is_automatic() {
            return Ok(None);
        }
        let choice = match self.options.unlabelled {
            Unlabelled::Weight(weight) => {
                task.unlabelled = weight;
                return Ok(None);
            }
            Unlabelled::Chosen => {
                let seed = self.options.seed;
                choose(task, self.source, target, summary, seed, self.control)?
            }
        };
        task.unlabelled = choice.weight;
        Ok(Some(choice))
    }

    /// Estimates the parameters: by EM or, if all labels are known, in one pass. The outcomes of
    /// random starts are added to `starts`.
    fn estimate(
        &self,
        task: &Task,
        labelled: MixtureStatistics,
        summary: &TableSummary,
        starts: &mut Starts,
    ) -> Result<EmFit> {
        let (source, options, control) = (self.source, self.options, self.control);
        let found = match (self.start, task.target) {
            (StartingPoint::Column(whole, column), _) => {
                task.em_from_column((whole, column), source, summary.total, &options.em, control)?
            }
            (StartingPoint::Parameters(_) | StartingPoint::Mixture(_), _) => {
                self.em_from_parameters(task)?
            }
            (StartingPoint::Automatic, Some(target)) => {
                let hidden_labels = summary.unlabelled > 0.0 && task.unlabelled > 0.0;
                if hidden_labels || summary.incomplete > 0.0 {
                    task.em_from_labels(source, target, &options.em, control)?
                } else {
                    Some(task.fit_complete(labelled))
                }
            }
            (StartingPoint::Automatic, None) => best_of_starts(
                task,
                source,
                summary,
                (options, self.shared),
                control,
                starts,
            )?,
        };
        let found = found.ok_or_else(interrupted)?;
        // Two classes may be identical; identical clusters should be one.
        if task.target.is_some() {
            return Ok(found);
        }
        separate_identical(task, source, summary, options, control, found)
    }

    fn em_from_parameters(&self, task: &Task) -> Result<Option<EmFit>> {
        let (source, options) = (self.source, &self.options.em);
        let start = self.start.parameters(task, source.schema())?;
        let start = match (self.start, start) {
            (StartingPoint::Mixture(_), Some(parameters)) => {
                task.after_one_step(source, parameters, options, self.control)?
            }
            (_, start) => start,
        };
        match start {
            Some(parameters) => em(task, source, parameters, options, self.control),
            None => Ok(None),
        }
    }

    /// Adds the parts of the report that need another pass over the rows.
    fn examine_rows(&self, fit: &mut Fit, task: &Task) -> Result<()> {
        if self.options.marks && task.target.is_some() {
            fit.mixture.marks = Marks::of(self.source)?;
        }
        if self.options.certainty {
            fit.diagnostics
                .add_certainty(task, &fit.mixture, self.source)?;
        }
        if task.unlabelled != 1.0 {
            fit.log_likelihood_of = LogLikelihoodOf::Weighted;
        }
        let hard = self.options.em.step == EStep::Hard;
        if hard && fit.mixture.is_generative() && !fit.interrupted {
            fit.use_soft_log_likelihood(task, self.source, self.control)?;
        }
        Ok(())
    }
}

/// An error if no column is left to model.
pub(crate) fn refuse_no_leaves(leaves: &[Leaf]) -> Result<()> {
    if leaves.is_empty() {
        return Err(Error::data("all values of all columns are missing"));
    }
    Ok(())
}

fn no_labels(schema: &Schema, target: usize) -> Error {
    Error::data("no row has a label")
        .at_column(&schema.fields[target].name)
        .with_hint("fit a mixture to find clusters instead")
}

fn requested_components(
    specification: &Specification,
    schema: &Schema,
    target: Option<usize>,
) -> Result<usize> {
    match (target, specification.components) {
        (Some(target), _) => classes_of(&schema.fields[target]),
        (None, Some(components)) if components > 0 => Ok(components),
        _ => Err(Error::parameter("a mixture needs at least one component")),
    }
}

/// The statistics of all components together.
fn sum_of(each: &[Statistics]) -> Option<Statistics> {
    let (first, others) = each.split_first()?;
    let mut sum = first.clone();
    others.iter().for_each(|statistics| sum.merge(statistics));
    Some(sum)
}

impl Specification {
    /// Sets all priors from the statistics of a survey, without another pass over the rows.
    pub(crate) fn set_priors(
        &self,
        schema: &Schema,
        survey: &Survey,
        components: usize,
        leaves: &mut [Leaf],
    ) -> Result<()> {
        self.set_smoothing(schema, survey, leaves)?;
        self.apply_fixed_and_tied(schema, components, leaves)?;
        if let Some(prior) = &self.normal_prior {
            let whole = |number: usize, _: &Leaf| Ok(sum_of(&survey.labelled.leaves[number]));
            prior.set_prior(&survey.summary, components, leaves, whole)?;
        }
        Ok(())
    }

    /// Sets the priors of variances, in the units of the columns, and the smoothing.
    fn set_smoothing(&self, schema: &Schema, survey: &Survey, leaves: &mut [Leaf]) -> Result<()> {
        let strength = PriorStrength {
            variance_floor: self.variance_floor,
            ridge: self.ridge_for(&survey.summary),
            unit_share: self.unit_share,
            // Counts have no range over which the m rows could be spread evenly: they are
            // placed at the mean of the column, pooled or not.
            smoothing: (self.m_estimate).map_or(self.smoothing, |estimate| estimate.rows),
            rows: survey.summary.total,
            row_weight: survey.summary.row_weight(),
        };
        for (number, leaf) in leaves.iter_mut().enumerate() {
            survey.summary.set_prior_and_fallback(leaf, &strength);
            self.set_pseudocounts(leaf, schema, &survey.labelled.leaves[number])?;
        }
        Ok(())
    }
}
