//! A lower bound for wake-ups: one thread sleeps in a futex, and another one wakes it and keeps
//! computing.
//!
//! The two threads are bound to different processors, so that the kernel's choice of processors has
//! no influence. On a system without futexes, or with only one processor, there is nothing to
//! measure.

use super::Lane;
use tidegate_cli_support::failure::Failure;

const CASE: &str = "wake of a bare futex";

/// The name in the `runtime` column.
const FUTEX: &str = "futex";

#[cfg(target_os = "linux")]
pub(super) fn lane() -> Result<Lane<'static>, Failure> {
    use super::{Measurement, PAUSE, compute};
    use tidegate_cli_support::usage::Usage;
    let Some(pair) = linux::Pair::start()? else {
        return Ok(Lane::not_applicable(CASE, FUTEX, 2));
    };
    let take = move || {
        let (used, nanos) = Usage::of(|| pair.wake_after(|| compute(PAUSE)));
        let nanos = nanos?;
        Ok(Measurement { nanos, used })
    };
    Ok(Lane::new(CASE, FUTEX, 2, take))
}

/// Returns a lane without samples, because this case uses Linux's futexes.
#[cfg(not(target_os = "linux"))]
pub(super) fn lane() -> Result<Lane<'static>, Failure> {
    Ok(Lane::not_applicable(CASE, FUTEX, 2))
}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
    use std::thread::{self, JoinHandle};
    use std::time::Instant;

    use rustix::thread::{CpuSet, futex};

    use super::Failure;
    use tidegate_cli_support::affinity::{allowed, bind, bind_to};

    /// A waker and a sleeper on two processors. Dropping the pair ends the sleeper.
    pub(super) struct Pair {
        shared: Arc<Shared>,
        waker_cpu: usize,
        sleeper: Option<JoinHandle<()>>,
    }

    struct Shared {
        /// The word that the sleeper waits on. The waker changes it from [`ASLEEP`] to another
        /// value, and the sleeper sets it back.
        word: AtomicU32,
        /// When the sleeper woke up, in nanoseconds after `start`. The waker sets this to 0 before
        /// each wake-up.
        woken: AtomicU64,
        start: Instant,
    }

    const ASLEEP: u32 = 0;
    const WOKEN: u32 = 1;
    const ENDING: u32 = 2;

    impl Shared {
        fn now(&self) -> u64 {
            self.start.elapsed().as_nanos() as u64
        }

        /// Sleeps again and again, and records each wake-up, until the pair is dropped.
        fn sleep(&self) {
            loop {
                // Acquire pairs with the Release in `wake`.
                match self.word.load(Ordering::Acquire) {
                    ASLEEP => {
                        // The loop then checks the word again, so a spurious wake-up is harmless.
                        let _ = futex::wait(&self.word, futex::Flags::PRIVATE, ASLEEP, None);
                    }
                    WOKEN => {
                        let now = self.now();
                        // Relaxed: the Release below publishes this store.
                        self.word.store(ASLEEP, Ordering::Relaxed);
                        // Release pairs with the Acquire in `time_to_wake`.
                        self.woken.store(now, Ordering::Release);
                    }
                    _ => return,
                }
            }
        }

        /// Wakes the sleeper, spins until the sleeper runs, and returns how many nanoseconds that
        /// took.
        fn time_to_wake(&self) -> f64 {
            // Relaxed: the Release in `wake` publishes this store.
            self.woken.store(0, Ordering::Relaxed);
            let start = self.now();
            self.wake(WOKEN);
            loop {
                // Acquire pairs with the Release in `sleep`.
                match self.woken.load(Ordering::Acquire) {
                    0 => std::hint::spin_loop(),
                    woken => return woken.saturating_sub(start) as f64,
                }
            }
        }

        fn wake(&self, word: u32) {
            // Release pairs with the Acquire in `sleep`.
            self.word.store(word, Ordering::Release);
            // This fails only if the address is invalid.
            let _ = futex::wake(&self.word, futex::Flags::PRIVATE, 1);
        }
    }

    impl Pair {
        /// Starts the sleeper on the second processor that this thread may use. Returns `None` if
        /// this thread may use only one.
        pub(super) fn start() -> Result<Option<Self>, Failure> {
            let allowed = allowed()?;
            let mut cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
            let (Some(waker), Some(sleeper)) = (cpus.next(), cpus.next()) else {
                return Ok(None);
            };
            let shared = Arc::new(Shared {
                word: AtomicU32::new(ASLEEP),
                woken: AtomicU64::new(0),
                start: Instant::now(),
            });
            // A new thread inherits its creator's affinity.
            let thread = bound_to(sleeper, &allowed, || {
                let shared = shared.clone();
                thread::spawn(move || shared.sleep())
            })?;
            Ok(Some(Self {
                shared,
                waker_cpu: waker,
                sleeper: Some(thread),
            }))
        }

        /// Calls `computing` while the sleeper sleeps, then wakes the sleeper and returns how many
        /// nanoseconds the wake-up took.
        pub(super) fn wake_after(&self, computing: impl FnOnce()) -> Result<f64, Failure> {
            let before = allowed()?;
            bound_to(self.waker_cpu, &before, || {
                computing();
                self.shared.time_to_wake()
            })
        }
    }

    impl Drop for Pair {
        fn drop(&mut self) {
            self.shared.wake(ENDING);
            if let Some(thread) = self.sleeper.take() {
                // The sleeper never panics, so there is no error to report.
                let _ = thread.join();
            }
        }
    }

    /// Runs `work` on one processor, then restores the thread's affinity to `allowed`.
    fn bound_to<T>(cpu: usize, allowed: &CpuSet, work: impl FnOnce() -> T) -> Result<T, Failure> {
        bind_to(cpu)?;
        let result = work();
        bind(allowed)?;
        Ok(result)
    }
}
