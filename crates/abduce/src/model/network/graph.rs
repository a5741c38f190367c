//! Questions about the graph of a network: ancestors, Markov blankets, d-separation, and the
//! equivalence class.

use super::Network;
use std::collections::VecDeque;

/// How a path enters a variable: along an arc, or against one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    FromParent,
    FromChild,
}

/// The graph of all networks with the same conditional independences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EquivalenceClass {
    /// The arcs that all of them have.
    pub arcs: Vec<(usize, usize)>,
    /// The edges whose direction differs between them; the smaller position is first.
    pub edges: Vec<(usize, usize)>,
}

impl Network {
    /// The children of each variable, in ascending order.
    pub fn children(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.variables().len()];
        for (child, variable) in self.variables().iter().enumerate() {
            for parent in &variable.parents {
                children[*parent].push(child);
            }
        }
        children
    }

    /// Which variables are among the given ones or their ancestors.
    pub fn with_ancestors(&self, variables: &[usize]) -> Vec<bool> {
        let mut found = vec![false; self.variables().len()];
        variables
            .iter()
            .for_each(|variable| found[*variable] = true);
        for variable in self.order().iter().rev() {
            if found[*variable] {
                let parents = &self.variables()[*variable].parents;
                parents.iter().for_each(|parent| found[*parent] = true);
            }
        }
        found
    }

    /// The ancestors of a variable, in ascending order.
    pub fn ancestors(&self, variable: usize) -> Vec<usize> {
        let found = self.with_ancestors(&[variable]);
        let others = (0..found.len()).filter(|other| *other != variable);
        others.filter(|other| found[*other]).collect()
    }

    /// The parents, the children and the other parents of the children of a variable, in ascending
    /// order. Given these, the variable is independent of all others.
    pub fn markov_blanket(&self, variable: usize) -> Vec<usize> {
        let mut blanket = self.variables()[variable].parents.clone();
        for (child, other) in self.variables().iter().enumerate() {
            if other.parents.contains(&variable) {
                blanket.push(child);
                blanket.extend(&other.parents);
            }
        }
        blanket.retain(|other| *other != variable);
        blanket.sort_unstable();
        blanket.dedup();
        blanket
    }

    /// The pairs of variables that are connected in the moral graph: parents with their children,
    /// and parents of the same child with each other. The smaller position is first.
    pub fn moral_edges(&self) -> Vec<(usize, usize)> {
        let mut edges = Vec::new();
        for (child, variable) in self.variables().iter().enumerate() {
            for (i, parent) in variable.parents.iter().enumerate() {
                edges.push(pair(child, *parent));
                edges.extend(
                    variable.parents[..i]
                        .iter()
                        .map(|other| pair(*parent, *other)),
                );
            }
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// An active path between two sets of variables given others, from the first set to the second;
    /// `None` if the sets are d-separated. Variables that are given connect nothing.
    ///
    /// An active path has no given variable, except where two arcs meet head to head: there the
    /// variable or one of its descendants must be given (Pearl 1988). The search is linear in the
    /// number of arcs (Koller and Friedman 2009, algorithm 3.1).
    pub fn active_path(&self, from: &[usize], to: &[usize], given: &[usize]) -> Option<Vec<usize>> {
        let count = self.variables().len();
        let children = self.children();
        let opens = self.with_ancestors(given);
        let mut is_given = vec![false; count];
        given.iter().for_each(|variable| is_given[*variable] = true);
        let state = |variable: usize, direction| {
            2 * variable + usize::from(direction == Direction::FromParent)
        };
        let mut before: Vec<Option<usize>> = vec![None; 2 * count];
        let mut visited = vec![false; 2 * count];
        let mut queue = VecDeque::new();
        for variable in from.iter().filter(|variable| !is_given[**variable]) {
            visited[state(*variable, Direction::FromChild)] = true;
            queue.push_back((*variable, Direction::FromChild));
        }
        while let Some((variable, direction)) = queue.pop_front() {
            let here = state(variable, direction);
            if !is_given[variable] && to.contains(&variable) {
                return Some(path_to(here, &before));
            }
            let to_children = !is_given[variable];
            let to_parents = match direction {
                Direction::FromChild => !is_given[variable],
                Direction::FromParent => opens[variable],
            };
            let parents = &self.variables()[variable].parents;
            let next_parents = parents.iter().filter(|_| to_parents);
            let next_children = children[variable].iter().filter(|_| to_children);
            let next = next_parents
                .map(|parent| (*parent, Direction::FromChild))
                .chain(next_children.map(|child| (*child, Direction::FromParent)));
            for (other, direction) in next {
                let there = state(other, direction);
                if !visited[there] {
                    visited[there] = true;
                    before[there] = Some(here);
                    queue.push_back((other, direction));
                }
            }
        }
        None
    }

    /// The equivalence class of the graph: the arcs that no network with the same conditional
    /// independences reverses, and the other edges (Meek 1995).
    pub fn equivalence_class(&self) -> EquivalenceClass {
        let count = self.variables().len();
        let mut arc = vec![vec![false; count]; count];
        for (child, variable) in self.variables().iter().enumerate() {
            variable
                .parents
                .iter()
                .for_each(|parent| arc[*parent][child] = true);
        }
        let connected = |a: usize, b: usize| arc[a][b] || arc[b][a];
        // Arcs that meet head to head with their tails not connected are compelled.
        let mut compelled = vec![vec![false; count]; count];
        for (child, variable) in self.variables().iter().enumerate() {
            for a in &variable.parents {
                let free = |b: &usize| a != b && !connected(*a, *b);
                compelled[*a][child] = variable.parents.iter().any(free);
            }
        }
        let is_open = |compelled: &[Vec<bool>], a: usize, b: usize| {
            connected(a, b) && !compelled[a][b] && !compelled[b][a]
        };
        loop {
            let mut changed = false;
            for (child, variable) in self.variables().iter().enumerate() {
                for parent in &variable.parents {
                    if compelled[*parent][child] {
                        continue;
                    }
                    let mut others = 0..count;
                    let is_compelled = others.any(|c| {
                        let before = compelled[c][*parent] && !connected(c, child);
                        let between = compelled[*parent][c] && compelled[c][child];
                        let beside = is_open(&compelled, *parent, c)
                            && compelled[c][child]
                            && (0..count).any(|d| {
                                d != c
                                    && !connected(c, d)
                                    && is_open(&compelled, *parent, d)
                                    && compelled[d][child]
                            });
                        before || between || beside
                    });
                    compelled[*parent][child] = is_compelled;
                    changed |= is_compelled;
                }
            }
            if !changed {
                break;
            }
        }
        let mut class = EquivalenceClass {
            arcs: Vec::new(),
            edges: Vec::new(),
        };
        for (child, variable) in self.variables().iter().enumerate() {
            for parent in &variable.parents {
                if compelled[*parent][child] {
                    class.arcs.push((*parent, child));
                } else {
                    class.edges.push(pair(*parent, child));
                }
            }
        }
        class.arcs.sort_unstable();
        class.edges.sort_unstable();
        class
    }
}

/// The variables on the way to a state of the search.
fn path_to(state: usize, before: &[Option<usize>]) -> Vec<usize> {
    let states = std::iter::successors(Some(state), |state| before[*state]);
    let mut path: Vec<usize> = states.map(|state| state / 2).collect();
    path.reverse();
    path
}

/// Two positions, the smaller one first.
fn pair(a: usize, b: usize) -> (usize, usize) {
    (a.min(b), a.max(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::network::{Distribution, Variable};

    /// A network of variables of two states with these arcs; the tables are arbitrary.
    fn network(count: usize, arcs: &[(usize, usize)]) -> Network {
        let variables = (0..count).map(|child| {
            let into = arcs.iter().filter(|(_, to)| *to == child);
            let parents: Vec<usize> = into.map(|(from, _)| *from).collect();
            let row = |i: usize| {
                let p = 0.1 + 0.8 * ((i * 7919 + child * 104_729 + 13) % 1000) as f64 / 1000.0;
                [p, 1.0 - p]
            };
            Variable {
                name: format!("v{child}"),
                states: vec!["yes".into(), "no".into()],
                distribution: Distribution::Table((0..1 << parents.len()).flat_map(row).collect()),
                parents,
            }
        });
        Network::new(variables.collect()).unwrap().0
    }

    /// All graphs over so many variables whose arcs go from smaller to larger positions, with the
    /// positions permuted.
    fn graphs(count: usize) -> Vec<Vec<(usize, usize)>> {
        let pairs: Vec<(usize, usize)> = (0..count)
            .flat_map(|a| (a + 1..count).map(move |b| (a, b)))
            .collect();
        let mut orders = vec![vec![]];
        for v in 0..count {
            let insert = |order: Vec<usize>| {
                (0..=order.len()).map(move |at| {
                    let mut order = order.clone();
                    order.insert(at, v);
                    order
                })
            };
            orders = orders.into_iter().flat_map(insert).collect();
        }
        let mut found: Vec<Vec<(usize, usize)>> = Vec::new();
        for order in &orders {
            for chosen in 0..1u32 << pairs.len() {
                let arcs = pairs
                    .iter()
                    .enumerate()
                    .filter(|(bit, _)| chosen >> bit & 1 == 1);
                let mut arcs: Vec<_> = arcs.map(|(_, (a, b))| (order[*a], order[*b])).collect();
                arcs.sort_unstable();
                found.push(arcs);
            }
        }
        found.sort();
        found.dedup();
        found
    }

    /// Whether two variables are independent given others, by the joint probabilities of all cases.
    fn independent(network: &Network, a: usize, b: usize, given: &[usize]) -> bool {
        let count = network.variables().len();
        let bit = |case: usize, variable: usize| case >> variable & 1;
        let joint: Vec<f64> = (0..1usize << count)
            .map(|case| {
                let factors = network.variables().iter().enumerate().map(|(v, variable)| {
                    let row = variable
                        .parents
                        .iter()
                        .fold(0, |row, p| 2 * row + bit(case, *p));
                    let Distribution::Table(table) = &variable.distribution;
                    table[2 * row + bit(case, v)]
                });
                factors.product()
            })
            .collect();
        (0..1usize << count).all(|case| {
            let sum = |fixed: &[usize]| -> f64 {
                let matches =
                    |other: &usize| fixed.iter().all(|v| bit(*other, *v) == bit(case, *v));
                (0..1usize << count)
                    .filter(matches)
                    .map(|other| joint[other])
                    .sum()
            };
            let with = |more: &[usize]| sum(&[given, more].concat());
            (with(&[a, b]) * with(&[]) - with(&[a]) * with(&[b])).abs() < 1e-12
        })
    }

    #[test]
    fn variables_are_d_separated_where_they_are_independent() {
        for arcs in graphs(4) {
            let network = network(4, &arcs);
            for given in 0..16u32 {
                let given: Vec<usize> = (0..4).filter(|v| given >> v & 1 == 1).collect();
                for (a, b) in [(0, 1), (2, 1), (0, 3)] {
                    if given.contains(&a) || given.contains(&b) {
                        continue;
                    }
                    let path = network.active_path(&[a], &[b], &given);
                    assert_eq!(
                        path.is_none(),
                        independent(&network, a, b, &given),
                        "{arcs:?}"
                    );
                    if let Some(path) = path {
                        assert_eq!((path[0], path[path.len() - 1]), (a, b));
                        let arc = |w: &[usize]| {
                            arcs.contains(&(w[0], w[1])) || arcs.contains(&(w[1], w[0]))
                        };
                        assert!(path.windows(2).all(arc));
                    }
                }
            }
        }
    }

    #[test]
    fn an_arc_is_compelled_if_all_graphs_of_the_class_have_it() {
        let graphs = graphs(4);
        let independences = |arcs: &Vec<(usize, usize)>| {
            let network = network(4, arcs);
            let mut found = Vec::new();
            for given in 0..16u32 {
                let given: Vec<usize> = (0..4).filter(|v| given >> v & 1 == 1).collect();
                for a in 0..4 {
                    found.extend(
                        (a + 1..4).map(|b| network.active_path(&[a], &[b], &given).is_some()),
                    );
                }
            }
            found
        };
        let all: Vec<Vec<bool>> = graphs.iter().map(independences).collect();
        for (arcs, same) in graphs.iter().zip(&all) {
            let members: Vec<&Vec<(usize, usize)>> = graphs
                .iter()
                .zip(&all)
                .filter(|(_, other)| *other == same)
                .map(|(g, _)| g)
                .collect();
            let everywhere =
                |arc: &&(usize, usize)| members.iter().all(|member| member.contains(arc));
            let expected: Vec<(usize, usize)> = arcs.iter().filter(everywhere).copied().collect();
            let class = network(4, arcs).equivalence_class();
            assert_eq!(class.arcs, expected, "{arcs:?}");
            assert_eq!(class.arcs.len() + class.edges.len(), arcs.len());
        }
    }

    #[test]
    fn the_markov_blanket_separates_a_variable_from_all_others() {
        for arcs in graphs(4) {
            let network = network(4, &arcs);
            for variable in 0..4 {
                let blanket = network.markov_blanket(variable);
                let others = (0..4).filter(|other| *other != variable && !blanket.contains(other));
                let others: Vec<usize> = others.collect();
                assert_eq!(network.active_path(&[variable], &others, &blanket), None);
            }
        }
    }
}
