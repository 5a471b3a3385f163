//! Shortens a thread's time slice, so that a thread that does little work runs soon after it is
//! woken.

use std::time::Duration;

/// Requests that the calling thread run for only `length` at a time while other threads compete for
/// its processor. In return, the system runs it soon after it is woken. Returns whether the system
/// has accepted the request.
///
/// The thread's share of the processor does not change, and threads that it starts have the usual
/// slices. Does nothing for threads with negative niceness, because the threads that they start
/// would lose their niceness. Linux has honoured the request since version 6.12.
pub fn shorten_slice(length: Duration) -> bool {
    imp::shorten(length)
}

#[cfg(all(target_os = "linux", not(any(loom, miri))))]
mod imp {
    use super::Duration;

    const SIZE: u32 = size_of::<libc::sched_attr>() as u32;
    /// The thread id that stands for the calling thread.
    const SELF: libc::pid_t = 0;
    const NO_FLAGS: u32 = 0;

    pub(super) fn get() -> Option<libc::sched_attr> {
        // SAFETY: sched_attr consists of integers, for which all zeroes is a valid value.
        let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
        let at = &raw mut attributes;
        // SAFETY: `at` is a live, writable sched_attr of SIZE bytes, and the kernel writes at most
        // SIZE bytes.
        let failed = unsafe { libc::syscall(libc::SYS_sched_getattr, SELF, at, SIZE, NO_FLAGS) };
        (failed == 0).then_some(attributes)
    }

    pub(super) fn shorten(length: Duration) -> bool {
        let Some(mut attributes) = get() else {
            return false;
        };
        if attributes.sched_policy != libc::SCHED_OTHER as u32 || attributes.sched_nice < 0 {
            return false;
        }
        attributes.size = SIZE;
        attributes.sched_flags |= libc::SCHED_FLAG_RESET_ON_FORK as u64;
        attributes.sched_runtime = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: `attributes` is a live sched_attr of SIZE bytes that the kernel reads.
        let failed = unsafe {
            libc::syscall(
                libc::SYS_sched_setattr,
                SELF,
                &raw const attributes,
                NO_FLAGS,
            )
        };
        failed == 0
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, miri)))))]
mod imp {
    pub(super) fn shorten(_: super::Duration) -> bool {
        false
    }
}

#[cfg(all(test, target_os = "linux", not(any(loom, miri))))]
mod tests {
    use super::*;

    /// Shortening the slice changes no other attribute, and new threads do not inherit the slice.
    #[test]
    fn shorter_slice_affects_nothing_else() {
        let thread = std::thread::spawn(|| {
            let before = imp::get().expect("Linux tells");
            let length = Duration::from_micros(100);
            if !shorten_slice(length) {
                return;
            }
            let after = imp::get().expect("Linux tells");
            let kept = |a: &libc::sched_attr| (a.sched_policy, a.sched_nice);
            assert_eq!(kept(&after), kept(&before));
            // Kernels before 6.12 accept the value and ignore it.
            assert!([100_000, before.sched_runtime].contains(&after.sched_runtime));
            let started = std::thread::spawn(|| imp::get().expect("Linux tells"));
            let started = started.join().unwrap();
            assert_eq!(kept(&started), kept(&before));
            assert_eq!(started.sched_runtime, before.sched_runtime);
            assert_eq!(started.sched_flags, before.sched_flags);
        });
        thread.join().unwrap();
    }
}
