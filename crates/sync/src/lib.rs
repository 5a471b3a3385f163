//! The one door of Tidegate to atomics, locks, threads, futex, clock, seed and CPU count.
//!
//! Every runtime crate imports these things from here and from nowhere else, so that one switch decides what they are:
//!
//! | build | atomics, locks, threads | fences | parking |
//! |---|---|---|---|
//! | ordinary, Linux | `std` | [`barrier::light`] is a compiler fence, [`barrier::heavy`] a `membarrier` | futex |
//! | ordinary, elsewhere | `std` | both are a full fence where no process-wide barrier exists | lock and condition variable |
//! | `--cfg loom`, with the feature `loom` | `loom` | both are loom's sequentially consistent fence | loom's lock and condition variable |
//! | Miri | `std` | both are a full fence | lock and condition variable |
//! | `--cfg tidegate_tsan` | `std` | a read-modify-write on one shared word, the only full fence ThreadSanitizer can see | futex |
//!
//! This crate decides nothing: how long to sleep and whom to wake is the business of `tidegate-policy` and `tidegate`.
//! It is not a general shim either; it holds what the runtime uses.

#![deny(missing_docs)]

#[cfg(all(loom, not(feature = "loom")))]
compile_error!(
    "with `--cfg loom` Tidegate is built for its loom models: add `--features tidegate-sync/loom`, or take the configuration away"
);

pub mod barrier;
pub mod cell;
pub mod clock;
pub mod futex;
pub mod lock;
#[cfg(not(any(loom, miri)))]
pub mod pages;
pub mod park;
pub mod seed;
pub mod segmented;
pub mod serial;
pub mod stderr;
pub mod sum;
pub mod thread;

pub use cell::{OnceBox, UnsafeCell};

/// Atomic types and their orderings.
pub mod atomic {
    #[cfg(loom)]
    pub use loom::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
    #[cfg(not(loom))]
    pub use std::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

/// A reference-counted pointer, loom's under loom so that leaks are found.
#[cfg(loom)]
pub use loom::sync::Arc;
/// A reference-counted pointer, loom's under loom so that leaks are found.
#[cfg(not(loom))]
pub use std::sync::Arc;

#[cfg(loom)]
#[doc(hidden)]
pub use loom;

/// Declares a thread-local value: `worker_local!(static NAME: Type = constant);`, used by `NAME.with(..)`.
///
/// Loom runs all threads of a model on one, so under it the value is loom's.
#[macro_export]
macro_rules! worker_local {
    ($(#[$meta:meta])* static $name:ident: $type:ty = $value:expr) => {
        #[cfg(loom)]
        $crate::loom::thread_local! { $(#[$meta])* static $name: $type = $value; }
        #[cfg(not(loom))]
        ::std::thread_local! { $(#[$meta])* static $name: $type = const { $value }; }
    };
}

/// A value alone on its cache lines.
///
/// 128 bytes, because x86 prefetches lines in adjacent pairs and some aarch64 cores have lines of that size.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Line<T>(pub T);

impl<T> std::ops::Deref for Line<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Tells the processor (or the model checker) that this is a busy wait.
#[inline]
pub fn spin_loop() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    std::hint::spin_loop();
}
