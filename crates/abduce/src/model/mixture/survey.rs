//! The first look at the rows: statistics of every label, moments of every
//! column, and what is hidden. With all labels seen and no cell hidden among
//! correlated columns this is the whole fit; otherwise it gives EM its scales
//! and, where there are labels, its start.

use super::groups::{Hidden, observe_documents, observe_groups};
use super::maximize::segment;
use super::{Leaf, MixtureStatistics};
use crate::data::{CHUNK_ROWS, Cells, Chunk, Rows, Schema, Source, fold};
use crate::family::{
    Belief, Family, Gaussian, GaussianStats, LeafFamily, Scale, Statistics, Stats as _, Structure,
};
use crate::learn::Control;
use crate::{Error, Result};

/// What the first look found.
pub(super) struct Survey {
    /// Statistics of the labelled rows, one component per label.
    pub labelled: MixtureStatistics,
    /// The total weight of all rows.
    pub total: f64,
    /// The number of rows that weigh anything.
    pub rows: u64,
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
        let survey = fold(
            source,
            segment(leaves, labels),
            |partial, number, chunk| {
                if control.is_interrupted() {
                    *partial = Some(None);
                    return Ok(());
                }
                check_domains(schema, leaves, chunk, number)?;
                let zero = || Some(Survey::zero(leaves, labels, schema.fields.len()));
                if let Some(survey) = partial.get_or_insert_with(zero) {
                    survey.add(chunk, leaves, target, labels);
                }
                Ok(())
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

    fn zero(leaves: &[Leaf], labels: usize, columns: usize) -> Survey {
        Survey {
            labelled: MixtureStatistics::zero(leaves, labels),
            total: 0.0,
            rows: 0,
            unlabelled: 0.0,
            incomplete: 0.0,
            columns: vec![GaussianStats::default(); columns],
        }
    }

    fn add(&mut self, chunk: &Chunk, leaves: &[Leaf], target: Option<usize>, labels: usize) {
        self.merge(&Survey::of_chunk(chunk, leaves, target, labels));
        let Some(target) = target else {
            return;
        };
        let cells = chunk.column(target).cells(0, chunk.rows());
        let label_of = |row: usize| cells.is_seen(row).then(|| cells.codes()[row] as usize);
        let leaves = leaves.iter().zip(&mut self.labelled.leaves);
        for (leaf, own) in leaves.filter(|(leaf, _)| leaf.family.is_text()) {
            observe_documents(leaf, chunk, &label_of, own);
        }
    }

    /// All but the documents, whose statistics are large.
    fn of_chunk(chunk: &Chunk, leaves: &[Leaf], target: Option<usize>, labels: usize) -> Survey {
        let mut survey = Survey {
            labelled: MixtureStatistics::zero_but_text(leaves, labels),
            total: chunk.total_weight(),
            rows: chunk.weighing_rows().count() as u64,
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
        survey.unlabelled = observe_groups(
            leaves,
            chunk,
            label_of,
            Hidden::LeftOut,
            &mut survey.labelled,
        );
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
                LeafFamily::Multivariate { shape, .. } if matches!(shape.structure, Structure::Full | Structure::Tied)
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
        self.rows += other.rows;
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

    /// Where a column lies. A constant column's unit is its value, or 1.
    pub fn scale(&self, column: usize) -> Scale {
        let moments = &self.columns[column];
        let variance = if moments.weight > 0.0 {
            moments.scatter / moments.weight
        } else {
            0.0
        };
        // Below this the spread is rounding of the mean.
        let rounding = (moments.mean * f64::EPSILON).powi(2);
        let constant = variance <= rounding;
        let square = moments.mean * moments.mean;
        let unit = if square > 0.0 { square } else { 1.0 };
        Scale {
            mean: moments.mean,
            variance: if constant { unit } else { variance },
            constant,
        }
    }

    /// Where the columns of a leaf lie.
    pub fn scales(&self, leaf: &Leaf) -> Vec<Scale> {
        leaf.columns.iter().map(|c| self.scale(*c)).collect()
    }

    /// The leaves without columns of which nothing was seen, and with constant
    /// columns of numbers each by itself, fixed; `None` where that changes
    /// nothing.
    pub fn reconsidered(&self, leaves: &[Leaf]) -> Option<Vec<Leaf>> {
        let mut kept = Vec::new();
        let mut changed = false;
        for leaf in leaves {
            if leaf.family.levels().is_some() || leaf.family.is_text() {
                kept.push(leaf.clone());
                continue;
            }
            let unseen = |c: &usize| self.columns[*c].weight <= 0.0;
            let (constant, varying): (Vec<usize>, Vec<usize>) = leaf
                .columns
                .iter()
                .filter(|c| !unseen(c))
                .partition(|c| self.scale(**c).constant);
            if varying.len() == leaf.columns.len() {
                kept.push(leaf.clone());
                continue;
            }
            changed = true;
            if !varying.is_empty() {
                let mut leaf = leaf.clone();
                if let LeafFamily::Multivariate { shape, .. } = &mut leaf.family {
                    shape.columns = varying.len();
                }
                kept.push(Leaf {
                    columns: varying,
                    ..leaf
                });
            }
            for column in constant {
                let family = LeafFamily::Gaussian {
                    shape: (),
                    prior: Default::default(),
                    vague: None,
                };
                kept.push(Leaf {
                    columns: vec![column],
                    family,
                    fixed: true,
                });
            }
        }
        changed.then_some(kept)
    }

    /// Gives a leaf its prior and its fallback, in the units of its columns.
    pub fn settle(&self, leaf: &mut Leaf, belief: &Belief) {
        let mut scales = self.scales(leaf);
        if leaf.fixed {
            // All but a point, so that draws are the constant too.
            scales.iter_mut().for_each(|scale| scale.variance *= 1e-12);
        }
        leaf.family.settle(&scales, belief);
    }

    /// The logarithm of the units of a row's density.
    pub fn log_units(&self, leaves: &[Leaf]) -> f64 {
        let columns = leaves.iter().filter(|leaf| leaf.family.has_units());
        let columns = columns.flat_map(|leaf| &leaf.columns);
        columns
            .map(|c| 0.5 * self.columns[*c].weight / self.total * self.scale(*c).variance.ln())
            .sum()
    }
}

fn check_domains(schema: &Schema, leaves: &[Leaf], chunk: &Chunk, number: usize) -> Result<()> {
    for leaf in leaves {
        for column in &leaf.columns {
            let cells = chunk.column(*column).cells(0, chunk.rows());
            let x = cells.reals();
            // Without an early end, the compiler makes vector code of this.
            if x.iter().fold(true, |all, x| all & leaf.family.supports(*x)) {
                continue;
            }
            let seen = (0..x.len()).filter(|row| cells.is_seen(*row));
            if let Some(row) = seen.into_iter().find(|row| !leaf.family.supports(x[*row])) {
                return Err(Error::data(format!(
                    "{} cannot come from the family {}",
                    x[row],
                    leaf.family.name()
                ))
                .at_row((number * CHUNK_ROWS + row + 1) as u64)
                .at_column(&schema.fields[*column].name)
                .with_hint("choose another family or kind for the column"));
            }
        }
    }
    Ok(())
}
