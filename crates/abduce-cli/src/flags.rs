//! Options in the library's messages as flags: `max_iter` becomes --max-iter.

use crate::cli::Cli;
use abduce::spell_options;
use clap::CommandFactory;
use std::collections::HashSet;
use std::sync::LazyLock;

/// A message of the library, with the options of this program written as flags.
pub fn with_flags(text: &str) -> String {
    static FLAGS: LazyLock<HashSet<String>> = LazyLock::new(|| flags_of(&Cli::command()));
    spell_options(text, |name, value| {
        let flag = name.replace('_', "-");
        if !FLAGS.contains(&flag) {
            return None;
        }
        Some(match value {
            Some(value) => format!("--{flag} {value}"),
            None => format!("--{flag}"),
        })
    })
}

/// Several messages, with options written as flags.
pub fn all_with_flags<'a>(texts: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    texts.into_iter().map(|text| with_flags(text)).collect()
}

/// The long flags of a command and of its subcommands.
fn flags_of(command: &clap::Command) -> HashSet<String> {
    let flags = command.get_arguments().filter_map(clap::Arg::get_long);
    let flags = flags.map(str::to_string);
    flags
        .chain(command.get_subcommands().flat_map(flags_of))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_become_flags_and_other_words_are_unchanged() {
        let text = "raise `max_iter`, pass `kind=\"x=real\"`; `ls` is no option";
        let flags = "raise --max-iter, pass --kind \"x=real\"; `ls` is no option";
        assert_eq!(with_flags(text), flags);
    }
}
