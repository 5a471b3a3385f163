//! A pool's declared memory as data: the totals, the rule that decides on requests, and flags that
//! other modules read without the rule's lock.

use super::ordered::Ordered;
use super::sleepers::Sleepers;
use crate::allocator;
use crate::stats::MemoryStats;
use tidegate_policy::MemoryPolicy;
use tidegate_policy::trace::{Source, Stream, StreamRecorder};
use tidegate_sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use tidegate_sync::lock::{Mutex, MutexGuard};

pub(crate) struct Memory<E> {
    /// The sum of all reservations in bytes; 0 if the pool has a plan, which counts them itself.
    declared: AtomicU64,
    /// The maximum of `declared` so far.
    peak: AtomicU64,
    sleeps: AtomicU64,
    rule: Rule<E>,
    // The remaining fields copy the rule's state. They are written under the rule's lock, and read
    // without it.
    /// Whether the rule has a task or a sleeper that could use a free slot.
    work: AtomicBool,
    /// How many tasks in the plan have not begun.
    unstarted: AtomicUsize,
    /// Whether the last rescue found no task to begin, and the plan has not changed since.
    in_vain: AtomicBool,
    /// Whether tasks are parked. Parked tasks have their own threads.
    parked: AtomicBool,
}

enum Rule<E> {
    /// Grants every request.
    Free,
    Hybrid(Mutex<Sleepers<E>>),
    Ordered(Box<Mutex<Ordered<E>>>),
}

impl<E: Clone> Memory<E> {
    /// Creates the memory state of a pool with this policy. `recorder` records the plan's commands,
    /// and `event` creates an event for which the calling thread will sleep.
    pub(crate) fn new(
        memory: MemoryPolicy,
        workers: usize,
        recorder: Option<StreamRecorder>,
        event: fn() -> E,
    ) -> Self {
        let rule = match (Ordered::new(memory, workers, recorder, event), memory) {
            (Some(ordered), _) => Rule::Ordered(Box::new(Mutex::new(ordered))),
            (None, MemoryPolicy::Hybrid(policy)) => {
                Rule::Hybrid(Mutex::new(Sleepers::new(policy, workers)))
            }
            (None, _) => Rule::Free,
        };
        Self {
            declared: AtomicU64::new(0),
            peak: AtomicU64::new(0),
            sleeps: AtomicU64::new(0),
            rule,
            work: AtomicBool::new(false),
            unstarted: AtomicUsize::new(0),
            in_vain: AtomicBool::new(false),
            parked: AtomicBool::new(false),
        }
    }

    /// Whether the rule keeps the depth-first order. If so, the rule holds every forked task that
    /// has not begun.
    pub(crate) fn is_ordered(&self) -> bool {
        matches!(self.rule, Rule::Ordered(_))
    }

