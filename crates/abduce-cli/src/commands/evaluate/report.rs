//! The report of an evaluation: each metric over all rows, its mean over the folds and its standard
//! deviation; tables for people, one document for programs.

use crate::context::Context;
use crate::io::failure::Outcome;
use crate::io::output::{Output, write_json};
use crate::render::text_table::{TextTable, counted, readable};
use abduce::data::Folds;
use abduce::eval::{CALIBRATION_BINS, CalibrationMethod, Contingency, HeldOut, Metrics};
use serde_json::{Map, Value, json};
use std::io::Write;

/// The confusion matrix of more classes than this is not printed.
const MAX_CLASSES: usize = 20;

const LOG_LOSS: &str = "log-loss";

/// The table shows this metric only if it differs from the log-loss.
const CLIPPED_LOG_LOSS: &str = "clipped log-loss";

/// What was evaluated, and how.
pub struct Report<'a> {
    pub model: &'a str,
    pub rows: u64,
    /// The number of rows that were evaluated.
    pub evaluated: u64,
    /// The folds of a cross-validation; none for a saved model.
    pub folds: Option<&'a Folds>,
    pub seed: u64,
    pub calibration: Option<CalibrationMethod>,
    pub warnings: Vec<String>,
    pub seconds: f64,
}

impl Report<'_> {
    /// How to avoid rows of probability 0.
    fn remedy(&self) -> &'static str {
        match self.model {
            "histogram" => "; --smoothing 1 keeps empty bins possible",
            "kde" => "; --kernel gaussian gives every row a positive density",
            _ => "",
        }
    }

    /// A metric of each fold; empty for a saved model.
    fn per_fold<T>(&self, folds: &[T], of: impl Fn(&T) -> f64) -> Vec<f64> {
        let folds = folds.iter().filter(|_| self.folds.is_some());
        folds.map(of).collect()
    }

    fn write_head(&self, what: &str, context: &Context, output: &mut Output) -> Outcome {
        let heading = format!("{}{what}", self.model);
        let calibrated = match self.calibration {
            Some(method) => format!(", calibrated by {}", method.name()),
            None => String::new(),
        };
        let rows = counted(self.evaluated, "row");
        let held_out = match self.folds {
            Some(folds) => format!(
                "{rows} held out in {}",
                counted(folds.number() as u64, "fold")
            ),
            None => format!("{rows} of a test table"),
        };
        context.write_heading(output, &heading, &format!(": {held_out}{calibrated}"))
    }

    fn document(&self, more: Value) -> Value {
        let mut document = json!({
            "model": self.model,
            "rows": self.rows,
            "held_out": self.evaluated,
            "folds": self.folds.map(Folds::number),
            "seed": self.seed,
            "calibration": self.calibration.map(CalibrationMethod::name),
        });
        if let (Some(document), Value::Object(more)) = (document.as_object_mut(), more) {
            document.extend(more);
            document.insert("warnings".into(), json!(self.warnings));
            document.insert("seconds".into(), json!(self.seconds));
        }
        document
    }
}

/// One metric: over all rows, and of each fold.
struct Metric {
    name: &'static str,
    all: Option<f64>,
    folds: Vec<f64>,
}

impl Metric {
    fn mean(&self) -> f64 {
        self.folds.iter().sum::<f64>() / self.folds.len() as f64
    }

    /// The standard deviation of the folds, which are a sample.
    fn deviation(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.folds.iter().map(|x| (x - mean).powi(2)).sum();
        (squares / (self.folds.len() as f64 - 1.0)).sqrt()
    }

    /// The metric over all rows, its mean over the folds and its standard deviation, as text.
    fn cells(&self) -> [String; 3] {
        let cell = |x: f64| {
            if x.is_nan() {
                String::new()
            } else {
                readable(x)
            }
        };
        [
            self.all.map_or(String::new(), cell),
            cell(self.mean()),
            cell(self.deviation()),
        ]
    }

    fn document(&self) -> (String, Value) {
        let mut document = Map::new();
        if let Some(all) = self.all {
            document.insert("all".into(), json!(all));
        }
        if !self.folds.is_empty() {
            document.insert("mean".into(), json!(self.mean()));
            document.insert("sd".into(), json!(self.deviation()));
            document.insert("folds".into(), json!(self.folds));
        }
        (
            self.name.replace([' ', '-'], "_").to_lowercase(),
            document.into(),
        )
    }
}

