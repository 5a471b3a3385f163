//! Events for the `tracing` crate, if the feature `tracing` is enabled; otherwise these functions
//! are empty.
//!
//! The target of the events is `tidegate`, the message is the name of the function, and each event
//! carries the name of the pool. Unless a field says otherwise, an event is emitted by the thread
//! that it describes. No event is emitted under the runtime's locks or on the path of running
//! tasks. A subscriber must neither run anything in the pool nor panic; a panic aborts the process,
//! because events are emitted where frames of other threads must not be unwound.

use crate::stats::Phase;
#[cfg(feature = "tracing")]
use crate::unwind;

/// Defines a function for each event. The braces contain the event's fields in addition to the
/// pool's name, in the notation of `tracing`.
macro_rules! events {
    ($($(#[doc = $doc:literal])* $level:ident $name:ident($($argument:ident: $type:ty),*) {$($fields:tt)*})*) => {$(
        $(#[doc = $doc])*
        #[inline(always)]
        pub(crate) fn $name(pool: &str, $($argument: $type),*) {
            #[cfg(feature = "tracing")]
            unwind::no_unwind(|| {
                tracing::event!(
                    target: "tidegate",
                    tracing::Level::$level,
                    pool = pool,
                    $($fields)*,
                    stringify!($name)
                );
            });
            #[cfg(not(feature = "tracing"))]
            let _ = (pool, $($argument),*);
        }
    )*};
}

events! {
    /// A thread of the pool starts.
    DEBUG start(worker: usize) { worker }
    /// A thread of the pool ends.
    DEBUG stop(worker: usize) { worker }
    /// A worker goes to sleep for `reason`.
    TRACE park(worker: usize, reason: Phase) { worker, ?reason }
    /// A thread wakes `worker`.
    TRACE wake(worker: usize) { worker }
    /// A worker has taken tasks from another worker.
    TRACE steal(worker: usize, victim: usize, tasks: u64) { worker, victim, tasks }
    /// A worker gives its slot to the worker whose latch it has opened.
    TRACE hand_over(worker: usize, to: usize) { worker, to }
}
