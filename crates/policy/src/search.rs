//! Rules for the search for work: how many workers search, how often they may disturb other
//! workers, and how long a thread waits for a slot.
//!
//! Each rule is a function of numbers that the runtime has at hand; the adjustable numbers are
//! [`tunables`](crate::tunables). The runtime counts the searching workers, remembers the time of
//! the last flag and wakes the threads.

pub(crate) mod tunables;

use crate::Nanos;
use crate::share::tunables::PREEMPTED_GRACE_MAX;
use tunables::{
    EXPOSURE_GAP, FLAG_GAP_MAX, FLAG_GAP_MIN, FLAG_PATIENCE, LONG_YIELD, OWED_GRACE,
    PREEMPTED_GRACE, REGRETTED_STEAL_WORTH, REVERSE_SEARCH, SHARED_FOR, STEAL_WORTH, WAIT_SEARCH,
    WAIT_SPIN,
};

/// Where a worker without a task may find one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Tasks placed at the places of this worker, smallest place first.
    OwnPlaces,
    /// The pool's injector.
    Injector,
    /// The queues of the scopes.
    ScopeQueues,
    /// Tasks placed strictly at a place that no worker can join, because all slots are held.
    UnservedPlaces,
    /// The memory plan, which knows every task that has not started.
    Plan,
    /// The deques of workers at other places that run a task of this worker's place: that task may
    /// have forked more tasks.
    TakersOfOwn,
    /// The deques of the other workers.
    Victims,
    /// Tasks placed at other places, nearest place first.
    OtherPlaces,
}

/// Returns the sources in the order in which a worker without a task checks them. `placed` means
/// that tasks were put at places or run far from their own place. `planned` means that the memory
/// plan keeps the tasks, so the deques are empty.
#[must_use]
pub const fn sources(placed: bool, planned: bool) -> &'static [Source] {
    use Source::{
        Injector, OtherPlaces, OwnPlaces, Plan, ScopeQueues, TakersOfOwn, UnservedPlaces, Victims,
    };
    match (placed, planned) {
        (false, false) => &[Injector, ScopeQueues, Victims],
        (true, false) => &[
            OwnPlaces,
            Injector,
            ScopeQueues,
            UnservedPlaces,
            TakersOfOwn,
            Victims,
            OtherPlaces,
        ],
        (false, true) => &[Injector, ScopeQueues, Plan],
        (true, true) => &[
            OwnPlaces,
            Injector,
            ScopeQueues,
            UnservedPlaces,
            Plan,
            OtherPlaces,
        ],
    }
}

/// Returns whether a worker's search checks its sources in reverse order ([`REVERSE_SEARCH`]).
/// `search` is the number of the worker's search, counted from 1.
#[must_use]
pub const fn searches_in_reverse(search: u64) -> bool {
    search % REVERSE_SEARCH.default as u64 == 0
}

/// Returns how many workers may search at once while `active` workers hold slots: half of them, but
/// at least four, or all if there are fewer.
///
/// More searchers would find little more, and would contend for the other workers' cache lines. In
/// a small pool, rejecting a searcher costs more than such contention: the worker parks, and every
/// burst of work must wake it again, which takes longer than a burst of some 10 us.
#[must_use]
pub const fn max_searchers(active: usize) -> usize {
    match active {
        0 => 1,
        1..=4 => active,
        5..=8 => 4,
        _ => active / 2,
    }
}

/// Returns whether a worker that has found or published work should wake a sleeping worker, if
/// there is one. It should unless another worker is searching, because that worker would find the
/// work anyway. `searching` excludes the calling worker. Each woken worker wakes the next, so a
/// burst of work reaches all of them although each wakes at most one.
#[must_use]
pub const fn wakes_another(searching: usize, sleeping: usize) -> bool {
    searching == 0 && sleeping > 0
}

