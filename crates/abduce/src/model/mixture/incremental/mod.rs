//! Models that go on living without the rows they were fitted on: they take in
//! new rows, add each other up and forget, because their statistics are a
//! commutative group and all that a fit needs of its rows is in them.
//!
//! With all labels and correlated cells seen, what comes out is the fit of all
//! rows. Otherwise rows were shared out among components under the parameters of
//! their time, and keep those shares: taking in new rows is then one step of
//! incremental EM (Neal & Hinton 1998), whose lower bound of the log-likelihood,
//!
//!   E log p(x, z | θ) + H(z),
//!
//! never falls and is what the fit reports.

pub(crate) mod change;
mod forget;
pub(crate) mod marks;
mod passage;
mod precision;
mod union;

use crate::data::{Asked, Labelled, Recoded, Schema, Source};
use crate::family::Statistics;
use crate::leaf::{Leaf, Seen};
use crate::learn::{EmOptions, Latent, em};
use crate::model::LogLikelihoodOf;
use crate::model::mixture::fit::finish::finish;
use crate::model::mixture::fit::survey::Survey;
use crate::model::mixture::fit::{settle, stopped};
use crate::model::mixture::step::task::Task;
use crate::model::mixture::{Fit, FitOptions, Marks, Mixture, MixtureStatistics, Specification};
use crate::{Control, Progress};
use crate::{Error, Result};
use passage::Passage;
use union::{union_of, with_constant};

impl Mixture {
    /// Whether the statistics are those of the rows alone, with nothing in them
    /// that only some parameters said of the hidden.
    pub fn is_exact(&self) -> bool {
        // Rows without a label that weigh nothing are in no statistics.
        let labelled = self.seen.total - self.seen.unlabelled;
        let shared = self.statistics.total - labelled;
        let known = shared <= 1e-9 * self.seen.total || self.components() == 1;
        self.seen.total > 0.0 && known && self.seen.incomplete <= 0.0
    }

    /// Takes in new rows, with all levels, terms and classes that are new in them.
    /// `unlabelled` is how much rows without a label count.
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
    /// If the rows do not fit the model's columns.
    pub fn update(
        &self,
        rows: &dyn Source,
        specification: &Specification,
        options: &FitOptions,
        unlabelled: f64,
        control: Control,
    ) -> Result<Fit> {
        let labelled = self.taught_by(rows, unlabelled)?;
        let rows = labelled.as_ref().map_or(rows, |own| own as &dyn Source);
        let new = rows.schema();
        let mut fields = Vec::with_capacity(self.schema.fields.len());
        for (place, own) in self.schema.fields.iter().enumerate() {
            let more = new.fields.iter().find(|field| field.name == own.name);
            let field = match (more, self.constant(place)) {
                (Some(more), Some(x)) => with_constant(more, x),
                (Some(more), None) if self.models(place) => own.union(more)?,
                (Some(more), None) => more.clone(),
                (None, _) => own.clone(),
            };
            fields.push(field.asked(own.asked));
        }
        let schema = Schema {
            fields,
            weight: self.schema.weight.clone(),
        };
        let rows = Recoded::new(rows, schema.clone())?;
        let grown = Grown {
            parts: &[self],
            schema,
            specification,
            options,
            unlabelled,
            control,
        };
        grown.learn(Some(&rows))
    }

    /// Adds up models of different rows, fitted to the same specification.
    ///
    /// # Errors
    /// If they have different columns, or components without names that tell
    /// which is which.
    pub fn merge(
        parts: &[&Mixture],
        specification: &Specification,
        options: &FitOptions,
        unlabelled: f64,
    ) -> Result<Fit> {
        let [first, others @ ..] = parts else {
            return Err(Error::parameter("there is no model to merge"));
        };
        if first.target.is_none() && first.components() > 1 && !others.is_empty() {
            return Err(
                Error::parameter("clusters of different fits are not the same clusters")
                    .with_hint("update one model with the other's data instead"),
            );
        }
        for other in others {
            let names = |mixture: &Mixture| {
                let fields = mixture.schema.fields.iter();
                let mut names: Vec<String> = fields.map(|field| field.name.clone()).collect();
                names.sort();
                names
            };
            if names(first) != names(other) {
                let (here, there) = (names(first), names(other));
                let only = here.iter().find(|name| !there.contains(name));
                let only = only.or_else(|| there.iter().find(|name| !here.contains(name)));
                let only = only.map_or("", |name| name.as_str());
                return Err(Error::data("only some of the models have the column")
                    .at_column(only)
                    .with_hint("fit all of them on the same columns"));
            }
        }
        let mut fields = Vec::with_capacity(first.schema.fields.len());
        for own in &first.schema.fields {
            fields.push(union_of(parts, own)?);
        }
        let grown = Grown {
            parts,
            schema: Schema {
                fields,
                weight: first.schema.weight.clone(),
            },
            specification,
            options,
            unlabelled,
            control: Control::default(),
        };
        grown.learn(None)
    }

