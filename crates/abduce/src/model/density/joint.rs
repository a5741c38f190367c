//! Predictions and densities of a density model: rows are grouped by their pattern of missing
//! values, scored under each class, and missing values follow from the posterior over classes and
//! the density of each.

use super::{Density, DensityModel};
use crate::ask::{
    Conditional, Joint, Posterior, Predict, check_room, constantly, impossible, repeated,
};
use crate::data::{Cells, Chunk, Column, Schema};
use crate::family::{Distribution, Fill, Gaussian, Uniform, draw_index, most_probable};
use crate::kernel::softmax::softmax;
use crate::{Error, Result};
use rand::Rng;
use std::collections::BTreeMap;

impl Predict for DensityModel {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn target(&self) -> Option<usize> {
        self.target
    }

    fn has_groups(&self) -> bool {
        self.target.is_some()
    }

    fn names(&self) -> Vec<String> {
        DensityModel::names(self)
    }

    fn unanswerable(&self, chunk: &Chunk) -> Vec<usize> {
        if !self.is_nearest_neighbours() {
            return Vec::new();
        }
        let cells = |column: &usize| chunk.column(*column).cells(0, chunk.rows());
        let columns: Vec<Cells> = self.columns.iter().map(cells).collect();
        let is_partly_seen = |row: &usize| {
            let seen = columns.iter().filter(|cells| cells.is_seen(*row)).count();
            seen > 0 && seen < columns.len()
        };
        (0..chunk.rows()).filter(is_partly_seen).collect()
    }

    fn constants(&self) -> Vec<(usize, f64)> {
        self.constants.clone()
    }

    fn posterior(&self, chunk: &Chunk) -> Result<Posterior> {
        let (responsibilities, densities) = self.classify(chunk, None)?;
        let impossible = |row: &usize| densities[*row] == f64::NEG_INFINITY;
        let impossible = (0..densities.len()).filter(impossible).collect();
        Ok(Posterior::new(self.weights.len(), responsibilities).with_impossible(impossible))
    }
}

impl Joint for DensityModel {
    fn log_density(&self, chunk: &Chunk) -> Result<Vec<f64>> {
        Ok(self.classify(chunk, self.target)?.1)
    }

    fn complete(&self, chunk: &Chunk, how: Fill, rng: &mut dyn Rng) -> Result<Chunk> {
        let (responsibilities, _) = self.classify(chunk, self.target)?;
        let mut columns = chunk.columns().to_vec();
        let mut cells: Vec<Vec<Option<f64>>> = (self.columns.iter())
            .map(|column| numbers(&chunk.column(*column).cells(0, chunk.rows())))
            .collect();
        let mut labels: Option<Vec<Option<u32>>> = self.target.map(|target| {
            let cells = chunk.column(target).cells(0, chunk.rows());
            (0..chunk.rows())
                .map(|row| cells.is_seen(row).then(|| cells.codes()[row]))
                .collect()
        });
        let classes = self.weights.len();
        for row in 0..chunk.rows() {
            let posterior = &responsibilities[row * classes..(row + 1) * classes];
            let class = match how {
                Fill::Draw => draw_index(posterior, rng),
                Fill::Mean | Fill::Mode => most_probable(posterior),
            };
            if let Some(label) = labels.as_mut().map(|labels| &mut labels[row]) {
                label.get_or_insert(class as u32);
            }
            let values: Vec<Option<f64>> = cells.iter().map(|column| column[row]).collect();
            if values.iter().all(Option::is_some) {
                continue;
            }
            let filled = match how {
                Fill::Mean => self.mean_over_classes(posterior, &values)?,
                _ => self.fill(class, &values, how, rng)?,
            };
            for (column, x) in cells.iter_mut().zip(filled) {
                column[row].get_or_insert(x);
            }
        }
        for (column, cells) in self.columns.iter().zip(cells) {
            columns[*column] = Column::from_numbers(cells);
        }
        for (column, constant) in &self.constants {
            let cells = numbers(&chunk.column(*column).cells(0, chunk.rows()));
            let cells = cells.iter().map(|cell| cell.or(Some(*constant)));
            columns[*column] = Column::from_numbers(cells);
        }
        if let (Some(target), Some(labels)) = (self.target, labels) {
            columns[target] = Column::from_codes(labels);
        }
        Ok(Chunk::new(
            chunk.rows(),
            columns,
            chunk.weights().map(<[f64]>::to_vec),
        ))
    }

