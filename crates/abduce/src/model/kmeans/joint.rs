//! Predictions and densities of k-means. A row belongs to the cluster of its nearest centre, whose
//! coordinates replace missing values; a row without any value belongs to the largest cluster.
//! Densities, draws and, for Mahalanobis distance, missing values are those of the mixture of
//! Gaussians.

use super::frame::unit_scales;
use super::points::{Points, numbers_of};
use super::seeding::Measure;
use super::{Distance, FittedKMeans};
use crate::ask::{
    Classifier, Conditional, Decider, Joint, Moments, Posterior, Predict, ProductMixture,
    constantly, product_mixture_by_enumeration,
};
use crate::data::{Cells, Chunk, Column, Kind, Schema};
use crate::family::Fill;
use crate::kernel::kmeans::Packed;
use crate::{Error, Result};
use rand::Rng;

impl Predict for FittedKMeans {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn target(&self) -> Option<usize> {
        None
    }

    fn names(&self) -> Vec<String> {
        (1..=self.centres.len()).map(|j| j.to_string()).collect()
    }

    fn constants(&self) -> Vec<(usize, f64)> {
        self.constants.clone()
    }

    fn moments(&self, columns: &[usize]) -> Vec<Moments> {
        // The centres are directions, not points among the rows.
        if self.distance == Distance::Cosine {
            return Vec::new();
        }
        let place = |column: &usize| self.frame.columns.iter().position(|used| used == column);
        let places: Vec<Option<usize>> = columns.iter().map(place).collect();
        let centre = |centre: &Vec<f64>| Moments {
            mean: places.iter().map(|place| Some(centre[(*place)?])).collect(),
            covariance: Vec::new(),
        };
        self.centres.iter().map(centre).collect()
    }

    fn posterior(&self, chunk: &Chunk) -> Result<Posterior> {
        (self.classifier()?)(chunk)
    }

    fn classifier(&self) -> Result<Classifier<'_>> {
        let k = self.centres.len();
        let assign = self.assigner();
        Ok(Box::new(move |chunk| {
            let mut out = vec![0.0; chunk.rows() * k];
            let labels = assign(chunk);
            for (row, label) in labels.into_iter().enumerate() {
                out[row * k + label as usize] = 1.0;
            }
            Ok(Posterior::new(k, out))
        }))
    }

    fn decider(&self) -> Result<Decider<'_>> {
        let assign = self.assigner();
        Ok(Box::new(move |chunk| Ok(assign(chunk))))
    }
}

impl Joint for FittedKMeans {
    fn check_density(&self) -> Result<()> {
        self.gaussians().map(|_| ())
    }

    // Every row has a nearest centre.
    fn impossible_rows(&self, _chunk: &Chunk) -> Result<Vec<usize>> {
        Ok(Vec::new())
    }

    fn log_density(&self, chunk: &Chunk) -> Result<Vec<f64>> {
        self.gaussians()?.log_density(&self.numbers_of(chunk))
    }

    fn complete(&self, chunk: &Chunk, how: Fill, rng: &mut dyn Rng) -> Result<Chunk> {
        let filled = match (how, self.distance) {
            // As in predictions, a row belongs to one cluster only.
            (Fill::Mean | Fill::Mode, Distance::Euclidean | Distance::Manhattan) => {
                self.filled_by_centres(chunk)
            }
            (Fill::Mean | Fill::Mode, Distance::Mahalanobis) if self.gaussians().is_err() => {
                self.filled_by_centres(chunk)
            }
            _ => (self.gaussians()?).complete(&self.numbers_of(chunk), how, rng)?,
        };
        let mut out = chunk.clone();
        let varying = self.varying().into_iter();
        let varying = varying.map(|place| (self.frame.columns[place], None));
        let constants = self.constants.iter().map(|(column, x)| (*column, Some(*x)));
        for (c, (column, constant)) in varying.chain(constants).enumerate() {
            let source = match constant {
                None => filled.column(c),
                Some(_) => chunk.column(column),
            };
            let cells = source.cells(0, chunk.rows());
            let numbers = (0..chunk.rows()).map(|row| cells.number(row).or(constant));
            out = out.with_column(
                column,
                match self.schema.fields[column].kind {
                    Kind::Binary => {
                        let last = self.schema.fields[column].levels.len().saturating_sub(1) as u32;
                        Column::from_codes(
                            numbers.map(|x| x.map(|x| u32::from(x >= 0.5).min(last))),
                        )
                    }
                    _ => Column::from_numbers(numbers),
                },
            );
        }
        Ok(out)
    }

    fn product_mixture(
        &self,
        given: &[Option<f64>],
        columns: &[usize],
    ) -> Result<Option<ProductMixture>> {
        let varying = self.varying().into_iter();
        let varying: Vec<usize> = varying.map(|place| self.frame.columns[place]).collect();
        let place = |column: &usize| varying.iter().position(|other| other == column);
        let places: Option<Vec<usize>> = columns.iter().map(place).collect();
        match (self.gaussians(), places) {
            (Ok(gaussians), Some(places)) => {
                let given: Vec<Option<f64>> = varying.iter().map(|c| given[*c]).collect();
                gaussians.product_mixture(&given, &places)
            }
            _ => product_mixture_by_enumeration(self, given, columns),
        }
    }

