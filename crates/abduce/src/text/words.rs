//! The words of a text: maximal runs of word characters. ASCII text is processed 64 bytes at
//! a time, other text by character, with the same result.

use super::characters::{is_ascii_word, is_word};
use super::table::Span;

/// Calls `emit` with every word of any text.
pub(super) fn split_words(text: &str, mut emit: impl FnMut(Span)) {
    let mut start = None;
    for (place, character) in text.char_indices() {
        let inside = match u8::try_from(character) {
            Ok(byte) if byte.is_ascii() => is_ascii_word(byte),
            _ => is_word(character),
        };
        if inside {
            start.get_or_insert(place);
        } else if let Some(start) = start.take() {
            emit(start..place);
        }
    }
    if let Some(start) = start {
        emit(start..text.len());
    }
}

/// Calls `emit` with every word of an ASCII text. A branch for each byte would be
/// mispredicted often; instead, 64 bytes become the bits of a number, and a loop goes over its
/// changes.
#[inline]
pub(super) fn split_ascii_words(text: &str, mut emit: impl FnMut(Span)) {
    let mut start = None;
    let mut first = 0;
    // Whether the previous byte is a word character.
    let mut before = 0;
    let (blocks, rest) = text.as_bytes().as_chunks::<64>();
    let mut last = [0; 64];
    last[..rest.len()].copy_from_slice(rest);
    for block in blocks.iter().chain([&last]) {
        let inside = word_bits(block);
        let mut changes = inside ^ (inside << 1 | before);
        while changes != 0 {
            let place = first + changes.trailing_zeros() as usize;
            match start.take() {
                Some(start) => emit(start..place),
                None => start = Some(place),
            }
            changes &= changes - 1;
        }
        before = inside >> 63;
        first += 64;
    }
}

/// A bit for each byte: whether it is a word character.
#[inline]
fn word_bits(block: &[u8; 64]) -> u64 {
    let answers = block.map(|byte| u8::from(is_ascii_word(byte)));
    let (eights, _) = answers.as_chunks::<8>();
    let mut bits = 0;
    for (place, eight) in eights.iter().enumerate() {
        // The product gathers the lowest bits of eight bytes in the top byte.
        let packed = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits |= packed << (8 * place);
    }
    bits
}
