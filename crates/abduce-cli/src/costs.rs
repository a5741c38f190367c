//! What mistakes cost, as users say it: `spam>ham=5` is the cost of saying ham
//! where spam is true; a table has the true classes down and those said across.

use crate::arguments::split_list;
use crate::failure::{Failure, Outcome};
use abduce::Error;
use abduce::ask::find_class;
use abduce::data::{ReadOptions, raw_rows};
use abduce::eval::Costs;
use std::collections::HashSet;
use std::path::Path;

/// Costs from a text or from the file it names; what is not said costs 1, and 0
/// where it is right.
pub fn read(text: &str, classes: &[String]) -> Outcome<Costs> {
    if text.trim().is_empty() {
        return Err(Failure::usage(
            "--costs is empty; write TRUE>SAID=COST, or name a table",
        ));
    }
    if text.contains(['=', '>']) && !Path::new(text).exists() {
        return said(text, classes);
    }
    Ok(table(text, classes)?)
}

fn said(text: &str, classes: &[String]) -> Outcome<Costs> {
    let mut costs = Costs::zero_one(classes.len());
    let mut twice = HashSet::new();
    for part in split_list(text) {
        let wrong = || {
            Failure::usage(format!(
                "--costs: \"{part}\" is not a cost; write TRUE>SAID=COST, or name a table"
            ))
        };
        let (pair, cost) = part.rsplit_once('=').ok_or_else(wrong)?;
        let amount = cost.trim().parse::<f64>();
        let Some((truth, said)) = cut(pair, classes) else {
            return Err(match amount {
                Ok(_) => Failure::usage(format!(
                    "--costs: \"{part}\" does not say which mistake costs {cost}; write \
                     {pair}>SAID={cost} for what is said where {pair} is true"
                )),
                Err(_) => wrong(),
            });
        };
        let amount = amount.map_err(|_| wrong())?;
        let code = (named(truth, classes)?, named(said, classes)?);
        if !twice.insert(code) {
            return Err(Failure::usage(format!(
                "--costs: {truth}>{said} is given twice"
            )));
        }
        let set = costs.set(code.0, code.1, amount);
        set.map_err(|error| Failure::usage(format!("--costs: {error}")))?;
    }
    Ok(costs)
}

/// Cuts `true>said`; a name may hold a `>` itself.
fn cut<'a>(pair: &'a str, classes: &[String]) -> Option<(&'a str, &'a str)> {
    let cuts = pair.match_indices('>').map(|(at, _)| at);
    let cut = |at: usize| (pair[..at].trim(), pair[at + 1..].trim());
    let known = |name: &str| find_class(name, classes).is_ok();
    let mut cuts = cuts.map(cut);
    let first = cuts.clone().next();
    cuts.find(|(truth, said)| known(truth) && known(said))
        .or(first)
}

fn named(name: &str, classes: &[String]) -> abduce::Result<usize> {
    find_class(name, classes).map_err(|error| Error::parameter(format!("--costs: {error}")))
}

fn table(path: &str, classes: &[String]) -> abduce::Result<Costs> {
    let mut costs = Costs::zero_one(classes.len());
    // A class may be called NA.
    let options = ReadOptions {
        missing: Vec::new(),
        ..ReadOptions::default()
    };
    let rows = raw_rows(&[path.to_string()], &options)?;
    let header = rows.header().to_vec();
    let place = |error: Error| error.at_file(path);
    if header.len() < 2 {
        return Err(place(Error::data(
            "a table of costs has a column of true classes, then one for each class said",
        )));
    }
    let said = header[1..].iter().map(|name| named(name.trim(), classes));
    let said: Vec<usize> = said.collect::<abduce::Result<_>>().map_err(place)?;
    let mut twice = HashSet::new();
    for batch in rows {
        let batch = batch?;
        for row in 0..batch.rows() {
            let at_line = |error: Error| place(error).at_line(batch.line(row));
            let name = batch.cell(row, 0).text;
            let truth = named(name.trim(), classes).map_err(at_line)?;
            if !twice.insert(truth) {
                let message = format!("the true class \"{}\" has two rows", name.trim());
                return Err(at_line(Error::data(message)));
            }
            for (column, said) in (1..).zip(&said) {
                let text = batch.cell(row, column).text;
                let cost = text.trim().parse::<f64>().ok();
                let cost = cost.filter(|cost| cost.is_finite());
                let cost = cost.ok_or_else(|| {
                    let error = Error::data(format!("\"{text}\" is not a cost"));
                    at_line(error).at_column(&header[column])
                })?;
                costs.set(truth, *said, cost).map_err(at_line)?;
            }
        }
    }
    Ok(costs)
}
