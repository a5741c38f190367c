//! What of a mixture is given and not learned, and where learning begins.

use super::model_name::ModelName;
use crate::failure::{Failure, Outcome};
use abduce::Error;
use abduce::family::Distribution;
use abduce::model::mixture::{Held, Mixture, Specification};
use abduce::store::{Body, Model};
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
#[command(next_help_heading = "Fixed parts and starts")]
pub struct GivenOptions {
    /// Add a noise component, uniform over the range of the rows, for rows that belong to no
    /// cluster [mixture]
    #[arg(long)]
    noise: bool,

    /// Start from a fitted mixture of the same columns, for example one fitted to fewer rows
    /// [mixture]
    #[arg(long, value_name = "FILE", conflicts_with = "start_by")]
    start: Option<PathBuf>,

    /// Start with one component per level of this column, which is not part of the model
    /// [mixture]
    #[arg(long, value_name = "COL")]
    start_by: Option<String>,

    /// Hold part of the model fixed: a column in a component, as in "1:visits=poisson(0)" or
    /// "2:x=gaussian(5,0.36)" (mean, variance), or the weights, as in weights=0.4,0.6; with
    /// --start also a component (1), a column in it (1:x) or the weights (weights) as they are
    /// in that model [mixture; repeatable]
    #[arg(long, value_name = "WHAT")]
    fix: Vec<String>,

    /// Columns whose distribution is the same in every component [mixture, naive-bayes,
    /// gda]
    #[arg(long, value_name = "COL,…", value_delimiter = ',')]
    tie: Vec<String>,
}

impl GivenOptions {
    /// The first option given that the model has no use for.
    pub fn unfit(&self, model: ModelName) -> Option<(&'static str, &'static str)> {
        const ONE: &str = "it is for mixture";
        let mixture = model == ModelName::Mixture;
        let leaves = mixture || matches!(model, ModelName::NaiveBayes | ModelName::Gda);
        let given = [
            (self.noise && !mixture, "--noise", ONE),
            (self.start.is_some() && !mixture, "--start", ONE),
            (self.start_by.is_some() && !mixture, "--start-by", ONE),
            (!self.fix.is_empty() && !mixture, "--fix", ONE),
            (
                !self.tie.is_empty() && !leaves,
                "--tie",
                "it is for mixture, naive-bayes and gda",
            ),
        ];
        let unfit = given.iter().find(|(unfit, ..)| *unfit);
        unfit.map(|(_, option, why)| (*option, *why))
    }

    /// An option that no choice among several can have.
    pub fn one_only(&self) -> Option<&'static str> {
        let given = [
            (self.start.is_some(), "--start"),
            (self.start_by.is_some(), "--start-by"),
            (!self.fix.is_empty(), "--fix"),
        ];
        given.iter().find(|(given, _)| *given).map(|own| own.1)
    }

    /// Whether the start is given, so that none need be tried.
    pub fn begins(&self) -> Option<&'static str> {
        let start = self.start.as_ref().map(|_| "--start");
        start.or(self.start_by.as_ref().map(|_| "--start-by"))
    }

    /// The model file to begin at.
    pub fn start_file(&self) -> Option<String> {
        let path = self.start.as_ref()?;
        Some(path.display().to_string())
    }

    pub fn start_by(&self) -> Option<String> {
        self.start_by.clone()
    }

    /// The mixture to begin at.
    pub fn start(&self) -> Outcome<Option<Mixture>> {
        let Some(path) = &self.start else {
            return Ok(None);
        };
        let model = Model::load(path)?;
        let name = model.model.clone();
        match model.body {
            Body::Mixture(mixture) if mixture.target.is_none() => Ok(Some(mixture)),
            _ => Err(Error::parameter(format!(
                "{} holds a model of {name}; a mixture begins at a mixture",
                path.display()
            ))
            .into()),
        }
    }

    /// Tells a specification what is given.
    pub fn tell(&self, start: Option<&Mixture>, specification: &mut Specification) -> Outcome {
        specification.noise = self.noise;
        specification.tied = self
            .tie
            .iter()
            .map(|name| name.trim().to_string())
            .collect();
        if start.is_some_and(Mixture::has_noise) && !self.noise {
            return Err(Error::parameter("the start has a component of noise")
                .with_hint("add --noise")
                .into());
        }
        for text in &self.fix {
            fixed(text.trim(), start, specification)?;
        }
        Ok(())
    }
}

