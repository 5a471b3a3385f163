//! The global pool, which threads outside all pools use.

use crate::builder::ThreadPoolBuilder;
use crate::error::{Kind, ThreadPoolBuildError};
use crate::pool::ThreadPool;
use std::sync::{Mutex, OnceLock, PoisonError};
use tidegate_core::door::closed::{Entry, Member};

static GLOBAL: OnceLock<ThreadPool> = OnceLock::new();

/// Locked while a thread builds the global pool.
static MAKING: Mutex<()> = Mutex::new(());

/// Returns an entry into the global pool. Builds the pool if it does not exist yet.
pub(crate) fn global() -> Entry {
    global_pool().entry()
}

/// Returns an entry into the calling thread's pool, or into the global pool if the thread belongs
/// to no pool.
pub(crate) fn here() -> Entry {
    Member::with(|member| member.map(Member::entry)).unwrap_or_else(global)
}

pub(crate) fn global_pool() -> &'static ThreadPool {
    GLOBAL.get().unwrap_or_else(|| {
        let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        GLOBAL.get_or_init(by_default)
    })
}

/// Builds a pool with `build` and makes it the global pool. Fails if there already is a global
/// pool.
pub(crate) fn make_global(
    build: impl FnOnce() -> Result<ThreadPool, ThreadPoolBuildError>,
) -> Result<(), ThreadPoolBuildError> {
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    if GLOBAL.get().is_some() {
        return Err(Kind::GlobalPoolAlreadyInitialized.into());
    }
    let pool = build()?;
    GLOBAL.get_or_init(|| pool);
    Ok(())
}

/// Builds the global pool with the default configuration. If some threads cannot be started, the
/// pool has fewer threads. On a system without threads, such as WebAssembly, its only thread is the
/// calling one.
fn by_default() -> ThreadPool {
    let pool = match ThreadPoolBuilder::new().build_forgiving() {
        Err(error) if error.is_unsupported() => {
            let alone = ThreadPoolBuilder::new().num_threads(1);
            alone.use_current_thread().build()
        }
        pool => pool,
    };
    pool.unwrap_or_else(|error| panic!("the global thread pool cannot be made: {error}"))
}
