//! The first look at the rows: statistics of every label, moments of every
//! column, and what is hidden. With all labels seen and no cell hidden among
//! correlated columns this is the whole fit; otherwise it gives EM its scales
//! and, where there are labels, its start.

use super::groups::observe_groups;
use super::{Leaf, MixtureStatistics};
use crate::data::{CHUNK_ROWS, Cells, Chunk, Rows, Schema, Source, reduce};
use crate::family::{
    Family, Gaussian, GaussianStats, LeafFamily, Statistics, Stats as _, Structure,
};
use crate::learn::Control;
use crate::{Error, Result};

/// What the first look found.
pub(super) struct Survey {
    /// Statistics of the labelled rows, one component per label.
    pub labelled: MixtureStatistics,
    /// The total weight of all rows.
    pub total: f64,
    /// The weight of the rows without a label.
    pub unlabelled: f64,
    /// The weight of the rows that EM must complete: some but not all of their
    /// correlated cells are hidden.
    pub incomplete: f64,
    /// Moments of every column of numbers, by position in the schema.
    pub columns: Vec<GaussianStats>,
}

impl Survey {
    /// Looks at all rows; `None` when the caller stopped it.
    pub fn of(
        source: &dyn Source,
        leaves: &[Leaf],
        target: Option<usize>,
        control: Control,
    ) -> Result<Option<Survey>> {
        let schema = source.schema();
        let labels = target.map_or(0, |t| schema.fields[t].levels.len());
        let survey = reduce(
            source,
            |number, chunk| {
                if control.is_interrupted() {
                    return Ok(None);
                }
                check_domains(schema, leaves, chunk, number)?;
                Ok(Some(Survey::of_chunk(chunk, leaves, target, labels)))
            },
            |total: &mut Option<Survey>, more| match (total.as_mut(), more) {
                (Some(total), Some(more)) => total.merge(&more),
                _ => *total = None,
            },
        )?;
        let Some(survey) = survey else {
            return Err(Error::data("there are no rows"));
        };
        if let Some(survey) = &survey {
            survey.check(schema)?;
        }
        Ok(survey)
    }

    fn of_chunk(chunk: &Chunk, leaves: &[Leaf], target: Option<usize>, labels: usize) -> Survey {
        let mut survey = Survey {
            labelled: MixtureStatistics::zero(leaves, labels),
            total: chunk.total_weight(),
            unlabelled: 0.0,
            incomplete: 0.0,
            columns: vec![GaussianStats::default(); chunk.columns().len()],
        };
        let ones;
        let weights = match chunk.weights() {
            Some(weights) => weights,
            None => {
                ones = vec![1.0; chunk.rows()];
                &ones
            }
        };
        survey.look_for_holes(chunk, weights, leaves);
        let rows = chunk.rows();
        let all_labelled = target.is_some_and(|t| chunk.column(t).nulls().is_none());
        for leaf in leaves {
            // Gaussian leaves of labelled rows are merged from their labels.
            if all_labelled && matches!(leaf.family, LeafFamily::Gaussian { .. }) {
                continue;
            }
            for column in &leaf.columns {
                let cells = [chunk.column(*column).cells(0, rows)];
                if !cells[0].reals().is_empty() {
                    Gaussian::observe(&Rows::new(&cells), weights, &mut survey.columns[*column]);
                }
            }
        }
        let Some(target) = target else {
            survey.unlabelled = survey.total;
            return survey;
        };
        let cells = chunk.column(target).cells(0, rows);
        let label_of = |row: usize| cells.is_seen(row).then(|| cells.codes()[row] as usize);
        survey.unlabelled = observe_groups(leaves, chunk, label_of, &mut survey.labelled);
        if all_labelled {
            for (leaf, own) in leaves.iter().zip(&survey.labelled.leaves) {
                for statistics in own {
                    if let Statistics::Gaussian(statistics) = statistics {
                        survey.columns[leaf.columns[0]].merge(statistics);
                    }
                }
            }
        }
        survey
    }

    fn look_for_holes(&mut self, chunk: &Chunk, weights: &[f64], leaves: &[Leaf]) {
        for leaf in leaves {
            let full = matches!(
                &leaf.family,
                LeafFamily::Multivariate { shape, .. } if shape.structure == Structure::Full
            );
            let columns: Vec<Cells> = leaf
                .columns
                .iter()
                .map(|c| chunk.column(*c).cells(0, chunk.rows()))
                .collect();
            if !full || columns.iter().all(|cells| cells.seen.is_none()) {
                continue;
            }
            for (row, weight) in weights.iter().enumerate() {
                let seen = columns.iter().filter(|cells| cells.is_seen(row)).count();
                if seen > 0 && seen < columns.len() {
                    self.incomplete += weight;
                }
            }
        }
    }

