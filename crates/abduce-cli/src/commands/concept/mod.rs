//! `concept`: conjunctions of attribute values that explain a label.

mod learn;
mod read;
mod report;

use crate::arguments::values::{split_list, whole};
use crate::arguments::{DataArguments, KindArguments};
use crate::context::Context;
use crate::io::failure::{Failure, Outcome};
use crate::io::output::{Output, check_not_an_input};
use abduce::concept::{Assumptions, ConceptPrior, Conjunction, Conjunctions};
use clap::Args;
use learn::Learned;
use read::Concept;
use report::Report;
use std::path::PathBuf;

/// Learn which conjunction of attribute values explains a label
///
/// A hypothesis requires one value of an attribute or accepts any (?), as in <Sunny, ?, Strong>;
/// ∅ accepts no row. Reports the version space (the hypotheses that fit all examples) by its most
/// specific and most general members, its size, and posterior probabilities. Each number is
/// treated as a category.
///
/// Rows without a label, and those of --predict, are predicted by the vote of all hypotheses and
/// by one drawn from the posterior (Gibbs). A missing attribute value is treated as equally likely
/// to be any of its values. The exit code is 1 if no hypothesis fits the examples and --noise is 0.
#[derive(Args)]
#[command(after_help = "Examples:
  abduce concept enjoysport.csv --target EnjoySport
  abduce concept enjoysport.csv --target EnjoySport --check \"Sunny,?,?,Strong,?,?\" --evolution
  abduce concept tennis.csv --target PlayTennis --noise 0.1 --prior simple --predict tennis.csv")]
pub struct Arguments {
    #[command(flatten)]
    data: DataArguments,
    #[command(flatten)]
    kinds: KindArguments,
    /// The column of labels
    #[arg(long, value_name = "COL")]
    target: String,
    /// The positive label; all others are negative [default: yes, true, 1 or positive, else the
    /// first]
    #[arg(long, value_name = "LABEL")]
    positive: Option<String>,
    /// The probability that a label is wrong
    #[arg(
        long,
        value_name = "P",
        default_value_t = 0.0,
        allow_hyphen_values = true
    )]
    noise: f64,
    /// Prior over hypotheses: uniform, or simple, where each attribute is constrained with
    /// probability 1/2 (simple=P: with probability P) and ∅ has probability 0
    #[arg(long, value_name = "PRIOR", default_value = "uniform", value_parser = prior)]
    prior: ConceptPrior,
    /// Rows to predict
    #[arg(long, value_name = "FILE")]
    predict: Option<String>,
    /// A hypothesis to check against the examples: a value or ? for each attribute, or COL=VALUE
    /// for some of them [repeatable]
    #[arg(long, value_name = "HYPOTHESIS")]
    check: Vec<String>,
    /// Report how the posterior changes with each example
    #[arg(long)]
    evolution: bool,
    /// Number of hypotheses to list
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true, value_parser = whole)]
    top: u64,
    /// Write the predictions to a file, as CSV
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let opened = self
            .data
            .open(Some(&self.target), &self.kinds, None, context)?;
        let files = opened.files.iter().chain(&self.predict).map(PathBuf::from);
        check_not_an_input(self.output.as_deref(), files)?;
        let positive = self.positive.as_deref();
        let concept = Concept::new(&*opened.source, &self.target, positive, context)?;
        let hypotheses = self.hypotheses_to_check(&concept.space)?;
        let assumptions = Assumptions {
            prior: self.prior,
            noise: self.noise,
        };
        let learned = Learned::new(&concept, assumptions, self.top as usize)?;
        let checks = (hypotheses.into_iter())
            .map(|hypothesis| learned.check(&concept, hypothesis))
            .collect::<Outcome<Vec<_>>>()?;
        let stages = if self.evolution {
            learn::evolution(&concept, assumptions)?
        } else {
            Vec::new()
        };
        let options = self.data.options(Some(&self.target));
        let predictions =
            learned.predictions(&concept, self.predict.as_deref(), options, context)?;
        if let (Some(path), Ok(_)) = (&self.output, &learned.posterior) {
            if predictions.is_empty() {
                return Err(Failure::usage(
                    "-o writes predictions, but there are no rows to predict; pass --predict FILE",
                ));
            }
            report::write_predictions(path, &predictions, &concept, context)?;
        }
        let report = Report {
            concept: &concept,
            learned: &learned,
            checks: &checks,
            stages: &stages,
            predictions: &predictions,
        };
        let mut output = Output::text(None, context)?;
        report.write(context, &mut output)?;
        output.finish()?;
        learned.report_limits(&concept, context)
    }

    fn hypotheses_to_check(&self, space: &Conjunctions) -> Outcome<Vec<Conjunction>> {
        let parse = |text: &String| {
            let text = text.trim();
            let inner = text.strip_prefix('<').and_then(|t| t.strip_suffix('>'));
            space
                .conjunction(&split_list(inner.unwrap_or(text)))
                .map_err(|error| Failure::usage(format!("--check: {error}")))
        };
        self.check.iter().map(parse).collect()
    }
}

fn prior(text: &str) -> Result<ConceptPrior, String> {
    let (name, number) = match text.split_once('=') {
        Some((name, number)) => (name, Some(number)),
        None => (text, None),
    };
    match (name, number.map(str::parse::<f64>)) {
        ("uniform", None) => Ok(ConceptPrior::Uniform),
        ("simple", None) => Ok(ConceptPrior::Simple(0.5)),
        ("simple", Some(Ok(p))) if p > 0.0 && p < 1.0 => Ok(ConceptPrior::Simple(p)),
        ("simple", _) => Err("simple=P needs a probability between 0 and 1".into()),
        _ => Err("the priors are uniform and simple".into()),
    }
}
