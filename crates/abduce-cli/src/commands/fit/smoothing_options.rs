//! Reads how levels and words are smoothed, where class weights come from, and
//! how much rows without a label count.

use crate::arguments::{not_negative, split_wishes};
use crate::failure::{Failure, Outcome};
use abduce::Error;
use abduce::leaf::Unseen;
use abduce::model::mixture::{ClassPrior, Event, MEstimate, Unlabelled};

/// How levels and words are smoothed.
#[derive(Clone, Copy, Debug)]
pub enum Smoothing {
    Same(f64),
    MEstimate(MEstimate),
}

pub fn smoothing(text: &str) -> Result<Smoothing, String> {
    let text = text.trim();
    let Some(m) = text.strip_prefix("m=") else {
        return match text {
            "none" => Ok(Smoothing::Same(0.0)),
            "laplace" => Ok(Smoothing::Same(1.0)),
            _ => not_negative(text).map(Smoothing::Same),
        };
    };
    let (rows, pooled) = match m.split_once(',') {
        None => (m, false),
        Some((rows, how)) if how.trim() == "pooled" => (rows, true),
        Some(_) => return Err("write m=3, or m=3,pooled".into()),
    };
    let rows = not_negative(rows.trim())?;
    Ok(Smoothing::MEstimate(MEstimate { rows, pooled }))
}

pub fn event(text: &str) -> Result<Event, String> {
    text.parse().map_err(|error: Error| error.to_string())
}

pub fn unseen(text: &str) -> Result<Unseen, String> {
    text.parse().map_err(|error: Error| error.to_string())
}

pub fn unlabelled(text: &str) -> Result<Unlabelled, String> {
    match text {
        "auto" => Ok(Unlabelled::Chosen),
        _ => match not_negative(text) {
            Ok(weight) => Ok(Unlabelled::Weight(weight)),
            Err(_) => Err("must be a number, 0 or more, or auto".into()),
        },
    }
}

/// `column=1,2,1`.
pub fn dirichlet(text: &str) -> Outcome<(String, Vec<f64>)> {
    let wrong = || {
        Failure::usage(format!(
            "--dirichlet: \"{text}\" does not say a column and its numbers; write column=1,2,1"
        ))
    };
    let (column, numbers) = text.rsplit_once('=').ok_or_else(wrong)?;
    let numbers = numbers
        .split(',')
        .map(|x| x.trim().parse().map_err(|_| wrong()));
    Ok((column.trim().to_string(), numbers.collect::<Outcome<_>>()?))
}

/// `learned`, `uniform`, or `a=0.3,b=0.7`.
pub fn class_prior(text: &str) -> Outcome<ClassPrior> {
    match text {
        "learned" => return Ok(ClassPrior::Learned),
        "uniform" => return Ok(ClassPrior::Uniform),
        _ => {}
    }
    let each = split_wishes(text).into_iter().map(|wish| {
        let (name, weight) = wish.rsplit_once('=')?;
        Some((name.trim().to_string(), weight.trim().parse().ok()?))
    });
    let given = each.collect::<Option<Vec<_>>>().ok_or_else(|| {
        Failure::usage(format!(
            "--class-prior: \"{text}\" is none; write learned, uniform or a=0.3,b=0.7"
        ))
    })?;
    Ok(ClassPrior::Given(given))
}
