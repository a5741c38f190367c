//! Where results go: stdout, or a file that appears under its name only when
//! all of it is written.

use crate::failure::Outcome;
use crate::interrupt;
use abduce::Error;
use abduce::store::Replacement;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::Path;

pub struct Output {
    sink: Sink,
    name: String,
}

enum Sink {
    Standard(BufWriter<Stdout>),
    File(BufWriter<Replacement>),
}

impl Output {
    pub fn open(path: Option<&Path>) -> Outcome<Output> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            return Ok(Output {
                sink: Sink::Standard(BufWriter::new(io::stdout())),
                name: "stdout".into(),
            });
        };
        let file = Replacement::create(path)?;
        interrupt::unfinished(file.temporary().map(Path::to_path_buf));
        Ok(Output {
            sink: Sink::File(BufWriter::new(file)),
            name: path.display().to_string(),
        })
    }

    /// Fails now if a result could not be written to this path later.
    pub fn probe(path: &Path) -> Outcome {
        let probe = Output::open(Some(path)).map(drop);
        interrupt::unfinished(None);
        probe
    }

    /// Whether a person reads it as it comes.
    pub fn is_terminal(&self) -> bool {
        matches!(self.sink, Sink::Standard(_)) && io::stdout().is_terminal()
    }

    /// Writes what is still held back, and gives a file its name.
    pub fn finish(mut self) -> Outcome {
        self.flush()?;
        if let Sink::File(file) = self.sink {
            let fail = |error: io::Error| Error::io(error.to_string()).at_file(&self.name);
            let file = file.into_inner().map_err(|e| fail(e.into_error()))?;
            file.finish()?;
            interrupt::unfinished(None);
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
        let result = self.sink().write(bytes);
        self.named(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.sink().flush();
        self.named(result)
    }
}

/// Writes one JSON document and ends it with a newline.
pub fn write_json(output: &mut Output, document: &impl serde::Serialize) -> Outcome {
    serde_json::to_writer_pretty(&mut *output, document)?;
    writeln!(output)?;
    Ok(())
}
