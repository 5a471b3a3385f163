//! What happens to pools in a child process made by `fork`.
//!
//! The child has a copy of the pool's memory but only one thread, the one that called `fork`:
//!
//! * A [`Pool`](crate::Pool), including the global one, starts new threads when it is first used in
//!   the child. There, the pool keeps its options and runs the thread-start handlers again. Tasks
//!   spawned in the parent run only in the parent. The old memory is never freed, because threads
//!   that no longer exist may hold its locks.
//! * Dropping a pool in the child ends the threads that the pool has started there, if any. Dropping
//!   a handle, a stream or a reservation of the parent does not touch the parent's pool. So a child
//!   may end by `exit`, which runs destructors.
//! * In the child, the thread that called `fork` is not a worker, even if it called `fork` inside a
//!   task. Tasks that it forks run in the child's new global pool.
//!
//! # Returning into the parent's pool
//! A child that needs its parent's pool is aborted with a line on standard error. It never waits for
//! that pool, and never runs one of its tasks. The child needs the pool
//!
//! * at the end of a join. Loops and reductions consist of joins;
//! * when it spawns into a scope, and at the end of a scope unless all tasks of that scope have
//!   ended and none of them was stolen. Intervals consist of tasks of scopes;
//! * at the end of `install`, of `blocking`, of a handler, and of a task that its thread took from a
//!   queue or from another thread;
//! * to wait for a task of the parent, or for an item of a stream that has read its first item;
//! * for a lock that another thread of the parent held at the fork.
//!
//! So a task that forks should end its child with `exec` or `exit`.
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
//! [`tidegate_sync::thread`] detects a fork. Before `fork` returns in the child, `leave_in_child`
//! closes the deques of the workers that its thread was. From then on, each push and each pop of a
//! frame below takes the cold exit, which aborts; in the parent, the check costs a join nothing.
//! Everything else compares the pool's process with the current one (`PoolInner::check_process`):
//! the ledger and whoever publishes work, a wait, and a thread that ends a task or stops being a
//! worker. Every lock is a [`tidegate_sync::lock::Mutex`], which aborts the child instead of waiting
//! for a thread that no longer exists. Lazily created values are in a [`tidegate_sync::OnceBox`],
//! which never waits.
