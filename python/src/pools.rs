//! Pools of threads, one for each number of threads that was asked for. A process
//! that was forked has none of its parent's threads, so that it makes its own.

use crate::trouble::{broken, wrong};
use pyo3::{PyResult, Python};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

type Pools = Mutex<HashMap<(u32, usize), Arc<ThreadPool>>>;

/// A pool of so many threads; of as many as the environment variable
/// `RAYON_NUM_THREADS` says or the machine has if it is not said.
pub fn pool(threads: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    static POOLS: OnceLock<Pools> = OnceLock::new();
    let pools = POOLS.get_or_init(Default::default);
    let mut pools = pools.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (std::process::id(), threads.unwrap_or(0));
    if let Some(pool) = pools.get(&key) {
        return Ok(Arc::clone(pool));
    }
    let pool = ThreadPoolBuilder::new().num_threads(key.1).build();
    let pool = pool.map_err(|why| wrong(format!("no threads could be started: {why}")))?;
    let pool = Arc::new(pool);
    pools.insert(key, Arc::clone(&pool));
    Ok(pool)
}

/// Does some work without the interpreter's lock, on a pool of this process. Left to itself it
/// would wait for the threads of rayon's own pool, of which a forked process has none. A panic
/// ends here.
pub fn pooled<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let pool = pool(threads)?;
    let work = AssertUnwindSafe(|| pool.install(work));
    py.detach(|| catch_unwind(work)).map_err(|_| broken())
}
