//! Detached tasks, which borrow nothing.

use crate::global::here;

/// Spawns a `'static` task into the pool of the calling task, or into the global pool if the caller
/// belongs to none.
///
/// A thread runs its own spawned tasks youngest first; other threads steal the oldest.
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// rayon_core::spawn(move || sender.send(6 * 7).unwrap());
/// assert_eq!(receiver.recv(), Ok(42));
/// ```
///
/// # Panics
/// This call does not panic. A panic of the task goes to the pool's [panic
/// handler](crate::ThreadPoolBuilder::panic_handler).
pub fn spawn<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    here().spawn(func);
}

/// Like [`spawn`], but tasks that one thread spawns with this function begin oldest first.
///
/// # Panics
/// Like [`spawn`].
pub fn spawn_fifo<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    here().spawn_fifo(func);
}
