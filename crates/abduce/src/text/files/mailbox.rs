//! Mail as text: mailbox files (RFC 4155, with `>From` quoting) and files of a single message.
//! Subject and bodies are decoded (MIME, quoted-printable, base64, charsets), HTML is reduced
//! to its text, attachments are skipped. Damaged mail yields as much text as can be read.

use std::io::{BufRead, Read};

use mail_parser::{Address, HeaderName, Message, MessageParser, MessagePart, PartType};

use super::file_text::decoded;
use super::html::plain_text;
use crate::Result;

/// The number of bytes read of a message.
const LARGEST_MESSAGE: usize = 64 << 20;
/// Longer lines are read in pieces.
const LONGEST_LINE: u64 = 1 << 16;

/// The text of a message.
///
/// ```
/// use abduce::text::Mail;
/// let mail = Mail::parse(b"Subject: =?utf-8?q?caf=C3=A9?=\nFrom: Ann <ann@example.org>\n\nAt noon?\n");
/// assert_eq!(mail.subject, "café");
/// assert_eq!(mail.from, "Ann ann@example.org");
/// assert_eq!(mail.text(false), "café\nAt noon?\n");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mail {
    /// The subject, decoded.
    pub subject: String,
    /// The names and addresses of the senders.
    pub from: String,
    /// All text except attachments.
    pub body: String,
}

impl Mail {
    /// Parses a message with its headers.
    pub fn parse(bytes: &[u8]) -> Self {
        let message = MessageParser::default().parse(bytes);
        let Some(message) = message.filter(is_mail) else {
            return Mail {
                body: decoded(bytes).into_owned(),
                ..Mail::default()
            };
        };
        let mut body = body(&message);
        if body.trim().is_empty() && message.attachment_count() == 0 {
            body = stray_lines(bytes);
        }
        Mail {
            subject: message.subject().unwrap_or_default().to_string(),
            from: message.from().map(names).unwrap_or_default(),
            body,
        }
    }

    /// Subject and body as one text, optionally preceded by the sender.
    pub fn text(&self, with_sender: bool) -> String {
        let sender = if with_sender { self.from.as_str() } else { "" };
        let parts = [sender, &self.subject, &self.body];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("\n")
    }
}

/// Whether there is a known header; any line with a colon looks like an unknown one.
fn is_mail(message: &Message<'_>) -> bool {
    let mut names = message.headers().iter().map(|header| &header.name);
    names.any(|name| !matches!(name, HeaderName::Other(_)))
}

/// The lines that are not headers. Some collections of mail have lost the blank line after the
/// headers, so that a strict parser finds no text.
fn stray_lines(bytes: &[u8]) -> String {
    let mut stray = String::new();
    let mut in_header = false;
    for line in decoded(bytes).lines() {
        let name = line.split_once(':').map_or("", |(name, _)| name);
        let folded = in_header && line.starts_with([' ', '\t']);
        in_header =
            folded || (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic()));
        if !in_header {
            stray.push_str(line);
            stray.push('\n');
        }
    }
    stray
}

fn names(addresses: &Address<'_>) -> String {
    let parts: Vec<&str> = addresses
        .iter()
        .flat_map(|address| [address.name(), address.address()])
        .flatten()
        .collect();
    parts.join(" ")
}

/// The text bodies, or the HTML bodies if these are blank, as in many newsletters.
fn body(message: &Message<'_>) -> String {
    let body = joined(message.text_bodies());
    if body.trim().is_empty() {
        joined(message.html_bodies())
    } else {
        body
    }
}

fn joined<'a>(parts: impl Iterator<Item = &'a MessagePart<'a>>) -> String {
    let mut text = String::new();
    for part in parts {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        match &part.body {
            PartType::Text(content) => text.push_str(content),
            PartType::Html(content) => text.push_str(&plain_text(content)),
            _ => (),
        }
    }
    text
}

