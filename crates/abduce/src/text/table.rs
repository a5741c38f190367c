//! A compact hash table of terms and their codes: one string of all terms, and an
//! open-addressing table with sixteen bytes per slot. The key of a term of at most eight bytes
//! is the term itself, so that most lookups need one memory access; the key of a longer term
//! is its hash. The hash is seeded at random against texts with colliding words; codes are
//! given in the order of arrival and do not depend on it.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::LazyLock;

/// Marks an empty slot.
const EMPTY: u32 = u32::MAX;

static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one("terms"));

/// The number of terms that are looked up at a time, which fit the L1 cache.
pub(super) const BLOCK: usize = 512;

/// The position of a term in a text, in bytes.
pub(super) type Span = Range<usize>;

/// A reusable buffer for the keys of many terms.
#[derive(Default)]
pub(super) struct Keys(Vec<Key>);

/// Terms with codes 0, 1, 2 … in the order in which they were added.
#[derive(Clone)]
pub(super) struct TermTable {
    text: String,
    /// The end of each term in `text`; it starts at the end of the previous one.
    ends: Vec<usize>,
    /// A power of two of slots, at most three quarters of them full.
    slots: Vec<Slot>,
    seed: u64,
}

#[derive(Clone, Copy)]
struct Slot {
    key: Key,
    code: u32,
}

/// Equal for equal terms, and different for different terms of at most eight bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    content: u64,
    /// In bytes.
    length: u32,
}

const VACANT: Slot = Slot {
    key: Key {
        content: 0,
        length: 0,
    },
    code: EMPTY,
};

impl Default for TermTable {
    fn default() -> Self {
        TermTable::with_room(0)
    }
}

impl std::fmt::Debug for TermTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.terms()).finish()
    }
}

