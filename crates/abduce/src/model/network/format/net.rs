//! Hugin's NET language: nodes with states, and potentials whose `data` are the probabilities
//! with the child's states changing fastest, then those of the last parent:
//!
//!   potential (child | parent …) { data = ((p p …) (p p …) …); }
//!
//! Parentheses may group the numbers but need not. `label` and other attributes are ignored.

use super::builder::Builder;
use super::numbers::{Numbers, join};
use super::tokens::{Syntax, Token, Tokens, is_word, quote};
use super::{Format, table};
use crate::Result;
use crate::model::network::{Network, Variable};
use std::fmt::Write;

/// Nodes and potentials.
pub(super) const NET: Format = Format {
    name: "net",
    extensions: &["net", "hugin", "oobn"],
    read,
    write,
};

/// Marks and comments of NET.
static SYNTAX: Syntax = Syntax {
    comments: &["%"],
    block_comments: false,
    marks: b"{}()=;|,",
    quotes: true,
};

/// The kinds of nodes that are refused.
const REFUSED: [&str; 5] = ["continuous", "utility", "decision", "function", "instance"];

/// The words that begin a block.
const KEYWORDS: [&str; 10] = [
    "net",
    "class",
    "node",
    "discrete",
    "potential",
    "continuous",
    "utility",
    "decision",
    "function",
    "instance",
];

/// The network of a file.
fn read(text: &str) -> Result<(Network, Vec<String>)> {
    let mut tokens = Tokens::new(text, &SYNTAX);
    let mut builder = Builder::new(text);
    let mut potentials = Vec::new();
    let mut in_class = false;
    while let Some((token, at)) = tokens.next()? {
        match token {
            Token::Word("net") => tokens.skip_block()?,
            Token::Word("class") if !in_class => {
                tokens.name("the name of the class")?;
                tokens.expect('{')?;
                in_class = true;
            }
            Token::Mark('}') if in_class => in_class = false,
            Token::Word("discrete") => {}
            Token::Word("node") => read_node(&mut tokens, &mut builder)?,
            Token::Word("potential") => {
                // A table can be read only when all variables are known.
                potentials.push((tokens.position(), at));
                tokens.skip_block()?;
            }
            Token::Word(kind) if REFUSED.contains(&kind) => {
                let message = format!("{kind} nodes are not supported");
                return Err(tokens
                    .error(at, message)
                    .with_hint("only chance nodes with states are"));
            }
            // An attribute of the class, such as `inputs = ();`.
            Token::Word(_) if in_class => tokens.skip_past(';')?,
            other => return Err(tokens.unexpected(&other, at, "\"node\" or \"potential\"")),
        }
    }
    if in_class {
        return Err(tokens.error(text.trim_end().len(), "expected \"}\" but the file ends"));
    }
    for (position, at) in potentials {
        tokens.seek(position);
        read_potential(&mut tokens, &mut builder, at)?;
    }
    builder.finish()
}

/// A node, after its first word.
fn read_node(tokens: &mut Tokens<'_>, builder: &mut Builder<'_>) -> Result<()> {
    let (name, name_at) = tokens.name("the name of a node")?;
    let mut states = Vec::new();
    tokens.expect('{')?;
    loop {
        let (token, at) = tokens.require("\"}\"")?;
        match token {
            Token::Mark('}') => break,
            Token::Word("states") => {
                tokens.expect('=')?;
                tokens.expect('(')?;
                let names = tokens.names_until(')', "the name of a state or \")\"")?;
                states = names
                    .into_iter()
                    .map(|(state, _)| state.into_owned())
                    .collect();
                tokens.expect(';')?;
            }
            Token::Word(_) => {
                tokens.expect('=')?;
                tokens.skip_past(';')?;
            }
            other => return Err(tokens.unexpected(&other, at, "an attribute or \"}\"")),
        }
    }
    builder.declare(name.into_owned(), states, name_at)
}