    fn merge(&mut self, other: &Survey) {
        self.labelled.merge(&other.labelled);
        self.total += other.total;
        self.unlabelled += other.unlabelled;
        self.incomplete += other.incomplete;
        self.columns
            .iter_mut()
            .zip(&other.columns)
            .for_each(|(a, b)| a.merge(b));
    }

    fn check(&self, schema: &Schema) -> Result<()> {
        if self.total <= 0.0 {
            return Err(Error::data("every row has weight 0"));
        }
        for (field, moments) in schema.fields.iter().zip(&self.columns) {
            if !(moments.mean.is_finite() && moments.scatter.is_finite()) {
                return Err(
                    Error::data("the numbers are too large for double precision")
                        .at_column(&field.name)
                        .with_hint("rescale the column"),
                );
            }
        }
        Ok(())
    }

    /// A column's variance; for a constant column, the square of its value, or
    /// 1, so that there is always a scale.
    pub fn variance(&self, column: usize) -> f64 {
        let moments = &self.columns[column];
        let variance = if moments.weight > 0.0 {
            moments.scatter / moments.weight
        } else {
            0.0
        };
        // Below this the spread is rounding of the mean.
        let rounding = (moments.mean * f64::EPSILON).powi(2);
        if variance > rounding {
            return variance;
        }
        let square = moments.mean * moments.mean;
        if square > 0.0 { square } else { 1.0 }
    }

    /// Gives the leaves priors in the scale of the data.
    pub fn set_priors(&self, leaves: &mut [Leaf], floor: f64, smoothing: f64) {
        for leaf in leaves {
            let variances: Vec<f64> = leaf.columns.iter().map(|c| self.variance(*c)).collect();
            let mean = self.columns[leaf.columns[0]]
                .mean
                .max(1.0 / (1.0 + self.total));
            match &mut leaf.family {
                LeafFamily::Gaussian { prior, .. } => prior.scatter = floor * variances[0],
                LeafFamily::Multivariate { prior, .. } => {
                    prior.scatter = variances.iter().map(|v| floor * v).collect();
                }
                // As if `smoothing` more rows had been seen at the mean.
                LeafFamily::Poisson { prior, .. } => *prior = (smoothing * mean, smoothing),
                LeafFamily::Exponential { prior, .. } => *prior = (smoothing, smoothing * mean),
                LeafFamily::Categorical { .. } | LeafFamily::Bernoulli { .. } => {}
            }
        }
    }

    /// The logarithm of the units of a row's density.
    pub fn log_units(&self, leaves: &[Leaf]) -> f64 {
        let mut sum = 0.0;
        for leaf in leaves {
            if matches!(
                leaf.family,
                LeafFamily::Gaussian { .. }
                    | LeafFamily::Multivariate { .. }
                    | LeafFamily::Exponential { .. }
            ) {
                for column in &leaf.columns {
                    let share = self.columns[*column].weight / self.total;
                    sum += 0.5 * share * self.variance(*column).ln();
                }
            }
        }
        sum
    }
}

fn check_domains(schema: &Schema, leaves: &[Leaf], chunk: &Chunk, number: usize) -> Result<()> {
    for leaf in leaves {
        let (whole, positive) = match leaf.family {
            LeafFamily::Poisson { .. } => (true, true),
            LeafFamily::Exponential { .. } => (false, true),
            LeafFamily::Gaussian { .. } | LeafFamily::Multivariate { .. } => (false, false),
            LeafFamily::Categorical { .. } | LeafFamily::Bernoulli { .. } => continue,
        };
        for column in &leaf.columns {
            let cells = chunk.column(*column).cells(0, chunk.rows());
            let x = cells.reals();
            let bad =
                |x: f64| !x.is_finite() || (positive && x < 0.0) || (whole && x.fract() != 0.0);
            // Without an early end, the compiler makes vector code of the usual case.
            let finite = x.iter().fold(true, |finite, x| finite & x.is_finite());
            if finite && !(positive && x.iter().any(|x| bad(*x))) {
                continue;
            }
            if let Some(row) = (0..x.len()).find(|row| cells.is_seen(*row) && bad(x[*row])) {
                let what = match (whole, positive) {
                    (true, _) => "not a count",
                    (false, true) => "negative",
                    _ => "not finite",
                };
                let place = number * CHUNK_ROWS + row + 1;
                return Err(Error::data(format!("{} in row {place} is {what}", x[row]))
                    .at_column(&schema.fields[*column].name)
                    .with_hint("choose another family or kind for the column"));
            }
        }
    }
    Ok(())
}
