//! Clocks, in nanoseconds.

use std::sync::atomic::{AtomicI32, Ordering};

/// Whether this is WebAssembly without a system, where the standard library's clocks panic.
const HAS_NONE: bool = cfg!(all(target_family = "wasm", target_os = "unknown"));

/// Returns the nanoseconds since the first call. The result never decreases. Where there is no
/// clock, each reading is a microsecond later than the one before, so that no wait for a time lasts
/// for ever.
///
/// Under loom, each reading is one second later than the one before, so that a loop that spins for
/// a limited time ends at its second reading and the model stays finite. In a
/// [simulation](crate::simulation), this is the simulation's time.
#[must_use]
pub fn now() -> u64 {
    #[cfg(loom)]
    {
        loom::lazy_static! {
            static ref READINGS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        }
        // Relaxed: just a counter. Loom does not track it.
        READINGS.fetch_add(1, std::sync::atomic::Ordering::Relaxed) * 1_000_000_000
    }
    #[cfg(not(loom))]
    crate::simulation::now().unwrap_or_else(imp::now)
}

/// Returns the nanoseconds since 1970 by the wall clock. It may jump when the system's time is set.
#[must_use]
pub fn wall() -> u64 {
    if HAS_NONE {
        return 0;
    }
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    })
}

/// Returns the processor time used by all threads of this process, in nanoseconds. 0 if the system
/// does not report it.
#[must_use]
pub fn process_time() -> u64 {
    imp::process_time()
}

/// The processor-time clock of one thread, which the other threads of the process can read.
#[derive(Debug, Default)]
pub struct ThreadClock(AtomicI32);

impl ThreadClock {
    /// Makes this the clock of the calling thread.
    pub fn take(&self) {
        // Relaxed: the clock's id publishes no other data.
        self.0.store(imp::own_clock(), Ordering::Relaxed);
    }

    /// Returns the processor time used by the thread, in nanoseconds. `None` if the system does not
    /// report it, or some time after the thread has ended.
    #[must_use]
    pub fn read(&self) -> Option<u64> {
        // Relaxed: as in `take`. 0 is no thread's clock id.
        let clock = self.0.load(Ordering::Relaxed);
        (clock != 0).then(|| imp::read(clock))?
    }
}

#[cfg(all(target_os = "linux", not(any(loom, miri))))]
mod imp {
    use std::sync::atomic::{AtomicU64, Ordering};

    #[inline]
    pub(super) fn now() -> u64 {
        /// The first reading, or 0 before the first call. This is not a `OnceLock`: a child made by
        /// `fork` while a thread initializes a `OnceLock` would wait for it forever.
        static START: AtomicU64 = AtomicU64::new(0);
        let reading = read(libc::CLOCK_MONOTONIC).unwrap_or(0);
        // Relaxed, here and below: no other data depends on this number.
        let start = match START.load(Ordering::Relaxed) {
            0 => {
                let order = Ordering::Relaxed;
                let first = START.compare_exchange(0, reading.max(1), order, order);
                first.err().unwrap_or(reading)
            }
            start => start,
        };
        // Saturating: this thread may have read the clock before the thread that set `START`.
        reading.saturating_sub(start)
    }

    pub(super) fn process_time() -> u64 {
        read(libc::CLOCK_PROCESS_CPUTIME_ID).unwrap_or(0)
    }

    pub(super) fn read(clock: libc::clockid_t) -> Option<u64> {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: `time` is live and writable. A clock that does not exist results in an error
        // code.
        let failed = unsafe { libc::clock_gettime(clock, &mut time) };
        (failed == 0).then_some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
    }

    pub(super) fn own_clock() -> libc::clockid_t {
        let mut clock = 0;
        // SAFETY: pthread_self has no preconditions.
        let this = unsafe { libc::pthread_self() };
        // SAFETY: the calling thread is alive; `clock` is live and writable.
        let failed = unsafe { libc::pthread_getcpuclockid(this, &mut clock) };
        if failed == 0 { clock } else { 0 }
    }
}

