//! One input of a known format that can be opened repeatedly. Standard input and pipes are
//! copied to an unlinked temporary file; gzip and Zstandard are unpacked. The first bytes of a
//! file determine its format before its name does.

use crate::data::read::frame::{FRAME, Frame};
use crate::data::read::shared_file::SharedFile;
use crate::data::read::texts::{FOLDER, MAILBOX, begins_a_mailbox};
use crate::data::read::{FORMATS, Format};
use crate::{Error, Result};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of standard input among the arguments.
pub(crate) const STDIN: &str = "-";

/// A file of a known format that can be opened as often as needed.
pub(crate) struct Input {
    /// Its name in messages.
    pub name: String,
    pub format: &'static Format,
    /// The names of its columns in the file, once read.
    pub header: Vec<String>,
    pub packing: Packing,
    /// The class of all its rows, if there is one.
    pub class: Option<String>,
    place: Place,
}

enum Place {
    Path(PathBuf),
    /// An unlinked temporary file.
    Spool(Arc<File>),
    Folder(Vec<PathBuf>),
    Memory(Frame),
}

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Packing {
    Plain,
    Gzip,
    Zstandard,
}

/// The number of bytes read to identify the format.
const HEAD: usize = 4096;

impl Input {
    /// The file of an argument, or standard input.
    pub fn new(argument: &str) -> Result<Input> {
        Self::find(argument).map_err(|error| error.at_file(shown(argument)))
    }

    /// The files of a folder, each a text, with their class if there is one.
    pub fn folder(name: String, class: Option<String>, files: Vec<PathBuf>) -> Input {
        Input {
            name,
            format: &FOLDER,
            header: Vec::new(),
            packing: Packing::Plain,
            class,
            place: Place::Folder(files),
        }
    }

    /// Batches in memory.
    pub fn in_memory(frame: Frame) -> Input {
        Input {
            name: "the frame".to_string(),
            format: &FRAME,
            header: Vec::new(),
            packing: Packing::Plain,
            class: None,
            place: Place::Memory(frame),
        }
    }

    /// The batches, if they are in memory.
    pub fn frame(&self) -> Option<&Frame> {
        match &self.place {
            Place::Memory(frame) => Some(frame),
            _ => None,
        }
    }

    fn find(argument: &str) -> Result<Input> {
        if argument == STDIN {
            let spool = spool(io::stdin().lock())?;
            return Self::identify(argument, Place::Spool(spool));
        }
        let path = PathBuf::from(argument);
        let metadata = std::fs::metadata(&path).map_err(not_opened)?;
        if metadata.is_file() {
            return Self::identify(argument, Place::Path(path));
        }
        let pipe = File::open(&path).map_err(not_opened)?;
        Self::identify(argument, Place::Spool(spool(pipe)?))
    }

    fn identify(argument: &str, place: Place) -> Result<Input> {
        let mut head = Vec::new();
        open_at(&place)?.take(6).read_to_end(&mut head)?;
        let packing = Packing::of(&head);
        let end = Path::new(argument).extension().and_then(|end| end.to_str());
        let named = match end.map(str::to_ascii_lowercase).as_deref() {
            Some("gz" | "gzip") => Some("gzip"),
            Some("zst" | "zstd") => Some("Zstandard"),
            _ => None,
        };
        if let (Some(named), Packing::Plain, false) = (named, packing, head.is_empty()) {
            return Err(Error::data(format!("this is not a {named} file"))
                .with_hint("compress it, or rename it with the extension of its format"));
        }
        let mut head = Vec::new();
        unpacked(open_at(&place)?, packing)?
            .take(HEAD as u64)
            .read_to_end(&mut head)
            .map_err(|error| packing.damaged(error))?;
        let format = Self::format(argument, &place, &head)?;
        let mut input = Input {
            name: shown(argument).to_string(),
            format,
            header: Vec::new(),
            packing,
            class: None,
            place,
        };
        if format.seeks && packing != Packing::Plain {
            input.place = Place::Spool(spool(input.open()?)?);
            input.packing = Packing::Plain;
        }
        Ok(input)
    }

    fn format(argument: &str, place: &Place, head: &[u8]) -> Result<&'static Format> {
        if head.starts_with(b"FEA1") {
            return Err(Error::data("this is a Feather file of version 1")
                .with_hint("write it again as version 2 (Arrow) or as Parquet"));
        }
        if let Some(format) = FORMATS.iter().copied().find(|format| (format.magic)(head)) {
            return Ok(format);
        }
        if let Some(format) = named_format(argument) {
            let text = head.iter().find(|b| !b.is_ascii_whitespace());
            if format.seeks && text.is_some() {
                let article = if format.name == "Arrow" { "an" } else { "a" };
                let message = format!("this is not {article} {} file", format.name);
                return Err(Error::data(message));
            }
            return Ok(format);
        }
        if begins_a_mailbox(head) {
            return Ok(&MAILBOX);
        }
        if matches!(place, Place::Spool(_)) {
            let object = head.trim_ascii_start().starts_with(b"{");
            let name = if object { "jsonl" } else { "csv" };
            let mut formats = FORMATS.iter().copied();
            if let Some(format) = formats.find(|format| format.extensions.contains(&name)) {
                return Ok(format);
            }
        }
        let known: Vec<String> = FORMATS
            .iter()
            .flat_map(|format| format.extensions.iter().map(|end| format!(".{end}")))
            .collect();
        Err(
            Error::data("the file has no known extension").with_hint(format!(
                "the formats are {}, each also with .gz or .zst",
                known.join(", ")
            )),
        )
    }

    /// The bytes of the file, unpacked.
    pub fn open(&self) -> Result<Box<dyn Read + Send>> {
        unpacked(self.file()?, self.packing)
    }

    /// The files of a folder, in order.
    pub fn files(&self) -> &[PathBuf] {
        match &self.place {
            Place::Folder(files) => files,
            _ => &[],
        }
    }

    /// The file itself, for formats that seek.
    pub fn file(&self) -> Result<SharedFile> {
        open_at(&self.place)
    }
}

