//! Forgetting: rows are taken out of the statistics, and with them the levels,
//! terms and classes of which no row is left, so that the model is the one that
//! never saw them.

use super::passage::{Passage, levels};
use super::precision::{Digits, digits, together, worst};
use super::{
    Fit, FitOptions, Leaf, Mixture, MixtureStatistics, Seen, Specification, concluded,
    refuse_nothing, whole_of,
};
use crate::Control;
use crate::data::{Asked, Field, Kind, Labelled, NO_CODE, Recoded, Schema, Source};
use crate::family::{GaussianStats, Statistics, Stats as _, never_seen};
use crate::model::mixture::ClassPrior;
use crate::model::mixture::fit::survey::Survey;
use crate::model::mixture::fit::{settle, stopped};
use crate::model::mixture::step::task::Task;
use crate::text::{Encoder, Encoding};
use crate::{Error, Result};

/// A share of a sum that rounding leaves when all of it is gone.
const ROUNDING: f64 = 1e-12;

/// The same of a scatter, below which it is all noise.
const NOISE: f64 = 16.0 * f64::EPSILON;

impl Mixture {
    /// Takes rows out that were seen before. The model is then the fit of the
    /// rows that are left.
    ///
    /// # Errors
    /// If the rows cannot have been seen, as far as the statistics tell; if
    /// they have no label or hidden correlated cells, since what was made of those
    /// is no longer known; and if no row would be left.
    pub fn forget(
        &self,
        rows: &dyn Source,
        specification: &Specification,
        options: &FitOptions,
        control: Control,
    ) -> Result<Fit> {
        if self.target.is_none() {
            return Err(Error::parameter("only models of classes can forget")
                .with_hint("fit the other rows again"));
        }
        self.refuse_strangers(rows)?;
        let rows = Recoded::new(rows, self.schema.clone())?;
        if let Some(target) = self.target
            && Labelled::of(&rows, target, true)?.is_some()
        {
            return Err(hidden());
        }
        let mut marks = self.marks.clone();
        let gone = marks.as_mut().map(|marks| marks.forget(&rows));
        let gone = gone.transpose()?;
        let survey = Survey::of(&rows, &self.leaves, self.target, control)?.ok_or_else(stopped)?;
        if survey.seen.unlabelled > 0.0 || survey.seen.incomplete > 0.0 {
            return Err(hidden());
        }
        let mut statistics = self.statistics.clone();
        statistics.forget(&survey.labelled, gone.map(|gone| gone < self.seen.rows))?;
        let mut seen = self.seen.clone();
        seen.forget(&survey.seen, gone)?;
        if self.seen.unlabelled <= 0.0 && self.seen.incomplete <= 0.0 {
            let leaves = self.leaves.iter().zip(&statistics.leaves);
            for (leaf, own) in leaves.filter(|(leaf, _)| !leaf.fixed) {
                for (column, moments) in leaf.columns.iter().zip(together(own)) {
                    seen.columns[*column] = without_noise(moments, &self.seen.columns[*column]);
                }
            }
        }
        let fewer = self.refuse_lost_digits(&statistics, &seen)?;
        let (schema, codes) = self.without_the_lost(&statistics, &seen, specification);
        let passage = Passage::without(self, codes);
        let components = passage.components(self.target).iter().flatten().count();
        let mut leaves = specification.leaves(&schema)?;
        if let Some(reconsidered) = seen.reconsidered(&leaves, specification.added(&seen)) {
            leaves = reconsidered;
            refuse_nothing(&leaves)?;
        }
        let labelled = passage.statistics(&statistics, self.target, components, &leaves, &seen)?;
        let survey = Survey { labelled, seen };
        settle(specification, &schema, &survey, &mut leaves)?;
        specification.hold(&schema, components, &mut leaves)?;
        if let Some(prior) = &specification.normal_prior {
            let whole = |number: usize, _: &Leaf| Ok(whole_of(&survey.labelled.leaves[number]));
            prior.settle(&survey.seen, components, &mut leaves, whole)?;
        }
        let task = Task {
            leaves: &leaves,
            target: self.target,
            components,
            weights: specification.weight_belief(&schema, self.target, components)?,
            unlabelled: 1.0,
            log_units: survey.seen.log_units(&leaves),
            given: false,
            predictive: specification.predictive,
            seed: options.seed,
            control,
        };
        let Survey { labelled, seen } = survey;
        let mut fit = concluded(&task, &schema, seen, options, labelled, self.entropy());
        fit.mixture.marks = marks;
        fit.warnings.extend(fewer);
        Ok(fit)
    }

