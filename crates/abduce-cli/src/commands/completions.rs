//! `completions`: writes the completion script of a shell.

use crate::cli::Cli;
use crate::context::Context;
use crate::io::failure::Outcome;
use crate::io::output::Output;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::io::Write;

/// Write completions for a shell
#[derive(Args)]
#[command(after_help = "Example:
  abduce completions bash > ~/.local/share/bash-completion/completions/abduce")]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

impl Arguments {
    pub fn run(&self, _: &Context) -> Outcome {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "abduce", &mut script);
        let mut output = Output::bytes(None)?;
        output.write_all(&script)?;
        output.finish()
    }
}
