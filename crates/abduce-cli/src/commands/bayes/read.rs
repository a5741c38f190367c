//! Reads hypotheses, priors, likelihoods and observations from the command line and from files.

use crate::arguments::values::split_list;
use crate::context::Context;
use crate::io::failure::{Failure, Outcome};
use crate::render::text_table::readable;
use abduce::Error;
use abduce::concept::{Event, Hypotheses};
use abduce::data::{RawBatch, RawRows, ReadOptions, raw_rows};

/// Priors whose sum differs from 1 by at most this are normalized with a note; more is an error.
const MAX_ROUNDING: f64 = 0.01;

/// One observation, and its place in a file.
pub struct Observation {
    pub event: Event,
    pub times: f64,
    file: Option<(String, u64)>,
}

impl Observation {
    /// Adds the place of the observation to an error about it.
    pub fn locate(&self, error: Error) -> Error {
        match &self.file {
            Some((file, line)) => error.at_file(file).at_line(*line),
            None => error,
        }
    }
}

/// Hypotheses from `--prior` and `--likelihood`.
pub fn hypotheses_from_options(
    priors: &[String],
    likelihoods: &[String],
    normalize: bool,
    context: &Context,
) -> Outcome<Hypotheses> {
    let parts: Vec<String> = priors.iter().flat_map(|text| split_list(text)).collect();
    if parts.is_empty() {
        return Err(Error::parameter("there are no hypotheses")
            .with_hint("name them, as in --prior cancer=.008,healthy=.992, or pass a --table")
            .into());
    }
    let given: Vec<Option<(&str, &str)>> = parts.iter().map(|p| p.rsplit_once('=')).collect();
    let mut named = Vec::new();
    let without_priors = given.iter().all(Option::is_none);
    for (part, given) in parts.iter().zip(given) {
        named.push(match given {
            Some((name, p)) => (name.trim().to_string(), parse_option(p, "--prior")?),
            None if without_priors => (part.clone(), 1.0 / parts.len() as f64),
            None => {
                return Err(Failure::usage(format!(
                    "--prior: \"{part}\" has no probability; write {part}=P"
                )));
            }
        });
    }
    let mut hypotheses = with_normalized_priors(named, normalize, context)
        .map_err(|error| Failure::usage(format!("--prior: {error}")))?;
    for text in likelihoods {
        let parts = split_list(text);
        let (name, first) = parts[0].rsplit_once('=').ok_or_else(|| {
            Failure::usage(format!(
                "--likelihood: \"{text}\" does not name an outcome; write positive=.98,.03"
            ))
        })?;
        let numbers = [first]
            .into_iter()
            .chain(parts[1..].iter().map(String::as_str));
        let numbers = numbers
            .map(|p| parse_option(p, "--likelihood"))
            .collect::<Outcome<Vec<f64>>>()?;
        hypotheses = hypotheses
            .with_outcome(name.trim(), &numbers)
            .map_err(|error| Failure::usage(format!("--likelihood: {error}")))?;
    }
    Ok(hypotheses)
}

