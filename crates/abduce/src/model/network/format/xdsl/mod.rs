//! GeNIe's XDSL. In `<probabilities>` the node's states change fastest, then those of the last
//! parent. Nodes of the kinds `cpt`, `deterministic` and `noisymax` are read, as tables; tables
//! are written as `cpt`, parents before children. (pyAgrum 3.3 takes the states of the first
//! parent to change fastest, in XDSL and in UAI, and so swaps the parents of a table.)

mod identifier;
mod noisy_max;

use super::builder::Builder;
use super::numbers::{Numbers, join};
use super::{Format, table, xml};
use crate::Result;
use crate::model::network::Network;
use roxmltree::Node;
use std::fmt::Write;

/// Networks of GeNIe and SMILE.
pub(super) const XDSL: Format = Format {
    name: "xdsl",
    extensions: &["xdsl"],
    read,
    write,
};

/// The network of a file.
fn read(text: &str) -> Result<(Network, Vec<String>)> {
    let document = xml::parse(text)?;
    let root = document.root_element();
    if !root.has_tag_name("smile") {
        let found = root.tag_name().name();
        return Err(xml::error(
            root,
            format!("expected the element <smile> but found <{found}>"),
        ));
    }
    if let Some(dynamic) = xml::children(root, "dynamic").next() {
        return Err(xml::error(dynamic, "dynamic networks are not supported"));
    }
    let nodes = xml::child(root, "nodes")?;
    let mut builder = Builder::new(text);
    for node in nodes.children().filter(Node::is_element) {
        let kind = node.tag_name().name();
        let name = identifier::decode(xml::attribute(node, "id")?);
        if !["cpt", "deterministic", "noisymax"].contains(&kind) {
            let message =
                format!("the node \"{name}\" has the kind {kind}, which is not supported");
            let hint = "the kinds cpt, deterministic and noisymax are supported";
            return Err(xml::error(node, message).with_hint(hint));
        }
        let mut states = Vec::new();
        for state in xml::children(node, "state") {
            states.push(identifier::decode(xml::attribute(state, "id")?));
        }
        builder.declare(name, states, node.range().start)?;
    }
    for (child, node) in nodes.children().filter(Node::is_element).enumerate() {
        read_table(node, child, &mut builder)?;
    }
    builder.finish()
}

/// The parents and the table of a node.
fn read_table(node: Node<'_, '_>, child: usize, builder: &mut Builder<'_>) -> Result<()> {
    let mut parents = Vec::new();
    for list in xml::children(node, "parents") {
        for (word, at) in xml::words(list) {
            parents.push(builder.position(&identifier::decode(word), at)?);
        }
    }
    let at = node.range().start;
    let numbers = match node.tag_name().name() {
        "deterministic" => deterministic(node, child, &parents, builder)?,
        "noisymax" => noisy_max::table(node, child, &parents, builder)?,
        _ => xml::numbers(xml::child(node, "probabilities")?)?,
    };
    builder.define(child, parents, numbers, at)
}

/// The table of a node whose state is known for each configuration of its parents.
fn deterministic(
    node: Node<'_, '_>,
    child: usize,
    parents: &[usize],
    builder: &mut Builder<'_>,
) -> Result<Numbers> {
    let list = xml::child(node, "resultingstates")?;
    let words = xml::words(list);
    let configurations = builder.expand(child, parents, list.range().start)?;
    if words.len() != configurations {
        let (name, found) = (builder.name(child), words.len());
        let message = format!(
            "the node \"{name}\" has {found} resulting states; {configurations} are expected"
        );
        return Err(xml::error(list, message));
    }
    let states = builder.states(child);
    let mut values = vec![0.0; configurations * states];
    for (configuration, (word, at)) in words.into_iter().enumerate() {
        let state = builder.state(child, &identifier::decode(word), at)?;
        values[configuration * states + state] = 1.0;
    }
    Ok(Numbers {
        values,
        places: vec![list.range().start],
    })
}

