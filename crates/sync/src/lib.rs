//! Tidegate's only access to atomics, locks, threads, futexes, clocks, seeds and CPU sets.
//!
//! Every runtime crate imports these only from here, so the build configuration selects one
//! implementation for all crates:
//!
//! | build | atomics, locks, threads | fences | parking |
//! |---|---|---|---|
//! | ordinary, Linux | `std` | [`light`]: compiler fence; [`heavy`]: `membarrier` | futex |
//! | ordinary, elsewhere | `std` | both: full fence | lock and condition variable |
//! | `--cfg loom`, feature `loom` | `loom` | both: `SeqCst` fence | loom's lock and condvar |
//! | Miri | `std` | both: full fence | lock and condition variable |
//! | `--cfg tidegate_tsan` | `std` | both: read-modify-write on a shared word | futex |
//!
//! The `tidegate_tsan` build needs the read-modify-write because it is the only full fence that
//! ThreadSanitizer can see.
//!
//! This crate makes no scheduling decision: how long to sleep and which thread to wake is up to
//! `tidegate-policy` and `tidegate`. Nor is it a general compatibility layer: it contains only what
//! the runtime uses.
//!
//! [`light`]: barrier::light
//! [`heavy`]: barrier::heavy

#![deny(missing_docs)]

#[cfg(all(loom, not(feature = "loom")))]
compile_error!(
    "with `--cfg loom` Tidegate is built for its loom models: add `--features tidegate-sync/loom`, or take the configuration away"
);

#[allow(unsafe_code, reason = "calls the kernel")]
pub mod barrier;
#[allow(unsafe_code, reason = "cells hand out raw pointers")]
pub mod cell;
#[allow(unsafe_code, reason = "calls the C library")]
pub mod clock;
#[allow(unsafe_code, reason = "calls the kernel")]
pub mod futex;
pub mod lock;
#[cfg(loom)]
pub mod model;
#[cfg(not(any(loom, miri)))]
#[allow(unsafe_code, reason = "maps memory")]
pub mod pages;
pub mod park;
pub mod seed;
#[allow(unsafe_code, reason = "frees what it has allocated")]
pub mod segmented;
pub mod serial;
pub mod simulation;
pub mod stderr;
pub mod sum;
#[allow(unsafe_code, reason = "calls the C library")]
pub mod thread;

pub use cell::{OnceBox, UnsafeCell};

/// Atomic types and their orderings.
pub mod atomic {
    #[cfg(loom)]
    pub use loom::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
    #[cfg(not(loom))]
    pub use std::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

/// A reference-counted pointer. Under loom, this is loom's type, which detects leaks.
#[cfg(loom)]
pub use loom::sync::Arc;
/// A reference-counted pointer. Under loom, this is loom's type, which detects leaks.
#[cfg(not(loom))]
pub use std::sync::Arc;

#[cfg(loom)]
#[doc(hidden)]
pub use loom;

/// Declares a thread-local value: `worker_local!(static NAME: Type = constant);`. Access it with
/// `NAME.with(..)`.
///
/// Loom runs all threads of a model on one system thread, so under loom this uses loom's
/// thread-locals.
#[macro_export]
macro_rules! worker_local {
    ($(#[$meta:meta])* static $name:ident: $type:ty = $value:expr) => {
        #[cfg(loom)]
        $crate::loom::thread_local! { $(#[$meta])* static $name: $type = $value; }
        #[cfg(not(loom))]
        ::std::thread_local! { $(#[$meta])* static $name: $type = const { $value }; }
    };
}

/// Keeps a value on cache lines of its own, to prevent false sharing.
///
/// The value takes a multiple of 128 bytes, because x86 prefetches pairs of adjacent lines, and
/// some aarch64 cores have lines of that size.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Line<T>(pub T);

impl<T> std::ops::Deref for Line<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Hints to the processor (or loom) that the calling thread is busy-waiting.
#[inline]
pub fn spin_loop() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    if !simulation::give_way("spins") {
        std::hint::spin_loop();
    }
}
