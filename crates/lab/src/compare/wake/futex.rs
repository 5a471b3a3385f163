//! The lower bound of a wake-up: one thread sleeps in a futex, another wakes it and keeps
//! computing.
//!
//! The two threads are bound to different processors, so that the kernel's placement plays no part.
//! Without futexes, or with only one processor, there is nothing to measure.

use super::Lane;
use tidegate_command::failure::Failure;

/// The name of the case.
const CASE: &str = "wake of a bare futex";

/// The name in the column of runtimes.
const FUTEX: &str = "futex";

/// The lane of the bare futex.
#[cfg(target_os = "linux")]
pub(super) fn lane() -> Result<Lane<'static>, Failure> {
    use super::{Measurement, PAUSE, Usage, compute};
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

/// The lane of the bare futex on a system without futexes.
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
    use tidegate_command::affinity::{allowed, bind, bind_to};

    /// Two threads on two processors. The sleeper ends when this is dropped.
    pub(super) struct Pair {
        shared: Arc<Shared>,
        waker_cpu: usize,
        sleeper: Option<JoinHandle<()>>,
    }

    struct Shared {
        /// The futex. The waker changes its value from [`ASLEEP`], and the sleeper sets it back.
        word: AtomicU32,
        /// When the sleeper last woke up, in nanoseconds after `start`; 0 until then.
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

        /// Sleeps and records each time it is woken, until the pair is dropped.
        fn sleep(&self) {
            loop {
                // Acquire pairs with the Release in `wake`.
                match self.word.load(Ordering::Acquire) {
                    ASLEEP => {
                        // After any return, the loop checks the word again, so spurious wake-ups
                        // are harmless.
                        let _ = futex::wait(&self.word, futex::Flags::PRIVATE, ASLEEP, None);
                    }
                    WOKEN => {
                        let now = self.now();
                        // Relaxed: the Release below publishes it.
                        self.word.store(ASLEEP, Ordering::Relaxed);
                        // Release pairs with the Acquire in `time_to_wake`.
                        self.woken.store(now, Ordering::Release);
                    }
                    _ => return,
                }
            }
        }

        /// Wakes the sleeper, computes until the sleeper runs, and returns how many nanoseconds
        /// that took.
        fn time_to_wake(&self) -> f64 {
            // Relaxed: the Release in `wake` publishes it.
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
            // This fails only if the address is bad.
            let _ = futex::wake(&self.word, futex::Flags::PRIVATE, 1);
        }
    }

    impl Pair {
        /// Starts the sleeper on the second processor that this thread may use. Returns `None` if
        /// there is only one.
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
            // A new thread inherits the affinity of its creator.
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

        /// Runs `computing` while the sleeper sleeps, then wakes the sleeper and returns how many
        /// nanoseconds that took.
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
                // This thread never panics, so there is no error to report.
                let _ = thread.join();
            }
        }
    }

    /// Runs `work` on one processor, then restores the thread's affinity.
    fn bound_to<T>(cpu: usize, allowed: &CpuSet, work: impl FnOnce() -> T) -> Result<T, Failure> {
        bind_to(cpu)?;
        let result = work();
        bind(allowed)?;
        Ok(result)
    }
}
