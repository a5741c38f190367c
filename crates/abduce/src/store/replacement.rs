//! A file that appears under its name only when it is complete: a temporary file in the same
//! folder, `.NAME.abduce-XXXXXX`, that is renamed at the end. It is locked while it is written, so
//! that the next process that writes the same name can recognise and remove the file of a process
//! that was killed.

use crate::{Error, Result};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file being written. If dropped before [`finish`](Replacement::finish), the temporary file
/// is removed and an existing file of that name is left unchanged.
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
    /// Creates the temporary file. If the path is a symbolic link, the file it points to will be
    /// replaced.
    ///
    /// # Errors
    /// If the folder does not exist or cannot be written to.
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
                let prefix = temporary_prefix(&path);
                remove_abandoned(folder, &prefix);
                let mut builder = tempfile::Builder::new();
                builder.prefix(&prefix);
                // The permissions of the file it replaces, or the default ones.
                #[cfg(unix)]
                {
                    use std::os::unix::fs::PermissionsExt;
                    let new = std::fs::Permissions::from_mode(0o666);
                    builder.permissions(found.map_or(new, |there| there.permissions()));
                }
                let file = create_locked(&builder, folder).map_err(|error| {
                    let message = match error.kind() {
                        // In some system folders, no file can be created.
                        io::ErrorKind::NotFound if !folder.is_dir() => {
                            format!("there is no folder {}", folder.display())
                        }
                        _ => {
                            let text = error.to_string();
                            let cause = text.split(" at path").next().unwrap_or_default();
                            format!("cannot be written: {cause}")
                        }
                    };
                    let cause = error.kind();
                    Error::io(message).caused_by(cause).at_file(&name)
                })?;
                Sink::File(file, path)
            }
        };
        Ok(Replacement { sink, name })
    }

    /// The path of the temporary file; `None` for a pipe or a device.
    pub fn temporary(&self) -> Option<&Path> {
        match &self.sink {
            Sink::Device(_) => None,
            Sink::File(file, _) => Some(file.path()),
        }
    }

    /// Writes the file to disk and renames it.
    ///
    /// # Errors
    /// If it cannot be written or renamed.
    pub fn finish(self) -> Result<()> {
        let fail = |error: io::Error| Error::from(error).at_file(&self.name);
        if let Sink::File(file, path) = self.sink {
            file.as_file().sync_all().map_err(fail)?;
            file.persist(&path).map_err(|e| fail(e.error))?;
            sync_folder(&path);
        }
        Ok(())
    }
}

/// The prefix of the names of a file's temporary files.
fn temporary_prefix(path: &Path) -> OsString {
    /// File names have at most 255 bytes on most file systems.
    const MAX_BYTES: usize = 200;
    let name = path.file_name().unwrap_or_default();
    let mut prefix = OsString::from(".");
    if name.len() <= MAX_BYTES {
        prefix.push(name);
    } else {
        let name = name.to_string_lossy();
        let cut = (0..=MAX_BYTES)
            .rev()
            .find(|cut| name.is_char_boundary(*cut));
        prefix.push(&name[..cut.unwrap_or(0)]);
    }
    prefix.push(".abduce-");
    prefix
}

/// Creates a temporary file and locks it. Before it is locked, another process may take it for an
/// abandoned one and remove it; then another is created.
fn create_locked(builder: &tempfile::Builder, folder: &Path) -> io::Result<NamedTempFile> {
    loop {
        let file = builder.tempfile_in(folder)?;
        // Without locks in the file system, no file is ever taken for abandoned.
        if file.as_file().lock().is_err() || file.path().exists() {
            return Ok(file);
        }
    }
}

/// Removes temporary files whose process has ended without removing them, as far as possible.
fn remove_abandoned(folder: &Path, prefix: &OsString) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let rest = name
            .as_encoded_bytes()
            .strip_prefix(prefix.as_encoded_bytes());
        let is_random_suffix =
            |rest: &[u8]| rest.len() == 6 && rest.iter().all(u8::is_ascii_alphanumeric);
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !rest.is_some_and(is_random_suffix) || !is_file {
            continue;
        }
        let path = entry.path();
        // A temporary file has the permissions of the file it replaces, such as read-only.
        let file = File::open(&path).or_else(|_| File::options().write(true).open(&path));
        if let Ok(file) = file
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// Makes a rename survive a power failure, where folders can be synced.
fn sync_folder(path: &Path) {
    #[cfg(unix)]
    if let Some(folder) = path.parent()
        && let Ok(folder) = File::open(folder)
    {
        let _ = folder.sync_all();
    }
    #[cfg(not(unix))]
    let _ = path;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_killed_process_is_removed_and_that_of_a_running_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        let abandoned = folder.path().join(".out.csv.abduce-a1B2c3");
        let others = [".out.csv.abduce-a1B2c3d", ".other.csv.abduce-a1B2c3"];
        std::fs::write(&abandoned, "half").unwrap();
        for other in others {
            std::fs::write(folder.path().join(other), "not ours").unwrap();
        }
        let live = Replacement::create(&path).unwrap();
        assert!(!abandoned.exists());
        let second = Replacement::create(&path).unwrap();
        assert!(live.temporary().unwrap().exists());
        live.finish().unwrap();
        second.finish().unwrap();
        assert!(path.exists());
        for other in others {
            assert!(folder.path().join(other).exists());
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[cfg(unix)]
    #[test]
    fn the_read_only_file_of_a_killed_process_is_removed_too() {
        use std::os::unix::fs::PermissionsExt;
        for mode in [0o400, 0o200] {
            let folder = tempfile::tempdir().unwrap();
            let abandoned = folder.path().join(".out.csv.abduce-a1B2c3");
            std::fs::write(&abandoned, "half").unwrap();
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&abandoned, permissions).unwrap();
            let both = File::options().read(true).write(true).open(&abandoned);
            if both.is_ok() {
                // The superuser may open every file, so nothing can be shown.
                return;
            }
            let path = folder.path().join("out.csv");
            Replacement::create(&path).unwrap().finish().unwrap();
            assert_eq!(
                std::fs::read_dir(folder.path()).unwrap().count(),
                1,
                "{mode:o}"
            );
        }
    }

    #[test]
    fn a_long_name_leaves_room_for_the_temporary_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("\u{e9}".repeat(125));
        Replacement::create(&path).unwrap().finish().unwrap();
        assert!(path.exists());
    }
}
