//! Folds for cross-validation, in which every row is held out once. Each class, and the rows as a
//! whole, are spread over the folds as evenly as possible, and all such assignments are equally
//! likely: each row draws one of the remaining places of its class, and the rows left over from an
//! even split go to folds in a random order. Only one number per row is stored.

use super::part::Part;
use crate::data::{Chunk, Source, Table};
use crate::{Error, Result};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The largest number of folds: they are numbered by 32 bits, and one value means none.
pub const MAX_FOLDS: usize = u32::MAX as usize;

/// The fold of a row that is never held out.
const NONE: u32 = u32::MAX;

/// Which fold each row of a source is in.
#[derive(Clone, Debug, PartialEq)]
pub struct Folds {
    number: usize,
    of_row: Vec<u32>,
    class_rows: Vec<u64>,
}

impl Folds {
    /// Assigns rows to folds, stratified by the classes of the target. Rows without a label
    /// and rows of weight 0 are in every training set and never held out. The same seed gives
    /// the same folds, in memory or streamed.
    ///
    /// ```
    /// use abduce::data::{Column, Field, Kind, Schema, Source, Table};
    /// use abduce::data::Folds;
    /// let schema = Schema::new(vec![Field::with_levels("y", Kind::Categorical, ["a", "b"])]);
    /// let y = Column::from_codes((0..10).map(|i| (i > 0).then_some(u32::from(i < 4))));
    /// let table = Table::new(schema, vec![y], None)?;
    /// let folds = Folds::stratified(&table, Some(0), 3, 0)?;
    /// for fold in 0..3 {
    ///     assert_eq!(folds.held_out(&table, fold)?.rows(), 3);
    ///     assert_eq!(folds.training(&table, fold)?.rows(), 7);
    /// }
    /// # Ok::<(), abduce::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there are fewer than 2 folds, more than [`MAX_FOLDS`] or more than rows that can
    /// be held out, or the source cannot be read.
    pub fn stratified(
        source: &dyn Source,
        target: Option<usize>,
        number: usize,
        seed: u64,
    ) -> Result<Folds> {
        check_number(number)?;
        let fields = &source.schema().fields;
        let classes = target.map_or(1, |target| fields[target].levels.len());
        let mut class_rows = vec![0; classes];
        for chunk in source.scan()? {
            let chunk = chunk?;
            let class_of = class_of(&chunk, target);
            for class in (0..chunk.rows()).filter_map(class_of) {
                class_rows[class] += 1;
            }
        }
        let rows: u64 = class_rows.iter().sum();
        if number as u64 > rows {
            let labelled = if target.is_some() {
                " with a label"
            } else {
                ""
            };
            return Err(Error::parameter(format!(
                "cannot make {number} folds of {rows} {noun}{labelled}",
                noun = if rows == 1 { "row" } else { "rows" },
            ))
            .with_hint("ask for fewer folds, or give more rows"));
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0xf01d);
        let mut left = places(&class_rows, number, &mut rng);
        let mut of_row = Vec::with_capacity(source.rows() as usize);
        for chunk in source.scan()? {
            let chunk = chunk?;
            let class_of = class_of(&chunk, target);
            of_row.extend((0..chunk.rows()).map(|row| match class_of(row) {
                Some(class) => draw_place(&mut left[class], &mut rng),
                None => NONE,
            }));
        }
        Ok(Folds {
            number,
            of_row,
            class_rows,
        })
    }

    /// Folds given for each row, numbered from 0; a row with `None` is never held out.
    ///
    /// # Errors
    /// If there are fewer than 2 folds or more than [`MAX_FOLDS`].
    pub fn given(folds: &[Option<usize>]) -> Result<Folds> {
        let number = folds.iter().flatten().max().map_or(0, |last| last + 1);
        check_number(number)?;
        let of_row = folds
            .iter()
            .map(|fold| fold.map_or(NONE, |fold| fold as u32));
        Ok(Folds {
            number,
            of_row: of_row.collect(),
            class_rows: vec![folds.iter().flatten().count() as u64],
        })
    }

    /// The number of folds.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The number of rows that are held out once, for each class; for all where there is no
    /// target.
    pub fn class_rows(&self) -> &[u64] {
        &self.class_rows
    }

