//! Mixtures with drawn parameters, for multiple imputation: copies that are filled under one
//! set of parameters differ too little, because they leave out how uncertain the parameters
//! are. Each copy needs parameters of its own (Rubin 1987), and a bootstrap refit is such a
//! draw, at any sample size that the likelihood can be trusted for (Little & Rubin 2019,
//! §10.2).

use crate::Control;
use crate::ask::Joint as _;
use crate::data::{BayesianBootstrap, CHUNK_ROWS, Chunk, Column, Labelled, Rows, Source, Table};
use crate::family::{Family as _, Gaussian, GaussianStats, Statistics};
use crate::kernel::hashing::mix;
use crate::leaf::Leaf;
use crate::leaf::Seen;
use crate::learn::{EmOptions, em};
use crate::model::mixture::Mixture;
use crate::model::mixture::step::task::Task;
use crate::{Error, ErrorKind, Result};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// Iterations of EM from the fitted parameters, at the most.
const ITERATIONS: usize = 1000;

/// The relative change of the mean log-likelihood at which they end: where much is missing, EM
/// is slow, and draws that stop early differ too little.
const TOLERANCE: f64 = 1e-10;

/// How many tables are drawn before a fit that fails is given up.
const ATTEMPTS: u64 = 5;

/// Cells of a drawn table, at the most.
const MOST_CELLS: usize = 33_554_432;

impl Mixture {
    /// The same mixture with its parameters drawn from their approximate posterior, as each
    /// copy of a multiple imputation needs them.
    ///
    /// If `rows` are those that the mixture was fitted to, this is the Bayesian bootstrap:
    /// the rows get random weights, Exp(1) each, and EM starts again from the fitted
    /// parameters. Other rows do not change the parameters; then it is the parametric
    /// bootstrap: as many rows as were fitted are drawn from the mixture, cells are hidden as
    /// often as they were, and EM is run on those. `unlabelled` is the weight of rows without
    /// a label in the fit.
    ///
    /// The parameters stay as they are where no rows are known, in mixtures without a
    /// density, and in those with text columns for rows other than the fitted ones.
    ///
    /// ```
    /// use abduce::data::{Column, Field, Kind, Schema, Table};
    /// use abduce::Control;
    /// use abduce::model::mixture::{CovarianceKind, FitOptions, Specification, fit};
    /// let x = [1.0, 1.2, 0.8, 7.9, 8.0, 8.3].map(Some);
    /// let schema = Schema::new(vec![Field::new("x", Kind::Real)]);
    /// let table = Table::new(schema, vec![Column::from_numbers(x)], None)?;
    /// let specification = Specification::mixture(1, CovarianceKind::Full);
    /// let fit = fit(&specification, &table, &FitOptions::default(), Control::default())?;
    /// let drawn = |seed| fit.mixture.with_drawn_parameters(&table, 1.0, seed, Control::default());
    /// assert_ne!(drawn(1)?.parameters.leaves, drawn(2)?.parameters.leaves);
    /// # Ok::<(), abduce::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the rows cannot be read, or no drawn table can be fitted.
    pub fn with_drawn_parameters(
        &self,
        rows: &dyn Source,
        unlabelled: f64,
        seed: u64,
        control: Control,
    ) -> Result<Mixture> {
        if self.seen.rows == 0 || !self.is_generative() {
            return Ok(self.clone());
        }
        let labelled = match self.target {
            Some(target) if unlabelled == 0.0 => Labelled::of(rows, target, true)?,
            _ => None,
        };
        let rows = labelled.as_ref().map_or(rows, |own| own as &dyn Source);
        let fitted = self.was_fitted_to(rows)?;
        let text = self.leaves.iter().any(|leaf| leaf.family.is_text());
        if !fitted && text {
            return Ok(self.clone());
        }
        let mut failure = None;
        for attempt in 0..ATTEMPTS {
            let seed = mix(mix(seed).wrapping_add(attempt));
            let drawn = if fitted {
                let drawn = BayesianBootstrap::of(rows, seed)?;
                self.refitted(&drawn, unlabelled, control)
            } else {
                self.refitted(&self.drawn_table(seed)?, unlabelled, control)
            };
            match drawn {
                Err(why) if why.kind() == ErrorKind::Numeric => failure = Some(why),
                drawn => return drawn,
            }
        }
        Err(failure.unwrap_or_else(|| Error::numeric("no drawn table could be fitted")))
    }