/// Adds what one --fix says.
fn fixed(text: &str, start: Option<&Mixture>, specification: &mut Specification) -> Outcome {
    let needs_start = || {
        Failure::usage(format!(
            "--fix {text}: without --start FILE, say what it is, as in 1:x=gaussian(0,1) or weights=0.4,0.6"
        ))
    };
    if let Some(("weights", numbers)) = text.split_once('=').map(|(a, b)| (a.trim(), b)) {
        let numbers = numbers
            .split(',')
            .map(|number| number.trim().parse::<f64>());
        let numbers: Result<Vec<f64>, _> = numbers.collect();
        let numbers = numbers.map_err(|_| {
            Failure::usage(format!(
                "--fix {text}: the weights are numbers, as in weights=0.4,0.6"
            ))
        })?;
        specification.weights = Some(numbers);
        return Ok(());
    }
    if text == "weights" {
        let start = start.ok_or_else(needs_start)?;
        specification.weights = Some(start.parameters.weights.clone());
        return Ok(());
    }
    let (component, what) = match text.split_once(':') {
        Some((component, what)) => (component, Some(what)),
        None => (text, None),
    };
    let number = component.trim().parse::<usize>().ok().filter(|n| *n > 0);
    let component = number.map(|n| n - 1).ok_or_else(|| {
        Failure::usage(format!(
            "--fix {text}: \"{component}\" is no component; they are numbered from 1, as in 1:x=gaussian(0,1)"
        ))
    })?;
    // What is in parentheses is the distribution's own.
    let assigned = what.and_then(|what| {
        let end = what.find('(').unwrap_or(what.len());
        let at = what[..end].rfind('=')?;
        Some((&what[..at], &what[at + 1..]))
    });
    if let Some((column, distribution)) = assigned {
        specification.held.push(Held {
            component,
            column: column.trim().to_string(),
            distribution: named(distribution.trim())?,
        });
        return Ok(());
    }
    let start = start.ok_or_else(needs_start)?;
    if component >= start.components() - usize::from(start.has_noise()) {
        return Err(Failure::usage(format!(
            "--fix {text}: the start has no component {}",
            component + 1
        )));
    }
    let column = what
        .map(|name| start.schema.position(name.trim()))
        .transpose()?;
    let leaves = start.leaves.iter().zip(&start.parameters.leaves);
    let wanted = |columns: &[usize]| column.is_none_or(|column| columns.contains(&column));
    for (leaf, own) in leaves.filter(|(leaf, _)| !leaf.fixed && wanted(&leaf.columns)) {
        specification.held.push(Held {
            component,
            column: start.schema.fields[leaf.columns[0]].name.clone(),
            distribution: own[component].clone(),
        });
    }
    Ok(())
}

/// A distribution as users write it.
fn named(text: &str) -> Outcome<Distribution> {
    let wrong = || {
        Failure::usage(format!(
            "--fix: \"{text}\" is no distribution; write it as in poisson(0) or gaussian(5,0.36)"
        ))
    };
    let inner = text.strip_suffix(')').and_then(|text| text.split_once('('));
    let (name, numbers) = inner.ok_or_else(wrong)?;
    let numbers = numbers
        .split(',')
        .map(|number| number.trim().parse::<f64>());
    let numbers: Result<Vec<f64>, _> = numbers.collect();
    let numbers = numbers.map_err(|_| wrong())?;
    Ok(Distribution::named(name.trim(), &numbers)?)
}