    fn condition(&self, given: &[Option<f64>], column: usize) -> Result<Conditional> {
        let mut hidden = given.to_vec();
        hidden[column] = None;
        let evidence = repeated(&self.schema, &hidden, 1);
        let (posterior, log_densities) = self.classify(&evidence, self.target)?;
        if log_densities[0] == f64::NEG_INFINITY {
            return Err(impossible());
        }
        if self.target == Some(column) {
            return Ok(Conditional::Levels(posterior));
        }
        if let Some((_, x)) = self.constants.iter().find(|(c, _)| *c == column) {
            return Ok(constantly(*x));
        }
        let position = self.columns.iter().position(|c| *c == column);
        let position =
            position.ok_or_else(|| Error::parameter("the model does not have this column"))?;
        let values: Vec<Option<f64>> = self.columns.iter().map(|c| hidden[*c]).collect();
        let mut parts = Vec::new();
        for (class, share) in posterior
            .iter()
            .enumerate()
            .filter(|(_, share)| **share > 0.0)
        {
            self.conditional(class, *share, &values, position, &mut parts)?;
        }
        Ok(Conditional::Numbers(parts))
    }

    fn sample(&self, given: &[Option<f64>], rows: usize, rng: &mut dyn Rng) -> Result<Chunk> {
        if self.is_nearest_neighbours() {
            return Err(no_integral("it cannot fill missing values or draw rows"));
        }
        if self.log_density(&repeated(&self.schema, given, 1))?[0] == f64::NEG_INFINITY {
            return Err(impossible());
        }
        check_room(&self.schema, rows)?;
        self.complete(&repeated(&self.schema, given, rows), Fill::Draw, rng)
    }
}

impl DensityModel {
    fn is_nearest_neighbours(&self) -> bool {
        let mut densities = self.densities.iter().flatten();
        densities.any(|density| matches!(density, Density::Knn(_)))
    }

    /// The probabilities of the classes, row by row, and the log-densities of the rows; known
    /// labels are used if `target` is given. A row that is impossible in every class has the
    /// weights of the classes. A row labelled with a class without complete rows is impossible,
    /// and its probabilities are those without the label.
    fn classify(&self, chunk: &Chunk, target: Option<usize>) -> Result<(Vec<f64>, Vec<f64>)> {
        let (rows, classes) = (chunk.rows(), self.weights.len());
        let mut joint = vec![f64::NEG_INFINITY; rows * classes];
        let cells = |column: &usize| chunk.column(*column).cells(0, rows);
        let numbers: Vec<Cells> = self.columns.iter().map(cells).collect();
        let mut patterns: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for row in 0..rows {
            let seen = (0..numbers.len()).filter(|c| numbers[*c].is_seen(row));
            patterns.entry(seen.collect()).or_default().push(row);
        }
        for (seen, rows_of_pattern) in patterns {
            let point = |row: &usize| seen.iter().map(|c| numbers[*c].reals()[*row]).collect();
            let points: Vec<Vec<f64>> = rows_of_pattern.iter().map(point).collect();
            for (class, weight) in self.weights.iter().enumerate() {
                let log_densities = self.log_densities_of(class, &seen, &points)?;
                for (row, log_density) in rows_of_pattern.iter().zip(log_densities) {
                    joint[class * rows + row] = weight.ln() + log_density;
                }
            }
        }
        let labels = target.map(|target| cells(&target));
        let label = |row: usize| {
            let labels = labels.filter(|labels| labels.is_seen(row))?;
            Some(labels.codes()[row] as usize)
        };
        let is_empty = |class: usize| self.densities[class].is_none();
        for (row, label) in (0..rows).filter_map(|row| Some((row, label(row)?))) {
            let others = (0..classes).filter(|class| *class != label && !is_empty(label));
            others.for_each(|class| joint[class * rows + row] = f64::NEG_INFINITY);
        }
        let mut totals = vec![0.0; rows];
        softmax(&mut joint, &mut totals);
        let responsibility = |row: usize, class: usize| match label(row) {
            Some(label) if !is_empty(label) => f64::from(u8::from(label == class)),
            _ if totals[row] == f64::NEG_INFINITY => self.weights[class],
            _ => joint[class * rows + row],
        };
        let responsibilities = (0..rows * classes)
            .map(|at| responsibility(at / classes, at % classes))
            .collect();
        for row in (0..rows).filter(|row| label(*row).is_some_and(is_empty)) {
            totals[row] = f64::NEG_INFINITY;
        }
        Ok((responsibilities, totals))
    }