    /// The mixture after EM on other rows, from its parameters.
    fn refitted(&self, rows: &dyn Source, unlabelled: f64, control: Control) -> Result<Mixture> {
        let task = Task {
            leaves: &self.leaves,
            target: self.target,
            components: self.components(),
            weights: self.belief(),
            unlabelled,
            log_units: self.seen.log_units(&self.leaves),
            given: true,
            // The draw stands for the uncertainty that a predictive answer would add.
            predictive: false,
            seed: 0,
            control,
        };
        let options = EmOptions {
            max_iterations: ITERATIONS,
            tolerance: TOLERANCE,
            ..EmOptions::default()
        };
        let found = em(&task, rows, self.parameters.clone(), &options, control)?;
        let found = found.ok_or_else(crate::model::mixture::fit::stopped)?;
        let (parameters, statistics) = (found.parameters, found.statistics);
        Ok(task.mixture(&self.schema, parameters, statistics, self.seen.clone()))
    }

    /// Whether rows have the counts and moments of those that the mixture was fitted to.
    fn was_fitted_to(&self, rows: &dyn Source) -> Result<bool> {
        let fields = &self.schema.fields;
        if rows.schema().fields.len() != fields.len() {
            return Ok(false);
        }
        let mut seen = Seen::nothing(fields.len());
        // Behind the levels stands what the model has never seen.
        let zeros = |levels: usize| vec![0.0; levels + 1];
        let mut levels: Vec<_> = fields.iter().map(|own| zeros(own.levels.len())).collect();
        for chunk in rows.scan()? {
            let chunk = chunk?;
            seen.merge(&self.counts_of(&chunk));
            let each = levels.iter_mut().enumerate();
            each.for_each(|(column, counts)| add_levels(&chunk, column, counts));
        }
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * self.seen.total;
        let mut columns = self.leaves.iter().flat_map(|leaf| &leaf.columns);
        let same = |column: &usize| match self.seen.columns.get(*column) {
            Some(own) => are_same_moments(own, &seen.columns[*column]),
            None => false,
        };
        Ok(seen.rows == self.seen.rows
            && near(seen.total, self.seen.total)
            && near(seen.unlabelled, self.seen.unlabelled)
            && columns.all(same)
            && self.has_level_counts(&levels))
    }

    /// Whether levels have the counts that the statistics have of them, and none is new.
    fn has_level_counts(&self, levels: &[Vec<f64>]) -> bool {
        // Rows without a label that count for less are in the statistics by that much.
        let whole = (self.statistics.total - self.seen.total).abs() <= 1e-9 * self.seen.total;
        let mut leaves = self.leaves.iter().zip(&self.statistics.leaves);
        leaves.all(|(leaf, own)| {
            let Some(counts) = level_counts(own) else {
                return true;
            };
            let Some((unseen, own)) = levels[leaf.columns[0]].split_last() else {
                return false;
            };
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-6 * self.seen.total;
            *unseen == 0.0 && (!whole || own.iter().zip(&counts).all(near))
        })
    }

    /// What is seen of the rows of a chunk, without their statistics.
    fn counts_of(&self, chunk: &Chunk) -> Seen {
        let ones = vec![1.0; chunk.rows()];
        let weights = chunk.weights().unwrap_or(&ones);
        let mut seen = Seen {
            total: chunk.total_weight(),
            rows: chunk.weighing_rows().count() as u64,
            ..Seen::nothing(chunk.columns().len())
        };
        let hidden = |row: &usize| match self.target {
            Some(target) => !chunk.column(target).cells(0, chunk.rows()).is_seen(*row),
            None => true,
        };
        seen.unlabelled = (0..chunk.rows())
            .filter(hidden)
            .map(|row| weights[row])
            .sum();
        for column in self.leaves.iter().flat_map(|leaf| &leaf.columns) {
            let cells = [chunk.column(*column).cells(0, chunk.rows())];
            if !cells[0].reals().is_empty() {
                Gaussian::observe(&Rows::new(&cells), weights, &mut seen.columns[*column]);
            }
        }
        seen
    }

