//! Network files: reading them from disk, compressed or not.

use super::{Network, format};
use crate::data::not_opened;
use crate::{Error, Result};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// The maximum size of a file after decompression, in bytes.
const MAX_BYTES: u64 = 1 << 30;

impl Network {
    /// Reads a network file; its extension names the format. Returns notes about probabilities
    /// that were corrected.
    ///
    /// ```
    /// use abduce::model::network::{DEFAULT_MEMORY, Network};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("rain.net");
    /// # std::fs::write(&path, "net {} node rain { states = (\"yes\" \"no\"); }
    /// #     node wet { states = (\"yes\" \"no\"); } potential (rain) { data = (0.2 0.8); }
    /// #     potential (wet | rain) { data = ((0.9 0.1) (0.3 0.7)); }")?;
    /// let (network, notes) = Network::load(&path)?;
    /// assert!(notes.is_empty());
    /// let exact = network.exact(0, DEFAULT_MEMORY)?;
    /// let marginals = exact.marginals(&network.evidence(&[("wet", "yes")])?)?;
    /// let rain = network.find("rain")?;
    /// assert!((marginals.probabilities[rain][0] - 0.18 / 0.42).abs() < 1e-15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the extension is not that of a network format, or the file is not a network.
    pub fn load(path: impl AsRef<Path>) -> Result<(Network, Vec<String>)> {
        let path = path.as_ref();
        let located = |error: Error| error.at_file(path.display().to_string());
        let format = format::of_path(path).ok_or_else(|| {
            let readable = format::FORMATS.iter().filter(|format| format.name != "dot");
            let readable = readable.flat_map(|format| format.extensions);
            let readable: Vec<String> = readable.map(|end| format!(".{end}")).collect();
            let error = Error::data("this is not a network file");
            located(error.with_hint(format!("networks end in {}", readable.join(", "))))
        })?;
        let text = text_of(path).map_err(located)?;
        format::read_text(format, &text).map_err(located)
    }
}

/// The text of a file, decompressed.
fn text_of(path: &Path) -> Result<String> {
    let file = BufReader::new(File::open(path).map_err(not_opened)?);
    let extension = path.extension().and_then(|extension| extension.to_str());
    let reader: Box<dyn Read> = match extension.map(str::to_ascii_lowercase).as_deref() {
        Some("gz" | "gzip") => Box::new(flate2::read::MultiGzDecoder::new(file)),
        Some("zst" | "zstd") => Box::new(zstd::Decoder::with_buffer(file)?),
        _ => Box::new(file),
    };
    let mut bytes = Vec::new();
    reader.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Error::data("a network file can have at most 1 GiB"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        Error::data("the text is not UTF-8").at_line(line as u64)
    })
}