    /// The rows that have a label, where only those teach the model anything.
    pub(crate) fn taught_by<'a>(
        &self,
        rows: &'a dyn Source,
        unlabelled: f64,
    ) -> Result<Option<Labelled<'a>>> {
        // Scores cannot say how probable a label is.
        let counted = unlabelled > 0.0 && self.is_generative();
        let target = self.target.map(|place| &self.schema.fields[place].name);
        let target = target.and_then(|name| rows.schema().position(name).ok());
        match target {
            Some(target) if !counted => Labelled::of(rows, target, false),
            _ => Ok(None),
        }
    }

    /// Whether a column says something: it is the target, or has been seen.
    fn models(&self, column: usize) -> bool {
        self.target == Some(column) || self.leaf_of(column).is_some()
    }

    /// The columns of numbers of which so little was seen, nothing or one number,
    /// that new rows may say what they are.
    pub fn unsettled(&self) -> Vec<String> {
        let fields = self.schema.fields.iter().enumerate();
        let unsettled = fields.filter(|(place, field)| {
            let number = !field.kind.is_coded() && field.text.is_none();
            let number = number && field.asked == Asked::Nothing;
            number && (!self.models(*place) || self.constant(*place).is_some())
        });
        unsettled.map(|(_, field)| field.name.clone()).collect()
    }

    /// The number that a column has in all rows, where it has one.
    fn constant(&self, column: usize) -> Option<f64> {
        let leaf = &self.leaves[self.leaf_of(column)?];
        leaf.fixed.then(|| self.seen.columns[column].mean)
    }

    /// The leaf of a column.
    fn leaf_of(&self, column: usize) -> Option<usize> {
        let mut leaves = self.leaves.iter();
        leaves.position(|leaf| leaf.columns.contains(&column))
    }

    /// H(z): how much the hidden adds to the bound of the log-likelihood.
    fn entropy(&self) -> f64 {
        if self.is_exact() {
            return 0.0;
        }
        let complete = (self.statistics).log_likelihood_of(&self.leaves, &self.parameters);
        let entropy = self.statistics.log_likelihood - complete;
        if entropy.is_finite() { entropy } else { 0.0 }
    }
}

/// An error where no column is left.
fn refuse_nothing(leaves: &[Leaf]) -> Result<()> {
    match leaves.is_empty() {
        true => Err(Error::data("no cell of any column is seen")),
        false => Ok(()),
    }
}

/// The fit that statistics are, with H(z) of what was hidden.
fn concluded(
    task: &Task,
    schema: &Schema,
    seen: Seen,
    options: &FitOptions,
    statistics: MixtureStatistics,
    entropy: f64,
) -> Fit {
    let mut result = task.in_one_pass(statistics);
    result.statistics.log_likelihood += entropy;
    result.objective += entropy;
    result.trace = vec![result.statistics.log_likelihood];
    result.objectives = vec![result.objective];
    let mut fit = finish(task, schema, seen, options, result);
    if !fit.mixture.is_exact() {
        fit.log_likelihood_of = LogLikelihoodOf::Bound;
        // One step of EM was made.
        fit.converged = false;
    }
    fit
}

/// The statistics of all components together.
fn whole_of(each: &[Statistics]) -> Option<Statistics> {
    let (first, others) = each.split_first()?;
    let mut whole = first.clone();
    others.iter().for_each(|own| whole.merge(own));
    Some(whole)
}

/// Models, perhaps new rows, and the schema of all of them.
struct Grown<'a> {
    parts: &'a [&'a Mixture],
    schema: Schema,
    specification: &'a Specification,
    options: &'a FitOptions,
    unlabelled: f64,
    control: Control<'a>,
}