/// Whether a thread shares its processor with other programs, as its yields tell.
///
/// Such a yield may take a slice of each of these programs. While a worker counts as searching, new
/// work wakes no other worker, so a bound worker that shares its processor does not count while it
/// yields. One that is not bound soon continues on another processor. A caller outside parks.
///
/// ```
/// use tidegate_policy::search::SharedProcessor;
///
/// let mut shared = SharedProcessor::UNKNOWN;
/// shared.yielded(1_000, 1_400);
/// assert!(!shared.holds_at(2_000));
/// shared.yielded(2_000, 4_002_000);
/// assert!(shared.holds_at(5_000_000) && !shared.holds_at(200_000_000));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SharedProcessor {
    until: Nanos,
}

impl SharedProcessor {
    /// The state of a thread that has not yielded.
    pub const UNKNOWN: Self = Self { until: 0 };

    /// Learns that a yield, or the part of it that was in vain, took this time ([`LONG_YIELD`]).
    pub const fn yielded(&mut self, began: Nanos, ended: Nanos) {
        if elapsed(began, ended) >= LONG_YIELD.default {
            self.until = ended.saturating_add(SHARED_FOR.default);
        }
    }

    /// Whether the processor counts as shared ([`SHARED_FOR`]).
    #[must_use]
    pub const fn holds_at(&self, now: Nanos) -> bool {
        now < self.until
    }
}

/// Returns whether a forced exposure may happen at `now` if the last forced exposure in the same
/// pool was at `last` ([`EXPOSURE_GAP`]).
#[must_use]
pub fn may_expose(last: Option<Nanos>, now: Nanos) -> bool {
    last.is_none_or(|last| elapsed(last, now) >= EXPOSURE_GAP.default)
}

/// Returns whether a thief that raised its flag at `raised` has waited long enough for the victim's
/// response ([`FLAG_PATIENCE`]).
#[must_use]
pub const fn flag_unanswered(raised: Nanos, now: Nanos) -> bool {
    elapsed(raised, now) >= FLAG_PATIENCE.default
}

/// What a waiter does before it looks for work again.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaiterRest {
    /// Look again immediately.
    Spin,
    /// Yield the processor, then look again.
    Yield,
    /// Give up the slot and sleep.
    Park,
}

/// Returns what a waiter does if it has found nothing to steal since `since`. It spins for
/// [`WAIT_SPIN`], then yields before each attempt until [`WAIT_SEARCH`] has passed, then gives up
/// its slot. If the slot is `wanted`, because another thread is owed a slot or a task waits in a
/// queue, the waiter gives it up instead of yielding.
pub const fn waiter_rests(since: Nanos, now: Nanos, wanted: bool) -> WaiterRest {
    let waited = elapsed(since, now);
    if waited < WAIT_SPIN.default {
        WaiterRest::Spin
    } else if wanted || waited >= WAIT_SEARCH.default {
        WaiterRest::Park
    } else {
        WaiterRest::Yield
    }
}

/// A joiner's verdict on the theft of its half, made once the stolen task has ended.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theft {
    /// Unprofitable: without the theft, the joiner would have had the result sooner.
    Regretted,
    /// Neither unprofitable nor worthwhile.
    Trifling,
    /// The joiner worked for long enough, and did not wait longer than it worked. The thief is
    /// about to look for more work, so the joiner publishes a task at its next push.
    Worthwhile,
}

impl Theft {
    /// Judges a theft. The joiner worked for `worked` nanoseconds after it published its half, then
    /// waited for `waited` nanoseconds.
    pub const fn judge(worked: Nanos, waited: Nanos) -> Self {
        if waited > worked {
            Self::Regretted
        } else if worked >= STEAL_WORTH.default {
            Self::Worthwhile
        } else {
            Self::Trifling
        }
    }
}

/// Returns the time since `since`, or 0 if the clock stood still or went back.
const fn elapsed(since: Nanos, now: Nanos) -> Nanos {
    now.saturating_sub(since)
}

/// Why a ready thread has no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// The thread has stopped waiting (for a latch, a blocking call or memory), but no slot is
    /// free.
    Owed,
    /// The thread's slot was preempted.
    Preempted {
        /// The number of consecutive preemptions before this one.
        before: usize,
    },
}

