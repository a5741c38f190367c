//! The format of the UAI inference competitions: `BAYES` or `MARKOV`, the number of states of
//! each variable, the variables of each factor, then its numbers with the last variable's states
//! changing fastest. The last variable of a Bayesian network's factor is the child. Variables
//! have no names: they are read as x0, x1, … and their states as 0, 1, …

use super::builder::Builder;
use super::numbers::{Numbers, join};
use super::place::error_at;
use super::tokens::{Syntax, Token, Tokens};
use super::{Format, table};
use crate::model::network::Network;
use crate::{Error, Result};
use std::collections::HashSet;
use std::fmt::Write;

/// Factors of numbered variables.
pub(super) const UAI: Format = Format {
    name: "uai",
    extensions: &["uai"],
    read,
    write,
};

/// A line that begins with `c` is a comment; pyAgrum writes `#`.
static SYNTAX: Syntax = Syntax {
    comments: &["#", "c"],
    block_comments: false,
    marks: b"",
    quotes: false,
};

/// The variables of a factor and its numbers.
pub type ScopedTable = (Vec<usize>, Vec<f64>);

/// The content of a file.
struct Factors {
    markov: bool,
    cardinalities: Vec<usize>,
    factors: Vec<Factor>,
}

/// A factor and the byte offset of its variables.
struct Factor {
    scope: Vec<usize>,
    numbers: Numbers,
    at: usize,
}

/// The network of a `BAYES` file.
fn read(text: &str) -> Result<(Network, Vec<String>)> {
    let Factors {
        markov,
        cardinalities,
        factors,
    } = parse(text)?;
    if markov {
        let error = error_at(text, 0, "this is a Markov network, not a Bayesian network");
        return Err(error.with_hint("Markov networks are not supported"));
    }
    // Each variable has a table, so that its states are no more than the file's numbers.
    let mut children = HashSet::new();
    for factor in &factors {
        let Some(child) = factor.scope.last() else {
            return Err(error_at(
                text,
                factor.at,
                "a factor of a Bayesian network has no variable",
            ));
        };
        if !children.insert(*child) {
            let message = format!("variable {child} is the last variable of two factors");
            return Err(error_at(text, factor.at, message)
                .with_hint("the last variable of a factor is the child"));
        }
    }
    if let Some(missing) = (0..cardinalities.len()).find(|child| !children.contains(child)) {
        let message = format!("variable {missing} is not the last variable of a factor");
        return Err(
            error_at(text, 0, message).with_hint("the last variable of a factor is the child")
        );
    }
    let mut builder = Builder::new(text);
    for (variable, cardinality) in cardinalities.iter().enumerate() {
        let states = (0..*cardinality).map(|state| state.to_string()).collect();
        builder.declare(format!("x{variable}"), states, 0)?;
    }
    for mut factor in factors {
        if let Some(child) = factor.scope.pop() {
            builder.define(child, factor.scope, factor.numbers, factor.at)?;
        }
    }
    builder.finish()
}

/// The numbers of states of the variables, and the factors, of a `BAYES` or `MARKOV` file. The
/// state of a factor's last variable changes fastest.
///
/// # Errors
/// If the text is not a UAI model; the error has the line and the character.
///
/// ```
/// use abduce::model::network::format::read_factors;
/// let (cardinalities, factors) = read_factors("MARKOV 2 2 3 1 1 0 2 0.25 4").unwrap();
/// assert_eq!(cardinalities, [2, 3]);
/// assert_eq!(factors, [(vec![0], vec![0.25, 4.0])]);
/// ```
pub fn read_factors(text: &str) -> Result<(Vec<usize>, Vec<ScopedTable>)> {
    let Factors {
        cardinalities,
        factors,
        ..
    } = parse(text)?;
    let factors = factors
        .into_iter()
        .map(|factor| (factor.scope, factor.numbers.values))
        .collect();
    Ok((cardinalities, factors))
}

