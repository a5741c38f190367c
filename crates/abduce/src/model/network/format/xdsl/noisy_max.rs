//! The noisy-MAX of GeNIe (Díez 1993) as a table. The child's states go from the strongest to
//! the weakest, and each parent's state in its `strengths` likewise. For each parent's states in
//! that order, and at last for the leak, `parameters` has a distribution of the child. The
//! child is in the strongest of the states drawn from those of its parents' states and the leak.

use super::Builder;
use super::Numbers;
use super::xml;
use crate::Result;
use roxmltree::Node;

/// The table of a noisy-MAX node.
pub(super) fn table(
    node: Node<'_, '_>,
    child: usize,
    parents: &[usize],
    builder: &mut Builder<'_>,
) -> Result<Numbers> {
    let parameters_node = xml::child(node, "parameters")?;
    let parameters = xml::numbers(parameters_node)?;
    let states = builder.states(child);
    let columns = parents
        .iter()
        .map(|parent| builder.states(*parent))
        .sum::<usize>();
    let expected = columns.saturating_add(1).saturating_mul(states);
    if parameters.values.len() != expected {
        let (name, found) = (builder.name(child), parameters.values.len());
        let message =
            format!("the node \"{name}\" has {found} parameters; {expected} are expected");
        return Err(xml::error(parameters_node, message));
    }
    let mut pairs = parameters.values.iter().zip(&parameters.places);
    if let Some((value, at)) = pairs.find(|(value, _)| !(0.0..=1.0).contains(*value)) {
        return Err(builder.error(*at, format!("the parameter {value} is not a probability")));
    }
    let columns = column_of_state(node, parents, builder)?;
    let configurations = builder.expand(child, parents, node.range().start)?;
    let sizes: Vec<usize> = parents
        .iter()
        .map(|parent| builder.states(*parent))
        .collect();
    let leak = &parameters.values[expected - states..];
    let mut values = Vec::with_capacity(configurations * states);
    for configuration in 0..configurations {
        let row = values.len();
        values.extend_from_slice(leak);
        let mut rest = configuration;
        for (size, columns) in sizes.iter().zip(&columns).rev() {
            let start = columns[rest % size] * states;
            rest /= size;
            strongest(
                &mut values[row..],
                &parameters.values[start..start + states],
            );
        }
    }
    Ok(Numbers {
        values,
        places: vec![parameters_node.range().start],
    })
}

/// Replaces a distribution by that of the stronger of its state and another's. Differences of
/// cumulative probabilities would be shorter but lose the digits of small probabilities.
fn strongest(distribution: &mut [f64], other: &[f64]) {
    let (mut weaker, mut other_weaker) = (0.0, 0.0);
    for (p, q) in distribution.iter_mut().zip(other).rev() {
        let both = *p * (q + other_weaker) + weaker * q;
        weaker += *p;
        other_weaker += q;
        *p = both;
    }
}

