//! The conditional distributions prepared for patterns of observed columns. Those of patterns with
//! several rows are kept, as they occur in other chunks too; the memory of patterns with a single
//! row is reused.

use crate::kernel::gaussian::Conditionals;
use ahash::RandomState;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The maximum number of unused patterns whose memory is kept for reuse.
const MAX_SPARE: usize = 256;

/// The maximum size in bytes of the patterns that are kept, and of the memory kept for reuse;
/// further patterns are prepared each time.
const MAX_BYTES: usize = 64 << 20;

/// A pattern of observed columns.
#[derive(Clone, Copy)]
pub(super) struct PatternKey<'a> {
    /// The observed columns.
    pub seen: &'a [usize],
    /// The component, if only one is prepared.
    pub only: Option<usize>,
    /// Whether the pattern has many rows.
    pub many: bool,
}

impl PatternKey<'_> {
    /// The pattern encoded as bits, the key of the cache.
    fn words(self) -> Box<[u64]> {
        let last = self.seen.last().map_or(0, |column| column / 64);
        let mut words = vec![0; last + 2];
        words[0] = (self.only.map_or(0, |j| j as u64 + 1) << 1) | u64::from(self.many);
        for column in self.seen {
            words[1 + column / 64] |= 1 << (column % 64);
        }
        words.into()
    }
}

/// Patterns that have been prepared.
#[derive(Default)]
pub(super) struct PatternCache {
    kept: RwLock<Kept>,
    spare: Mutex<Vec<Arc<Conditionals>>>,
}

#[derive(Default)]
struct Kept {
    patterns: HashMap<Box<[u64]>, Arc<Conditionals>, RandomState>,
    bytes: usize,
}

impl PatternCache {
    /// The distributions of a pattern with about `rows` rows, prepared now or earlier; `None` if
    /// `prepare` returns that a precision is singular.
    pub fn get(
        &self,
        pattern: PatternKey,
        rows: usize,
        prepare: impl FnOnce(&mut Conditionals) -> bool,
    ) -> Option<Arc<Conditionals>> {
        if rows == 1 {
            let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
            let mut conditionals = spare.pop().unwrap_or_default();
            drop(spare);
            let regular = Arc::get_mut(&mut conditionals).is_some_and(prepare);
            return regular.then_some(conditionals);
        }
        let key = pattern.words();
        // If another thread panicked, the map lacks at most the pattern of that thread.
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.patterns.get(&key) {
            return Some(Arc::clone(known));
        }
        drop(kept);
        let mut new = Conditionals::default();
        if !prepare(&mut new) {
            return None;
        }
        let new = Arc::new(new);
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        if kept.bytes + new.bytes() <= MAX_BYTES {
            kept.bytes += new.bytes();
            kept.patterns.insert(key, Arc::clone(&new));
        }
        Some(new)
    }

    /// Keeps the memory of distributions that are no longer needed, unless they are still shared.
    pub fn recycle(&self, mut unused: Arc<Conditionals>) {
        let Some(bytes) = Arc::get_mut(&mut unused).map(|unused| unused.bytes()) else {
            return;
        };
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < MAX_SPARE && spare.len() * bytes < MAX_BYTES {
            spare.push(unused);
        }
    }
}