/// Returns whether two preemptions of a thread, at `last` and at `now`, count as consecutive.
/// Between them, the thread may have waited for a slot for up to the longest grace.
#[must_use]
pub const fn is_in_a_row(last: Nanos, now: Nanos) -> bool {
    elapsed(last, now) < 4 * PREEMPTED_GRACE_MAX.default
}

impl Waiting {
    /// Returns how long the thread waits for a slot before it runs without one ([`OWED_GRACE`],
    /// [`PREEMPTED_GRACE`]). For a thread that is preempted again and again, the grace is four
    /// times as long each time, up to [`PREEMPTED_GRACE_MAX`].
    #[must_use]
    pub const fn grace(self) -> Nanos {
        match self {
            Self::Owed => OWED_GRACE.default,
            Self::Preempted { before } => {
                // A larger shift would overflow.
                let doublings = if before < 16 { 2 * before } else { 32 };
                let grace = PREEMPTED_GRACE.default << doublings;
                if grace < PREEMPTED_GRACE_MAX.default {
                    grace
                } else {
                    PREEMPTED_GRACE_MAX.default
                }
            }
        }
    }

    /// Returns how long the thread may run without a slot, once its grace is over, before the
    /// runtime asks it to stop: a quarter of its grace. It must run, because slot holders that do
    /// not poll may be waiting for it. It must not run for long, because they may instead be
    /// computing.
    #[must_use]
    pub const fn spell(self) -> Nanos {
        self.grace() / 4
    }
}

/// How often a thief may ask victims to publish work.
///
/// A flag costs its victim a branch into the slow path and a publication, and the stolen task runs
/// with cold caches. That pays off if the task takes longer than the steal and its joiner does not
/// have to wait for it. Thieves that keep stealing shorter tasks ruin fine-grained loops, so each
/// such steal doubles the gap.
///
/// ```
/// use tidegate_policy::search::FlagGap;
///
/// let mut gap = FlagGap::default();
/// let first = gap.get();
/// gap.task_ran(200, false);
/// assert_eq!(gap.get(), 2 * first);
/// assert_eq!(gap.remaining(Some(5_000), 5_000 + first), first);
/// gap.task_ran(50_000, false);
/// assert_eq!(gap.get(), first);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlagGap {
    gap: Nanos,
}

impl FlagGap {
    /// Adjusts the gap after a stolen task that ran for `ran` nanoseconds. The steal was
    /// unprofitable if the task's joiner waited longer than it had worked since it published the
    /// task: without the steal, the result would have been ready sooner.
    pub const fn task_ran(&mut self, ran: Nanos, unprofitable_steal: bool) {
        let worth = if unprofitable_steal {
            REGRETTED_STEAL_WORTH.default
        } else {
            STEAL_WORTH.default
        };
        self.gap = if ran >= worth {
            FLAG_GAP_MIN.default
        } else {
            self.doubled()
        };
    }

    /// Doubles the gap after a hungry thief was woken but found nothing.
    pub const fn woken_in_vain(&mut self) {
        self.gap = self.doubled();
    }

    const fn doubled(self) -> Nanos {
        let doubled = self.gap.saturating_mul(2);
        if doubled > FLAG_GAP_MAX.default {
            FLAG_GAP_MAX.default
        } else {
            doubled
        }
    }

    /// Returns the minimum time between two flags, from [`FLAG_GAP_MIN`] to [`FLAG_GAP_MAX`], in
    /// nanoseconds.
    #[must_use]
    pub const fn get(self) -> Nanos {
        self.gap
    }

    /// Returns whether the gap is the shortest possible, as it is after a stolen task that was
    /// worth stealing.
    #[must_use]
    pub const fn is_shortest(&self) -> bool {
        self.gap == FLAG_GAP_MIN.default
    }

