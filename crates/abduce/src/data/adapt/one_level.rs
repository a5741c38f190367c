//! A column of levels reduced to an indicator of one of them.

use crate::data::table::chunk::Chunk;
use crate::data::table::column::Column;
use crate::data::table::schema::{Field, Kind, Schema};
use crate::data::table::source::Source;
use crate::{Error, Result};

/// The first column of a source as a binary one: 1 for a given level, 0 for all others.
///
/// ```
/// use abduce::data::{Column, Field, Kind, OneLevel, Schema, Source, Table};
/// let field = Field::with_levels("answer", Kind::Categorical, ["maybe", "no", "yes"]);
/// let column = Column::from_codes([Some(2), Some(0), None]);
/// let table = Table::new(Schema::new(vec![field]), vec![column], None)?;
/// let maybe = OneLevel::new(&table, "maybe")?;
/// assert_eq!(maybe.schema().fields[0].levels, ["not maybe", "maybe"]);
/// assert_eq!(maybe.scan()?.next().unwrap()?.column(0).cells(0, 2).codes(), [0, 1]);
/// # Ok::<(), abduce::Error>(())
/// ```
pub struct OneLevel<'a> {
    source: &'a dyn Source,
    code: u32,
    schema: Schema,
}

impl<'a> OneLevel<'a> {
    /// The first column, and the level that counts as 1.
    ///
    /// # Errors
    /// If the column has no levels, or lacks this one.
    pub fn new(source: &'a dyn Source, level: &str) -> Result<OneLevel<'a>> {
        let schema = source.schema();
        let field = (schema.fields.first())
            .filter(|field| field.kind.is_coded())
            .ok_or_else(|| Error::parameter("the column has no levels"))?;
        let code = field.find_code(level)?;
        let other = match field.levels.as_slice() {
            [a, b] => if code == 0 { b } else { a }.clone(),
            _ => format!("not {level}"),
        };
        let indicator = Field::with_levels(&field.name, Kind::Binary, [other, level.to_string()]);
        Ok(OneLevel {
            source,
            code,
            schema: Schema {
                fields: vec![indicator],
                weight: schema.weight.clone(),
            },
        })
    }
}

impl Source for OneLevel<'_> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.source.rows()
    }

    fn scan(&self) -> Result<Box<dyn Iterator<Item = Result<Chunk>> + Send + '_>> {
        let recoded = |chunk: Chunk| {
            let cells = chunk.column(0).cells(0, chunk.rows());
            let is = |row: usize| {
                let seen = cells.is_seen(row);
                seen.then(|| u32::from(cells.codes()[row] == self.code))
            };
            let column = Column::from_codes((0..chunk.rows()).map(is));
            let weights = chunk.weights().map(<[f64]>::to_vec);
            Chunk::new(chunk.rows(), vec![column], weights)
        };
        Ok(Box::new(
            self.source.scan()?.map(move |chunk| chunk.map(recoded)),
        ))
    }
}
