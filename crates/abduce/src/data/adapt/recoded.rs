//! A source recoded to another schema: every level and term gets the code it has there.
//! Columns that the source lacks are filled with missing values.

use crate::data::read::token;
use crate::data::table::chunk::Chunk;
use crate::data::table::column::Column;
use crate::data::table::schema::{Field, Kind, Schema};
use crate::data::table::source::Source;
use crate::data::table::terms::Terms;
use crate::text::Encoding;
use crate::{Error, Result};
use std::collections::HashMap;

/// Stands for the code of a level or term that has none.
pub(crate) const NO_CODE: u32 = u32::MAX;

/// How the cells of a column are recoded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Translation {
    /// They stay as they are.
    Same,
    /// Levels and terms get other codes.
    Codes(Vec<u32>),
    /// Levels that are numbers become these numbers.
    Numbers(Vec<f64>),
    /// All cells become this code.
    Constant(u32),
    /// Numbers are multiplied.
    Scaled(f64),
}

impl Translation {
    /// The translation from a column with the constant `x` to one that has `x` as a level.
    ///
    /// # Errors
    /// If there is no such level.
    pub fn constant(x: f64, to: &Field) -> Result<Translation> {
        to.code(&token(x))
            .map(Translation::Constant)
            .ok_or_else(|| Error::data(format!("the column has no level {x}")).at_column(&to.name))
    }

    /// The translation from a column to one that has all of its levels and terms.
    ///
    /// # Errors
    /// If the other column lacks one, or has another kind.
    pub fn new(from: &Field, to: &Field) -> Result<Translation> {
        Translation::with_unseen(from, to, None)
    }

    /// The same, with the code `unseen` for levels that the other column lacks.
    fn with_unseen(from: &Field, to: &Field, unseen: Option<u32>) -> Result<Translation> {
        let lacks = |what: &str| {
            let message = format!("the column cannot be read as {}: {what}", to.kind.name());
            Err(Error::data(message).at_column(&to.name))
        };
        if from.levels == to.levels && from.text == to.text {
            return if from.kind.is_coded() == to.kind.is_coded()
                && (from.kind == Kind::Text) == (to.kind == Kind::Text)
            {
                Ok(Translation::Same)
            } else {
                lacks("its cells are of another kind")
            };
        }
        if from.kind.is_coded() && !to.kind.is_coded() && to.kind != Kind::Text {
            return match from.level_numbers() {
                Some(numbers) => Ok(Translation::Numbers(numbers)),
                None => lacks("its levels are not numbers"),
            };
        }
        if from.kind.is_coded() && to.kind.is_coded() {
            let places = to.levels.iter().zip(0..);
            let places: HashMap<&String, u32> = places.collect();
            let place = |level: &String| {
                let known = places.get(level).copied();
                known.or_else(|| to.code(level)).or(unseen)
            };
            let mut codes = Vec::with_capacity(from.levels.len());
            for level in &from.levels {
                match place(level) {
                    Some(code) => codes.push(code),
                    None => return lacks(&format!("there is no level \"{level}\"")),
                }
            }
            return Ok(Translation::Codes(codes));
        }
        let vocabularies = (from.text.as_deref(), to.text.as_deref());
        if let (Some(from), Some(to)) = vocabularies
            && let Encoding::Vocabulary(terms) = &from.encoding
        {
            let mut codes = Vec::with_capacity(terms.len());
            for term in terms.terms() {
                match to.encoding.code(term) {
                    Some(code) => codes.push(code),
                    // A fixed vocabulary leaves out other terms.
                    None if unseen.is_some() || !to.may_grow() => codes.push(NO_CODE),
                    None => return lacks(&format!("there is no term \"{term}\"")),
                }
            }
            return Ok(Translation::Codes(codes));
        }
        lacks("its cells are of another kind")
    }

