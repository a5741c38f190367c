//! Exact answers: the marginals of all variables given evidence, by a junction tree.

use super::infer::junction_tree::{JunctionTree, Pass};
use super::{Distribution, Evidence, Network};
use crate::{Error, Result};

/// The memory that exact inference may use if nothing else is said, in bytes.
pub const DEFAULT_MEMORY: f64 = (4u64 << 30) as f64;

/// What exact inference takes, known before it starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// The number of cells of all cliques, which determines the time.
    pub cells: f64,
    /// The number of cells of the largest clique.
    pub largest: f64,
    /// The memory for messages and tables, in bytes.
    pub bytes: f64,
}

/// A network prepared for exact answers.
#[derive(Clone, Debug)]
pub struct Exact<'a> {
    network: &'a Network,
    tree: JunctionTree,
}

/// The marginals of all variables given evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Marginals {
    /// The probabilities of the states of each variable.
    pub probabilities: Vec<Vec<f64>>,
    /// The logarithm of the probability of the evidence. With likelihoods, of their expectation.
    pub log_evidence: f64,
}

impl Network {
    /// Prepares exact answers; `seed` breaks ties between equally good cliques, `memory` is the
    /// largest number of bytes to use.
    ///
    /// # Errors
    /// If more memory would be needed.
    pub fn exact(&self, seed: u64, memory: f64) -> Result<Exact<'_>> {
        let sizes = self
            .variables()
            .iter()
            .map(|variable| variable.states.len());
        let scopes: Vec<Vec<usize>> = self
            .variables()
            .iter()
            .enumerate()
            .map(|(position, variable)| [&variable.parents[..], &[position]].concat())
            .collect();
        let tables = self.variables().iter().map(|variable| {
            let Distribution::Table(table) = &variable.distribution;
            &table[..]
        });
        let factors: Vec<(&[usize], &[f64])> =
            scopes.iter().map(Vec::as_slice).zip(tables).collect();
        let tree = JunctionTree::new(sizes.collect(), &factors, seed);
        let cost = tree.cost();
        if cost.bytes > memory {
            let gibibytes = |bytes: f64| {
                if bytes < 1e15 {
                    format!("{:.3} GiB", bytes / (1u64 << 30) as f64)
                } else {
                    format!("{bytes:.1e} bytes")
                }
            };
            return Err(Error::numeric(format!(
                "exact inference needs {} of memory, as a clique has {:.1e} cells; {} are allowed",
                gibibytes(cost.bytes),
                cost.largest,
                gibibytes(memory),
            )));
        }
        Ok(Exact {
            network: self,
            tree,
        })
    }
}

impl Exact<'_> {
    /// What an answer without evidence takes; evidence makes it less.
    pub fn cost(&self) -> Cost {
        self.tree.cost()
    }

    /// The marginals of all variables given evidence.
    ///
    /// # Errors
    /// If the evidence has probability 0; the error names findings that contradict each other.
    pub fn marginals(&self, evidence: &Evidence) -> Result<Marginals> {
        let mut pass = Pass::new(&self.tree, evidence);
        if pass.collect_all().is_none() {
            return Err(self.contradiction(evidence));
        }
        let log_evidence = pass.log_evidence;
        Ok(Marginals {
            probabilities: pass.distribute(),
            log_evidence,
        })
    }

    /// The logarithm of the probability of the evidence; −∞ if it is impossible.
    pub fn log_evidence(&self, evidence: &Evidence) -> f64 {
        let mut pass = Pass::new(&self.tree, evidence);
        match pass.collect_all() {
            Some(()) => pass.log_evidence,
            None => f64::NEG_INFINITY,
        }
    }

    /// Findings that together have probability 0 while every part of them is possible.
    fn conflict(&self, evidence: &Evidence) -> Evidence {
        let mut conflict = evidence.clone();
        for variable in 0..evidence.states.len() {
            let mut fewer = conflict.clone();
            if fewer.states[variable].take().is_some()
                && self.log_evidence(&fewer) == f64::NEG_INFINITY
            {
                conflict = fewer;
            }
        }
        for position in (0..conflict.likelihoods.len()).rev() {
            let mut fewer = conflict.clone();
            fewer.likelihoods.remove(position);
            if self.log_evidence(&fewer) == f64::NEG_INFINITY {
                conflict = fewer;
            }
        }
        conflict
    }

    fn contradiction(&self, evidence: &Evidence) -> Error {
        let conflict = self.conflict(evidence);
        let variables = self.network.variables().iter().zip(&conflict.states);
        let states = variables.filter_map(|(variable, state)| {
            state.map(|state| format!("{}={}", variable.name, variable.states[state]))
        });
        let likelihoods = conflict.likelihoods.iter().map(|(variable, _)| {
            format!(
                "the likelihoods of {}",
                self.network.variables()[*variable].name
            )
        });
        let findings: Vec<String> = states.chain(likelihoods).collect();
        Error::numeric(format!(
            "the evidence is impossible: {} {} probability 0",
            findings.join(", "),
            if findings.len() == 1 {
                "has"
            } else {
                "together have"
            },
        ))
    }
}