/// The messages of a mailbox, which starts with a line `From …`, or of a file with a single
/// message.
///
/// ```
/// use abduce::text::Messages;
/// let file = "From ann Mon Jan  1 10:00:00 2024\nSubject: one\n\n>From here\n\n\
///             From bob Mon Jan  1 11:00:00 2024\nSubject: two\n\nbye\n";
/// let mails: Vec<_> = Messages::new(file.as_bytes()).collect::<abduce::Result<_>>()?;
/// assert_eq!(mails.len(), 2);
/// assert_eq!(mails[0].text(false), "one\nFrom here\n");
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Debug)]
pub struct Messages<R> {
    reader: R,
    line: Vec<u8>,
    /// Whether this is a mailbox; unknown before the first line.
    mailbox: Option<bool>,
    /// Whether `line` begins the next message.
    pending: bool,
    /// The number of lines before `line`.
    before: u64,
    /// The first line of the last message returned.
    began: u64,
}

impl<R: BufRead> Messages<R> {
    /// Reads messages from the start of a file.
    pub fn new(reader: R) -> Self {
        Messages {
            reader,
            line: Vec::new(),
            mailbox: None,
            pending: false,
            before: 0,
            began: 0,
        }
    }

    /// The first line of the last message returned, counted from 1.
    pub fn line(&self) -> u64 {
        self.began
    }

    /// The next message, unparsed, for [`Mail::parse`] on another thread.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn next_raw(&mut self) -> Result<Option<Vec<u8>>> {
        let mut message = Vec::new();
        let mut any = std::mem::take(&mut self.pending);
        self.began = self.before + 1;
        let mut after_blank = false;
        let mut line_starts = true;
        while self.read_line()? {
            let blank = line_starts && matches!(self.line.as_slice(), b"\n" | b"\r\n");
            let from = line_starts && self.line.starts_with(b"From ");
            if self.mailbox.is_none() && blank {
                continue;
            }
            let first = self.mailbox.is_none();
            if first {
                self.began = self.before + 1;
            }
            let mailbox = *self.mailbox.get_or_insert(from);
            if mailbox && from && (first || (after_blank && has_time(&self.line))) {
                if any {
                    self.pending = true;
                    break;
                }
                any = true;
            } else {
                any = true;
                let quoted = mailbox && line_starts && is_quoted_from(&self.line);
                let line = &self.line[usize::from(quoted)..];
                let room = LARGEST_MESSAGE - message.len();
                message.extend_from_slice(&line[..line.len().min(room)]);
            }
            after_blank = blank;
            line_starts = self.line.ends_with(b"\n");
        }
        if self.pending {
            remove_last_blank_line(&mut message);
        }
        Ok(any.then_some(message))
    }

    fn read_line(&mut self) -> Result<bool> {
        self.before += u64::from(self.line.ends_with(b"\n"));
        self.line.clear();
        let mut line = (&mut self.reader).take(LONGEST_LINE);
        Ok(line.read_until(b'\n', &mut self.line)? > 0)
    }
}

impl<R: BufRead> Iterator for Messages<R> {
    type Item = Result<Mail>;

    fn next(&mut self) -> Option<Self::Item> {
        let raw = self.next_raw().transpose()?;
        Some(raw.map(|message| Mail::parse(&message)))
    }
}

/// Whether a file that starts with these bytes is a mailbox.
pub(crate) fn begins_a_mailbox(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next();
    line.is_some_and(|line| line.starts_with(b"From ") && has_time(line))
}

/// Whether a line contains a time of day, which distinguishes the line before a message from a
/// sentence that begins with "From".
fn has_time(line: &[u8]) -> bool {
    line.windows(5).any(|five| match five {
        [a, b, b':', c, d] => [a, b, c, d].iter().all(|digit| digit.is_ascii_digit()),
        _ => false,
    })
}

/// Whether this line began with "From " before it was quoted in a mailbox.
fn is_quoted_from(line: &[u8]) -> bool {
    let unquoted = line.iter().position(|byte| *byte != b'>');
    unquoted.is_some_and(|start| start > 0 && line[start..].starts_with(b"From "))
}

/// Removes the blank line that separates a message from the next one.
fn remove_last_blank_line(message: &mut Vec<u8>) {
    for blank in [&b"\n\r\n"[..], b"\n\n"] {
        if message.ends_with(blank) {
            message.truncate(message.len() - blank.len() + 1);
        }
    }
}
