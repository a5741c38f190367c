//! Options for fixed parameters of a mixture and for its initial parameters.

use crate::arguments::values::first_given;
use crate::io::failure::{Failure, Outcome};
use abduce::Error;
use abduce::family::Distribution;
use abduce::model::mixture::{FittedMixture, Held, Specification};
use abduce::store::Model;
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
#[command(next_help_heading = "Fixed parts and starts")]
pub struct FixedOptions {
    /// Add a noise component, uniform over the range of the data, for rows that belong to no
    /// cluster
    #[arg(long)]
    noise: bool,

    /// Start from a fitted mixture of the same columns, for example one fitted to fewer rows
    #[arg(long, value_name = "FILE", conflicts_with = "start_by")]
    start: Option<PathBuf>,

    /// Start with one component per level of this column, which is not part of the model
    #[arg(long, value_name = "COL")]
    start_by: Option<String>,

    /// Hold part of the model fixed: a column of a component, as in "1:visits=poisson(0)" or
    /// "2:x=gaussian(5,0.36)" (mean, variance), or the weights, as in weights=0.4,0.6. With
    /// --start, "1" fixes a whole component, "1:x" one of its columns, and "weights" the weights,
    /// at their values in that model [repeatable]
    #[arg(long, value_name = "PART")]
    fix: Vec<String>,
}

impl FixedOptions {
    /// The first of the given options that cannot be combined with a selection among several
    /// mixtures.
    pub fn option_without_selection(&self) -> Option<&'static str> {
        first_given(&[
            (self.start.is_some(), "--start"),
            (self.start_by.is_some(), "--start-by"),
            (!self.fix.is_empty(), "--fix"),
        ])
    }

    /// Whether the start of the fit is given.
    pub fn has_start(&self) -> bool {
        self.start.is_some() || self.start_by.is_some()
    }

    /// The model file to start from.
    pub fn start_file(&self) -> Option<String> {
        let path = self.start.as_ref()?;
        Some(path.display().to_string())
    }

    /// The column whose levels are the components at the start.
    pub fn start_by(&self) -> Option<String> {
        self.start_by.clone()
    }

    /// The mixture to start from.
    pub fn start(&self) -> Outcome<Option<FittedMixture>> {
        let Some(path) = &self.start else {
            return Ok(None);
        };
        let model = Model::load(path)?;
        match model.body.get::<FittedMixture>() {
            Some(mixture) if mixture.target.is_none() => Ok(Some(mixture.model.clone())),
            _ => Err(Failure::usage(format!(
                "--start needs a mixture model, but {} contains a {} model",
                path.display(),
                model.model
            ))),
        }
    }

    /// Sets the fixed parts in a specification.
    pub fn set(&self, start: Option<&FittedMixture>, specification: &mut Specification) -> Outcome {
        specification.noise = self.noise;
        if start.is_some_and(FittedMixture::has_noise) && !self.noise {
            return Err(
                Error::parameter("the model of --start has a noise component")
                    .with_hint("add --noise")
                    .into(),
            );
        }
        for text in &self.fix {
            fix(text.trim(), start, specification)?;
        }
        Ok(())
    }
}

/// Sets the part that one `--fix` names.
fn fix(text: &str, start: Option<&FittedMixture>, specification: &mut Specification) -> Outcome {
    let required_start = || {
        start.ok_or_else(|| {
            Failure::usage(format!(
                "--fix {text}: without --start FILE, give the value too, as in \
                 1:x=gaussian(0,1) or weights=0.4,0.6"
            ))
        })
    };
    if text == "weights" {
        specification.weights = Some(required_start()?.parameters.weights.clone());
        return Ok(());
    }
    if let Some(("weights", numbers)) = text.split_once('=').map(|(a, b)| (a.trim(), b)) {
        let numbers = parse_numbers(numbers).ok_or_else(|| {
            Failure::usage(format!(
                "--fix {text}: the weights are numbers, as in weights=0.4,0.6"
            ))
        })?;
        specification.weights = Some(numbers);
        return Ok(());
    }
    let (component, column) = match text.split_once(':') {
        Some((component, column)) => (component, Some(column)),
        None => (text, None),
    };
    let number = component.trim().parse::<usize>().ok().filter(|n| *n > 0);
    let component = number.map(|n| n - 1).ok_or_else(|| {
        Failure::usage(format!(
            "--fix {text}: \"{component}\" is not a component; they are numbered from 1, as in \
             1:x=gaussian(0,1)"
        ))
    })?;
    if let Some((column, distribution)) = column.and_then(split_assignment) {
        specification.held.push(Held {
            component,
            column: column.trim().to_string(),
            distribution: parse_distribution(distribution.trim())?,
        });
        return Ok(());
    }
    let held = fixed_from_start(required_start()?, text, component, column)?;
    specification.held.extend(held);
    Ok(())
}

/// The distributions of a component, or of one of its columns, in the start model.
fn fixed_from_start(
    start: &FittedMixture,
    text: &str,
    component: usize,
    column: Option<&str>,
) -> Outcome<Vec<Held>> {
    if component >= start.components() - usize::from(start.has_noise()) {
        return Err(Failure::usage(format!(
            "--fix {text}: the model of --start has no component {}",
            component + 1
        )));
    }
    let column = column.map(|name| start.schema.position(name.trim()));
    let column = column.transpose()?;
    let leaves = start.leaves.iter().zip(&start.parameters.leaves);
    let is_named = |columns: &[usize]| column.is_none_or(|column| columns.contains(&column));
    let named = leaves.filter(|(leaf, _)| !leaf.fixed && is_named(&leaf.columns));
    let held = named.map(|(leaf, distributions)| Held {
        component,
        column: start.schema.fields[leaf.columns[0]].name.clone(),
        distribution: distributions[component].clone(),
    });
    Ok(held.collect())
}

/// Splits `x=gaussian(0,1)` at the last `=` before the parenthesis.
fn split_assignment(text: &str) -> Option<(&str, &str)> {
    let end = text.find('(').unwrap_or(text.len());
    let at = text[..end].rfind('=')?;
    Some((&text[..at], &text[at + 1..]))
}

fn parse_numbers(text: &str) -> Option<Vec<f64>> {
    let numbers = text.split(',').map(|number| number.trim().parse().ok());
    numbers.collect()
}

/// A distribution as users write it, as in poisson(0).
fn parse_distribution(text: &str) -> Outcome<Distribution> {
    let parts = text
        .strip_suffix(')')
        .and_then(|text| text.split_once('('))
        .and_then(|(name, numbers)| Some((name, parse_numbers(numbers)?)));
    let (name, numbers) = parts.ok_or_else(|| {
        Failure::usage(format!(
            "--fix: \"{text}\" is not a distribution; write it as in poisson(0) or \
             gaussian(5,0.36)"
        ))
    })?;
    Ok(Distribution::named(name.trim(), &numbers)?)
}
