//! A file that appears under its name only when all of it is written: a
//! temporary file in the same folder that is renamed at the end.

use crate::{Error, Result};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file being written. Dropped before [`finish`](Replacement::finish), it
/// leaves nothing behind and what stood under its name untouched.
pub struct Replacement {
    sink: Sink,
    name: String,
}

enum Sink {
    /// A pipe or a device, which cannot be replaced by a file.
    Device(File),
    File(NamedTempFile, PathBuf),
}

impl Replacement {
    /// Begins a file; a link stays a link, and what it leads to is replaced.
    ///
    /// # Errors
    /// If the folder is not there or cannot be written to.
    pub fn create(path: &Path) -> Result<Replacement> {
        let name = path.display().to_string();
        let fail = |error: io::Error| Error::from(error).at_file(&name);
        let sink = match std::fs::metadata(path) {
            Ok(there) if there.is_dir() => {
                let folder = Error::io("this is a folder; name a file in it");
                let cause = io::ErrorKind::IsADirectory;
                return Err(folder.caused_by(cause).at_file(&name));
            }
            Ok(there) if !there.is_file() => {
                Sink::Device(File::options().write(true).open(path).map_err(fail)?)
            }
            found => {
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
                let file = builder.tempfile_in(folder).map_err(|error| {
                    let message = match error.kind() {
                        io::ErrorKind::NotFound => {
                            format!("there is no folder {}", folder.display())
                        }
                        _ => {
                            let text = error.to_string();
                            let cause = text.split(" at path").next().unwrap_or_default();
                            format!("cannot be written: {cause}")
                        }
                    };
                    let told = Error::io(message).caused_by(error.kind());
                    told.at_file(&name)
                })?;
                Sink::File(file, path)
            }
        };
        Ok(Replacement { sink, name })
    }

    /// Where the unfinished file lies.
    pub fn temporary(&self) -> Option<&Path> {
        match &self.sink {
            Sink::Device(_) => None,
            Sink::File(file, _) => Some(file.path()),
        }
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// If it cannot be written out or renamed.
    pub fn finish(self) -> Result<()> {
        let fail = |error: io::Error| Error::from(error).at_file(&self.name);
        if let Sink::File(file, path) = self.sink {
            file.as_file().sync_all().map_err(fail)?;
            file.persist(path).map_err(|e| fail(e.error))?;
        }
        Ok(())
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::Device(sink) => sink.write(bytes),
            Sink::File(sink, _) => sink.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Device(sink) => sink.flush(),
            Sink::File(sink, _) => sink.flush(),
        }
    }
}
