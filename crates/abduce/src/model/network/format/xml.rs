//! What the XML formats share: a parser that accepts document type definitions but no entities,
//! words and numbers with their places, and escaped text.

use super::numbers::{Numbers, finite};
use super::place::{error_at, excerpt};
use crate::{Error, Result};
use roxmltree::{Document, Node, ParsingOptions};
use std::borrow::Cow;

/// The characters that XML calls white space.
const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

/// The elements of a file.
pub(super) fn parse(text: &str) -> Result<Document<'_>> {
    // Entities could expand a small file to gigabytes.
    if let Some(entity) = text.find("<!ENTITY") {
        return Err(error_at(text, entity, "XML entities are not supported"));
    }
    let options = ParsingOptions {
        allow_dtd: true,
        nodes_limit: u32::try_from(text.len()).unwrap_or(u32::MAX).max(16),
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options).map_err(|error| {
        let position = error.pos();
        let message = error.to_string();
        // The message may end with the position in the parser's own form.
        let message = message.trim_end_matches(&format!(" at {position}"));
        Error::data(format!(
            "not valid XML: {message}, at character {}",
            position.col
        ))
        .at_line(u64::from(position.row))
    })
}

/// An error at an element.
pub(super) fn error(node: Node<'_, '_>, message: impl std::fmt::Display) -> Error {
    error_at(node.document().input_text(), node.range().start, message)
}

/// The child elements with a name.
pub(super) fn children<'a, 'b>(
    node: Node<'a, 'b>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'b>> {
    node.children()
        .filter(move |child| child.has_tag_name(name))
}

/// The first child element with a name; it is an error if there is none.
pub(super) fn child<'a, 'b>(node: Node<'a, 'b>, name: &'static str) -> Result<Node<'a, 'b>> {
    children(node, name).next().ok_or_else(|| {
        let parent = node.tag_name().name();
        error(node, format!("the element <{parent}> has no <{name}>"))
    })
}

/// An attribute; it is an error if it is missing.
pub(super) fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Result<&'a str> {
    node.attribute(name).ok_or_else(|| {
        let element = node.tag_name().name();
        error(
            node,
            format!("the element <{element}> has no attribute \"{name}\""),
        )
    })
}

/// The text of an element, without the space around it unless `xml:space` preserves it.
pub(super) fn content(node: Node<'_, '_>) -> String {
    let text: String = node.children().filter_map(text_of).collect();
    let xml_space = ("http://www.w3.org/XML/1998/namespace", "space");
    if node.attribute(xml_space) == Some("preserve") {
        return text;
    }
    text.trim_matches(SPACE).to_string()
}

/// The words of an element, with their byte offsets.
pub(super) fn words<'a>(node: Node<'a, '_>) -> Vec<(&'a str, usize)> {
    let mut words = Vec::new();
    for child in node.children() {
        let Some(text) = text_of(child) else {
            continue;
        };
        let range = child.range();
        // Text with character references is not as long as it is in the file.
        let exact = range.len() == text.len();
        for word in text.split(SPACE).filter(|word| !word.is_empty()) {
            let offset = word.as_ptr() as usize - text.as_ptr() as usize;
            words.push((word, range.start + if exact { offset } else { 0 }));
        }
    }
    words
}

/// The numbers of an element, with their byte offsets.
pub(super) fn numbers(node: Node<'_, '_>) -> Result<Numbers> {
    let mut numbers = Numbers::default();
    for (word, at) in words(node) {
        let value = finite(word).ok_or_else(|| {
            let message = format!("expected a number but found {}", excerpt(word));
            error_at(node.document().input_text(), at, message)
        })?;
        numbers.push(value, at);
    }
    Ok(numbers)
}

/// The text of a text node.
fn text_of<'a>(node: Node<'a, '_>) -> Option<&'a str> {
    if node.is_text() { node.text() } else { None }
}

/// Text with the characters that mark XML written as references. Some control characters cannot
/// be written in XML.
pub(super) fn escape(text: &str) -> Result<Cow<'_, str>> {
    let ordinary = |c: char| c >= ' ' && !matches!(c, '&' | '<' | '>' | '"' | '\'');
    let allowed = |c: char| c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}') || SPACE.contains(&c);
    if let Some(character) = text.chars().find(|c| !allowed(*c)) {
        let message = format!(
            "XML cannot hold the character {character:?} of {}",
            excerpt(text)
        );
        return Err(Error::data(message));
    }
    if text.chars().all(ordinary) {
        return Ok(Cow::Borrowed(text));
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            space if space < ' ' => escaped.push_str(&format!("&#{};", u32::from(space))),
            other => escaped.push(other),
        }
    }
    Ok(Cow::Owned(escaped))
}

/// An element with this text, on one line.
pub(super) fn element(name: &str, text: &str) -> Result<String> {
    let preserve = text.trim_matches(SPACE) != text;
    let space = if preserve {
        " xml:space=\"preserve\""
    } else {
        ""
    };
    Ok(format!("<{name}{space}>{}</{name}>", escape(text)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_element_is_read_as_it_was_written() {
        for text in [
            "",
            "<5 & \"6\"'s",
            "]]>",
            " a\n",
            "\r\t",
            "\u{a0}é日",
            "&amp;",
        ] {
            let file = format!("<a>{}</a>", element("b", text).unwrap());
            let document = parse(&file).unwrap();
            assert_eq!(content(child(document.root_element(), "b").unwrap()), text);
        }
        assert!(element("b", "\u{1}").is_err());
    }

    #[test]
    fn a_broken_file_has_a_line_and_a_character() {
        let error = parse("<a>\n  <b></a>").unwrap_err();
        assert_eq!(error.line(), Some(2));
        assert!(error.message().ends_with(", at character 6"), "{error}");
        let document = parse("<a>\n 0.5 <!-- no --> O.5</a>").unwrap();
        let error = numbers(document.root_element()).unwrap_err();
        let expected = "line 2: expected a number but found \"O.5\", at character 18";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn entities_are_refused() {
        let bomb = "<!DOCTYPE a [\n<!ENTITY b \"bbbb\">]>\n<a>&b;&b;</a>";
        assert_eq!(parse(bomb).unwrap_err().line(), Some(2));
        assert!(parse("<!DOCTYPE a [ <!ELEMENT a (#PCDATA)> ]><a/>").is_ok());
    }
}
