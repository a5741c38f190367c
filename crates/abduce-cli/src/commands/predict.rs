//! `predict`: the most probable class or cluster of every row.

use crate::arguments::costs;
use crate::arguments::{DataArguments, files_read};
use crate::context::Context;
use crate::io::cells;
use crate::io::failure::Outcome;
use crate::io::output::{Output, check_not_an_input};
use crate::io::row_counts::{RowCounts, visit_answers};
use crate::render::text_table::counted;
use abduce::Error;
use abduce::ask::{Classifier, Posterior, posterior_of};
use abduce::data::{Chunk, Source};
use abduce::eval::Costs;
use abduce::model::kmeans::FittedKMeans;
use abduce::store::Model;
use clap::Args;
use std::cell::Cell;
use std::io::{self, BufWriter, Seek, Write};
use std::path::PathBuf;
use tempfile::SpooledTempFile;

/// Predict the class or cluster of every row
///
/// Writes one line per row, in order, also for rows with missing values. Labels in the data are
/// ignored. Clusters are numbered from 1. A row whose missing values the model cannot handle (knn)
/// gets an empty line, or null with --json; kmeans assigns a row without any value to the largest
/// cluster, with probability 1.
#[derive(Args)]
#[command(after_help = "Examples:
  abduce predict penguins.abduce new.csv --proba -o predictions.csv
  abduce predict penguins.abduce new.csv --abstain-below 0.9
  abduce predict penguins.abduce new.csv --target island
  abduce predict spam.abduce new.csv --costs \"ham>spam=10,spam>ham=1\"")]
pub struct Arguments {
    /// A model written by `abduce fit`
    #[arg(value_name = "FILE")]
    model: PathBuf,
    #[command(flatten)]
    data: DataArguments,
    /// Predict this column of levels from all others [default: the classes or clusters of the
    /// model]
    #[arg(long, value_name = "COL")]
    target: Option<String>,
    /// Also write the probability of every class or cluster
    #[arg(long)]
    proba: bool,
    /// Make no prediction if the most probable class or cluster is less probable than this
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = probability)]
    abstain_below: Option<f64>,
    /// Predict the class of least expected cost instead of the most probable one: "ham>spam=5" is
    /// the cost of predicting spam where ham is true; or a table with a row for each true class
    /// and a column for each predicted one [default: 1 for every wrong prediction]
    #[arg(long, value_name = "COSTS")]
    costs: Option<String>,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What is predicted: the classes or clusters of the model, or the levels of a column.
struct Target<'a> {
    model: &'a Model,
    names: Vec<String>,
    classify: Classifier<'a>,
}

impl<'a> Target<'a> {
    fn of(model: &'a Model, column: Option<&str>) -> Outcome<Target<'a>> {
        let column = column
            .map(|name| model.schema().position(name))
            .transpose()?;
        let other = column.filter(|column| model.target() != Some(*column));
        let Some(column) = other else {
            return Target::of_model(model);
        };
        let field = &model.schema().fields[column];
        if field.levels.is_empty() {
            let message = format!("--target: a {} column has no levels", field.kind.name());
            return Err(Error::parameter(message).at_column(&field.name).into());
        }
        let joint = model.joint()?;
        joint.check_density()?;
        Ok(Target {
            model,
            names: field.levels.clone(),
            classify: Box::new(move |chunk| posterior_of(joint, column, chunk)),
        })
    }

    fn of_model(model: &'a Model) -> Outcome<Target<'a>> {
        if !model.predictor().has_groups() {
            let error = Error::parameter(format!("this {} has no classes to predict", model.model))
                .with_hint(
                    "fit it with --target COL, or use abduce score for the densities of rows",
                );
            return Err(error.into());
        }
        Ok(Target {
            model,
            names: model.names(),
            classify: model.classifier()?,
        })
    }
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let model = Model::load(&self.model)?;
        let target = Target::of(&model, self.target.as_deref())?;
        let names = target.names.clone();
        let costs = self.costs.as_deref();
        let decision = Decision {
            costs: costs.map(|text| costs::read(text, &names)).transpose()?,
            abstain_below: self.abstain_below.unwrap_or(0.0),
            abstained: Cell::new(0),
            names,
        };
        let mut output = Output::table(self.output.as_deref(), context)?;
        let opened = self.data.open_for(model.predictor(), context)?;
        check_not_an_input(self.output.as_deref(), files_read(&opened, &self.model))?;
        if context.json {
            self.write_json(&target, &decision, &*opened.source, context, &mut output)?;
        } else {
            self.write_csv(&target, &decision, &*opened.source, context, &mut output)?;
        }
        decision.note_abstained(opened.source.rows(), context);
        output.finish()
    }

    fn write_csv(
        &self,
        target: &Target,
        decision: &Decision,
        source: &dyn Source,
        context: &Context,
        output: &mut Output,
    ) -> Outcome {
        let names = &decision.names;
        let mut header = vec!["prediction".to_string()];
        if self.proba {
            header.extend(names.iter().map(|name| format!("P({name})")));
        }
        output.line(header.iter().map(String::as_str))?;
        let findings = visit_rows(target, source, |answer| {
            let mut line = vec![String::new(); header.len()];
            if let Some((posterior, row)) = answer {
                line[0] = decision
                    .prediction(posterior, row)
                    .unwrap_or_default()
                    .to_string();
                let cells = line[1..].iter_mut().zip(posterior.row(row));
                cells.for_each(|(cell, p)| *cell = cells::number(*p));
            }
            output.line(line.iter().map(String::as_str))
        })?;
        findings.report(target, context);
        Ok(())
    }

    /// Writes the predictions immediately. The probabilities come after them in the document, so
    /// they are collected in one temporary file per class.
    fn write_json(
        &self,
        target: &Target,
        decision: &Decision,
        source: &dyn Source,
        context: &Context,
        output: &mut Output,
    ) -> Outcome {
        let names = &decision.names;
        let list = |_: &String| BufWriter::new(SpooledTempFile::new(1 << 20));
        let asked = if self.proba { &names[..] } else { &[] };
        let mut lists: Vec<BufWriter<SpooledTempFile>> = asked.iter().map(list).collect();
        let mut first = true;
        output.write_all(b"{\"predictions\":[")?;
        let findings = visit_rows(target, source, |answer| {
            let comma: &[u8] = if first { b"" } else { b"," };
            output.write_all(comma)?;
            let prediction =
                answer.and_then(|(posterior, row)| decision.prediction(posterior, row));
            serde_json::to_writer(&mut *output, &prediction)?;
            for (class, list) in lists.iter_mut().enumerate() {
                list.write_all(comma)?;
                let p = answer.map(|(posterior, row)| posterior.row(row)[class]);
                serde_json::to_writer(&mut *list, &p)?;
            }
            first = false;
            Ok(())
        })?;
        findings.report(target, context);
        output.write_all(b"]")?;
        if self.proba {
            output.write_all(b",\"probabilities\":{")?;
            for (number, (name, mut list)) in names.iter().zip(lists).enumerate() {
                output.write_all(if number == 0 { b"" } else { b"," })?;
                serde_json::to_writer(&mut *output, name)?;
                output.write_all(b":[")?;
                list.rewind()?;
                io::copy(list.get_mut(), output)?;
                output.write_all(b"]")?;
            }
            output.write_all(b"}")?;
        }
        output.write_all(b"}\n")?;
        Ok(())
    }
}

/// How a row is predicted from its probabilities.
struct Decision {
    names: Vec<String>,
    costs: Option<Costs>,
    abstain_below: f64,
    abstained: Cell<u64>,
}

impl Decision {
    /// The predicted class or cluster, unless it is too improbable.
    fn prediction(&self, posterior: &Posterior, row: usize) -> Option<&str> {
        let p = posterior.row(row);
        let best = posterior.best(row);
        if p[best] < self.abstain_below {
            self.abstained.set(self.abstained.get() + 1);
            return None;
        }
        let predicted = self.costs.as_ref().map_or(best, |costs| costs.best(p));
        Some(&self.names[predicted])
    }

