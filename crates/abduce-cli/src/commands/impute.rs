//! `impute`: fills the missing values of a table. All other cells are written as they were read.

use crate::arguments::{DataArguments, files_read};
use crate::context::Context;
use crate::io::cells;
use crate::io::failure::{Failure, Outcome};
use crate::io::output::{Output, check_not_an_input};
use crate::io::random::chunk_rng;
use crate::io::row_counts::ChangedConstants;
use crate::render::text_table::counted;
use abduce::Control;
use abduce::Error;
use abduce::ask::Joint;
use abduce::data::{Chunk, Kind, Opened, RawBatch, RawRows, Schema, Source};
use abduce::family::Fill;
use abduce::model::AnyModel;
use abduce::model::density::{Density, DensityModel};
use abduce::store::Model;
use clap::{Args, ValueEnum};
use rayon::prelude::*;
use std::collections::VecDeque;
use std::io::Write;
use std::path::PathBuf;

/// Fill the missing values of a table
///
/// Writes all columns in their order. Observed values are unchanged; missing values in columns
/// outside the model stay empty. Columns of whole numbers are filled with whole numbers.
#[derive(Args)]
#[command(after_help = "Example:
  abduce impute penguins.abduce penguins.csv --how draw --copies 5 --seed 1 -o filled.csv")]
pub struct Arguments {
    /// A model written by `abduce fit`
    #[arg(value_name = "FILE")]
    model: PathBuf,
    #[command(flatten)]
    data: DataArguments,
    /// What to fill missing values with
    #[arg(long, value_name = "HOW", default_value = "mean")]
    how: How,
    /// Write N filled tables below each other, numbered in a first column `copy`, for multiple
    /// imputation
    ///
    /// Each copy is drawn under its own parameters, so that the copies reflect the uncertainty of
    /// the parameters: mixture, gda and naive-bayes models are refitted, to DATA with random row
    /// weights (the Bayesian bootstrap) if they were fitted to DATA, otherwise to as many rows
    /// drawn from the model (the parametric bootstrap). Other models, and `--how draw` without
    /// `--copies`, use the parameters of FILE.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    copies: Option<u32>,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum How {
    /// The mean, or the most probable level
    Mean,
    /// The most probable value
    Mode,
    /// A random draw from the model
    Draw,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        if self.copies.is_some_and(|copies| copies > 1) && self.how != How::Draw {
            return Err(Failure::usage(
                "--copies needs --how draw: means and modes are the same in every copy",
            ));
        }
        let model = Model::load(&self.model)?;
        let joint = model.joint()?;
        let mut output = Output::table(self.output.as_deref(), context)?;
        let opened = self.data.open_for(joint, context)?;
        check_not_an_input(self.output.as_deref(), files_read(&opened, &self.model))?;
        check_knn_has_no_missing_values(&model, &opened)?;
        let mut table = Table::new(context.json, self.copies.is_some());
        let mut remarks = Remarks::default();
        for copy in 1..=self.copies.unwrap_or(1) {
            let drawn = self.model_for_copy(&model, &opened, context, copy)?;
            let fill = Filling {
                model: &model,
                joint: drawn.as_ref().map_or(Ok(joint), AnyModel::joint)?,
                how: match self.how {
                    How::Mean => Fill::Mean,
                    How::Mode => Fill::Mode,
                    How::Draw => Fill::Draw,
                },
                seed: context.seed,
                copy: copy.into(),
            };
            let found = table.write(&opened, &fill, context, &mut output)?;
            // The rows are the same in every copy.
            if copy == 1 {
                remarks = found;
            }
        }
        table.finish(&mut output)?;
        output.finish()?;
        remarks.report(joint, context);
        Ok(())
    }

    /// The model with drawn parameters for one copy of a multiple imputation.
    fn model_for_copy(
        &self,
        model: &Model,
        opened: &Opened,
        context: &Context,
        copy: u32,
    ) -> Outcome<Option<AnyModel>> {
        if self.copies.is_none() || self.how != How::Draw {
            return Ok(None);
        }
        let seed = context
            .seed
            .wrapping_mul(1_000_003)
            .wrapping_add(copy.into());
        let drawn = model.with_drawn_parameters(&*opened.source, seed, Control::default());
        drawn.map_err(|error| opened.locate(error).into())
    }
}

/// Whether a row of a chunk has a missing value in one of these columns.
fn has_missing(columns: &[usize], chunk: &Chunk, row: usize) -> bool {
    let mut columns = columns.iter();
    columns.any(|column| cells::value(chunk.column(*column), row).is_none())
}

