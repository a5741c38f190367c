//! Checks the lengths in an Arrow file against its size before decoding. The decoder
//! allocates whatever length a damaged file has, and running out of memory cannot be caught.

use arrow_ipc::{Message, RecordBatch};
use std::io::{self, Read, Seek, SeekFrom};

/// The largest compression ratio: a Zstandard block of 4 bytes holds at most 128 KiB.
const LARGEST_RATIO: u64 = 1 << 15;

fn too_long() -> io::Error {
    io::Error::other("a part is longer than the file")
}

fn invalid(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(error.to_string())
}

/// Checks the blocks listed in the footer of an Arrow file.
pub(super) fn check_file(file: &mut (impl Read + Seek), size: u64) -> io::Result<()> {
    let mut tail = [0; 10];
    file.seek(SeekFrom::End(-(tail.len() as i64)))?;
    file.read_exact(&mut tail)?;
    let length = arrow_ipc::reader::read_footer_length(tail).map_err(invalid)?;
    if length as u64 > size {
        return Err(too_long());
    }
    let mut footer = vec![0; length];
    file.seek(SeekFrom::End(-((length + tail.len()) as i64)))?;
    file.read_exact(&mut footer)?;
    let footer = arrow_ipc::root_as_footer(&footer).map_err(invalid)?;
    let blocks = footer.dictionaries().into_iter().flatten();
    for block in blocks.chain(footer.recordBatches().into_iter().flatten()) {
        let (offset, length) = (block.offset(), block.metaDataLength());
        let body = end(offset, length, 0, size)?;
        end(offset, length, block.bodyLength(), size)?;
        let start = body - length as u64;
        let mut head = [0; 4];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut head)?;
        let prefix = if head == [0xff; 4] { 8 } else { 4 };
        if start + prefix > body {
            return Err(too_long());
        }
        check_message(file, start + prefix, body, size)?;
    }
    Ok(())
}

/// Checks the messages of an Arrow stream.
pub(super) fn check_stream(file: &mut (impl Read + Seek), size: u64) -> io::Result<()> {
    let mut at = 0;
    while at + 8 <= size {
        let mut head = [0; 8];
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut head)?;
        let [a, b, c, d, e, f, g, h] = head;
        // Streams of old writers have no marker before the length.
        let marked = [a, b, c, d] == [0xff; 4];
        let start = at + if marked { 8 } else { 4 };
        let length = i32::from_le_bytes(if marked { [e, f, g, h] } else { [a, b, c, d] });
        if length == 0 {
            break;
        }
        let body = end(start as i64, length, 0, size)?;
        at = check_message(file, start, body, size)?;
    }
    Ok(())
}

/// Checks a message and the buffers of its body, which begins at `body`; returns its end.
fn check_message(
    file: &mut (impl Read + Seek),
    start: u64,
    body: u64,
    size: u64,
) -> io::Result<u64> {
    let mut metadata = vec![0; (body - start) as usize];
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut metadata)?;
    let message = arrow_ipc::root_as_message(&metadata).map_err(invalid)?;
    let end = end(body as i64, 0, message.bodyLength(), size)?;
    if let Some(batch) = batch_of(&message) {
        check_batch(file, &batch, body, end, size)?;
    }
    Ok(end)
}

fn batch_of<'a>(message: &Message<'a>) -> Option<RecordBatch<'a>> {
    match message.header_as_dictionary_batch() {
        Some(dictionary) => dictionary.data(),
        None => message.header_as_record_batch(),
    }
}

fn check_batch(
    file: &mut (impl Read + Seek),
    batch: &RecordBatch,
    body: u64,
    body_end: u64,
    size: u64,
) -> io::Result<()> {
    // A row takes at least a bit, unless no column has values.
    let most = (8 * LARGEST_RATIO).saturating_mul(size).max(1 << 31);
    let nodes = batch.nodes().into_iter().flatten();
    for rows in nodes.map(|node| node.length()).chain([batch.length()]) {
        if u64::try_from(rows).is_ok_and(|rows| rows <= most) {
            continue;
        }
        return Err(io::Error::other("the number of rows is impossible"));
    }
    for buffer in batch.buffers().into_iter().flatten() {
        let start = u64::try_from(buffer.offset()).map_err(|_| too_long())?;
        let start = body.checked_add(start).ok_or_else(too_long)?;
        let at = i64::try_from(start).map_err(|_| too_long())?;
        let length = end(at, 0, buffer.length(), body_end)? - start;
        if batch.compression().is_some() && length >= 8 {
            let mut claimed = [0; 8];
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(&mut claimed)?;
            check_unpacked(i64::from_le_bytes(claimed), length)?;
        }
    }
    Ok(())
}

/// Checks the unpacked length given in a compressed buffer; -1 means not compressed.
fn check_unpacked(claimed: i64, packed: u64) -> io::Result<()> {
    if claimed == -1 {
        return Ok(());
    }
    let wrong = || io::Error::other("a compressed part claims an impossible length");
    let claimed = u64::try_from(claimed).map_err(|_| wrong())?;
    if claimed > packed.saturating_mul(LARGEST_RATIO) {
        return Err(wrong());
    }
    let length = usize::try_from(claimed).map_err(|_| wrong())?;
    let mut room = Vec::<u8>::new();
    room.try_reserve_exact(length).map_err(|_| {
        io::Error::other(format!(
            "a part of {claimed} bytes does not fit into memory"
        ))
    })
}

/// The end of a part, which must be within the file.
fn end(offset: i64, metadata: i32, body: i64, size: u64) -> io::Result<u64> {
    let part = |length: i64| u64::try_from(length).ok();
    let end = part(offset)
        .zip(part(i64::from(metadata)))
        .zip(part(body))
        .and_then(|((offset, metadata), body)| offset.checked_add(metadata)?.checked_add(body));
    end.filter(|end| *end <= size).ok_or_else(too_long)
}
