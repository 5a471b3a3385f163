//! Events for the `tracing` crate, with the feature of that name; without it these functions are empty.
//!
//! Their target is `tidegate`, their message the name of the function, and each carries the name of the pool. They are
//! emitted outside of the runtime's locks, by the thread that they are about unless a field says otherwise, and never
//! on the working path. A subscriber must not run anything in the pool, nor panic.

use crate::stats::Phase;

/// Defines a function for each event; in braces the fields that the event has beside the pool's name, as `tracing`
/// spells them.
macro_rules! events {
    ($($(#[doc = $doc:literal])* $level:ident $name:ident($($argument:ident: $type:ty),*) {$($fields:tt)*})*) => {$(
        $(#[doc = $doc])*
        #[inline(always)]
        pub(crate) fn $name(pool: &str, $($argument: $type),*) {
            #[cfg(feature = "tracing")]
            tracing::event!(
                target: "tidegate",
                tracing::Level::$level,
                pool = pool,
                $($fields)*,
                stringify!($name)
            );
            #[cfg(not(feature = "tracing"))]
            let _ = (pool, $($argument),*);
        }
    )*};
}

events! {
    /// A thread of the pool begins.
    DEBUG start(worker: usize) { worker }
    /// A thread of the pool ends.
    DEBUG stop(worker: usize) { worker }
    /// A worker goes to sleep, and for what.
    TRACE park(worker: usize, reason: Phase) { worker, ?reason }
    /// Somebody wakes a worker.
    TRACE wake(worker: usize) { worker }
    /// A worker has taken tasks from another.
    TRACE steal(worker: usize, victim: usize, tasks: u64) { worker, victim, tasks }
    /// A worker gives its slot to one whose latch it has opened.
    TRACE hand_over(worker: usize, to: usize) { worker, to }
}
