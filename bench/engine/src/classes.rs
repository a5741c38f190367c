//! Naive Bayes on numbers, categories and words: fits, and predictions of the training rows.

use crate::{Meta, columns, fields, with_extra_memory};
use abduce::Control;
use abduce::ask::Predict;
use abduce::data::{Column, Field, Kind, Schema, Table, Terms, reduce};
use abduce::family::Distribution;
use abduce::model::mixture::{Fit, FitOptions, Specification, fit};
use abduce::text::{Analyzer, Encoder, Encoding, Limits};
use serde_json::{Value, json};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

type Answer<T> = Result<T, Box<dyn Error>>;

/// A labelled table and the specification to fit to it.
pub struct Case {
    table: Table,
    specification: Specification,
}

impl Case {
    fn new(
        mut fields: Vec<Field>,
        mut columns: Vec<Column>,
        folder: &Path,
        meta: &Meta,
    ) -> Answer<Case> {
        columns.push(Column::Code {
            values: read_integers(folder, "labels.u32")?.into(),
            nulls: None,
        });
        let levels = (0..meta.k).map(|j| j.to_string());
        fields.push(Field::with_levels("label", Kind::Categorical, levels));
        Ok(Case {
            table: Table::new(Schema::new(fields), columns, None)?,
            specification: Specification {
                variance_floor: 0.0,
                ..Specification::naive_bayes("label")
            },
        })
    }

    fn fit(&self) -> abduce::Result<Fit> {
        let options = FitOptions::default();
        fit(
            &self.specification,
            &self.table,
            &options,
            Control::default(),
        )
    }

    /// The time of a fit.
    pub fn fitted(&self) -> Answer<Value> {
        let clock = Instant::now();
        let (fit, extra) = with_extra_memory(|| self.fit());
        let (fit, seconds) = (fit?, clock.elapsed().as_secs_f64());
        let leaves = fit.mixture.parameters.leaves.iter().flatten();
        let means = leaves.filter_map(|d| match d {
            Distribution::Gaussian(g) => Some(g.mean),
            _ => None,
        });
        Ok(json!({
            "seconds": seconds,
            "log_likelihood": fit.log_likelihood,
            "means_checksum": means.sum::<f64>(),
            "extra_mb": extra,
        }))
    }

    /// The time to predict the class of each row.
    pub fn predicted(&self) -> Answer<Value> {
        let model = self.fit()?.mixture;
        let clock = Instant::now();
        let (classes, extra) = with_extra_memory(|| {
            let classify = model.classifier()?;
            reduce(
                &self.table,
                |_, chunk| {
                    let posterior = classify(chunk)?;
                    let best = |row: usize| posterior.best(row) as u32;
                    Ok((0..chunk.rows()).map(best).collect::<Vec<u32>>())
                },
                |all: &mut Vec<u32>, more| all.extend(more),
            )
        });
        let seconds = clock.elapsed().as_secs_f64();
        let classes = classes?.unwrap_or_default();
        let rows = classes.iter().enumerate();
        let sum: u64 = rows
            .map(|(row, class)| (row as u64 % 1009) * u64::from(*class))
            .sum();
        Ok(json!({ "seconds": seconds, "log_likelihood": sum, "extra_mb": extra }))
    }
}

pub fn gaussian(folder: &Path, meta: &Meta) -> Answer<Case> {
    Case::new(fields(meta.d), columns(folder, meta)?, folder, meta)
}

pub fn categorical(folder: &Path, meta: &Meta) -> Answer<Case> {
    const LEVELS: usize = 8;
    let codes = read_integers(folder, "codes.u32")?;
    let column = |c: usize| Column::Code {
        values: codes.iter().skip(c).step_by(meta.d).copied().collect(),
        nulls: None,
    };
    let field = |c: usize| {
        let levels = (0..LEVELS).map(|level| level.to_string());
        Field::with_levels(format!("x{c}"), Kind::Categorical, levels)
    };
    let columns = (0..meta.d).map(column).collect();
    Case::new((0..meta.d).map(field).collect(), columns, folder, meta)
}

pub fn multinomial(folder: &Path, meta: &Meta) -> Answer<Case> {
    let (starts, codes) = (
        read_integers(folder, "starts.u32")?,
        read_integers(folder, "codes.u32")?,
    );
    let counts = std::fs::read(folder.join("counts.f64"))?;
    let counts: Vec<f64> = counts
        .as_chunks()
        .0
        .iter()
        .map(|bytes| f64::from_le_bytes(*bytes))
        .collect();
    let rows = starts.windows(2).map(|ends| {
        let range = ends[0] as usize..ends[1] as usize;
        let counts = counts[range.clone()].iter().copied();
        codes[range].iter().copied().zip(counts).collect()
    });
    let column = Column::Text {
        values: Terms::from_rows(rows),
        nulls: None,
    };
    // Names that sort in the order of their codes.
    let width = codes.iter().max().map_or(0, |largest| largest + 1);
    let terms = (0..width).map(|term| format!("{term:08}")).collect();
    let encoder = Encoder {
        analyzer: Analyzer::default(),
        encoding: Encoding::Vocabulary(terms),
        limits: Limits::default(),
    };
    Case::new(
        vec![Field::with_text("words", encoder)],
        vec![column],
        folder,
        meta,
    )
}

fn read_integers(folder: &Path, name: &str) -> Answer<Vec<u32>> {
    let bytes = std::fs::read(folder.join(name))?;
    let numbers = bytes.as_chunks().0.iter();
    Ok(numbers.map(|bytes| u32::from_le_bytes(*bytes)).collect())
}
