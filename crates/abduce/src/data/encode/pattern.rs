//! Patterns of names, in which `*` matches any characters, as in `pixel_*`.

/// Whether a column's name equals or matches a pattern.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    if pattern == name {
        return true;
    }
    let Some((head, rest)) = pattern.split_once('*') else {
        return false;
    };
    let Some(mut name) = name.strip_prefix(head) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let tail = parts.pop().unwrap_or_default();
    for part in parts {
        match name.find(part) {
            Some(at) => name = &name[at + part.len()..],
            None => return false,
        }
    }
    name.ends_with(tail)
}

/// Whether a name is a pattern, which may match several columns.
pub(crate) fn is_pattern(name: &str) -> bool {
    name.contains('*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_characters() {
        for (pattern, name) in [
            ("*", "x"),
            ("*", ""),
            ("pixel_*", "pixel_0_1"),
            ("*_1", "pixel_0_1"),
            ("p*_*_1", "pixel_0_1"),
            ("a*a", "aba"),
            ("x", "x"),
            ("a*b", "a*b"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("pixel_*", "pixe"),
            ("a*a", "a"),
            ("*_2", "pixel_0_1"),
            ("a*b*c", "acb"),
            ("x", "xx"),
            ("X*", "x1"),
        ] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }
}
