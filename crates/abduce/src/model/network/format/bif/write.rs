//! Writes BIF as bnlearn does: a table for a variable without parents, otherwise a row for each
//! configuration of the parents. Names are in quotes only if they need them.

use super::super::numbers::join;
use super::super::table;
use super::super::tokens::{is_word, quote};
use super::SYNTAX;
use crate::Result;
use crate::model::network::{Network, Variable};
use std::fmt::Write;

/// The words that begin a block or a line.
const KEYWORDS: [&str; 8] = [
    "network",
    "variable",
    "probability",
    "property",
    "type",
    "discrete",
    "table",
    "default",
];

/// The text of a file with the network.
pub(super) fn write(network: &Network) -> Result<String> {
    let mut text = String::from("network unknown {\n}\n");
    for variable in network.variables() {
        let states: Vec<String> = variable.states.iter().map(|state| name(state)).collect();
        let (count, states) = (states.len(), states.join(", "));
        let name = name(&variable.name);
        let _ = writeln!(text, "variable {name} {{");
        let _ = writeln!(text, "  type discrete [ {count} ] {{ {states} }};\n}}");
    }
    for variable in network.variables() {
        write_probability(&mut text, network, variable);
    }
    Ok(text)
}

/// Adds the probability block of a variable.
fn write_probability(text: &mut String, network: &Network, variable: &Variable) {
    let parents: Vec<&Variable> = variable
        .parents
        .iter()
        .map(|parent| &network.variables()[*parent])
        .collect();
    let child = name(&variable.name);
    if parents.is_empty() {
        let probabilities = join(table(variable), ", ");
        let _ = writeln!(
            text,
            "probability ( {child} ) {{\n  table {probabilities};\n}}"
        );
        return;
    }
    let names: Vec<String> = parents.iter().map(|parent| name(&parent.name)).collect();
    let states: Vec<Vec<String>> = parents
        .iter()
        .map(|parent| parent.states.iter().map(|state| name(state)).collect())
        .collect();
    let _ = writeln!(text, "probability ( {child} | {} ) {{", names.join(", "));
    let mut configuration = vec![0; parents.len()];
    for row in table(variable).chunks(variable.states.len()) {
        let given: Vec<&str> = states
            .iter()
            .zip(&configuration)
            .map(|(names, state)| names[*state].as_str())
            .collect();
        let _ = writeln!(text, "  ({}) {};", given.join(", "), join(row, ", "));
        // The next configuration: the last parent changes fastest.
        for (state, parent) in configuration.iter_mut().zip(&parents).rev() {
            *state += 1;
            if *state < parent.states.len() {
                break;
            }
            *state = 0;
        }
    }
    text.push_str("}\n");
}

/// A name as it is written: in quotes only if it needs them.
fn name(name: &str) -> String {
    if is_word(name, &SYNTAX) && !KEYWORDS.contains(&name) {
        return name.to_string();
    }
    quote(name)
}