    /// A table drawn from the mixture: as many rows as it was fitted to, with cells hidden as
    /// often as theirs.
    fn drawn_table(&self, seed: u64) -> Result<Table> {
        let columns = self.schema.fields.len();
        let rows = (self.seen.total / self.seen.row_weight()).round().max(2.0) as usize;
        let rows = rows.min((MOST_CELLS / columns.max(1)).max(2));
        let rates: Vec<f64> = (0..columns).map(|column| self.seen_rate(column)).collect();
        let mut chunks = Vec::new();
        for first in (0..rows).step_by(CHUNK_ROWS) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(chunks.len() as u64);
            let size = CHUNK_ROWS.min(rows - first);
            let drawn = self.sample(&vec![None; columns], size, &mut rng)?;
            let each = drawn.columns().iter().zip(&rates);
            let each = each.map(|(column, rate)| hidden_at_random(column, *rate, &mut rng));
            chunks.push(Chunk::new(size, each.collect(), None));
        }
        Ok(Table::from_chunks(self.schema.clone(), chunks))
    }

    /// The share of the rows in which a column was seen.
    fn seen_rate(&self, column: usize) -> f64 {
        let total = self.seen.total;
        if self.target == Some(column) {
            return 1.0 - self.seen.unlabelled / total;
        }
        let leaf = |leaf: &Leaf| leaf.columns.contains(&column);
        let seen = match self.leaves.iter().position(leaf) {
            Some(place) if self.leaves[place].family.levels().is_some() => {
                let own = self.statistics.leaves[place].iter();
                own.map(Statistics::weight).sum::<f64>() / self.statistics.total
            }
            _ => self
                .seen
                .columns
                .get(column)
                .map_or(1.0, |own| own.weight / total),
        };
        // Sums of shares have rounding errors, which must hide nothing.
        if seen > 1.0 - 1e-9 { 1.0 } else { seen }
    }
}

/// Whether moments differ by no more than rounding.
fn are_same_moments(a: &GaussianStats, b: &GaussianStats) -> bool {
    let weight = a.weight;
    let size = if weight > 0.0 {
        (a.scatter / weight).sqrt() + a.mean.abs()
    } else {
        0.0
    };
    (a.weight - b.weight).abs() <= 1e-9 * weight
        && (a.mean - b.mean).abs() <= 1e-9 * size
        && (a.scatter - b.scatter).abs() <= 1e-9 * size * size * weight
}

/// A column with some cells hidden at random.
fn hidden_at_random(column: &Column, seen: f64, rng: &mut ChaCha8Rng) -> Column {
    if seen >= 1.0 {
        return column.clone();
    }
    let cells = column.cells(0, column.len());
    let mut cell = |row: usize| cells.number(row).filter(|_| rng.random_bool(seen.max(0.0)));
    match column {
        Column::Code { .. } => {
            let codes = (0..column.len()).map(|row| cell(row).map(|code| code as u32));
            Column::from_codes(codes.collect::<Vec<_>>())
        }
        _ => Column::from_numbers((0..column.len()).map(&mut cell).collect::<Vec<_>>()),
    }
}

/// The weight of each level that statistics have seen, of families over levels.
fn level_counts(own: &[Statistics]) -> Option<Vec<f64>> {
    let counts = own.iter().map(|own| match own {
        Statistics::Categorical(own) => Some(own.counts.clone()),
        Statistics::Bernoulli(own) => Some(vec![own.failures, own.successes]),
        _ => None,
    });
    let sum = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(&b).map(|(a, b)| a + b).collect();
    counts.collect::<Option<Vec<_>>>()?.into_iter().reduce(sum)
}

/// Adds the weights of the levels of a column; those beyond the last count as the last.
fn add_levels(chunk: &Chunk, column: usize, counts: &mut [f64]) {
    let cells = chunk.column(column).cells(0, chunk.rows());
    let codes = cells.codes();
    let last = counts.len() - 1;
    for row in (0..codes.len()).filter(|row| cells.is_seen(*row)) {
        let weight = chunk.weights().map_or(1.0, |weights| weights[row]);
        counts[last.min(codes[row] as usize)] += weight;
    }
}
