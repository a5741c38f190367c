//! Tables drawn from a mixture for a bootstrap, with the number of rows and the missing values of
//! the fitted table.

use crate::ask::Joint as _;
use crate::data::{Chunk, Column, Source, Table};
use crate::model::mixture::FittedMixture;
use crate::{Error, Result};
use rand_chacha::ChaCha8Rng;

/// The maximum number of cells of a drawn table: 256 MiB of memory.
const MAX_CELLS: f64 = 33_554_432.0;

/// The number of rows and the missing values of the tables to be drawn.
pub(crate) struct Pattern {
    pub rows: usize,
    /// For each column with missing values, whether each row's cell is seen.
    seen: Vec<Option<Vec<bool>>>,
}

impl Pattern {
    /// The pattern of the rows to which a mixture was fitted.
    ///
    /// # Errors
    /// If tables cannot be drawn, because of text columns or their size, or cannot be read.
    pub fn of(mixture: &FittedMixture, source: &dyn Source) -> Result<Pattern> {
        let text = mixture.leaves.iter().any(|leaf| leaf.family.is_text());
        if text || !mixture.is_generative() {
            return Err(
                Error::parameter("bootstrap tests are not available for text columns")
                    .with_hint("select by a criterion, or drop the text columns"),
            );
        }
        let columns = source.schema().fields.len();
        let cells = mixture.summary.total * columns as f64;
        if cells > MAX_CELLS {
            return Err(Error::parameter(format!(
                "the table has {cells} cells, too many for bootstrap tests"
            ))
            .with_hint("select by a criterion, or test a sample of the rows"));
        }
        // Each row counts as a whole number of rows, so that the sums of weights are kept.
        let (mut weight, mut rows) = (0.0, 0);
        let mut seen = vec![Vec::new(); columns];
        for chunk in source.scan()? {
            let chunk = chunk?;
            let cells: Vec<_> = (chunk.columns().iter())
                .map(|column| column.cells(0, chunk.rows()))
                .collect();
            for row in 0..chunk.rows() {
                weight += chunk.weights().map_or(1.0, |weights| weights[row]);
                let times = weight.round() as usize - rows;
                rows += times;
                for (seen, cells) in seen.iter_mut().zip(&cells) {
                    seen.extend(std::iter::repeat_n(cells.is_seen(row), times));
                }
            }
        }
        if rows < 2 {
            return Err(Error::data(
                "the rows weigh less than two, which is too little for bootstrap tests",
            )
            .with_hint("the weight of a row is the number of times that it counts"));
        }
        let if_incomplete = |seen: Vec<bool>| seen.contains(&false).then_some(seen);
        Ok(Pattern {
            rows,
            seen: seen.into_iter().map(if_incomplete).collect(),
        })
    }

    /// Draws a table from a mixture.
    pub fn draw(&self, mixture: &FittedMixture, rng: &mut ChaCha8Rng) -> Result<Table> {
        let schema = &mixture.schema;
        let drawn = mixture.sample(&vec![None; schema.fields.len()], self.rows, rng)?;
        let columns = drawn.columns().iter().zip(&self.seen);
        let columns = columns.map(|(column, seen)| match seen {
            None => column.clone(),
            Some(seen) => {
                let cells = column.cells(0, self.rows);
                let cell = |row: usize| cells.number(row).filter(|_| seen[row]);
                let cells = (0..self.rows).map(cell);
                if matches!(column, Column::Code { .. }) {
                    Column::from_codes(cells.map(|cell| cell.map(|code| code as u32)))
                } else {
                    Column::from_numbers(cells)
                }
            }
        });
        let chunk = Chunk::new(self.rows, columns.collect(), None);
        Ok(Table::from_parts(schema.clone(), &[chunk]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Control;
    use crate::data::{Field, Kind, Schema};
    use crate::model::mixture::{CovarianceKind, FitOptions, Specification, fit};
    use rand::SeedableRng as _;

    #[test]
    fn drawn_tables_have_the_size_and_the_missing_values_of_the_rows() {
        let x = [Some(1.0), None, Some(3.0), Some(2.0), Some(7.0)];
        let y = [Some(2.0), Some(5.0), None, Some(1.0), Some(4.0)];
        let weights = vec![1.0, 2.0, 0.0, 0.6, 1.4];
        let fields = vec![Field::new("x", Kind::Real), Field::new("y", Kind::Real)];
        let columns = vec![Column::from_numbers(x), Column::from_numbers(y)];
        let table = Table::new(Schema::new(fields), columns, Some(weights)).unwrap();
        let specification = Specification::mixture(1, CovarianceKind::Full);
        let (options, control) = (FitOptions::default(), Control::default());
        let fit = fit(&specification, &table, &options, control).unwrap();
        let pattern = Pattern::of(&fit.mixture, &table).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let drawn = pattern.draw(&fit.mixture, &mut rng).unwrap();
        let chunk = &drawn.chunks()[0];
        assert_eq!((chunk.rows(), chunk.weights()), (5, None));
        let seen = |column: usize| {
            let cells = chunk.column(column).cells(0, 5);
            (0..5).map(|row| cells.is_seen(row)).collect::<Vec<bool>>()
        };
        assert_eq!(seen(0), [true, false, false, true, true]);
        assert_eq!(seen(1), [true; 5]);
    }
}
