//! Codes without a vocabulary: the code of a term is its hash,
//! |MurmurHash3_32(utf-8, seed 0)| mod 2^bits, as in scikit-learn's
//! HashingVectorizer(alternate_sign=False). Hashing needs no first pass, which suits endless
//! streams; in exchange, terms may collide and codes cannot be converted back to terms.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Gives every term one of 2^bits codes.
///
/// ```
/// use abduce::text::Hashing;
/// let hashing = Hashing::new(20)?;
/// assert_eq!(hashing.width(), 1 << 20);
/// assert_eq!(hashing.code("prize"), hashing.code("prize"));
/// assert!(Hashing::new(40).is_err());
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Bits", into = "Bits")]
pub struct Hashing {
    bits: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bits {
    bits: u32,
}

impl Hashing {
    /// Hashing to 2^bits codes; 18 to 22 bits are usual.
    ///
    /// # Errors
    /// If there are not 1 to 31 bits.
    pub fn new(bits: u32) -> Result<Self> {
        if (1..=31).contains(&bits) {
            Ok(Hashing { bits })
        } else {
            Err(Error::parameter(format!("hashing to {bits} bits"))
                .with_hint("from 1 to 31 bits are possible, 20 are usual"))
        }
    }

    /// The number of codes.
    pub fn width(&self) -> usize {
        1 << self.bits
    }

    /// The code of a term.
    pub fn code(&self, term: &str) -> u32 {
        let hash = murmur3(term.as_bytes(), 0) as i32;
        hash.unsigned_abs() & ((1 << self.bits) - 1)
    }
}

impl TryFrom<Bits> for Hashing {
    type Error = Error;

    fn try_from(Bits { bits }: Bits) -> Result<Self> {
        Hashing::new(bits)
    }
}

impl From<Hashing> for Bits {
    fn from(Hashing { bits }: Hashing) -> Self {
        Bits { bits }
    }
}

/// MurmurHash3 with 32 bits (Austin Appleby).
///
/// ```
/// assert_eq!(abduce::text::murmur3(b"hello", 0), 0x248b_fa47);
/// ```
pub fn murmur3(bytes: &[u8], seed: u32) -> u32 {
    let (blocks, rest) = bytes.as_chunks::<4>();
    let mut hash = seed;
    for block in blocks {
        hash ^= scrambled(u32::from_le_bytes(*block));
        hash = hash
            .rotate_left(13)
            .wrapping_mul(5)
            .wrapping_add(0xe654_6b64);
    }
    let tail = rest
        .iter()
        .rev()
        .fold(0, |tail, byte| tail << 8 | u32::from(*byte));
    hash ^= scrambled(tail);
    hash ^= bytes.len() as u32;
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85eb_ca6b);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

fn scrambled(block: u32) -> u32 {
    block
        .wrapping_mul(0xcc9e_2d51)
        .rotate_left(15)
        .wrapping_mul(0x1b87_3593)
}