    /// An error for a column of which no digit is left, and what is to be said of
    /// those with few.
    fn refuse_lost_digits(&self, left: &MixtureStatistics, seen: &Seen) -> Result<Vec<String>> {
        let mut fewer = Vec::new();
        for (number, leaf) in self.leaves.iter().enumerate() {
            let moments = leaf.columns.iter().map(|column| &seen.columns[*column]);
            let squares = moments.map(|own| match own.weight > 0.0 {
                true => own.scatter / own.weight + own.mean * own.mean,
                false => 0.0,
            });
            let squares: Vec<f64> = squares.collect();
            let worst = worst(&self.statistics, left, number, &squares);
            for (column, in_components) in leaf.columns.iter().zip(worst) {
                let (before, after) = (&self.seen.columns[*column], &seen.columns[*column]);
                let name = &self.schema.fields[*column].name;
                match digits(before, after, 0.0).max(in_components) {
                    Digits::All => {}
                    Digits::Fewer => fewer.push(format!(
                        "column \"{name}\": the forgotten rows were so far off that few digits \
                         are left of the others' spread; fit those again"
                    )),
                    Digits::None => {
                        return Err(Error::numeric(
                            "the rows to forget are so far off that no digit is left of the \
                             others' spread",
                        )
                        .at_column(name)
                        .with_hint("fit the other rows again"));
                    }
                }
            }
        }
        Ok(fewer)
    }

    /// An error for the first row with a level that the model does not have.
    fn refuse_strangers(&self, rows: &dyn Source) -> Result<()> {
        for (place, field) in rows.schema().fields.iter().enumerate() {
            let Ok(own) = self.schema.position(&field.name) else {
                continue;
            };
            let own = &self.schema.fields[own];
            if let (Some(own), Some(text)) = (own.text.as_deref(), field.text.as_deref())
                && own.may_grow()
            {
                refuse_strange_words(rows, place, field, &text.encoding, &own.encoding)?;
                continue;
            }
            let strange: Vec<bool> = field.levels.iter().map(|l| own.code(l).is_none()).collect();
            if !own.kind.is_coded() || !strange.contains(&true) {
                continue;
            }
            let mut before = 0;
            for chunk in rows.scan()? {
                let chunk = chunk?;
                let cells = chunk.column(place).cells(0, chunk.rows());
                let mut codes = cells.codes().iter().enumerate();
                let found =
                    codes.find(|(row, code)| cells.is_seen(*row) && strange[**code as usize]);
                if let Some((row, code)) = found {
                    let level = &field.levels[*code as usize];
                    return Err(never_had(level, field, before + row as u64 + 1));
                }
                before += chunk.rows() as u64;
            }
        }
        Ok(())
    }

    /// The schema without what has lost its last row, and the new codes of what is
    /// left, by column.
    fn without_the_lost(
        &self,
        left: &MixtureStatistics,
        seen: &Seen,
        specification: &Specification,
    ) -> (Schema, Vec<Option<Vec<u32>>>) {
        let mut schema = self.schema.clone();
        let mut codes = vec![None; schema.fields.len()];
        for (place, field) in schema.fields.iter_mut().enumerate() {
            let counts = |statistics: &MixtureStatistics| match self.leaf_of(place) {
                _ if self.target == Some(place) => statistics.weights.clone(),
                Some(leaf) => counts(&statistics.leaves[leaf]),
                None => Vec::new(),
            };
            let (before, after) = (counts(&self.statistics), counts(left));
            let lost = |code: usize| {
                before.get(code).is_some_and(|count| *count > 0.0) && after[code] <= 0.0
            };
            let size = field.levels.len().max(field.terms());
            let given = specification.dirichlet.iter();
            let given = given.map(|(name, _)| name).any(|name| *name == field.name);
            // What the user or limits have said is not decided anew.
            let closed = field.text.as_ref().is_some_and(|text| !text.may_grow());
            let prior = matches!(specification.class_prior, ClassPrior::Given(_));
            let given = given || closed || field.asked == Asked::Levels;
            let given = given || prior && self.target == Some(place);
            if given || !(0..size).any(lost) || seen.total <= 0.0 {
                continue;
            }
            let mut next = 0;
            let number = |code: usize| match lost(code) {
                true => NO_CODE,
                false => {
                    next += 1;
                    next - 1
                }
            };
            codes[place] = keep(field, (0..size).map(number).collect());
        }
        (schema, codes)
    }
}

fn hidden() -> Error {
    Error::data(
        "rows with a hidden label, with some of their correlated cells hidden, or in the tails of a \
         Student t, cannot be forgotten",
    )
    .with_hint("what the fit made of the hidden is not kept; fit the other rows again")
}

/// An error for the first text with a term that the model does not have.
fn refuse_strange_words(
    rows: &dyn Source,
    place: usize,
    field: &Field,
    theirs: &Encoding,
    own: &Encoding,
) -> Result<()> {
    let term = |code: u32| theirs.term(code).unwrap_or_default();
    let codes = 0..theirs.width() as u32;
    let strange: Vec<bool> = codes.map(|code| own.code(term(code)).is_none()).collect();
    if !strange.contains(&true) {
        return Ok(());
    }
    let mut before = 0;
    for chunk in rows.scan()? {
        let chunk = chunk?;
        let cells = chunk.column(place).cells(0, chunk.rows());
        let Some(documents) = cells.terms() else {
            continue;
        };
        for row in 0..chunk.rows() {
            let mut codes = documents.row(row).0.iter();
            if let Some(code) = codes.find(|code| strange[**code as usize]) {
                return Err(never_had(term(*code), field, before + row as u64 + 1));
            }
        }
        before += chunk.rows() as u64;
    }
    Ok(())
}

