//! Which options were given, whatever their values: those of a fit do not apply to a model
//! that is fitted already.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// The options that apply to a saved model too, and those with an error of their own.
const OF_A_FILE: [&str; 19] = [
    "model",
    "data",
    "drop",
    "columns",
    "weight",
    "missing",
    "no_header",
    "names",
    "delimiter",
    "quote",
    "memory",
    "truth",
    "target",
    "output",
    "json",
    "quiet",
    "seed",
    "threads",
    "color",
];

/// The names of the given options.
pub(super) struct GivenOptions(Vec<String>);

impl GivenOptions {
    /// The first given option, as users type it, that says how to fit a model.
    pub(super) fn first_of_a_fit(&self) -> Option<String> {
        let mut of_a_fit = self.0.iter().filter(|id| !OF_A_FILE.contains(&id.as_str()));
        of_a_fit
            .next()
            .map(|id| format!("--{}", id.replace('_', "-")))
    }
}

impl FromArgMatches for GivenOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let ids = matches.ids().map(|id| id.as_str());
        let given = ids.filter(|id| matches.value_source(id) == Some(ValueSource::CommandLine));
        // clap lists groups of options too, under the names of their types.
        let options = given.filter(|id| id.starts_with(|c: char| c.is_ascii_lowercase()));
        Ok(GivenOptions(options.map(String::from).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for GivenOptions {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}