fn write_figures<'a>(
    metrics: impl IntoIterator<Item = &'a Metric>,
    output: &mut Output,
) -> Outcome {
    let metrics: Vec<&Metric> = metrics.into_iter().collect();
    let folds = metrics.iter().any(|metric| !metric.folds.is_empty());
    let columns = if folds { 4 } else { 2 };
    let header = ["", "all rows", "mean of folds", "sd of folds"];
    let mut table = TextTable::new(header.into_iter().take(columns));
    for metric in metrics {
        let cells = [metric.name.to_string()].into_iter().chain(metric.cells());
        table.row(cells.take(columns));
    }
    Ok(write!(output, "{}", table.text(2))?)
}

/// The quality of predictions of a target.
pub struct Predictions<'a> {
    report: &'a Report<'a>,
    target: &'a str,
    names: &'a [String],
    all: Metrics,
    metrics: Vec<Metric>,
}

impl<'a> Predictions<'a> {
    pub fn new(
        report: &'a Report<'a>,
        target: &'a str,
        names: &'a [String],
        folds: Vec<Metrics>,
    ) -> Predictions<'a> {
        let mut all = Metrics::new(names.len());
        folds.iter().for_each(|fold| all.merge(fold));
        let metric = |name: &'static str, of: fn(&Metrics) -> f64| Metric {
            name,
            all: Some(of(&all)),
            folds: report.per_fold(&folds, of),
        };
        let metrics = vec![
            metric("accuracy", Metrics::accuracy),
            metric(LOG_LOSS, Metrics::log_loss),
            metric(CLIPPED_LOG_LOSS, Metrics::clipped_log_loss),
            metric("Brier", Metrics::brier),
            metric("calibration error", Metrics::calibration_error),
            metric("balanced accuracy", Metrics::balanced_accuracy),
            metric("macro F1", Metrics::macro_f1),
            metric("weighted F1", Metrics::weighted_f1),
        ];
        Predictions {
            report,
            target,
            names,
            all,
            metrics,
        }
    }

    pub fn write(&self, context: &Context, output: &mut Output) -> Outcome {
        if context.json {
            return write_json(output, &self.report.document(self.document()));
        }
        let of = format!(" of {}", self.target);
        self.report.write_head(&of, context, output)?;
        let of = |name: &str| self.metrics.iter().find(|metric| metric.name == name);
        let clipping_matters =
            of(LOG_LOSS).map(Metric::cells) != of(CLIPPED_LOG_LOSS).map(Metric::cells);
        let shown = |metric: &&Metric| clipping_matters || metric.name != CLIPPED_LOG_LOSS;
        write_figures(self.metrics.iter().filter(shown), output)?;
        if self.all.impossible() > 0.0 {
            writeln!(
                output,
                "  the log-loss is infinite: rows of weight {} belong to a class that was given \
                 probability 0{}",
                readable(self.all.impossible()),
                self.report.remedy()
            )?;
        }
        let heading = context.heading(output, "classes");
        writeln!(output, "\n{heading}")?;
        let mut table = TextTable::new([self.target, "precision", "recall", "F1", "rows"]);
        for (class, name) in self.names.iter().enumerate() {
            let class = self.all.class(class);
            let metrics = [class.precision, class.recall, class.f1, class.support];
            table.row([name.clone()].into_iter().chain(metrics.map(readable)));
        }
        write!(output, "{}", table.text(2))?;
        self.write_confusion(context, output)?;
        self.write_reliability(context, output)
    }

    fn write_confusion(&self, context: &Context, output: &mut Output) -> Outcome {
        let heading = context.heading(output, "confusion");
        if self.names.len() > MAX_CLASSES {
            let classes = self.names.len();
            writeln!(output, "\n{heading}: {classes} classes, see --json")?;
            return Ok(());
        }
        writeln!(output, "\n{heading}: true classes in rows")?;
        let names = self.names.iter().map(String::as_str);
        let mut table = TextTable::new([self.target].into_iter().chain(names));
        for (class, name) in self.names.iter().enumerate() {
            let weights = (0..self.names.len()).map(|k| readable(self.all.confusion(class, k)));
            table.row([name.clone()].into_iter().chain(weights));
        }
        Ok(write!(output, "{}", table.text(2))?)
    }

    fn write_reliability(&self, context: &Context, output: &mut Output) -> Outcome {
        writeln!(output)?;
        context.write_heading(output, "reliability", ": right predictions by probability")?;
        let mut table = TextTable::new(["top probability", "rows", "mean", "right"]);
        for (number, bin) in self.all.reliability().iter().enumerate() {
            if bin.weight > 0.0 {
                let edge = |number: usize| number as f64 / CALIBRATION_BINS as f64;
                let (from, to) = (edge(number), edge(number + 1));
                table.row([
                    format!("{from:.3} to {to:.3}"),
                    readable(bin.weight),
                    format!("{:.4}", bin.confidence()),
                    format!("{:.4}", bin.accuracy()),
                ]);
            }
        }
        Ok(write!(output, "{}", table.text(2))?)
    }

    fn document(&self) -> Value {
        let classes = 0..self.names.len();
        let confusion = |class: usize| -> Vec<f64> {
            let predicted = classes.clone();
            predicted.map(|k| self.all.confusion(class, k)).collect()
        };
        let class = |(class, name): (usize, &String)| {
            let metrics = self.all.class(class);
            let document = json!({
                "precision": metrics.precision,
                "recall": metrics.recall,
                "f1": metrics.f1,
                "support": metrics.support,
            });
            (name.clone(), document)
        };
        let bin = |(number, bin): (usize, &abduce::eval::Bin)| {
            let edge = |number: usize| number as f64 / CALIBRATION_BINS as f64;
            json!({
                "from": edge(number),
                "to": edge(number + 1),
                "weight": bin.weight,
                "confidence": bin.confidence(),
                "accuracy": bin.accuracy(),
            })
        };
        let mut document = Map::new();
        document.insert("target".into(), json!(self.target));
        document.insert("weight".into(), json!(self.all.weight()));
        document.extend(self.metrics.iter().map(Metric::document));
        document.insert("impossible".into(), json!(self.all.impossible()));
        if let Some(brier) = self.all.brier_of_two() {
            document.insert("brier_score_loss".into(), json!(brier));
        }
        let weights = classes.clone().map(confusion).collect::<Vec<_>>();
        let confusion = json!({ "labels": self.names, "weights": weights });
        document.insert("confusion".into(), confusion);
        let classes: Map<String, Value> = self.names.iter().enumerate().map(class).collect();
        document.insert("classes".into(), classes.into());
        let bins = self.all.reliability().iter().enumerate();
        document.insert("reliability".into(), bins.map(bin).collect());
        document.into()
    }
}

