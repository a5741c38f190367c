//! XMLBIF 0.3 (Cozman 1998). In a TABLE the states of the FOR variable change fastest, then
//! those of the last GIVEN variable. Properties are ignored. A name with space around it has the
//! attribute `xml:space="preserve"`.

use super::builder::Builder;
use super::numbers::join;
use super::{Format, table, xml};
use crate::Result;
use crate::model::network::Network;
use roxmltree::Node;
use std::fmt::Write;

/// BIF in XML.
pub(super) const XMLBIF: Format = Format {
    name: "xmlbif",
    extensions: &["xml", "xmlbif", "bifxml"],
    read,
    write,
};

/// The head of a file. It has no document type definition, since pyAgrum cannot read one.
const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<BIF VERSION="0.3">
<NETWORK>
<NAME>unknown</NAME>
"#;

/// The network of a file.
fn read(text: &str) -> Result<(Network, Vec<String>)> {
    let document = xml::parse(text)?;
    let root = document.root_element();
    if !root.has_tag_name("BIF") {
        let found = root.tag_name().name();
        return Err(xml::error(
            root,
            format!("expected the element <BIF> but found <{found}>"),
        ));
    }
    let network = xml::child(root, "NETWORK")?;
    let mut builder = Builder::new(text);
    for node in xml::children(network, "VARIABLE") {
        read_variable(node, &mut builder)?;
    }
    for node in xml::children(network, "DEFINITION") {
        read_definition(node, &mut builder)?;
    }
    builder.finish()
}

/// A VARIABLE element.
fn read_variable(node: Node<'_, '_>, builder: &mut Builder<'_>) -> Result<()> {
    let name = xml::content(xml::child(node, "NAME")?);
    let kind = node.attribute("TYPE").unwrap_or("nature");
    if kind != "nature" {
        let message = format!("the variable \"{name}\" is a {kind} node, which is not supported");
        return Err(xml::error(node, message).with_hint("only chance nodes with states are"));
    }
    let states = xml::children(node, "OUTCOME").map(xml::content).collect();
    builder.declare(name, states, node.range().start)
}

/// A DEFINITION element.
fn read_definition(node: Node<'_, '_>, builder: &mut Builder<'_>) -> Result<()> {
    let variable = |node: Node<'_, '_>, builder: &Builder<'_>| {
        builder.position(&xml::content(node), node.range().start)
    };
    let child = variable(xml::child(node, "FOR")?, builder)?;
    if let Some(second) = xml::children(node, "FOR").nth(1) {
        return Err(xml::error(
            second,
            "a table of several variables is not supported",
        ));
    }
    let mut parents = Vec::new();
    for given in xml::children(node, "GIVEN") {
        parents.push(variable(given, builder)?);
    }
    let table = xml::child(node, "TABLE")?;
    builder.define(child, parents, xml::numbers(table)?, table.range().start)
}

/// The text of a file with the network.
fn write(network: &Network) -> Result<String> {
    let mut text = String::from(HEAD);
    for variable in network.variables() {
        text.push_str("<VARIABLE TYPE=\"nature\">\n");
        let _ = writeln!(text, "  {}", xml::element("NAME", &variable.name)?);
        for state in &variable.states {
            let _ = writeln!(text, "  {}", xml::element("OUTCOME", state)?);
        }
        text.push_str("</VARIABLE>\n");
    }
    for variable in network.variables() {
        text.push_str("<DEFINITION>\n");
        let _ = writeln!(text, "  {}", xml::element("FOR", &variable.name)?);
        for parent in &variable.parents {
            let name = &network.variables()[*parent].name;
            let _ = writeln!(text, "  {}", xml::element("GIVEN", name)?);
        }
        text.push_str("  <TABLE>\n");
        for row in table(variable).chunks(variable.states.len()) {
            let _ = writeln!(text, "    {}", join(row, " "));
        }
        text.push_str("  </TABLE>\n</DEFINITION>\n");
    }
    text.push_str("</NETWORK>\n</BIF>\n");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    /// The dog problem (Charniak 1991) in the definition of the format.
    #[test]
    fn the_last_given_changes_fastest_after_the_child() {
        let variable = |name: &str| {
            format!(
                "<VARIABLE><NAME>{name}</NAME><OUTCOME>t</OUTCOME><OUTCOME>f</OUTCOME></VARIABLE>"
            )
        };
        let root = |name: &str, p: &str| {
            format!("<DEFINITION><FOR>{name}</FOR><TABLE>{p}</TABLE></DEFINITION>")
        };
        let text = format!(
            "<BIF><NETWORK>{}{}{}{}{}<DEFINITION><FOR>dog-out</FOR><GIVEN>bowel-problem</GIVEN>\
             <GIVEN>family-out</GIVEN><TABLE>0.99 0.01 0.97 0.03 0.9 0.1 0.3 0.7</TABLE>\
             </DEFINITION></NETWORK></BIF>",
            variable("dog-out"),
            variable("bowel-problem"),
            variable("family-out"),
            root("bowel-problem", "0.01 0.99"),
            root("family-out", "0.15 0.85"),
        );
        let (network, _) = read(&text).unwrap();
        let dog_out = &network.variables()[0];
        assert_eq!(dog_out.parents, [1, 2]);
        // P(dog-out | no bowel problem, family out) = 0.9.
        assert_eq!(table(dog_out)[4], 0.9);
    }

    #[test]
    fn errors_have_the_place_of_their_element() {
        let file =
            |content: &str| format!("<BIF VERSION=\"0.3\"><NETWORK>\n {content}</NETWORK></BIF>");
        let decision = "line 2: the variable \"a\" is a decision node, which is not supported, at \
                        character 2; only chance nodes with states are";
        let node = "<VARIABLE TYPE=\"decision\"><NAME>a</NAME></VARIABLE>";
        assert_eq!(message(&file(node)), decision);
        let name = "line 2: the element <VARIABLE> has no <NAME>, at character 2";
        assert_eq!(message(&file("<VARIABLE/>")), name);
        let one = "<VARIABLE><NAME>a</NAME><OUTCOME>t</OUTCOME></VARIABLE>\n ";
        let table = |text: &str| message(&file(&format!("{one}{text}")));
        let unknown = "line 3: there is no variable \"b\", at character 14";
        assert_eq!(table("<DEFINITION><FOR>b</FOR></DEFINITION>"), unknown);
        let sum = "line 3: probabilities of \"a\" sum to 0.5, not to 1, at character 34";
        assert_eq!(
            table("<DEFINITION><FOR>a</FOR><TABLE> 0.5</TABLE></DEFINITION>"),
            sum
        );
        let root = "line 1: expected the element <BIF> but found <bif>, at character 1";
        assert_eq!(message("<bif/>"), root);
    }

    #[test]
    fn deep_and_wide_files_are_read_without_a_panic() {
        assert!(read(&"<a>".repeat(1 << 20)).is_err());
        let deep = format!("{}{}", "<a>".repeat(1 << 16), "</a>".repeat(1 << 16));
        assert!(read(&deep).is_err());
    }
}