impl Packing {
    /// The compression of a file that starts with these bytes.
    pub(super) fn of(head: &[u8]) -> Packing {
        match head {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstandard,
            _ => Packing::Plain,
        }
    }

    /// The error of a read that fails half-way.
    pub fn damaged(self, error: impl std::fmt::Display) -> Error {
        let what = if self == Packing::Plain {
            "the file cannot be read"
        } else {
            "the compressed file is cut short or damaged"
        };
        Error::io(format!("{what}: {error}"))
    }
}

fn shown(argument: &str) -> &str {
    if argument == STDIN {
        "standard input"
    } else {
        argument
    }
}

/// The format of a file by its extension.
pub(super) fn named_format(name: &str) -> Option<&'static Format> {
    let end = extension(name)?;
    let mut formats = FORMATS.iter().copied();
    formats.find(|format| format.extensions.contains(&end.as_str()))
}

/// The extension of a file's name, before that of its compression.
pub(super) fn extension(name: &str) -> Option<String> {
    let end = |path: &Path| Some(path.extension()?.to_str()?.to_ascii_lowercase());
    let path = Path::new(name);
    match end(path)?.as_str() {
        "gz" | "gzip" | "zst" | "zstd" => end(Path::new(path.file_stem()?)),
        _ => end(path),
    }
}

fn open_at(place: &Place) -> Result<SharedFile> {
    match place {
        Place::Path(path) => {
            let file = File::open(path).map_err(not_opened)?;
            Ok(SharedFile::new(Arc::new(file)))
        }
        Place::Spool(spool) => Ok(SharedFile::new(Arc::clone(spool))),
        Place::Folder(_) => Err(Error::io("this is a folder")),
        Place::Memory(_) => Err(Error::io("this is in memory")),
    }
}

/// Decompresses a file.
pub(super) fn unpacked(
    file: impl Read + Send + 'static,
    packing: Packing,
) -> Result<Box<dyn Read + Send>> {
    Ok(match packing {
        Packing::Plain => Box::new(file),
        Packing::Gzip => Box::new(flate2::read::MultiGzDecoder::new(BufReader::with_capacity(
            1 << 17,
            file,
        ))),
        Packing::Zstandard => Box::new(zstd::Decoder::new(file)?),
    })
}

/// The error of a file that cannot be opened.
pub(crate) fn not_opened(error: io::Error) -> Error {
    let message = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_string(),
        io::ErrorKind::PermissionDenied => "this file may not be read".to_string(),
        _ => format!("the file cannot be opened: {error}"),
    };
    Error::io(message).caused_by(error.kind())
}

/// The environment variable that limits the size of a temporary copy.
const LIMIT: &str = "ABDUCE_SPOOL_LIMIT";

/// The default limit, in GiB.
const LIMIT_GIB: u64 = 64;

/// The most bytes of standard input, a pipe or an unpacked file that are copied.
fn spool_limit() -> Result<u64> {
    let Some(text) = std::env::var_os(LIMIT) else {
        return Ok(LIMIT_GIB << 30);
    };
    let bytes = text.to_str().and_then(|text| text.parse().ok());
    bytes.ok_or_else(|| Error::parameter(format!("{LIMIT} must be a number of bytes")))
}

fn spool(mut from: impl Read) -> Result<Arc<File>> {
    let limit = spool_limit()?;
    let mut spool = tempfile::tempfile().map_err(no_room)?;
    let mut buffer = vec![0; 1 << 17];
    let mut size = 0;
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Error::io(format!("it cannot be read: {error}"))),
        };
        size += read as u64;
        if size > limit {
            let message = format!("it has more than {limit} bytes, the limit of a temporary copy");
            return Err(Error::io(message)
                .with_hint(format!("pass a file, or set {LIMIT} to a larger number")));
        }
        spool.write_all(&buffer[..read]).map_err(no_room)?;
    }
    Ok(Arc::new(spool))
}

/// The error of a temporary file that cannot be written.
pub(crate) fn no_room(error: io::Error) -> Error {
    Error::io(format!("a temporary file cannot be written: {error}"))
        .with_hint("set TMPDIR to a folder with room")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_of_the_compression_is_skipped() {
        for (name, end) in [
            ("a.csv", Some("csv")),
            ("b/a.CSV.gz", Some("csv")),
            ("a.b.jsonl.zst", Some("jsonl")),
            ("a", None),
            ("a.gz", None),
            ("", None),
        ] {
            assert_eq!(extension(name).as_deref(), end, "{name}");
        }
    }
}
