//! `bayes`: hypotheses weighed by one observation after the other.

mod read;
mod told;

use crate::arguments::whole;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::output::{Output, refuse_inputs};
use abduce::concept::Hypotheses;
use clap::Args;
use read::Observation;
use std::path::PathBuf;
use told::{Snapshot, Told};

/// More posterior probabilities than these, over all steps, are not told
/// unless asked for.
const MANY: usize = 1_000_000;

/// Weigh hypotheses by observations (Bayes' theorem)
///
/// Hypotheses have prior probabilities, outcomes a probability under each
/// hypothesis. Every observation is an outcome that happened, or one that did
/// not: "not positive", or '!positive'. Reports the posterior after each
/// observation, the most probable (MAP) and the most likely (ML) hypotheses,
/// and the evidence, the probability of all observations together.
///
/// Probabilities are written .25, 1/4 or 25%. Priors that miss 1 by no more
/// than 0.01 are divided by their sum, with a note; others are refused unless
/// --normalize is given.
#[derive(Args)]
#[command(after_help = "Examples:
  abduce bayes --prior cancer=.008,healthy=.992 --likelihood positive=.98,.03 --observe positive
  abduce bayes --prior fair,loaded --likelihood six=1/6,1/2 --observe six=3,\"not six=7\"
  abduce bayes --table tests.csv --observations results.csv --json

tests.csv has a column hypothesis, a column prior unless all are alike, and a
column for each outcome. results.csv has a line for each observation, or the
columns outcome and, if need be, times.")]
pub struct Arguments {
    /// The hypotheses with their priors, or their names alone if all are alike
    #[arg(long, value_name = "H=P,H=P")]
    prior: Vec<String>,
    /// An outcome and its probability under each hypothesis, in the order of
    /// --prior [repeatable]
    #[arg(long, value_name = "OUTCOME=P,P")]
    likelihood: Vec<String>,
    /// The hypotheses, priors and likelihoods as a table
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prior", "likelihood"])]
    table: Option<String>,
    /// What was observed, in order; OUTCOME=N was observed N times
    /// [repeatable]
    #[arg(long, value_name = "OUTCOME,…")]
    observe: Vec<String>,
    /// A file of observations, which come after those of --observe
    #[arg(long, value_name = "FILE")]
    observations: Option<String>,
    /// Divide the priors by their sum, whatever it is
    #[arg(long)]
    normalize: bool,
    /// How many hypotheses to list, the most probable ones
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true, value_parser = whole)]
    top: u64,
    /// Report every step, and with --json its whole posterior
    #[arg(long)]
    trace: bool,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let read = [&self.table, &self.observations].into_iter().flatten();
        refuse_inputs(self.output.as_deref(), read.map(PathBuf::from))?;
        if self.table.as_deref() == Some("-") && self.observations.as_deref() == Some("-") {
            return Err(Failure::usage("standard input is given twice"));
        }
        let mut hypotheses = match &self.table {
            Some(path) => read::table(path, self.normalize, context)?,
            None => read::arguments(&self.prior, &self.likelihood, self.normalize, context)?,
        };
        if let Some((h, sum)) = hypotheses.exceeding() {
            context.note(&format!(
                "the likelihoods of {} sum to {}: the outcomes are taken not to exclude each other",
                hypotheses.names()[h],
                crate::text_table::readable(sum)
            ));
        }
        let mut observations = read::observed(&self.observe, &hypotheses)?;
        if let Some(path) = &self.observations {
            observations.extend(read::observations(path, &hypotheses)?);
        }
        let steps = self.weigh(&mut hypotheses, &observations)?;
        let told = Told {
            hypotheses: &hypotheses,
            steps: &steps,
            top: self.top as usize,
            trace: self.trace,
        };
        let mut output = Output::text(self.output.as_deref(), context)?;
        told.write(context, &mut output)?;
        output.finish()
    }

    fn weigh(
        &self,
        hypotheses: &mut Hypotheses,
        observations: &[Observation],
    ) -> Outcome<Vec<Snapshot>> {
        let several = hypotheses.names().len();
        let few = several <= told::COLUMNS || several * observations.len() <= MANY;
        let mut steps = Vec::with_capacity(observations.len());
        for observation in observations {
            let step = hypotheses
                .observe(observation.event, observation.times)
                .map_err(|error| observation.place(error))?;
            steps.push(Snapshot::new(hypotheses, step, few || self.trace));
        }
        Ok(steps)
    }
}