    fn condition(&self, given: &[Option<f64>], column: usize) -> Result<Conditional> {
        if let Some((_, x)) = self
            .constants
            .iter()
            .find(|(constant, _)| *constant == column)
        {
            return Ok(constantly(*x));
        }
        let varying = self.varying().into_iter();
        let columns: Vec<usize> = varying.map(|place| self.frame.columns[place]).collect();
        let position = columns.iter().position(|other| *other == column);
        let position = position.ok_or_else(|| {
            Error::parameter("the model does not have this column")
                .at_column(&self.schema.fields[column].name)
        })?;
        let given: Vec<Option<f64>> = columns.iter().map(|c| given[*c]).collect();
        self.gaussians()?.condition(&given, position)
    }
}

impl FittedKMeans {
    /// The columns used that are not constant, as numbers.
    pub(super) fn numbers_of(&self, chunk: &Chunk) -> Chunk {
        let columns = self.varying().into_iter().map(|place| {
            let numbers = numbers_of(chunk, self.frame.columns[place]);
            Column::from_numbers(numbers.iter().map(|x| (!x.is_nan()).then_some(*x)))
        });
        let columns = columns.collect();
        Chunk::new(chunk.rows(), columns, chunk.weights().map(<[f64]>::to_vec))
    }

    /// A function that returns the cluster of each row of a chunk.
    pub fn assigner(&self) -> impl Fn(&Chunk) -> Vec<u32> + Sync + '_ {
        let width = self.frame.columns.len();
        let centres: Vec<f64> = (self.centres.iter())
            .flat_map(|centre| self.frame.to_coordinates(centre))
            .collect();
        let packed = Packed::new(&centres, width);
        let measure = match self.distance {
            Distance::Manhattan => Measure::Absolute,
            _ => Measure::Squared,
        };
        let sizes = self.sizes.iter().enumerate();
        let largest = sizes.fold(
            0,
            |best, (j, size)| {
                if *size > self.sizes[best] { j } else { best }
            },
        );
        move |chunk| {
            let columns = (0..self.schema.fields.len()).map(|c| chunk.column(c).clone());
            // Rows of weight 0 are assigned too.
            let unweighted = Chunk::new(chunk.rows(), columns.collect(), None);
            let points = Points::of(&unweighted, &self.frame);
            measure.nearest_centres(&points, &centres, &packed, largest as u32)
        }
    }

    /// The distance of each row from each centre, over seen cells, one row after another. Unless
    /// columns are standardised, it is in the units of the table, or in the largest unit if columns
    /// have several. For cosine distance it is 1 − cos.
    ///
    /// ```
    /// use abduce::data::{Column, Field, Kind, Schema, Table};
    /// use abduce::Control;
    /// use abduce::model::kmeans::{Options, Specification, fit};
    /// let x = Column::from_numbers([0.0, 1.0, 10.0, 11.0].map(Some));
    /// let table = Table::new(Schema::new(vec![Field::new("x", Kind::Real)]), vec![x], None)?;
    /// let fit = fit(&Specification::new(2), &table, &Options::default(), Control::default())?;
    /// let mut first = fit.model.distances(&table.chunks()[0])[..2].to_vec();
    /// first.sort_by(f64::total_cmp);
    /// assert_eq!(first, [0.5, 10.5]);
    /// # Ok::<(), abduce::Error>(())
    /// ```
    pub fn distances(&self, chunk: &Chunk) -> Vec<f64> {
        let centres = self.centres.iter();
        let centres: Vec<Vec<f64>> = centres
            .map(|centre| self.frame.to_coordinates(centre))
            .collect();
        let cells: Vec<Cells> = (self.frame.columns.iter())
            .map(|column| chunk.column(*column).cells(0, chunk.rows()))
            .collect();
        let of_table = self.distance != Distance::Mahalanobis
            && self.frame.scale == unit_scales(&self.schema, &self.frame.columns);
        let unit = if of_table { self.frame.power } else { 1.0 };
        let mut out = Vec::with_capacity(chunk.rows() * centres.len());
        let mut x = vec![f64::NAN; cells.len()];
        for row in 0..chunk.rows() {
            for (c, (x, cells)) in x.iter_mut().zip(&cells).enumerate() {
                *x = cells
                    .number(row)
                    .map_or(f64::NAN, self.frame.coordinate_of(c));
            }
            self.frame.transform_row(&mut x);
            out.extend(centres.iter().map(|centre| {
                let pairs = x.iter().zip(centre).filter(|(x, _)| !x.is_nan());
                match self.distance {
                    Distance::Cosine => pairs.fold(1.0, |rest, (x, c)| rest - x * c).max(0.0),
                    Distance::Manhattan => {
                        pairs.fold(0.0, |sum, (x, c)| sum + (x - c).abs()) / unit
                    }
                    Distance::Euclidean | Distance::Mahalanobis => {
                        pairs.fold(0.0, |sum, (x, c)| sum + (x - c).powi(2)).sqrt() / unit
                    }
                }
            }));
        }
        out
    }

    /// The chunk with missing values replaced by the coordinates of the nearest centre.
    fn filled_by_centres(&self, chunk: &Chunk) -> Chunk {
        let labels = self.assigner()(chunk);
        let numbers = self.numbers_of(chunk);
        let columns = self.varying().into_iter().enumerate().map(|(c, place)| {
            let cells = numbers.column(c).cells(0, chunk.rows());
            let centre = |row: usize| self.centres[labels[row] as usize][place];
            let filled =
                (0..chunk.rows()).map(|row| Some(cells.number(row).unwrap_or(centre(row))));
            Column::from_numbers(filled)
        });
        Chunk::new(chunk.rows(), columns.collect(), None)
    }
}
