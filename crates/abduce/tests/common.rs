//! Helpers of several test modules: streamed tables, thread pools, tables of real columns, and
//! the files in golden/.

use abduce::Result;
use abduce::data::{Chunk, Column, Field, Kind, Schema, Source, Table};
use serde_json::Value;

/// A table that is read chunk by chunk on each pass, like a file.
pub struct Streamed(pub Table);

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

/// Runs `work` in a pool of this many threads.
pub fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap().install(work)
}

/// A table of real columns x0, x1, …
pub fn real_table<C: IntoIterator<Item = Option<f64>>>(
    columns: impl IntoIterator<Item = C>,
    weights: Option<Vec<f64>>,
) -> Table {
    let columns: Vec<Column> = columns.into_iter().map(Column::from_numbers).collect();
    let fields = (0..columns.len()).map(|c| Field::new(format!("x{c}"), Kind::Real));
    Table::new(Schema::new(fields.collect()), columns, weights).unwrap()
}

fn golden_file(name: &str) -> String {
    let path = format!("{}/../../golden/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

/// A JSON file in golden/.
pub fn golden(name: &str) -> Value {
    serde_json::from_str(&golden_file(&format!("{name}.json"))).unwrap()
}

/// The columns of a table in golden/, which has a header and no missing values.
pub fn golden_columns(name: &str) -> Vec<Vec<f64>> {
    let text = golden_file(&format!("{name}.csv"));
    let width = text.lines().next().unwrap().split(',').count();
    let mut columns = vec![Vec::new(); width];
    for line in text.lines().skip(1) {
        for (column, cell) in columns.iter_mut().zip(line.split(',')) {
            column.push(cell.parse().unwrap());
        }
    }
    columns
}
