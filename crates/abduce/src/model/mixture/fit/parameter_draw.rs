//! Draws of a mixture's parameters, for multiple imputation. Copies imputed under the same
//! parameters differ too little, because they ignore how uncertain the parameters are. Each
//! copy needs its own draw (Rubin 1987). Parameters refitted to a bootstrap sample are
//! approximately such a draw (Little & Rubin 2019, §10.2).

use crate::Control;
use crate::ask::Joint as _;
use crate::data::{BayesianBootstrap, CHUNK_ROWS, Chunk, Column, Labelled, Rows, Source, Table};
use crate::family::{Family as _, Gaussian, GaussianStats, Statistics};
use crate::kernel::hashing::mix;
use crate::leaf::Leaf;
use crate::leaf::TableSummary;
use crate::learn::{EmOptions, em};
use crate::model::mixture::FittedMixture;
use crate::model::mixture::incremental::convert::levels;
use crate::model::mixture::step::task::Task;
use crate::{Error, ErrorKind, Result};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// The maximum number of EM iterations from the fitted parameters.
const MAX_ITERATIONS: usize = 1000;

/// The relative change of the mean log-likelihood at which EM ends. With many missing values EM
/// is slow, and draws that end early differ too little.
const TOLERANCE: f64 = 1e-10;

/// The maximum number of tables drawn until a fit succeeds.
const MAX_ATTEMPTS: u64 = 5;

/// The maximum number of cells of a drawn table.
const MAX_CELLS: usize = 33_554_432;

impl FittedMixture {
    /// The same mixture with parameters drawn from their approximate posterior, as each copy of
    /// a multiple imputation needs.
    ///
    /// If `rows` are the rows that the mixture was fitted to, the draw is a Bayesian bootstrap:
    /// each row gets a random weight from Exp(1), and EM restarts from the fitted parameters.
    /// For other rows it is a parametric bootstrap: as many rows as were fitted are drawn from
    /// the mixture, with the same share of missing values, and EM is run on those.
    /// `unlabelled` is the weight of rows without a label in the fit.
    ///
    /// The parameters stay as they are if the mixture was not fitted to rows, if it has no
    /// density, or if it has text columns and `rows` are not the fitted ones.
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
    ) -> Result<FittedMixture> {
        if self.summary.rows == 0 || !self.is_generative() {
            return Ok(self.clone());
        }
        let labelled = match self.target {
            Some(target) if unlabelled == 0.0 => Labelled::of(rows, target, true)?,
            _ => None,
        };
        let rows = labelled.as_ref().map_or(rows, |rows| rows as &dyn Source);
        let fitted = self.was_fitted_to(rows)?;
        let text = self.leaves.iter().any(|leaf| leaf.family.is_text());
        if !fitted && text {
            return Ok(self.clone());
        }
        let mut failure = None;
        for attempt in 0..MAX_ATTEMPTS {
            let seed = mix(mix(seed).wrapping_add(attempt));
            let drawn = if fitted {
                let drawn = BayesianBootstrap::of(rows, seed)?;
                self.refitted(&drawn, unlabelled, control)
            } else {
                self.refitted(&self.drawn_table(seed)?, unlabelled, control)
            };
            match drawn {
                Err(error) if error.kind() == ErrorKind::Numeric => failure = Some(error),
                drawn => return drawn,
            }
        }
        Err(failure.unwrap_or_else(|| Error::numeric("no drawn table could be fitted")))
    }

    /// The mixture after EM on other rows, from the parameters of this one.
    fn refitted(
        &self,
        rows: &dyn Source,
        unlabelled: f64,
        control: Control,
    ) -> Result<FittedMixture> {
        let task = Task {
            leaves: &self.leaves,
            target: self.target,
            components: self.components(),
            weights: self.weight_prior(),
            unlabelled,
            log_units: self.summary.log_units(&self.leaves),
            has_given_start: true,
            // The draw already represents the uncertainty of the parameters.
            predictive: false,
            seed: 0,
            control,
        };
        let options = EmOptions {
            max_iterations: MAX_ITERATIONS,
            tolerance: TOLERANCE,
            ..EmOptions::default()
        };
        let found = em(&task, rows, self.parameters.clone(), &options, control)?;
        let found = found.ok_or_else(crate::model::mixture::fit::interrupted)?;
        let (parameters, statistics) = (found.parameters, found.statistics);
        Ok(task.fitted_mixture(&self.schema, parameters, statistics, self.summary.clone()))
    }

    /// Whether rows have the same counts and moments as the fitted ones.
    fn was_fitted_to(&self, rows: &dyn Source) -> Result<bool> {
        let fields = &self.schema.fields;
        if rows.schema().fields.len() != fields.len() {
            return Ok(false);
        }
        let mut summary = TableSummary::empty(fields.len());
        // The last count is that of unseen categories.
        let zeros = |levels: usize| vec![0.0; levels + 1];
        let mut levels: Vec<_> = fields
            .iter()
            .map(|field| zeros(field.levels.len()))
            .collect();
        for chunk in rows.scan()? {
            let chunk = chunk?;
            summary.merge(&self.counts_of(&chunk));
            let each = levels.iter_mut().enumerate();
            each.for_each(|(column, counts)| add_levels(&chunk, column, counts));
        }
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * self.summary.total;
        let mut columns = self.leaves.iter().flat_map(|leaf| &leaf.columns);
        let same = |column: &usize| match self.summary.columns.get(*column) {
            Some(moments) => are_same_moments(moments, &summary.columns[*column]),
            None => false,
        };
        Ok(summary.rows == self.summary.rows
            && near(summary.total, self.summary.total)
            && near(summary.unlabelled, self.summary.unlabelled)
            && columns.all(same)
            && self.has_level_counts(&levels))
    }

    /// Whether the levels have the same counts as in the statistics, and none is new.
    fn has_level_counts(&self, levels: &[Vec<f64>]) -> bool {
        // The statistics contain unlabelled rows with a smaller weight than the counts do.
        let comparable =
            (self.statistics.total - self.summary.total).abs() <= 1e-9 * self.summary.total;
        let mut leaves = self.leaves.iter().zip(&self.statistics.leaves);
        leaves.all(|(leaf, statistics)| {
            let Some(counts) = level_counts(statistics) else {
                return true;
            };
            let Some((unseen, seen)) = levels[leaf.columns[0]].split_last() else {
                return false;
            };
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-6 * self.summary.total;
            *unseen == 0.0 && (!comparable || seen.iter().zip(&counts).all(near))
        })
    }

    /// The counts and moments of a chunk.
    fn counts_of(&self, chunk: &Chunk) -> TableSummary {
        let ones = vec![1.0; chunk.rows()];
        let weights = chunk.weights().unwrap_or(&ones);
        let mut summary = TableSummary {
            total: chunk.total_weight(),
            rows: chunk.rows_with_weight().count() as u64,
            ..TableSummary::empty(chunk.columns().len())
        };
        let hidden = |row: &usize| match self.target {
            Some(target) => !chunk.column(target).cells(0, chunk.rows()).is_seen(*row),
            None => true,
        };
        summary.unlabelled = (0..chunk.rows())
            .filter(hidden)
            .map(|row| weights[row])
            .sum();
        for column in self.leaves.iter().flat_map(|leaf| &leaf.columns) {
            let cells = [chunk.column(*column).cells(0, chunk.rows())];
            if !cells[0].reals().is_empty() {
                Gaussian::observe(&Rows::new(&cells), weights, &mut summary.columns[*column]);
            }
        }
        summary
    }

    /// A table drawn from the mixture, with as many rows as it was fitted to and the same share
    /// of missing values.
    fn drawn_table(&self, seed: u64) -> Result<Table> {
        let columns = self.schema.fields.len();
        let rows = (self.summary.total / self.summary.row_weight())
            .round()
            .max(2.0) as usize;
        let rows = rows.min((MAX_CELLS / columns.max(1)).max(2));
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

    /// The share of rows in which a column was not missing.
    fn seen_rate(&self, column: usize) -> f64 {
        let total = self.summary.total;
        if self.target == Some(column) {
            return 1.0 - self.summary.unlabelled / total;
        }
        let leaf = |leaf: &Leaf| leaf.columns.contains(&column);
        let observed_share = match self.leaves.iter().position(leaf) {
            Some(place) if self.leaves[place].family.levels().is_some() => {
                let components = self.statistics.leaves[place].iter();
                components.map(Statistics::weight).sum::<f64>() / self.statistics.total
            }
            _ => self
                .summary
                .columns
                .get(column)
                .map_or(1.0, |moments| moments.weight / total),
        };
        // A rounding error must not hide cells.
        if observed_share > 1.0 - 1e-9 {
            1.0
        } else {
            observed_share
        }
    }
}

