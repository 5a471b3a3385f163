//! Takes tasks out of another worker's deque and queues.

use super::alt;
use super::flags::Flags;
use super::watch;
use super::{Worker, WorkerThread};
use crate::job::{HalfHeader, Header, Task};
use crate::latch::State;
use crate::sleep::wake;
use crate::sources::Queue;
use crate::sources::alt_queue::Cursors;
use std::cell::Cell;
use std::ptr::NonNull;
use tidegate_deque::split::Gen;
use tidegate_deque::{Miss, Steal};
use tidegate_policy::trace::Thief;
use tidegate_policy::tunables::STEAL_RETRIES;

impl WorkerThread<'_> {
    /// Takes the youngest of this worker's tasks.
    #[inline]
    pub(super) fn own_task(self) -> Option<Task> {
        let own = self.pop(0).or_else(|| alt::take(self));
        own.or_else(|| self.stolen_batch.pop_last())
    }

    pub(super) fn attempt(self, victim: &Worker, flags: &mut Flags) -> Option<Task> {
        for _ in 0..=STEAL_RETRIES.default {
            self.tally.attempts.add(1);
            if self.pool().options.counts_lengths() {
                self.tally.lengths_seen.add(victim.deque.waiting());
            }
            let (got, youngest, older) = self.take_batch(victim);
            match got {
                Steal::Success(k) => {
                    flags.answered(victim);
                    watch::stole(self, victim, k);
                    if !older.is_empty() {
                        older.into_iter().for_each(|task| self.keep_in_batch(task));
                        // While this worker held these tasks, the last look of a worker that was
                        // about to sleep could not see them.
                        wake::work_visible(self.pool(), Some(self.worker()));
                    }
                    return youngest;
                }
                Steal::Lost => self.tally.failed_busy.add(1),
                Steal::Empty => {
                    match steal_beside_deque(victim, &mut flags.beside) {
                        Ok(task) => {
                            watch::stole(self, victim, 1);
                            return Some(task);
                        }
                        Err(Miss::Lost) => {
                            self.tally.failed_busy.add(1);
                            continue;
                        }
                        Err(Miss::Empty) => {}
                    }
                    let busy = victim.victim.is_busy.get() || victim.deque.has_private();
                    if busy {
                        self.tally.failed_busy.add(1);
                    } else {
                        self.tally.failed_empty.add(1);
                    }
                    if !busy || !flags.press(self.pool(), victim) {
                        return None;
                    }
                }
            }
        }
        None
    }

    /// Steals as many tasks as the pool's `StealAmount` says. Returns the youngest task, and the
    /// others.
    fn take_batch(self, victim: &Worker) -> (Steal, Option<Task>, Vec<Task>) {
        let mut youngest = None;
        let older = Cell::new(Vec::new());
        let usual = self.pool().options.amount;
        let rule = victim.amount(usual);
        let amount = |waiting| {
            let amount = if rule == usual {
                Thief::take(&self.notes, rule, || waiting)
            } else {
                // A replay would ask the usual rule.
                rule.take(waiting as usize)
            };
            // Allocated before the theft: after it, the victim may have to wait for us.
            older.set(Vec::with_capacity(amount.saturating_sub(1)));
            amount as u64
        };
        let got = steal_from(victim, amount, None, |task| {
            task.count();
            let mut tasks = older.take();
            tasks.extend(youngest.replace(task));
            older.set(tasks);
        });
        (got, youngest, older.into_inner())
    }

    /// Takes a half out of the queue that its latch names, if no thread has begun the half.
    pub(super) fn take_unbegun_half(self, half: &HalfHeader) -> Option<Task> {
        self.queue_of(half)?.take(half)
    }

    /// Returns the queue that the half's latch names. A thread may have taken the half out of it,
    /// and not yet have recorded that in the latch.
    pub(crate) fn queue_of(&self, half: &HalfHeader) -> Option<&Queue> {
        match half.latch.state() {
            State::Kept(keeper) => Some(&self.pool().worker(keeper).stolen_batch),
            State::Queued => Some(&self.pool().sources.injector),
            State::New | State::Taken(_) | State::Open => None,
        }
    }

    /// Keeps an older task of a batch while the youngest one runs. The task does not go to the
    /// deque: there it would be below the descendants of the running task, and hide them from the
    /// workers that wait for them.
    pub(crate) fn keep_in_batch(self, task: Task) {
        let joiner = self
            .stolen_batch
            .push_named(task, |latch| latch.set_keeper(self.index));
        wake::wake_joiner(self.pool(), joiner);
    }
}

pub(crate) fn steal_from(
    victim: &Worker,
    amount: impl FnOnce(u64) -> u64,
    only: Option<Gen>,
    mut sink: impl FnMut(Task),
) -> Steal {
    // SAFETY: every entry of a deque is a live task, and the deque hands each to one taker.
    let sink = |header: NonNull<Header>| sink(unsafe { Task::from_raw(header) });
    victim.deque.steal(amount, only, sink)
}

/// Takes a task that the victim keeps outside its deque: the rest of a stolen batch, or a task in
/// the alternative queue.
pub(super) fn steal_beside_deque(victim: &Worker, cursors: &mut Cursors) -> Result<Task, Miss> {
    match victim.stolen_batch.pop() {
        Some(task) => Ok(task),
        None => alt::steal(victim, cursors),
    }
}

/// Takes the oldest task that a worker offers, in its deque or outside it.
pub(crate) fn steal_oldest(victim: &Worker) -> Option<Task> {
    loop {
        let (got, oldest) = steal_one(victim, None);
        // If another thief won the race, there may be more tasks.
        if got != Steal::Lost {
            return oldest.or_else(|| steal_beside_deque(victim, &mut Cursors::default()).ok());
        }
    }
}

/// Takes the oldest task of this worker, as a thief would. Tasks that the worker's queue does not
/// give to thieves come last.
pub(crate) fn steal_own(worker: WorkerThread<'_>) -> Option<Task> {
    steal_oldest(worker.worker()).or_else(|| alt::take_away(worker))
}

/// Takes the oldest task out of another worker's deque.
pub(crate) fn steal_one(victim: &Worker, only: Option<Gen>) -> (Steal, Option<Task>) {
    let mut oldest = None;
    let got = steal_from(
        victim,
        |_| 1,
        only,
        |task| {
            task.count();
            oldest = Some(task);
        },
    );
    (got, oldest)
}
