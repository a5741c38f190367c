//! `sample`: draws rows from a model, optionally given the values of some columns.

use crate::arguments::values::{split_assignment, split_lists, whole};
use crate::context::Context;
use crate::io::cells;
use crate::io::failure::{Failure, Outcome};
use crate::io::output::{Output, check_not_an_input};
use crate::io::random::chunk_rng;
use abduce::Error;
use abduce::ask::Joint;
use abduce::data::{CHUNK_ROWS, Chunk, Column, Field, Kind};
use abduce::model::mixture::FittedMixture;
use abduce::store::Model;
use clap::Args;
use rayon::prelude::*;
use std::io::Write;
use std::path::PathBuf;

/// Draw rows from a model
///
/// Columns of whole numbers are drawn as whole numbers, even if their distribution is continuous.
/// Given values are written unchanged.
#[derive(Args)]
#[command(after_help = "Example:
  abduce sample penguins.abduce -n 100 --given \"species=Gentoo,sex=female\" --seed 1")]
pub struct Arguments {
    /// A model written by `abduce fit`
    #[arg(value_name = "FILE")]
    model: PathBuf,
    /// Number of rows
    #[arg(short, long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = whole)]
    n: u64,
    /// Values to condition on, as in species=Gentoo,sex=female; component=2 is the second component
    /// of a mixture
    #[arg(long, value_name = "A=1,B=X")]
    given: Vec<String>,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let mut model = Model::load(&self.model)?;
        let mut texts = split_lists(&self.given);
        keep_component(&mut model, &mut texts)?;
        let joint = model.joint()?;
        let fields = &joint.schema().fields;
        let given = given(joint, &texts)?;
        // An impossible condition must fail before anything is written.
        joint.sample(&given, 0, &mut chunk_rng(context.seed, 0, 0))?;
        check_not_an_input(self.output.as_deref(), [self.model.clone()])?;
        let mut output = Output::table(self.output.as_deref(), context)?;
        if context.json {
            output.write_all(b"{\"rows\":[")?;
        } else {
            output.line(fields.iter().map(|field| field.name.as_str()))?;
        }
        let chunks = self.n.div_ceil(CHUNK_ROWS as u64);
        let wave = 2 * rayon::current_num_threads() as u64;
        let mut first = true;
        for start in (0..chunks).step_by(wave as usize) {
            let drawn: Vec<abduce::Result<Chunk>> = (start..chunks.min(start + wave))
                .into_par_iter()
                .map(|number| {
                    let rows = (self.n - number * CHUNK_ROWS as u64).min(CHUNK_ROWS as u64);
                    let mut rng = chunk_rng(context.seed, 0, number as usize);
                    joint.sample(&given, rows as usize, &mut rng)
                })
                .collect();
            for chunk in drawn {
                let chunk = chunk?;
                for row in 0..chunk.rows() {
                    if context.json {
                        output.write_all(if first { b"" } else { b"," })?;
                        write_object(&mut output, fields, &chunk, (row, &given))?;
                        first = false;
                    } else {
                        let line: Vec<String> = (fields.iter().zip(chunk.columns()).zip(&given))
                            .map(|((field, column), given)| cell(field, column, row, *given))
                            .collect();
                        output.line(line.iter().map(String::as_str))?;
                    }
                }
            }
        }
        if context.json {
            output.write_all(b"]}\n")?;
        }
        output.finish()
    }
}

/// A drawn cell, or the given number unchanged.
fn cell(field: &Field, column: &Column, row: usize, given: Option<f64>) -> String {
    match given {
        Some(x) if !field.kind.is_coded() => cells::number(x * field.unit),
        _ => cells::value(column, row).map_or(String::new(), |x| cells::filled(field, x)),
    }
}

fn write_object(
    output: &mut Output,
    fields: &[Field],
    chunk: &Chunk,
    (row, given): (usize, &[Option<f64>]),
) -> Outcome {
    for (number, (field, column)) in fields.iter().zip(chunk.columns()).enumerate() {
        output.write_all(if number == 0 { b"{" } else { b"," })?;
        serde_json::to_writer(&mut *output, &field.name)?;
        output.write_all(b":")?;
        let text = cell(field, column, row, given[number]);
        if field.kind.is_coded() {
            serde_json::to_writer(&mut *output, &text)?;
        } else {
            serde_json::to_writer(&mut *output, &text.parse::<f64>().ok())?;
        }
    }
    output.write_all(b"}")?;
    Ok(())
}

/// Conditions a mixture on the component that is given, as in component=2, unless a column has this
/// name, and removes it from what is given.
fn keep_component(model: &mut Model, texts: &mut Vec<String>) -> Outcome {
    const COMPONENT: &str = "component";
    let is_column = model.schema().position(COMPONENT).is_ok();
    if is_column || model.target().is_some() || model.body.get::<FittedMixture>().is_none() {
        return Ok(());
    }
    let number = |text: &String| {
        let (name, value) = text.split_once('=')?;
        (name.trim() == COMPONENT).then(|| value.trim().to_string())
    };
    let Some(place) = texts.iter().position(|text| number(text).is_some()) else {
        return Ok(());
    };
    let value = number(&texts.remove(place)).unwrap_or_default();
    let place = model.names().iter().position(|name| *name == value);
    let place = place.ok_or_else(|| {
        Failure::usage(format!(
            "--given: there is no component {value}; they are {}",
            model.names().join(", ")
        ))
    })?;
    Ok(model.keep_component(place)?)
}

/// The given value of each column of the schema; levels are codes.
fn given(joint: &dyn Joint, texts: &[String]) -> Outcome<Vec<Option<f64>>> {
    let schema = joint.schema();
    let mut given = vec![None; schema.fields.len()];
    for part in texts.iter().filter(|part| !part.is_empty()) {
        let known = |name: &str| schema.fields.iter().any(|field| field.name == name);
        let (column, value) = split_assignment(part, known)?;
        let position = schema
            .position(column)
            .map_err(|error| Failure::usage(format!("--given: {error}")))?;
        let value = parse(&schema.fields[position], value)?;
        if given[position].replace(value).is_some() {
            return Err(Failure::usage(format!("--given: {column} is given twice")));
        }
    }
    Ok(given)
}

fn parse(field: &Field, value: &str) -> Outcome<f64> {
    let invalid = |message: String, hint: String| {
        Failure::from(
            Error::parameter(format!("--given: {message}"))
                .at_column(&field.name)
                .with_hint(hint),
        )
    };
    if field.kind == Kind::Text {
        return Err(invalid(
            "text columns cannot be conditioned on".into(),
            "give columns of numbers or levels; use abduce predict for texts".into(),
        ));
    }
    if field.kind.is_coded() {
        return field.code(value).map(f64::from).ok_or_else(|| {
            invalid(
                format!("there is no level \"{value}\""),
                format!("the levels are {}", field.levels.join(", ")),
            )
        });
    }
    let number = value.parse::<f64>().ok().filter(|x| x.is_finite());
    let x = number.ok_or_else(|| {
        invalid(
            format!("\"{value}\" is not a number"),
            format!("the column is {}", field.kind.name()),
        )
    })?;
    if field.kind == Kind::Count && (x < 0.0 || x.fract() != 0.0) {
        return Err(invalid(
            format!("\"{value}\" is not a count"),
            "the column holds 0, 1, 2, …".into(),
        ));
    }
    Ok(x / field.unit)
}
