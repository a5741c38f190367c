//! Predictions, densities, conditional distributions and draws of a fitted mixture. Each combines
//! the posterior of the components with the conditional distribution of each component.

use crate::ask::{
    Classifier, Conditional, Decider, Explain, Explanation, Joint, Moments, Posterior, Predict,
    ProductMixture, check_room, impossible, repeated,
};
use crate::data::{Chunk, Column, Kind, Schema, UnseenCategory};
use crate::family::{Distribution, Fill, Filler, Gaussian, draw_index, most_probable};
use crate::leaf::{Leaf, Unseen};
use crate::learn::EStep;
use crate::model::mixture::FittedMixture;
use crate::model::mixture::step::expect::Prepared;
use crate::{Error, Result};
use rand::Rng;
use std::collections::HashMap;

impl Predict for FittedMixture {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn target(&self) -> Option<usize> {
        self.target
    }

    fn names(&self) -> Vec<String> {
        FittedMixture::names(self)
    }

    fn constants(&self) -> Vec<(usize, f64)> {
        let fixed = self.leaves.iter().filter(|leaf| leaf.fixed);
        let columns = fixed.flat_map(|leaf| &leaf.columns);
        let constants = columns.filter_map(|c| Some((*c, self.summary.columns.get(*c)?.mean)));
        constants.collect()
    }

    fn unseen_categories(&self) -> Vec<UnseenCategory> {
        let mut all = vec![UnseenCategory::Missing; self.schema.fields.len()];
        let any_positive = |probabilities: &Vec<f64>| probabilities.iter().any(|p| *p > 0.0);
        for (number, leaf) in self.leaves.iter().enumerate() {
            let probabilities = self.parameters.unseen.get(number);
            let category = match leaf.unseen {
                Unseen::Missing => UnseenCategory::Missing,
                Unseen::Impossible if probabilities.is_some_and(any_positive) => {
                    UnseenCategory::Smoothed
                }
                Unseen::Impossible => UnseenCategory::Impossible,
            };
            leaf.columns
                .iter()
                .for_each(|column| all[*column] = category);
        }
        all
    }

    fn moments(&self, columns: &[usize]) -> Vec<Moments> {
        self.component_moments(columns)
    }

    fn posterior(&self, chunk: &Chunk) -> Result<Posterior> {
        self.responsibilities(chunk, None)
    }

    fn classifier(&self) -> Result<Classifier<'_>> {
        let prepared = Prepared::new(&self.leaves, None, self.answering_parameters(), EStep::Soft)?;
        let prepared = prepared.with_noise_everywhere();
        Ok(Box::new(move |chunk| {
            self.posterior_of_chunk(&prepared, chunk)
        }))
    }

    fn decider(&self) -> Result<Decider<'_>> {
        self.most_probable_components()
    }
}

impl Explain for FittedMixture {
    fn explain(&self, chunk: &Chunk, row: usize, class: usize, against: usize) -> Explanation {
        self.explanation(chunk, row, class, against)
    }
}

impl Joint for FittedMixture {
    fn check_density(&self) -> Result<()> {
        if self.is_generative() {
            return Ok(());
        }
        let message = "complement models have scores, not densities";
        Err(Error::parameter(message).with_hint("fit with `event` multinomial"))
    }

    fn log_density(&self, chunk: &Chunk) -> Result<Vec<f64>> {
        let prepared = Prepared::new(
            &self.leaves,
            self.target,
            self.answering_parameters(),
            EStep::Soft,
        )?;
        let mut out = vec![0.0; chunk.rows()];
        prepared.process(chunk, None, |outcome| {
            for (row, density) in outcome.rows.iter().zip(outcome.log_densities) {
                out[*row as usize] = *density;
            }
        })?;
        Ok(out)
    }

