//! `plot`: an SVG picture of a model and its predictions.

use crate::arguments::values::split_lists;
use crate::arguments::{DataArguments, files_read};
use crate::context::Context;
use crate::io::failure::{Failure, Outcome};
use crate::io::output::{Output, check_not_an_input, write_json};
use crate::render::mixture::selection;
use abduce::Error;
use abduce::ask::Predict;
use abduce::data::Opened;
use abduce::model::kmeans::FittedKMeans;
use abduce::model::mixture::FittedMixture;
use abduce::plot::{self, Criteria, Frame, Gathered, Line, PlotOptions, Trace};
use abduce::store::Model;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Plot a model and its predictions for rows
///
/// Writes an SVG picture that follows the light or dark theme of the page. Two columns give one
/// panel, more columns a panel for each pair, and one column its density. Groups are the classes
/// or clusters that the model predicts from all its columns; labels in the data are ignored.
#[derive(Args)]
#[command(
    mut_arg("data", |data| data.required(false).help(
        "The rows to draw; needed for classification and uncertainty, optional for density"
    )),
    mut_arg("columns", |columns| columns.help_heading(None).help(
        "The columns to draw; predictions still use all columns [default: all columns of \
         numbers, at most 6]"
    )),
    after_help = "Examples:
  abduce plot faithful.abduce faithful.csv -o faithful.svg
  abduce plot penguins.abduce penguins.csv --what uncertainty --columns bill_length_mm,bill_depth_mm
  abduce plot faithful.abduce --what density -o density.svg"
)]
pub struct Arguments {
    /// A model written by `abduce fit`
    #[arg(value_name = "FILE")]
    model: PathBuf,
    #[command(flatten)]
    data: DataArguments,
    /// What to draw [default: classification, or density if the model has no classes]
    #[arg(long, value_name = "PLOT")]
    what: Option<What>,
    /// Columns on a logarithmic axis
    #[arg(long, value_name = "A,B")]
    log: Vec<String>,
    /// Title of the picture [default: what is drawn, and the model]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// The width in pixels [default: 640, more for many columns]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(200..=10_000))]
    width: Option<u32>,
    /// The height in pixels [default: 480, more for many columns]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(200..=10_000))]
    height: Option<u32>,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// The class or cluster of each row, with ellipses for Gaussian components
    Classification,
    /// The same, with larger symbols for more uncertain rows
    Uncertainty,
    /// Regions that contain given shares of the probability, or the curve of a single column
    Density,
    /// The criterion by which the model was chosen among several
    Criteria,
    /// The log-likelihood at each iteration of the fit (with a prior or a variance floor it may
    /// fall), or the inertia of kmeans
    Trace,
}

impl What {
    fn name(self) -> &'static str {
        match self {
            What::Classification => "Classification",
            What::Uncertainty => "Uncertainty",
            What::Density => "Density",
            What::Criteria => "Criteria",
            What::Trace => "Trace of the fit",
        }
    }

    fn needs_rows(self) -> bool {
        matches!(self, What::Classification | What::Uncertainty)
    }
}