impl Grown<'_> {
    fn learn(&self, rows: Option<&dyn Source>) -> Result<Fit> {
        let first = self.parts[0];
        if self.parts.iter().any(|part| part.seen.rows == 0) {
            return Err(Error::data("the model does not say what it has seen")
                .with_hint("it was written by an older abduce; fit it again"));
        }
        let target = first.target.map(|place| &first.schema.fields[place].name);
        let target = target.map(|name| self.schema.position(name)).transpose()?;
        let components = match target {
            Some(target) => self.schema.fields[target].levels.len(),
            None => first.components(),
        };
        let mut passages = Vec::with_capacity(self.parts.len());
        let mut known = Seen::nothing(self.schema.fields.len());
        for part in self.parts {
            let passage = Passage::new(part, &self.schema)?;
            known.merge(&passage.seen(&part.seen, &part.statistics));
            passages.push(passage);
        }
        self.control.report(Progress::Survey);
        for (name, _) in &self.specification.dirichlet {
            let (known, all) = (first.schema.position(name)?, self.schema.position(name)?);
            let known = &first.schema.fields[known];
            let mut levels = self.schema.fields[all].levels.iter();
            if let Some(new) = levels.find(|level| known.code(level).is_none()) {
                let message =
                    format!("the level \"{new}\" is new, and --dirichlet has no number for it");
                return Err(Error::data(message).at_column(name).with_hint(format!(
                    "fit all rows again with --dirichlet \"{name}=…\" for every level"
                )));
            }
        }
        let mut leaves = self.specification.leaves(&self.schema)?;
        let mut survey = self.survey(rows, &leaves, target, components)?;
        let mut seen = known.clone();
        seen.merge(&survey.seen);
        if let Some(reconsidered) = seen.reconsidered(&leaves, self.specification.added(&seen)) {
            leaves = reconsidered;
            refuse_nothing(&leaves)?;
            survey = self.survey(rows, &leaves, target, components)?;
            seen = known;
            seen.merge(&survey.seen);
        }
        let mut old = MixtureStatistics::zero(&leaves, components);
        for (part, passage) in self.parts.iter().zip(&passages) {
            let own = passage.statistics(&part.statistics, target, components, &leaves, &seen)?;
            old.merge(&own);
        }
        let hidden = survey.seen.unlabelled > 0.0 || survey.seen.incomplete > 0.0;
        let expected = rows.filter(|_| hidden);
        let mut labelled = old.clone();
        labelled.merge(&survey.labelled);
        let survey = Survey {
            labelled,
            seen: seen.clone(),
        };
        settle(self.specification, &self.schema, &survey, &mut leaves)?;
        let (schema, specification) = (&self.schema, self.specification);
        specification.hold(schema, components, &mut leaves)?;
        if let Some(prior) = &self.specification.normal_prior {
            let whole = |number: usize, _: &Leaf| Ok(whole_of(&survey.labelled.leaves[number]));
            prior.settle(&seen, components, &mut leaves, whole)?;
        }
        let weights = self.specification;
        let task = Task {
            leaves: &leaves,
            target,
            components,
            weights: weights.weight_belief(&self.schema, target, components)?,
            unlabelled: self.unlabelled,
            log_units: seen.log_units(&leaves),
            given: false,
            predictive: self.specification.predictive,
            seed: self.options.seed,
            control: self.control,
        };
        let mut entropy: f64 = self.parts.iter().map(|part| part.entropy()).sum();
        let statistics = match expected {
            None => survey.labelled,
            Some(rows) => {
                let (new, spread) = self.expect(&task, rows, &old, &survey.labelled)?;
                entropy += spread;
                let mut all = old;
                all.merge(&new);
                all
            }
        };
        let mut fit = concluded(&task, &self.schema, seen, self.options, statistics, entropy);
        fit.mixture.marks = self.marks(rows)?;
        Ok(fit)
    }

    /// The marks of all rows, if all parts have theirs.
    fn marks(&self, rows: Option<&dyn Source>) -> Result<Option<Marks>> {
        let mut all = Marks::default();
        for part in self.parts {
            match &part.marks {
                Some(own) => all.merge(own),
                None => return Ok(None),
            }
        }
        if let Some(rows) = rows {
            match Marks::of(rows)? {
                Some(more) => all.merge(&more),
                None => return Ok(None),
            }
        }
        Ok(Some(all).filter(Marks::are_few))
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
            Some(rows) => Survey::of(rows, leaves, target, self.control)?.ok_or_else(stopped),
            None => Ok(Survey::nothing(leaves, labels, self.schema.fields.len())),
        }
    }

    /// The E-step of new rows under what was known before, and the entropy of what
    /// it made of the hidden.
    fn expect(
        &self,
        task: &Task,
        rows: &dyn Source,
        old: &MixtureStatistics,
        labelled: &MixtureStatistics,
    ) -> Result<(MixtureStatistics, f64)> {
        let grown = self.parts.iter().any(|part| part.schema != self.schema);
        let start = match grown {
            false => task.maximize(old, None),
            // What is new must not be impossible.
            true => {
                let mut start = labelled.clone();
                let leaves = task.leaves.iter().zip(&mut start.leaves);
                leaves.for_each(|(leaf, own)| leaf.family.pull_together(own));
                task.maximize(&start, None)
            }
        };
        let once = EmOptions {
            max_iterations: 0,
            ..self.options.em.plainly()
        };
        let found = em(task, rows, start, &once, self.control)?.ok_or_else(stopped)?;
        let complete = (found.statistics).log_likelihood_of(task.leaves, &found.parameters);
        let entropy = found.statistics.log_likelihood - complete;
        let entropy = if entropy.is_finite() { entropy } else { 0.0 };
        Ok((found.statistics, entropy))
    }
}
