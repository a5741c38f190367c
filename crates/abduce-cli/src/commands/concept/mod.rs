//! `concept`: which conjunctions of attributes explain a label.

mod learn;
mod read;
mod told;

use crate::arguments::{DataArguments, KindArguments, split_list, whole};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::output::{Output, refuse_inputs};
use abduce::concept::{Assumptions, ConceptPrior, Conjunction, Conjunctions};
use clap::Args;
use learn::Learned;
use read::Concept;
use std::path::PathBuf;
use told::Told;

/// Learn which conjunction of attributes makes a label
///
/// A hypothesis asks for one value of an attribute or takes any (?), as in
/// <Sunny, ?, Strong>; ∅ takes nothing. Reports the version space (the
/// hypotheses that fit all examples) by its most specific and most general
/// members, its size, and the posterior probabilities. Each number is
/// treated as a category.
///
/// Rows whose --target cell is empty are predicted, by the vote of all
/// hypotheses and by one drawn from the posterior (Gibbs), and so are those of
/// --predict. A hidden attribute may have any of its values, with equal
/// probability. The exit code is 1 if no hypothesis fits and no --noise is
/// allowed for.
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
    /// The label that the concept is about; all others are the opposite
    /// [default: yes, true, 1 or positive, else the first]
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
    /// How probable hypotheses are at first: uniform, or simple, where each
    /// attribute matters with probability one half (simple=P: with P) and the
    /// empty hypothesis has probability 0
    #[arg(long, value_name = "PRIOR", default_value = "uniform", value_parser = prior)]
    prior: ConceptPrior,
    /// Rows to predict
    #[arg(long, value_name = "FILE")]
    predict: Option<String>,
    /// A hypothesis to be judged: a value or ? for each attribute, or
    /// COL=VALUE for some [repeatable]
    #[arg(long, value_name = "HYPOTHESIS")]
    check: Vec<String>,
    /// Tell how the posterior changed from example to example
    #[arg(long)]
    evolution: bool,
    /// How many hypotheses to list
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
        refuse_inputs(self.output.as_deref(), files)?;
        let wished = self.positive.as_deref();
        let concept = Concept::new(&*opened.source, &self.target, wished, context)?;
        let checked = self.checked(&concept.space)?;
        let assumptions = Assumptions {
            prior: self.prior,
            noise: self.noise,
        };
        let learned = Learned::new(&concept, assumptions, self.top as usize)?;
        let checks = (checked.into_iter())
            .map(|hypothesis| learned.check(&concept, hypothesis))
            .collect::<Outcome<Vec<_>>>()?;
        let stages = match self.evolution {
            true => learn::evolution(&concept, assumptions)?,
            false => Vec::new(),
        };
        let options = self.data.options(Some(&self.target));
        let predictions =
            learned.predictions(&concept, self.predict.as_deref(), options, context)?;
        if let (Some(path), Ok(_)) = (&self.output, &learned.posterior) {
            if predictions.is_empty() {
                return Err(Failure::usage(
                    "-o is for predictions, and there are none; pass --predict FILE",
                ));
            }
            told::write_predictions(path, &predictions, &concept, context)?;
        }
        let told = Told {
            concept: &concept,
            learned: &learned,
            checks: &checks,
            stages: &stages,
            predictions: &predictions,
        };
        let mut output = Output::text(None, context)?;
        told.write(context, &mut output)?;
        output.finish()?;
        learned.conclude(&concept, context)
    }

    fn checked(&self, space: &Conjunctions) -> Outcome<Vec<Conjunction>> {
        let read = |text: &String| {
            let plain = text.trim();
            let inner = plain.strip_prefix('<').and_then(|t| t.strip_suffix('>'));
            space
                .conjunction(&split_list(inner.unwrap_or(plain)))
                .map_err(|error| Failure::usage(format!("--check: {error}")))
        };
        self.check.iter().map(read).collect()
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