fn never_had(what: &str, field: &Field, row: u64) -> Error {
    Error::data(format!("the model has never seen a row with \"{what}\""))
        .at_column(&field.name)
        .at_row(row)
}

/// Leaves a column with the levels or terms that have a code, and gives the codes
/// if anything changed.
fn keep(field: &mut Field, codes: Vec<u32>) -> Option<Vec<u32>> {
    let kept = |code: &usize| codes[*code] != NO_CODE;
    if let Some(text) = field.text.as_deref() {
        // Codes by hashing have no terms to take away.
        let Encoding::Vocabulary(vocabulary) = &text.encoding else {
            return None;
        };
        let terms = vocabulary.terms().enumerate();
        let terms = terms.filter(|(code, _)| kept(code)).map(|(_, term)| term);
        let encoder = Encoder {
            analyzer: text.analyzer.clone(),
            encoding: Encoding::Vocabulary(terms.collect()),
            limits: text.limits,
        };
        *field = Field::with_text(&field.name, encoder);
        return Some(codes);
    }
    // A pair stays a pair.
    if field.kind == Kind::Binary {
        return None;
    }
    let levels = field.levels.iter().enumerate();
    let levels = levels
        .filter(|(code, _)| kept(code))
        .map(|(_, l)| l.clone());
    field.levels = levels.collect();
    Some(codes)
}

/// The weight of each level or term in all components.
fn counts(own: &[Statistics]) -> Vec<f64> {
    let mut sums: Vec<f64> = Vec::new();
    for statistics in own {
        let counts = match statistics {
            Statistics::Words(own) | Statistics::Presence(own) => own.counts.clone(),
            statistics => levels(statistics).unwrap_or_default(),
        };
        sums.resize(sums.len().max(counts.len()), 0.0);
        let pairs = sums.iter_mut().zip(&counts);
        pairs.for_each(|(sum, count)| *sum += count);
    }
    sums
}

impl MixtureStatistics {
    /// Takes out what was seen of other rows; `some_left` is whether rows are left,
    /// where marks tell.
    fn forget(&mut self, other: &MixtureStatistics, some_left: Option<bool>) -> Result<()> {
        let known = some_left.is_some();
        for (count, less) in self.weights.iter_mut().zip(&other.weights) {
            *count = lessened(*count, *less)?;
        }
        for (own, less) in self.leaves.iter_mut().zip(&other.leaves) {
            for (own, less) in own.iter_mut().zip(less) {
                let weights = (own.weight(), less.weight());
                let gone = own.forget(less);
                or_less(gone, known, weights, |share| own.scale(share))?;
            }
        }
        self.total = lessened(self.total, other.total)?;
        match (self.total > 0.0, some_left) {
            (true, _) => Ok(()),
            (false, Some(true)) => Err(Error::numeric(
                "the rows to forget weigh so much that no digit is left of the others' weight",
            )
            .with_hint("fit the other rows again")),
            (false, _) => Err(Error::data("no row would be left")),
        }
    }
}

impl Seen {
    /// Takes out what was seen of other rows; `gone` is how many of them are gone for
    /// good, where marks tell. Otherwise each counts, but something is left while
    /// any weight is.
    fn forget(&mut self, other: &Seen, gone: Option<u64>) -> Result<()> {
        let known = gone.is_some();
        self.total = lessened(self.total, other.total)?;
        let gone = gone.unwrap_or(other.rows);
        self.rows = self.rows.saturating_sub(gone).max(1);
        for (own, less) in self.columns.iter_mut().zip(&other.columns) {
            let before = own.clone();
            let gone = own.forget(less);
            let weights = (before.weight, less.weight);
            or_less(gone, known, weights, |share| own.scale(share))?;
            *own = without_noise(own.clone(), &before);
        }
        self.review_central();
        Ok(())
    }
}

/// What is left of moments, without a spread that is only rounding of the one
/// before.
fn without_noise(mut own: GaussianStats, before: &GaussianStats) -> GaussianStats {
    if own.scatter <= NOISE * before.scatter {
        own.scatter = 0.0;
        // A constant 0 that is not quite 0 would have no unit.
        let size = before.mean.abs() + (before.scatter / before.weight).sqrt();
        if own.mean.abs() <= 4.0 * f64::EPSILON * size {
            own.mean = 0.0;
        }
    }
    own
}

/// What is left where rounding makes it less than nothing, of rows that are known to
/// have been seen: as much of the same.
fn or_less(
    gone: Result<()>,
    known: bool,
    (weight, less): (f64, f64),
    scale: impl FnOnce(f64),
) -> Result<()> {
    match gone {
        Err(_) if known && less < weight => {
            scale((weight - less) / weight);
            Ok(())
        }
        gone => gone,
    }
}

/// A sum without a part of it.
fn lessened(sum: f64, part: f64) -> Result<f64> {
    let left = sum - part;
    match left {
        _ if left < -ROUNDING * sum => Err(never_seen()),
        _ if left <= ROUNDING * sum && part > 0.0 => Ok(0.0),
        _ => Ok(left),
    }
}