    fn complete(&self, chunk: &Chunk, how: Fill, rng: &mut dyn Rng) -> Result<Chunk> {
        let posterior = self.responsibilities(chunk, self.target)?;
        let mut cells: Vec<Vec<Option<f64>>> = (0..self.schema.fields.len())
            .map(|column| numbers(chunk.column(column), chunk.rows()))
            .collect();
        let mut row_cells = vec![None; self.schema.fields.len()];
        let mut fillers = Fillers::default();
        for row in 0..chunk.rows() {
            for (cell, column) in row_cells.iter_mut().zip(&cells) {
                *cell = column[row];
            }
            if row_cells.iter().all(Option::is_some) {
                continue;
            }
            self.complete_row(&mut row_cells, posterior.row(row), how, &mut fillers, rng);
            for (cell, column) in row_cells.iter().zip(&mut cells) {
                column[row] = *cell;
            }
        }
        Ok(self.chunk_from_cells(chunk, cells))
    }

    fn condition(&self, given: &[Option<f64>], column: usize) -> Result<Conditional> {
        let mut hidden = given.to_vec();
        hidden[column] = None;
        let evidence = repeated(&self.schema, &hidden, 1);
        if self.log_density(&evidence)?[0] == f64::NEG_INFINITY {
            return Err(impossible());
        }
        let posterior = self.responsibilities(&evidence, self.target)?;
        let posterior = posterior.row(0);
        if self.target == Some(column) {
            return Ok(Conditional::Levels(posterior.to_vec()));
        }
        let (leaf, components) = self
            .leaves
            .iter()
            .zip(&self.answering_parameters().leaves)
            .find(|(leaf, _)| leaf.columns.contains(&column))
            .ok_or_else(|| Error::parameter("the model has no distribution of this column"))?;
        if leaf.family.levels().is_some() {
            return Ok(Conditional::Levels(mixed_levels(components, posterior)));
        }
        let parts = components
            .iter()
            .map(|component| marginal(leaf, component, &hidden, column));
        Ok(Conditional::Numbers(
            posterior.iter().copied().zip(parts).collect(),
        ))
    }

    fn product_mixture(
        &self,
        given: &[Option<f64>],
        columns: &[usize],
    ) -> Result<Option<ProductMixture>> {
        self.conditional_product(given, columns)
    }
}

/// A function that returns ln p(x, class) for the rows of a chunk, row by row.
pub type LogJoint<'a> = Box<dyn Fn(&Chunk) -> Result<Vec<f64>> + Sync + 'a>;

