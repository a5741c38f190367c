//! What a letter of a word is, and what white space is: exactly as Python's
//! `\w` and `\s` have it, so that counts can be compared with scikit-learn's.
//! `\w` is the general categories L and N and the underscore. Combining marks
//! are in neither: they end a word, in Devanagari as after `i̇`.

use std::sync::LazyLock;

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// Whether a word may hold this character of ASCII.
#[inline]
pub(super) fn is_ascii_word(byte: u8) -> bool {
    // Written without "or else", so that many bytes are answered at once.
    let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    let digit = byte.wrapping_sub(b'0') < 10;
    letter | digit | (byte == b'_')
}

/// One bit for each character of the basic plane: looking a category up is a
/// binary search, too slow for every character of a Russian text.
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

/// Whether a word may hold this character.
pub(super) fn is_word(character: char) -> bool {
    let code = character as usize;
    match BASIC_PLANE.get(code / 64) {
        Some(bits) => bits >> (code % 64) & 1 == 1,
        None => has_word_category(character),
    }
}

/// Whether this is white space. Python counts the four separators of ASCII
/// among it, Unicode does not.
pub(super) fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\x1c'..='\x1f').contains(&character)
}
