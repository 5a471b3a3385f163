//! Spawns detached tasks, which borrow nothing and which no call waits for.

use crate::global::here;

/// Spawns a `'static` task into the caller's pool, or into the global pool if the caller belongs to
/// no pool.
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
/// This call does not panic. If the task panics, the payload goes to the pool's [panic
/// handler](crate::ThreadPoolBuilder::panic_handler).
pub fn spawn<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    here().spawn(func);
}

/// Like [`spawn`], but tasks spawned by the same thread with this function start in spawn order.
///
/// # Panics
/// Like [`spawn`].
pub fn spawn_fifo<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    here().spawn_fifo(func);
}
