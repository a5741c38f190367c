//! `convert`: writes a network in another file format.

use crate::context::Context;
use crate::io::failure::{Failure, Outcome};
use crate::io::output::{Output, check_not_an_input};
use abduce::model::network::{Network, format};
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

/// Convert a Bayesian network to another file format
///
/// The extensions name the formats: .bif, .xml or .bifxml (XMLBIF 0.3), .net (Hugin), .xdsl (GeNIe)
/// and .uai. A graph can also be written for Graphviz, as .dot. UAI files have no names.
#[derive(Args)]
#[command(after_help = "Example:
  abduce convert asia.bif asia.xdsl
  abduce convert asia.bif asia.dot")]
pub struct Arguments {
    /// The network
    #[arg(value_name = "FROM")]
    from: PathBuf,
    /// The file to write
    #[arg(value_name = "TO")]
    to: PathBuf,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let Some(to) = format::of_path(&self.to) else {
            let formats = format::FORMATS.iter().flat_map(|format| format.extensions);
            let formats: Vec<String> = formats.map(|end| format!(".{end}")).collect();
            return Err(Failure::usage(format!(
                "{}: no format for networks has this extension; use {}",
                self.to.display(),
                formats.join(", ")
            )));
        };
        let (network, notes) = Network::load(&self.from)?;
        notes.iter().for_each(|note| context.note(note));
        check_not_an_input(Some(&self.to), [self.from.clone()])?;
        let text = (to.write)(&network)?;
        let mut output = Output::compressed_by_name(&self.to)?;
        output.write_all(text.as_bytes())?;
        output.finish()
    }
}