/// Hypotheses from a table with a column `hypothesis`, optionally a column `prior`, and one for
/// each outcome.
pub fn hypotheses_from_table(
    path: &str,
    normalize: bool,
    context: &Context,
) -> Outcome<Hypotheses> {
    let rows = rows(path)?;
    let header = rows.header().to_vec();
    let find = |name: &str| header.iter().position(|column| column == name);
    let name_column = find("hypothesis").ok_or_else(|| {
        Error::data("there is no column \"hypothesis\"")
            .at_file(path)
            .with_hint(format!("the columns are {}", header.join(", ")))
    })?;
    let prior_column = find("prior");
    let outcomes: Vec<usize> = (0..header.len())
        .filter(|column| *column != name_column && Some(*column) != prior_column)
        .collect();
    let mut named: Vec<(String, f64)> = Vec::new();
    let mut likelihoods = vec![Vec::new(); outcomes.len()];
    each_row(path, rows, |batch, row| {
        let place = |column: usize, error: Error| {
            let error = error.at_file(path).at_line(batch.line(row));
            error.at_column(&header[column])
        };
        let number = |column: usize| {
            let text = batch.cell(row, column).text;
            probability(&text).map_err(|message| place(column, Error::data(message)))
        };
        let name = batch.cell(row, name_column);
        if name.missing {
            return Err(place(name_column, Error::data("a hypothesis has no name")));
        }
        named.push((
            name.text.trim().to_string(),
            prior_column.map_or(Ok(1.0), number)?,
        ));
        for (likelihoods, column) in likelihoods.iter_mut().zip(&outcomes) {
            let p = number(*column)?;
            if p > 1.0 {
                let error = Error::data(format!("{p} is not a probability"));
                return Err(place(*column, error.with_hint("it is more than 1")));
            }
            likelihoods.push(p);
        }
        Ok(())
    })?;
    if named.is_empty() {
        return Err(Error::data("there are no rows").at_file(path).into());
    }
    let normalize = normalize || prior_column.is_none();
    let mut hypotheses =
        with_normalized_priors(named, normalize, context).map_err(|error| error.at_file(path))?;
    for (column, likelihoods) in outcomes.iter().zip(&likelihoods) {
        hypotheses = hypotheses
            .with_outcome(&header[*column], likelihoods)
            .map_err(|error| error.at_file(path))?;
    }
    Ok(hypotheses)
}

fn with_normalized_priors(
    named: Vec<(String, f64)>,
    normalize: bool,
    context: &Context,
) -> abduce::Result<Hypotheses> {
    let hint = "pass --normalize to divide them by their sum";
    if let Some((name, p)) = named.iter().find(|(_, p)| !normalize && *p > 1.0) {
        let message = format!("the prior {p} of \"{name}\" is more than 1");
        return Err(Error::parameter(message).with_hint(hint));
    }
    let (names, priors): (Vec<String>, Vec<f64>) = named.into_iter().unzip();
    let sum: f64 = priors.iter().sum();
    let off = (sum - 1.0).abs();
    if normalize || (1e-9..=MAX_ROUNDING).contains(&off) {
        let hypotheses = Hypotheses::weighted(names, &priors)?;
        if !normalize {
            context.note(&format!(
                "the priors sum to {} and are divided by it",
                readable(sum)
            ));
        }
        return Ok(hypotheses);
    }
    Hypotheses::new(names, &priors).map_err(|error| {
        if off > MAX_ROUNDING && sum > 0.0 {
            error.with_hint(hint)
        } else {
            error
        }
    })
}

/// Observations from `--observe`.
pub fn given_observations(given: &[String], hypotheses: &Hypotheses) -> Outcome<Vec<Observation>> {
    let parts = given.iter().flat_map(|text| split_list(text));
    parts
        .map(|part| {
            let (event, times) = event_and_times(&part, hypotheses)
                .map_err(|error| Failure::usage(format!("--observe: {error}")))?;
            Ok(Observation {
                event,
                times,
                file: None,
            })
        })
        .collect()
}

/// Parses `outcome` or `outcome=times`.
fn event_and_times(text: &str, hypotheses: &Hypotheses) -> abduce::Result<(Event, f64)> {
    let whole = hypotheses.event(text);
    let (Err(_), Some((outcome, count))) = (&whole, text.rsplit_once('=')) else {
        return Ok((whole?, 1.0));
    };
    Ok((hypotheses.event(outcome)?, times(count)?))
}

fn times(text: &str) -> abduce::Result<f64> {
    let number = text.trim().parse::<f64>().ok();
    let number = number.filter(|n| n.is_finite() && *n >= 0.0);
    number.ok_or_else(|| {
        Error::data(format!("\"{text}\" is not a number of times"))
            .with_hint("write a number, 0 or more")
    })
}

