//! What is known of the variables of a network.

use super::Network;
use crate::model::some_of;
use crate::{Error, Result};

/// Observed states, and likelihoods of the states of some variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The state of each observed variable, by its position.
    pub(crate) states: Vec<Option<usize>>,
    /// The likelihoods of the states of some variables.
    pub(crate) likelihoods: Vec<(usize, Vec<f64>)>,
}

impl Network {
    /// No evidence.
    pub fn no_evidence(&self) -> Evidence {
        Evidence {
            states: vec![None; self.variables().len()],
            likelihoods: Vec::new(),
        }
    }

    /// The evidence that variables are in the given states, by their names.
    ///
    /// # Errors
    /// If there is no such variable or state, or a variable is given twice.
    pub fn evidence(&self, given: &[(&str, &str)]) -> Result<Evidence> {
        let mut evidence = self.no_evidence();
        for (name, state) in given {
            let variable = self.find(name)?;
            if evidence.states[variable].is_some() {
                return Err(Error::parameter(format!("\"{name}\" is given twice")));
            }
            evidence.states[variable] = Some(self.find_state(variable, state)?);
        }
        Ok(evidence)
    }

    /// The position of the variable with this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn find(&self, name: &str) -> Result<usize> {
        self.position(name).ok_or_else(|| {
            let names = self
                .variables()
                .iter()
                .map(|variable| variable.name.clone());
            let names: Vec<String> = names.collect();
            Error::parameter(format!("the network has no variable \"{name}\""))
                .with_hint(format!("its variables are {}", some_of(&names)))
        })
    }

    /// The position of a state of a variable.
    ///
    /// # Errors
    /// If the variable has no such state.
    pub fn find_state(&self, variable: usize, state: &str) -> Result<usize> {
        let variable = &self.variables()[variable];
        let found = variable.states.iter().position(|name| name == state);
        found.ok_or_else(|| {
            Error::parameter(format!("\"{}\" has no state \"{state}\"", variable.name))
                .with_hint(format!("its states are {}", some_of(&variable.states)))
        })
    }
}

impl Evidence {
    /// Adds the likelihoods of the states of a variable, such as those of an unreliable test.
    ///
    /// # Errors
    /// If there is not one finite number of at least 0 for each state, or all are 0.
    pub fn with_likelihood(
        mut self,
        network: &Network,
        variable: usize,
        likelihood: Vec<f64>,
    ) -> Result<Evidence> {
        let states = network.variables()[variable].states.len();
        let valid = likelihood.iter().all(|l| l.is_finite() && *l >= 0.0);
        if likelihood.len() != states || !valid || likelihood.iter().all(|l| *l == 0.0) {
            let name = &network.variables()[variable].name;
            return Err(Error::parameter(format!(
                "the likelihoods of \"{name}\" must be {states} numbers of at least 0, not all 0"
            )));
        }
        self.likelihoods.push((variable, likelihood));
        Ok(self)
    }

    /// The observed state of a variable.
    pub fn state(&self, variable: usize) -> Option<usize> {
        self.states[variable]
    }
}
