//! Reads a table as examples of a concept: every column becomes an attribute, and labels become
//! positive or negative.

use crate::arguments::note_all;
use crate::context::Context;
use crate::io::cells;
use crate::io::failure::{Failure, Outcome};
use abduce::Error;
use abduce::concept::{Conjunctions, Examples};
use abduce::data::{Chunk, Field, Kind, ReadOptions, Schema, Source, open_with, raw_rows};

/// A column with more distinct numbers than this cannot be treated as categories.
const MAX_DISTINCT_NUMBERS: usize = 1000;

/// The code of a value that is not in the table.
const UNSEEN: u32 = u32::MAX;

/// Pairs of words for no and yes.
const NO_YES: [[&str; 2]; 8] = [
    ["no", "yes"],
    ["false", "true"],
    ["0", "1"],
    ["negative", "positive"],
    ["neg", "pos"],
    ["n", "y"],
    ["f", "t"],
    ["-", "+"],
];

/// A table of labelled rows as examples of a concept.
pub struct Concept<'a> {
    pub space: Conjunctions,
    /// The name of the column of labels.
    pub target: String,
    pub positive: String,
    pub negative: String,
    /// The code of the positive label, if any row has it.
    code: Option<u32>,
    source: &'a dyn Source,
    label: usize,
    attributes: Vec<Attribute>,
}

/// The column of an attribute, and its values if these are numbers.
struct Attribute {
    column: usize,
    numbers: Option<Vec<f64>>,
}

/// A row of the table.
pub struct Row<'r> {
    /// Counted from 1.
    pub number: u64,
    pub instance: &'r [Option<u32>],
    pub positive: Option<bool>,
    pub weight: f64,
}

impl<'a> Concept<'a> {
    pub fn new(
        source: &'a dyn Source,
        target: &str,
        positive: Option<&str>,
        context: &Context,
    ) -> Outcome<Concept<'a>> {
        let schema = source.schema();
        let label = schema.position(target)?;
        let (code, positive, negative) = labels(&schema.fields[label], positive, context)?;
        let numbers = distinct_numbers(source, label)?;
        let (mut fields, mut attributes, mut numeric) = (Vec::new(), Vec::new(), Vec::new());
        for (column, field) in schema
            .fields
            .iter()
            .enumerate()
            .filter(|(c, _)| *c != label)
        {
            let numbers = (!field.kind.is_coded()).then(|| numbers[column].clone());
            fields.push(match &numbers {
                None => field.clone(),
                Some(numbers) => {
                    numeric.push(field.name.as_str());
                    let levels = numbers.iter().map(|x| cells::number(*x));
                    Field::with_levels(&field.name, Kind::Categorical, levels)
                }
            });
            attributes.push(Attribute { column, numbers });
        }
        if !numeric.is_empty() {
            context.note(&format!(
                "each number is treated as a category in {}",
                numeric.join(", ")
            ));
        }
        Ok(Concept {
            space: Conjunctions::new(fields)?,
            target: target.to_string(),
            positive,
            negative,
            code,
            source,
            label,
            attributes,
        })
    }

    /// The name of a label.
    pub fn name(&self, positive: bool) -> &str {
        if positive {
            &self.positive
        } else {
            &self.negative
        }
    }

    /// Visits all rows with a positive weight, labelled or not.
    pub fn each_row(&self, mut visit: impl FnMut(Row) -> Outcome) -> Outcome {
        let mut first = 1;
        for chunk in self.source.scan()? {
            let chunk = chunk?;
            for row in chunk.rows_with_weight() {
                let instance = self.instance(&chunk, row);
                let label = cells::value(chunk.column(self.label), row);
                visit(Row {
                    number: first + row as u64,
                    instance: &instance,
                    positive: label.map(|code| self.code == Some(code as u32)),
                    weight: chunk.weights().map_or(1.0, |w| w[row]),
                })?;
            }
            first += chunk.rows() as u64;
        }
        Ok(())
    }

    fn instance(&self, chunk: &Chunk, row: usize) -> Vec<Option<u32>> {
        let attributes = self.attributes.iter();
        attributes
            .map(|attribute| {
                let x = cells::value(chunk.column(attribute.column), row)?;
                Some(match &attribute.numbers {
                    None => x as u32,
                    Some(numbers) => numbers
                        .binary_search_by(|other| other.total_cmp(&(x + 0.0)))
                        .map_or(UNSEEN, |place| place as u32),
                })
            })
            .collect()
    }

    /// The examples among the first rows of the table.
    pub fn examples(&self, rows: u64) -> Outcome<Examples> {
        let mut examples = Examples::default();
        self.each_row(|row| {
            if let Some(positive) = row.positive.filter(|_| row.number <= rows) {
                examples.add(row.instance, positive, row.weight);
            }
            Ok(())
        })?;
        Ok(examples)
    }

    /// The number of rows of the table.
    pub fn rows(&self) -> u64 {
        self.source.rows()
    }

    /// Visits the rows of another file. Values that are not in the table match no hypothesis;
    /// attributes without a column are missing.
    pub fn each_row_of_file(
        &self,
        path: &str,
        options: ReadOptions,
        context: &Context,
        mut visit: impl FnMut(u64, &[Option<u32>]) -> Outcome,
    ) -> Outcome {
        let target = options.target.clone();
        let mut options = ReadOptions {
            missing: options.missing,
            quote: options.quote,
            no_header: options.no_header,
            names: options.names,
            ..ReadOptions::default()
        };
        let paths = [path.to_string()];
        // Rows to predict may lack the label.
        if let Some(names) = options.names.take() {
            let width = raw_rows(&paths, &options)?.header().len();
            let has_label = names.len() == width;
            let is_in_file = |name: &String| has_label || Some(name) != target.as_ref();
            options.names = Some(names.into_iter().filter(is_in_file).collect());
        }
        let schema = Schema::new(self.space.attributes().to_vec());
        let opened = open_with(&paths, &options, &schema).map_err(|error| error.at_file(path))?;
        let opened = note_all(opened, context)?;
        let mut number = 0;
        for chunk in opened.source.scan()? {
            let chunk = chunk?;
            for row in 0..chunk.rows() {
                let code = |column| Some(cells::value(column, row)? as u32);
                let instance: Vec<Option<u32>> = chunk.columns().iter().map(code).collect();
                number += 1;
                visit(number, &instance)?;
            }
        }
        Ok(())
    }
}

