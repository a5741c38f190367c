//! The destination of results: stdout, or a file that is renamed into place when it is complete.
//! The extension of a table's file determines its separator and compression.

use crate::context::Context;
use crate::io::cells;
use crate::io::escape;
use crate::io::failure::{Failure, Outcome};
use crate::io::interrupt;
use crate::render::text_table::line_width;
use abduce::store::Replacement;
use flate2::write::GzEncoder;
use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::{Path, PathBuf};

pub struct Output {
    sink: Sink,
    name: String,
    separator: u8,
    escaping: Escaping,
    temporary: Option<PathBuf>,
}

/// Which control characters are escaped.
#[derive(Clone, Copy, PartialEq)]
enum Escaping {
    /// None: data, documents and pictures are written unchanged.
    Nothing,
    /// All except line ends.
    Everything,
    /// All except line ends and the escape sequences of headings.
    AllButHeadings,
}

const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

/// The heading of a result, bold if colors are enabled. Its escape sequences are separate writes,
/// by which [`Output`] distinguishes them from escape sequences in names.
pub struct Heading {
    text: String,
    bold: bool,
}

impl Heading {
    pub fn new(text: &str, bold: bool) -> Heading {
        let text = escape::line(text).into_owned();
        Heading { text, bold }
    }
}

impl fmt::Display for Heading {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.bold || self.text.is_empty() {
            return out.write_str(&self.text);
        }
        out.write_str(BOLD)?;
        out.write_str(&self.text)?;
        out.write_str(PLAIN)
    }
}

enum Sink {
    Standard(BufWriter<Stdout>),
    File(Box<BufWriter<CompressedFile>>),
}

/// A file, compressed or not.
enum CompressedFile {
    Plain(Replacement),
    Gzip(GzEncoder<Replacement>),
    Zstandard(zstd::Encoder<'static, Replacement>),
}

impl CompressedFile {
    fn new(file: Replacement, compression: &str) -> io::Result<CompressedFile> {
        Ok(match compression {
            "gz" => CompressedFile::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            "zst" => CompressedFile::Zstandard(zstd::Encoder::new(
                file,
                zstd::DEFAULT_COMPRESSION_LEVEL,
            )?),
            _ => CompressedFile::Plain(file),
        })
    }

    fn finish(self) -> io::Result<Replacement> {
        match self {
            CompressedFile::Plain(file) => Ok(file),
            CompressedFile::Gzip(file) => file.finish(),
            CompressedFile::Zstandard(file) => file.finish(),
        }
    }

    fn sink(&mut self) -> &mut dyn Write {
        match self {
            CompressedFile::Plain(sink) => sink,
            CompressedFile::Gzip(sink) => sink,
            CompressedFile::Zstandard(sink) => sink,
        }
    }
}

impl Write for CompressedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sink().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink().flush()
    }
}

/// The compression that the extension of a name stands for, and the extension before it.
fn compression_and_format(name: &Path) -> (&'static str, String) {
    let extension = |path: &Path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.unwrap_or_default().to_ascii_lowercase()
    };
    match extension(name).as_str() {
        "gz" | "gzip" => ("gz", extension(&name.with_extension(""))),
        "zst" | "zstd" => ("zst", extension(&name.with_extension(""))),
        format => ("", format.to_string()),
    }
}

impl Output {
    /// The destination of a model, a picture or a script, which are written unchanged.
    pub fn bytes(path: Option<&Path>) -> Outcome<Output> {
        Self::compressed(path, "", b',')
    }

    /// The destination of a text, or of a JSON document instead. Control characters in the text
    /// are escaped.
    pub fn text(path: Option<&Path>, context: &Context) -> Outcome<Output> {
        let mut output = Self::bytes(path)?;
        output.escaping = if context.json {
            Escaping::Nothing
        } else if context.colored(output.is_terminal()) {
            Escaping::AllButHeadings
        } else {
            Escaping::Everything
        };
        Ok(output)
    }

    /// The destination of a document, compressed if the extension of its name says so.
    pub fn compressed_by_name(path: &Path) -> Outcome<Output> {
        Self::compressed(Some(path), compression_and_format(path).0, b',')
    }