impl FittedMixture {
    /// A function that returns, for each row and each class or component, the logarithm of their
    /// joint density, with missing values marginalised. Labels of rows are ignored. It can still
    /// distinguish classes whose probabilities underflow.
    ///
    /// # Errors
    /// If the arithmetic fails.
    pub fn log_joint(&self) -> Result<LogJoint<'_>> {
        let prepared = Prepared::new(&self.leaves, None, self.answering_parameters(), EStep::Soft)?;
        let prepared = prepared.with_noise_everywhere().with_log_densities();
        let k = self.components();
        Ok(Box::new(move |chunk| {
            let mut out = vec![0.0; chunk.rows() * k];
            prepared.process(chunk, None, |outcome| {
                let rows = outcome.rows.len();
                for (i, row) in outcome.rows.iter().enumerate() {
                    let log_densities = &mut out[*row as usize * k..][..k];
                    for (j, log_density) in log_densities.iter_mut().enumerate() {
                        *log_density = outcome.responsibilities[j * rows + i];
                    }
                }
            })?;
            Ok(out)
        }))
    }

    /// Draws rows, and returns them with the component of each, sorted by component.
    ///
    /// # Errors
    /// If there is not enough memory for the columns.
    pub fn sample_with_components(
        &self,
        rows: usize,
        rng: &mut dyn Rng,
    ) -> Result<(Chunk, Vec<usize>)> {
        check_room(&self.schema, rows)?;
        let weights = &self.answering_parameters().weights;
        let mut components: Vec<usize> = (0..rows).map(|_| draw_index(weights, rng)).collect();
        components.sort_unstable();
        let mut cells = vec![Vec::with_capacity(rows); self.schema.fields.len()];
        let mut fillers = Fillers::default();
        let mut indicator = vec![0.0; self.components()];
        for component in &components {
            indicator.fill(0.0);
            indicator[*component] = 1.0;
            let mut row = vec![None; cells.len()];
            self.complete_row(&mut row, &indicator, Fill::Draw, &mut fillers, rng);
            let columns = cells.iter_mut().zip(row);
            columns.for_each(|(column, cell)| column.push(cell));
        }
        let hidden = repeated(&self.schema, &vec![None; cells.len()], rows);
        Ok((self.chunk_from_cells(&hidden, cells), components))
    }

    /// A chunk with these cells, and with the text columns and weights of another.
    fn chunk_from_cells(&self, like: &Chunk, cells: Vec<Vec<Option<f64>>>) -> Chunk {
        let fields = self.schema.fields.iter().zip(cells).enumerate();
        let columns = fields.map(|(c, (field, cells))| match field.kind {
            // Missing texts are not filled in: a model of words cannot produce a text.
            Kind::Text => like.column(c).clone(),
            kind if kind.is_coded() => {
                Column::from_codes(cells.into_iter().map(|cell| cell.map(|code| code as u32)))
            }
            _ => Column::from_numbers(cells),
        });
        let weights = like.weights().map(<[f64]>::to_vec);
        Chunk::new(like.rows(), columns.collect(), weights)
    }

    /// Responsibilities row by row. A row that is impossible under every component has the weights
    /// of the components.
    pub(super) fn responsibilities(
        &self,
        chunk: &Chunk,
        target: Option<usize>,
    ) -> Result<Posterior> {
        let prepared = Prepared::new(
            &self.leaves,
            target,
            self.answering_parameters(),
            EStep::Soft,
        )?;
        self.posterior_of_chunk(&prepared.with_noise_everywhere(), chunk)
    }

    /// The posterior of the components for each row of a chunk.
    fn posterior_of_chunk(&self, prepared: &Prepared, chunk: &Chunk) -> Result<Posterior> {
        let k = self.components();
        let mut out = vec![0.0; chunk.rows() * k];
        let mut impossible = Vec::new();
        prepared.process(chunk, None, |outcome| {
            let rows = outcome.rows.len();
            for (i, row) in outcome.rows.iter().enumerate() {
                let posterior = &mut out[*row as usize * k..][..k];
                match outcome.label {
                    Some(label) => posterior[label] = 1.0,
                    None if outcome.log_densities[i] == f64::NEG_INFINITY => {
                        posterior.copy_from_slice(&self.answering_parameters().weights);
                        impossible.push(*row as usize);
                    }
                    None => {
                        for (j, p) in posterior.iter_mut().enumerate() {
                            *p = outcome.responsibilities[j * rows + i];
                        }
                    }
                }
            }
        })?;
        impossible.sort_unstable();
        Ok(Posterior::new(k, out).with_impossible(impossible))
    }

    /// Fills the missing cells of a row.
    fn complete_row(
        &self,
        row: &mut [Option<f64>],
        posterior: &[f64],
        how: Fill,
        fillers: &mut Fillers,
        rng: &mut dyn Rng,
    ) {
        let component = match how {
            Fill::Draw => draw_index(posterior, rng),
            Fill::Mean | Fill::Mode => most_probable(posterior),
        };
        if let Some(target) = self.target
            && row[target].is_none()
        {
            row[target] = Some(component as f64);
        }
        let leaves = self.leaves.iter().zip(&self.answering_parameters().leaves);
        for (number, (leaf, components)) in leaves.enumerate() {
            let is_text = |c: &usize| self.schema.fields[*c].kind == Kind::Text;
            let seen: Vec<Option<f64>> = leaf.columns.iter().map(|c| row[*c]).collect();
            if seen.iter().all(Option::is_some) || leaf.columns.iter().any(is_text) {
                continue;
            }
            let mut fill = |how: Fill, component: usize, out: &mut [f64]| {
                let distribution = &components[component];
                let filler = match seen.len() {
                    1 => None,
                    _ => fillers.get((number, component), distribution, &seen),
                };
                match filler {
                    Some(filler) => filler.fill(how, &seen, rng, out),
                    None => distribution.fill(how, &seen, rng, out),
                }
            };
            let filled = match how {
                Fill::Mean | Fill::Mode if leaf.family.levels().is_some() => {
                    vec![most_probable(&mixed_levels(components, posterior)) as f64]
                }
                Fill::Mean => mean_over_components(posterior, &seen, &mut fill),
                Fill::Mode | Fill::Draw => {
                    let mut out = vec![0.0; seen.len()];
                    fill(how, component, &mut out);
                    out
                }
            };
            for (column, x) in leaf.columns.iter().zip(filled) {
                row[*column] = Some(x);
            }
        }
    }
}

