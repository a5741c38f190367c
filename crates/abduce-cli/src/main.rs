//! `abduce`: the engine on the command line. Results go to stdout, everything
//! said about them to stderr; the exit codes are listed in `cli`.

#![forbid(unsafe_code)]

mod arguments;
mod cells;
mod changed;
mod cli;
mod commands;
mod context;
mod costs;
mod escape;
mod failure;
mod flags;
mod interrupt;
mod output;
mod progress;
mod render;
mod stream;
mod text_options;
mod text_table;
mod tour;

use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = cli::parse();
    let context = context::Context::new(&cli.global);
    let done = interrupt::install()
        .and_then(|()| cli.global.use_threads(&context))
        .and_then(|()| cli.command.run(&context));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(message) = failure.message() {
                context.error(&message, failure.below());
            }
            ExitCode::from(failure.code())
        }
    }
}
