//! What runs when the process exits in an orderly way: when `main` returns, or a thread calls
//! `exit`. A signal that kills the process runs nothing.

/// Registers `handler` to be called when the process exits. A child made by `fork` inherits the
/// registration. Without the C library, or if it has no memory left, the handler is never called.
pub fn at_exit(handler: extern "C" fn()) {
    imp::register(handler);
}

#[cfg(all(unix, not(any(loom, miri))))]
mod imp {
    pub(super) fn register(handler: extern "C" fn()) {
        // SAFETY: the handler is a function of this program, and exists as long as the program
        // runs.
        unsafe { libc::atexit(handler) };
    }
}

#[cfg(not(all(unix, not(any(loom, miri)))))]
mod imp {
    pub(super) fn register(_: extern "C" fn()) {}
}
