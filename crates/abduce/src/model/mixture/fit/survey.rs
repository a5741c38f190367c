//! The first pass over the rows: the statistics of each label, and the moments of each column.
//! If no label and no correlated cell is missing, this is the whole fit. Otherwise it provides
//! the scales of the columns and, if there are labels, the initial parameters of EM.

use crate::Control;
use crate::data::{CHUNK_ROWS, Chunk, Rows, Schema, Source, family_option, fold};
use crate::family::{Family, Gaussian, LeafFamily, Statistics, Stats as _};
use crate::leaf::Leaf;
use crate::leaf::TableSummary;
use crate::leaf::central::Central;
use crate::model::mixture::MixtureStatistics;
use crate::model::mixture::step::groups::{IncompleteRows, observe_documents, observe_groups};
use crate::model::mixture::step::maximize::segment;
use crate::{Error, Result};

/// The result of the first pass.
pub(crate) struct Survey {
    /// Statistics of the labelled rows, one component per label.
    pub labelled: MixtureStatistics,
    /// The moments of all rows.
    pub summary: TableSummary,
}

impl Survey {
    /// Surveys all rows; `None` if the caller interrupted it.
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
                let zero = || {
                    let survey = Survey::empty(leaves, labels, schema.fields.len());
                    Some((survey, Central::empty(leaves, target)))
                };
                if let Some((survey, central)) = partial.get_or_insert_with(zero) {
                    survey.add(chunk, leaves, target, labels);
                    central.add(chunk, number);
                }
                Ok(())
            },
            |total: &mut Option<(Survey, Central)>, more| match (total.as_mut(), more) {
                (Some((survey, central)), Some((more, drawn))) => {
                    survey.merge(&more);
                    central.merge(drawn);
                }
                _ => *total = None,
            },
        )?;
        let Some(survey) = survey else {
            return Err(Error::data("there are no rows"));
        };
        let Some((mut survey, central)) = survey else {
            return Ok(None);
        };
        survey.summary.check(source)?;
        central.record(&mut survey.summary);
        Ok(Some(survey))
    }

    /// The survey of no rows.
    pub fn empty(leaves: &[Leaf], labels: usize, columns: usize) -> Survey {
        Survey {
            labelled: MixtureStatistics::zero(leaves, labels),
            summary: TableSummary::empty(columns),
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
        for (leaf, statistics) in leaves.filter(|(leaf, _)| leaf.family.is_text()) {
            observe_documents(leaf, chunk, &label_of, statistics);
        }
    }

    /// The survey of a chunk without its documents, whose statistics are large.
    fn of_chunk(chunk: &Chunk, leaves: &[Leaf], target: Option<usize>, labels: usize) -> Survey {
        let mut survey = Survey {
            labelled: MixtureStatistics::zero_without_text(leaves, labels),
            summary: TableSummary {
                total: chunk.total_weight(),
                rows: chunk.rows_with_weight().count() as u64,
                ..TableSummary::empty(chunk.columns().len())
            },
        };
        let ones;
        let weights = match chunk.weights() {
            Some(weights) => weights,
            None => {
                ones = vec![1.0; chunk.rows()];
                &ones
            }
        };
        survey.count_incomplete(chunk, weights, leaves);
        let rows = chunk.rows();
        let all_labelled = target.is_some_and(|t| chunk.column(t).nulls().is_none());
        for leaf in leaves {
            // The moments of labelled rows are merged from those of the labels below.
            if all_labelled && matches!(leaf.family, LeafFamily::Gaussian { .. }) {
                continue;
            }
            for column in &leaf.columns {
                let cells = [chunk.column(*column).cells(0, rows)];
                if !cells[0].reals().is_empty() {
                    Gaussian::observe(
                        &Rows::new(&cells),
                        weights,
                        &mut survey.summary.columns[*column],
                    );
                }
            }
        }
        let Some(target) = target else {
            survey.summary.unlabelled = survey.summary.total;
            return survey;
        };
        let cells = chunk.column(target).cells(0, rows);
        let label_of = |row: usize| cells.is_seen(row).then(|| cells.codes()[row] as usize);
        survey.summary.unlabelled = observe_groups(
            leaves,
            chunk,
            label_of,
            IncompleteRows::Skip,
            &mut survey.labelled,
        );
        if all_labelled {
            for (leaf, labels) in leaves.iter().zip(&survey.labelled.leaves) {
                for statistics in labels {
                    if let Statistics::Gaussian(statistics) = statistics {
                        survey.summary.columns[leaf.columns[0]].merge(statistics);
                    }
                }
            }
        }
        survey
    }

    /// Adds the weight of the rows whose statistics must be expected: those with latent
    /// variables, or with some of their correlated cells missing.
    fn count_incomplete(&mut self, chunk: &Chunk, weights: &[f64], leaves: &[Leaf]) {
        for leaf in leaves {
            let correlated = matches!(
                &leaf.family,
                LeafFamily::Multivariate { shape, .. } if shape.structure.is_correlated()
            );
            let latent = leaf.family.is_latent();
            let columns = leaf.cells(chunk, 0, chunk.rows());
            let complete = columns.iter().all(|cells| cells.seen.is_none());
            if !latent && (!correlated || complete) {
                continue;
            }
            for (row, weight) in weights.iter().enumerate() {
                let seen = columns.iter().filter(|cells| cells.is_seen(row)).count();
                if seen > 0 && (latent || seen < columns.len()) {
                    self.summary.incomplete += weight;
                }
            }
        }
    }

    fn merge(&mut self, other: &Survey) {
        self.labelled.merge(&other.labelled);
        self.summary.merge(&other.summary);
    }
}

fn check_domains(schema: &Schema, leaves: &[Leaf], chunk: &Chunk, number: usize) -> Result<()> {
    for leaf in leaves {
        for column in &leaf.columns {
            let cells = chunk.column(*column).cells(0, chunk.rows());
            let x = cells.reals();
            if leaf.family.supports_all(x) {
                continue;
            }
            let mut seen = chunk.rows_with_weight().filter(|row| cells.is_seen(*row));
            if let Some(row) = seen.find(|row| !leaf.family.supports(x[*row])) {
                return Err(Error::data(format!(
                    "{} is outside the support of the family {}",
                    x[row],
                    leaf.family.name()
                ))
                .at_row((number * CHUNK_ROWS + row + 1) as u64)
                .at_column(&schema.fields[*column].name)
                .with_hint(format!(
                    "pass {}, whose support is all numbers, or another family",
                    family_option(&schema.fields[*column].name, Gaussian::NAME)
                )));
            }
        }
    }
    Ok(())
}
