//! What a pool knows of its declared memory.

use super::error::LeaseError;
use super::ordered::Ordered;
use super::sleepers::Sleepers;
use crate::allocator;
use crate::options::Options;
use crate::pool::PoolInner;
use crate::space::ordered;
use crate::space::sleepers;
use crate::trace::{Source, Stream};
use crate::worker::WorkerThread;
use std::panic::Location;
use tidegate_policy::Space;
use tidegate_policy::space::book;
use tidegate_sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use tidegate_sync::lock::{Mutex, MutexGuard};

/// The declared memory of a pool, and who decides about it.
pub(crate) struct Memory {
    declared: AtomicU64,
    peak: AtomicU64,
    sleeps: AtomicU64,
    rule: Rule,
    /// Mirror of the rule: whether a free slot could be used for what it knows.
    work: AtomicBool,
    /// The same: how many tasks lie there that nobody has begun.
    unstarted: AtomicUsize,
    /// The same: whether a thread on which all wait has found nothing to begin, and nothing has changed since.
    in_vain: AtomicBool,
    /// The same: whether tasks are parked, which have threads of their own to go on.
    parked: AtomicBool,
}

enum Rule {
    /// Whoever asks is granted.
    Free,
    Hybrid(Mutex<Sleepers>),
    Ordered(Box<Mutex<Ordered>>),
}

/// So much of a lease, as it was granted.
pub(crate) struct Part {
    bytes: u64,
    /// Its name where the order is kept.
    lease: Option<book::Lease>,
}

impl Memory {
    /// That of a pool with these options.
    pub(crate) fn new(options: &Options) -> Self {
        let &Options { space, workers, .. } = options;
        let rule = match (Ordered::of(options), space) {
            (Some(ordered), _) => Rule::Ordered(Box::new(Mutex::new(ordered))),
            (None, Space::Hybrid(policy)) => {
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

    /// Whether the rule keeps the depth-first order, and so has the tasks that nobody has begun.
    pub(crate) fn is_ordered(&self) -> bool {
        matches!(self.rule, Rule::Ordered(_))
    }

    pub(crate) fn ordered(&self) -> Option<MutexGuard<'_, Ordered>> {
        match &self.rule {
            Rule::Ordered(ordered) => Some(ordered.lock()),
            Rule::Free | Rule::Hybrid(_) => None,
        }
    }

    pub(crate) fn sleepers(&self) -> Option<MutexGuard<'_, Sleepers>> {
        match &self.rule {
            Rule::Hybrid(sleepers) => Some(sleepers.lock()),
            Rule::Free | Rule::Ordered(_) => None,
        }
    }

    /// What the plan was asked, if notes are taken.
    pub(crate) fn trace(&self) -> Option<Stream> {
        let ordered = self.ordered()?;
        let notes = ordered.notes()?;
        Some(notes.borrow().stream(Source::Plan))
    }

    /// Whether a free slot could be used for a task or sleeper that the rule has.
    pub(crate) fn has_work(&self) -> bool {
        // Acquire pairs with `mirror`; before a sleeper's last look there is a fence, too.
        self.work.load(Ordering::Acquire)
    }

    /// Whether a thread on which all wait could use a slot for what the rule has.
    pub(crate) fn can_rescue(&self) -> bool {
        // Relaxed: who finds out too late looks once more, and who has changed something looks for work himself.
        self.has_work() && !self.in_vain.load(Ordering::Relaxed)
    }

    /// Whether somebody could go on who has a thread.
    pub(crate) fn has_parked(&self) -> bool {
        // Relaxed: as in `can_rescue`.
        self.parked.load(Ordering::Relaxed)
    }

    /// Says both; under the rule's lock.
    pub(super) fn mirror_waiters(&self, in_vain: bool, parked: bool) {
        for (word, value) in [(&self.in_vain, in_vain), (&self.parked, parked)] {
            // Relaxed, both: as in `can_rescue`. Only when it changes, as in `mirror`.
            if word.load(Ordering::Relaxed) != value {
                word.store(value, Ordering::Relaxed);
            }
        }
    }

    /// How many tasks lie in the plan, a little late.
    pub(crate) fn unstarted(&self) -> usize {
        // Relaxed: for estimates.
        self.unstarted.load(Ordering::Relaxed)
    }

    /// Says whether there is work, and how many tasks; under the rule's lock. Whether there was none before.
    pub(super) fn mirror(&self, work: bool, unstarted: usize) -> bool {
        // Relaxed: as in `unstarted`.
        self.unstarted.store(unstarted, Ordering::Relaxed);
        // Relaxed: written under the rule's lock. Only when it changes: many read it.
        let changes = self.work.load(Ordering::Relaxed) != work;
        if changes {
            // Release pairs with `has_work`.
            self.work.store(work, Ordering::Release);
        }
        changes && work
    }

    pub(super) fn count_sleep(&self) {
        // Relaxed: a count.
        self.sleeps.fetch_add(1, Ordering::Relaxed);
    }

    /// How much is declared, the most that it was, and how often somebody has slept for it.
    pub(crate) fn figures(&self) -> (u64, u64, u64) {
        // Relaxed, all: figures for people.
        let [declared, peak, sleeps] =
            [&self.declared, &self.peak, &self.sleeps].map(|word| word.load(Ordering::Relaxed));
        match self.ordered() {
            Some(ordered) => (ordered.book().declared(), ordered.book().peak(), sleeps),
            None => (declared, peak, sleeps),
        }
    }

    fn declare(&self, bytes: u64) {
        allocator::declare(bytes);
        if self.is_ordered() {
            // The book has it.
            return;
        }
        // Relaxed, all: a sum by itself.
        let before = self.declared.fetch_add(bytes, Ordering::Relaxed);
        let now = before.saturating_add(bytes);
        if now > self.peak.load(Ordering::Relaxed) {
            // Relaxed: as above.
            self.peak.fetch_max(now, Ordering::Relaxed);
        }
    }

    fn undeclare(&self, bytes: u64) {
        allocator::undeclare(bytes);
        if !self.is_ordered() {
            // Relaxed: as in `declare`.
            self.declared.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

/// Asks for so many bytes, and waits for them. Nothing is charged for none.
pub(super) fn lease(
    worker: WorkerThread<'_>,
    bytes: usize,
    at: &'static Location<'static>,
) -> Result<Option<Part>, LeaseError> {
    if isize::try_from(bytes).is_err() {
        return Err(LeaseError::TooLarge { bytes });
    }
    if bytes == 0 {
        return Ok(None);
    }
    let bytes = bytes as u64;
    let memory = &worker.shared().memory;
    let lease = match &memory.rule {
        Rule::Free => None,
        Rule::Hybrid(_) => {
            sleepers::sleep_off(worker, bytes);
            None
        }
        Rule::Ordered(_) => Some(ordered::ask(worker, bytes, at)?),
    };
    memory.declare(bytes);
    Ok(Some(Part { bytes, lease }))
}

/// A part of a lease is over.
pub(super) fn give_back(pool: &PoolInner, part: Part) {
    if pool.is_inherited() {
        return;
    }
    pool.memory.undeclare(part.bytes);
    if let Some(lease) = part.lease {
        let thread = WorkerThread::of(pool).map(|current| current.index);
        ordered::with_ordered(pool, |ordered| ordered.give_back(thread, lease, part.bytes));
    }
}