/// The times of Windows advance in steps of up to 15.6 ms.
#[cfg(all(windows, not(any(loom, miri))))]
mod times {
    type Handle = *mut std::ffi::c_void;
    type Time<'a> = &'a mut u64;

    #[link(name = "kernel32")]
    unsafe extern "system" {
        safe fn GetCurrentProcess() -> Handle;
        safe fn GetCurrentProcessId() -> i32;
        safe fn GetCurrentThreadId() -> i32;
        safe fn GetProcessIdOfThread(thread: Handle) -> i32;
        safe fn OpenThread(access: i32, inherit: i32, id: i32) -> Handle;
        fn CloseHandle(handle: Handle) -> i32;
        fn GetProcessTimes(of: Handle, began: Time, ended: Time, kernel: Time, user: Time) -> i32;
        fn GetThreadTimes(of: Handle, began: Time, ended: Time, kernel: Time, user: Time) -> i32;
    }

    const QUERY_LIMITED: i32 = 0x800;

    pub(super) fn process_time() -> u64 {
        let [mut a, mut b, mut kernel, mut user] = [0; 4];
        // SAFETY: the pseudo handle of this process is always valid.
        unsafe { GetProcessTimes(GetCurrentProcess(), &mut a, &mut b, &mut kernel, &mut user) };
        100 * (kernel + user)
    }

    pub(super) fn read(id: i32) -> Option<u64> {
        let thread = OpenThread(QUERY_LIMITED, 0, id);
        if thread.is_null() {
            return None;
        }
        let [mut a, mut b, mut kernel, mut user] = [0; 4];
        // Once a thread has ended, one of another process may get its id.
        let own = GetProcessIdOfThread(thread) == GetCurrentProcessId();
        // SAFETY: the handle was opened just now.
        let known = unsafe { GetThreadTimes(thread, &mut a, &mut b, &mut kernel, &mut user) } != 0;
        // SAFETY: as above, and nobody else has it.
        unsafe { CloseHandle(thread) };
        (own && known).then_some(100 * (kernel + user))
    }

    /// The id stands for the clock: no thread has the id 0.
    pub(super) fn own_clock() -> i32 {
        GetCurrentThreadId()
    }
}

/// Times that this crate does not read.
#[cfg(any(not(any(target_os = "linux", windows)), loom, miri))]
mod times {
    pub(super) fn process_time() -> u64 {
        0
    }

    pub(super) fn read(_: i32) -> Option<u64> {
        None
    }

    pub(super) fn own_clock() -> i32 {
        0
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, miri)))))]
mod imp {
    pub(super) use super::times::{own_clock, process_time, read};

    #[cfg(not(loom))]
    pub(super) fn now() -> u64 {
        use std::sync::atomic::{AtomicU64, Ordering};
        static START: crate::OnceBox<std::time::Instant> = crate::OnceBox::new();
        if super::HAS_NONE {
            static READINGS: AtomicU64 = AtomicU64::new(0);
            // Relaxed: just a counter.
            return 1000 * READINGS.fetch_add(1, Ordering::Relaxed);
        }
        let start = START.get_or_init(std::time::Instant::now);
        u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(all(test, any(target_os = "linux", windows), not(any(loom, miri))))]
mod tests {
    use super::*;

    #[test]
    fn other_threads_can_read_the_clock() {
        let clock = ThreadClock::default();
        assert_eq!(clock.read(), None);
        clock.take();
        let before = clock.read().unwrap();
        while clock.read() == Some(before) {}
        let seen = std::thread::scope(|scope| scope.spawn(|| clock.read()).join().unwrap());
        assert!(seen.unwrap() > before);
        // A thread's clock disappears soon after the thread has ended, and does not advance in
        // between.
        std::thread::scope(|scope| _ = scope.spawn(|| clock.take()).join());
        let _ = clock.read();
    }
}