/// Scans the data and fails, before anything is written, if a k-nearest-neighbour density would
/// have to fill a missing value.
fn check_knn_has_no_missing_values(model: &Model, opened: &Opened) -> Outcome {
    let Some(densities) = model.body.get::<DensityModel>() else {
        return Ok(());
    };
    let mut estimated = densities.densities.iter().flatten();
    if !estimated.any(|density| matches!(density, Density::Knn(_))) {
        return Ok(());
    }
    let mut rows_before = 0;
    for chunk in opened.source.scan()? {
        let chunk = chunk?;
        if let Some(row) =
            (0..chunk.rows()).find(|row| has_missing(&densities.columns, &chunk, *row))
        {
            let error =
                Error::parameter("a k-nearest-neighbour density cannot fill missing values");
            let error = error.at_row(rows_before + row as u64 + 1);
            return Err(opened
                .locate(error.with_hint("fit kde or histogram"))
                .into());
        }
        rows_before += chunk.rows() as u64;
    }
    Ok(())
}

/// What is reported about the rows after they are filled.
#[derive(Default)]
struct Remarks {
    /// Rows with missing values that are impossible under the model.
    impossible: u64,
    constants: ChangedConstants,
}

impl Remarks {
    /// The remarks about a chunk before it is filled.
    fn of(model: &Model, chunk: &Chunk) -> abduce::Result<Remarks> {
        let joint = model.joint()?;
        let mut remarks = Remarks::default();
        remarks.constants.add(joint, chunk);
        let fields = joint.schema().fields.iter().enumerate();
        let not_text = fields.filter(|(_, field)| field.kind != Kind::Text);
        let columns: Vec<usize> = not_text.map(|(column, _)| column).collect();
        let rows = 0..chunk.rows() as u32;
        let rows: Vec<u32> = rows
            .filter(|row| has_missing(&columns, chunk, *row as usize))
            .collect();
        remarks.impossible = joint.impossible_rows(&chunk.take(&rows))?.len() as u64;
        Ok(remarks)
    }

    fn merge(&mut self, other: Remarks) {
        self.impossible += other.impossible;
        self.constants.merge(other.constants);
    }

    fn report(&self, joint: &dyn Joint, context: &Context) {
        if self.impossible > 0 {
            context.warn(&format!(
                "{} with missing values: impossible under the model, and filled as if they were \
                 empty",
                counted(self.impossible, "row")
            ));
        }
        self.constants.report(joint, context);
    }
}

/// How one copy is filled.
struct Filling<'a> {
    /// The fitted model, under which rows may be impossible.
    model: &'a Model,
    /// The model that fills the rows, which may have other parameters.
    joint: &'a dyn Joint,
    how: Fill,
    seed: u64,
    copy: u64,
}

/// Filled rows; several chunks are filled ahead in parallel.
struct Completed<'a> {
    scan: Box<dyn Iterator<Item = abduce::Result<Chunk>> + Send + 'a>,
    filling: &'a Filling<'a>,
    ready: VecDeque<Chunk>,
    taken: usize,
    row: usize,
    remarks: Remarks,
}

impl<'a> Completed<'a> {
    fn new(source: &'a dyn Source, filling: &'a Filling<'a>) -> Outcome<Completed<'a>> {
        Ok(Completed {
            scan: source.scan()?,
            filling,
            ready: VecDeque::new(),
            taken: 0,
            row: 0,
            remarks: Remarks::default(),
        })
    }

    /// Fills the next batch of chunks in parallel.
    fn read_ahead(&mut self) -> Outcome {
        let batch = 2 * rayon::current_num_threads();
        let chunks = (self.scan.by_ref().take(batch)).collect::<abduce::Result<Vec<_>>>()?;
        let (first, filling) = (self.taken, self.filling);
        self.taken += chunks.len();
        let filled: Vec<abduce::Result<(Chunk, Remarks)>> = chunks
            .par_iter()
            .enumerate()
            .map(|(number, chunk)| {
                let mut rng = chunk_rng(filling.seed, filling.copy, first + number);
                let filled = filling.joint.complete(chunk, filling.how, &mut rng)?;
                let remarks = match filling.copy {
                    1 => Remarks::of(filling.model, chunk)?,
                    _ => Remarks::default(),
                };
                Ok((filled, remarks))
            })
            .collect();
        for filled in filled {
            let (filled, remarks) = filled?;
            self.ready.push_back(filled);
            self.remarks.merge(remarks);
        }
        Ok(())
    }

    /// The chunk and the row in it of the next row of the table.
    fn next(&mut self) -> Outcome<(&Chunk, usize)> {
        if self.ready.front().is_some_and(|c| self.row == c.rows()) {
            self.ready.pop_front();
            self.row = 0;
        }
        if self.ready.is_empty() {
            self.read_ahead()?;
        }
        let row = self.row;
        self.row += 1;
        match self.ready.front() {
            Some(chunk) => Ok((chunk, row)),
            None => Err(Failure::work("the data changed while they were read")),
        }
    }
}

/// Writes the filled table.
struct Table {
    json: bool,
    numbered: bool,
    /// Whether the header has been written; it is written before the first row.
    has_heading: bool,
    rows: u64,
}

impl Table {
    fn new(json: bool, numbered: bool) -> Table {
        Table {
            json,
            numbered,
            has_heading: false,
            rows: 0,
        }
    }

