//! The pool that functions use outside of any other.

use crate::builder::ThreadPoolBuilder;
use crate::error::{Kind, ThreadPoolBuildError};
use crate::pool::ThreadPool;
use std::sync::{Mutex, OnceLock, PoisonError};
use tidegate::closed::{Entry, Member};

static GLOBAL: OnceLock<ThreadPool> = OnceLock::new();

/// Held by the one who makes the global pool.
static MAKING: Mutex<()> = Mutex::new(());

/// A way into the global pool, made now if nobody has.
pub(crate) fn global() -> Entry {
    global_pool().entry()
}

/// A way into the calling thread's pool, or else the global one.
pub(crate) fn here() -> Entry {
    Member::with(|member| member.map(Member::entry)).unwrap_or_else(global)
}

pub(crate) fn global_pool() -> &'static ThreadPool {
    GLOBAL.get().unwrap_or_else(|| {
        let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        GLOBAL.get_or_init(by_default)
    })
}

/// Makes the global pool by `build`, if there is none.
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

/// The global pool that nobody has configured; with fewer threads where the system refuses some.
fn by_default() -> ThreadPool {
    match ThreadPoolBuilder::new().build_forgiving() {
        Ok(pool) => pool,
        Err(error) => panic!("the global thread pool cannot be made: {error}"),
    }
}