impl TermTable {
    /// An empty table that holds this many terms without growing.
    pub fn with_room(terms: usize) -> Self {
        let slots = (terms + terms / 2).next_power_of_two().max(16);
        TermTable {
            text: String::new(),
            ends: Vec::with_capacity(terms),
            slots: vec![VACANT; slots],
            seed: *SEED,
        }
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The memory of the table, in bytes.
    pub fn bytes(&self) -> usize {
        self.text.len() + size_of_val(self.ends.as_slice()) + size_of_val(self.slots.as_slice())
    }

    /// The code of a term, if the table has it.
    pub fn code(&self, term: &str) -> Option<u32> {
        self.code_at(term, &(0..term.len()))
    }

    /// The code of a term within a text; this is faster if eight bytes can be read from its
    /// start.
    #[inline]
    pub fn code_at(&self, text: &str, span: &Span) -> Option<u32> {
        self.code_of(&text[span.clone()], self.key(text, span))
    }

    #[inline]
    fn code_of(&self, term: &str, key: Key) -> Option<u32> {
        let slot = self.slots[self.find(term, key)];
        (slot.code != EMPTY).then_some(slot.code)
    }

    /// The code of a term, which is added if it is new; `None` if no code is left.
    pub fn intern(&mut self, term: &str) -> Option<u32> {
        self.intern_of(term, self.key(term, &(0..term.len())))
    }

    #[inline]
    fn intern_of(&mut self, term: &str, key: Key) -> Option<u32> {
        let found = self.find(term, key);
        let code = self.slots[found].code;
        if code != EMPTY {
            return Some(code);
        }
        self.insert(term, key, found)
    }

    /// Calls `found` with the code of every term of the text, `None` for unknown ones.
    #[inline]
    pub fn look_up(
        &self,
        text: &str,
        spans: &[Span],
        keys: &mut Keys,
        mut found: impl FnMut(Option<u32>),
    ) {
        self.prepare(text, spans, keys);
        for (span, key) in spans.iter().zip(&keys.0) {
            found(self.code_of(&text[span.clone()], *key));
        }
    }

    /// Calls `found` with the code of every term of the text; new ones are added.
    #[inline]
    pub fn intern_all(
        &mut self,
        text: &str,
        spans: &[Span],
        keys: &mut Keys,
        mut found: impl FnMut(Option<u32>),
    ) {
        self.prepare(text, spans, keys);
        for (span, key) in spans.iter().zip(&keys.0) {
            found(self.intern_of(&text[span.clone()], *key));
        }
    }

    /// Adds terms of another table, and returns their codes in this one.
    pub fn intern_from(&mut self, other: &TermTable, codes: &[u32]) -> Vec<Option<u32>> {
        let mut found = Vec::with_capacity(codes.len());
        let mut keys = Keys::default();
        let mut spans = Vec::with_capacity(BLOCK);
        for block in codes.chunks(BLOCK) {
            spans.clear();
            spans.extend(block.iter().filter_map(|code| other.span(*code)));
            self.intern_all(&other.text, &spans, &mut keys, |code| found.push(code));
        }
        found
    }

    /// Computes the keys of many terms and prefetches their slots, so that the cache misses of
    /// a large table overlap.
    #[inline]
    fn prepare(&self, text: &str, spans: &[Span], keys: &mut Keys) {
        keys.0.clear();
        keys.0.extend(spans.iter().map(|span| self.key(text, span)));
        let mask = self.slots.len() - 1;
        let mut seen = 0;
        for key in &keys.0 {
            let slot = self.slots[self.place(*key) & mask];
            seen ^= match key.length {
                ..=8 => slot.code as usize,
                _ => self.ends.get(slot.code as usize).map_or(0, |end| *end),
            };
        }
        std::hint::black_box(seen);
    }

    fn insert(&mut self, term: &str, key: Key, vacant: usize) -> Option<u32> {
        let code = u32::try_from(self.len())
            .ok()
            .filter(|code| *code != EMPTY)?;
        self.text.push_str(term);
        self.ends.push(self.text.len());
        self.slots[vacant] = Slot { key, code };
        if self.len() > self.slots.len() / 4 * 3 {
            self.grow();
        }
        Some(code)
    }

    /// The term of a code, if the table has it.
    #[inline]
    pub fn term(&self, code: u32) -> Option<&str> {
        self.span(code).map(|span| &self.text[span])
    }

    #[inline]
    fn span(&self, code: u32) -> Option<Span> {
        let code = code as usize;
        let end = *self.ends.get(code)?;
        let start = if code == 0 { 0 } else { self.ends[code - 1] };
        Some(start..end)
    }

    /// All terms in the order of their codes.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let term = &self.text[start..end];
            start = end;
            term
        })
    }

    /// The slot of a term, or the vacant one where it would be added.
    #[inline]
    fn find(&self, term: &str, key: Key) -> usize {
        let mask = self.slots.len() - 1;
        let mut index = self.place(key) & mask;
        loop {
            let slot = self.slots[index];
            let same = || key.length <= 8 || self.term(slot.code) == Some(term);
            if slot.code == EMPTY || (slot.key == key && same()) {
                return index;
            }
            index = (index + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let mask = 2 * self.slots.len() - 1;
        let mut larger = vec![VACANT; mask + 1];
        for slot in self.slots.iter().filter(|slot| slot.code != EMPTY) {
            let mut index = self.place(slot.key) & mask;
            while larger[index].code != EMPTY {
                index = (index + 1) & mask;
            }
            larger[index] = *slot;
        }
        self.slots = larger;
    }

    /// The index at which the search for a key starts, before masking.
    #[inline]
    fn place(&self, key: Key) -> usize {
        fold(key.content ^ self.seed, SCATTER) as usize
    }

    #[inline]
    fn key(&self, text: &str, span: &Span) -> Key {
        let bytes = text.as_bytes();
        let length = span.len();
        let content = if length > 8 {
            hash(&bytes[span.clone()], self.seed)
        } else if let (1.., Some(eight)) = (length, bytes[span.start..].first_chunk()) {
            u64::from_le_bytes(*eight) & (u64::MAX >> (64 - 8 * length))
        } else {
            let term = bytes[span.clone()].iter().rev();
            term.fold(0, |content, byte| content << 8 | u64::from(*byte))
        };
        Key {
            content,
            // A longer length must not wrap around to a short one.
            length: u32::try_from(length).unwrap_or(u32::MAX),
        }
    }
}

/// A hash of more than eight bytes by folded multiplication of sixteen at a time.
#[inline]
fn hash(bytes: &[u8], seed: u64) -> u64 {
    let word = |eight: Option<&[u8; 8]>| eight.map_or(0, |eight| u64::from_le_bytes(*eight));
    let mut state = seed ^ bytes.len() as u64;
    let mut rest = bytes;
    while rest.len() > 16 {
        let (chunk, more) = rest.split_at(16);
        state = fold(
            word(chunk.first_chunk()) ^ state,
            word(chunk.last_chunk()) ^ SCATTER,
        );
        rest = more;
    }
    // The last sixteen bytes include the rest.
    let (_, last) = bytes.split_at(bytes.len().saturating_sub(16));
    fold(
        word(last.first_chunk()) ^ state,
        word(last.last_chunk()) ^ SCATTER,
    )
}

/// An odd number with well-mixed bits: 2⁶⁴ divided by the golden ratio.
const SCATTER: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}
