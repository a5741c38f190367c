//! The law of exact inference: marginals and the probability of the evidence equal those of a list
//! of all cases, on random networks with zeros in their tables.

use super::junction_tree::{JunctionTree, Pass};
use crate::model::network::Evidence;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

struct Random {
    sizes: Vec<usize>,
    families: Vec<(Vec<usize>, Vec<f64>)>,
}

/// A random network of up to nine variables, with zeros in its tables.
fn random(rng: &mut ChaCha8Rng) -> Random {
    let count = rng.random_range(1..=9);
    let sizes: Vec<usize> = (0..count).map(|_| rng.random_range(1..=4)).collect();
    let families = (0..count).map(|v| {
        let mut scope: Vec<usize> = (0..v).filter(|_| rng.random::<f64>() < 0.35).collect();
        scope.truncate(4);
        if rng.random() {
            scope.reverse();
        }
        scope.push(v);
        let cells: usize = scope.iter().map(|v| sizes[*v]).product();
        let mut table: Vec<f64> = (0..cells)
            .map(|_| {
                if rng.random::<f64>() < 0.2 {
                    0.0
                } else {
                    rng.random::<f64>()
                }
            })
            .collect();
        for row in table.chunks_exact_mut(sizes[v]) {
            let sum: f64 = row.iter().sum();
            if sum == 0.0 {
                row[0] = 1.0;
            } else {
                row.iter_mut().for_each(|p| *p /= sum);
            }
        }
        (scope, table)
    });
    Random {
        families: families.collect(),
        sizes,
    }
}

/// The marginals by a list of all cases.
fn enumerated(network: &Random, evidence: &Evidence) -> (Vec<Vec<f64>>, f64) {
    let mut marginals: Vec<Vec<f64>> = network.sizes.iter().map(|size| vec![0.0; *size]).collect();
    let cases: usize = network.sizes.iter().product();
    let mut total = 0.0;
    for case in 0..cases {
        let mut rest = case;
        let states: Vec<usize> = network
            .sizes
            .iter()
            .map(|size| {
                let state = rest % size;
                rest /= size;
                state
            })
            .collect();
        let observed = evidence.states.iter().zip(&states);
        if observed
            .into_iter()
            .any(|(seen, state)| seen.is_some_and(|s| s != *state))
        {
            continue;
        }
        let mut p = 1.0;
        for (scope, table) in &network.families {
            let cell = scope
                .iter()
                .fold(0, |cell, v| cell * network.sizes[*v] + states[*v]);
            p *= table[cell];
        }
        for (variable, likelihood) in &evidence.likelihoods {
            p *= likelihood[states[*variable]];
        }
        total += p;
        for (marginal, state) in marginals.iter_mut().zip(&states) {
            marginal[*state] += p;
        }
    }
    marginals.iter_mut().flatten().for_each(|p| *p /= total);
    (marginals, total.ln())
}

#[test]
fn marginals_equal_a_list_of_all_cases() {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    for round in 0..1000 {
        let network = random(&mut rng);
        let mut evidence = Evidence {
            states: vec![None; network.sizes.len()],
            likelihoods: Vec::new(),
        };
        for (v, size) in network.sizes.iter().enumerate() {
            if rng.random::<f64>() < 0.25 {
                evidence.states[v] = Some(rng.random_range(0..*size));
            } else if rng.random::<f64>() < 0.1 {
                let likelihood = (0..*size).map(|_| rng.random()).collect();
                evidence.likelihoods.push((v, likelihood));
            }
        }
        let factors: Vec<(&[usize], &[f64])> = network
            .families
            .iter()
            .map(|(scope, table)| (&scope[..], &table[..]))
            .collect();
        let tree = JunctionTree::new(network.sizes.clone(), &factors, round);
        let (expected, log) = enumerated(&network, &evidence);
        let mut pass = Pass::new(&tree, &evidence);
        match pass.collect_all() {
            None => assert_eq!(log, f64::NEG_INFINITY, "round {round}"),
            Some(()) => {
                assert!((pass.log_evidence - log).abs() < 1e-12, "round {round}");
                let marginals = pass.distribute();
                let pairs = marginals.iter().flatten().zip(expected.iter().flatten());
                for (p, q) in pairs {
                    assert!((p - q).abs() < 1e-12, "round {round}");
                }
            }
        }
    }
}