    /// The rows that are held out in one fold.
    ///
    /// # Errors
    /// If the folds belong to another source, or it cannot be read.
    pub fn held_out<'a>(
        &'a self,
        source: &'a dyn Source,
        fold: usize,
    ) -> Result<Box<dyn Source + 'a>> {
        self.part(source, move |of_row| of_row as usize == fold)
    }

    /// All other rows.
    ///
    /// # Errors
    /// As [`held_out`](Folds::held_out).
    pub fn training<'a>(
        &'a self,
        source: &'a dyn Source,
        fold: usize,
    ) -> Result<Box<dyn Source + 'a>> {
        self.part(source, move |of_row| of_row as usize != fold)
    }

    fn part<'a>(
        &'a self,
        source: &'a dyn Source,
        wanted: impl Fn(u32) -> bool + Send + Sync + 'a,
    ) -> Result<Box<dyn Source + 'a>> {
        if source.rows() != self.of_row.len() as u64 {
            return Err(Error::parameter("the folds belong to another table"));
        }
        let rows = self.of_row.iter().filter(|fold| wanted(**fold)).count();
        let part = Part {
            source,
            of_row: &self.of_row,
            wanted: Box::new(wanted),
            rows: rows as u64,
        };
        // A table in memory has the same chunks and is faster to scan.
        if source.table().is_some() {
            let chunks = part.scan()?.collect::<Result<Vec<Chunk>>>()?;
            return Ok(Box::new(Table::from_chunks(
                source.schema().clone(),
                chunks,
            )));
        }
        Ok(Box::new(part))
    }
}

fn check_number(number: usize) -> Result<()> {
    if number < 2 {
        return Err(Error::parameter("there must be at least 2 folds")
            .with_hint("one is held out, the others are fitted"));
    }
    if number > MAX_FOLDS {
        return Err(Error::parameter(format!(
            "there can be at most {MAX_FOLDS} folds"
        )));
    }
    Ok(())
}

/// The class of a row that can be held out.
fn class_of(chunk: &Chunk, target: Option<usize>) -> impl Fn(usize) -> Option<usize> {
    let cells = target.map(|target| chunk.column(target).cells(0, chunk.rows()));
    let weights = chunk.weights();
    move |row| {
        if weights.is_some_and(|weights| weights[row] <= 0.0) {
            return None;
        }
        match &cells {
            None => Some(0),
            Some(cells) => cells.is_seen(row).then(|| cells.codes()[row] as usize),
        }
    }
}

/// For each class, the fold of each of its places. The folds take turns in a random order,
/// and each class continues where the one before ended.
fn places(class_rows: &[u64], folds: usize, rng: &mut impl Rng) -> Vec<Vec<u32>> {
    let mut order: Vec<u32> = (0..folds as u32).collect();
    order.shuffle(rng);
    let mut next = order.iter().copied().cycle();
    let places = |rows: &u64| next.by_ref().take(*rows as usize).collect();
    class_rows.iter().map(places).collect()
}

