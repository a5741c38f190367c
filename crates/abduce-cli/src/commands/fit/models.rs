//! The models as sub-commands of `fit` and `evaluate`.

use super::MODELS;
use super::calibration::CalibrationOptions;
use crate::arguments::DataArguments;
use crate::cli::Cli;
use crate::context::Context;
use crate::io::failure::Outcome;
use abduce::data::{Schema, Source, TextOptions};
use abduce::model::{AnyLearner, Learner};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Args, Command, CommandFactory, FromArgMatches, Subcommand};

/// The names of models that are not yet available.
const PLANNED_MODELS: [&str; 2] = ["network", "logistic"];

/// The options of a model, and what `fit` and `evaluate` ask of them.
pub trait ModelOptions {
    /// The model with its options; the format of `data` may determine the labels.
    fn learner(&self, data: &DataArguments, context: &Context) -> Outcome<Box<dyn AnyLearner>>;

    /// How columns of text are read, if the model uses them.
    fn text(&self) -> Outcome<Option<TextOptions>> {
        Ok(None)
    }

    /// A `--kind` for the target, if an option names classes that the data lack.
    fn kind_of_target(&self, _schema: &Schema, _kinds: &[String]) -> Outcome<Option<String>> {
        Ok(None)
    }

    /// Notes options that have no effect on these rows, or that look like a mistake; `target`
    /// is the column of labels.
    fn note(&self, _target: Option<&str>, _source: &dyn Source, _context: &Context) -> Outcome {
        Ok(())
    }

    /// Whether and how the probabilities of classes are calibrated.
    fn calibration(&self) -> Option<&CalibrationOptions> {
        None
    }

    /// The model file whose parameters the fit starts from.
    fn start_file(&self) -> Option<String> {
        None
    }
}

/// The options of one model as arguments of a command.
pub trait ModelArguments: ModelOptions + Args + 'static {
    /// The model of the library.
    type Learner: Learner;
    /// Examples for the help, without the name of the program and of the command.
    const EXAMPLES: &'static [&'static str];
}

/// A line of the list of models.
pub struct Entry {
    name: &'static str,
    about: &'static str,
    examples: &'static [&'static str],
    add_options: fn(Command) -> Command,
    read_options: fn(&mut ArgMatches) -> Result<Box<dyn ModelOptions>, clap::Error>,
}

impl Entry {
    pub const fn of<O: ModelArguments>() -> Entry {
        Entry {
            name: O::Learner::NAME,
            about: O::Learner::ABOUT,
            examples: O::EXAMPLES,
            add_options: O::augment_args,
            read_options: |matches| Ok(Box::new(O::from_arg_matches_mut(matches)?)),
        }
    }

    /// The sub-command of `parent` for this model, with the arguments `C` of the parent.
    fn command<C: Args>(&self, parent: &str) -> Command {
        let examples = self.examples.iter();
        let examples = examples.map(|example| format!("\n  abduce {parent} {example}"));
        let heading = match self.examples {
            [_] => "Example:",
            _ => "Examples:",
        };
        let command = C::augment_args(Command::new(self.name));
        // Doc comments on structs of arguments would become the description.
        let command = (self.add_options)(command)
            .about(self.about)
            .long_about(None);
        command.after_help(format!("{heading}{}", examples.collect::<String>()))
    }
}

/// The names of all models, in the order of the list.
pub fn names() -> impl Iterator<Item = &'static str> {
    MODELS.iter().map(|entry| entry.name)
}

/// The message for a command-line error about a model: an unknown name, or an option that only
/// other models have.
pub fn message_about_model(error: &clap::Error) -> Option<String> {
    let argument = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let parent = first_word(|word| ["fit", "evaluate"].contains(&word))?;
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let flag = argument(ContextKind::InvalidArg)?;
            let models = models_with_option(&parent, flag);
            let model = first_word(|word| names().any(|name| name == word));
            let has_option = |name: &String| models.contains(name);
            if models.is_empty() || model.as_ref().is_some_and(has_option) {
                return None;
            }
            let models = models.join(", ");
            Some(match model {
                Some(name) => {
                    format!("{flag} does not apply to {name}; it is an option of {models}")
                }
                None if parent == "evaluate" => {
                    format!("{flag} does not apply to a model file; it is an option of {models}")
                }
                None => {
                    format!("{flag} is an option of {models}; write it after the name of the model")
                }
            })
        }
        ErrorKind::InvalidSubcommand if parent == "fit" => Some(unknown_model_message(argument(
            ContextKind::InvalidSubcommand,
        )?)),
        _ => None,
    }
}

/// The names of the models that have an option as sub-commands of `parent`.
fn models_with_option(parent: &str, flag: &str) -> Vec<String> {
    let command = Cli::command();
    let models = command.find_subcommand(parent);
    let models = models.into_iter().flat_map(Command::get_subcommands);
    let has_option = |model: &&Command| {
        let mut arguments = model.get_arguments();
        arguments.any(|argument| argument.get_long() == flag.strip_prefix("--"))
    };
    let models = models.filter(has_option);
    models.map(|model| model.get_name().to_string()).collect()
}

/// The first word of the command line with a property.
fn first_word(property: impl Fn(&str) -> bool) -> Option<String> {
    let mut words = std::env::args().skip(1);
    words.find(|word| property(word))
}

/// The message for a name that is not that of a model.
pub fn unknown_model_message(name: &str) -> String {
    let models: Vec<&str> = names().collect();
    let models = models.join(", ");
    if PLANNED_MODELS.contains(&name) {
        format!("the model {name} is not available in this version; there are {models}")
    } else {
        format!("there is no model {name}; there are {models}")
    }
}

/// A model with its options, and the arguments `C` that a command takes for every model.
pub struct Chosen<C> {
    pub name: &'static str,
    pub options: Box<dyn ModelOptions>,
    pub common: C,
}

impl<C: Args> FromArgMatches for Chosen<C> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Self::from_arg_matches_mut(&mut matches.clone())
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, clap::Error> {
        let chosen = matches.remove_subcommand();
        let found = chosen.and_then(|(name, matches)| {
            let entry = MODELS.iter().find(|entry| entry.name == name)?;
            Some((entry, matches))
        });
        let Some((entry, mut matches)) = found else {
            let message = "name a model";
            return Err(clap::Error::raw(ErrorKind::MissingSubcommand, message));
        };
        Ok(Chosen {
            name: entry.name,
            common: C::from_arg_matches_mut(&mut matches)?,
            options: (entry.read_options)(&mut matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<C: Args> Subcommand for Chosen<C> {
    fn augment_subcommands(command: Command) -> Command {
        let parent = command.get_name().to_string();
        let models = MODELS.iter().map(|entry| entry.command::<C>(&parent));
        command.subcommands(models)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        names().any(|model| model == name)
    }
}
