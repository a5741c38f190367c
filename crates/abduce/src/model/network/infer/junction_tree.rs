//! Junction trees: exact marginals of all variables by messages between cliques (Lauritzen and
//! Spiegelhalter 1988; Jensen, Lauritzen and Olesen 1990).
//!
//! The variables of a clique are in the order of their elimination, so that the separator to its
//! parent is the fast end of its table, and a message to the parent is a sum of contiguous rows.
//! Tables of cliques are never stored: each is computed twice, in blocks, from the small tables
//! that are its factors. Evidence makes tables smaller before anything is multiplied.

use super::factor::Factor;
use super::sweep::{Operand, Shape};
use super::triangulate::{Graph, triangulate};
use crate::model::network::{Cost, Evidence};

/// Tables whose product has at most this part of the cells of their clique are multiplied first.
const SMALL_PART: usize = 8;

/// A clique of the triangulated graph.
#[derive(Clone, Debug)]
struct Clique {
    /// The variables, in the order of their elimination.
    variables: Vec<usize>,
    /// How many of the first variables are not in the separator to the parent.
    residual: usize,
    children: Vec<usize>,
    /// The positions of the factors that belong to this clique.
    factors: Vec<usize>,
}

/// A tree of cliques, and the tables of a network.
#[derive(Clone, Debug)]
pub(crate) struct JunctionTree {
    sizes: Vec<usize>,
    rank: Vec<usize>,
    /// The cliques, parents before children.
    cliques: Vec<Clique>,
    factors: Vec<Factor>,
    /// The clique of the first factor of each variable.
    homes: Vec<usize>,
}

impl JunctionTree {
    /// A tree for factors over variables with these numbers of states. Each factor is given by its
    /// variables and its values, the last variable changing fastest.
    pub fn new(sizes: Vec<usize>, factors: &[(&[usize], &[f64])], seed: u64) -> JunctionTree {
        let mut graph = Graph::new(sizes.len());
        for (variables, _) in factors {
            graph.connect_all(variables);
        }
        let elimination = triangulate(&graph, &sizes, seed);
        let mut rank = vec![0; sizes.len()];
        for (position, vertex) in elimination.order.iter().enumerate() {
            rank[*vertex] = position;
        }
        let mut cliques: Vec<Clique> = Vec::new();
        // The clique in which each variable is eliminated.
        let mut homes = vec![0; sizes.len()];
        for vertex in elimination.order.iter().rev() {
            let mut variables = elimination.later[*vertex].clone();
            variables.sort_by_key(|variable| rank[*variable]);
            let parent = variables.first().map(|next| homes[*next]);
            if let Some(parent) = parent.filter(|p| cliques[*p].variables == variables) {
                cliques[parent].variables.insert(0, *vertex);
                cliques[parent].residual += 1;
                homes[*vertex] = parent;
                continue;
            }
            variables.insert(0, *vertex);
            homes[*vertex] = cliques.len();
            if let Some(parent) = parent {
                let child = cliques.len();
                cliques[parent].children.push(child);
            }
            cliques.push(Clique {
                variables,
                residual: 1,
                children: Vec::new(),
                factors: Vec::new(),
            });
        }
        let sorted: Vec<Factor> = factors
            .iter()
            .map(|(variables, values)| Factor::sorted(variables, values, &sizes, &rank))
            .collect();
        for (position, factor) in sorted.iter().enumerate() {
            let clique = factor.variables.first().map_or(0, |first| homes[*first]);
            cliques[clique].factors.push(position);
        }
        JunctionTree {
            sizes,
            rank,
            cliques,
            factors: sorted,
            homes,
        }
    }

    /// What the propagation of messages takes.
    pub fn cost(&self) -> Cost {
        let size = |variables: &[usize]| -> f64 {
            variables.iter().map(|v| self.sizes[*v] as f64).product()
        };
        let mut cost = Cost {
            cells: 0.0,
            largest: 0.0,
            bytes: 0.0,
        };
        for clique in &self.cliques {
            let cells = size(&clique.variables);
            cost.cells += cells;
            cost.largest = cost.largest.max(cells);
            // A message in each direction, and the products of small tables.
            let separator = size(&clique.variables[clique.residual..]);
            let residual = size(&clique.variables[..clique.residual]);
            cost.bytes += 8.0 * (2.0 * separator + residual + cells / SMALL_PART as f64);
        }
        let tables = self.factors.iter().map(|factor| factor.values.len());
        cost.bytes += 16.0 * tables.sum::<usize>() as f64;
        cost
    }
}