/// The positive label's code, its name and that of the others.
fn labels(
    field: &Field,
    given: Option<&str>,
    context: &Context,
) -> Outcome<(Option<u32>, String, String)> {
    let levels = &field.levels;
    let Some(first) = levels.first() else {
        return Err(Error::data("no row has a label")
            .at_column(&field.name)
            .into());
    };
    let positive = match given
        .map(str::to_string)
        .or_else(|| default_positive_label(levels))
    {
        Some(positive) => positive,
        None => {
            context.note(&format!(
                "the positive label is {} = {first}; choose another with --positive LABEL",
                field.name
            ));
            first.clone()
        }
    };
    let code = field.code(&positive);
    let negative = match levels.as_slice() {
        [a, b] if code.is_some() => if *a == positive { b } else { a }.clone(),
        [only] if code.is_none() => only.clone(),
        _ => format!("not {positive}"),
    };
    if code.is_none() {
        if levels.len() > 1 {
            let unknown = |error| Failure::usage(format!("--positive: {error}"));
            field.find_code(&positive).map_err(unknown)?;
        }
        context.note(&format!("no row is {positive}: all examples are negative"));
    }
    Ok((code, positive, negative))
}

/// The label that means yes; if there is only a label that means no, its opposite.
fn default_positive_label(levels: &[String]) -> Option<String> {
    let pair_of = |level: &str, side: usize| {
        let mut pairs = NO_YES.iter();
        pairs.find(|pair| pair[side].eq_ignore_ascii_case(level))
    };
    let yes: Vec<&String> = levels.iter().filter(|l| pair_of(l, 1).is_some()).collect();
    let no: Vec<&String> = levels.iter().filter(|l| pair_of(l, 0).is_some()).collect();
    match (levels, yes.as_slice(), no.as_slice()) {
        (_, [yes], _) => Some(yes.to_string()),
        ([a, b], _, [no]) => Some(if *no == a { b } else { a }.clone()),
        ([_], _, [no]) => pair_of(no, 0).map(|pair| pair[1].to_string()),
        _ => None,
    }
}

/// The distinct numbers of every column of numbers, sorted.
fn distinct_numbers(source: &dyn Source, label: usize) -> Outcome<Vec<Vec<f64>>> {
    let fields = &source.schema().fields;
    let mut found: Vec<Vec<f64>> = vec![Vec::new(); fields.len()];
    let numeric = |column: &usize| *column != label && !fields[*column].kind.is_coded();
    let numeric: Vec<usize> = (0..fields.len()).filter(numeric).collect();
    if numeric.is_empty() {
        return Ok(found);
    }
    for chunk in source.scan()? {
        let chunk = chunk?;
        for column in &numeric {
            let cells = chunk.column(*column);
            let numbers = &mut found[*column];
            // Adding 0 turns -0 into 0.
            let seen = (0..chunk.rows()).filter_map(|row| Some(cells::value(cells, row)? + 0.0));
            numbers.extend(seen);
            numbers.sort_by(f64::total_cmp);
            numbers.dedup();
            if numbers.len() > MAX_DISTINCT_NUMBERS {
                let name = &fields[*column].name;
                return Err(Error::data(format!(
                    "more than {MAX_DISTINCT_NUMBERS} distinct numbers cannot be treated as categories"
                ))
                .at_column(name)
                .with_hint(format!(
                    "leave the column out with --drop \"{name}\", or divide its numbers into ranges"
                ))
                .into());
            }
        }
    }
    Ok(found)
}