/// Whether moments are equal up to rounding.
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
fn hidden_at_random(column: &Column, observed_share: f64, rng: &mut ChaCha8Rng) -> Column {
    if observed_share >= 1.0 {
        return column.clone();
    }
    let cells = column.cells(0, column.len());
    let mut cell = |row: usize| {
        cells
            .number(row)
            .filter(|_| rng.random_bool(observed_share.max(0.0)))
    };
    match column {
        Column::Code { .. } => {
            let codes = (0..column.len()).map(|row| cell(row).map(|code| code as u32));
            Column::from_codes(codes.collect::<Vec<_>>())
        }
        _ => Column::from_numbers((0..column.len()).map(&mut cell).collect::<Vec<_>>()),
    }
}

/// The weight of each level over all components; `None` for families that are not over levels.
fn level_counts(components: &[Statistics]) -> Option<Vec<f64>> {
    let counts = components.iter().map(levels);
    let sum = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(&b).map(|(a, b)| a + b).collect();
    counts.collect::<Option<Vec<_>>>()?.into_iter().reduce(sum)
}

/// Adds the weights of the levels of a column; unseen categories are added to the last count.
fn add_levels(chunk: &Chunk, column: usize, counts: &mut [f64]) {
    let cells = chunk.column(column).cells(0, chunk.rows());
    let codes = cells.codes();
    let last = counts.len() - 1;
    for row in (0..codes.len()).filter(|row| cells.is_seen(*row)) {
        let weight = chunk.weights().map_or(1.0, |weights| weights[row]);
        counts[last.min(codes[row] as usize)] += weight;
    }
}