/// A potential, after its first word; the error of its table is at that word.
fn read_potential(
    tokens: &mut Tokens<'_>,
    builder: &mut Builder<'_>,
    block_at: usize,
) -> Result<()> {
    tokens.expect('(')?;
    let (name, name_at) = tokens.name("the name of a node")?;
    let child = builder.position(&name, name_at)?;
    let mut parents = Vec::new();
    if tokens.accept('|')? {
        for (parent, at) in tokens.names_until(')', "the name of a parent or \")\"")? {
            parents.push(builder.position(&parent, at)?);
        }
    } else if !tokens.accept(')')? {
        let message = "a potential of several nodes is not supported";
        return Err(tokens.error(name_at, message));
    }
    let mut data = None;
    tokens.expect('{')?;
    loop {
        let (token, at) = tokens.require("\"}\"")?;
        match token {
            Token::Mark('}') => break,
            Token::Word("data") => {
                tokens.expect('=')?;
                data = Some(read_data(tokens)?);
            }
            Token::Word("model_data" | "model_nodes") => {
                return Err(tokens.error(at, "tables given by an expression are not supported"));
            }
            Token::Word(_) => {
                tokens.expect('=')?;
                tokens.skip_past(';')?;
            }
            other => return Err(tokens.unexpected(&other, at, "\"data\" or \"}\"")),
        }
    }
    let numbers = match data {
        Some(numbers) => numbers,
        None => uniform(builder, child, &parents, block_at)?,
    };
    builder.define(child, parents, numbers, block_at)
}

/// The numbers up to `;`, in parentheses of any depth.
fn read_data(tokens: &mut Tokens<'_>) -> Result<Numbers> {
    let mut numbers = Numbers::default();
    let mut open: Vec<usize> = Vec::new();
    loop {
        let (token, at) = tokens.require("a number or \";\"")?;
        match token {
            Token::Mark('(') => open.push(at),
            Token::Mark(')') if open.pop().is_none() => {
                return Err(tokens.error(at, "this \")\" has no \"(\""));
            }
            Token::Mark(')' | ',') => {}
            Token::Mark(';') => match open.pop() {
                None => return Ok(numbers),
                Some(at) => return Err(tokens.error(at, "this \"(\" has no \")\"")),
            },
            token => numbers.push(tokens.value(&token, at)?, at),
        }
    }
}

/// Hugin's default for a potential without data: all states are equally probable.
fn uniform(
    builder: &mut Builder<'_>,
    child: usize,
    parents: &[usize],
    at: usize,
) -> Result<Numbers> {
    let configurations = builder.expand(child, parents, at)?;
    let states = builder.states(child);
    let name = builder.name(child);
    let note = format!("the potential of \"{name}\" has no data; its states are equally probable");
    builder.note(note);
    let values = vec![1.0 / states as f64; configurations * states];
    Ok(Numbers {
        values,
        places: vec![at],
    })
}

/// The text of a file with the network.
fn write(network: &Network) -> Result<String> {
    let mut text = String::from("net\n{\n}\n");
    for variable in network.variables() {
        let states: Vec<String> = variable.states.iter().map(|state| quote(state)).collect();
        let (name, states) = (name(&variable.name), states.join(" "));
        let _ = writeln!(text, "node {name}\n{{\n    states = ({states});\n}}");
    }
    for variable in network.variables() {
        let parents: Vec<&Variable> = variable
            .parents
            .iter()
            .map(|parent| &network.variables()[*parent])
            .collect();
        let _ = write!(text, "potential ({}", name(&variable.name));
        for (index, parent) in parents.iter().enumerate() {
            let separator = if index == 0 { " | " } else { " " };
            let _ = write!(text, "{separator}{}", name(&parent.name));
        }
        text.push_str(")\n{\n    data = ");
        write_data(&mut text, variable, &parents);
        text.push_str(";\n}\n");
    }
    Ok(text)
}

