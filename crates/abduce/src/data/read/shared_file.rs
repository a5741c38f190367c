//! A file shared by several readers, each with its own position: an unlinked temporary file
//! cannot be opened again by name.

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

/// A reader of a file that other readers share.
#[derive(Clone)]
pub(crate) struct SharedFile {
    file: Arc<File>,
    at: u64,
}

impl SharedFile {
    pub fn new(file: Arc<File>) -> SharedFile {
        SharedFile { file, at: 0 }
    }

    pub fn size(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }
}

impl Read for SharedFile {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(&*self.file, bytes, self.at)?;
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(&*self.file, bytes, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for SharedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.size()?.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.size().unwrap_or(0)
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<SharedFile>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let file = Arc::clone(&self.file);
        Ok(BufReader::new(SharedFile { file, at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // A damaged file may give any length, and that many bytes would be allocated.
        let end = start.checked_add(length as u64);
        if end.is_none_or(|end| end > self.len()) {
            let message = "a part is longer than the file";
            return Err(ParquetError::EOF(message.into()));
        }
        let mut bytes = Vec::with_capacity(length);
        let read = self.get_read(start)?.take(length as u64);
        if { read }.read_to_end(&mut bytes)? != length {
            return Err(ParquetError::EOF("the file is cut short".into()));
        }
        Ok(bytes.into())
    }
}
