//! The costs of wrong predictions. `spam>ham=5` is the cost of predicting ham where spam is
//! true; a table has a row for each true class and a column for each predicted one.

use crate::arguments::values::split_list;
use crate::io::failure::{Failure, Outcome};
use abduce::Error;
use abduce::ask::find_class;
use abduce::data::{ReadOptions, raw_rows};
use abduce::eval::Costs;
use std::collections::HashSet;
use std::path::Path;

/// Costs from a list such as `spam>ham=5`, or from a table file. Other wrong predictions cost 1,
/// correct ones 0.
pub fn read(text: &str, classes: &[String]) -> Outcome<Costs> {
    if text.trim().is_empty() {
        return Err(Failure::usage(
            "--costs is empty; write TRUE>PREDICTED=COST, or name a table",
        ));
    }
    if text.contains(['=', '>']) && !Path::new(text).exists() {
        return parse_list(text, classes);
    }
    Ok(read_table(text, classes)?)
}

fn parse_list(text: &str, classes: &[String]) -> Outcome<Costs> {
    let mut costs = Costs::zero_one(classes.len());
    let mut seen = HashSet::new();
    for part in split_list(text) {
        let invalid = || {
            Failure::usage(format!(
                "--costs: \"{part}\" is not a cost; write TRUE>PREDICTED=COST, or name a table"
            ))
        };
        let (pair, cost) = part.rsplit_once('=').ok_or_else(invalid)?;
        let amount = cost.trim().parse::<f64>();
        let Some((truth, predicted)) = split_pair(pair, classes) else {
            return Err(match amount {
                Ok(_) => Failure::usage(format!(
                    "--costs: \"{part}\" names no predicted class; write \
                     {pair}>PREDICTED={cost} for the cost where {pair} is true"
                )),
                Err(_) => invalid(),
            });
        };
        let amount = amount.map_err(|_| invalid())?;
        let code = (class_code(truth, classes)?, class_code(predicted, classes)?);
        if !seen.insert(code) {
            return Err(Failure::usage(format!(
                "--costs: {truth}>{predicted} is given twice"
            )));
        }
        let set = costs.set(code.0, code.1, amount);
        set.map_err(|error| Failure::usage(format!("--costs: {error}")))?;
    }
    Ok(costs)
}

/// Splits `true>predicted`; the name of a class may contain a `>` itself.
fn split_pair<'a>(pair: &'a str, classes: &[String]) -> Option<(&'a str, &'a str)> {
    let positions = pair.match_indices('>').map(|(at, _)| at);
    let mut splits = positions.map(|at| (pair[..at].trim(), pair[at + 1..].trim()));
    let is_known = |name: &str| find_class(name, classes).is_ok();
    let first = splits.clone().next();
    splits
        .find(|(truth, predicted)| is_known(truth) && is_known(predicted))
        .or(first)
}

fn class_code(name: &str, classes: &[String]) -> abduce::Result<usize> {
    find_class(name, classes).map_err(|error| Error::parameter(format!("--costs: {error}")))
}

fn read_table(path: &str, classes: &[String]) -> abduce::Result<Costs> {
    let mut costs = Costs::zero_one(classes.len());
    // A class may be named NA.
    let options = ReadOptions {
        missing: Vec::new(),
        ..ReadOptions::default()
    };
    let rows = raw_rows(&[path.to_string()], &options)?;
    let header = rows.header().to_vec();
    let place = |error: Error| error.at_file(path);
    if header.len() < 2 {
        return Err(place(Error::data(
            "a table of costs has a column of true classes, then one for each predicted class",
        )));
    }
    let predicted = header[1..]
        .iter()
        .map(|name| class_code(name.trim(), classes));
    let predicted: Vec<usize> = predicted.collect::<abduce::Result<_>>().map_err(place)?;
    let mut seen = HashSet::new();
    for batch in rows {
        let batch = batch?;
        for row in 0..batch.rows() {
            let at_line = |error: Error| place(error).at_line(batch.line(row));
            let name = batch.cell(row, 0).text;
            let truth = class_code(name.trim(), classes).map_err(at_line)?;
            if !seen.insert(truth) {
                let message = format!("the true class \"{}\" has two rows", name.trim());
                return Err(at_line(Error::data(message)));
            }
            for (column, predicted) in (1..).zip(&predicted) {
                let text = batch.cell(row, column).text;
                let cost = text.trim().parse::<f64>().ok();
                let cost = cost.filter(|cost| cost.is_finite());
                let cost = cost.ok_or_else(|| {
                    let error = Error::data(format!("\"{text}\" is not a cost"));
                    at_line(error).at_column(&header[column])
                })?;
                costs.set(truth, *predicted, cost).map_err(at_line)?;
            }
        }
    }
    Ok(costs)
}