/// The table in nested parentheses: a pair for each configuration of the first parents.
fn write_data(text: &mut String, variable: &Variable, parents: &[&Variable]) {
    // After how many rows each parent's state changes, and the first parent's parentheses end.
    let mut spans = vec![1];
    for parent in parents.iter().rev() {
        spans.push(spans[spans.len() - 1] * parent.states.len());
    }
    for (row, probabilities) in table(variable).chunks(variable.states.len()).enumerate() {
        if row > 0 {
            text.push_str("\n            ");
        }
        let opened = spans.iter().filter(|span| row % **span == 0).count();
        let closed = spans.iter().filter(|span| (row + 1) % **span == 0).count();
        let open = "(".repeat(opened);
        let _ = write!(
            text,
            "{open}{}{}",
            join(probabilities, " "),
            ")".repeat(closed)
        );
    }
}

/// A name as it is written: in quotes only if Hugin could not hold it.
fn name(name: &str) -> String {
    let identifier = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    if identifier && is_word(name, &SYNTAX) && !KEYWORDS.contains(&name) {
        return name.to_string();
    }
    quote(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "node a { states = (\"y\" \"n\"); }\nnode b { states = (\"y\" \"n\"); }\n";

    fn message(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn data_are_nested_as_hugin_writes_them() {
        let text = format!(
            "{TWO}node c {{ states = (\"1\" \"2\" \"3\"); }}\npotential (a) {{ }} potential (b) {{ }}\n\
             potential (c | a b) {{ data = (0 0 1 0 1 0 1 0 0 0.5 0.5 0); }}"
        );
        let written = write(&read(&text).unwrap().0).unwrap();
        let expected = "potential (c | a b)\n{\n    data = (((0.0 0.0 1.0)\n            (0.0 1.0 0.0))\n            \
                        ((1.0 0.0 0.0)\n            (0.5 0.5 0.0)));\n}\n";
        assert!(written.ends_with(expected), "{written}");
    }

    #[test]
    fn only_names_that_hugin_cannot_hold_are_quoted() {
        assert_eq!(name("Visit_2"), "Visit_2");
        assert_eq!(name("2nd"), "\"2nd\"");
        assert_eq!(name("node"), "\"node\"");
        assert_eq!(name("a \"b\""), "\"a \\\"b\\\"\"");
    }

    #[test]
    fn other_kinds_of_nodes_are_refused_by_name() {
        for kind in [
            "continuous node",
            "utility",
            "decision",
            "function",
            "instance",
        ] {
            let message = message(&format!("{TWO} {kind} c {{ }}"));
            let word = kind.split(' ').next().unwrap();
            let expected = format!("line 3: {word} nodes are not supported, at character 2");
            assert!(message.starts_with(&expected), "{message}");
        }
        let joint = "line 3: a potential of several nodes is not supported, at character 12";
        assert_eq!(message(&format!("{TWO}potential (a b) {{ }}")), joint);
        let model = "line 3: tables given by an expression are not supported, at character 17";
        assert_eq!(
            message(&format!("{TWO}potential (a) {{ model_data = (x); }}")),
            model
        );
    }

    #[test]
    fn errors_are_at_the_number() {
        let with = |data: &str| message(&format!("{TWO}potential (a) {{ data = {data}; }}"));
        assert_eq!(
            with("(0.5 x)"),
            "line 3: expected a number but found \"x\", at character 29"
        );
        assert_eq!(
            with("(0.5 0.5"),
            "line 3: this \"(\" has no \")\", at character 24"
        );
        assert_eq!(
            with("0.5 0.5)"),
            "line 3: this \")\" has no \"(\", at character 31"
        );
        let size = "line 3: the table of \"a\" has 1 probabilities; 2 are expected, at character 1";
        assert_eq!(with("(1)"), size);
        assert!(
            with("(0.5 0.4)")
                .starts_with("line 3: probabilities of \"a\" sum to 0.9, not to 1, at ")
        );
        let normal = "line 3: expected a number but found \"normal\", at character 26";
        assert_eq!(with("( normal ( 0, 1 ) )"), normal);
    }
}