/// A collection of messages towards the root, and their distribution.
pub(crate) struct Pass<'a> {
    tree: &'a JunctionTree,
    states: &'a [Option<usize>],
    /// The numbers of states; 1 for observed variables.
    sizes: Vec<usize>,
    /// The factors of each clique, including the messages of its children; few after the
    /// collection.
    tables: Vec<Vec<Factor>>,
    /// The message of each clique to its parent.
    messages: Vec<Option<Factor>>,
    /// The logarithm of the probability of the evidence, after the collection.
    pub log_evidence: f64,
}

impl<'a> Pass<'a> {
    /// A propagation that has not started.
    pub fn new(tree: &'a JunctionTree, evidence: &'a Evidence) -> Pass<'a> {
        let mut sizes = tree.sizes.clone();
        for (size, state) in sizes.iter_mut().zip(&evidence.states) {
            if state.is_some() {
                *size = 1;
            }
        }
        let mut pass = Pass {
            tree,
            states: &evidence.states,
            sizes,
            tables: vec![Vec::new(); tree.cliques.len()],
            messages: vec![None; tree.cliques.len()],
            log_evidence: 0.0,
        };
        for (variable, likelihood) in &evidence.likelihoods {
            let factor = Factor {
                variables: vec![*variable],
                values: likelihood.clone(),
            };
            let factor = factor.given(&evidence.states, &tree.sizes);
            pass.tables[tree.homes[*variable]].push(factor);
        }
        pass
    }

    /// Sends messages from the leaves to the root; `None` if the evidence is impossible.
    pub fn collect_all(&mut self) -> Option<()> {
        for clique in (0..self.tree.cliques.len()).rev() {
            self.collect(clique)?;
        }
        Some(())
    }

    /// Computes the message of a clique to its parent; `None` if it is 0 everywhere.
    fn collect(&mut self, position: usize) -> Option<()> {
        let clique = &self.tree.cliques[position];
        let mut factors = std::mem::take(&mut self.tables[position]);
        for factor in &clique.factors {
            factors.push(self.tree.factors[*factor].given(self.states, &self.tree.sizes));
        }
        for child in &clique.children {
            factors.extend(self.messages[*child].clone());
        }
        let shape = Shape::new(&clique.variables, &self.sizes);
        let factors = self.combine(factors, shape.cells())?;
        let separator = self.remaining(&clique.variables[clique.residual..]);
        let mut message = Factor {
            values: vec![0.0; separator.iter().map(|v| self.sizes[*v]).product()],
            variables: separator,
        };
        sweep(&shape, &factors, std::slice::from_mut(&mut message));
        let log = message.scale();
        if log == f64::NEG_INFINITY {
            return None;
        }
        self.log_evidence += log;
        self.tables[position] = factors;
        self.messages[position] = Some(message);
        Some(())
    }

    /// The variables that are not observed.
    fn remaining(&self, variables: &[usize]) -> Vec<usize> {
        let variables = variables.iter().copied();
        variables.filter(|v| self.sizes[*v] > 1).collect()
    }

    /// Multiplies factors whose product is small compared with the clique.
    fn combine(&mut self, factors: Vec<Factor>, cells: usize) -> Option<Vec<Factor>> {
        let limit = (cells / SMALL_PART).max(64);
        let mut kept: Vec<Factor> = Vec::new();
        let mut waiting = self.without_repeated_scopes(factors)?;
        waiting.sort_by_key(|factor| std::cmp::Reverse(factor.values.len()));
        while let Some(factor) = waiting.pop() {
            let union = |other: &Factor| -> usize {
                let new = other
                    .variables
                    .iter()
                    .filter(|v| !factor.variables.contains(v));
                factor.values.len() * new.map(|v| self.sizes[*v]).product::<usize>()
            };
            let partner = (0..waiting.len()).min_by_key(|i| union(&waiting[*i]));
            let partner =
                partner.filter(|i| union(&waiting[*i]) <= limit.max(waiting[*i].values.len()));
            let Some(partner) = partner else {
                kept.push(factor);
                continue;
            };
            let other = waiting.remove(partner);
            let mut product = Factor::product(&[&factor, &other], &self.sizes, &self.tree.rank);
            let log = product.scale();
            if log == f64::NEG_INFINITY {
                return None;
            }
            self.log_evidence += log;
            let place = waiting.partition_point(|f| f.values.len() > product.values.len());
            waiting.insert(place, product);
        }
        // A factor of one cell is a number.
        kept.retain(|factor| {
            let is_number = factor.values.len() == 1;
            if is_number {
                self.log_evidence += factor.values[0].ln();
            }
            !is_number
        });
        (self.log_evidence > f64::NEG_INFINITY).then_some(kept)
    }

    /// Multiplies factors over the same variables; `None` if a product is 0 everywhere. Each
    /// product is scaled, as there may be thousands.
    fn without_repeated_scopes(&mut self, mut factors: Vec<Factor>) -> Option<Vec<Factor>> {
        factors.sort_by(|a, b| a.variables.cmp(&b.variables));
        let mut found: Vec<Factor> = Vec::with_capacity(factors.len());
        for factor in factors {
            let last = found.last_mut();
            let Some(last) = last.filter(|last| last.variables == factor.variables) else {
                found.push(factor);
                continue;
            };
            let values = last.values.iter_mut().zip(&factor.values);
            values.for_each(|(product, value)| *product *= value);
            let log = last.scale();
            if log == f64::NEG_INFINITY {
                return None;
            }
            self.log_evidence += log;
        }
        Some(found)
    }

    /// The marginals of all variables, from the root to the leaves.
    pub fn distribute(mut self) -> Vec<Vec<f64>> {
        let count = self.tree.sizes.len();
        let mut marginals: Vec<Vec<f64>> = vec![Vec::new(); count];
        for (variable, state) in self.states.iter().enumerate() {
            if let Some(state) = state {
                let mut marginal = vec![0.0; self.tree.sizes[variable]];
                marginal[*state] = 1.0;
                marginals[variable] = marginal;
            }
        }
        for position in 0..self.tree.cliques.len() {
            let clique = &self.tree.cliques[position];
            let shape = Shape::new(&clique.variables, &self.sizes);
            let factors = std::mem::take(&mut self.tables[position]);
            let mut outputs = vec![self.empty(&clique.variables[..clique.residual])];
            for child in &clique.children {
                let child = &self.tree.cliques[*child];
                outputs.push(self.empty(&child.variables[child.residual..]));
            }
            sweep(&shape, &factors, &mut outputs);
            let mut outputs = outputs.into_iter();
            if let Some(residual) = outputs.next() {
                self.marginalise(&residual, &mut marginals);
            }
            for (child, mut belief) in clique.children.iter().zip(outputs) {
                if let Some(message) = self.messages[*child].take() {
                    for (belief, message) in belief.values.iter_mut().zip(&message.values) {
                        *belief = if *message > 0.0 {
                            *belief / message
                        } else {
                            0.0
                        };
                    }
                }
                if !belief.variables.is_empty() {
                    belief.scale();
                    self.tables[*child].push(belief);
                }
            }
        }
        for (variable, marginal) in marginals.iter_mut().enumerate() {
            if marginal.is_empty() {
                *marginal = vec![1.0; self.tree.sizes[variable]];
            }
            let sum: f64 = marginal.iter().sum();
            marginal.iter_mut().for_each(|p| *p /= sum);
        }
        marginals
    }

    /// A table of zeros over the variables that are not observed.
    fn empty(&self, variables: &[usize]) -> Factor {
        let variables = self.remaining(variables);
        Factor {
            values: vec![0.0; variables.iter().map(|v| self.sizes[*v]).product()],
            variables,
        }
    }

    /// Sums a table to the marginals of its variables.
    fn marginalise(&self, table: &Factor, marginals: &mut [Vec<f64>]) {
        let shape = Shape::new(&table.variables, &self.sizes);
        for variable in &table.variables {
            let operand = shape.operand(&[*variable]);
            let mut sums = vec![0.0; self.sizes[*variable]];
            let mut first = 0;
            shape.visit(&[&operand], |offsets| {
                operand.add(
                    &table.values[first..first + shape.block()],
                    &mut sums[offsets[0]..],
                );
                first += shape.block();
            });
            marginals[*variable] = sums;
        }
    }
}

/// Sums the product of factors, a table of this shape, to each of the outputs.
fn sweep(shape: &Shape, factors: &[Factor], outputs: &mut [Factor]) {
    let operands: Vec<Operand> = factors
        .iter()
        .chain(outputs.iter())
        .map(|factor| shape.operand(&factor.variables))
        .collect();
    let references: Vec<&Operand> = operands.iter().collect();
    let mut block = vec![1.0; shape.block()];
    shape.visit(&references, |offsets| {
        let mut number = 1.0;
        for ((factor, operand), offset) in factors.iter().zip(&operands).zip(offsets) {
            if operand.is_scalar() {
                number *= factor.values[*offset];
            }
        }
        if number == 0.0 {
            return;
        }
        block.fill(number);
        for ((factor, operand), offset) in factors.iter().zip(&operands).zip(offsets) {
            if !operand.is_scalar() {
                operand.multiply(&mut block, &factor.values[*offset..]);
            }
        }
        let operands = operands[factors.len()..]
            .iter()
            .zip(&offsets[factors.len()..]);
        for ((operand, offset), output) in operands.zip(outputs.iter_mut()) {
            operand.add(&block, &mut output.values[*offset..]);
        }
    });
}
