//! Densities: one line per class with its weight, its rows and its bandwidths, bins or scales.

use super::{Lines, Render, remove};
use crate::context::Context;
use crate::io::failure::Outcome;
use crate::io::output::Output;
use crate::render::text_table::{TextTable, readable, readable_within};
use abduce::density::Histogram;
use abduce::density::{BandwidthShape, Bins, Rule};
use abduce::model::density::{Density, DensityModel, Estimator, took_another_rule};
use abduce::model::{FitReport, Fitted};
use serde_json::{Map, Value, json};
use std::io::Write;

impl Render for Fitted<DensityModel> {
    fn weights(&self) -> Vec<f64> {
        self.model.weights.clone()
    }

    fn edit_figures(&self, report: &FitReport, lines: &mut Lines) {
        remove(lines, &["iterations"]);
        // Early model files do not store the log-likelihood.
        if report.log_likelihood == f64::NEG_INFINITY {
            remove(lines, &["log-likelihood"]);
        }
        // BIC and AIC exist only for maximum-likelihood estimates, which most densities are not.
        if report.bic.is_infinite() {
            remove(lines, &["BIC", "AIC"]);
            let figures = lines.iter_mut();
            let log_likelihood = figures.filter(|(name, _)| *name == "log-likelihood");
            log_likelihood.for_each(|(_, value)| value.push_str(", each row given the others"));
        }
    }

    fn main_settings(&self, report: &FitReport) -> Lines {
        let estimator = &self.recipe.density.estimator;
        vec![("tuning", tuning(estimator, &report.warnings))]
    }

    fn settings(&self, report: &FitReport) -> Lines {
        self.main_settings(report)
    }

    fn summary(&self) -> String {
        table(self)
    }

    fn write_parameters(&self, _: &Context, output: &mut Output) -> Outcome {
        Ok(write!(output, "{}{}", table(self), bins(self))?)
    }

    fn document(&self) -> Map<String, Value> {
        Map::from_iter([("densities".into(), document(self))])
    }
}

/// A line for each class.
fn table(densities: &DensityModel) -> String {
    let fields = &densities.schema.fields;
    let columns: Vec<&str> = (densities.columns.iter())
        .map(|column| fields[*column].name.as_str())
        .collect();
    let class = match densities.target {
        Some(target) => fields[target].name.as_str(),
        None => "",
    };
    let what = match densities.densities.iter().flatten().next() {
        Some(Density::Histogram(_)) => "bins of ",
        Some(Density::Kde(_)) => "width of ",
        _ => "scale of ",
    };
    let headings: Vec<String> = columns.iter().map(|name| format!("{what}{name}")).collect();
    let nearest = matches!(
        densities.densities.iter().flatten().next(),
        Some(Density::Knn(_))
    );
    let mut head = vec![class, "weight", "rows"];
    head.extend(nearest.then_some("neighbours"));
    head.extend(headings.iter().map(String::as_str));
    let mut table = TextTable::new(head);
    for ((name, weight), density) in (densities.names().into_iter())
        .zip(&densities.weights)
        .zip(&densities.densities)
    {
        let name = if densities.target.is_some() {
            name
        } else {
            "all".into()
        };
        let mut line = vec![name, format!("{weight:.6}")];
        line.extend(
            numbers(density.as_ref(), columns.len())
                .into_iter()
                .map(readable),
        );
        line.resize(headings.len() + if nearest { 4 } else { 3 }, String::new());
        table.row(line);
    }
    table.text(2)
}

/// How many bins are shown.
const MAX_BINS: usize = 40;

/// The bins of every column with the weight of each class in them; empty for other densities.
fn bins(densities: &DensityModel) -> String {
    let mut text = String::new();
    for (place, column) in densities.columns.iter().enumerate() {
        let named = densities.names().into_iter().zip(&densities.densities);
        let histograms = named.filter_map(|(name, density)| match density {
            Some(Density::Histogram(histogram)) => Some((name, histogram)),
            _ => None,
        });
        let mut histograms: Vec<(String, &Histogram)> = histograms.collect();
        if densities.target.is_none() {
            histograms
                .iter_mut()
                .for_each(|(name, _)| *name = "rows".into());
        }
        if !histograms.is_empty() {
            let name = &densities.schema.fields[*column].name;
            text += &format!("\n{name}\n{}", bins_of(&histograms, place));
        }
    }
    text
}