/// The text of a file with the network, as `cpt` nodes.
fn write(network: &Network) -> Result<String> {
    let variables = network.variables();
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <smile version=\"1.0\" id=\"Network\" numsamples=\"1000\">\n  <nodes>\n",
    );
    for position in network.order() {
        let variable = &variables[*position];
        let _ = writeln!(
            text,
            "    <cpt id=\"{}\">",
            identifier::encode(&variable.name)
        );
        for state in &variable.states {
            let _ = writeln!(text, "      <state id=\"{}\" />", identifier::encode(state));
        }
        if !variable.parents.is_empty() {
            let parents: Vec<String> = variable
                .parents
                .iter()
                .map(|parent| identifier::encode(&variables[*parent].name))
                .collect();
            let _ = writeln!(text, "      <parents>{}</parents>", parents.join(" "));
        }
        let probabilities = join(table(variable), " ");
        let _ = writeln!(
            text,
            "      <probabilities>{probabilities}</probabilities>\n    </cpt>"
        );
    }
    text.push_str("  </nodes>\n  <extensions>\n");
    text.push_str("    <genie version=\"1.0\" app=\"abduce\" name=\"Network\">\n");
    for variable in variables {
        // GeNIe displays these names; what XML cannot hold is displayed as its identifier.
        let id = identifier::encode(&variable.name);
        let name = xml::escape(&variable.name).unwrap_or_else(|_| id.as_str().into());
        let _ = writeln!(
            text,
            "      <node id=\"{id}\">\n        <name>{name}</name>\n      </node>"
        );
    }
    text.push_str("    </genie>\n  </extensions>\n</smile>\n");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(nodes: &str) -> String {
        let a = "<cpt id=\"a\"><state id=\"y\"/><state id=\"n\"/><probabilities>1 0</probabilities></cpt>";
        read(&format!("<smile><nodes>{a}\n{nodes}</nodes></smile>"))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn other_kinds_of_nodes_are_refused_by_name() {
        for kind in [
            "noisyadder",
            "decision",
            "utility",
            "mau",
            "equation",
            "demorgan",
        ] {
            let expected = format!(
                "line 2: the node \"b\" has the kind {kind}, which is not supported, at character 1; \
                 the kinds cpt, deterministic and noisymax are supported"
            );
            assert_eq!(message(&format!("<{kind} id=\"b\"/>")), expected);
        }
    }

    #[test]
    fn errors_have_the_place_of_their_word() {
        let states = "<state id=\"y\"/><state id=\"n\"/>";
        let parent = "line 2: there is no variable \"c\", at character 54";
        assert_eq!(
            message(&format!(
                "<cpt id=\"b\">{states}<parents>a c</parents></cpt>"
            )),
            parent
        );
        let node = |list: &str| {
            format!(
                "<deterministic id=\"b\">{states}<parents>a</parents>\
                 \n<resultingstates>{list}</resultingstates></deterministic>"
            )
        };
        let state = "line 3: the variable \"b\" has no state \"z\", at character 20";
        assert_eq!(message(&node("y z")), state);
        let few = "line 3: the node \"b\" has 1 resulting states; 2 are expected, at character 1";
        assert_eq!(message(&node("y")), few);
    }

    #[test]
    fn a_wide_deterministic_node_cannot_ask_for_a_huge_table() {
        // Its states and its configurations are each as many as the file has room for.
        let count = 6000;
        let states: String = (0..count)
            .map(|state| format!("<state id=\"s{state}\"/>"))
            .collect();
        let probabilities = "0 ".repeat(count - 1) + "1";
        let resulting = "s0 ".repeat(count);
        let text = format!(
            "<smile><nodes><cpt id=\"a\">{states}<probabilities>{probabilities}</probabilities></cpt>\
             <deterministic id=\"b\">{states}<parents>a</parents>\
             <resultingstates>{resulting}</resultingstates></deterministic></nodes></smile>"
        );
        assert!(read(&text).unwrap_err().message().contains("too large"));
    }
}
