//! What becomes of pools in a child made by `fork`.
//!
//! The child has a copy of the pool's memory and none of its threads, only the one that called `fork`. A pool that waits for
//! threads which are not there would wait for ever, so a child never uses its parent's threads:
//!
//! * A [`Pool`](crate::Pool), and the global one, make fresh threads at their first use in the child, with the same
//!   options; handlers for the start of a thread are called for these. What was spawned in the parent runs in the
//!   parent alone. The old memory is never freed: its locks may be held by threads that are gone.
//! * Dropping a pool in the child ends the threads that it has there, if any.
//! * The thread that called `fork` is a worker of nobody in the child, also if it called it inside a task. What it forks
//!   there runs in the fresh global pool.
//! * A handle from before the fork whose task has not begun runs it in the child, too, when it is joined there; if the task has
//!   begun, joining panics.
//! * The frames below a `fork` inside a task belong to the parent's pool. If the child returns into them, they go on as long as
//!   they need nobody else: a join finishes whose half was not stolen, a scope whose tasks are all still
//!   here. What would wait for the parent's threads, and a thread of the pool whose task has ended, aborts the child with a
//!   line that says so. So a task that forks should end its child by `exec` or `exit`. In a pool with another queue than the split deque
//!   even those joins and scopes may not end.
//!
//! How a fork is noticed is in [`tidegate_sync::thread`]. The check stands where a pool is entered from outside and where its
//! ledger is asked, not in a join.

use crate::explain::tell;
use crate::pool::Shared;
use tidegate_sync::lock::{Mutex, MutexGuard};
use tidegate_sync::thread::Process;

impl Shared {
    /// Whether the threads of this pool are those of an ancestor of this process.
    pub(crate) fn is_inherited(&self) -> bool {
        self.process != Process::this()
    }

    /// Ends the process if this pool's threads are not here, instead of waiting for them.
    #[inline]
    pub(crate) fn check_process(&self) {
        if self.is_inherited() {
            self.abort_child();
        }
    }

    /// Takes a lock in a task. Where that runs in a child, a thread of the parent may have had the lock.
    pub(crate) fn lock_in_task<'a, T>(&self, mutex: &'a Mutex<T>) -> MutexGuard<'a, T> {
        if self.is_inherited() {
            return mutex.try_lock().unwrap_or_else(|| self.abort_child());
        }
        mutex.lock()
    }

    #[cold]
    fn abort_child(&self) -> ! {
        tell(format_args!(
            "pool {}: a task that called fork() went on in the child until it needed the pool's threads, which only the \
             parent has; end such a child by exec or exit",
            self.options.name.escape_debug()
        ));
        std::process::abort();
    }
}