/// The content of a file of either kind.
fn parse(text: &str) -> Result<Factors> {
    let mut tokens = Tokens::new(text, &SYNTAX);
    let (kind, at) = tokens.require("\"BAYES\" or \"MARKOV\"")?;
    let markov = match kind {
        Token::Word("BAYES") => false,
        Token::Word("MARKOV") => true,
        other => return Err(tokens.unexpected(&other, at, "\"BAYES\" or \"MARKOV\"")),
    };
    // Counts are not trusted: nothing is allocated before the numbers have been read.
    let (variables, _) = tokens.integer("the number of variables")?;
    let mut cardinalities = Vec::new();
    for _ in 0..variables {
        let (cardinality, at) = tokens.integer("the number of states of a variable")?;
        if cardinality == 0 {
            return Err(tokens.error(at, "a variable has no states"));
        }
        cardinalities.push(cardinality);
    }
    let (count, _) = tokens.integer("the number of factors")?;
    let mut factors = Vec::new();
    for _ in 0..count {
        factors.push(read_scope(&mut tokens, variables)?);
    }
    for factor in &mut factors {
        read_table(&mut tokens, &cardinalities, factor)?;
    }
    match tokens.next()? {
        None => Ok(Factors {
            markov,
            cardinalities,
            factors,
        }),
        Some((token, at)) => Err(tokens.unexpected(&token, at, "the end of the file")),
    }
}

/// The variables of a factor.
fn read_scope(tokens: &mut Tokens<'_>, variables: usize) -> Result<Factor> {
    let (size, at) = tokens.integer("the number of variables of a factor")?;
    let mut scope = Vec::new();
    let mut seen = HashSet::new();
    for _ in 0..size {
        let (variable, at) = tokens.integer("the number of a variable")?;
        if variable >= variables {
            let message = format!("there is no variable {variable}: there are {variables}");
            return Err(tokens
                .error(at, message)
                .with_hint("variables are counted from 0"));
        }
        if !seen.insert(variable) {
            return Err(tokens.error(at, format!("the factor has variable {variable} twice")));
        }
        scope.push(variable);
    }
    Ok(Factor {
        scope,
        numbers: Numbers::default(),
        at,
    })
}

/// The numbers of a factor.
fn read_table(tokens: &mut Tokens<'_>, cardinalities: &[usize], factor: &mut Factor) -> Result<()> {
    let (size, at) = tokens.integer("the number of numbers of a factor")?;
    let expected = factor.scope.iter().try_fold(1usize, |product, variable| {
        product.checked_mul(cardinalities[*variable])
    });
    if expected != Some(size) {
        let expected = expected.map_or("too many".to_string(), |size| size.to_string());
        let message = format!("the factor has {size} numbers; {expected} are expected");
        return Err(tokens.error(at, message));
    }
    for _ in 0..size {
        let (value, at) = tokens.number()?;
        if value < 0.0 {
            return Err(tokens.error(at, format!("the factor has the negative number {value}")));
        }
        factor.numbers.push(value, at);
    }
    Ok(())
}

/// The observed variables and their states in an evidence file, with or without the number of
/// samples in front.
///
/// # Errors
/// If the text is not one sample of evidence.
///
/// ```
/// use abduce::model::network::format::read_evidence;
/// assert_eq!(read_evidence("2 1 0 2 1").unwrap(), [(1, 0), (2, 1)]);
/// assert!(read_evidence("2 1 0").is_err());
/// ```
pub fn read_evidence(text: &str) -> Result<Vec<(usize, usize)>> {
    let mut tokens = Tokens::new(text, &SYNTAX);
    let mut numbers = Vec::new();
    while let Some((token, at)) = tokens.next()? {
        let value = match token {
            Token::Word(word) => word.parse::<usize>().ok(),
            _ => None,
        };
        let value = value.ok_or_else(|| tokens.unexpected(&token, at, "a count or an index"))?;
        numbers.push((value, at));
    }
    let pairs = match numbers.as_slice() {
        [] => return Ok(Vec::new()),
        [(count, _), pairs @ ..] if count.checked_mul(2) == Some(pairs.len()) => pairs,
        [(1, _), (count, _), pairs @ ..] if count.checked_mul(2) == Some(pairs.len()) => pairs,
        [(count, at), ..] => {
            let message = format!("{count} is not the number of observed variables that follow");
            return Err(tokens
                .error(*at, message)
                .with_hint("only one sample is supported"));
        }
    };
    let mut seen = HashSet::new();
    let mut evidence = Vec::new();
    for pair in pairs.chunks_exact(2) {
        let ((variable, at), (state, _)) = (pair[0], pair[1]);
        if !seen.insert(variable) {
            return Err(tokens.error(at, format!("variable {variable} is observed twice")));
        }
        evidence.push((variable, state));
    }
    Ok(evidence)
}

