//! Evaluation of a saved model on a test table.

use super::report::{Clusters, Predictions, Report};
use crate::arguments::{DataArguments, files_read};
use crate::commands::fit::models;
use crate::context::Context;
use crate::io::failure::{Failure, Outcome};
use crate::io::output::{Output, check_not_an_input};
use crate::io::row_counts::visit_answers;
use crate::render::text_table::counted;
use abduce::Error;
use abduce::ask::{Answer, Joint, Posterior};
use abduce::data::{Chunk, Kind, Source};
use abduce::eval::{Classifier, Contingency, HeldOut, Metrics};
use abduce::store::Model;
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What is done with rows without an answer.
const NOT_EVALUATED: &str = "not evaluated";

#[derive(Args)]
pub struct SavedArguments {
    /// A model written by `abduce fit`
    #[arg(value_name = "FILE", required = true)]
    model: Option<PathBuf>,
    #[command(flatten)]
    data: DataArguments,
    /// For a model without labels: a column of true groups to compare its clusters with
    #[arg(long, value_name = "COL")]
    truth: Option<String>,
    /// The column of labels, which must be the target of the model
    #[arg(long, value_name = "COL")]
    target: Option<String>,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl SavedArguments {
    /// The model file, if one is named.
    pub fn file(&self) -> Option<&Path> {
        self.model.as_deref()
    }

    /// Evaluates the model of a file on the rows of the data.
    pub fn run(&self, file: &Path, context: &Context) -> Outcome {
        let start = Instant::now();
        check_name(file)?;
        let model = Model::load(file)?;
        self.check_options(&model)?;
        let opened = self.data.open_for(model.predictor(), context)?;
        check_not_an_input(self.output.as_deref(), files_read(&opened, file))?;
        let mut output = Output::text(self.output.as_deref(), context)?;
        let name = model.model.clone();
        let mut report = Report {
            model: &name,
            rows: opened.source.rows(),
            evaluated: 0,
            folds: None,
            seed: context.seed,
            calibration: model
                .calibration
                .as_ref()
                .map(|calibration| calibration.method),
            warnings: Vec::new(),
            seconds: 0.0,
        };
        if let Some(target) = model.target() {
            let field = model.schema().fields[target].clone();
            let (metrics, skipped) = metrics(model, &*opened.source, target, context)?;
            if skipped > 0 {
                let rows = counted(skipped, "row");
                context.note(&format!(
                    "{rows} without a label, or with a label unknown to the model, were skipped"
                ));
            }
            if metrics.rows() == 0 {
                return Err(Error::data("no row has a label that the model knows")
                    .at_column(&field.name)
                    .into());
            }
            report.evaluated = metrics.rows();
            report.seconds = start.elapsed().as_secs_f64();
            let predictions = Predictions::new(&report, &field.name, &field.levels, vec![metrics]);
            predictions.write(context, &mut output)?;
        } else {
            let found = self.likelihood(&model, &*opened.source, context)?;
            report.evaluated = found.rows;
            report.seconds = start.elapsed().as_secs_f64();
            let clusters = Clusters::new(&report, self.truth.as_deref(), vec![found]);
            clusters.write(context, &mut output)?;
        }
        output.finish()
    }

    /// Rejects a column of labels or groups that does not apply to the model.
    fn check_options(&self, model: &Model) -> Outcome {
        let target = model.target();
        let target = target.map(|target| &model.schema().fields[target].name);
        if let Some(given) = &self.target
            && target != Some(given)
        {
            return Err(Failure::usage(match target {
                Some(target) => format!("--target: the target of the model is {target}"),
                None => "--target: the model has no target; use --truth to compare its \
                         clusters with a column"
                    .to_string(),
            }));
        }
        if self.truth.is_none() {
            return Ok(());
        }
        let is_stream = |path: &String| {
            let found = std::fs::metadata(path);
            path == "-" || found.is_ok_and(|found| !found.is_file() && !found.is_dir())
        };
        if self.data.data.iter().any(is_stream) {
            return Err(Failure::usage(
                "--truth reads the data twice and needs a regular file, not standard input or a \
                 pipe",
            ));
        }
        match target {
            Some(target) => Err(Failure::usage(format!(
                "--truth does not apply: the true groups are the labels in {target}"
            ))),
            None if !model.predictor().has_groups() => Err(Failure::usage(format!(
                "--truth: {} finds no clusters",
                model.model
            ))),
            None => Ok(()),
        }
    }

    /// The log-likelihood of the rows and, with --truth, the agreement of clusters and groups.
    fn likelihood(
        &self,
        model: &Model,
        source: &dyn Source,
        context: &Context,
    ) -> Outcome<HeldOut> {
        let joint = model.joint()?;
        let mut found = HeldOut::default();
        let mut clusters = Vec::new();
        let ask = |rows: &Chunk| {
            let posterior = self.truth.as_ref().map(|_| joint.posterior(rows));
            Ok((HeldOut::of_chunk(joint, rows)?, posterior.transpose()?))
        };
        let counts = visit_answers(joint, source, ask, |chunk, answer, _| {
            found.merge(&answer.of.0);
            if let Some(posterior) = &answer.of.1 {
                clusters.extend(clusters_of(chunk, answer, posterior));
            }
            Ok(())
        })?;
        counts.report(joint, context, NOT_EVALUATED);
        if let Some(truth) = &self.truth {
            found.contingency = Some(self.contingency(truth, &clusters, joint, context)?);
        }
        Ok(found)
    }

    /// The counts of rows by cluster and group, a column of the same files.
    fn contingency(
        &self,
        truth: &String,
        clusters: &[(Option<usize>, f64)],
        joint: &dyn Joint,
        context: &Context,
    ) -> Outcome<Contingency> {
        let columns = std::slice::from_ref(truth);
        let opened = self
            .data
            .open_columns(columns, Some(Kind::Categorical), context)?;
        let source = &*opened.source;
        let groups = source.schema().fields[source.schema().position(truth)?]
            .levels
            .len();
        let mut contingency = Contingency::new(groups, joint.names().len());
        let mut clusters = clusters.iter();
        for chunk in source.scan()? {
            let chunk = chunk?;
            let cells = chunk.column(0).cells(0, chunk.rows());
            for (row, (cluster, weight)) in (0..chunk.rows()).zip(clusters.by_ref()) {
                if let (Some(cluster), true) = (cluster, cells.is_seen(row)) {
                    contingency.observe(cells.codes()[row] as usize, *cluster, *weight);
                }
            }
        }
        Ok(contingency)
    }
}

/// Rejects a name that is neither a file nor looks like one.
fn check_name(path: &Path) -> Outcome {
    let looks_like_a_file = path.extension().is_some() || path.components().count() > 1;
    if looks_like_a_file || path.exists() {
        return Ok(());
    }
    let message = models::unknown_model_message(&path.display().to_string());
    Err(Failure::usage(format!("{message}, or name a model file")))
}

/// The most probable cluster of each row, if the model has an answer, and the weight of the row.
fn clusters_of<T>(
    chunk: &Chunk,
    answer: &Answer<T>,
    posterior: &Posterior,
) -> Vec<(Option<usize>, f64)> {
    let weight = |row: usize| chunk.weights().map_or(1.0, |weights| weights[row]);
    let cluster = |row: usize| answer.position(row).map(|place| posterior.best(place));
    (0..chunk.rows())
        .map(|row| (cluster(row), weight(row)))
        .collect()
}

/// The metrics of the model's predictions of labelled rows, and the number of rows that are skipped
/// because their label is missing or unknown to the model.
fn metrics(
    model: Model,
    source: &dyn Source,
    target: usize,
    context: &Context,
) -> Outcome<(Metrics, u64)> {
    let classifier = Classifier {
        calibration: model.calibration,
        model: model.body,
    };
    let model = classifier.model.predictor();
    let classes = model.names().len();
    let mut metrics = Metrics::new(classes);
    let mut skipped = 0;
    let ask = |rows: &Chunk| classifier.evaluate_chunk(rows, target);
    let counts = visit_answers(model, source, ask, |chunk, answer, _| {
        metrics.merge(&answer.of);
        let labels = chunk.column(target).cells(0, chunk.rows());
        let is_known = |row: usize| labels.is_seen(row) && (labels.codes()[row] as usize) < classes;
        let rows = chunk.rows_with_weight();
        let answered = rows.filter(|row| answer.position(*row).is_some());
        skipped += answered.filter(|row| !is_known(*row)).count() as u64;
        Ok(())
    })?;
    counts.report(model, context, NOT_EVALUATED);
    Ok((metrics, skipped))
}