    /// Returns whether a flag may be raised at `now` if the last one was raised at `last`.
    #[must_use]
    pub fn allows(self, last: Option<Nanos>, now: Nanos) -> bool {
        self.remaining(last, now) == 0
    }

    /// Returns how long after `now` the next flag may be raised if the last one was raised at
    /// `last`.
    #[must_use]
    pub fn remaining(self, last: Option<Nanos>, now: Nanos) -> Nanos {
        last.map_or(0, |last| self.gap.saturating_sub(elapsed(last, now)))
    }
}

impl Default for FlagGap {
    /// Returns the shortest gap.
    fn default() -> Self {
        Self {
            gap: FLAG_GAP_MIN.default,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_many_workers_search() {
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 8, 9, 16].map(max_searchers),
            [1, 1, 2, 3, 4, 4, 4, 4, 8]
        );
    }

    #[test]
    fn busy_worker_wakes_if_none_searches() {
        assert!(wakes_another(0, 1));
        assert!(!wakes_another(1, 1));
        assert!(!wakes_another(0, 0));
    }

    /// The gap has an upper limit, and a long task resets it to the minimum.
    #[test]
    fn flag_gap_doubles_until_long_task() {
        let mut gap = FlagGap::default();
        let mut gaps = alloc::vec![];
        for _ in 0..11 {
            gaps.push(gap.get() / 1_000);
            gap.task_ran(STEAL_WORTH.default - 1, false);
        }
        assert_eq!(gaps, [1, 2, 4, 8, 16, 32, 64, 128, 256, 500, 500]);
        gap.task_ran(STEAL_WORTH.default, false);
        assert_eq!(gap, FlagGap::default());
        gap.task_ran(STEAL_WORTH.default, true);
        assert_ne!(gap, FlagGap::default(), "its joiner would have been faster");
        gap.task_ran(REGRETTED_STEAL_WORTH.default, true);
        assert_eq!(gap, FlagGap::default());
    }

    #[test]
    fn first_flag_and_exposure_are_immediate() {
        assert!(FlagGap::default().allows(None, 0));
        assert!(may_expose(None, 0));
        assert!(!may_expose(Some(100), 100));
        assert!(may_expose(Some(100), 100 + EXPOSURE_GAP.default));
    }

    #[test]
    fn patience_survives_backward_clock() {
        assert!(!flag_unanswered(100, 99 + FLAG_PATIENCE.default));
        assert!(flag_unanswered(100, 100 + FLAG_PATIENCE.default));
        assert!(!flag_unanswered(100, 0));
    }

    #[test]
    fn joiner_weighs_work_against_wait() {
        let worth = STEAL_WORTH.default;
        assert_eq!(Theft::judge(worth, worth), Theft::Worthwhile);
        assert_eq!(Theft::judge(worth, worth + 1), Theft::Regretted);
        assert_eq!(Theft::judge(worth - 1, worth - 1), Theft::Trifling);
        assert_eq!(Theft::judge(0, 0), Theft::Trifling);
    }

    #[test]
    fn waiter_spins_yields_releases_slot() {
        let (spin, search) = (WAIT_SPIN.default, WAIT_SEARCH.default);
        for wanted in [false, true] {
            assert_eq!(waiter_rests(5, 4 + spin, wanted), WaiterRest::Spin);
            assert_eq!(waiter_rests(5, 0, wanted), WaiterRest::Spin);
            assert_eq!(waiter_rests(5, 5 + search, wanted), WaiterRest::Park);
        }
        assert_eq!(waiter_rests(5, 5 + spin, false), WaiterRest::Yield);
        assert_eq!(waiter_rests(5, 4 + search, false), WaiterRest::Yield);
        assert_eq!(waiter_rests(5, 5 + spin, true), WaiterRest::Park);
    }

    #[test]
    fn preempted_grace_exceeds_owed_grace() {
        assert_eq!(
            (
                Waiting::Owed.grace(),
                Waiting::Preempted { before: 0 }.grace()
            ),
            (2_000_000, 10_000_000)
        );
    }
}
