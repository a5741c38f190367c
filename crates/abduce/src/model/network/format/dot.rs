//! Graphviz: the graph of a network as a `digraph`, to be drawn by `dot`. It has no tables, so
//! it can be written only.

use super::Format;
use crate::model::network::Network;
use crate::{Error, Result};
use std::fmt::Write;

/// The graph, to be drawn.
pub(super) const DOT: Format = Format {
    name: "dot",
    extensions: &["dot", "gv"],
    read,
    write,
};

/// Always an error: there are no tables to read.
fn read(_: &str) -> Result<(Network, Vec<String>)> {
    Err(
        Error::data("Graphviz files have no probabilities and cannot be read as networks")
            .with_hint("use a bif, xml, net, xdsl or uai file"),
    )
}

/// The text of a file with the graph.
fn write(network: &Network) -> Result<String> {
    let variables = network.variables();
    let mut text = String::from("digraph {\n");
    for variable in variables {
        let _ = writeln!(text, "  {};", quote(&variable.name));
    }
    for variable in variables {
        let child = quote(&variable.name);
        for parent in &variable.parents {
            let _ = writeln!(text, "  {} -> {child};", quote(&variables[*parent].name));
        }
    }
    text.push_str("}\n");
    Ok(text)
}

/// A name as a quoted identifier, displayed as it is.
fn quote(name: &str) -> String {
    let mut quoted = String::from("\"");
    for character in name.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => {}
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::network::{Distribution, Variable};

    #[test]
    fn names_are_escaped() {
        let variable = |name: &str, parents: Vec<usize>| Variable {
            name: name.into(),
            states: vec!["only".into()],
            parents,
            distribution: Distribution::Table(vec![1.0]),
        };
        let variables = vec![
            variable("say \"hi\"", vec![]),
            variable("C:\\ä\nb", vec![0]),
        ];
        let (network, _) = Network::new(variables).unwrap();
        let expected = "digraph {\n  \"say \\\"hi\\\"\";\n  \"C:\\\\ä\\nb\";\n  \
                        \"say \\\"hi\\\"\" -> \"C:\\\\ä\\nb\";\n}\n";
        assert_eq!(write(&network).unwrap(), expected);
    }

    #[test]
    fn a_graph_without_tables_is_not_a_network() {
        assert!(read("digraph { a -> b; }").is_err());
    }
}
