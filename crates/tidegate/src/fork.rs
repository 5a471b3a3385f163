//! What happens to pools in a child made by `fork`.
//!
//! The child has a copy of the pool's memory and only one thread, the one that called `fork`. A pool
//! that waited for the other threads would wait for ever, so a child never uses its parent's threads:
//!
//! * A [`Pool`](crate::Pool), and the global one, starts fresh threads at its first use in the child,
//!   with the same options, and calls the handlers for the start of a thread for these. Tasks spawned
//!   in the parent run in the parent only. The old memory is never freed: threads that are gone may
//!   hold its locks.
//! * Dropping a pool in the child ends the threads that it has there, if any.
//! * In the child the thread that called `fork` is not a worker, even if it called `fork` inside a
//!   task. Tasks that it forks there run in the fresh global pool.
//! * Joining a [`Handle`](crate::Handle) from before the fork runs the task in the child too if no
//!   thread had begun it, and panics otherwise. Dropping the handle does nothing.
//!
//! # Going back into a task
//! The frames below a `fork` inside a task belong to the parent's pool. A child that returns into them
//! goes on as long as it needs nothing of the parent's threads:
//!
//! * A join ends if its second half was not stolen. A scope ends if no other thread has begun or
//!   stolen one of its tasks. Loops, reductions and intervals are made of these.
//! * The child is aborted, with a line on standard error, if it would wait for a thread of the parent
//!   or for a lock that one of them held at the fork. It is also aborted when the task at the base of
//!   a thread of the pool ends, or a handler, or a part of a broadcast.
//! * It never runs detached tasks and parts of broadcasts of the parent, and needs no slot to leave
//!   [`blocking`](crate::blocking()).
//!
//! So a task that forks should end its child by `exec` or `exit`. In a pool with another queue than the
//! split deque even joins and scopes of which nothing was stolen may abort the child.
//!
//! # How it works
//! [`tidegate_sync::thread`] notices a fork. Three things keep a child from waiting:
//!
//! * Every lock is a [`tidegate_sync::lock::Mutex`], which aborts the child instead of waiting for a
//!   thread that is gone. Where a child can do without what the lock guards, the code asks
//!   `PoolInner::is_inherited` first, or calls `lock_unless_lost`.
//! * Values made at their first use are in a [`tidegate_sync::OnceBox`], which never waits.
//! * Waits for a latch, the ledger (`PoolInner::ledger`) and thieves (in the deque) check the process.
//!
//! Code that may run in a child gets the worker that runs it as an argument: `WorkerThread::get` finds none.
//! Parents pay nothing in a join: the checks are where a pool is entered from outside, and on slow paths.

/// What tests do with children.
#[cfg(all(test, unix, not(any(loom, miri, tidegate_tsan))))]
#[path = "../tests/support/forks.rs"]
pub(crate) mod forks;
