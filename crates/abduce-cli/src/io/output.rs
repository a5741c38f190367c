//! Where results go: stdout, or a file that appears under its name only when
//! all of it is written. The name of a table's file says what separates its
//! cells and whether it is compressed.

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

/// What happens to control characters on their way out.
#[derive(Clone, Copy, PartialEq)]
enum Escaping {
    /// They stay: data, documents and pictures are written as they are.
    Nothing,
    /// All but line ends are escaped.
    Everything,
    /// The same, but for the marks of headings.
    AllButHeadings,
}

const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

/// The heading of a result, bold where colors are wanted. Its marks are
/// written by themselves, by which [`Output`] knows them from those in names.
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
        if !self.bold {
            return out.write_str(&self.text);
        }
        out.write_str(BOLD)?;
        out.write_str(&self.text)?;
        out.write_str(PLAIN)
    }
}

enum Sink {
    Standard(BufWriter<Stdout>),
    File(Box<BufWriter<Packed>>),
}

/// A file, compressed or not.
enum Packed {
    Plain(Replacement),
    Gzip(GzEncoder<Replacement>),
    Zstandard(zstd::Encoder<'static, Replacement>),
}

impl Packed {
    fn new(file: Replacement, ending: &str) -> io::Result<Packed> {
        Ok(match ending {
            "gz" => Packed::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            "zst" => Packed::Zstandard(zstd::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?),
            _ => Packed::Plain(file),
        })
    }

    fn finish(self) -> io::Result<Replacement> {
        match self {
            Packed::Plain(file) => Ok(file),
            Packed::Gzip(file) => file.finish(),
            Packed::Zstandard(file) => file.finish(),
        }
    }

    fn sink(&mut self) -> &mut dyn Write {
        match self {
            Packed::Plain(sink) => sink,
            Packed::Gzip(sink) => sink,
            Packed::Zstandard(sink) => sink,
        }
    }
}

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sink().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink().flush()
    }
}

impl Output {
    /// A place for what is written as it is: a model, a picture, a script.
    pub fn bytes(path: Option<&Path>) -> Outcome<Output> {
        Self::packed(path, "", b',')
    }

    /// A place for text that people read, or for the JSON document that stands
    /// for it. Control characters in the text are escaped.
    pub fn text(path: Option<&Path>, context: &Context) -> Outcome<Output> {
        let mut output = Self::bytes(path)?;
        output.escaping = match context.colored(output.is_terminal()) {
            _ if context.json => Escaping::Nothing,
            true => Escaping::AllButHeadings,
            false => Escaping::Everything,
        };
        Ok(output)
    }

    /// A place for a table, or for the JSON document that stands for one.
    pub fn table(path: Option<&Path>, context: &Context) -> Outcome<Output> {
        let end = |path: &Path| {
            let end = path.extension().and_then(|end| end.to_str());
            end.unwrap_or_default().to_ascii_lowercase()
        };
        let name = path.unwrap_or(Path::new("-"));
        let (packing, kind) = match end(name).as_str() {
            "gz" | "gzip" => ("gz", end(&name.with_extension(""))),
            "zst" | "zstd" => ("zst", end(&name.with_extension(""))),
            kind => ("", kind.to_string()),
        };
        let other = [
            "parquet", "arrow", "feather", "ipc", "arrows", "jsonl", "ndjson",
        ];
        if !context.json && other.contains(&kind.as_str()) {
            let message = format!("-o {}: tables are written as CSV or TSV", name.display());
            return Err(Failure::usage(format!("{message}; name it .csv")));
        }
        let tabs = matches!(kind.as_str(), "tsv" | "tab");
        Self::packed(path, packing, if tabs { b'\t' } else { b',' })
    }

    fn packed(path: Option<&Path>, packing: &str, separator: u8) -> Outcome<Output> {
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
            interrupt::unfinished(create)?
        };
        Ok(Output {
            temporary: file.temporary().map(Path::to_path_buf),
            sink: Sink::File(Box::new(BufWriter::new(Packed::new(file, packing)?))),
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

    /// Fails now if a result could not be written to this path later.
    pub fn probe(path: &Path) -> Outcome {
        let probe = Output::bytes(Some(path))?;
        if let Some(temporary) = probe.temporary.clone() {
            drop(probe);
            interrupt::finished(&temporary);
        }
        Ok(())
    }

    /// Whether a person reads it as it comes.
    pub fn is_terminal(&self) -> bool {
        matches!(self.sink, Sink::Standard(_)) && io::stdout().is_terminal()
    }

    /// How many characters a line of text may have here.
    pub fn line_width(&self) -> usize {
        line_width(self.is_terminal())
    }

    /// Writes what is still held back, and gives a file its name.
    pub fn finish(mut self) -> Outcome {
        self.flush()?;
        if let Sink::File(file) = self.sink {
            let fail = |error: io::Error| Failure::work(format!("{}: {error}", self.name));
            let file = file.into_inner().map_err(|e| fail(e.into_error()))?;
            file.finish().map_err(fail)?.finish()?;
            if let Some(temporary) = &self.temporary {
                interrupt::finished(temporary);
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
        let mark = bytes == BOLD.as_bytes() || bytes == PLAIN.as_bytes();
        let result = match self.escaping {
            Escaping::Nothing => self.sink().write(bytes),
            Escaping::AllButHeadings if mark => self.sink().write(bytes),
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

/// Whether a path names a pipe or a device, which no file can replace.
fn is_device(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Refuses to write over a file that is being read.
pub fn refuse_inputs(output: Option<&Path>, inputs: impl IntoIterator<Item = PathBuf>) -> Outcome {
    let place = |path: &Path| {
        let real = std::fs::canonicalize(path).ok();
        real.filter(|path| path.is_file())
    };
    let Some(output) = output.and_then(place) else {
        return Ok(());
    };
    match inputs
        .into_iter()
        .find(|input| place(input).as_ref() == Some(&output))
    {
        None => Ok(()),
        Some(input) => Err(Failure::usage(format!(
            "-o names a file that is being read: {}",
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