    /// The destination of a table, or of a JSON document instead.
    pub fn table(path: Option<&Path>, context: &Context) -> Outcome<Output> {
        let name = path.unwrap_or(Path::new("-"));
        let (compression, format) = compression_and_format(name);
        let other_formats = [
            "parquet", "arrow", "feather", "ipc", "arrows", "jsonl", "ndjson",
        ];
        if !context.json && other_formats.contains(&format.as_str()) {
            let message = format!("-o {}: tables are written as CSV or TSV", name.display());
            return Err(Failure::usage(format!("{message}; name it .csv")));
        }
        let tabs = matches!(format.as_str(), "tsv" | "tab");
        Self::compressed(path, compression, if tabs { b'\t' } else { b',' })
    }

    fn compressed(path: Option<&Path>, compression: &str, separator: u8) -> Outcome<Output> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            return Ok(Output {
                sink: Sink::Standard(BufWriter::new(io::stdout())),
                name: "stdout".into(),
                separator,
                escaping: Escaping::Nothing,
                temporary: None,
            });
        };
        let create = || {
            let file = Replacement::create(path)?;
            let temporary = file.temporary().map(Path::to_path_buf);
            Ok((file, temporary))
        };
        // A pipe opens only once it has a reader, however long that takes, so it is opened
        // where signals are still handled. It has no temporary file to remove.
        let file = if is_device(path) {
            create()?.0
        } else {
            interrupt::create_tracked(create)?
        };
        Ok(Output {
            temporary: file.temporary().map(Path::to_path_buf),
            sink: Sink::File(Box::new(BufWriter::new(CompressedFile::new(
                file,
                compression,
            )?))),
            name: path.display().to_string(),
            separator,
            escaping: Escaping::Nothing,
        })
    }

    /// Writes one row of a table.
    pub fn line<'a>(&mut self, cells: impl IntoIterator<Item = &'a str>) -> Outcome {
        let separator = self.separator;
        Ok(cells::write_line(self, separator, cells)?)
    }

    /// Fails if a result could not be written to this path.
    pub fn check_writable(path: &Path) -> Outcome {
        let probe = Output::bytes(Some(path))?;
        if let Some(temporary) = probe.temporary.clone() {
            drop(probe);
            interrupt::untrack(&temporary);
        }
        Ok(())
    }

    /// Whether the output is written to a terminal.
    pub fn is_terminal(&self) -> bool {
        matches!(self.sink, Sink::Standard(_)) && io::stdout().is_terminal()
    }

    /// The number of characters in a line of text.
    pub fn line_width(&self) -> usize {
        line_width(self.is_terminal())
    }

    /// Writes all buffered output and gives a file its name.
    pub fn finish(mut self) -> Outcome {
        self.flush()?;
        if let Sink::File(file) = self.sink {
            let fail = |error: io::Error| Failure::work(format!("{}: {error}", self.name));
            let file = file.into_inner().map_err(|e| fail(e.into_error()))?;
            file.finish().map_err(fail)?.finish()?;
            if let Some(temporary) = &self.temporary {
                interrupt::untrack(temporary);
            }
        }
        Ok(())
    }

    fn sink(&mut self) -> &mut dyn Write {
        match &mut self.sink {
            Sink::Standard(sink) => sink,
            Sink::File(sink) => sink,
        }
    }

    fn named<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.name)))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_heading = bytes == BOLD.as_bytes() || bytes == PLAIN.as_bytes();
        let result = match self.escaping {
            Escaping::Nothing => self.sink().write(bytes),
            Escaping::AllButHeadings if is_heading => self.sink().write(bytes),
            _ => {
                let text = String::from_utf8_lossy(bytes);
                let safe = self.sink().write_all(escape::lines(&text).as_bytes());
                safe.map(|()| bytes.len())
            }
        };
        self.named(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.sink().flush();
        self.named(result)
    }
}

/// Whether a path names a pipe or a device, which is written to in place.
fn is_device(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Fails if the output file is one of the input files.
pub fn check_not_an_input(
    output: Option<&Path>,
    inputs: impl IntoIterator<Item = PathBuf>,
) -> Outcome {
    let real_file = |path: &Path| {
        let real = std::fs::canonicalize(path).ok();
        real.filter(|path| path.is_file())
    };
    let Some(output) = output.and_then(real_file) else {
        return Ok(());
    };
    match inputs
        .into_iter()
        .find(|input| real_file(input).as_ref() == Some(&output))
    {
        None => Ok(()),
        Some(input) => Err(Failure::usage(format!(
            "-o would overwrite a file that is read: {}",
            input.display()
        ))),
    }
}

/// Writes one JSON document and ends it with a newline.
pub fn write_json(output: &mut Output, document: &impl serde::Serialize) -> Outcome {
    serde_json::to_writer_pretty(&mut *output, document)?;
    writeln!(output)?;
    Ok(())
}
