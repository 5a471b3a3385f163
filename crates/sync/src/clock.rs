//! Time in nanoseconds since some fixed moment of the process.

/// Nanoseconds since the first call; never falls.
///
/// Under loom each reading is a second after the last: whatever spins for a while has spun long enough at its second
/// look, so that models end.
#[must_use]
pub fn now() -> u64 {
    #[cfg(loom)]
    {
        loom::lazy_static! {
            static ref READINGS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        }
        // Relaxed: a count, and loom does not watch it.
        READINGS.fetch_add(1, std::sync::atomic::Ordering::Relaxed) * 1_000_000_000
    }
    #[cfg(not(loom))]
    {
        static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        let nanos = START
            .get_or_init(std::time::Instant::now)
            .elapsed()
            .as_nanos();
        u64::try_from(nanos).unwrap_or(u64::MAX)
    }
}

/// Nanoseconds since 1970 by the clock on the wall, which may be set.
#[must_use]
pub fn wall() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    })
}

/// The processor time that all threads of this process have used, in nanoseconds; 0 where the system does not tell.
#[must_use]
pub fn process_time() -> u64 {
    imp::process_time()
}

#[cfg(all(unix, not(any(loom, miri))))]
mod imp {
    pub(super) fn process_time() -> u64 {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: `time` is live and writable.
        unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
}

#[cfg(not(all(unix, not(any(loom, miri)))))]
mod imp {
    pub(super) fn process_time() -> u64 {
        0
    }
}
