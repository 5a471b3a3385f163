//! What happens to pools in a child process made by `fork`.
//!
//! The child has a copy of the pool's memory but only one thread, the one that called `fork`. If a
//! pool waited for the other threads, it would wait forever, so a child never uses its parent's
//! threads:
//!
//! * A [`Pool`](crate::Pool), including the global one, starts new threads when it is first used in
//!   the child. There, the pool keeps its options and runs the thread-start handlers again. Tasks
//!   spawned in the parent run only in the parent. The old memory is never freed, because threads
//!   that no longer exist may hold its locks.
//! * Dropping a pool in the child ends the threads that the pool has started there, if any.
//! * In the child, the thread that called `fork` is not a worker, even if it called `fork` inside a
//!   task. Tasks that it forks run in the child's new global pool.
//! * If the child joins a `Handle` from before the fork, the task runs in the
//!   child as well if no thread had started it, and the join panics otherwise. Dropping the handle
//!   does nothing.
//!
//! # Returning into a task
//! The frames below a `fork` inside a task belong to the parent's pool. A child that returns into
//! them continues as long as it needs nothing from the parent's threads:
//!
//! * A join returns if its second half was not stolen. A scope returns if no other thread has begun
//!   or stolen one of its tasks. Loops, reductions and intervals consist of joins and scopes.
//! * The child is aborted, with a line on standard error, if it would wait for a thread of the
//!   parent, or for a lock that such a thread held at the fork. It is also aborted at the end of a
//!   handler, of a part of a broadcast, or of the task at the base of one of the pool's threads.
//! * The child never runs detached tasks or parts of broadcasts of the parent. It needs no slot to
//!   leave [`blocking`](crate::blocking()).
//!
//! So a task that forks should end its child with `exec` or `exit`. In a pool whose queue is not
//! the split deque, the child may be aborted even in a join or scope none of whose tasks was
//! stolen.
//!
//! One lock is not the pool's: each thread of the standard library takes a lock of that library
//! when it starts and when it ends. If another thread of the parent does so at the moment of the
//! fork, no thread can start in the child, and the child hangs when it first needs a pool. A
//! program whose children use pools should fork while none of its threads starts or ends.
//!
//! The C library gives the stacks of the parent's other threads to the first threads that start in
//! the child. So a child that starts threads must not use what its parent's closures have borrowed
//! from such a stack, as a closure of `install` may.
//!
//! # Implementation
//! [`tidegate_sync::thread`] detects a fork. Three things keep a child from waiting:
//!
//! * Every lock is a [`tidegate_sync::lock::Mutex`], which aborts the child instead of waiting for
//!   a thread that no longer exists. Code that can do without the guarded data in a child first
//!   checks `PoolInner::is_inherited`, or calls `lock_unless_lost`.
//! * Lazily created values are in a [`tidegate_sync::OnceBox`], which never waits.
//! * The current process is compared with the pool's process before a wait for a latch, by the
//!   ledger (`PoolInner::ledger`), and by thieves (in the deque).
//!
//! Code that may run in a child receives its worker as an argument, because `WorkerThread::get`
//! returns `None` there. In the parent, a join costs nothing extra: the checks are on slow paths
//! and where a pool is entered from outside.

/// Helpers for tests that run code in child processes.
#[cfg(all(test, unix, not(any(loom, miri, tidegate_tsan))))]
#[path = "../../tidegate/tests/support/forks.rs"]
pub(crate) mod forks;
