//! The text of a file: mail is decoded, a web page reduced to its text, any other file taken
//! as it is. The encoding is UTF-8, UTF-16 if there is a byte-order mark, or else
//! Windows-1252 (as in the WHATWG Encoding Standard).

use std::borrow::Cow;

use super::html::plain_text;
use super::mailbox::Mail;
use crate::{Error, Result};

/// Headers that occur in mail, but not at the beginning of letters and notes.
const HEADERS: [&[u8]; 8] = [
    b"from",
    b"subject",
    b"received",
    b"return-path",
    b"message-id",
    b"delivered-to",
    b"mime-version",
    b"x-mozilla-status",
];

/// Windows-1252 from 0x80 to 0x9F, where it differs from Latin-1.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The text of a file.
///
/// ```
/// use abduce::text::file_text;
/// assert_eq!(file_text(b"caf\xc3\xa9")?, "café");
/// assert_eq!(file_text(b"caf\xe9 \x80 5")?, "café € 5");
/// assert_eq!(file_text(b"Subject: lunch\nFrom: ann@example.org\n\nAt noon?\n")?, "lunch\nAt noon?\n");
/// assert_eq!(file_text(b"<html><p>V<b>i</b>agra</p></html>")?.trim(), "Viagra");
/// assert!(file_text(b"\x89PNG\0\0").is_err());
/// # Ok::<(), abduce::Error>(())
/// ```
///
/// # Errors
/// If it is not text: it contains zero bytes.
pub fn file_text(bytes: &[u8]) -> Result<String> {
    if is_message(bytes) {
        return Ok(Mail::parse(bytes).text(false));
    }
    let text = decoded(bytes);
    if text.contains('\0') {
        return Err(Error::data("this file is not text")
            .with_hint("move it out of the folder, or hide it with a dot before its name"));
    }
    Ok(if is_page(&text) {
        plain_text(&text)
    } else {
        text.into_owned()
    })
}

/// Decodes the bytes of a text.
pub(super) fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let (pairs, _) = bytes.as_chunks::<2>();
        let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
        Cow::Owned(String::from_utf16_lossy(&units))
    };
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        return wide(rest, u16::from_le_bytes);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        return wide(rest, u16::from_be_bytes);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|byte| windows_1252(*byte)).collect()),
    }
}

fn windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// Whether a file begins with headers, one of which is specific to mail.
fn is_message(bytes: &[u8]) -> bool {
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    for (number, line) in lines {
        if number > 0 && matches!(line.first(), Some(b' ' | b'\t')) {
            continue;
        }
        let Some(end) = memchr::memchr(b':', line) else {
            return false;
        };
        let name = &line[..end];
        if name.is_empty() || !name.iter().all(u8::is_ascii_graphic) {
            return false;
        }
        if HEADERS.iter().any(|mail| name.eq_ignore_ascii_case(mail)) {
            return true;
        }
    }
    false
}

fn is_page(text: &str) -> bool {
    let start = text.trim_start().as_bytes();
    let begins = |with: &str| {
        let head = start.get(..with.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(with.as_bytes()))
    };
    begins("<!doctype html") || begins("<html")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_with_colons_are_not_mail_and_mail_without_a_blank_line_is() {
        for note in [
            "Note: milk\n",
            "To do: buy milk\n",
            ": \n",
            "",
            "To: be or not\n",
        ] {
            assert_eq!(file_text(note.as_bytes()).unwrap(), note);
        }
        let mail = "Subject: cheap pills\nbuy them now\n";
        assert_eq!(
            file_text(mail.as_bytes()).unwrap(),
            "cheap pills\nbuy them now\n"
        );
        let folded = "X-Spam: yes\n\tvery\nReceived: by host\nSubject: s\n\nbody";
        assert_eq!(file_text(folded.as_bytes()).unwrap(), "s\nbody");
    }

    #[test]
    fn byte_order_marks_determine_the_encoding() {
        let utf16: Vec<u8> = "\u{feff}né"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(file_text(&utf16).unwrap(), "né");
        assert_eq!(file_text(b"\xef\xbb\xbfn\xc3\xa9").unwrap(), "né");
    }
}
