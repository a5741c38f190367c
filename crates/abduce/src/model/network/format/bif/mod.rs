//! BIF 0.3, the Bayesian interchange format (Cozman 1996), as bnlearn's repository uses it:
//!
//!   probability ( child | parent, … ) { (state, …) p, p, …; … }
//!
//! `default` fills the rows that are not given. In a `table` the states of the last parent
//! change fastest and those of the child slowest, as in JavaBayes and pyAgrum.

mod write;

use super::Format;
use super::builder::Builder;
use super::numbers::Numbers;
use super::tokens::{Syntax, Token, Tokens};
use crate::Result;
use crate::model::network::Network;
use std::collections::HashSet;

/// Blocks of variables and of probabilities.
pub(super) const BIF: Format = Format {
    name: "bif",
    extensions: &["bif"],
    read,
    write: write::write,
};

/// Marks and comments of BIF.
static SYNTAX: Syntax = Syntax {
    comments: &["//"],
    block_comments: true,
    marks: b"{}()[],;|",
    quotes: true,
};

/// The network of a file.
fn read(text: &str) -> Result<(Network, Vec<String>)> {
    let mut tokens = Tokens::new(text, &SYNTAX);
    let mut builder = Builder::new(text);
    let mut probability_blocks = Vec::new();
    while let Some((token, at)) = tokens.next()? {
        match token {
            Token::Word("network") => tokens.skip_block()?,
            Token::Word("variable") => read_variable(&mut tokens, &mut builder)?,
            Token::Word("probability") => {
                // A table can be read only when all variables are known.
                probability_blocks.push((tokens.position(), at));
                tokens.skip_block()?;
            }
            Token::Mark(';') => {}
            other => {
                let expected = "\"network\", \"variable\" or \"probability\"";
                return Err(tokens.unexpected(&other, at, expected));
            }
        }
    }
    for (position, at) in probability_blocks {
        tokens.seek(position);
        read_probability(&mut tokens, &mut builder, at)?;
    }
    builder.finish()
}

/// A variable block, after its first word.
fn read_variable(tokens: &mut Tokens<'_>, builder: &mut Builder<'_>) -> Result<()> {
    let (name, name_at) = tokens.name("the name of a variable")?;
    let mut states = Vec::new();
    tokens.expect('{')?;
    loop {
        let (token, at) = tokens.require("\"}\"")?;
        match token {
            Token::Word("type") => states = read_type(tokens)?,
            Token::Word("property") => tokens.skip_past(';')?,
            Token::Mark('}') => break,
            other => return Err(tokens.unexpected(&other, at, "\"type\", \"property\" or \"}\"")),
        }
    }
    builder.declare(name.into_owned(), states, name_at)
}

/// The states in `discrete [ 2 ] { yes, no };`.
fn read_type(tokens: &mut Tokens<'_>) -> Result<Vec<String>> {
    let (kind, at) = tokens.require("\"discrete\"")?;
    if kind != Token::Word("discrete") {
        let error = tokens.unexpected(&kind, at, "\"discrete\"");
        return Err(error.with_hint("only variables with states are supported"));
    }
    tokens.expect('[')?;
    let (count, count_at) = tokens.integer("the number of states")?;
    tokens.expect(']')?;
    tokens.expect('{')?;
    let states = tokens.names_until('}', "the name of a state")?;
    tokens.accept(';')?;
    if states.len() != count {
        let message = format!(
            "{count} states are declared but {} are listed",
            states.len()
        );
        return Err(tokens.error(count_at, message));
    }
    Ok(states
        .into_iter()
        .map(|(state, _)| state.into_owned())
        .collect())
}

/// The lines of a probability block.
#[derive(Default)]
struct Lines {
    /// The configurations that have a row.
    seen: HashSet<usize>,
    /// The configuration of each row, in the order of the file.
    configurations: Vec<usize>,
    /// The probabilities of the rows.
    rows: Numbers,
    default: Option<Numbers>,
    table: Option<Numbers>,
}

/// A probability block, after its first word; the error of its table is at that word.
fn read_probability(
    tokens: &mut Tokens<'_>,
    builder: &mut Builder<'_>,
    block_at: usize,
) -> Result<()> {
    tokens.expect('(')?;
    let (name, name_at) = tokens.name("the name of a variable")?;
    let child = builder.position(&name, name_at)?;
    let _ = tokens.accept('|')? || tokens.accept(',')?;
    let mut parents = Vec::new();
    for (parent, at) in tokens.names_until(')', "the name of a parent or \")\"")? {
        parents.push(builder.position(&parent, at)?);
    }
    let lines = read_lines(tokens, builder, child, &parents)?;
    let numbers = if let Some(table) = lines.table {
        child_fastest(table, builder.states(child))
    } else {
        in_order(lines, builder, child, &parents, block_at)?
    };
    builder.define(child, parents, numbers, block_at)
}

