//! Texts from files: plain text, web pages and mail.

mod file_text;
mod html;
mod mailbox;

pub use file_text::file_text;
pub(crate) use mailbox::begins_a_mailbox;
pub use mailbox::{Mail, Messages};
