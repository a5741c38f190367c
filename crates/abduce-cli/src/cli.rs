//! The top of the command line: the options that every command has.

use crate::arguments::values::whole;
use crate::commands::Command;
use crate::commands::fit::models;
use crate::context::Context;
use crate::io::escape;
use crate::io::failure::{Failure, Outcome};
use clap::error::ErrorKind;
use clap::{Args, ColorChoice, CommandFactory, FromArgMatches, Parser};

/// Fit generative models to tables with missing values, then classify, score, impute, sample and
/// explain
#[derive(Parser)]
#[command(
    name = "abduce",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    after_help = "Example:
  abduce fit naive-bayes penguins.csv --target species -o penguins.abduce
  abduce predict penguins.abduce new.csv --proba

Exit codes:
  0    success; also when the reader of stdout closes it early
  1    the command failed, or its answer is no (for example, no hypothesis fits)
  2    wrong usage or invalid input
  130  ended by SIGINT (Ctrl-C); 129 by SIGHUP, 143 by SIGTERM
A fit that is stopped by a signal writes the best model so far to -o FILE."
)]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalOptions,
    #[command(subcommand)]
    pub command: Command,
}

/// The options that every command has.
#[derive(Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalOptions {
    /// Write one JSON document instead of tables
    #[arg(long, global = true)]
    pub json: bool,
    /// Suppress notes and warnings on stderr
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Seed for all random numbers
    #[arg(long, global = true, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = whole)]
    pub seed: u64,
    /// Number of threads; does not affect results
    #[arg(long, global = true, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub threads: Option<u64>,
    /// When to use colors
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

impl GlobalOptions {
    pub fn use_threads(&self, context: &Context) -> Outcome {
        let Some(requested) = self.threads else {
            return Ok(());
        };
        // More threads would only take time to start.
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let most = (4 * cores).max(256);
        let threads = usize::try_from(requested).unwrap_or(most).min(most);
        if threads as u64 != requested {
            context.note(&format!(
                "--threads capped at {threads} ({requested} requested)"
            ));
        }
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .map_err(|error| Failure::work(format!("cannot start threads: {error}")))
    }
}

/// Parses the command line. Help and errors are printed and end the program.
pub fn parse() -> Cli {
    let color = color_before_parsing();
    let matches = Cli::command().color(color).try_get_matches();
    matches
        .and_then(|matches| Cli::from_arg_matches(&matches))
        .unwrap_or_else(|error| exit_with(error))
}

/// Prints help or an error, with control characters escaped, and ends the program.
fn exit_with(error: clap::Error) -> ! {
    let mut text = error.render().to_string();
    if let Some(message) = models::message_about_model(&error) {
        text = format!("error: {message}\n");
    } else if error.kind() == ErrorKind::InvalidUtf8 {
        let invalid = std::env::args_os().find(|argument| argument.to_str().is_none());
        let invalid = invalid.unwrap_or_default();
        text = format!(
            "error: the argument \"{}\" is not valid UTF-8; rename the file, or pass its \
             contents on standard input\n",
            invalid.to_string_lossy()
        );
    } else if escape::lines(&text) == text {
        error.exit();
    }
    eprint!("{}", escape::lines(&text));
    std::process::exit(error.exit_code());
}

/// The value of `--color`, for messages about the command line itself.
fn color_before_parsing() -> ColorChoice {
    let mut arguments = std::env::args_os()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned());
    let mut color = ColorChoice::Auto;
    while let Some(argument) = arguments.next() {
        let value = match argument.strip_prefix("--color") {
            Some("") => arguments.next(),
            Some(value) => value.strip_prefix('=').map(str::to_string),
            None => None,
        };
        if let Some(choice) = value.and_then(|value| value.parse().ok()) {
            color = choice;
        }
    }
    color
}
