//! Makes text from files and arguments safe to print: control characters and bidirectional marks,
//! which change how a terminal shows the text around them, are escaped.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character changes what a terminal shows around it.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{feff}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Escapes a name or a message to one line, with `\t`, `\n` and `\u{1b}` written out.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, is_unsafe)
}

/// Escapes a text of several lines, except the line ends.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && is_unsafe(c))
}

fn escaped(text: &str, is_unsafe: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            c if !is_unsafe(c) => safe.push(c),
            '\t' => safe.push_str("\\t"),
            '\n' => safe.push_str("\\n"),
            '\r' => safe.push_str("\\r"),
            c => {
                let _ = write!(safe, "\\u{{{:x}}}", c as u32);
            }
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_bidirectional_marks_are_escaped() {
        let attack = "\x1b[2J\u{9b}1m\t\r\n\u{202e}abc\u{2069}\u{7f}";
        let safe = "\\u{1b}[2J\\u{9b}1m\\t\\r\\n\\u{202e}abc\\u{2069}\\u{7f}";
        assert_eq!(line(attack), safe);
        assert_eq!(lines(attack), safe.replace("\\n", "\n"));
        assert!(matches!(line("größe 漢字 👩‍🔬"), Cow::Borrowed(_)));
    }
}