/// For each parent, the column of each of its states.
fn column_of_state(
    node: Node<'_, '_>,
    parents: &[usize],
    builder: &Builder<'_>,
) -> Result<Vec<Vec<usize>>> {
    let list = xml::children(node, "strengths").next();
    let mut words = list.map(xml::words).unwrap_or_default().into_iter();
    let mut columns = Vec::with_capacity(parents.len());
    let mut first = 0;
    for parent in parents {
        let states = builder.states(*parent);
        let mut column = vec![None; states];
        for position in first..first + states {
            // Without strengths, each parent's states are in the order of their strength.
            let (state, at) = match (list, words.next()) {
                (None, _) => (Some(position - first), node.range().start),
                (Some(_), Some((word, at))) => (word.parse::<usize>().ok(), at),
                (Some(list), None) => return Err(xml::error(list, "there are too few strengths")),
            };
            match state.and_then(|state| column.get_mut(state)) {
                Some(entry @ None) => *entry = Some(position),
                _ => {
                    let name = builder.name(*parent);
                    let message = format!(
                        "the strengths of \"{name}\" are not its states' numbers, each once"
                    );
                    return Err(builder.error(at, message));
                }
            }
        }
        columns.push(column.into_iter().flatten().collect());
        first += states;
    }
    match words.next() {
        None => Ok(columns),
        Some((_, at)) => Err(builder.error(at, "there are too many strengths")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;

    /// The last node's table; its parents a and b have 2 and 3 states.
    fn table(states: usize, rest: &str) -> crate::Result<Vec<f64>> {
        let states: String = (0..states)
            .map(|state| format!("<state id=\"s{state}\"/>"))
            .collect();
        let text = format!(
            "<smile><nodes><cpt id=\"a\"><state id=\"y\"/><state id=\"n\"/>\
             <probabilities>0.5 0.5</probabilities></cpt>\
             <cpt id=\"b\"><state id=\"h\"/><state id=\"m\"/><state id=\"l\"/>\
             <probabilities>0.2 0.3 0.5</probabilities></cpt>\
             <noisymax id=\"c\">{states}<parents>a b</parents>\n{rest}</noisymax></nodes></smile>"
        );
        let (network, _) = read(&text)?;
        Ok(super::super::table(&network.variables()[2]).to_vec())
    }

    #[test]
    fn with_two_states_it_is_a_noisy_or_with_leak() {
        let rest = "<strengths>0 1 0 1 2</strengths>\
                    <parameters>0.9 0.1 0 1 0.7 0.3 0.2 0.8 0 1 0.05 0.95</parameters>";
        let table = table(2, rest).unwrap();
        for (index, a) in [0.9, 0.0].into_iter().enumerate() {
            for (position, b) in [0.7, 0.2, 0.0].into_iter().enumerate() {
                let absent = (1.0 - a) * (1.0 - b) * (1.0 - 0.05);
                let row = (index * 3 + position) * 2;
                assert!((table[row + 1] - absent).abs() < 1e-15);
                assert!((table[row] - (1.0 - absent)).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn columns_follow_the_strengths() {
        // The strongest state of b is l, then h, then m, which has no effect.
        let permuted = "<strengths>1 0 2 0 1</strengths>\
                        <parameters>0.9 0.1 0 1 0.7 0.3 0.2 0.8 0 1 0 1</parameters>";
        let table = table(2, permuted).unwrap();
        let present: Vec<f64> = table.chunks(2).map(|row| row[0]).collect();
        let both = |a: f64, b: f64| 1.0 - (1.0 - a) * (1.0 - b);
        let expected = [0.2, 0.0, 0.7, both(0.9, 0.2), 0.9, both(0.9, 0.7)];
        let close = |(p, q): (&f64, &f64)| (p - q).abs() < 1e-15;
        assert!(present.iter().zip(&expected).all(close), "{present:?}");
    }

    #[test]
    fn small_probabilities_keep_their_digits() {
        let rest = "<parameters>1e-30 0 1 0 0 1 1e-20 0 1 0 0 1 0 0 1 0 0 1</parameters>";
        let table = table(3, rest).unwrap();
        assert_eq!(table[..3], [1e-20 + 1e-30, 0.0, 1.0]);
        assert_eq!(table[6..9], [1e-30, 0.0, 1.0]);
    }

    #[test]
    fn wrong_strengths_and_parameters_are_errors_at_their_place() {
        let message = |rest: &str| table(2, rest).unwrap_err().to_string();
        let parameters = "<parameters>0.9 0.1 0 1 0.7 0.3 0.2 0.8 0 1 0.05 0.95</parameters>";
        let strengths = |list: &str| format!("<strengths>{list}</strengths>{parameters}");
        let twice = "the strengths of \"b\" are not its states' numbers, each once";
        assert_eq!(
            message(&strengths("0 1 0 0 2")),
            format!("line 2: {twice}, at character 18")
        );
        assert_eq!(
            message(&strengths("0 1 0 3 2")),
            format!("line 2: {twice}, at character 18")
        );
        let few = "line 2: there are too few strengths, at character 1";
        assert_eq!(message(&strengths("0 1 0 1")), few);
        let many = "line 2: there are too many strengths, at character 22";
        assert_eq!(message(&strengths("0 1 0 1 2 0")), many);
        let missing = "line 2: the node \"c\" has 2 parameters; 12 are expected, at character 1";
        assert_eq!(message("<parameters>0.5 0.5</parameters>"), missing);
        let negative = parameters.replace("0.7", "-.7");
        assert!(message(&negative).contains("the parameter -0.7 is not a probability"));
        let sum = parameters.replace("0.7", "0.6");
        assert!(message(&sum).contains("not to 1"), "{}", message(&sum));
    }
}
