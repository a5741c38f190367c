//! Word characters and white space, exactly as Python's `\w` and `\s`, so that counts agree
//! with scikit-learn's. `\w` is the general categories L and N and the underscore; combining
//! marks are not included and end a word.

use std::sync::LazyLock;

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// Whether an ASCII character is a word character.
#[inline]
pub(super) fn is_ascii_word(byte: u8) -> bool {
    // Without short-circuiting operators the loop over bytes is vectorised.
    let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    let digit = byte.wrapping_sub(b'0') < 10;
    letter | digit | (byte == b'_')
}

/// A bit for each character of the basic plane, because looking up a category is a binary
/// search.
static BASIC_PLANE: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let mut bits = vec![0; 0x1_0000 / 64];
    for code in 0..0x1_0000_u32 {
        if char::from_u32(code).is_some_and(has_word_category) {
            bits[code as usize / 64] |= 1 << (code % 64);
        }
    }
    bits
});

fn has_word_category(character: char) -> bool {
    use GeneralCategoryGroup::{Letter, Number};
    character == '_' || matches!(character.general_category_group(), Letter | Number)
}

/// Whether this is a word character.
pub(super) fn is_word(character: char) -> bool {
    let code = character as usize;
    match BASIC_PLANE.get(code / 64) {
        Some(bits) => bits >> (code % 64) & 1 == 1,
        None => has_word_category(character),
    }
}

/// Whether this is white space, which in Python includes the four separators of ASCII.
pub(super) fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\x1c'..='\x1f').contains(&character)
}