    fn note_abstained(&self, rows: u64, context: &Context) {
        let abstained = self.abstained.get();
        if abstained > 0 {
            context.note(&format!(
                "no prediction for {abstained} of {}: no class or cluster has probability {} or more",
                counted(rows, "row"),
                self.abstain_below
            ));
        }
    }
}

fn probability(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(p) if (0.0..=1.0).contains(&p) => Ok(p),
        _ => Err("must be a probability, from 0 to 1".into()),
    }
}

/// Calls `visit` for every row, with the posterior and the position in it if there is an answer.
fn visit_rows(
    target: &Target,
    source: &dyn Source,
    mut visit: impl FnMut(Option<(&Posterior, usize)>) -> Outcome,
) -> Outcome<Findings> {
    let clusters = target.model.body.get::<FittedKMeans>();
    let (mut impossible, mut first_impossible, mut without_numbers) = (0, 0, 0);
    let model = target.model.predictor();
    let counts = visit_answers(
        model,
        source,
        &target.classify,
        |chunk, answer, first_row| {
            without_numbers += clusters.map_or(0, |clusters| rows_without_numbers(clusters, chunk));
            let posterior = &answer.of;
            if let (0, Some(position)) = (impossible, posterior.impossible().first()) {
                first_impossible = first_row + answer.row(*position) as u64;
            }
            impossible += posterior.impossible().len();
            for row in 0..chunk.rows() {
                visit(answer.position(row).map(|position| (posterior, position)))?;
            }
            Ok(())
        },
    )?;
    Ok(Findings {
        counts,
        impossible,
        first_impossible,
        without_numbers,
    })
}

/// What is reported about the rows after the predictions.
struct Findings {
    counts: RowCounts,
    impossible: usize,
    first_impossible: u64,
    without_numbers: u64,
}

impl Findings {
    fn report(&self, target: &Target, context: &Context) {
        self.counts
            .report(target.model.predictor(), context, "left empty");
        if self.without_numbers > 0 {
            context.warn(&format!(
                "{} without a number in any column of the model, assigned to the largest cluster",
                counted(self.without_numbers, "row")
            ));
        }
        let first = self.first_impossible;
        match self.impossible {
            0 => {}
            1 => context.note(&format!(
                "row {first} is impossible under the model; its probabilities are the class weights"
            )),
            rows => context.note(&format!(
                "{rows} rows are impossible under the model (first: row {first}); \
                 their probabilities are the class weights"
            )),
        }
    }
}

/// The number of rows of a chunk without a value in any column of the clusters.
fn rows_without_numbers(clusters: &FittedKMeans, chunk: &Chunk) -> u64 {
    let columns = clusters.frame.columns.iter();
    let cells: Vec<_> = columns
        .map(|column| chunk.column(*column).cells(0, chunk.rows()))
        .collect();
    let is_empty = |row: &usize| cells.iter().all(|column| !column.is_seen(*row));
    (0..chunk.rows()).filter(is_empty).count() as u64
}
