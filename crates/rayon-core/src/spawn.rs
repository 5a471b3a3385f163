//! Tasks that borrow nothing and that nobody waits for.

use crate::global::here;

/// Spawns a task that borrows nothing, into the pool whose task calls this, else into the global one.
///
/// A thread runs what it has spawned itself youngest first; others steal the oldest.
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// rayon_core::spawn(move || sender.send(6 * 7).unwrap());
/// assert_eq!(receiver.recv(), Ok(42));
/// ```
///
/// # Panics
/// Not here: a panic of the task goes to the pool's [panic handler](crate::ThreadPoolBuilder::panic_handler).
pub fn spawn<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    here().spawn(func);
}

/// [`spawn`]; but of the tasks that one thread spawns like this the older ones begin first.
///
/// # Panics
/// As [`spawn`].
pub fn spawn_fifo<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    here().spawn_fifo(func);
}
