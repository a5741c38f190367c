//! Counting the terms of raw texts.

use crate::with_extra_memory;
use abduce::text::{Analyzer, Limits, count};
use serde_json::{Value, json};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

pub fn counted(folder: &Path) -> Result<Value, Box<dyn Error>> {
    let text = std::fs::read_to_string(folder.join("texts.txt"))?;
    let documents: Vec<&str> = text.lines().collect();
    let clock = Instant::now();
    let (counts, extra) =
        with_extra_memory(|| count(&documents, &Analyzer::default(), &Limits::default()));
    let seconds = clock.elapsed().as_secs_f64();
    let (_, counts) = counts?;
    let rows = (0..counts.len()).map(|row| {
        let (codes, values) = counts.row(row);
        let terms = codes.iter().zip(values);
        terms
            .map(|(code, n)| u64::from(*code) * u64::from(*n))
            .sum::<u64>()
    });
    Ok(json!({ "seconds": seconds, "log_likelihood": rows.sum::<u64>(), "extra_mb": extra }))
}