/// The log-likelihood of held-out rows, and the agreement of clusters with true groups.
pub struct Clusters<'a> {
    report: &'a Report<'a>,
    truth: Option<&'a str>,
    all: HeldOut,
    metrics: Vec<Metric>,
}

impl<'a> Clusters<'a> {
    pub fn new(
        report: &'a Report<'a>,
        truth: Option<&'a str>,
        folds: Vec<HeldOut>,
    ) -> Clusters<'a> {
        let mut all = HeldOut::default();
        folds.iter().for_each(|fold| all.merge(fold));
        let mut metrics = vec![Metric {
            name: "log-likelihood",
            all: Some(all.mean_log_likelihood()),
            folds: report.per_fold(&folds, HeldOut::mean_log_likelihood),
        }];
        if truth.is_some() {
            let tables = folds.iter().filter_map(|fold| fold.contingency.clone());
            let tables: Vec<Contingency> = tables.collect();
            let metric = |name: &'static str, of: fn(&Contingency) -> f64| Metric {
                name,
                // The clusters of different folds are numbered independently.
                all: tables.first().filter(|_| report.folds.is_none()).map(of),
                folds: report.per_fold(&tables, of),
            };
            metrics.push(metric("adjusted Rand", Contingency::adjusted_rand_index));
            metrics.push(metric(
                "mutual information",
                Contingency::normalized_mutual_information,
            ));
        }
        Clusters {
            report,
            truth,
            all,
            metrics,
        }
    }

    pub fn write(&self, context: &Context, output: &mut Output) -> Outcome {
        if context.json {
            let mut document = Map::new();
            document.insert("truth".into(), json!(self.truth));
            document.insert("weight".into(), json!(self.all.weight));
            document.extend(self.metrics.iter().map(Metric::document));
            document.insert("impossible".into(), json!(self.all.impossible));
            return write_json(output, &self.report.document(document.into()));
        }
        let against = self.truth.map(|truth| format!(" against {truth}"));
        let against = against.unwrap_or_default();
        self.report.write_head(&against, context, output)?;
        write_figures(&self.metrics, output)?;
        writeln!(output, "  the log-likelihood is the mean per row")?;
        if self.all.impossible > 0.0 {
            writeln!(
                output,
                "  it is infinite: rows of weight {} are impossible under the model{}",
                readable(self.all.impossible),
                self.report.remedy()
            )?;
        }
        Ok(())
    }
}