/// Rejects file names of other formats than SVG.
fn reject_other_formats(output: Option<&Path>) -> Outcome {
    const OTHERS: [&str; 11] = [
        "png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "pdf", "ps", "eps",
    ];
    let end = output
        .and_then(Path::extension)
        .and_then(|end| end.to_str());
    match (output, end.map(str::to_ascii_lowercase)) {
        (Some(path), Some(end)) if OTHERS.contains(&end.as_str()) => Err(Failure::usage(format!(
            "-o {}: plots are written as SVG; name it .svg",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// The caption of a trace if the model has a prior.
const OBJECTIVE_NOTE: &str = "Log-likelihood plus log-prior never falls; the log-likelihood may.";

/// The panels of more columns would be too small to read.
const MAX_COLUMNS: usize = 6;
/// More points would overlap, in a large file.
const MAX_ROWS: usize = 5_000;

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        if !context.json {
            reject_other_formats(self.output.as_deref())?;
        }
        let model = Model::load(&self.model)?;
        let what = self.what(&model);
        let svg = match what {
            What::Trace => self.draw_trace(&model)?,
            What::Criteria => {
                self.reject_columns()?;
                plot::criteria(&self.frame(&model, 1, &[]), &criteria(&model)?)?
            }
            _ => self.draw_rows(what, &model, context)?,
        };
        let mut output = Output::bytes(self.output.as_deref())?;
        if context.json {
            write_json(&mut output, &json!({ "svg": svg }))?;
        } else {
            output.write_all(svg.as_bytes())?;
        }
        output.finish()
    }

    /// What to draw: what is given, or what suits the model.
    fn what(&self, model: &Model) -> What {
        let default = if model.predictor().has_groups() {
            What::Classification
        } else {
            What::Density
        };
        self.what.unwrap_or(default)
    }

    fn draw_trace(&self, model: &Model) -> Outcome<String> {
        self.reject_columns()?;
        let is_kmeans = model.body.get::<FittedKMeans>().is_some();
        let trace = Trace {
            name: if is_kmeans {
                "inertia"
            } else {
                "log-likelihood"
            },
            values: &model.fit.trace,
            iterations: model.fit.iterations,
            converged: model.fit.converged,
        };
        let mixture = model.body.get::<FittedMixture>();
        let has_prior = mixture.is_some_and(|fitted| !fitted.details.objective_trace.is_empty());
        let notes: Vec<String> = has_prior
            .then(|| OBJECTIVE_NOTE.into())
            .into_iter()
            .collect();
        Ok(plot::trace(&self.frame(model, 1, &notes), &trace)?)
    }

    fn draw_rows(&self, what: What, model: &Model, context: &Context) -> Outcome<String> {
        self.check_rows_and_groups(what, model)?;
        let columns = self.chosen_columns(model.predictor(), context)?;
        let opened = self.open(model, context)?;
        let pairs = columns.len() * columns.len().saturating_sub(1) / 2;
        let options = PlotOptions {
            logarithmic: self.logarithmic(model.predictor(), &columns)?,
            surfaces: what == What::Density,
            // Each row is drawn once per panel, so many panels get fewer rows.
            most_rows: (3 * MAX_ROWS / pairs.max(1)).min(MAX_ROWS),
            seed: context.seed,
            columns,
        };
        let source = opened.as_ref().map(|opened| &*opened.source);
        let Gathered {
            cloud,
            surfaces,
            notes,
        } = plot::gather(model, source, &options)?;
        let frame = self.frame(model, options.columns.len(), &notes);
        Ok(match what {
            What::Uncertainty => plot::uncertainty(&frame, &cloud)?,
            What::Density => plot::density(&frame, &cloud, &surfaces)?,
            _ => plot::classification(&frame, &cloud)?,
        })
    }

    fn frame(&self, model: &Model, columns: usize, notes: &[String]) -> Frame {
        let (width, height) = Frame::size_for(columns);
        let title = || format!("{} ({})", self.what(model).name(), model.model);
        Frame {
            title: self.title.clone().unwrap_or_else(title),
            caption: notes.join(" "),
            width: self.width.map_or(width, f64::from),
            height: self.height.map_or(height, f64::from),
        }
    }

    /// The data, if any, with all columns of the model: predictions also use those that are not
    /// drawn.
    fn open(&self, model: &Model, context: &Context) -> Outcome<Option<Opened>> {
        if self.data.data.is_empty() {
            return Ok(None);
        }
        let mut data = self.data.clone();
        data.columns.clear();
        let opened = data.open_for(model.predictor(), context)?;
        check_not_an_input(self.output.as_deref(), files_read(&opened, &self.model))?;
        Ok(Some(opened))
    }

    fn check_rows_and_groups(&self, what: What, model: &Model) -> Outcome {
        if !what.needs_rows() {
            return Ok(());
        }
        if !model.predictor().has_groups() {
            let error = Error::parameter(format!("this {} has no classes to draw", model.model));
            return Err(error
                .with_hint("fit it with --target COL, or draw --what density")
                .into());
        }
        if self.data.data.is_empty() {
            let what = what.name().to_lowercase();
            let error = Error::parameter(format!("a plot of {what} needs rows to draw"));
            return Err(error.with_hint("give DATA after the model").into());
        }
        Ok(())
    }

    /// The columns to draw, by their positions.
    fn chosen_columns(&self, model: &dyn Predict, context: &Context) -> Outcome<Vec<usize>> {
        let mut numbers = plot::plottable(model);
        if numbers.is_empty() {
            let error = Error::parameter("this model has no column of numbers to draw");
            return Err(error
                .with_hint("abduce show lists categories and words")
                .into());
        }
        let names = split_lists(&self.data.columns).into_iter();
        let chosen = names.map(|name| find(model, &name));
        let chosen = chosen.collect::<Outcome<Vec<usize>>>()?;
        for (place, column) in chosen.iter().enumerate() {
            if chosen[..place].contains(column) {
                let name = &model.schema().fields[*column].name;
                return Err(Failure::usage(format!("--columns: {name} is named twice")));
            }
        }
        if chosen.len() > MAX_COLUMNS {
            return Err(Failure::usage(format!(
                "--columns: at most {MAX_COLUMNS} columns can be drawn, not {}",
                chosen.len()
            )));
        }
        if !chosen.is_empty() {
            return Ok(chosen);
        }
        if numbers.len() > MAX_COLUMNS {
            let count = numbers.len();
            let constants = model.constants();
            let varies = |column: &usize| constants.iter().all(|(constant, _)| constant != column);
            // Constant columns are drawn only if there are no others.
            numbers.sort_by_key(|column| !varies(column));
            let varying = if varies(&numbers[0]) {
                " that vary"
            } else {
                ""
            };
            numbers.retain(|column| varying.is_empty() || varies(column));
            numbers.truncate(MAX_COLUMNS);
            context.note(&format!(
                "the first {} of {count} columns of numbers{varying} are drawn; choose with \
                 --columns A,B",
                numbers.len()
            ));
        }
        Ok(numbers)
    }

    fn logarithmic(&self, model: &dyn Predict, columns: &[usize]) -> Outcome<Vec<usize>> {
        let names = split_lists(&self.log).into_iter();
        names
            .map(|name| match find(model, &name)? {
                column if columns.contains(&column) => Ok(column),
                _ => Err(Failure::usage(format!("--log: {name} is not drawn"))),
            })
            .collect()
    }

    fn reject_columns(&self) -> Outcome {
        if self.data.columns.is_empty() && self.log.is_empty() {
            return Ok(());
        }
        Err(Failure::usage(
            "--columns and --log apply to plots of columns: classification, uncertainty and \
             density",
        ))
    }
}

/// The position of a column of numbers.
fn find(model: &dyn Predict, name: &str) -> Outcome<usize> {
    let column = model.schema().position(name)?;
    if plot::plottable(model).contains(&column) {
        return Ok(column);
    }
    let kind = model.schema().fields[column].kind.name();
    let error = Error::parameter(format!("a {kind} column cannot be drawn on an axis"));
    Err(error
        .at_column(name)
        .with_hint("name columns of numbers")
        .into())
}

/// The criterion of every reliable candidate of the model selection.
fn criteria(model: &Model) -> Outcome<Criteria> {
    let mixture = model.body.get::<FittedMixture>();
    if mixture.is_some_and(|fitted| fitted.details.bootstrap.is_some()) {
        let error = Error::parameter("the number of components was chosen by tests");
        return Err(error
            .with_hint("tests have no criterion to draw; abduce show lists them")
            .into());
    }
    let selection = mixture.and_then(|fitted| fitted.details.selection.as_ref());
    let selection = selection.ok_or_else(|| {
        let error = Error::parameter("the model was not chosen among several");
        error.with_hint(match mixture {
            Some(fitted) if fitted.target.is_none() => {
                "there is no criterion to draw; fit it with a choice, as in --components 1-9"
            }
            _ => "there is no criterion to draw; only a mixture fitted with a choice, as in --components 1-9, has one",
        })
    })?;
    let mut lines: Vec<Line> = Vec::new();
    for candidate in &selection.tried {
        let name = candidate.covariance.name();
        let value = candidate.value(selection.criterion);
        let value = value.filter(|_| candidate.is_eligible());
        let point = (candidate.components as f64, value);
        match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push(point),
            None => lines.push(Line {
                name: name.to_string(),
                points: vec![point],
            }),
        }
    }
    Ok(Criteria {
        name: selection::name(selection.criterion).to_string(),
        less_is_better: true,
        lines,
    })
}
