//! A file that is read, changed and written back: locked meanwhile, so that of
//! two processes the second waits and changes what the first has written.

use crate::data::not_opened;
use crate::{Error, Result};
use std::fs::{File, Metadata, TryLockError};
use std::path::{Path, PathBuf};

/// An advisory lock on a file that is to be replaced; released when dropped or
/// when the process ends, however it ends.
pub struct FileLock {
    file: File,
    path: PathBuf,
    found: Metadata,
}

impl FileLock {
    /// Locks a file. If another process has locked it, `waiting` is called and
    /// the lock waited for. Where the file system has no locks, only
    /// [`check`](FileLock::check) guards the file.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn acquire(path: &Path, mut waiting: impl FnMut()) -> Result<FileLock> {
        let name = path.display().to_string();
        let opened = |error| not_opened(error).at_file(&name);
        loop {
            let file = File::open(path).map_err(opened)?;
            // A lock on Windows would keep the file from being read.
            if cfg!(unix) && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
                waiting();
                file.lock()
                    .map_err(|error| Error::from(error).at_file(&name))?;
            }
            let found = file.metadata().map_err(opened)?;
            let lock = FileLock {
                file,
                path: path.to_path_buf(),
                found,
            };
            // Whoever had the lock may have put another file in its place.
            if lock.is_current() {
                return Ok(lock);
            }
        }
    }

    /// Checks that nobody has changed or replaced the file since it was locked.
    ///
    /// # Errors
    /// If somebody has.
    pub fn check(&self) -> Result<()> {
        if self.is_current() {
            return Ok(());
        }
        let changed = "another process changed this file meanwhile; nothing is written";
        Err(Error::numeric(changed)
            .at_file(self.path.display().to_string())
            .with_hint("run the command again"))
    }

    fn is_current(&self) -> bool {
        let now = std::fs::metadata(&self.path);
        let held = self.file.metadata();
        matches!((now, held), (Ok(now), Ok(held))
            if same(&now, &self.found) && same(&held, &self.found))
    }
}

/// Whether two descriptions are of the same file with the same contents.
fn same(one: &Metadata, other: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if (one.dev(), one.ino()) != (other.dev(), other.ino()) {
            return false;
        }
    }
    let changed = |of: &Metadata| of.modified().ok();
    one.len() == other.len() && changed(one) == changed(other)
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