    fn column(&self, column: &Column) -> Column {
        // A missing value has code 0, which a column of missing values lacks.
        fn found<T: Copy + Default>(codes: &[T], code: u32) -> T {
            codes.get(code as usize).copied().unwrap_or_default()
        }
        match (self, column) {
            (Translation::Codes(codes), Column::Code { values, nulls }) => Column::Code {
                values: values.iter().map(|code| found(codes, *code)).collect(),
                nulls: nulls.clone(),
            },
            (Translation::Scaled(factor), column) => {
                let cells = column.cells(0, column.len());
                let numbers = (0..column.len()).map(|row| Some(cells.number(row)? * factor));
                Column::from_numbers(numbers.collect::<Vec<_>>())
            }
            (Translation::Numbers(numbers), Column::Code { values, nulls }) => Column::Real {
                values: values.iter().map(|code| found(numbers, *code)).collect(),
                nulls: nulls.clone(),
            },
            (Translation::Codes(codes), Column::Text { values, nulls }) => {
                let row = |row: usize| {
                    let (old, counts) = values.rows().row(row);
                    let terms = old.iter().map(|code| codes[*code as usize]);
                    let terms = terms.zip(counts.iter().copied());
                    let mut terms: Vec<(u32, f64)> =
                        terms.filter(|(code, _)| *code != NO_CODE).collect();
                    terms.sort_unstable_by_key(|(code, _)| *code);
                    terms
                };
                Column::Text {
                    values: Terms::from_rows((0..values.len()).map(row)),
                    nulls: nulls.clone(),
                }
            }
            _ => column.clone(),
        }
    }
}

/// A source recoded to another schema.
///
/// ```
/// use abduce::data::{Column, Field, Kind, Recoded, Schema, Source, Table};
/// let field = |levels: &[&str]| Field::with_levels("x", Kind::Categorical, levels.to_vec());
/// let column = Column::from_codes([Some(0), None]);
/// let table = Table::new(Schema::new(vec![field(&["b"])]), vec![column], None)?;
/// let recoded = Recoded::new(&table, Schema::new(vec![field(&["a", "b"])]))?;
/// let chunk = recoded.scan()?.next().unwrap()?;
/// assert_eq!(chunk.column(0).cells(0, 2).codes()[0], 1);
/// # Ok::<(), abduce::Error>(())
/// ```
pub struct Recoded<'a> {
    source: &'a dyn Source,
    schema: Schema,
    /// The source's position of each column, if it has it, and how it is recoded.
    columns: Vec<Option<(usize, Translation)>>,
}

impl<'a> Recoded<'a> {
    /// The source in a schema that has all of its levels and terms.
    ///
    /// # Errors
    /// If the schema lacks one, or a column has another kind there.
    pub fn new(source: &'a dyn Source, schema: Schema) -> Result<Recoded<'a>> {
        Recoded::by(source, schema, |_, from, to| Translation::new(from, to))
    }

    /// The source in the schema of a model. Levels that the schema lacks get the code after
    /// its last, by which models know unseen categories; unknown terms are left out; numbers
    /// are in the units of the model.
    ///
    /// # Errors
    /// If a column has another kind there, or the target has an unknown label.
    pub fn for_model(
        source: &'a dyn Source,
        schema: &Schema,
        target: Option<usize>,
    ) -> Result<Recoded<'a>> {
        Recoded::by(source, schema.clone(), |column, from, to| {
            if from.unit != to.unit {
                return Ok(Translation::Scaled(from.unit / to.unit));
            }
            let unseen = (target != Some(column)).then_some(to.levels.len() as u32);
            Translation::with_unseen(from, to, unseen)
        })
    }

    fn by(
        source: &'a dyn Source,
        schema: Schema,
        translate: impl Fn(usize, &Field, &Field) -> Result<Translation>,
    ) -> Result<Recoded<'a>> {
        let fields = &source.schema().fields;
        let columns = schema.fields.iter().enumerate().map(|(column, to)| {
            let place = fields.iter().position(|from| from.name == to.name);
            place
                .map(|place| Ok((place, translate(column, &fields[place], to)?)))
                .transpose()
        });
        Ok(Recoded {
            source,
            columns: columns.collect::<Result<_>>()?,
            schema,
        })
    }
}

impl Source for Recoded<'_> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.source.rows()
    }

    fn scan(&self) -> Result<Box<dyn Iterator<Item = Result<Chunk>> + Send + '_>> {
        let recoded = |chunk: Chunk| {
            let columns = self.columns.iter().zip(&self.schema.fields);
            let columns = columns.map(|(from, field)| match from {
                Some((place, translation)) => translation.column(chunk.column(*place)),
                None => Column::hidden(field.kind, chunk.rows()),
            });
            let weights = chunk.weights().map(<[f64]>::to_vec);
            Chunk::new(chunk.rows(), columns.collect(), weights)
        };
        Ok(Box::new(
            self.source.scan()?.map(move |chunk| chunk.map(recoded)),
        ))
    }
}