/// The lines of a probability block, in braces.
fn read_lines(
    tokens: &mut Tokens<'_>,
    builder: &Builder<'_>,
    child: usize,
    parents: &[usize],
) -> Result<Lines> {
    let states = builder.states(child);
    let mut lines = Lines::default();
    tokens.expect('{')?;
    loop {
        let (token, at) = tokens.require("\"}\"")?;
        let other_lines = !lines.configurations.is_empty() || lines.default.is_some();
        match token {
            Token::Mark('}') => return Ok(lines),
            Token::Word("property") => tokens.skip_past(';')?,
            Token::Word("table") if lines.table.is_none() && !other_lines => {
                lines.table = Some(tokens.numbers_until(';')?);
            }
            Token::Word("default") if lines.table.is_none() && lines.default.is_none() => {
                lines.default = Some(read_row(tokens, states, at)?);
            }
            Token::Mark('(') if lines.table.is_none() => {
                let configuration = read_configuration(tokens, builder, parents, at)?;
                if !lines.seen.insert(configuration) {
                    return Err(tokens.error(at, "this configuration has two rows"));
                }
                lines.configurations.push(configuration);
                let row = read_row(tokens, states, at)?;
                lines.rows.values.extend(row.values);
                lines.rows.places.extend(row.places);
            }
            Token::Word("table" | "default") | Token::Mark('(') => {
                return Err(tokens.error(at, "a block has one table, or rows and one default"));
            }
            other => return Err(tokens.unexpected(&other, at, "a row of the table or \"}\"")),
        }
    }
}

/// The number of the configuration in `(state, …)`.
fn read_configuration(
    tokens: &mut Tokens<'_>,
    builder: &Builder<'_>,
    parents: &[usize],
    at: usize,
) -> Result<usize> {
    let names = tokens.names_until(')', "the name of a state or \")\"")?;
    if names.len() != parents.len() {
        let message = format!(
            "the row has {} states for {} parents",
            names.len(),
            parents.len()
        );
        return Err(tokens.error(at, message));
    }
    let mut configuration = 0usize;
    for ((name, name_at), parent) in names.iter().zip(parents) {
        let state = builder.state(*parent, name, *name_at)?;
        configuration = configuration
            .checked_mul(builder.states(*parent))
            .and_then(|product| product.checked_add(state))
            .ok_or_else(|| tokens.error(at, "the table is too large"))?;
    }
    Ok(configuration)
}

/// The probabilities of a row, up to its end.
fn read_row(tokens: &mut Tokens<'_>, states: usize, at: usize) -> Result<Numbers> {
    let row = tokens.numbers_until(';')?;
    if row.values.len() != states {
        let found = row.values.len();
        let message = format!("the row has {found} probabilities; {states} are expected");
        return Err(tokens.error(at, message));
    }
    Ok(row)
}

/// A table with the child's states changing slowest, with them changing fastest.
fn child_fastest(table: Numbers, states: usize) -> Numbers {
    let size = table.values.len();
    if !size.is_multiple_of(states) {
        // The size will be reported.
        return table;
    }
    let configurations = size / states;
    let sources = (0..size).map(|to| (to % states) * configurations + to / states);
    let mut sorted = Numbers::default();
    sources.for_each(|from| sorted.push(table.values[from], table.places[from]));
    sorted
}

/// The rows in the order of the configurations, with the default where there is none.
fn in_order(
    lines: Lines,
    builder: &mut Builder<'_>,
    child: usize,
    parents: &[usize],
    block_at: usize,
) -> Result<Numbers> {
    let states = builder.states(child);
    let found = lines.configurations.len();
    let complete = builder.configurations(parents) == Some(found);
    let mut sorted = match lines.default {
        // Every row is overwritten.
        _ if complete => {
            let size = lines.rows.values.len();
            Numbers {
                values: vec![0.0; size],
                places: vec![0; size],
            }
        }
        Some(default) => {
            let configurations = builder.expand(child, parents, block_at)?;
            let values = default.values.repeat(configurations);
            Numbers {
                values,
                places: default.places.repeat(configurations),
            }
        }
        None => {
            let name = builder.name(child);
            let expected = builder.configurations(parents);
            let expected = expected.map_or("too many".to_string(), |count| count.to_string());
            let message =
                format!("the table of \"{name}\" has {found} rows; {expected} are expected");
            return Err(builder
                .error(block_at, message)
                .with_hint("add the rows or a default"));
        }
    };
    for (row, configuration) in lines.configurations.iter().enumerate() {
        let (from, to) = (row * states, configuration * states);
        sorted.values[to..to + states].copy_from_slice(&lines.rows.values[from..from + states]);
        sorted.places[to..to + states].copy_from_slice(&lines.rows.places[from..from + states]);
    }
    Ok(sorted)
}

