//! Builds pools that record the panics of detached tasks in a ledger.

use crate::oracle::{Ledger, unclaimed};
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Once};

/// The stack size of a thread, in bytes. It is large because a task that waits for another pool may
/// run other tasks on top of its stack, and these tasks may also wait for other pools.
pub const STACK: usize = 1 << 28;

fn builder(threads: usize, ledger: &Arc<Ledger>) -> ThreadPoolBuilder {
    let ledger = Arc::clone(ledger);
    let handler = move |payload: Box<dyn Any + Send>| {
        // Catch panics: if the handler panicked, the process would abort.
        let _ = catch_unwind(AssertUnwindSafe(|| ledger.unclaimed(payload)));
    };
    let builder = ThreadPoolBuilder::new().stack_size(STACK);
    builder.num_threads(threads).panic_handler(handler)
}

pub fn pool(threads: usize, ledger: &Arc<Ledger>) -> ThreadPool {
    let pool = builder(threads, ledger).build();
    pool.expect("the system has enough threads")
}

/// Builds a pool whose first thread is the calling thread.
pub fn joined_pool(threads: usize, ledger: &Arc<Ledger>) -> ThreadPool {
    let pool = builder(threads, ledger).use_current_thread().build();
    pool.expect("the caller belongs to no pool")
}

/// Builds the global pool, which all programs use, one program at a time.
pub fn build_global() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let builder = ThreadPoolBuilder::new().stack_size(STACK).num_threads(2);
        let builder = builder.panic_handler(|payload| {
            let _ = catch_unwind(AssertUnwindSafe(|| unclaimed(payload)));
        });
        builder.build_global().expect("it is not in use yet");
    });
}
