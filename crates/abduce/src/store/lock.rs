//! A lock on a file that is read, changed and written back. While one process holds it, a second
//! waits, and then changes what the first has written.

use crate::data::not_opened;
use crate::{Error, Result};
use std::fs::{File, Metadata, TryLockError};
use std::path::{Path, PathBuf};

/// An advisory lock on a file that is to be replaced; released when dropped or when the process
/// ends.
pub struct FileLock {
    file: File,
    path: PathBuf,
    found: Metadata,
}

impl FileLock {
    /// Locks a file. If another process has locked it, calls `waiting` and then blocks until the
    /// lock is free. Where the file system has no locks, only [`check`](FileLock::check) guards
    /// the file.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn acquire(path: &Path, mut waiting: impl FnMut()) -> Result<FileLock> {
        let name = path.display().to_string();
        let open_error = |error| not_opened(error).at_file(&name);
        loop {
            let file = File::open(path).map_err(open_error)?;
            // A lock on Windows would prevent reading the file.
            if cfg!(unix) && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
                waiting();
                file.lock()
                    .map_err(|error| Error::from(error).at_file(&name))?;
            }
            let found = file.metadata().map_err(open_error)?;
            let lock = FileLock {
                file,
                path: path.to_path_buf(),
                found,
            };
            // The process that held the lock may have replaced the file.
            if lock.is_current() {
                return Ok(lock);
            }
        }
    }

    /// Checks that no process has changed or replaced the file since it was locked.
    ///
    /// # Errors
    /// If one has.
    pub fn check(&self) -> Result<()> {
        if self.is_current() {
            return Ok(());
        }
        let changed = "another process has changed this file, so it was not overwritten";
        Err(Error::numeric(changed)
            .at_file(self.path.display().to_string())
            .with_hint("run the command again"))
    }

    fn is_current(&self) -> bool {
        let now = std::fs::metadata(&self.path);
        let held = self.file.metadata();
        matches!((now, held), (Ok(now), Ok(held))
            if is_unchanged(&now, &self.found) && is_unchanged(&held, &self.found))
    }
}

/// Whether both describe the same file, with the same size and time of change.
fn is_unchanged(one: &Metadata, other: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if (one.dev(), one.ino()) != (other.dev(), other.ino()) {
            return false;
        }
    }
    one.len() == other.len() && one.modified().ok() == other.modified().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_replaced_or_written_to_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "one").unwrap();
        let lock = FileLock::acquire(&path, || panic!("nobody else has it")).unwrap();
        lock.check().unwrap();
        let other = folder.path().join("other");
        std::fs::write(&other, "two").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert!(lock.check().is_err());
        let lock = FileLock::acquire(&path, || panic!("the lock is on the old file")).unwrap();
        std::fs::write(&path, "longer").unwrap();
        assert!(lock.check().is_err());
    }
}