#[cfg(test)]
mod tests {
    use super::super::table;
    use super::*;

    const TWO: &str = "variable a { type discrete [ 2 ] { <5, Asy/Patch. }; }\n\
                       variable b { type discrete [ 3 ] { 0-3_days, 12+, None }; }\n\
                       probability ( a ) { table 0.25, 0.75; }\n";

    fn message(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    fn rows(rows: &str) -> String {
        format!("{TWO}probability ( b | a ) {{\n{rows}\n}}\n")
    }

    #[test]
    fn a_table_has_the_child_changing_slowest() {
        let text = rows("table 0.1, 0.2, 0.3, 0.3, 0.6, 0.5;");
        let (network, _) = read(&text).unwrap();
        assert_eq!(
            table(&network.variables()[1]),
            [0.1, 0.3, 0.6, 0.2, 0.3, 0.5]
        );
    }

    #[test]
    fn names_of_the_repository_are_written_without_quotes() {
        let (network, _) = read(&rows("default 0.2 0.2 0.6;")).unwrap();
        let text = write::write(&network).unwrap();
        assert!(text.contains("{ <5, Asy/Patch. }"), "{text}");
        assert!(text.contains("(<5) 0.2, 0.2, 0.6;"), "{text}");
    }

    #[test]
    fn errors_are_at_the_row() {
        let good = "(<5) 0.2 0.2 0.6;";
        let sum = "probabilities of \"b\" sum to";
        assert!(
            message(&rows(&format!("{good}\n (Asy/Patch.) 0.2 0.2 0.2;"))).starts_with("line 6")
        );
        assert!(message(&rows(&format!("{good}\n (Asy/Patch.) 0.2 0.2 0.2;"))).contains(sum));
        let state = "line 5: the variable \"a\" has no state \"5\", at character 2";
        assert_eq!(message(&rows("(5) 0.2 0.2 0.6;")), state);
        let twice = "line 5: this configuration has two rows, at character 19";
        assert_eq!(message(&rows(&format!("{good} {good}"))), twice);
        let few = "line 4: the table of \"b\" has 1 rows; 2 are expected, at character 1; \
                   add the rows or a default";
        assert_eq!(message(&rows(good)), few);
        let short = "line 5: the row has 2 probabilities; 3 are expected, at character 1";
        assert_eq!(message(&rows("(<5) 0.2 0.8;")), short);
        let number = "line 5: expected a number but found \"O.2\", at character 6";
        assert_eq!(message(&rows("(<5) O.2 0.8;")), number);
        let both = "line 5: a block has one table, or rows and one default, at character 19";
        assert_eq!(message(&rows(&format!("{good} table 1;"))), both);
    }

    #[test]
    fn errors_are_at_the_variable() {
        let count = "line 1: 3 states are declared but 2 are listed, at character 30";
        assert_eq!(
            message("variable x { type discrete [ 3 ] { a, b }; }"),
            count
        );
        let kind = "line 1: expected \"discrete\" but found \"continuous\", at character 19; \
                    only variables with states are supported";
        assert_eq!(message("variable x { type continuous; }"), kind);
        let none = "line 2: the variable \"b\" has no table, at character 10";
        assert_eq!(message(TWO), none);
        let unknown = "line 1: there is no variable \"x\", at character 15";
        assert_eq!(message("probability ( x ) { table 1; }"), unknown);
        let twice = TWO.replace("variable b", "variable a");
        assert!(message(&twice).starts_with("line 2: two variables are named \"a\""));
        assert_eq!(
            message(""),
            "line 1: the file has no variables, at character 1"
        );
        assert!(message("<?xml?>").contains("found \"<?xml?>\""));
    }

    #[test]
    fn a_cycle_is_an_error_at_a_table_on_it() {
        let text = rows("default 0.2 0.2 0.6;").replace("( a )", "( a | b )");
        let text = text.replace("table 0.25, 0.75", "default 0.25, 0.75");
        assert!(
            message(&text).starts_with("line 3: the graph has a cycle"),
            "{}",
            message(&text)
        );
    }

    #[test]
    fn a_small_file_cannot_ask_for_a_huge_table() {
        let mut text = String::from("variable a { type discrete [ 2 ] { y, n }; }\n");
        let parents: Vec<String> = (0..80).map(|parent| format!("p{parent}")).collect();
        for parent in &parents {
            text += &format!("variable {parent} {{ type discrete [ 2 ] {{ y, n }}; }}\n");
        }
        text += &format!(
            "probability ( a | {} ) {{ default 0.5 0.5; }}",
            parents.join(" ")
        );
        assert!(message(&text).contains("the table of \"a\" is too large"));
    }
}
