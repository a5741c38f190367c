//! A Bayesian network read from a file, and its exact answers.

use abduce::model::network::{DEFAULT_MEMORY, Network};

/// Prints the probability of tuberculosis for a patient.
pub fn main() -> abduce::Result<()> {
    let (network, _) = Network::load("crates/abduce-cli/data/asia.bif")?;
    let evidence = network.evidence(&[("asia", "yes"), ("dysp", "yes")])?;
    let marginals = network.exact(0, DEFAULT_MEMORY)?.marginals(&evidence)?;
    let tub = network.find("tub")?;
    println!("{:.4}", marginals.probabilities[tub][0]);
    Ok(())
}
