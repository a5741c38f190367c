//! The command line of abduce. Results go to stdout, messages to stderr; `cli` lists the exit
//! codes.

#![forbid(unsafe_code)]

mod arguments;
mod cli;
mod commands;
mod context;
mod flags;
mod io;
mod render;
mod tour;

use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = cli::parse();
    let context = context::Context::new(&cli.global);
    let outcome = io::interrupt::install()
        .and_then(|()| Ok(abduce::simd_level().map(|_| ())?))
        .and_then(|()| cli.global.use_threads(&context))
        .and_then(|()| cli.command.run(&context));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(message) = failure.message() {
                context.error(&message, failure.lines_below());
            }
            ExitCode::from(failure.code())
        }
    }
}
