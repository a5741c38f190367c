//! Some columns of a source, in the order in which they are named.

use crate::data::table::chunk::Chunk;
use crate::data::table::schema::Schema;
use crate::data::table::source::Source;
use crate::{Error, Result};

/// Some columns of a source, in a given order.
///
/// ```
/// use abduce::data::{Chosen, Column, Field, Kind, Schema, Source, Table};
/// let schema = Schema::new(vec![Field::new("a", Kind::Real), Field::new("b", Kind::Real)]);
/// let columns = [1.0, 2.0].map(|x| Column::from_numbers([Some(x)]));
/// let table = Table::new(schema, columns.into(), None)?;
/// let turned = Chosen::new(&table, &["b".into(), "a".into()])?;
/// let chunk = turned.scan()?.next().unwrap()?;
/// assert_eq!(chunk.column(0).cells(0, 1).reals(), [2.0]);
/// # Ok::<(), abduce::Error>(())
/// ```
pub struct Chosen<'a> {
    source: &'a dyn Source,
    places: Vec<usize>,
    schema: Schema,
}

impl<'a> Chosen<'a> {
    /// The columns of these names.
    ///
    /// # Errors
    /// If a column does not exist or is named twice.
    pub fn new(source: &'a dyn Source, names: &[String]) -> Result<Chosen<'a>> {
        let schema = source.schema();
        let mut places = Vec::with_capacity(names.len());
        for name in names {
            let place = schema.position(name)?;
            if places.contains(&place) {
                return Err(Error::parameter(format!(
                    "column \"{name}\" is named twice"
                )));
            }
            places.push(place);
        }
        let fields = places.iter().map(|place| schema.fields[*place].clone());
        let schema = Schema {
            fields: fields.collect(),
            weight: schema.weight.clone(),
        };
        Ok(Chosen {
            source,
            places,
            schema,
        })
    }
}

impl Source for Chosen<'_> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.source.rows()
    }

    fn scan(&self) -> Result<Box<dyn Iterator<Item = Result<Chunk>> + Send + '_>> {
        let turned = |chunk: Chunk| {
            let columns = self.places.iter().map(|place| chunk.column(*place).clone());
            let weights = chunk.weights().map(<[f64]>::to_vec);
            Chunk::new(chunk.rows(), columns.collect(), weights)
        };
        Ok(Box::new(
            self.source.scan()?.map(move |chunk| chunk.map(turned)),
        ))
    }
}
