//! Folders of texts and mailboxes in builds without the feature `text`: every file is an error.

use crate::data::options::ReadOptions;
use crate::data::read::input::Input;
use crate::data::read::{Batches, Format};
use crate::{Error, Result};

/// A mailbox file, or a file of one message.
pub(super) const MAILBOX: Format = Format {
    name: "mailbox",
    extensions: &["mbox", "mbx", "eml"],
    magic: |_| false,
    seeks: false,
    sparse: true,
    known: |_| &[],
    header,
    batches,
    parts: None,
};

/// A folder of texts.
pub(super) const FOLDER: Format = Format {
    name: "folder",
    extensions: &[],
    ..MAILBOX
};

/// Mailboxes are recognised by their names only.
pub(super) fn begins_a_mailbox(_: &[u8]) -> bool {
    false
}

fn not_supported() -> Error {
    Error::parameter("this build does not support folders of texts and mailboxes")
        .with_hint("put the texts into a column of a table, or enable the feature text of abduce")
}

fn header(_: &Input, _: &ReadOptions) -> Result<Vec<String>> {
    Err(not_supported())
}

fn batches(_: &Input, _: &ReadOptions, _: &[bool]) -> Result<Batches> {
    Err(not_supported())
}
