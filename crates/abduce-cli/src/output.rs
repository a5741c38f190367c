//! Where results go: stdout, or a file that appears under its name only when
//! all of it is written.

use crate::failure::Outcome;
use crate::interrupt;
use abduce::Error;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

pub struct Output {
    sink: Sink,
    name: String,
}

enum Sink {
    Standard(BufWriter<Stdout>),
    /// A pipe or a device, which cannot be replaced by a file.
    Device(BufWriter<File>),
    File(BufWriter<NamedTempFile>, PathBuf),
}

impl Output {
    pub fn open(path: Option<&Path>) -> Outcome<Output> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            return Ok(Output {
                sink: Sink::Standard(BufWriter::new(io::stdout())),
                name: "stdout".into(),
            });
        };
        let name = path.display().to_string();
        let fail = |error: io::Error| Error::io(error.to_string()).at_file(&name);
        let sink = match std::fs::metadata(path) {
            Ok(there) if there.is_dir() => {
                return Err(Error::io("this is a folder; name a file in it")
                    .at_file(&name)
                    .into());
            }
            Ok(there) if !there.is_file() => {
                let device = File::options().write(true).open(path).map_err(fail)?;
                Sink::Device(BufWriter::new(device))
            }
            found => {
                // A link stays a link; the file it leads to is replaced.
                let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
                let folder = match path.parent() {
                    Some(folder) if !folder.as_os_str().is_empty() => folder,
                    _ => Path::new("."),
                };
                let mut builder = tempfile::Builder::new();
                builder.prefix(".abduce-");
                // The permissions of the file it replaces, or of any new file.
                #[cfg(unix)]
                {
                    use std::os::unix::fs::PermissionsExt;
                    let new = std::fs::Permissions::from_mode(0o666);
                    builder.permissions(found.map_or(new, |there| there.permissions()));
                }
                let file = builder
                    .tempfile_in(folder)
                    .map_err(|error| match error.kind() {
                        io::ErrorKind::NotFound => {
                            Error::io(format!("there is no folder {}", folder.display()))
                                .at_file(&name)
                        }
                        _ => Error::io(format!(
                            "cannot be written: {}",
                            error
                                .to_string()
                                .split(" at path")
                                .next()
                                .unwrap_or_default()
                        ))
                        .at_file(&name),
                    })?;
                interrupt::unfinished(Some(file.path().to_path_buf()));
                Sink::File(BufWriter::new(file), path)
            }
        };
        Ok(Output { sink, name })
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
        if let Sink::File(file, path) = self.sink {
            let fail = |error: io::Error| Error::io(error.to_string()).at_file(&self.name);
            let file = file.into_inner().map_err(|e| fail(e.into_error()))?;
            file.as_file().sync_all().map_err(fail)?;
            file.persist(path).map_err(|e| fail(e.error))?;
            interrupt::unfinished(None);
        }
        Ok(())
    }

    fn sink(&mut self) -> &mut dyn Write {
        match &mut self.sink {
            Sink::Standard(sink) => sink,
            Sink::Device(sink) => sink,
            Sink::File(sink, _) => sink,
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
