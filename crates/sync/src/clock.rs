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
