//! Runs one benchmark case and prints the time and the results as one line of JSON.
//! `bench/README.md` describes the files that are read.

mod classes;
mod densities;
mod kmeans;
mod mixtures;
mod texts;

use abduce::data::{Column, Field, Kind};
use serde::Deserialize;
use std::error::Error;
use std::path::Path;

#[derive(Deserialize)]
struct Meta {
    n: usize,
    d: usize,
    k: usize,
    #[serde(default)]
    iterations: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str, default: usize| {
        let position = arguments.iter().position(|a| a == name);
        position
            .and_then(|i| arguments.get(i + 1))
            .and_then(|n| n.parse().ok())
            .unwrap_or(default)
    };
    let [kind, folder, ..] = arguments.as_slice() else {
        return Err(
            "usage: abduce-bench KIND FOLDER [--repeat N] [--threads N] [--algorithm NAME]; bench/README.md names the kinds".into(),
        );
    };
    let named = arguments.iter().position(|a| a == "--algorithm");
    let algorithm = named.and_then(|i| arguments.get(i + 1));
    let algorithm = algorithm.map_or(Ok(Default::default()), |name| name.parse())?;
    rayon::ThreadPoolBuilder::new()
        .num_threads(option("--threads", 2))
        .build_global()?;
    let folder = Path::new(folder);
    let meta: Meta = serde_json::from_slice(&std::fs::read(folder.join("meta.json"))?)?;
    for _ in 0..option("--repeat", 1) {
        let answer = match kind.as_str() {
            "mixture" => mixtures::full(folder, &meta)?,
            "mixture-missing" => mixtures::missing(folder, &meta)?,
            "mixture-diagonal" => mixtures::diagonal(folder, &meta)?,
            "mixture-cold" => mixtures::cold(folder, &meta)?,
            "naive-bayes" => classes::gaussian(folder, &meta)?.fitted()?,
            "naive-bayes-predict" => classes::gaussian(folder, &meta)?.predicted()?,
            "categorical" => classes::categorical(folder, &meta)?.fitted()?,
            "categorical-predict" => classes::categorical(folder, &meta)?.predicted()?,
            "multinomial" => classes::multinomial(folder, &meta)?.fitted()?,
            "multinomial-predict" => classes::multinomial(folder, &meta)?.predicted()?,
            "texts" => texts::counted(folder)?,
            "kmeans" => kmeans::clusters(folder, &meta, algorithm, false)?,
            "kmeans-converged" => kmeans::clusters(folder, &meta, algorithm, true)?,
            "kernel-density" => densities::at_queries(folder, &meta)?,
            "kernel-grid" => densities::on_grid(folder, &meta)?,
            _ => return Err(format!("unknown kind {kind}").into()),
        };
        println!("{answer}");
    }
    Ok(())
}

/// Resident memory in MB: current (`VmRSS`) or peak (`VmHWM`); Linux only.
fn resident(what: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(what))?;
    line.split_whitespace()
        .nth(1)?
        .parse::<f64>()
        .ok()
        .map(|kb| kb / 1e3)
}

/// Runs `work` and measures its peak memory in addition to the memory in use before.
fn with_extra_memory<T>(work: impl FnOnce() -> T) -> (T, Option<f64>) {
    // Writing 5 resets the peak to the current resident memory.
    let reset = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let before = resident("VmRSS");
    let result = work();
    let extra = before
        .zip(resident("VmHWM"))
        .map(|(before, peak)| peak - before);
    (result, extra.filter(|_| reset))
}

fn columns(folder: &Path, meta: &Meta) -> Result<Vec<Column>, Box<dyn Error>> {
    let bytes = std::fs::read(folder.join("x.f64"))?;
    let cell = |row: usize, column: usize| {
        let start = 8 * (row * meta.d + column);
        f64::from_le_bytes(std::array::from_fn(|i| bytes[start + i]))
    };
    Ok((0..meta.d)
        .map(|c| Column::Real {
            values: (0..meta.n).map(|r| cell(r, c)).collect(),
            nulls: None,
        })
        .collect())
}

fn fields(d: usize) -> Vec<Field> {
    (0..d)
        .map(|c| Field::new(format!("x{c}"), Kind::Real))
        .collect()
}
