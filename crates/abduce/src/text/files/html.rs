//! The text of a web page or mail, without tags, comments, scripts and styles. Inline tags do
//! not split words (spam likes `V<b>i</b>agra`); all others end a line. Malformed HTML is read
//! as a browser would read it, or as text.

use mail_parser::decoders::html::add_html_token;
use memchr::{memchr, memchr2, memmem};

/// Tags that may occur within words.
const INLINE: &str = "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark q s samp small span strike
    strong sub sup time tt u var wbr";
/// Elements whose content is not text.
const SILENT: [&str; 3] = ["script", "style", "template"];
/// The longest name of an entity.
const LONGEST_ENTITY: usize = 34;

/// The text of a page.
pub(super) fn plain_text(html: &str) -> String {
    let mut text = String::with_capacity(html.len() / 2);
    let mut ahead = Ahead::default();
    let mut rest = html;
    while let Some(place) = memchr2(b'<', b'&', rest.as_bytes()) {
        text.push_str(&rest[..place]);
        rest = &rest[place..];
        let read = if rest.starts_with('<') {
            read_tag(rest, &mut text, &mut ahead)
        } else {
            read_entity(rest, &mut text)
        };
        rest = &rest[read..];
    }
    text.push_str(rest);
    text
}

/// Which ends are known not to follow, so that a page of a million unclosed quotes is not
/// searched to its end a million times.
#[derive(Default)]
struct Ahead {
    no_end_of_comment: bool,
    no_end_of_quote: bool,
}

/// Reads a tag or comment, which starts with "<", and returns its length in bytes.
fn read_tag(html: &str, text: &mut String, ahead: &mut Ahead) -> usize {
    if html.starts_with("<!--") {
        return comment_length(html.as_bytes(), ahead);
    }
    let inside = &html[1..];
    let name = inside.strip_prefix('/').unwrap_or(inside);
    if !name.starts_with(|first: char| first.is_ascii_alphabetic() || "!?".contains(first)) {
        text.push('<');
        return 1;
    }
    let end = name.find(|letter: char| !letter.is_ascii_alphanumeric());
    let name = name[..end.unwrap_or(name.len())].to_ascii_lowercase();
    if !INLINE.split_whitespace().any(|inline| inline == name) {
        text.push('\n');
    }
    let tag = tag_length(html.as_bytes(), ahead);
    if !inside.starts_with('/') && SILENT.contains(&name.as_str()) {
        return tag + silent_length(&html[tag..], &name);
    }
    tag
}

/// The length of a comment, or of its start if it has no end.
fn comment_length(bytes: &[u8], ahead: &mut Ahead) -> usize {
    if !ahead.no_end_of_comment {
        if let Some(place) = memmem::find(bytes, b"-->") {
            return place + 3;
        }
        ahead.no_end_of_comment = true;
    }
    4
}

/// The length of a tag: up to the first unquoted ">", else up to the first one, else all.
fn tag_length(bytes: &[u8], ahead: &mut Ahead) -> usize {
    let mut quote = None;
    if !ahead.no_end_of_quote {
        for (place, &byte) in bytes.iter().enumerate() {
            match (quote, byte) {
                (None, b'>') => return place + 1,
                (None, b'"' | b'\'') => quote = Some(byte),
                (Some(open), _) if open == byte => quote = None,
                _ => (),
            }
        }
        ahead.no_end_of_quote = true;
    }
    memchr(b'>', bytes).map_or(bytes.len(), |place| place + 1)
}

/// The length of the content of a silent element, up to its closing tag.
fn silent_length(html: &str, name: &str) -> usize {
    let bytes = html.as_bytes();
    memmem::find_iter(bytes, b"</")
        .find(|place| {
            bytes
                .get(place + 2..place + 2 + name.len())
                .is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
        })
        .unwrap_or(bytes.len())
}

/// Reads an entity or ampersand, and returns its length in bytes.
fn read_entity(html: &str, text: &mut String) -> usize {
    let bytes = html.as_bytes();
    let near = &bytes[..bytes.len().min(LONGEST_ENTITY)];
    let end = near
        .iter()
        .skip(1)
        .position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'#');
    match end {
        Some(length) if length > 0 && bytes[length + 1] == b';' => {
            add_html_token(text, &bytes[..length + 2], false);
            length + 2
        }
        _ => {
            text.push('&');
            1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::plain_text;

    fn words(html: &str) -> String {
        let words: Vec<String> = plain_text(html)
            .split_whitespace()
            .map(str::to_string)
            .collect();
        words.join(" ")
    }

    #[test]
    fn inline_tags_do_not_split_words_and_others_do() {
        assert_eq!(words("V<b>i</B>agra<br>now"), "Viagra now");
        assert_eq!(words("<td>one</td><td>two</td>"), "one two");
    }

    #[test]
    fn scripts_styles_and_comments_are_left_out() {
        let html = "a<script>if (a<b) x('</p>')</script> b<STYLE>p{}</Style> c<!-- d --> e";
        assert_eq!(words(html), "a b c e");
    }

    #[test]
    fn entities_are_decoded() {
        assert_eq!(
            words("caf&eacute; &#8364;&#x31; AT&T &amp; R&D; &"),
            "café €1 AT&T & R&D; &"
        );
    }

    #[test]
    fn a_quoted_bracket_does_not_end_a_tag_unless_the_quote_is_unclosed() {
        assert_eq!(words("<img alt=\"a > b\">text"), "text");
        assert_eq!(words("<img alt=\"a>text"), "text");
    }

    #[test]
    fn unclosed_html_is_read() {
        assert_eq!(words("1 < 2 <3 <!-- open"), "1 < 2 <3 open");
        assert_eq!(words("text <a href"), "text");
        assert_eq!(words("text <script>x"), "text");
    }
}
