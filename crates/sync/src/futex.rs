//! The two futex calls, where the kernel has them.

#[cfg(all(target_os = "linux", not(any(loom, miri))))]
pub(crate) mod linux {
    use std::sync::atomic::AtomicU32;
    use std::time::Duration;

    /// Sleeps while `word` holds `expected`, at most `limit`. May return early for any reason.
    pub(crate) fn wait(word: &AtomicU32, expected: u32, limit: Option<Duration>) {
        let spec = limit.map(|limit| libc::timespec {
            tv_sec: limit.as_secs().min(i64::MAX as u64) as libc::time_t,
            tv_nsec: limit.subsec_nanos() as _,
        });
        let spec_ptr = spec.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let op = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: `word` is a live, aligned u32 for the whole call; `spec_ptr` is null or points to `spec`, which
        // outlives the call; the kernel reads both and writes neither.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), op, expected, spec_ptr) };
    }

    /// Wakes one thread that sleeps on `word`.
    pub(crate) fn wake(word: &AtomicU32) {
        let op = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: the kernel uses the address as a key only and accesses no memory for a private wake.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), op, 1) };
    }
}
