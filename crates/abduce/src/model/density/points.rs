//! The complete rows of a table as points, class by class.

use crate::data::{Chunk, Schema, Source};
use crate::density::Points;
use crate::model::mixture::interrupted;
use crate::{Control, Error, Result};

/// The complete rows of each class.
pub(super) struct ClassPoints {
    /// The numbers of each class, column by column.
    cells: Vec<Vec<Vec<f64>>>,
    /// The weights of the rows of each class.
    pub(super) weights: Vec<Vec<f64>>,
    /// The weight of the labelled rows of each class, with or without missing values.
    labelled: Vec<f64>,
    /// The number of labelled rows with a missing value.
    pub(super) incomplete: u64,
    /// The number of rows without a label.
    pub(super) unlabelled: u64,
}

impl ClassPoints {
    fn new(classes: usize, columns: usize) -> ClassPoints {
        ClassPoints {
            cells: vec![vec![Vec::new(); columns]; classes],
            weights: vec![Vec::new(); classes],
            labelled: vec![0.0; classes],
            incomplete: 0,
            unlabelled: 0,
        }
    }

    /// Reads the rows of a source.
    pub(super) fn read(
        source: &dyn Source,
        target: Option<usize>,
        columns: &[usize],
        control: Control,
    ) -> Result<ClassPoints> {
        let schema = source.schema();
        let classes = target.map_or(1, |target| schema.fields[target].levels.len());
        let mut points = ClassPoints::new(classes, columns.len());
        for chunk in source.scan()? {
            if control.is_interrupted() {
                return Err(interrupted());
            }
            points.add(&chunk?, target, columns);
        }
        Ok(points)
    }

    fn add(&mut self, chunk: &Chunk, target: Option<usize>, columns: &[usize]) {
        let cells = |column: usize| chunk.column(column).cells(0, chunk.rows());
        let labels = target.map(cells);
        let numbers: Vec<_> = columns.iter().map(|column| cells(*column)).collect();
        for row in chunk.rows_with_weight() {
            let weight = chunk.weights().map_or(1.0, |weights| weights[row]);
            let class = match &labels {
                None => 0,
                Some(labels) if labels.is_seen(row) => labels.codes()[row] as usize,
                Some(_) => {
                    self.unlabelled += 1;
                    continue;
                }
            };
            self.labelled[class] += weight;
            if !numbers.iter().all(|cells| cells.is_seen(row)) {
                self.incomplete += 1;
                continue;
            }
            for (column, cells) in self.cells[class].iter_mut().zip(&numbers) {
                column.push(cells.reals()[row]);
            }
            self.weights[class].push(weight);
        }
    }

    /// The number of complete rows.
    pub(super) fn rows(&self) -> u64 {
        self.weights
            .iter()
            .map(|weights| weights.len() as u64)
            .sum()
    }

    /// The share of each class. Labels of rows with missing values count, but a class without
    /// complete rows has no density and so no share.
    pub(super) fn shares(&self) -> Vec<f64> {
        let classes = self.labelled.iter().zip(&self.weights);
        let weights: Vec<f64> = classes
            .map(|(labelled, rows)| if rows.is_empty() { 0.0 } else { *labelled })
            .collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / total).collect()
    }

    /// The points of all classes.
    ///
    /// # Errors
    /// If there is none, or a number is too large.
    pub(super) fn all(&self, schema: &Schema, positions: &[usize]) -> Result<Points> {
        let weights = self.weights.concat();
        if weights.is_empty() {
            return Err(match (self.incomplete, self.unlabelled) {
                (0, 0) => Error::data("there are no rows"),
                (0, _) => Error::data("no row has a label"),
                _ => Error::data(
                    "every row has a missing value, but densities are estimated from complete rows",
                )
                .with_hint("leave out columns with many missing values with `drop`"),
            });
        }
        let columns = self.cells.first().map_or(0, Vec::len);
        let column = |c: usize| {
            self.cells
                .iter()
                .flat_map(|class| class[c].clone())
                .collect()
        };
        let columns: Vec<Vec<f64>> = (0..columns).map(column).collect();
        let too_large = |x: &f64| x.abs() > Points::LARGEST;
        if let Some(c) = columns
            .iter()
            .position(|column| column.iter().any(too_large))
        {
            let name = &schema.fields[positions[c]].name;
            return Err(Error::data("a number is larger than 1e140")
                .at_column(name)
                .with_hint("rescale the column"));
        }
        Points::from_columns(&columns, Some(&weights))
    }

    /// The points of a class; `None` if there is none.
    pub(super) fn class(&self, class: usize) -> Option<Result<Points>> {
        let weights = &self.weights[class];
        (!weights.is_empty()).then(|| Points::from_columns(&self.cells[class], Some(weights)))
    }
}
