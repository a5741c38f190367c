//! Fits naive Bayes to the penguins and prints the class of each with its probability.
//! Run it from the repository's root: `cargo run --example penguins`.

use abduce::prelude::*;

/// Prints the predicted species of every penguin.
pub fn main() -> Result<()> {
    let table = Table::read("crates/abduce-cli/data/penguins.csv")?;
    let model = NaiveBayes::new("species").fit(&table)?;
    for prediction in model.predict(&table)? {
        println!("{} {:.3}", prediction.label, prediction.probability);
    }
    Ok(())
}
