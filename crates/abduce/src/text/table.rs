//! Terms and their codes, packed: one string holds all terms one after the
//! other, and an open-addressing table of sixteen bytes a slot finds them. A
//! term of at most eight bytes is its own key and lies in the slot itself, so
//! that most are found with one look at memory; the key of a longer one is its
//! hash. Codes are given in the order of arrival: nothing depends on the hash,
//! which differs from run to run, so that nobody can write texts whose words
//! all collide.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::LazyLock;

/// No term has this code: it marks an empty slot.
const EMPTY: u32 = u32::MAX;

static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one("terms"));

/// Terms that are looked up at a time: few enough for a processor's nearest
/// cache.
pub(super) const BLOCK: usize = 512;

/// Where a term lies in a text, in bytes.
pub(super) type Span = Range<usize>;

/// Memory for the keys of many terms, used again for every text.
#[derive(Default)]
pub(super) struct Keys(Vec<Key>);

/// Terms with codes 0, 1, 2 … in the order in which they came.
#[derive(Clone)]
pub(super) struct TermTable {
    text: String,
    /// Where each term ends in `text`; it starts where the one before ends.
    ends: Vec<usize>,
    /// As many as a power of two, at most three quarters full.
    slots: Vec<Slot>,
    seed: u64,
}

#[derive(Clone, Copy)]
struct Slot {
    key: Key,
    code: u32,
}

/// Equal for equal terms, and for no others of at most eight bytes.
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
    /// An empty table that takes so many terms without growing.
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

    /// How many bytes the terms take, and what it takes to find them.
    pub fn bytes(&self) -> usize {
        self.text.len() + size_of_val(self.ends.as_slice()) + size_of_val(self.slots.as_slice())
    }

    /// The code of a term that is held.
    pub fn code(&self, term: &str) -> Option<u32> {
        self.code_at(term, &(0..term.len()))
    }

    /// The code of a term in a text; more to read after it makes it faster.
    #[inline]
    pub fn code_at(&self, text: &str, span: &Span) -> Option<u32> {
        self.code_of(&text[span.clone()], self.key(text, span))
    }

    #[inline]
    fn code_of(&self, term: &str, key: Key) -> Option<u32> {
        let slot = self.slots[self.find(term, key)];
        (slot.code != EMPTY).then_some(slot.code)
    }

    /// The code of a term, which is held from now on. There is none once
    /// every code of 32 bits is given.
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

    /// Calls `found` with the code of every term of the text, if it is held.
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

    /// Calls `found` with the code of every term of the text; all are held
    /// from now on.
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

    /// The codes here of these terms of another table; all are held from now
    /// on.
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

    /// Makes the keys of many terms, and looks at all their slots once. A
    /// large table is not in the cache, and one wait for memory after the
    /// other would take most of the time; here all waits overlap.
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

    /// The term of a code; nothing is held under other codes.
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

    /// All terms by their codes.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let term = &self.text[start..end];
            start = end;
            term
        })
    }

    /// The slot of the term, or the vacant one where it would be put.
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

    /// Where the search for a key starts.
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
            // A length of more than 32 bits must not look like a short one.
            length: u32::try_from(length).unwrap_or(u32::MAX),
        }
    }
}

/// A hash of more than eight bytes by folded multiplication, sixteen at a
/// time.
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
    // What is left may be short: the last sixteen bytes of all hold it.
    let (_, last) = bytes.split_at(bytes.len().saturating_sub(16));
    fold(
        word(last.first_chunk()) ^ state,
        word(last.last_chunk()) ^ SCATTER,
    )
}

/// An odd number whose bits look drawn by lot: the golden ratio's.
const SCATTER: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}
