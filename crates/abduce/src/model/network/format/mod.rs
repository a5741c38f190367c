//! The file formats of Bayesian networks. A new format is one file here and one entry in
//! [`FORMATS`]. `tokens` splits the text formats into words, `xml` reads the XML formats, and
//! `builder` collects variables and tables, with their places in the file for errors.

mod bif;
mod builder;
mod dot;
mod net;
mod numbers;
mod place;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
mod tokens;
mod uai;
mod xdsl;
mod xml;
mod xmlbif;

pub use uai::{ScopedTable, read_evidence, read_factors};

use crate::Result;
use crate::model::network::{Distribution, Network, Variable};
use std::path::Path;

/// One file format.
#[derive(Debug)]
pub struct Format {
    /// Its name in messages.
    pub name: &'static str,
    /// The file name extensions, without the dot.
    pub extensions: &'static [&'static str],
    /// The network of a file's text, with notes about corrections.
    pub read: Read,
    /// The text of a file with the network.
    pub write: fn(&Network) -> Result<String>,
}

/// Reads the text of a file.
type Read = fn(&str) -> Result<(Network, Vec<String>)>;

/// All formats, in the order in which they are documented.
pub static FORMATS: &[Format] = &[
    bif::BIF,
    xmlbif::XMLBIF,
    net::NET,
    xdsl::XDSL,
    uai::UAI,
    dot::DOT,
];

/// The extensions of compressed files.
const COMPRESSED: [&str; 4] = ["gz", "gzip", "zst", "zstd"];

/// The format of a file with this name, by its extension.
///
/// ```
/// use abduce::model::network::format::of_path;
/// use std::path::Path;
/// assert_eq!(of_path(Path::new("alarm.bif.gz")).unwrap().name, "bif");
/// assert!(of_path(Path::new("alarm.csv")).is_none());
/// ```
pub fn of_path(path: &Path) -> Option<&'static Format> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    if COMPRESSED.contains(&extension.as_str()) {
        return of_path(Path::new(path.file_stem()?));
    }
    FORMATS
        .iter()
        .find(|format| format.extensions.contains(&extension.as_str()))
}

/// Reads the text of a file, with or without a byte order mark.
///
/// # Errors
/// If the text is not a network in this format; the error has the line and the character.
///
/// ```
/// use abduce::model::network::format::{FORMATS, read_text};
/// let text = "variable rain { type discrete [ 2 ] { yes, no }; }
/// probability ( rain ) { table 0.2, 0.8; }";
/// let (network, notes) = read_text(&FORMATS[0], text).unwrap();
/// assert_eq!(network.variables()[0].states, ["yes", "no"]);
/// assert!(notes.is_empty());
///
/// let error = read_text(&FORMATS[0], &text.replace("0.8", "O.8")).unwrap_err();
/// assert_eq!(error.line(), Some(2));
/// assert_eq!(error.message(), "expected a number but found \"O.8\", at character 35");
/// ```
pub fn read_text(format: &Format, text: &str) -> Result<(Network, Vec<String>)> {
    (format.read)(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// The table of a variable as it is written: every format writes tables.
fn table(variable: &Variable) -> &[f64] {
    let Distribution::Table(table) = &variable.distribution;
    table
}