/// The conditional mean of missing cells, averaged over components; `fill` returns that of one
/// component. Seen cells are kept.
fn mean_over_components(
    posterior: &[f64],
    seen: &[Option<f64>],
    mut fill: impl FnMut(Fill, usize, &mut [f64]),
) -> Vec<f64> {
    let mut mean = vec![0.0; seen.len()];
    let mut out = vec![0.0; seen.len()];
    for (component, weight) in posterior.iter().enumerate() {
        if *weight > 0.0 {
            fill(Fill::Mean, component, &mut out);
            let sums = mean.iter_mut().zip(&out);
            sums.for_each(|(sum, x)| *sum += weight * x);
        }
    }
    // Rounding in the weights must not change seen cells.
    let cells = seen.iter().zip(mean);
    cells.map(|(seen, mean)| seen.unwrap_or(mean)).collect()
}

/// A cache of the multivariate distributions prepared for patterns of missing values, by leaf,
/// component and pattern.
#[derive(Default)]
struct Fillers(HashMap<(usize, usize, Vec<bool>), Option<Filler>>);

impl Fillers {
    /// The distribution prepared for the pattern of a row; `None` if its family needs none.
    fn get(
        &mut self,
        (leaf, component): (usize, usize),
        distribution: &Distribution,
        row: &[Option<f64>],
    ) -> Option<&Filler> {
        // If every row has another pattern, none is worth keeping.
        const MAX_SIZE: usize = 1024;
        if self.0.len() >= MAX_SIZE {
            self.0.clear();
        }
        let is_seen: Vec<bool> = row.iter().map(Option::is_some).collect();
        let entry = self.0.entry((leaf, component, is_seen));
        let filler = entry.or_insert_with_key(|(_, _, is_seen)| Filler::of(distribution, is_seen));
        filler.as_ref()
    }
}

/// The probabilities of levels, averaged over components.
fn mixed_levels(components: &[Distribution], posterior: &[f64]) -> Vec<f64> {
    let mut levels = Vec::new();
    for (weight, distribution) in posterior.iter().zip(components) {
        let probabilities = distribution.probabilities().unwrap_or_default();
        levels.resize(probabilities.len(), 0.0);
        let sums = levels.iter_mut().zip(probabilities);
        sums.for_each(|(sum, p)| *sum += weight * p);
    }
    levels
}

/// The distribution of a column of a leaf given the other columns.
pub(super) fn marginal(
    leaf: &Leaf,
    distribution: &Distribution,
    given: &[Option<f64>],
    column: usize,
) -> Distribution {
    let row: Vec<Option<f64>> = leaf.columns.iter().map(|c| given[*c]).collect();
    let position = leaf.columns.iter().position(|c| *c == column).unwrap_or(0);
    match distribution {
        Distribution::Multivariate(gaussian) => {
            let (mean, variance) = gaussian.conditional(&row, position);
            Distribution::Gaussian(Gaussian { mean, variance })
        }
        Distribution::MultivariateStudentT(t) => {
            Distribution::StudentT(t.conditional(&row, position))
        }
        Distribution::UniformBox(noise) => noise.side(position),
        other => other.clone(),
    }
}

fn numbers(column: &Column, rows: usize) -> Vec<Option<f64>> {
    let cells = column.cells(0, rows);
    (0..rows).map(|row| cells.number(row)).collect()
}