    /// The log-densities under a class at points with values in the `seen` columns.
    fn log_densities_of(
        &self,
        class: usize,
        seen: &[usize],
        points: &[Vec<f64>],
    ) -> Result<Vec<f64>> {
        if seen.is_empty() {
            return Ok(vec![0.0; points.len()]);
        }
        let is_complete = seen.len() == self.columns.len();
        match &self.densities[class] {
            None => Ok(vec![f64::NEG_INFINITY; points.len()]),
            Some(Density::Kde(density)) if is_complete => density.log_densities(points),
            Some(Density::Kde(density)) => self
                .patterns
                .of(class, density, seen)?
                .log_densities(points),
            Some(Density::Knn(density)) if is_complete => density.log_densities(points),
            Some(Density::Knn(_)) => Err(no_integral("rows with missing values have no density")),
            Some(Density::Histogram(histogram)) => {
                let mut row = vec![None; self.columns.len()];
                let log_density = |point: &Vec<f64>| {
                    let cells = seen.iter().zip(point);
                    cells.for_each(|(c, x)| row[*c] = Some(*x));
                    histogram.log_density(&row)
                };
                points.iter().map(log_density).collect()
            }
        }
    }

    /// Adds the conditional distribution of a column under a class to a mixture.
    fn conditional(
        &self,
        class: usize,
        weight: f64,
        values: &[Option<f64>],
        position: usize,
        parts: &mut Vec<(f64, Distribution)>,
    ) -> Result<()> {
        let density = match &self.densities[class] {
            Some(Density::Kde(density)) if density.is_gaussian() => density,
            Some(Density::Histogram(histogram)) => {
                let shares = histogram.shares(values).ok_or_else(impossible)?;
                let shares = shares.into_iter().enumerate();
                parts.extend(
                    shares
                        .filter(|(_, share)| *share > 0.0)
                        .map(|(from, share)| {
                            let (low, high) = histogram.interval(from, position);
                            (weight * share, Distribution::Uniform(Uniform { low, high }))
                        }),
                );
                return Ok(());
            }
            Some(Density::Knn(_)) => {
                return Err(no_integral("it has no conditional distributions"));
            }
            _ => {
                return Err(Error::parameter(
                    "only Gaussian kernels and histograms have conditional distributions",
                )
                .with_hint("fit kde with `kernel=gaussian`, or draw rows"));
            }
        };
        let columns: Vec<usize> = (0..values.len()).filter(|c| values[*c].is_some()).collect();
        let seen: Vec<f64> = values.iter().flatten().copied().collect();
        let given = self.patterns.of(class, density, &columns)?;
        let hidden = given
            .hidden()
            .iter()
            .position(|c| *c == position)
            .unwrap_or(0);
        let variance = given.variance(hidden);
        let shares = given
            .shares(density.points().weights(), &seen)
            .ok_or_else(impossible)?;
        for (point, share) in shares
            .iter()
            .enumerate()
            .filter(|(_, share)| **share > 1e-18)
        {
            let mean = given.mean(density.points().row(point), &seen)[hidden];
            let gaussian = Distribution::Gaussian(Gaussian { mean, variance });
            parts.push((weight * share, gaussian));
        }
        Ok(())
    }
}

/// The error for questions that a k-nearest-neighbour density cannot answer.
pub(super) fn no_integral(what: &str) -> Error {
    Error::parameter(format!(
        "a k-nearest-neighbour density cannot be integrated: {what}"
    ))
    .with_hint("fit kde or histogram, or fill the missing values first")
}

/// The values of numeric cells.
fn numbers(cells: &Cells) -> Vec<Option<f64>> {
    let reals = cells.reals().iter().enumerate();
    reals
        .map(|(row, x)| cells.is_seen(row).then_some(*x))
        .collect()
}