    pub(crate) fn ordered(&self) -> Option<MutexGuard<'_, Ordered<E>>> {
        match &self.rule {
            Rule::Ordered(ordered) => Some(ordered.lock()),
            Rule::Free | Rule::Hybrid(_) => None,
        }
    }

    pub(crate) fn sleepers(&self) -> Option<MutexGuard<'_, Sleepers<E>>> {
        match &self.rule {
            Rule::Hybrid(sleepers) => Some(sleepers.lock()),
            Rule::Free | Rule::Ordered(_) => None,
        }
    }

    /// Returns the plan's commands and replies, if they are recorded.
    #[inline]
    pub(crate) fn trace(&self) -> Option<Stream> {
        let ordered = self.ordered()?;
        let recorder = ordered.recorder()?;
        Some(recorder.borrow().stream(Source::Plan))
    }

    /// Whether the rule has a task or a sleeper that could use a free slot.
    pub(crate) fn has_work(&self) -> bool {
        // Acquire pairs with `mirror`. In addition, a fence precedes a sleeper's last look.
        self.work.load(Ordering::Acquire)
    }

    /// Whether a rescue could find a task to begin in the plan.
    pub(crate) fn can_rescue(&self) -> bool {
        // Relaxed: a thread that reads a stale value looks once more, and a thread that changed the
        // plan looks for work itself.
        self.has_work() && !self.in_vain.load(Ordering::Relaxed)
    }

    /// Whether a parked task could resume.
    pub(crate) fn has_parked(&self) -> bool {
        // Relaxed: as in `can_rescue`.
        self.parked.load(Ordering::Relaxed)
    }

    /// How many tasks in the plan have not begun; may be slightly out of date.
    pub(crate) fn unstarted(&self) -> usize {
        // Relaxed: only used for estimates.
        self.unstarted.load(Ordering::Relaxed)
    }

    /// Ends a change of the plan. Returns the events of the threads whose requests it answers, and
    /// whether it has made work available where there was none before.
    pub(crate) fn settle(&self, mut ordered: MutexGuard<'_, Ordered<E>>) -> (Vec<E>, bool) {
        let answered = ordered.settle();
        let rises = self.mirror_plan(&mut ordered);
        (answered, rises)
    }

    /// Changes the number of slots.
    pub(crate) fn set_workers(&self, workers: usize) {
        if let Some(mut ordered) = self.ordered() {
            ordered.set_workers(workers);
            // The result is not needed, because the caller looks for a thread to wake in any case.
            let _ = self.mirror_plan(&mut ordered);
        }
    }

    /// Publishes the plan's state. Returns whether work is now available where there was none
    /// before.
    fn mirror_plan(&self, ordered: &mut Ordered<E>) -> bool {
        let mirrors = [
            (&self.in_vain, ordered.in_vain),
            (&self.parked, ordered.has_parked()),
        ];
        for (word, value) in mirrors {
            // Relaxed, both: as in `can_rescue`. Each word is stored only if its value changes, as
            // in `mirror`.
            if word.load(Ordering::Relaxed) != value {
                word.store(value, Ordering::Relaxed);
            }
        }
        self.mirror(ordered.has_work(), ordered.unstarted())
    }

    /// Publishes whether there is work and how many tasks have not begun; called under the rule's
    /// lock. Returns whether work is now available where there was none before.
    pub(crate) fn mirror(&self, work: bool, unstarted: usize) -> bool {
        // Relaxed: as in `unstarted`.
        self.unstarted.store(unstarted, Ordering::Relaxed);
        // Relaxed: written under the rule's lock. The word is stored only if its value changes,
        // because many threads read it.
        let changes = self.work.load(Ordering::Relaxed) != work;
        if changes {
            // Release pairs with `has_work`.
            self.work.store(work, Ordering::Release);
        }
        changes && work
    }

    pub(crate) fn count_sleep(&self) {
        // Relaxed: a statistic.
        self.sleeps.fetch_add(1, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn stats(&self) -> MemoryStats {
        // Relaxed, all: for statistics.
        let read = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let (declared, peak) = match self.ordered() {
            Some(ordered) => (ordered.book().declared(), ordered.book().peak()),
            None => (read(&self.declared), read(&self.peak)),
        };
        MemoryStats {
            declared,
            peak,
            sleeps: read(&self.sleeps),
        }
    }

    pub(crate) fn declare(&self, bytes: u64) {
        allocator::declare(bytes);
        if self.is_ordered() {
            // The plan has already counted the bytes.
            return;
        }
        // Relaxed, all: the sum orders nothing else.
        let before = self.declared.fetch_add(bytes, Ordering::Relaxed);
        let now = before.saturating_add(bytes);
        if now > self.peak.load(Ordering::Relaxed) {
            // Relaxed: as above.
            self.peak.fetch_max(now, Ordering::Relaxed);
        }
    }

    pub(crate) fn undeclare(&self, bytes: u64) {
        allocator::undeclare(bytes);
        if !self.is_ordered() {
            // Relaxed: as in `declare`.
            self.declared.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}
