//! `man`: writes the manual pages.

use crate::cli::Cli;
use crate::context::Context;
use crate::io::failure::Outcome;
use crate::io::output::Output;
use abduce::Error;
use clap::{Args, CommandFactory};
use std::io::Write;
use std::path::PathBuf;

/// Write manual pages
#[derive(Args)]
#[command(after_help = "Example:
  abduce man ~/.local/share/man/man1
  abduce man | man -l -")]
pub struct Arguments {
    /// The folder for one page per command; without it, the main page is written to stdout
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let Some(folder) = &self.folder else {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page)?;
            let mut output = Output::bytes(None)?;
            output.write_all(&page)?;
            return output.finish();
        };
        let fail = |error: std::io::Error| {
            Error::io(error.to_string()).at_file(folder.display().to_string())
        };
        std::fs::create_dir_all(folder).map_err(fail)?;
        clap_mangen::generate_to(Cli::command(), folder).map_err(fail)?;
        context.note(&format!("wrote manual pages to {}", folder.display()));
        Ok(())
    }
}
