//! GeNIe's identifiers are ASCII letters, digits and underscores and begin with no digit. Any
//! other character of a name is written as `_xHHHH_`, its code in hexadecimal digits, as XML
//! tools write such names (ISO/IEC 9075-14); the empty name is written as `_x_`.

/// The identifier of a name.
pub(super) fn encode(name: &str) -> String {
    if name.is_empty() {
        return "_x_".to_string();
    }
    let mut identifier = String::with_capacity(name.len());
    for (index, character) in name.char_indices() {
        let plain = match character {
            '_' => !looks_escaped(&name[index..]),
            '0'..='9' => index > 0,
            other => other.is_ascii_alphabetic(),
        };
        if plain {
            identifier.push(character);
        } else {
            identifier.push_str(&format!("_x{:04X}_", u32::from(character)));
        }
    }
    identifier
}

/// Whether an underscore could be mistaken for the beginning of an escaped character. The digits
/// may be followed by a character that is escaped and so begins with an underscore.
fn looks_escaped(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("_x") else {
        return false;
    };
    let after = rest.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    !after.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// The name that an identifier stands for.
pub(super) fn decode(identifier: &str) -> String {
    if identifier == "_x_" {
        return String::new();
    }
    let mut name = String::with_capacity(identifier.len());
    let mut rest = identifier;
    while let Some(start) = rest.find("_x") {
        name.push_str(&rest[..start]);
        match escaped(&rest[start + 2..]) {
            Some((character, after)) => {
                name.push(character);
                rest = after;
            }
            None => {
                name.push_str("_x");
                rest = &rest[start + 2..];
            }
        }
    }
    name + rest
}

/// The character with the code that the text begins with, and the text after it.
fn escaped(text: &str) -> Option<(char, &str)> {
    let (digits, after) = text.split_once('_')?;
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let code = u32::from_str_radix(digits, 16).ok()?;
    Some((char::from_u32(code)?, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_stand_for_their_names() {
        let names = [
            "",
            "asia",
            "lung_xray",
            "_x_",
            "_x",
            "_x20_",
            "_x20",
            "_x2 ",
            "__x20_",
            "a_ b",
            "_x\u{e9}",
            "0",
            "12-18",
            "<5",
            "naïve",
            "日本",
            "_",
            "a b",
            "x_x5F_",
            "_xFFFFFFFFF_",
            "_x_x_",
            "_xx20_",
            "_x5F_x5F_",
        ];
        for name in names {
            let identifier = encode(name);
            assert_eq!(decode(&identifier), name, "{identifier}");
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            assert!(identifier.bytes().all(allowed), "{identifier}");
            assert!(
                !identifier.starts_with(|c: char| c.is_ascii_digit()),
                "{identifier}"
            );
        }
    }

    #[test]
    fn plain_names_are_their_own_identifiers() {
        for name in ["asia", "lung_xray", "_", "State0", "a__b"] {
            assert_eq!(encode(name), name);
        }
        assert_eq!(encode("<5"), "_x003C_5");
    }
}
