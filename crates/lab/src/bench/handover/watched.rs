//! A busy pool that records when each of its workers began and ended tasks.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle, ThreadId};
use std::time::{Duration, Instant};

use tidegate::Pool;

pub const TASK: Duration = Duration::from_micros(50);

/// The number of tasks between two checks of the stop flag.
const BATCH: usize = 1024;

/// A pool that runs tasks, and a log of these tasks. Dropping the value stops them.
pub struct Watched {
    stop: Arc<AtomicBool>,
    log: Arc<Log>,
    driver: Option<JoinHandle<()>>,
}

/// A worker that begins no task for this long counts as stopped.
const PAUSE: Duration = Duration::from_millis(2);

/// When a worker's tasks began and ended since the last [`mark`](Watched::mark).
#[derive(Clone, Copy)]
struct Seen {
    first_start: Instant,
    last_end: Instant,
    /// When the worker first stopped: the end of its last task before an idle gap longer than
    /// [`PAUSE`].
    stopped: Option<Instant>,
}

#[derive(Default)]
struct Log(Mutex<HashMap<ThreadId, Seen>>);

impl Log {
    fn note(&self, start: Instant, end: Instant) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = Seen {
            first_start: start,
            last_end: end,
            stopped: None,
        };
        let seen = seen.entry(thread::current().id()).or_insert(first);
        if start.duration_since(seen.last_end) > PAUSE {
            seen.stopped.get_or_insert(seen.last_end);
        }
        seen.last_end = end;
    }
}

pub fn compute(length: Duration) {
    let start = Instant::now();
    while start.elapsed() < length {
        (0..100_u32).for_each(|number| {
            black_box(number);
        });
    }
}

impl Watched {
    /// Runs tasks on `pool` until the returned value is dropped.
    pub fn start(pool: Pool) -> Self {
        let (stop, log) = (Arc::new(AtomicBool::new(false)), Arc::new(Log::default()));
        let (stopped, notes) = (stop.clone(), log.clone());
        let driver = thread::spawn(move || {
            // Relaxed: the flag publishes no other data.
            while !stopped.load(Ordering::Relaxed) {
                pool.install(|| {
                    tidegate::for_each(0..BATCH, |_| {
                        let start = Instant::now();
                        compute(TASK);
                        notes.note(start, Instant::now());
                    });
                });
            }
        });
        Self {
            stop,
            log,
            driver: Some(driver),
        }
    }

    pub fn mark(&self) -> Instant {
        self.log
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        Instant::now()
    }

    fn seen(&self) -> Vec<Seen> {
        let seen = self.log.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.values().copied().collect()
    }

    /// Returns the time from `mark` until a second worker began a task.
    pub fn second_start(&self, mark: Instant) -> Option<Duration> {
        let mut starts: Vec<Instant> = self.seen().iter().map(|seen| seen.first_start).collect();
        starts.sort();
        starts.get(1)?.checked_duration_since(mark)
    }

    /// Returns the time from `mark` until the first worker stopped, which is when that worker's
    /// last task ended.
    pub fn first_stop(&self, mark: Instant) -> Option<Duration> {
        let now = Instant::now();
        let stop = |seen: &Seen| {
            let since_end = now.duration_since(seen.last_end);
            seen.stopped
                .or((since_end > PAUSE).then_some(seen.last_end))
        };
        self.seen()
            .iter()
            .filter_map(stop)
            .min()?
            .checked_duration_since(mark)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // Relaxed: the flag publishes no other data.
        self.stop.store(true, Ordering::Relaxed);
        if let Some(driver) = self.driver.take() {
            let _ = driver.join();
        }
    }
}

/// When each thread began its first task, as the time since a common start.
#[derive(Default)]
pub struct Firsts(Mutex<HashMap<ThreadId, Duration>>);

impl Firsts {
    /// Records that the calling thread begins a task at time `at`.
    pub fn note(&self, at: Duration) {
        let mut firsts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        firsts.entry(thread::current().id()).or_insert(at);
    }

    /// Returns when the last thread began its first task. `None` if fewer than `count` threads have
    /// begun.
    pub fn last(&self, count: usize) -> Option<Duration> {
        let firsts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = firsts.values().copied().max();
        last.filter(|_| firsts.len() >= count)
    }
}
