//! An asymmetric fence: its light side is for the owner's hot path, its heavy side for thieves and
//! for workers about to sleep.
//!
//! If thread A does `store x; light(); load y` and thread B does `store y; heavy(); load x`, at
//! least one of the loads sees the other thread's store, as with two sequentially consistent
//! fences. The light side only keeps the compiler from reordering and costs nothing at run time.
//! The heavy side makes every running thread of the process execute a full barrier
//! (`membarrier(2)`, private expedited).
//!
//! Two light sides do not order each other's loads and stores. If neither side is hot, use [`full`]
//! on both.
//!
//! The process must register with the kernel before it can use the heavy side. If it already has
//! several threads, that takes some milliseconds, so [`prepare`] registers in the background. Until
//! the registration has succeeded, [`heavy`] returns `false` and orders nothing.

use crate::simulation::is_simulated;

#[cfg(all(target_os = "linux", not(any(loom, miri, tidegate_tsan))))]
mod kernel {
    use crate::thread;
    use std::os::unix::fs::MetadataExt;
    use std::sync::atomic::{AtomicU32, Ordering};

    const UNKNOWN: u32 = 0;
    const READY: u32 = 1;
    const DENIED: u32 = 2;

    static STATE: AtomicU32 = AtomicU32::new(UNKNOWN);

    fn membarrier(command: libc::c_int) -> bool {
        // SAFETY: membarrier takes three integers and does not access our memory. An unknown
        // command results in an error code.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }

    fn register() {
        let ready = membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
        // Relaxed: the kernel remembers the registration, and `STATE` publishes no other data.
        STATE.store(if ready { READY } else { DENIED }, Ordering::Relaxed);
    }

    pub(super) fn prepare() {
        // Once per process: a child made by `fork` inherits its parent's registration, but not a
        // thread that was about to register.
        static BEGUN: thread::PerProcess<()> = thread::PerProcess::new();
        BEGUN.get_or_init(|| {
            let in_background = || thread::start("tidegate-barrier".into(), STACK, register);
            let registers = available().is_none();
            if registers && (has_one_thread() || in_background().is_err()) {
                register();
            }
        });
    }

    /// The stack size of the thread that registers. The thread makes only one system call.
    const STACK: usize = 64 * 1024;

    /// Whether the calling thread is the only one. `/proc/self/task` has a folder for each thread,
    /// and a folder's link count is 2 plus the number of folders in it.
    fn has_one_thread() -> bool {
        std::fs::metadata("/proc/self/task").is_ok_and(|tasks| tasks.nlink() == 3)
    }

    pub(super) fn available() -> Option<bool> {
        // Relaxed: see `register`.
        match STATE.load(Ordering::Relaxed) {
            UNKNOWN => None,
            state => Some(state == READY),
        }
    }

    #[inline(always)]
    pub(super) fn light() {
        // SeqCst: keeps the compiler from moving a later load before an earlier store. Pairs with
        // the barrier in `heavy`.
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
    }

    pub(super) fn heavy() -> bool {
        // The system call is a full barrier on every *other* running thread. The fence below covers
        // this thread.
        super::full();
        available() == Some(true) && membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, miri, tidegate_tsan)))))]
mod kernel {
    pub(super) fn prepare() {}

    pub(super) fn available() -> Option<bool> {
        Some(true)
    }

    #[inline(always)]
    pub(super) fn light() {
        super::full();
    }

    pub(super) fn heavy() -> bool {
        super::full();
        true
    }
}

/// Registers the heavy side with the kernel, in the background if the process has other threads,
/// because registration then takes some milliseconds.
pub fn prepare() {
    if !is_simulated() {
        kernel::prepare();
    }
}

/// Whether [`heavy`] works, or `None` until the kernel has answered. See [`prepare`].
#[must_use]
pub fn available() -> Option<bool> {
    // In a simulation, the turn orders all accesses.
    if is_simulated() {
        return Some(true);
    }
    kernel::available()
}

/// The light side of the fence, for the hot path. With `membarrier`, it costs nothing at run time.
#[inline(always)]
pub fn light() {
    kernel::light();
}

/// The heavy side of the fence, which bears the cost of both sides. Returns `false` if it is not
/// available; then it has ordered nothing.
#[must_use]
pub fn heavy() -> bool {
    is_simulated() || kernel::heavy()
}

/// A full fence, for pairs in which neither side is hot.
///
/// ThreadSanitizer does not model fences, so in its build this is a read-modify-write on one word
/// that all threads share.
#[inline]
pub fn full() {
    #[cfg(tidegate_tsan)]
    {
        static WORD: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        // SeqCst: pairs with the same operation in another thread.
        WORD.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
    // SeqCst: pairs with the same fence in another thread, and with `light` through `heavy`.
    #[cfg(not(tidegate_tsan))]
    crate::atomic::fence(crate::atomic::Ordering::SeqCst);
}

#[cfg(all(test, not(loom)))]
mod tests {
    #[test]
    fn heavy_barrier_reports_successful_registration() {
        super::prepare();
        super::prepare();
        let registered = loop {
            match super::available() {
                Some(registered) => break registered,
                None => std::thread::yield_now(),
            }
        };
        assert_eq!(super::heavy(), registered);
    }
}