/// Draws and removes one of the places left.
fn draw_place(left: &mut Vec<u32>, rng: &mut impl Rng) -> u32 {
    match left.len() {
        // Only if a second scan finds rows that the first did not.
        0 => NONE,
        places => left.swap_remove(rng.random_range(0..places)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{CHUNK_ROWS, Column, Field, Kind, Schema};

    struct Streamed(Table);

    impl Source for Streamed {
        fn schema(&self) -> &Schema {
            self.0.schema()
        }
        fn rows(&self) -> u64 {
            self.0.rows()
        }
        fn scan(&self) -> Result<Box<dyn Iterator<Item = Result<Chunk>> + Send + '_>> {
            self.0.scan()
        }
    }

    /// A row's number, its class of three (the last is rare) or none, its weight.
    fn table(rows: usize) -> Table {
        let schema = Schema::new(vec![
            Field::new("x", Kind::Real),
            Field::with_levels("y", Kind::Categorical, ["a", "b", "c"]),
        ]);
        let x = Column::from_numbers((0..rows).map(|i| Some(i as f64)));
        let class = |i: usize| match i % 50 {
            0 => None,
            1 => Some(2),
            other => Some((other % 2) as u32),
        };
        let y = Column::from_codes((0..rows).map(class));
        let weights = (0..rows).map(|i| (i % 7) as f64).collect();
        Table::new(schema, vec![x, y], Some(weights)).unwrap()
    }

    fn chunks(source: &dyn Source) -> Vec<Chunk> {
        source.scan().unwrap().map(Result::unwrap).collect()
    }

    fn numbers(source: &dyn Source) -> Vec<usize> {
        let of = |chunk: &Chunk| {
            let cells = chunk.column(0).cells(0, chunk.rows());
            cells
                .reals()
                .iter()
                .map(|x| *x as usize)
                .collect::<Vec<_>>()
        };
        chunks(source).iter().flat_map(of).collect()
    }

    #[test]
    fn every_labelled_row_is_held_out_once_and_every_other_row_never() {
        let table = table(10_000);
        let folds = Folds::stratified(&table, Some(1), 7, 3).unwrap();
        let mut times = vec![0; 10_000];
        for fold in 0..7 {
            let held_out = numbers(&*folds.held_out(&table, fold).unwrap());
            let training = numbers(&*folds.training(&table, fold).unwrap());
            held_out.iter().for_each(|row| times[*row] += 1);
            let mut all = [held_out, training].concat();
            all.sort_unstable();
            assert_eq!(all, (0..10_000).collect::<Vec<_>>());
        }
        for (row, times) in times.into_iter().enumerate() {
            let never = row % 50 == 0 || row % 7 == 0;
            assert_eq!(times, usize::from(!never), "row {row}");
        }
    }

    #[test]
    fn classes_and_folds_are_as_even_as_whole_rows_can_be() {
        let table = table(5000);
        let folds = Folds::stratified(&table, Some(1), 9, 1).unwrap();
        let labels = table.column(1);
        let labels = labels.cells(0, 5000);
        let mut counts = vec![[0u64; 3]; 9];
        for (fold, counts) in counts.iter_mut().enumerate() {
            for row in numbers(&*folds.held_out(&table, fold).unwrap()) {
                counts[labels.codes()[row] as usize] += 1;
            }
        }
        let spread =
            |figures: Vec<u64>| figures.iter().max().unwrap() - figures.iter().min().unwrap();
        for class in 0..3 {
            assert!(spread(counts.iter().map(|counts| counts[class]).collect()) <= 1);
            let all: u64 = counts.iter().map(|counts| counts[class]).sum();
            assert_eq!(all, folds.class_rows()[class]);
        }
        assert!(spread(counts.iter().map(|counts| counts.iter().sum()).collect()) <= 1);
    }

    #[test]
    fn streamed_folds_have_the_chunks_of_those_in_memory_and_weights_are_kept() {
        for rows in [10, 4096, 20_000] {
            let table = table(rows);
            let streamed = Streamed(table.clone());
            let folds = Folds::stratified(&table, Some(1), 3, 5).unwrap();
            assert_eq!(folds, Folds::stratified(&streamed, Some(1), 3, 5).unwrap());
            for fold in 0..3 {
                let in_memory = folds.training(&table, fold).unwrap();
                let stream = folds.training(&streamed, fold).unwrap();
                assert!(in_memory.table().is_some() && stream.table().is_none());
                assert_eq!(in_memory.rows(), stream.rows());
                assert_eq!(chunks(&*in_memory), chunks(&*stream));
                let full = chunks(&*in_memory);
                let (_, full) = full.split_last().unwrap();
                assert!(full.iter().all(|chunk| chunk.rows() == CHUNK_ROWS));
                for chunk in chunks(&*in_memory) {
                    let rows = chunk.column(0).cells(0, chunk.rows());
                    let weights = chunk.weights().unwrap().iter();
                    assert!(weights.zip(rows.reals()).all(|(w, x)| *w == x % 7.0));
                }
            }
        }
    }

    #[test]
    fn another_seed_gives_other_folds_and_folds_can_be_nested() {
        let table = table(1000);
        let folds = Folds::stratified(&table, Some(1), 5, 0).unwrap();
        assert_ne!(folds, Folds::stratified(&table, Some(1), 5, 1).unwrap());
        let streamed = Streamed(table);
        let training = folds.training(&streamed, 0).unwrap();
        let inner = Folds::stratified(&*training, Some(1), 4, 0).unwrap();
        let held_out = inner.held_out(&*training, 2).unwrap();
        let outer = numbers(&*folds.held_out(&streamed, 0).unwrap());
        let inner = numbers(&*held_out);
        assert!(!inner.is_empty() && inner.iter().all(|row| !outer.contains(row)));
    }

    #[test]
    fn every_row_can_be_a_fold_of_its_own() {
        let table = table(700);
        let rows: u64 = (0..700).filter(|i| i % 50 != 0 && i % 7 != 0).count() as u64;
        let folds = Folds::stratified(&table, Some(1), rows as usize, 0).unwrap();
        for fold in [0, 255, 256, rows as usize - 1] {
            assert_eq!(folds.held_out(&table, fold).unwrap().rows(), 1);
        }
    }

    #[test]
    fn leftover_rows_go_to_every_fold_equally_often() {
        // Ten rows in four folds: two folds have three of them.
        let schema = Schema::new(vec![Field::new("x", Kind::Real)]);
        let x = Column::from_numbers((0..10).map(|i| Some(f64::from(i))));
        let table = Table::new(schema, vec![x], None).unwrap();
        let mut times = [0; 4];
        for seed in 0..400 {
            let folds = Folds::stratified(&table, None, 4, seed).unwrap();
            for (fold, times) in times.iter_mut().enumerate() {
                let rows = folds.held_out(&table, fold).unwrap().rows();
                assert!(rows == 2 || rows == 3);
                *times += u64::from(rows == 3);
            }
        }
        // Each in half of the assignments; five standard deviations are 50.
        assert!(
            times.iter().all(|times| times.abs_diff(200) < 50),
            "{times:?}"
        );
    }

    #[test]
    fn too_few_and_too_many_folds_are_refused() {
        let table = table(30);
        for number in [0, 1, 30, 256] {
            assert!(Folds::stratified(&table, Some(1), number, 0).is_err());
        }
        let other = Folds::given(&[Some(0), Some(1), None]).unwrap();
        assert!(other.training(&table, 0).is_err());
        assert!(Folds::given(&[Some(0), None]).is_err());
    }
}
