//! `marginals`: the probabilities of the states of all variables of a network.

use crate::arguments::values::{memory, split_assignment, split_lists};
use crate::context::Context;
use crate::io::cells;
use crate::io::failure::{Failure, Outcome};
use crate::io::output::{Output, check_not_an_input, write_json};
use abduce::Error;
use abduce::model::network::{DEFAULT_MEMORY, Evidence, Marginals, Network, format};
use clap::Args;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Compute the probabilities of all variables of a Bayesian network
///
/// Writes a line for each state of each variable: its probability given the evidence. Answers are
/// exact. A network is a .bif, .xml, .bifxml, .net, .xdsl or .uai file.
#[derive(Args)]
#[command(after_help = "Example:
  abduce marginals asia.bif --given asia=yes,dysp=yes")]
pub struct Arguments {
    /// A network
    #[arg(value_name = "FILE")]
    network: PathBuf,
    /// Observed states, as in asia=yes,dysp=yes
    #[arg(long, value_name = "A=X,B=Y")]
    given: Vec<String>,
    /// Observed states in a UAI evidence file
    #[arg(long, value_name = "FILE")]
    evidence: Option<PathBuf>,
    /// Memory for exact answers, as in 8G [default: 4G]
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    memory: Option<u64>,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let (network, notes) = Network::load(&self.network)?;
        notes.iter().for_each(|note| context.note(note));
        let inputs = [Some(self.network.clone()), self.evidence.clone()];
        check_not_an_input(self.output.as_deref(), inputs.into_iter().flatten())?;
        let evidence = self.evidence(&network)?;
        let memory = self.memory.map_or(DEFAULT_MEMORY, |bytes| bytes as f64);
        let exact = network.exact(context.seed, memory);
        let exact = exact.map_err(|error| error.with_hint("raise `memory`"))?;
        let marginals = exact.marginals(&evidence)?;
        if evidence != network.no_evidence() {
            let log = cells::number(marginals.log_evidence);
            context.note(&format!("the log-probability of the evidence is {log}"));
        }
        let mut output = Output::table(self.output.as_deref(), context)?;
        if context.json {
            write_json(&mut output, &document(&network, &marginals))?;
        } else {
            write_table(&mut output, &network, &marginals)?;
        }
        output.finish()
    }

    /// The evidence of both options.
    fn evidence(&self, network: &Network) -> Outcome<Evidence> {
        let mut given = match &self.evidence {
            Some(path) => states_of(network, path)?,
            None => Vec::new(),
        };
        let is_variable = |name: &str| network.position(name).is_some();
        for part in split_lists(&self.given)
            .iter()
            .filter(|part| !part.is_empty())
        {
            let (name, state) = split_assignment(part, is_variable)?;
            given.push((name.to_string(), state.to_string()));
        }
        let given: Vec<(&str, &str)> = given
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        Ok(network.evidence(&given)?)
    }
}

/// The observed variables and their states, by name, in a UAI evidence file.
fn states_of(network: &Network, path: &Path) -> Outcome<Vec<(String, String)>> {
    let located = |error: Error| Failure::from(error.at_file(path.display().to_string()));
    let text = std::fs::read_to_string(path).map_err(|error| located(error.into()))?;
    let found = format::read_evidence(&text).map_err(located)?;
    let names = found.into_iter().map(|(variable, state)| {
        let variables = network.variables();
        let variable = variables.get(variable).ok_or_else(|| {
            let message = format!("there is no variable {variable}");
            Error::data(message).with_hint(format!(
                "the network has {} variables, counted from 0",
                variables.len()
            ))
        })?;
        let name = variable.states.get(state).ok_or_else(|| {
            let message = format!("\"{}\" has no state {state}", variable.name);
            Error::data(message).with_hint("states are counted from 0")
        })?;
        Ok((variable.name.clone(), name.clone()))
    });
    names.collect::<abduce::Result<_>>().map_err(located)
}

fn write_table(output: &mut Output, network: &Network, marginals: &Marginals) -> Outcome {
    output.line(["variable", "state", "probability"])?;
    for (variable, probabilities) in network.variables().iter().zip(&marginals.probabilities) {
        for (state, probability) in variable.states.iter().zip(probabilities) {
            output
                .line([&variable.name, state, &cells::number(*probability)].map(|s| s.as_str()))?;
        }
    }
    Ok(())
}

fn document(network: &Network, marginals: &Marginals) -> Value {
    let variables = network.variables().iter().zip(&marginals.probabilities);
    let variables = variables.map(|(variable, probabilities)| {
        let states = variable.states.iter().cloned();
        let states: Map<String, Value> =
            states.zip(probabilities.iter().map(|p| json!(p))).collect();
        (variable.name.clone(), Value::Object(states))
    });
    json!({
        "log_evidence": marginals.log_evidence,
        "marginals": variables.collect::<Map<String, Value>>(),
    })
}
