//! A network and its variables. It can only be made by [`Network::new`], which checks that the
//! graph has no cycles and that the tables have the right sizes and sum to 1.

use crate::{Error, Result};

/// The largest difference from 1 of the sum of probabilities that is corrected.
const TOLERANCE: f64 = 1e-3;

/// The largest difference from 1 that rounding to single precision explains.
const ROUNDING: f64 = 1e-6;

/// A variable with its distribution given its parents.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The names of the states, in order.
    pub states: Vec<String>,
    /// The positions of the parents in the network, in the order of the table's dimensions.
    pub parents: Vec<usize>,
    /// The distribution given the parents.
    pub distribution: Distribution,
}

/// The distribution of a variable given its parents.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// The probabilities of the states for each configuration of the parents, one configuration
    /// after the other; the state of the last parent changes fastest.
    Table(Vec<f64>),
}

/// A Bayesian network.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    variables: Vec<Variable>,
    /// The positions of the variables, parents before children.
    order: Vec<usize>,
}

impl Network {
    /// A network of these variables. Probabilities that sum to 1 within 0.001 are normalised; the
    /// notes name their variables.
    ///
    /// # Errors
    /// If two variables or two states of a variable have the same name, a variable has no state,
    /// the graph has a cycle, or a table has the wrong size or does not sum to 1.
    pub fn new(mut variables: Vec<Variable>) -> Result<(Network, Vec<String>)> {
        check_names(&variables)?;
        let order = topological_order(&variables)?;
        let mut notes = Vec::new();
        for position in 0..variables.len() {
            let configurations: Option<usize> = variables[position]
                .parents
                .iter()
                .try_fold(1usize, |product, parent| {
                    product.checked_mul(variables[*parent].states.len())
                });
            let variable = &mut variables[position];
            let Distribution::Table(table) = &mut variable.distribution;
            let size = configurations.and_then(|c| c.checked_mul(variable.states.len()));
            if size != Some(table.len()) {
                let expected = size.map_or("too many".to_string(), |size| size.to_string());
                return Err(Error::data(format!(
                    "the table of \"{}\" has {} probabilities; {expected} are expected",
                    variable.name,
                    table.len(),
                )));
            }
            if normalise(&variable.name, table, variable.states.len())? {
                notes.push(format!(
                    "the probabilities of \"{}\" do not sum to 1 exactly and were normalised",
                    variable.name
                ));
            }
        }
        Ok((Network { variables, order }, notes))
    }

    /// The variables.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The positions of the variables, parents before children.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The position of a variable.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.variables
            .iter()
            .position(|variable| variable.name == name)
    }
}

fn check_names(variables: &[Variable]) -> Result<()> {
    let mut names = std::collections::HashSet::new();
    for variable in variables {
        let name = &variable.name;
        if !names.insert(name) {
            return Err(Error::data(format!("two variables are named \"{name}\"")));
        }
        if variable.states.is_empty() {
            return Err(Error::data(format!(
                "the variable \"{name}\" has no states"
            )));
        }
        let mut states = std::collections::HashSet::new();
        if let Some(state) = variable.states.iter().find(|state| !states.insert(*state)) {
            let message = format!("the variable \"{name}\" has the state \"{state}\" twice");
            return Err(Error::data(message));
        }
        let mut parents = std::collections::HashSet::new();
        let repeated = variable
            .parents
            .iter()
            .any(|parent| !parents.insert(*parent));
        if repeated
            || variable
                .parents
                .iter()
                .any(|parent| *parent >= variables.len())
        {
            return Err(Error::data(format!(
                "the parents of \"{name}\" are invalid"
            )));
        }
    }
    Ok(())
}

/// Parents before children, otherwise in the order given.
fn topological_order(variables: &[Variable]) -> Result<Vec<usize>> {
    let mut missing: Vec<usize> = variables.iter().map(|v| v.parents.len()).collect();
    let mut children = vec![Vec::new(); variables.len()];
    for (position, variable) in variables.iter().enumerate() {
        for parent in &variable.parents {
            children[*parent].push(position);
        }
    }
    let mut ready: std::collections::BTreeSet<usize> =
        (0..variables.len()).filter(|v| missing[*v] == 0).collect();
    let mut order = Vec::with_capacity(variables.len());
    while let Some(position) = ready.pop_first() {
        order.push(position);
        for child in &children[position] {
            missing[*child] -= 1;
            if missing[*child] == 0 {
                ready.insert(*child);
            }
        }
    }
    if order.len() == variables.len() {
        return Ok(order);
    }
    let on_cycle = missing.iter().position(|count| *count > 0).unwrap_or(0);
    let name = &variables[on_cycle].name;
    Err(Error::data(format!(
        "the graph has a cycle through or above \"{name}\""
    )))
}

/// Normalises each configuration; whether any changed by more than rounding.
fn normalise(name: &str, table: &mut [f64], states: usize) -> Result<bool> {
    let mut changed = false;
    for probabilities in table.chunks_exact_mut(states) {
        if probabilities
            .iter()
            .any(|p| !(0.0..=1.0 + TOLERANCE).contains(p))
        {
            return Err(Error::data(format!(
                "the table of \"{name}\" has a number that is not a probability"
            )));
        }
        let sum: f64 = probabilities.iter().sum();
        if (sum - 1.0).abs() > TOLERANCE {
            return Err(Error::data(format!(
                "probabilities of \"{name}\" sum to {sum}, not to 1"
            )));
        }
        // Sums that differ by rounding are left, so that files are written as they were read.
        if (sum - 1.0).abs() > ROUNDING {
            probabilities.iter_mut().for_each(|p| *p /= sum);
            changed = true;
        }
    }
    Ok(changed)
}
