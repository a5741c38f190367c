//! From a table to examples: columns become attributes, whatever their kind,
//! and labels positive or negative.

use crate::cells;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use abduce::Error;
use abduce::concept::{Conjunctions, Examples};
use abduce::data::{Chunk, Field, Kind, ReadOptions, Schema, Source, open_with, raw_rows};

/// More different numbers than these are measurements.
const MOST_NUMBERS: usize = 1000;

/// A value that no hypothesis names.
const STRANGER: u32 = u32::MAX;

/// Words for no, each with the word for its yes.
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

/// A table of labelled rows, seen as examples of a concept.
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
    columns: Vec<Attribute>,
}

/// Where an attribute stands, and its values where these are numbers.
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
        wished: Option<&str>,
        context: &Context,
    ) -> Outcome<Concept<'a>> {
        let schema = source.schema();
        let label = schema.position(target)?;
        let (code, positive, negative) = labels(&schema.fields[label], wished, context)?;
        let numbers = numbers(source, label)?;
        let (mut fields, mut columns, mut numeric) = (Vec::new(), Vec::new(), Vec::new());
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
            columns.push(Attribute { column, numbers });
        }
        if !numeric.is_empty() {
            context.note(&format!(
                "every number is taken for a value of its own in {}",
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
            columns,
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

    /// Goes through all rows that weigh something, labelled or not.
    pub fn each_row(&self, mut take: impl FnMut(Row) -> Outcome) -> Outcome {
        let mut first = 1;
        for chunk in self.source.scan()? {
            let chunk = chunk?;
            for row in chunk.weighing_rows() {
                let instance = self.instance(&chunk, row);
                let label = cells::value(chunk.column(self.label), row);
                take(Row {
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
        let columns = self.columns.iter();
        columns
            .map(|attribute| {
                let x = cells::value(chunk.column(attribute.column), row)?;
                Some(match &attribute.numbers {
                    None => x as u32,
                    Some(numbers) => numbers
                        .binary_search_by(|other| other.total_cmp(&(x + 0.0)))
                        .map_or(STRANGER, |place| place as u32),
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

    /// Goes through the rows of another file. A value the table does not have
    /// is one that no hypothesis names, and a column that is not there is
    /// hidden.
    pub fn each_row_of(
        &self,
        path: &str,
        options: ReadOptions,
        context: &Context,
        mut take: impl FnMut(u64, &[Option<u32>]) -> Outcome,
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
        // Rows to be predicted may lack the label.
        if let Some(names) = options.names.take() {
            let width = raw_rows(&paths, &options)?.header().len();
            let labelled = names.len() == width;
            let kept = |name: &String| labelled || Some(name) != target.as_ref();
            options.names = Some(names.into_iter().filter(kept).collect());
        }
        let schema = Schema::new(self.space.attributes().to_vec());
        let opened = open_with(&paths, &options, &schema).map_err(|error| error.at_file(path))?;
        opened.notes.iter().for_each(|note| context.note(note));
        let mut number = 0;
        for chunk in opened.source.scan()? {
            let chunk = chunk?;
            for row in 0..chunk.rows() {
                let code = |column| Some(cells::value(column, row)? as u32);
                let instance: Vec<Option<u32>> = chunk.columns().iter().map(code).collect();
                number += 1;
                take(number, &instance)?;
            }
        }
        Ok(())
    }
}

/// The positive label's code, its name and that of the others.
fn labels(
    field: &Field,
    wished: Option<&str>,
    context: &Context,
) -> Outcome<(Option<u32>, String, String)> {
    let levels = &field.levels;
    let word = |level: &str, side: usize| {
        NO_YES
            .iter()
            .position(|pair| pair[side].eq_ignore_ascii_case(level))
    };
    let yes: Vec<&String> = levels.iter().filter(|l| word(l, 1).is_some()).collect();
    let no: Vec<&String> = levels.iter().filter(|l| word(l, 0).is_some()).collect();
    let positive = match (wished, levels.as_slice(), yes.as_slice(), no.as_slice()) {
        (_, [], ..) => {
            return Err(Error::data("no row has a label")
                .at_column(&field.name)
                .into());
        }
        (Some(wished), ..) => wished.to_string(),
        (None, _, [yes], _) => yes.to_string(),
        (None, [a, b], _, [no]) => if *no == a { b } else { a }.clone(),
        (None, [_], _, [no]) => word(no, 0).map_or("", |pair| NO_YES[pair][1]).to_string(),
        (None, [first, ..], ..) => {
            context.note(&format!(
                "the concept is taken to be {} = {first}; pass --positive LABEL for another",
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
            let wrong = |error| Failure::usage(format!("--positive: {error}"));
            field.find_code(&positive).map_err(wrong)?;
        }
        context.note(&format!("no row is {positive}: all examples are negative"));
    }
    Ok((code, positive, negative))
}

/// The different numbers of every column of numbers, in order.
fn numbers(source: &dyn Source, label: usize) -> Outcome<Vec<Vec<f64>>> {
    let Schema { fields, .. } = source.schema();
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
            // Adding 0 makes one zero of the two.
            let seen = (0..chunk.rows()).filter_map(|row| Some(cells::value(cells, row)? + 0.0));
            numbers.extend(seen);
            numbers.sort_by(f64::total_cmp);
            numbers.dedup();
            if numbers.len() > MOST_NUMBERS {
                let name = &fields[*column].name;
                return Err(Error::data(format!(
                    "more than {MOST_NUMBERS} different numbers are no values to be told apart"
                ))
                .at_column(name)
                .with_hint(format!(
                    "leave the column out with --drop \"{name}\", or cut it into ranges"
                ))
                .into());
            }
        }
    }
    Ok(found)
}