    fn write(
        &mut self,
        opened: &Opened,
        filling: &Filling,
        context: &Context,
        output: &mut Output,
    ) -> Outcome<Remarks> {
        let raw = opened.raw_rows()?;
        let schema = opened.source.schema();
        let places = places(&raw, opened, schema);
        let header = raw.header().to_vec();
        let mut completed = Completed::new(&*opened.source, filling)?;
        for batch in raw {
            let batch = batch?;
            for row in 0..batch.rows() {
                let (chunk, place) = completed.next()?;
                let line = (0..header.len())
                    .map(|column| {
                        let filled = places[column].and_then(|position| {
                            let x = cells::value(chunk.column(position), place)?;
                            Some(cells::filled(&schema.fields[position], x))
                        });
                        fill_cell(&batch, row, column, filled)
                    })
                    .collect::<Vec<String>>();
                if !self.has_heading {
                    note_columns_without_text(&batch, &header, context);
                    self.write_heading(&header, output)?;
                }
                self.write_row(&header, &places, schema, &line, filling.copy, output)?;
            }
        }
        Ok(completed.remarks)
    }

    fn write_heading(&mut self, header: &[String], output: &mut Output) -> Outcome {
        self.has_heading = true;
        if self.json {
            output.write_all(b"{\"rows\":[")?;
            return Ok(());
        }
        let first = self.numbered.then_some("copy");
        let names = header.iter().map(String::as_str);
        output.line(first.into_iter().chain(names))
    }

    fn write_row(
        &mut self,
        header: &[String],
        places: &[Option<usize>],
        schema: &Schema,
        line: &[String],
        copy: u64,
        output: &mut Output,
    ) -> Outcome {
        let number = copy.to_string();
        if !self.json {
            let first = self.numbered.then_some(number.as_str());
            let cells = line.iter().map(String::as_str);
            return output.line(first.into_iter().chain(cells));
        }
        output.write_all(if self.rows == 0 { b"{" } else { b",{" })?;
        self.rows += 1;
        if self.numbered {
            write!(output, "\"copy\":{copy},")?;
        }
        for (column, (name, cell)) in header.iter().zip(line).enumerate() {
            output.write_all(if column == 0 { b"" } else { b"," })?;
            serde_json::to_writer(&mut *output, name)?;
            output.write_all(b":")?;
            let numeric = places[column].is_some_and(|p| !schema.fields[p].kind.is_coded());
            match cell.trim().parse::<f64>().ok().filter(|x| x.is_finite()) {
                _ if cell.is_empty() => output.write_all(b"null")?,
                Some(x) if numeric => serde_json::to_writer(&mut *output, &x)?,
                _ => serde_json::to_writer(&mut *output, cell)?,
            }
        }
        output.write_all(b"}")?;
        Ok(())
    }

    fn finish(&self, output: &mut Output) -> Outcome {
        if self.json {
            output.write_all(b"]}\n")?;
        }
        Ok(())
    }
}

/// Notes the columns whose cells cannot be written as text.
fn note_columns_without_text(batch: &RawBatch, header: &[String], context: &Context) {
    let columns = header.iter().enumerate();
    for (_, name) in columns.filter(|(column, _)| !batch.has_text(*column)) {
        context.note(&format!(
            "column {name} cannot be written as text; its cells are left empty"
        ));
    }
}

fn fill_cell(batch: &RawBatch, row: usize, column: usize, filled: Option<String>) -> String {
    let raw = batch.cell(row, column);
    if raw.missing {
        filled.unwrap_or_default()
    } else {
        raw.text.into_owned()
    }
}

/// The position of each column of the files in the model.
fn places(raw: &RawRows, opened: &Opened, schema: &Schema) -> Vec<Option<usize>> {
    let place = |name: &String| {
        let left_out = opened.left_out.contains(name);
        let mut fields = schema.fields.iter();
        fields.position(|field| field.name == *name && !left_out)
    };
    raw.header().iter().map(place).collect()
}