/// Observations from a file: one per line, or a table with a column `outcome` and optionally a
/// column `times`.
pub fn observations(path: &str, hypotheses: &Hypotheses) -> Outcome<Vec<Observation>> {
    let rows = rows(path)?;
    let header = rows.header().to_vec();
    let find = |name: &str| header.iter().position(|column| column == name);
    let (outcome_column, times_column) = (find("outcome"), find("times"));
    let mut found = Vec::new();
    let mut add = |text: &str, count: Option<&str>, line: u64| {
        let event = match count {
            Some(count) => hypotheses
                .event(text)
                .and_then(|event| Ok((event, times(count)?))),
            None => hypotheses.event(text).map(|event| (event, 1.0)),
        };
        let (event, times) = event.map_err(|error| error.at_file(path).at_line(line))?;
        found.push(Observation {
            event,
            times,
            file: Some((path.to_string(), line)),
        });
        Ok(())
    };
    if outcome_column.is_none() {
        let [first] = header.as_slice() else {
            return Err(Error::data("there is no column \"outcome\"")
                .at_file(path)
                .with_hint(format!("the columns are {}", header.join(", ")))
                .into());
        };
        add(first, None, 1)?;
    }
    each_row(path, rows, |batch, row| {
        let outcome = batch.cell(row, outcome_column.unwrap_or(0));
        let line = batch.line(row);
        if outcome.missing {
            return Err(Error::data("the outcome is missing")
                .at_file(path)
                .at_line(line));
        }
        let count = times_column.map(|column| batch.cell(row, column).text);
        add(&outcome.text, count.as_deref(), line)
    })?;
    Ok(found)
}

/// The rows of a file; only empty cells are missing values.
fn rows(path: &str) -> Outcome<RawRows> {
    let options = ReadOptions {
        missing: Vec::new(),
        ..ReadOptions::default()
    };
    Ok(raw_rows(&[path.to_string()], &options)?)
}

fn each_row(
    path: &str,
    rows: RawRows,
    mut visit: impl FnMut(&RawBatch, usize) -> abduce::Result<()>,
) -> Outcome {
    for batch in rows {
        let batch = batch.map_err(|error| error.at_file(path))?;
        (0..batch.rows()).try_for_each(|row| visit(&batch, row))?;
    }
    Ok(())
}

/// Parses a probability in the value of an option.
fn parse_option(text: &str, option: &str) -> Outcome<f64> {
    probability(text).map_err(|message| Failure::usage(format!("{option}: {message}")))
}

/// Parses `.25`, `1/4` or `25%`.
fn probability(text: &str) -> Result<f64, String> {
    let plain = |text: &str| text.trim().parse::<f64>().ok();
    let trimmed = text.trim();
    let number = match (trimmed.split_once('/'), trimmed.strip_suffix('%')) {
        (Some((over, under)), _) => plain(over).zip(plain(under)).map(|(a, b)| a / b),
        (None, Some(percent)) => plain(percent).map(|p| p / 100.0),
        (None, None) => plain(trimmed),
    };
    match number.filter(|p| p.is_finite()) {
        Some(p) if p >= 0.0 => Ok(p),
        Some(_) => Err(format!("\"{trimmed}\" is negative and not a probability")),
        None => Err(format!(
            "\"{trimmed}\" is not a probability; write .25, 1/4 or 25%"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_numbers_fractions_or_percents() {
        for (text, p) in [
            (".25", 0.25),
            (" 1/4", 0.25),
            ("25 %", 0.25),
            ("1e-3", 1e-3),
        ] {
            assert_eq!(probability(text), Ok(p), "{text}");
        }
        for text in ["", "x", "-.1", "1/0", "nan", "inf", "1/2/3", "%"] {
            assert!(probability(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_outcome_may_contain_an_equals_sign() {
        let one = Hypotheses::new(["a"], &[1.0]).unwrap();
        let one = one.with_outcome("x=2", &[0.5]).unwrap();
        assert_eq!(event_and_times("x=2", &one).unwrap().1, 1.0);
        assert_eq!(event_and_times("x=2=3", &one).unwrap().1, 3.0);
        assert_eq!(event_and_times("not x=2 = 0.5", &one).unwrap().1, 0.5);
        assert!(event_and_times("x=2=-1", &one).is_err());
    }
}
