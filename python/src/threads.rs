//! Thread pools, one for each requested number of threads. A forked process has none of its parent's
//! threads, so it creates its own.

use crate::errors::{internal_error, value_error};
use pyo3::{PyResult, Python};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

type Pools = Mutex<HashMap<(u32, usize), Arc<ThreadPool>>>;

/// A pool with this number of threads; without one, with the number in the environment variable
/// `RAYON_NUM_THREADS` or that of the processors.
pub fn pool(threads: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    static POOLS: OnceLock<Pools> = OnceLock::new();
    let pools = POOLS.get_or_init(Default::default);
    let mut pools = pools.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (std::process::id(), threads.unwrap_or(0));
    if let Some(pool) = pools.get(&key) {
        return Ok(Arc::clone(pool));
    }
    let pool = ThreadPoolBuilder::new().num_threads(key.1).build();
    let pool = pool.map_err(|why| value_error(format!("no threads could be started: {why}")))?;
    let pool = Arc::new(pool);
    pools.insert(key, Arc::clone(&pool));
    Ok(pool)
}

/// Does some work without the interpreter's lock, on a pool of this process: a forked process would
/// wait forever for the threads of rayon's global pool. A panic becomes an exception.
pub fn pooled<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let pool = pool(threads)?;
    let work = AssertUnwindSafe(|| pool.install(work));
    py.detach(|| catch_unwind(work))
        .map_err(|_| internal_error())
}
