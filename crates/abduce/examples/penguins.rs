//! Fits naive Bayes to the penguins and prints the class of each with its probability.
//! Run it from the repository's root: `cargo run --example penguins`.

use abduce::Control;
use abduce::ask::Predict;
use abduce::data::{ReadOptions, open};
use abduce::model::mixture::{FitOptions, Specification, fit};

pub fn main() -> abduce::Result<()> {
    let options = ReadOptions {
        target: Some("species".into()),
        ..ReadOptions::default()
    };
    let table = open(&["crates/abduce-cli/data/penguins.csv".into()], &options)?.source;
    let naive_bayes = Specification::naive_bayes("species");
    let fitted = fit(
        &naive_bayes,
        &*table,
        &FitOptions::default(),
        Control::default(),
    )?;
    let names = fitted.mixture.names();
    for chunk in table.scan()? {
        let posterior = fitted.mixture.posterior(&chunk?)?;
        for row in 0..posterior.rows() {
            let best = posterior.best(row);
            println!("{} {:.3}", names[best], posterior.row(row)[best]);
        }
    }
    Ok(())
}