/// The text of a `BAYES` file with the network.
fn write(network: &Network) -> Result<String> {
    let variables = network.variables();
    if variables.is_empty() {
        return Err(Error::data("the network has no variables"));
    }
    let words = |numbers: &mut dyn Iterator<Item = usize>| {
        numbers
            .map(|number| number.to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let cardinalities = words(&mut variables.iter().map(|variable| variable.states.len()));
    let count = variables.len();
    let mut text = format!("BAYES\n{count}\n{cardinalities}\n{count}\n");
    for (child, variable) in variables.iter().enumerate() {
        let scope = words(&mut variable.parents.iter().copied().chain([child]));
        let _ = writeln!(text, "{} {scope}", variable.parents.len() + 1);
    }
    for variable in variables {
        let _ = writeln!(text, "\n{}", table(variable).len());
        for row in table(variable).chunks(variable.states.len()) {
            let _ = writeln!(text, " {}", join(row, " "));
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    /// The example of the competition's documentation.
    const MARKOV: &str = "MARKOV\n3\n2 2 3\n2\n2 0 1\n2 1 2\n\n4\n 4.000 2.400\n 1.000 0.000\n\n6\n \
                          2.2500 3.2500 3.7500\n 0.0000 0.0000 10.0000\n";

    #[test]
    fn factors_are_read_of_both_kinds() {
        let (cardinalities, factors) = read_factors(MARKOV).unwrap();
        assert_eq!(cardinalities, [2, 2, 3]);
        assert_eq!(factors[0], (vec![0, 1], vec![4.0, 2.4, 1.0, 0.0]));
        assert_eq!(
            factors[1],
            (vec![1, 2], vec![2.25, 3.25, 3.75, 0.0, 0.0, 10.0])
        );
        let (_, factors) = read_factors(super::super::samples::UAI).unwrap();
        assert_eq!(factors[5].0, [3, 1, 5]);
        let expected = "line 1: this is a Markov network, not a Bayesian network, at character 1; \
                        Markov networks are not supported";
        assert_eq!(message(MARKOV), expected);
    }

    #[test]
    fn the_last_variable_of_a_factor_is_the_child() {
        // The factors may come in any order.
        let text = "BAYES 2 2 2 2\n 2 1 0\n 1 1\n 4 0.1 0.9 0.2 0.8\n 2 0.5 0.5";
        let (network, _) = read(text).unwrap();
        assert_eq!(network.variables()[0].parents, [1]);
        let twice = "line 3: variable 1 is the last variable of two factors, at character 2; \
                     the last variable of a factor is the child";
        assert_eq!(message(&text.replace("2 1 0\n", "2 0 1\n")), twice);
        let missing = "BAYES 2 2 2 1 1 0 2 0.5 0.5";
        assert!(message(missing).contains("variable 1 is not the last variable of a factor"));
    }

    #[test]
    fn declared_sizes_are_not_trusted() {
        let huge = "18446744073709551615";
        assert!(message(&format!("BAYES {huge} 2 2")).contains("expected the number of states"));
        assert!(message(&format!("BAYES 1 2 {huge} 1 0")).contains("the number of variables of a"));
        assert!(message(&format!("BAYES 1 {huge} 1 1 0 {huge} 0.5")).contains("expected a number"));
        let overflow = format!("BAYES 2 {huge} {huge} 1 2 0 1 4 1 1 1 1");
        assert!(message(&overflow).contains("too many are expected"));
        assert!(message("BAYES 1 2 1 1 1 2 1 1").contains("there is no variable 1"));
        assert!(message("BAYES 1 2 1 1 0 3 1 1").contains("2 are expected"));
        assert!(message("BAYES 1 2 1 1 0 2 1 0 7").contains("the end of the file but found \"7\""));
    }

    #[test]
    fn evidence_is_read_with_and_without_the_number_of_samples() {
        let evidence = vec![(1, 0), (2, 1)];
        assert_eq!(read_evidence("2 1 0 2 1\n").unwrap(), evidence);
        assert_eq!(read_evidence("1\n2 1 0 2 1\n").unwrap(), evidence);
        for none in ["", "0", "1 0", "1\n0\n"] {
            assert_eq!(read_evidence(none).unwrap(), []);
        }
        assert_eq!(read_evidence("1 7 1").unwrap(), [(7, 1)]);
        let samples = "line 1: 2 is not the number of observed variables that follow, at \
                       character 1; only one sample is supported";
        assert_eq!(
            read_evidence("2\n1 0 1\n1 0 0\n").unwrap_err().to_string(),
            samples
        );
        assert!(
            read_evidence("2 1 0 1 1")
                .unwrap_err()
                .message()
                .contains("observed twice")
        );
        assert!(read_evidence("1 0 x").is_err());
    }
}
