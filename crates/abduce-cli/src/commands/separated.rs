//! `separated`: whether variables of a network are d-separated.

use crate::arguments::values::{split_list, split_lists};
use crate::context::Context;
use crate::io::failure::{Failure, Outcome};
use crate::io::output::{Output, write_json};
use abduce::model::network::Network;
use clap::Args;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Test whether variables of a Bayesian network are d-separated
///
/// Prints yes if the graph alone implies that the variables are independent given the others.
/// Otherwise prints no, with an active path between them. Only the graph is used.
#[derive(Args)]
#[command(after_help = "Example:
  abduce separated asia.bif asia smoke
  abduce separated asia.bif asia smoke --given dysp")]
pub struct Arguments {
    /// A network
    #[arg(value_name = "FILE")]
    network: PathBuf,
    /// A variable, or several as in a,b
    #[arg(value_name = "A")]
    first: String,
    /// Another variable, or several
    #[arg(value_name = "B")]
    second: String,
    /// Variables that are known, as in c,d
    #[arg(long, value_name = "C,D")]
    given: Vec<String>,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let (network, _) = Network::load(&self.network)?;
        let find = |names: Vec<String>| -> Outcome<Vec<usize>> {
            let names = names.iter().filter(|name| !name.is_empty());
            Ok(names
                .map(|name| network.find(name))
                .collect::<abduce::Result<_>>()?)
        };
        let first = find(split_list(&self.first))?;
        let second = find(split_list(&self.second))?;
        let given = find(split_lists(&self.given))?;
        for (variables, others) in [(&first, &second), (&first, &given), (&second, &given)] {
            if let Some(both) = variables.iter().find(|variable| others.contains(variable)) {
                let name = &network.variables()[*both].name;
                return Err(Failure::usage(format!("\"{name}\" is named twice")));
            }
        }
        let path = network.active_path(&first, &second, &given);
        let mut output = Output::text(None, context)?;
        if context.json {
            let names = |variable: &usize| network.variables()[*variable].name.clone();
            let names = path
                .as_ref()
                .map(|path| path.iter().map(names).collect::<Vec<_>>());
            write_json(
                &mut output,
                &json!({"separated": path.is_none(), "path": names}),
            )?;
        } else {
            match &path {
                None => writeln!(output, "yes")?,
                Some(path) => writeln!(output, "no: {}", drawn(&network, path))?,
            }
        }
        output.finish()
    }
}

/// A path with the directions of its arcs.
fn drawn(network: &Network, path: &[usize]) -> String {
    let variables = network.variables();
    let mut text = path
        .first()
        .map_or(String::new(), |v| variables[*v].name.clone());
    for pair in path.windows(2) {
        let forward = variables[pair[1]].parents.contains(&pair[0]);
        text += if forward { " -> " } else { " <- " };
        text += &variables[pair[1]].name;
    }
    text
}
