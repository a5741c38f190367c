//! `abduce`: the engine on the command line. Results go to stdout, everything
//! said about them to stderr; the exit code is 0 when done, 1 when the work
//! failed, 2 when the usage or the input was wrong.

#![forbid(unsafe_code)]

mod arguments;
mod cells;
mod changed;
mod cli;
mod cluster_tables;
mod commands;
mod context;
mod costs;
mod density_tables;
mod diagnostics_table;
mod failure;
mod interrupt;
mod output;
mod progress;
mod recipe_lines;
mod selection_table;
mod stream;
mod text_options;
mod text_table;
mod tour;

use clap::{CommandFactory, FromArgMatches};
use std::process::ExitCode;

fn main() -> ExitCode {
    let color = cli::color_before_parsing();
    let matches = cli::Cli::command().color(color).get_matches();
    let cli = cli::Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let context = context::Context::new(&cli.global);
    let done = interrupt::install()
        .and_then(|()| cli.global.use_threads(&context))
        .and_then(|()| cli.command.run(&context));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(message) = failure.message() {
                context.error(&message);
            }
            ExitCode::from(failure.code())
        }
    }
}
