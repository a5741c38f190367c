//! What mistakes cost, as users say it: `spam>ham=5` is the cost of saying ham
//! where spam is true; a table has the true classes down and those said across.

use crate::arguments::split_list;
use crate::failure::{Failure, Outcome};
use abduce::Error;
use abduce::data::{Field, Kind, ReadOptions, raw_rows};
use abduce::eval::Costs;

/// Costs from a text or from the file it names; what is not said costs 1, and 0
/// where it is right.
pub fn read(text: &str, names: &[String]) -> Outcome<Costs> {
    let classes = Field::with_levels("class", Kind::Categorical, names.iter().cloned());
    let is_text = text.contains('>') && text.contains('=');
    if is_text && !std::path::Path::new(text).is_file() {
        return said(text, &classes);
    }
    Ok(table(text, &classes)?)
}

fn said(text: &str, classes: &Field) -> Outcome<Costs> {
    let mut costs = Costs::zero_one(classes.levels.len());
    for part in split_list(text) {
        let wrong = || {
            Failure::usage(format!(
                "--costs: \"{part}\" is not a cost; write TRUE>SAID=COST, or name a table"
            ))
        };
        let (pair, cost) = part.rsplit_once('=').ok_or_else(wrong)?;
        let (truth, said) = cut(pair, classes).ok_or_else(wrong)?;
        let cost: f64 = cost.trim().parse().map_err(|_| wrong())?;
        let code = |name: &str| named(name, classes);
        let set = costs.set(code(truth)?, code(said)?, cost);
        set.map_err(|error| Failure::usage(format!("--costs: {error}")))?;
    }
    Ok(costs)
}

/// Cuts `true>said`; a name may hold a `>` itself.
fn cut<'a>(pair: &'a str, classes: &Field) -> Option<(&'a str, &'a str)> {
    let cuts = pair.match_indices('>').map(|(at, _)| at);
    let cut = |at: usize| (pair[..at].trim(), pair[at + 1..].trim());
    let known = |name: &str| classes.code(name).is_some();
    let mut cuts = cuts.map(cut);
    let first = cuts.clone().next();
    cuts.find(|(truth, said)| known(truth) && known(said))
        .or(first)
}

fn named(name: &str, classes: &Field) -> abduce::Result<usize> {
    let code = classes.find_code(name);
    let code = code.map_err(|error| Error::parameter(format!("--costs: {error}")))?;
    Ok(code as usize)
}

fn table(path: &str, classes: &Field) -> abduce::Result<Costs> {
    let mut costs = Costs::zero_one(classes.levels.len());
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
    for batch in rows {
        let batch = batch?;
        for row in 0..batch.rows() {
            let at_line = |error: Error| place(error).at_line(batch.line(row));
            let truth = named(batch.cell(row, 0).text.trim(), classes).map_err(at_line)?;
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
