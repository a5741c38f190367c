//! The global options, and messages on stderr.

use crate::cli::GlobalOptions;
use crate::flags::with_flags;
use crate::io::escape;
use crate::io::failure::Outcome;
use crate::io::output::{Heading, Output};
use crate::render::text_table::{line_width, wrapped};
use clap::ColorChoice;
use std::io::{IsTerminal, Write};

/// The global options that commands use.
pub struct Context {
    pub json: bool,
    pub quiet: bool,
    pub seed: u64,
    color: ColorChoice,
}

impl Context {
    pub fn new(options: &GlobalOptions) -> Context {
        Context {
            json: options.json,
            quiet: options.quiet,
            seed: options.seed,
            color: options.color,
        }
    }

    /// Whether to color output.
    pub fn colored(&self, is_terminal: bool) -> bool {
        match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            // See no-color.org: any value except an empty one disables colors.
            ColorChoice::Auto => {
                is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            }
        }
    }

    /// A heading of a result.
    pub fn heading(&self, output: &Output, text: &str) -> Heading {
        Heading::new(text, self.colored(output.is_terminal()))
    }

    /// Writes a line that starts with a heading, wrapped to the width of the output.
    pub fn write_heading(&self, output: &mut Output, heading: &str, text: &str) -> Outcome {
        let (heading, text) = (escape::line(heading), escape::line(text));
        let is_letter = |c: &char| !c.is_whitespace();
        let mut letters = heading.chars().filter(is_letter).count();
        let lines = wrapped(&format!("{heading}{text}"), output.line_width(), 2);
        for (number, line) in lines.lines().enumerate() {
            let line = line.trim_start();
            let mut in_text = line
                .char_indices()
                .filter(|(_, c)| is_letter(c))
                .skip(letters);
            let end = in_text.next().map_or(line.len(), |(start, _)| start);
            let title = line[..end].trim_end();
            letters -= title.chars().filter(is_letter).count();
            let title_end = title.len();
            let indent = if number == 0 { "" } else { "  " };
            let title = self.heading(output, title);
            writeln!(output, "{indent}{title}{}", &line[title_end..])?;
        }
        Ok(())
    }

    /// Prints a note, unless --quiet.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            self.print("note", "36", &escape::line(&with_flags(text)));
        }
    }

    /// Prints a note with formatted lines below it, unless --quiet.
    pub fn note_with(&self, text: &str, below: &str) {
        if !self.quiet {
            let below = escape::lines(below.trim_end_matches('\n'));
            let text = with_flags(text);
            self.print("note", "36", &format!("{}\n{below}", escape::line(&text)));
        }
    }

    /// Prints a warning, unless --quiet.
    pub fn warn(&self, text: &str) {
        if !self.quiet {
            self.print("warning", "33", &escape::line(&with_flags(text)));
        }
    }

    /// Prints why the command failed, with formatted lines below it.
    pub fn error(&self, text: &str, below: Option<&str>) {
        let text = with_flags(text);
        let mut text = escape::line(&text).into_owned();
        if let Some(below) = below {
            text.push('\n');
            text.push_str(below);
        }
        self.print("error", "1;31", &text);
    }

    /// The number of characters in a line on stderr.
    pub fn note_width(&self) -> usize {
        line_width(std::io::stderr().is_terminal())
    }

    fn print(&self, word: &str, color: &str, text: &str) {
        // Lines below the first are already formatted.
        let (first, below) = text.split_at(text.find('\n').unwrap_or(text.len()));
        let first = wrapped(&format!("{word}: {first}"), self.note_width(), 2);
        let text = format!("{}{below}", &first[word.len() + 1..]);
        let mut stderr = std::io::stderr().lock();
        // An error on stderr cannot be reported.
        let _ = if self.colored(stderr.is_terminal()) {
            writeln!(stderr, "\x1b[{color}m{word}:\x1b[0m{text}")
        } else {
            writeln!(stderr, "{word}:{text}")
        };
    }
}