/// The bins of one column, with the weight of each histogram in them.
pub fn bins_of(histograms: &[(String, &Histogram)], column: usize) -> String {
    let Some((_, first)) = histograms.first() else {
        return String::new();
    };
    let edges = &first.edges[column];
    let names = histograms.iter().map(|(name, _)| name.as_str());
    let mut table = TextTable::new(["from", "to"].into_iter().chain(names));
    let width = (edges.end - edges.start) / edges.bins as f64;
    let edge = |bin: usize| {
        let is_last = bin == edges.bins;
        let start = edges.start + width * bin as f64;
        readable_within(if is_last { edges.end } else { start }, width)
    };
    for bin in 0..edges.bins.min(MAX_BINS) {
        let weight = |(_, histogram): &(String, &Histogram)| {
            let cells = histogram.cells.iter();
            let here = cells.filter(|cell| cell.bins[column] as usize == bin);
            readable(here.map(|cell| cell.weight).sum())
        };
        let ends = [edge(bin), edge(bin + 1)];
        table.row(ends.into_iter().chain(histograms.iter().map(weight)));
    }
    let mut text = table.text(2);
    if edges.bins > MAX_BINS {
        text += &format!(
            "  … and {} more, which --json lists\n",
            edges.bins - MAX_BINS
        );
    }
    text
}

/// The number of rows, the number of neighbours if there are any, and a number for each column.
fn numbers(density: Option<&Density>, columns: usize) -> Vec<f64> {
    let with_rows = |rows: f64, numbers: Vec<f64>| [vec![rows], numbers].concat();
    match density {
        None => vec![0.0],
        Some(Density::Kde(density)) => with_rows(
            density.points().weight(),
            density.bandwidth().widths(columns),
        ),
        Some(Density::Histogram(histogram)) => {
            let bins = histogram.edges.iter().map(|edges| edges.bins as f64);
            with_rows(histogram.total() - histogram.smoothing, bins.collect())
        }
        Some(Density::Knn(density)) => {
            let numbers = [&[density.neighbours() as f64], density.scales()].concat();
            with_rows(density.points().weight(), numbers)
        }
    }
}

/// The bandwidths, bins or neighbours of each class by column, for JSON.
fn document(densities: &DensityModel) -> Value {
    let fields = &densities.schema.fields;
    let by_column = |numbers: Vec<f64>| -> Value {
        let names = densities
            .columns
            .iter()
            .map(|column| fields[*column].name.clone());
        Value::Object(
            names
                .zip(numbers.into_iter().map(Value::from))
                .collect::<Map<_, _>>(),
        )
    };
    let columns = densities.columns.len();
    let classes = densities.names().into_iter().zip(&densities.densities);
    let documents = classes.map(|(name, density)| {
        let document = match density {
            None => json!({ "rows": 0 }),
            Some(Density::Kde(density)) => json!({
                "rows": density.points().len(),
                "kernel": density.kernel().name(),
                "bandwidth": by_column(density.bandwidth().widths(columns)),
            }),
            Some(Density::Histogram(histogram)) => json!({
                "cells": histogram.cells.len(),
                "bins": by_column(histogram.edges.iter().map(|e| e.bins as f64).collect()),
                "smoothing": histogram.smoothing,
            }),
            Some(Density::Knn(density)) => json!({
                "rows": density.points().len(),
                "neighbours": density.neighbours(),
                "scale": by_column(density.scales().to_vec()),
            }),
        };
        (name, document)
    });
    Value::Object(documents.collect())
}

/// Describes how bandwidths, bins or neighbours were chosen. The fit warns if a rule had no
/// solution and another one was used.
fn tuning(estimator: &Estimator, warnings: &[String]) -> String {
    let otherwise = |fallback: &str| {
        if took_another_rule(warnings) {
            format!(", by {fallback} where that has no solution")
        } else {
            String::new()
        }
    };
    match estimator {
        Estimator::Kde { kernel, selection } => {
            let rule = match selection.rule {
                Rule::Scott => "by Scott's rule".into(),
                Rule::Silverman => "by Silverman's rule".into(),
                Rule::Isj => "by the improved Sheather-Jones rule".into(),
                Rule::Cv => "by cross-validated likelihood".into(),
                Rule::Number(width) => format!("of {}", readable(width)),
            };
            let matrix = match selection.shape {
                BandwidthShape::Diagonal => "bandwidth",
                BandwidthShape::Full => "full bandwidth matrix",
            };
            let otherwise = otherwise("Scott's rule");
            format!("{} kernel, {matrix} {rule}{otherwise}", kernel.name())
        }
        Estimator::Histogram { bins, smoothing } => {
            let rule = match bins {
                Bins::Fd => "by the Freedman-Diaconis rule".into(),
                Bins::Scott => "by Scott's rule".into(),
                Bins::Sturges => "by Sturges' rule".into(),
                Bins::Knuth => "by Knuth's rule".into(),
                Bins::Number(number) => format!("{number} of each column"),
            };
            let otherwise = otherwise("the Freedman-Diaconis rule");
            format!("bins {rule}{otherwise}, smoothing {}", readable(*smoothing))
        }
        Estimator::Knn { neighbours } => match neighbours {
            Some(number) => format!("{number} neighbours"),
            None => "as many neighbours as the square root of the number of rows".into(),
        },
    }
}
