//! Names of options in messages. Errors, warnings and notes of this crate name an option in
//! backticks, as in `max_iter` or `kind="x=real"`, so that each interface can spell it in its
//! own way.

/// Replaces the options named in a message by how an interface spells them.
///
/// `spell` gets the name of each option in backticks and the value behind `=`, if there is
/// one; where it returns `None`, the text stays as it is.
///
/// ```
/// use abduce::spell_options;
/// let message = "not converged; increase `max_iter`, or pass `kind=\"x=real\"`";
/// let flags = spell_options(message, |name, value| {
///     let flag = format!("--{}", name.replace('_', "-"));
///     Some(value.map_or(flag.clone(), |value| format!("{flag} {value}")))
/// });
/// assert_eq!(flags, "not converged; increase --max-iter, or pass --kind \"x=real\"");
/// ```
pub fn spell_options(
    text: &str,
    mut spell: impl FnMut(&str, Option<&str>) -> Option<String>,
) -> String {
    let mut spelled = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        let inner = &rest[start + 1..];
        let option = end_of_option(inner).and_then(|end| {
            let (name, value) = match inner[..end].split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (&inner[..end], None),
            };
            Some((end, spell(name, value)?))
        });
        let end = match option {
            Some((end, option)) => {
                spelled.push_str(&rest[..start]);
                spelled.push_str(&option);
                start + 1 + end + 1
            }
            None => {
                spelled.push_str(&rest[..=start]);
                start + 1
            }
        };
        rest = &rest[end..];
    }
    spelled + rest
}

/// Where the closing backtick of an option is, if the text begins with a name, or a name and
/// its value. A quoted value may contain backticks.
fn end_of_option(text: &str) -> Option<usize> {
    let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
    let name = text.find(|c: char| !is_name(c))?;
    if name == 0 {
        return None;
    }
    let value = text[name..].strip_prefix('=');
    match value.and_then(|value| value.chars().next()) {
        Some(quote @ ('"' | '\'')) => {
            let close = [quote, '`'].iter().collect::<String>();
            let value = name + 2;
            Some(value + text[value..].find(&close)? + 1)
        }
        Some(_) => text.find('`'),
        None => text[name..].starts_with('`').then_some(name),
    }
}

#[cfg(test)]
mod tests {
    use super::spell_options;

    fn bracketed(text: &str) -> String {
        spell_options(text, |name, value| Some(format!("<{name}|{value:?}>")))
    }

    #[test]
    fn names_and_values_in_backticks_are_replaced() {
        assert_eq!(bracketed("raise `tol`"), "raise <tol|None>");
        assert_eq!(bracketed("`a=1` or `b_c`"), "<a|Some(\"1\")> or <b_c|None>");
        let quoted = bracketed("pass `kind='a`b=real'`.");
        assert_eq!(quoted, "pass <kind|Some(\"'a`b=real'\")>.");
    }

    #[test]
    fn other_backticks_stay() {
        for text in [
            "a ` b",
            "`",
            "``",
            "`Not a name`",
            "`a b`",
            "`tol",
            "`x='1`",
        ] {
            assert_eq!(bracketed(text), text);
        }
        assert_eq!(spell_options("`ls`", |_, _| None), "`ls`");
    }
}
