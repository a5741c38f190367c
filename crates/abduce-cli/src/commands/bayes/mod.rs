//! `bayes`: the posterior of hypotheses after each observation.

mod read;
mod report;

use crate::arguments::values::whole;
use crate::context::Context;
use crate::io::failure::{Failure, Outcome};
use crate::io::output::{Output, check_not_an_input};
use crate::render::text_table::readable;
use abduce::concept::Hypotheses;
use clap::Args;
use read::Observation;
use report::{Report, Snapshot};
use std::path::PathBuf;

/// The posteriors of all steps are stored if they have at most this many probabilities, or with
/// --trace.
const MAX_STORED: usize = 1_000_000;

/// Update the probabilities of hypotheses by observations (Bayes' theorem)
///
/// Each hypothesis has a prior probability, and each outcome has a probability under each
/// hypothesis. An observation is an outcome that happened, or one that did not: "not positive" or
/// '!positive'. Reports the posterior after each observation, the most probable (MAP) and the
/// most likely (ML) hypotheses, and the evidence, the probability of all observations together.
///
/// Write probabilities as .25, 1/4 or 25%. Priors whose sum is within 0.01 of 1 are divided by
/// it, with a note; other sums are an error unless --normalize is given.
#[derive(Args)]
#[command(after_help = "Examples:
  abduce bayes --prior cancer=.008,healthy=.992 --likelihood positive=.98,.03 --observe positive
  abduce bayes --prior fair,loaded --likelihood six=1/6,1/2 --observe six=3,\"not six=7\"
  abduce bayes --table tests.csv --observations results.csv --json

tests.csv has a column hypothesis, a column prior (without it, all priors are
equal) and a column for each outcome. results.csv has one observation per line,
or a column outcome and optionally a column times.")]
pub struct Arguments {
    /// The hypotheses with their priors, or only their names if all priors are equal
    #[arg(long, value_name = "H=P,H=P")]
    prior: Vec<String>,
    /// An outcome and its probability under each hypothesis, in the order of --prior
    /// [repeatable]
    #[arg(long, value_name = "OUTCOME=P,P")]
    likelihood: Vec<String>,
    /// Read hypotheses, priors and likelihoods from a table
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prior", "likelihood"])]
    table: Option<String>,
    /// The observations, in order; OUTCOME=N was observed N times [repeatable]
    #[arg(long, value_name = "OUTCOME,…")]
    observe: Vec<String>,
    /// A file of further observations, after those of --observe
    #[arg(long, value_name = "FILE")]
    observations: Option<String>,
    /// Divide the priors by their sum
    #[arg(long)]
    normalize: bool,
    /// Number of most probable hypotheses to list
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true, value_parser = whole)]
    top: u64,
    /// Report every step; with --json, including its whole posterior
    #[arg(long)]
    trace: bool,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let files = [&self.table, &self.observations].into_iter().flatten();
        check_not_an_input(self.output.as_deref(), files.map(PathBuf::from))?;
        if self.table.as_deref() == Some("-") && self.observations.as_deref() == Some("-") {
            return Err(Failure::usage("standard input is given twice"));
        }
        let mut hypotheses = match &self.table {
            Some(path) => read::hypotheses_from_table(path, self.normalize, context)?,
            None => read::hypotheses_from_options(
                &self.prior,
                &self.likelihood,
                self.normalize,
                context,
            )?,
        };
        if let Some((h, sum)) = hypotheses.exceeding() {
            context.note(&format!(
                "the probabilities of the outcomes under {} sum to {}, so the outcomes are not treated as mutually exclusive",
                hypotheses.names()[h],
                readable(sum)
            ));
        }
        let mut observations = read::given_observations(&self.observe, &hypotheses)?;
        if let Some(path) = &self.observations {
            observations.extend(read::observations(path, &hypotheses)?);
        }
        let steps = self.weigh(&mut hypotheses, &observations)?;
        let report = Report {
            hypotheses: &hypotheses,
            steps: &steps,
            top: self.top as usize,
            trace: self.trace,
        };
        let mut output = Output::text(self.output.as_deref(), context)?;
        report.write(context, &mut output)?;
        output.finish()
    }

    fn weigh(
        &self,
        hypotheses: &mut Hypotheses,
        observations: &[Observation],
    ) -> Outcome<Vec<Snapshot>> {
        let count = hypotheses.names().len();
        let keep = count <= report::MAX_COLUMNS || count * observations.len() <= MAX_STORED;
        let mut steps = Vec::with_capacity(observations.len());
        for observation in observations {
            let step = hypotheses
                .observe(observation.event, observation.times)
                .map_err(|error| observation.locate(error))?;
            steps.push(Snapshot::new(hypotheses, step, keep || self.trace));
        }
        Ok(steps)
    }
}
